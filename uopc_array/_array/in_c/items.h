/* What square brackets read, and store. */
/* Whether an index is plain: an int, a slice of ints, None or an ellipsis. */
static int is_plain(PyObject *key)
{
    if (PyLong_CheckExact(key) || key == Py_None || key == Py_Ellipsis) return 1;
    if (!PySlice_Check(key)) return 0;
    PySliceObject *slice = (PySliceObject *)key;
    return (slice->start == Py_None || PyLong_CheckExact(slice->start)) &&
           (slice->stop == Py_None || PyLong_CheckExact(slice->stop)) &&
           (slice->step == Py_None || PyLong_CheckExact(slice->step));
}

/* An int of Python's for a known integer, ours or NumPy's; NULL, without an exception, where it is none. */
static PyObject *as_int(PyObject *x)
{
    if (PyLong_CheckExact(x) || x == Py_None) return Py_NewRef(x);
    PyObject *value = Py_TYPE(x) == array_type ? known_number(x) : x;
    int number = value == NULL ? -1 : number_of_scalar(value);
    if (number < 0 || !PyTypeNum_ISINTEGER(number)) return NULL;
    PyObject *result = PyNumber_Index(value);
    if (result == NULL) PyErr_Clear();
    return result;
}

/* One index as a plain one; NULL, without an exception, where it is no such. */
static PyObject *plain_item(PyObject *key)
{
    if (is_plain(key)) return Py_NewRef(key);
    if (!PySlice_Check(key)) return as_int(key);
    PySliceObject *slice = (PySliceObject *)key;
    PyObject *start = as_int(slice->start), *stop = as_int(slice->stop), *step = as_int(slice->step), *result = NULL;
    if (start != NULL && stop != NULL && step != NULL) {
        result = PySlice_New(start, stop, step);
        if (result == NULL) PyErr_Clear();
    }
    Py_XDECREF(start);
    Py_XDECREF(stop);
    Py_XDECREF(step);
    return result;
}

/* A key as one of plain indices; NULL, without an exception, where it is no such. */
static PyObject *plain_key(PyObject *key)
{
    if (!PyTuple_CheckExact(key)) return plain_item(key);
    Py_ssize_t n = PyTuple_GET_SIZE(key), i = 0;
    while (i < n && is_plain(PyTuple_GET_ITEM(key, i))) i++;
    if (i == n) return Py_NewRef(key);
    PyObject *result = PyTuple_New(n);
    if (result == NULL) {
        PyErr_Clear();
        return NULL;
    }
    for (i = 0; i < n; i++) {
        PyObject *item = plain_item(PyTuple_GET_ITEM(key, i));
        if (item == NULL) {
            Py_DECREF(result);
            return NULL;
        }
        PyTuple_SET_ITEM(result, i, item);
    }
    return result;
}

/* The alias of what a step, a lens or a key, gives of `x`, whose value is `value`: a view.
   NULL where it is for Python. */
static PyObject *alias_of_part(PyObject *x, PyObject *value, PyObject *key, int may_be_written)
{
    PyObject *alias = SLOT(x, at_alias), *base = x, *memory = value, *is_writable = Py_True;
    PyObject *before = NULL, *part = NULL;
    if (alias != Py_None && Py_TYPE(alias) == part_type) {
        before = SLOT(alias, at_keys);
        base = SLOT(alias, at_base);
        memory = SLOT(alias, at_memory);
        is_writable = SLOT(alias, at_writable);
    }
    else if (alias != Py_None)
        is_writable = SLOT(alias, at_root_writable);
    Py_ssize_t n = before == NULL ? 0 : PyTuple_GET_SIZE(before);
    if (n >= most_lenses - 1) return NULL;
    if (!may_be_written) is_writable = Py_False;
    /* held before anything is made: that may run the collector of garbage, and others let go of them */
    Py_INCREF(base);
    Py_INCREF(memory);
    Py_INCREF(is_writable);
    Py_XINCREF(before);
    PyObject *keys = PyTuple_New(n + 1);
    if (keys != NULL) {
        for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(keys, i, Py_NewRef(PyTuple_GET_ITEM(before, i)));
        PyTuple_SET_ITEM(keys, n, Py_NewRef(key));
        part = part_type->tp_alloc(part_type, 0);
    }
    Py_XDECREF(before);
    if (part == NULL) {
        Py_XDECREF(keys);
        Py_DECREF(base);
        Py_DECREF(memory);
        Py_DECREF(is_writable);
        return NULL;
    }
    SLOT(part, at_base) = base;
    SLOT(part, at_memory) = memory;
    SLOT(part, at_keys) = keys;
    SLOT(part, at_writable) = is_writable;
    return part;
}

