/* The elements of one array or of another, as a condition says, for the interpreter: what NumPy's `where` gives.

   That jumps at each element, so that a condition without order takes it ten times as long as one that the machine can
   foresee. Here both elements are read and one of them is kept. */
static PyObject *chooser;  /* the same in Python, of all that is not done here */

enum { LEAST_UNLOCKED = 1 << 16 };  /* elements from which other threads run meanwhile */

/* Elements of one size, by the steps of the operands: 0 of what is one element. */
#define CHOOSE(name, type)                                                                                           \
    static type name##_one(npy_bool condition, type a, type b)                                                       \
    {                                                                                                                \
        type mask = (type)((type)0 - (type)(condition != 0));                                                        \
        return (type)(b ^ ((a ^ b) & mask));                                                                        \
    }                                                                                                                \
    static void name(npy_intp n, const npy_bool *restrict condition, const void *x, int dx, const void *y, int dy,   \
                     void *out)                                                                                      \
    {                                                                                                                \
        const type *restrict a = x, *restrict b = y, only_a = *a, only_b = *b;                                       \
        type *restrict to = out;                                                                                     \
        if (dx && dy)                                                                                                \
            for (npy_intp i = 0; i < n; i++) to[i] = name##_one(condition[i], a[i], b[i]);                           \
        else if (dx)                                                                                                 \
            for (npy_intp i = 0; i < n; i++) to[i] = name##_one(condition[i], a[i], only_b);                         \
        else if (dy)                                                                                                 \
            for (npy_intp i = 0; i < n; i++) to[i] = name##_one(condition[i], only_a, b[i]);                         \
        else                                                                                                         \
            for (npy_intp i = 0; i < n; i++) to[i] = name##_one(condition[i], only_a, only_b);                       \
    }

CHOOSE(choose_1, uint8_t)
CHOOSE(choose_2, uint16_t)
CHOOSE(choose_4, uint32_t)
CHOOSE(choose_8, uint64_t)

typedef void (*Choose)(npy_intp, const npy_bool *, const void *, int, const void *, int, void *);

static Choose choose_of(npy_intp size)
{
    return size == 8 ? choose_8 : size == 4 ? choose_4 : size == 2 ? choose_2 : size == 1 ? choose_1 : NULL;
}

/* Where the elements of an operand are, and whether there is one for each of the result; NULL where it is for Python. */
static const void *chosen_from(PyObject *x, PyArrayObject *condition, int number, char *room, int *step)
{
    *step = 0;
    if (number_of(x) != number) return NULL;
    if (!PyArray_CheckExact(x)) {
        PyArray_ScalarAsCtype(x, room);
        return room;
    }
    PyArrayObject *array = (PyArrayObject *)x;
    if (PyArray_NDIM(array) > PyArray_NDIM(condition) || !PyArray_ISCARRAY_RO(array)) return NULL;
    if (PyArray_SIZE(array) == 1) return PyArray_DATA(array);
    *step = 1;
    int has_shape = PyArray_NDIM(array) == PyArray_NDIM(condition) &&
                    PyArray_CompareLists(PyArray_DIMS(array), PyArray_DIMS(condition), PyArray_NDIM(array));
    return has_shape ? PyArray_DATA(array) : NULL;
}

/* choose(condition, x, y), as `_where` of numpy_ops.py. */
static PyObject *choose(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n_args)
{
    if (n_args != 3 || !PyArray_CheckExact(args[0])) goto python;
    PyArrayObject *condition = (PyArrayObject *)args[0];
    int number = number_of(args[1]), dx, dy;
    if (number < 0 || PyArray_TYPE(condition) != NPY_BOOL || !PyArray_ISCARRAY_RO(condition)) goto python;
    _Alignas(16) char rooms[2][16];
    const void *x = chosen_from(args[1], condition, number, rooms[0], &dx);
    const void *y = chosen_from(args[2], condition, number, rooms[1], &dy);
    if (x == NULL || y == NULL || PyArray_NDIM(condition) == 0) goto python;
    PyArray_Descr *dtype = PyArray_DescrFromType(number);
    if (dtype == NULL) return NULL;
    Choose function = choose_of(PyDataType_ELSIZE(dtype));
    if (function == NULL) {
        Py_DECREF(dtype);
        goto python;
    }
    PyArrayObject *out = (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, dtype, PyArray_NDIM(condition),
                                                               PyArray_DIMS(condition), NULL, NULL, 0, NULL);
    if (out == NULL) return NULL;
    npy_intp n = PyArray_SIZE(out);
    PyThreadState *state = n < LEAST_UNLOCKED ? NULL : PyEval_SaveThread();
    if (n > 0) function(n, PyArray_DATA(condition), x, dx, y, dy, PyArray_DATA(out));
    if (state != NULL) PyEval_RestoreThread(state);
    return (PyObject *)out;
python:
    if (chooser == NULL) {
        PyErr_SetString(PyExc_TypeError, "choose: there is no function yet; call connect_choose(...) first");
        return NULL;
    }
    return PyObject_Vectorcall(chooser, args, n_args, NULL);
}

static PyObject *connect_choose(PyObject *Py_UNUSED(module), PyObject *function)
{
    Py_XSETREF(chooser, Py_NewRef(function));
    Py_RETURN_NONE;
}
