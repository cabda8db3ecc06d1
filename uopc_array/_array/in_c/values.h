/* What Python has told about its classes, the values that arrays hold, and calls of NumPy's on them. */
static PyTypeObject *array_type, *root_type, *part_type;
static Py_ssize_t at_value, at_node, at_alias, at_weak;                   /* slots of a handle */
static Py_ssize_t at_base, at_memory, at_keys, at_writable;               /* slots of the alias of a view */
static Py_ssize_t at_root_writable;                                       /* of the alias of an array with views */
static PyObject *quiet;                                                   /* the context in which NumPy does not warn */
static Py_ssize_t largest, under_lock, most_lenses;
static PyObject *writers;                                                 /* a list, see `writing` of cells.py */
static PyObject *programs, *lenses;                                       /* by what they are of */
static PyObject *settings_variable;                                       /* of the settings in force */
static PyObject *view_types;                                              /* of lenses that strides describe */
static PyTypeObject Quick;

enum { MOST_ITEMS = 24 };                                                 /* of what tells such functions apart */

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

typedef PyObject *(*Binary)(PyObject *, PyObject *);

enum {
    AT_ONCE, OF_ONE_AT_ONCE, OF_KNOWN, VIEW_AT_ONCE, VIEW_OF_KNOWN, MAKES_VALUES, PRODUCT_AT_ONCE, DOT_AT_ONCE, BOUND,
    HANDLE_ON, N_FUNCTIONS
};

static struct { const char *name; PyObject *function; } by_name[N_FUNCTIONS] = {
    [AT_ONCE] = {"at_once"}, [OF_ONE_AT_ONCE] = {"of_one_at_once"}, [OF_KNOWN] = {"of_known"},
    [VIEW_AT_ONCE] = {"view_at_once"}, [VIEW_OF_KNOWN] = {"view_of_known"}, [MAKES_VALUES] = {"makes_values"},
    [PRODUCT_AT_ONCE] = {"product_at_once"}, [DOT_AT_ONCE] = {"dot_at_once"},
    [BOUND] = {"bound"}, [HANDLE_ON] = {"handle_on"},
};

static PyObject *on_array, *is_writable_name;                             /* names */
static PyObject *get_method, *set_method, *del_method, *end_method, *len_method;

static PyObject *for_python(int which, PyObject *const *args, Py_ssize_t n)
{
    if (by_name[which].function == NULL) {
        PyErr_Format(PyExc_TypeError, "%s: there is no function yet; call connect_function(...) first",
                     by_name[which].name);
        return NULL;
    }
    return PyObject_Vectorcall(by_name[which].function, args, n, NULL);
}

/* The longer way: method(x, y), or method(x) where `y` is NULL, or method(x, y, z). */
static PyObject *by_python(PyObject *method, PyObject *x, PyObject *y, PyObject *z)
{
    if (method == NULL) {
        PyErr_SetString(PyExc_TypeError, "Quick: there are no methods yet; call connect(...) first");
        return NULL;
    }
    PyObject *args[3] = {x, y, z};
    return PyObject_Vectorcall(method, args, y == NULL ? 1 : z == NULL ? 2 : 3, NULL);
}

/* ------------------------------------------------------------------------------------------------------ values */

/* The place of a scalar's type among NumPy's dtypes; -1 where it is none of ours. */
static int number_of_scalar(PyObject *x)
{
    PyTypeObject *type = Py_TYPE(x);
    if (type == &PyDoubleArrType_Type) return NPY_DOUBLE;
    if (type == &PyLongArrType_Type) return NPY_LONG;
    if (type == &PyBoolArrType_Type) return NPY_BOOL;
    if (type == &PyFloatArrType_Type) return NPY_FLOAT;
    if (type == &PyIntArrType_Type) return NPY_INT;
    if (type == &PyLongLongArrType_Type) return NPY_LONGLONG;
    if (type == &PyCDoubleArrType_Type) return NPY_CDOUBLE;
    if (type == &PyCFloatArrType_Type) return NPY_CFLOAT;
    if (type == &PyByteArrType_Type) return NPY_BYTE;
    if (type == &PyUByteArrType_Type) return NPY_UBYTE;
    if (type == &PyShortArrType_Type) return NPY_SHORT;
    if (type == &PyUShortArrType_Type) return NPY_USHORT;
    if (type == &PyUIntArrType_Type) return NPY_UINT;
    if (type == &PyULongArrType_Type) return NPY_ULONG;
    if (type == &PyULongLongArrType_Type) return NPY_ULONGLONG;
    return -1;
}

/* The place of the dtype of a value, an array or a scalar, among NumPy's. */
static int number_of(PyObject *value)
{
    return PyArray_CheckExact(value) ? PyArray_TYPE((PyArrayObject *)value) : number_of_scalar(value);
}

