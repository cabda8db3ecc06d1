/* The types of nodes as the rules of uopc_core/ir/infer.py give them, as far as they are plain; what is wrong, and what
   is seldom, is for the rules. */

/* The result of the rule for elementwise operations on sources of one type: its dtype, borrowed; NULL, without an
   exception, where the rule itself has to say what it is, or what is wrong. */
static PyObject *dtype_of_elements(PyObject *op, PyObject *src)
{
    PyObject *taken = PyDict_GetItemWithError(takes, op);
    if (taken == NULL) return NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(src);
    if (n != PyLong_AsSsize_t(PyTuple_GET_ITEM(taken, 0))) return NULL;
    PyObject *x = PyTuple_GET_ITEM(src, 0), *dtype = SLOT(x, at_node_dtype);
    if (n == 2) {
        PyObject *y = PyTuple_GET_ITEM(src, 1);
        if (SLOT(y, at_node_dtype) != dtype) return NULL;
        PyObject *shape = SLOT(x, at_node_shape), *other = SLOT(y, at_node_shape);
        if (shape != other && PyObject_RichCompareBool(shape, other, Py_EQ) != 1) return NULL;
    }
    return PyDict_GetItemWithError(PyTuple_GET_ITEM(taken, 1), dtype);
}

/* An extent or an axis; -1 where it is no plain int that is not negative. */
static Py_ssize_t plain_extent(PyObject *x)
{
    if (!PyLong_CheckExact(x)) return -1;
    int overflow;
    long long n = PyLong_AsLongLongAndOverflow(x, &overflow);
    return overflow || n < 0 || n > PY_SSIZE_T_MAX ? -1 : (Py_ssize_t)n;
}

/* The product of extents, as far as it can be told; -1 where the rule has to. */
static Py_ssize_t elements_of(PyObject *shape)
{
    Py_ssize_t n = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++) {
        Py_ssize_t extent = plain_extent(PyTuple_GET_ITEM(shape, i));
        if (extent < 0 || (extent > 0 && n > PY_SSIZE_T_MAX / extent)) return -1;
        n *= extent;
    }
    return n;
}

static PyObject *reshaped(PyObject *shape, PyObject *to)
{
    Py_ssize_t n = elements_of(to);
    return n >= 0 && n == elements_of(shape) ? Py_NewRef(to) : NULL;
}

static PyObject *expanded(PyObject *from, PyObject *to)
{
    Py_ssize_t n = PyTuple_GET_SIZE(from);
    if (n != PyTuple_GET_SIZE(to)) return NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t before = plain_extent(PyTuple_GET_ITEM(from, i)), after = plain_extent(PyTuple_GET_ITEM(to, i));
        if (before < 0 || after < 0 || (before != after && before != 1)) return NULL;
    }
    return Py_NewRef(to);
}

static PyObject *permuted(PyObject *shape, PyObject *axes)
{
    Py_ssize_t n = PyTuple_GET_SIZE(shape);
    if (n != PyTuple_GET_SIZE(axes) || n > 63) return NULL;
    uint64_t seen = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t axis = plain_extent(PyTuple_GET_ITEM(axes, i));
        if (axis < 0 || axis >= n) return NULL;
        seen |= (uint64_t)1 << axis;
    }
    PyObject *result = seen == ((uint64_t)1 << n) - 1 ? PyTuple_New(n) : NULL;
    for (Py_ssize_t i = 0; result != NULL && i < n; i++) {
        Py_ssize_t axis = PyLong_AsSsize_t(PyTuple_GET_ITEM(axes, i));
        PyTuple_SET_ITEM(result, i, Py_NewRef(PyTuple_GET_ITEM(shape, axis)));
    }
    return result;
}

static PyObject *flipped(PyObject *shape, PyObject *axes)
{
    uint64_t seen = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(axes); i++) {
        Py_ssize_t axis = plain_extent(PyTuple_GET_ITEM(axes, i));
        if (axis < 0 || axis >= PyTuple_GET_SIZE(shape) || axis > 63 || seen >> axis & 1) return NULL;
        seen |= (uint64_t)1 << axis;
    }
    return Py_NewRef(shape);
}

/* The extent that an axis of `n` elements has between two bounds, or with so many put on either side; -1 where the rule
   has to tell. */
static Py_ssize_t extent_by_pair(Py_ssize_t n, PyObject *pair, int is_padded)
{
    if (n < 0 || !PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return -1;
    Py_ssize_t a = plain_extent(PyTuple_GET_ITEM(pair, 0)), b = plain_extent(PyTuple_GET_ITEM(pair, 1));
    if (a < 0 || b < 0) return -1;
    if (!is_padded) return a <= b && b <= n ? b - a : -1;
    return a <= PY_SSIZE_T_MAX - n && b <= PY_SSIZE_T_MAX - n - a ? a + n + b : -1;
}

static PyObject *shape_by_pairs(PyObject *shape, PyObject *pairs, int is_padded)
{
    Py_ssize_t n = PyTuple_GET_SIZE(shape);
    PyObject *result = n == PyTuple_GET_SIZE(pairs) ? PyTuple_New(n) : NULL;
    for (Py_ssize_t i = 0; result != NULL && i < n; i++) {
        Py_ssize_t before = plain_extent(PyTuple_GET_ITEM(shape, i));
        Py_ssize_t extent = extent_by_pair(before, PyTuple_GET_ITEM(pairs, i), is_padded);
        PyObject *item = extent < 0 ? NULL : PyLong_FromSsize_t(extent);
        if (item == NULL)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, i, item);
    }
    return result;
}

