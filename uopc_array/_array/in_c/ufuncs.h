/* Calls of NumPy's ufuncs with arrays of ours among the operands, as `array + ours` is one. */
static PyObject *routes, *ufunc_method;     /* what takes the call of a ufunc, and the longer way */
static PyObject *called_name;               /* "__call__" */

/* What the operator of this name gives of the operands; NULL, without an exception, where that is for Python. */
static PyObject *by_operator(PyObject *ufunc, PyObject *x, PyObject *y)
{
    int is_left = Py_TYPE(x) == array_type;
    if (!is_left && Py_TYPE(y) != array_type) return NULL;
    for (int i = 0; i < N_BINARY; i++) {
        if (operations[i].ufunc != ufunc) continue;
        if (i == MATMUL) return product(x, y, 0);
        if (operations[i].function == NULL) return NULL;
        return is_left ? at_once(operations[i].function, operations[i].kinds, x, y, 0)
                       : at_once(operations[i].function, operations[i].kinds, y, x, 1);
    }
    static const int mirrored[6] = {
        [Py_LT] = Py_GT, [Py_LE] = Py_GE, [Py_EQ] = Py_EQ, [Py_NE] = Py_NE, [Py_GT] = Py_LT, [Py_GE] = Py_LE,
    };
    for (int op = 0; op < 6; op++)
        if (comparisons[op].ufunc == ufunc)
            return is_left ? compared_at_once(x, y, op) : compared_at_once(y, x, mirrored[op]);
    return NULL;
}

/* Whether nobody else takes part in a call with this operand. */
static int is_plain_operand(PyObject *x)
{
    return Py_TYPE(x) == array_type || PyArray_CheckExact(x) || PyFloat_CheckExact(x) || PyLong_CheckExact(x) ||
           PyBool_Check(x) || PyComplex_CheckExact(x) || number_of_scalar(x) >= 0;
}

/* x.__array_ufunc__(ufunc, method, *inputs, **kwargs) */
static PyObject *array_ufunc(PyObject *x, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    int is_plain = (names == NULL || PyTuple_GET_SIZE(names) == 0) && (n == 3 || n == 4) && routes != NULL &&
                   PyUnicode_CheckExact(args[1]) && PyUnicode_Compare(args[1], called_name) == 0;
    for (Py_ssize_t i = 2; is_plain && i < n; i++) is_plain = is_plain_operand(args[i]);
    if (is_plain) {
        PyObject *result = n == 4 ? by_operator(args[0], args[2], args[3]) : NULL;
        if (result != NULL || PyErr_Occurred()) return result;
        PyObject *ours = Py_XNewRef(PyDict_GetItemWithError(routes, args[0]));
        if (ours != NULL) {
            result = PyObject_Vectorcall(ours, args + 2, n - 2, NULL);
            Py_DECREF(ours);
        }
        if (result != NULL) return result;
        if (PyErr_Occurred() && !is_for_python()) return NULL;  /* the longer way has words for it */
    }
    if (ufunc_method == NULL) {
        PyErr_SetString(PyExc_TypeError, "Quick: there is no method yet; call connect_ufuncs(...) first");
        return NULL;
    }
    Py_ssize_t n_names = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    PyObject **all = PyMem_Malloc((n + n_names + 1) * sizeof *all);
    if (all == NULL) return PyErr_NoMemory();
    all[0] = x;
    memcpy(all + 1, args, (n + n_names) * sizeof *all);
    PyObject *result = PyObject_Vectorcall(ufunc_method, all, n + 1, names);
    PyMem_Free(all);
    return result;
}

PyDoc_STRVAR(connect_ufuncs_doc,
    "connect_ufuncs(ufuncs, routes, method)\n--\n\n"
    "Say where NumPy's ufuncs are, by name, what of ours takes the call of each, and what `__array_ufunc__` is in\n"
    "Python.");

static PyObject *connect_ufuncs(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *numpy, *table, *method;
    if (!PyArg_ParseTuple(args, "OO!O", &numpy, &PyDict_Type, &table, &method)) return NULL;
    for (int i = 0; i < N_BINARY; i++) {
        PyObject *ufunc = PyObject_GetAttrString(numpy, operations[i].ufunc_name);
        if (ufunc == NULL) return NULL;
        Py_XSETREF(operations[i].ufunc, ufunc);
    }
    for (int op = 0; op < 6; op++) {
        PyObject *ufunc = PyObject_GetAttrString(numpy, comparisons[op].ufunc_name);
        if (ufunc == NULL) return NULL;
        Py_XSETREF(comparisons[op].ufunc, ufunc);
    }
    if (called_name == NULL && (called_name = PyUnicode_InternFromString("__call__")) == NULL) return NULL;
    Py_XSETREF(routes, Py_NewRef(table));
    Py_XSETREF(ufunc_method, Py_NewRef(method));
    Py_RETURN_NONE;
}

/* cls._from_value(value), as in handle.py of the core. */
static PyObject *from_value(PyObject *cls, PyObject *value)
{
    if (array_type == NULL || !PyType_IsSubtype((PyTypeObject *)cls, array_type)) {
        PyErr_SetString(PyExc_TypeError, "Quick: there are no arrays yet; call connect(...) first");
        return NULL;
    }
    int has_no_axes = PyArray_CheckExact(value) && PyArray_NDIM((PyArrayObject *)value) == 0;
    PyObject *alias = has_no_axes ? PyObject_CallNoArgs((PyObject *)root_type) : Py_NewRef(Py_None);
    PyObject *x = alias == NULL ? NULL : ((PyTypeObject *)cls)->tp_alloc((PyTypeObject *)cls, 0);
    if (x == NULL) {
        Py_XDECREF(alias);
        return NULL;
    }
    SLOT(x, at_value) = Py_NewRef(value);
    SLOT(x, at_alias) = alias;
    SLOT(x, at_weak) = Py_NewRef(Py_False);
    return x;
}

static PyMethodDef methods[] = {
    {"_from_value", from_value, METH_O | METH_CLASS, "A new array on a known value."},
    {"__array_ufunc__", (PyCFunction)(void (*)(void))array_ufunc, METH_FASTCALL | METH_KEYWORDS,
     "What NumPy's ufuncs call where there is such an operand."},
    {NULL, NULL, 0, NULL},
};