static char kind_of_number(int number)
{
    if (PyTypeNum_ISBOOL(number)) return 'b';
    if (number < 0) return 0;
    if (PyTypeNum_ISUNSIGNED(number)) return 'u';
    if (PyTypeNum_ISSIGNED(number)) return 'i';
    return PyTypeNum_ISFLOAT(number) ? 'f' : PyTypeNum_ISCOMPLEX(number) ? 'c' : 0;
}

static Py_ssize_t size_of(PyObject *value)
{
    return PyArray_CheckExact(value) ? PyArray_SIZE((PyArrayObject *)value) : 1;
}

/* Whether what has this alias is no view, or one of what its base still holds. */
static int is_current(PyObject *alias)
{
    if (alias == Py_None || Py_TYPE(alias) == root_type) return 1;
    if (Py_TYPE(alias) != part_type) return 0;
    PyObject *base = SLOT(alias, at_base);
    return Py_TYPE(base) == array_type && SLOT(alias, at_memory) == SLOT(base, at_value);
}

/* The value that an array holds, borrowed; NULL where it holds none, or is no array of ours. */
static PyObject *value_of(PyObject *x)
{
    if (Py_TYPE(x) != array_type) return NULL;
    PyObject *value = SLOT(x, at_value), *alias = SLOT(x, at_alias);
    if (value == NULL || value == Py_None || alias == NULL || !is_current(alias)) return NULL;
    return value;
}

/* From here on something is written to so that NumPy may let other threads run; 0, without an exception, where that
   cannot be said. */
static int begin_writing(void)
{
    if (PyList_Append(writers, Py_None) == 0) return 1;
    PyErr_Clear();
    return 0;
}

static void end_writing(void)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    for (Py_ssize_t i = PyList_GET_SIZE(writers) - 1; i >= 0; i--)
        if (PyList_GET_ITEM(writers, i) == Py_None) {  /* there is none in a forked child */
            if (PyList_SetSlice(writers, i, i + 1, NULL) < 0) PyErr_Clear();
            break;
        }
    PyErr_Restore(type, error, trace);
}

static int may_write(PyObject *alias)
{
    if (alias == Py_None) return 1;
    return SLOT(alias, Py_TYPE(alias) == part_type ? at_writable : at_root_writable) == Py_True;
}

/* A new array on a value and an alias, which it takes over. */
static PyObject *new_array(PyObject *value, PyObject *alias)
{
    PyObject *x = array_type->tp_alloc(array_type, 0);
    if (x == NULL) {
        Py_DECREF(value);
        Py_DECREF(alias);
        return NULL;
    }
    SLOT(x, at_value) = value;
    SLOT(x, at_alias) = alias;
    SLOT(x, at_weak) = Py_NewRef(Py_False);
    return x;
}

/* A new array on what a function has given, which it takes over: of no axes a number, unless it is to be an array. */
static PyObject *array_on(PyObject *value, int is_array)
{
    if (PyArray_CheckExact(value) ? PyArray_NDIM((PyArrayObject *)value) > 0 : !is_array)
        return new_array(value, Py_NewRef(Py_None));
    PyObject *alias;
    if (is_array) {
        if (!PyArray_CheckExact(value)) Py_SETREF(value, PyArray_FromScalar(value, NULL));
        alias = value == NULL ? NULL : PyObject_CallNoArgs((PyObject *)root_type);
    }
    else {
        Py_SETREF(value, PyArray_Return((PyArrayObject *)Py_NewRef(value)));
        alias = Py_NewRef(Py_None);
    }
    if (value == NULL || alias == NULL) {
        Py_XDECREF(value);
        Py_XDECREF(alias);
        return NULL;
    }
    return new_array(value, alias);
}

/* What follows a call that may have failed: 0 where the longer way is to be gone, which has words for it. */
static int is_for_python(void)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return 0;
    PyErr_Clear();
    return 1;
}

/* Enter the context in which NumPy does not warn; 0 where another thread is in there. */
static int enter(void)
{
    if (PyContext_Enter(quiet) == 0) return 1;
    PyErr_Clear();
    return 0;
}

/* Leave it with what has been computed; NULL, without an exception where it is for Python to say what is wrong. */
static PyObject *leave(PyObject *value)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyContext_Exit(quiet);
    PyErr_Restore(type, error, trace);
    if (value == NULL) is_for_python();
    return value;
}

static PyObject *quietly(Binary function, PyObject *a, PyObject *b)
{
    Py_INCREF(a);
    Py_INCREF(b);
    PyObject *value = enter() ? leave(function(a, b)) : NULL;
    Py_DECREF(a);
    Py_DECREF(b);
    return value;
}

static PyObject *compared_quietly(PyObject *a, PyObject *b, int op)
{
    Py_INCREF(a);
    Py_INCREF(b);
    PyObject *value = enter() ? leave(PyObject_RichCompare(a, b, op)) : NULL;
    Py_DECREF(a);
    Py_DECREF(b);
    return value;
}