static PyObject *shrunk(PyObject *shape, PyObject *bounds) { return shape_by_pairs(shape, bounds, 0); }
static PyObject *padded(PyObject *shape, PyObject *widths) { return shape_by_pairs(shape, widths, 1); }

/* The ops that move elements, and the shape of what each gives: a new reference, or NULL as below. */
static const struct { PyObject **op, *(*shape)(PyObject *shape, PyObject *arg); } moves[] = {
    {&op_reshape, reshaped}, {&op_expand, expanded}, {&op_permute, permuted},
    {&op_shrink, shrunk}, {&op_pad, padded}, {&op_flip, flipped},
};

/* Those that reduce trailing axes; of no elements the last two give nothing. */
static PyObject **const reducers[] = {&op_add, &op_mul, &op_max, &op_min};

static PyObject *shape_of_reduced(PyObject *shape, PyObject *dtype, PyObject *arg)
{
    if (PyTuple_GET_SIZE(arg) != 2) return NULL;
    PyObject *how = PyTuple_GET_ITEM(arg, 0), *taken = NULL;
    for (size_t i = 0; i < sizeof reducers / sizeof *reducers; i++)
        if (how == *reducers[i]) taken = PyDict_GetItemWithError(takes, how);
    Py_ssize_t n = plain_extent(PyTuple_GET_ITEM(arg, 1)), left = PyTuple_GET_SIZE(shape) - n;
    if (taken == NULL || n < 0 || left < 0 || PyDict_Contains(PyTuple_GET_ITEM(taken, 1), dtype) <= 0) return NULL;
    if (how == op_max || how == op_min)
        for (Py_ssize_t i = left; i < PyTuple_GET_SIZE(shape); i++)
            if (plain_extent(PyTuple_GET_ITEM(shape, i)) <= 0) return NULL;
    return PyTuple_GetSlice(shape, 0, left);
}

/* A choice between two nodes by a third. */
static PyObject *shape_of_chosen(PyObject *src)
{
    PyObject *by = PyTuple_GET_ITEM(src, 0), *x = PyTuple_GET_ITEM(src, 1), *y = PyTuple_GET_ITEM(src, 2);
    PyObject *dtype = SLOT(by, at_node_dtype), *shape = SLOT(x, at_node_shape);
    if (!PyArray_DescrCheck(dtype) || ((PyArray_Descr *)dtype)->kind != 'b') return NULL;
    if (SLOT(x, at_node_dtype) != SLOT(y, at_node_dtype)) return NULL;
    for (Py_ssize_t i = 0; i < 3; i += 2) {
        PyObject *other = SLOT(PyTuple_GET_ITEM(src, i), at_node_shape);
        if (other != shape && PyObject_RichCompareBool(other, shape, Py_EQ) != 1) return NULL;
    }
    return Py_NewRef(shape);
}

static int may_cast(PyObject *from, PyObject *to)
{
    if (!PyArray_DescrCheck(from) || !PyArray_DescrCheck(to)) return 0;
    char kind = ((PyArray_Descr *)to)->kind;
    return ((PyArray_Descr *)from)->kind != 'c' || kind == 'c' || kind == 'b';
}

/* The shape that movement, reductions, choices and casts give, a new reference, and in `dtype` their dtype, borrowed;
   NULL, without an exception, where the rule itself has to say what it is, or what is wrong. */
static PyObject *shape_by_rule(PyObject *op, PyObject *src, PyObject *arg, PyObject **dtype)
{
    Py_ssize_t n = PyTuple_GET_SIZE(src);
    PyObject *x = n == 1 || n == 3 ? PyTuple_GET_ITEM(src, n / 2) : NULL, *result = NULL;
    PyObject *shape = x == NULL ? NULL : SLOT(x, at_node_shape);
    if (shape == NULL || !PyTuple_CheckExact(shape)) return NULL;
    PyObject *given = SLOT(x, at_node_dtype);
    if (n == 3)
        result = op == op_where ? shape_of_chosen(src) : NULL;
    else if (op == op_cast) {
        if (may_cast(given, *dtype)) return Py_NewRef(shape);
    }
    else if (arg == Py_None)
        result = op == op_detach || op == op_materialize ? Py_NewRef(shape) : NULL;
    else if (PyTuple_CheckExact(arg)) {
        if (op == op_reduce) result = shape_of_reduced(shape, given, arg);
        for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
            if (op == *moves[i].op) result = moves[i].shape(shape, arg);
    }
    if (PyErr_Occurred()) PyErr_Clear();
    if (result != NULL) *dtype = given;
    return result;
}