/* x[key] where `key` is a known array of integers or bool: of NumPy's a new array, or NULL for Python. */
static PyObject *picked(PyObject *value, PyObject *key)
{
    PyObject *indices = value_of(key);
    if (indices == NULL || !PyArray_CheckExact(indices) || PyArray_NDIM((PyArrayObject *)value) == 0) return NULL;
    if (PyArray_NDIM((PyArrayObject *)indices) == 0) return NULL;
    char kind = kind_of_number(number_of(indices));
    if (kind != 'b' && kind != 'i' && kind != 'u') return NULL;
    if (kind == 'b' ? size_of(value) > largest
                    : size_of(indices) * PyArray_MultiplyList(PyArray_DIMS((PyArrayObject *)value) + 1,
                                                              PyArray_NDIM((PyArrayObject *)value) - 1) > largest)
        return NULL;
    Py_INCREF(value);
    Py_INCREF(indices);
    PyObject *item = PyObject_GetItem(value, indices);
    Py_DECREF(value);
    Py_DECREF(indices);
    if (item == NULL) is_for_python();
    return item;
}

/* Whether a key names one element of an array by ints of Python's. */
static int names_element(PyObject *key, int ndim)
{
    if (PyLong_CheckExact(key)) return ndim == 1;
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != ndim) return 0;
    for (int i = 0; i < ndim; i++)
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(key, i))) return 0;
    return 1;
}

/* The element at a key that names one, of an array of the commonest dtypes; NULL, without an exception, where it is for
   NumPy. */
static PyObject *element(PyArrayObject *a, PyObject *key)
{
    int number = PyArray_TYPE(a), ndim = PyArray_NDIM(a);
    if ((number != NPY_DOUBLE && number != NPY_LONG) || !PyArray_ISBEHAVED_RO(a) || !names_element(key, ndim)) return NULL;
    const char *place = PyArray_BYTES(a);
    for (int axis = 0; axis < ndim; axis++) {
        PyObject *item = PyLong_CheckExact(key) ? key : PyTuple_GET_ITEM(key, axis);
        int overflow;
        long i = PyLong_AsLongAndOverflow(item, &overflow);
        npy_intp extent = PyArray_DIM(a, axis);
        if (overflow || i >= extent || i < -extent) return NULL;
        place += (i < 0 ? i + extent : i) * PyArray_STRIDE(a, axis);
    }
    PyObject *result = number == NPY_DOUBLE ? of_double(*(const double *)place) : of_long(*(const unsigned long *)place);
    if (result == NULL) PyErr_Clear();
    return result;
}