/* The settings in force, borrowed: the variable, or who has set it, holds them; NULL where nobody has said where they are. */
static PyObject *settings_now(void)
{
    PyObject *settings = NULL;
    if (settings_variable != NULL && PyContextVar_Get(settings_variable, NULL, &settings) < 0) PyErr_Clear();
    Py_XDECREF(settings);
    return settings;
}

/* Elements up to which an array of NumPy's is small, as the settings have it. */
static Py_ssize_t bound_now(void)
{
    static PyObject *of_settings;
    static Py_ssize_t bound;
    PyObject *settings = settings_now();
    if (settings != NULL && settings == of_settings) return bound;
    PyObject *result = for_python(BOUND, NULL, 0);
    bound = result == NULL ? 0 : PyLong_AsSsize_t(result);
    Py_XDECREF(result);
    PyErr_Clear();
    Py_XSETREF(of_settings, Py_XNewRef(settings));
    return bound;
}

/* Whether this is a small array of NumPy's, of numbers as we have them. */
static int is_small_of_numpy(PyObject *y)
{
    if (!PyArray_CheckExact(y)) return 0;
    PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)y);
    int number = dtype->type_num;
    if (number >= NPY_NTYPES_LEGACY || kind_of_number(number) == 0 || number == NPY_BOOL) return 0;
    if (number == NPY_LONGLONG || number == NPY_ULONGLONG || number == NPY_HALF || number == NPY_LONGDOUBLE ||
        number == NPY_CLONGDOUBLE)
        return 0;
    PyArray_Descr *ours = PyArray_DescrFromType(number);  /* of this machine's order of bytes, and with nothing added */
    Py_XDECREF(ours);
    return ours == dtype && PyArray_SIZE((PyArrayObject *)y) <= bound_now();
}

/* An operand beside a value: a value, a small array of NumPy's, or a number of Python's or NumPy's; borrowed, NULL
   where it is for Python. */
static PyObject *operand(PyObject *y, int *number)
{
    PyObject *b = value_of(y);
    if (b != NULL) {
        *number = number_of(b);
        return b;
    }
    if (PyLong_CheckExact(y)) {
        *number = NPY_NOTYPE;  /* goes with all */
        return y;
    }
    if (is_small_of_numpy(y)) {
        *number = number_of(y);
        return y;
    }
    *number = PyFloat_CheckExact(y) ? NPY_DOUBLE : PyComplex_CheckExact(y) ? NPY_CDOUBLE : number_of_scalar(y);
    return *number < 0 ? NULL : y;
}

/* function(a, b), or function(a) where `b` is NULL; NULL as above. */
static PyObject *called_quietly(PyObject *function, PyObject *a, PyObject *b)
{
    PyObject *args[2] = {Py_NewRef(a), Py_XNewRef(b)};
    PyObject *value = enter() ? leave(PyObject_Vectorcall(function, args, b == NULL ? 1 : 2, NULL)) : NULL;
    Py_DECREF(a);
    Py_XDECREF(b);
    return value;
}

static int has_kind(const char *kinds, int number)
{
    if (kinds == NULL || *kinds == 0 || number == NPY_NOTYPE) return 1;
    char kind = kind_of_number(number);
    return kind != 0 && strchr(kinds, kind) != NULL;
}

/* Whether two values give what is small, as far as can be said without broadcasting them. */
static int are_small_together(PyObject *a, PyObject *b)
{
    Py_ssize_t n = size_of(a);
    if (!PyArray_CheckExact(b)) return n <= largest;
    if (!PyArray_CheckExact(a)) return size_of(b) <= largest;
    PyArrayObject *x = (PyArrayObject *)a, *y = (PyArrayObject *)b;
    if (PyArray_NDIM(x) == PyArray_NDIM(y) && PyArray_CompareLists(PyArray_DIMS(x), PyArray_DIMS(y), PyArray_NDIM(x)))
        return n <= largest;
    Py_ssize_t m = size_of(b);
    return n <= largest && m <= largest && n * m <= largest;
}

/* The offset of a slot of a class of Python's, -1 with an exception where it is none. */
static Py_ssize_t offset_of(PyObject *type, const char *name)
{
    PyObject *member = PyObject_GetAttrString(type, name);
    if (member == NULL) return -1;
    Py_ssize_t offset = -1;
    if (Py_TYPE(member) == &PyMemberDescr_Type && ((PyMemberDescrObject *)member)->d_member->type == T_OBJECT_EX)
        offset = ((PyMemberDescrObject *)member)->d_member->offset;
    else
        PyErr_Format(PyExc_TypeError, "connect: expected a slot, got the attribute %s", name);
    Py_DECREF(member);
    return offset;
}
