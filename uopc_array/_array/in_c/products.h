/* Products of matrices and vectors that are known and small: by the loop of ours that multiplies, called as it is. */

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
} Loop;

static Loop product_loops[NPY_NTYPES_LEGACY];       /* by the number of a dtype, under these settings */
static PyObject *product_settings;
static Py_ssize_t most_work, least_for_library, least_aligned;

/* The value of an array of ours or of NumPy's, borrowed; NULL where it is no array of one or two axes. */
static PyArrayObject *factor(PyObject *x)
{
    PyObject *value = PyArray_CheckExact(x) ? x : value_of(x);
    if (value == NULL || !PyArray_CheckExact(value)) return NULL;
    PyArrayObject *a = (PyArrayObject *)value;
    return PyArray_NDIM(a) == 1 || PyArray_NDIM(a) == 2 ? a : NULL;
}

/* Run the loop on the elements; an operand of one axis is a row, or a column. */
static void multiply_into(const Loop *loop, PyArrayObject *a, PyArrayObject *b, char *out, npy_intp m, npy_intp k,
                          npy_intp n)
{
    int of_a = PyArray_NDIM(a), of_b = PyArray_NDIM(b);
    npy_intp size = PyArray_ITEMSIZE(a), dims[4] = {1, m, k, n};
    npy_intp steps[9] = {0, 0, 0, of_a == 2 ? PyArray_STRIDE(a, 0) : 0, PyArray_STRIDE(a, of_a - 1),
                         PyArray_STRIDE(b, 0), of_b == 2 ? PyArray_STRIDE(b, 1) : 0, n * size, size};
    char *args[3] = {PyArray_BYTES(a), PyArray_BYTES(b), out};
    loop->function(args, dims, steps, loop->data);
}

/* x @ y: a new array or number; NULL, without an exception, where it is for Python. */
static PyObject *product(PyObject *x, PyObject *y, int of_vectors)
{
    if (Py_TYPE(x) != array_type && Py_TYPE(y) != array_type) return NULL;
    PyArrayObject *a = factor(x), *b = a == NULL ? NULL : factor(y);
    if (b == NULL || PyArray_DESCR(a) != PyArray_DESCR(b) || !PyArray_ISALIGNED(a) || !PyArray_ISALIGNED(b)) return NULL;
    PyArray_Descr *dtype = PyArray_DESCR(a);
    int of_a = PyArray_NDIM(a), of_b = PyArray_NDIM(b);
    if (of_vectors && (of_a != 1 || of_b != 1 || !PyDataType_ISFLOAT(dtype))) return NULL;
    npy_intp m = of_a == 2 ? PyArray_DIM(a, 0) : 1, n = of_b == 2 ? PyArray_DIM(b, 1) : 1, k = PyArray_DIM(b, 0);
    if (PyArray_DIM(a, of_a - 1) != k || m < 1 || n < 1 || m * k > largest || k * n > largest) return NULL;
    npy_intp work = m * k <= most_work / n ? m * k * n : most_work + 1, bytes = m * n * PyArray_ITEMSIZE(a);
    if (work > most_work || bytes >= least_aligned || (m > 1 && n > 1 && work >= least_for_library)) return NULL;
    const Loop *loop = dtype->type_num < NPY_NTYPES_LEGACY ? &product_loops[dtype->type_num] : NULL;
    if (loop == NULL || loop->function == NULL || settings_now() != product_settings) return NULL;
    Py_INCREF(a);  /* held before anything is made: that may run the collector of garbage */
    Py_INCREF(b);
    Py_INCREF(dtype);
    PyObject *value = NULL;
    if (of_a + of_b > 2) {
        npy_intp shape[2] = {of_a == 2 ? m : n, n};
        Py_INCREF(dtype);
        value = PyArray_NewFromDescr(&PyArray_Type, dtype, of_a + of_b - 2, shape, NULL, NULL, 0, NULL);
        if (value != NULL) multiply_into(loop, a, b, PyArray_BYTES((PyArrayObject *)value), m, k, n);
    }
    else {
        _Alignas(16) char room[sizeof(npy_clongdouble)];
        multiply_into(loop, a, b, room, m, k, n);
        value = PyArray_Scalar(room, dtype, NULL);
    }
    Py_DECREF(a);
    Py_DECREF(b);
    Py_DECREF(dtype);
    return value == NULL ? NULL : new_array(value, Py_NewRef(Py_None));
}

/* Whether an operand is an array on a node that is not in memory, or of a trace or a derivative. */
static int is_to_compute(PyObject *x)
{
    PyObject *node = node_of(x);
    return node != NULL && (SLOT(node, at_op) != op_buffer || PyLong_AsLong(SLOT(node, at_flags)) != 0);
}

/* product_at_once(cls, x, y), as in products.py. */
static PyObject *product_at_once(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    PyObject *result = n == 3 && (PyTypeObject *)args[0] == array_type ? product(args[1], args[2], 0) : NULL;
    if (result == NULL && !PyErr_Occurred() && n == 3 && (is_to_compute(args[1]) || is_to_compute(args[2])))
        Py_RETURN_NONE;
    return result != NULL || PyErr_Occurred() ? result : for_python(PRODUCT_AT_ONCE, args, n);
}

/* dot_at_once(cls, x, y), as in products.py. */
static PyObject *dot_at_once(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    PyObject *result = n == 3 && (PyTypeObject *)args[0] == array_type ? product(args[1], args[2], 1) : NULL;
    return result != NULL || PyErr_Occurred() ? result : for_python(DOT_AT_ONCE, args, n);
}

PyDoc_STRVAR(connect_products_doc,
    "connect_products(variable, most_work, least_for_library, least_aligned)\n--\n\n"
    "Say the variable of the settings in force, the multiplications that are done here, those from which on a product\n"
    "of matrices may be the library's, and the bytes from which on a result has its own way to be made.");

static PyObject *connect_products(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *variable;
    if (!PyArg_ParseTuple(args, "O!nnn", &PyContextVar_Type, &variable, &most_work, &least_for_library, &least_aligned))
        return NULL;
    Py_XSETREF(settings_variable, Py_NewRef(variable));
    Py_RETURN_NONE;
}

PyDoc_STRVAR(note_product_doc,
    "note_product(settings, loop)\n--\n\n"
    "Multiply by this ufunc, which is never freed, under these settings; what was noted under others is forgotten.");

static PyObject *note_product(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *settings, *loop;
    if (!PyArg_ParseTuple(args, "OO!", &settings, &PyUFunc_Type, &loop)) return NULL;
    PyUFuncObject *ufunc = (PyUFuncObject *)loop;
    int number = ufunc->ntypes == 1 && ufunc->nin == 2 && ufunc->nout == 1 ? ufunc->types[0] : -1;
    if (number < 0 || number >= NPY_NTYPES_LEGACY) {
        PyErr_SetString(PyExc_TypeError, "note_product: expected a ufunc of two operands with one loop, of a number");
        return NULL;
    }
    if (settings != product_settings) {
        memset(product_loops, 0, sizeof product_loops);
        Py_XSETREF(product_settings, Py_NewRef(settings));
    }
    product_loops[number] = (Loop){ufunc->functions[0], ufunc->data[0]};
    Py_RETURN_NONE;
}