static PyObject *get_item(PyObject *x, PyObject *given)
{
    PyObject *value = value_of(x);
    if (value == NULL || !PyArray_CheckExact(value)) return by_python(get_method, x, given, NULL);
    PyObject *number = element((PyArrayObject *)value, given);
    if (number != NULL) return new_array(number, Py_NewRef(Py_None));
    Py_INCREF(value);
    PyObject *key = plain_key(given);
    if (key == NULL) {
        PyObject *item = picked(value, given);
        Py_DECREF(value);
        if (item != NULL) return new_array(item, Py_NewRef(Py_None));
        return PyErr_Occurred() ? NULL : by_python(get_method, x, given, NULL);
    }
    PyObject *alias = Py_None, *item = PyObject_GetItem(value, key);
    if (item == NULL)
        is_for_python();
    else if (!PyArray_CheckExact(item))
        Py_INCREF(alias);
    else {
        /* no other thread could come since the look at the value, but what the collector of garbage runs could */
        alias = value_of(x) == value && size_of(item) <= largest ? alias_of_part(x, value, key, 1) : NULL;
        if (alias == NULL) {
            Py_CLEAR(item);
            if (PyErr_Occurred()) is_for_python();
        }
    }
    Py_DECREF(key);
    Py_DECREF(value);
    if (item != NULL) return new_array(item, alias);
    return PyErr_Occurred() ? NULL : by_python(get_method, x, given, NULL);
}

/* What is to be stored in an array of this dtype, borrowed; NULL where NumPy would convert it otherwise than the graph
   does, or where it is not known. */
static PyObject *storable(PyObject *y, int target)
{
    char kind = kind_of_number(target);
    if (PyFloat_CheckExact(y) || PyLong_CheckExact(y) || PyBool_Check(y)) return y;
    if (PyComplex_CheckExact(y)) return kind == 'c' ? y : NULL;
    PyObject *b = value_of(y);
    if (b == NULL && number_of_scalar(y) >= 0) b = y;
    if (b == NULL || size_of(b) > largest) return NULL;
    int number = number_of(b);
    return number == target || kind == 'c' || (kind == 'f' && kind_of_number(number) != 'c') ? b : NULL;
}

/* x[key] = y where `key` is plain: 1 if it is done, 0 if it is for Python, -1 with an exception. */
static int stored(PyObject *x, PyObject *given, PyObject *y)
{
    PyObject *target = value_of(x);
    if (target == NULL || !PyArray_CheckExact(target) || !may_write(SLOT(x, at_alias))) return 0;
    PyObject *b = storable(y, number_of(target));
    if (b == NULL) return 0;
    Py_INCREF(target);
    Py_INCREF(b);
    PyObject *key = plain_key(given);
    if (key == NULL) {
        Py_DECREF(target);
        Py_DECREF(b);
        return 0;
    }
    PyObject *part = target, *where = key;
    int result = 0;
    int may_be_row = number_of(target) == NPY_DOUBLE && size_of(b) <= MOST_IN_ROW;
    if ((size_of(target) <= under_lock && !may_be_row) || names_element(key, PyArray_NDIM((PyArrayObject *)target)))
        Py_INCREF(part);
    else {
        part = PyObject_GetItem(target, key);
        where = Py_Ellipsis;
        if (part == NULL)
            is_for_python();
        else if (!PyArray_CheckExact(part))
            Py_CLEAR(part);
    }
    int is_under_lock = part != NULL && (part == target ? where == key : size_of(part) <= under_lock);
    if (part != NULL && value_of(x) == target && may_write(SLOT(x, at_alias))) {
        if (part != target && may_be_row && row_is_written(NULL, part, b))
            result = 1;
        else if (is_under_lock || begin_writing()) {
            result = PyObject_SetItem(part, where, b) == 0;
            if (!is_under_lock) end_writing();
            if (!result) is_for_python();
        }
    }
    Py_XDECREF(part);
    Py_DECREF(target);
    Py_DECREF(b);
    Py_DECREF(key);
    return PyErr_Occurred() ? -1 : result;
}

static int set_item(PyObject *x, PyObject *key, PyObject *y)
{
    PyObject *result;
    if (y == NULL)
        result = by_python(del_method, x, key, NULL);
    else {
        int done = stored(x, key, y);
        if (done != 0) return done < 0 ? -1 : 0;
        result = by_python(set_method, x, key, y);
    }
    if (result == NULL) return -1;
    Py_DECREF(result);
    return 0;
}
