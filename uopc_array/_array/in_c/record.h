/* Operators on arrays that stand for nodes: one node is recorded, and an array made of it. `_arithmetic` and
   `_comparison` of operators.py say when that is all there is to do; the rest is theirs. */
typedef struct {
    PyObject *op;           /* of the graph; NULL is always for Python */
    const char *kinds;      /* of dtypes whose result is just that op */
} Recorded;

static PyObject *bounds_names, *ops_in_memory, *lazy_depth_name, *from_node_name;

/* The node that an array stands for, borrowed; NULL where it holds a value, is a view, or gives way to other dtypes. */
static PyObject *node_of(PyObject *x)
{
    if (Py_TYPE(x) != array_type || SLOT(x, at_value) != Py_None || SLOT(x, at_weak) != Py_False) return NULL;
    PyObject *node = SLOT(x, at_node), *alias = SLOT(x, at_alias);
    if (node == NULL || !is_node(node)) return NULL;
    return alias == Py_None || (alias != NULL && Py_TYPE(alias) == root_type) ? node : NULL;
}

/* Whether the value of a node may be known, so that Python computes with it at once; see `known` in at_once.py. */
static int may_be_known(PyObject *node)
{
    if (PyLong_AsLong(SLOT(node, at_flags)) != 0 || PySet_Contains(ops_in_memory, SLOT(node, at_op)) != 1) return 0;
    Py_ssize_t n = elements_of(SLOT(node, at_node_shape));
    return n >= 0 && n <= largest;
}

/* Whether an argument is an array on a node whose value cannot be known: whatever else is given, it is for the graph. */
static int is_for_graph(PyObject *x)
{
    PyObject *node = node_of(x);
    return node != NULL && !may_be_known(node);
}

static int has_kind_of_node(const char *kinds, PyObject *node)
{
    PyObject *dtype = SLOT(node, at_node_dtype);
    return PyArray_DescrCheck(dtype) && strchr(kinds, ((PyArray_Descr *)dtype)->kind) != NULL;
}

/* A number as a node of the type of another, a new reference; NULL, without an exception, where it is for Python. */
static PyObject *node_of_number(PyObject *y, PyObject *beside)
{
    PyObject *dtype = SLOT(beside, at_node_dtype), *shape = SLOT(beside, at_node_shape);
    char kind = ((PyArray_Descr *)dtype)->kind;
    if (PyFloat_CheckExact(y) ? kind != 'f' && kind != 'c' : !PyLong_CheckExact(y) || kind == 'b') return NULL;
    double number = PyFloat_CheckExact(y) ? PyFloat_AS_DOUBLE(y) : 1.0;
    if (number == number && number != 0.0) {  /* those have no bits besides their value */
        PyObject *key = PyTuple_Pack(4, (PyObject *)Py_TYPE(y), y, dtype, shape);
        PyObject *node = key == NULL ? NULL : PyDict_GetItemWithError(recent_numbers, key);
        Py_XINCREF(node);
        Py_XDECREF(key);
        if (node != NULL) return node;
    }
    PyObject *args[3] = {y, dtype, shape};
    PyObject *node = PyErr_Occurred() ? NULL : PyObject_Vectorcall(const_function, args, 3, NULL);
    if (node == NULL) is_for_python();
    return node;
}

/* What holds a value of few elements as a node beside another of the same type, a new reference: from now on it has
   that, as it would in Python. NULL where it is for Python to say, or with an exception. */
static PyObject *node_of_value(PyObject *x, PyObject *beside)
{
    PyObject *value = value_of(x), *alias = value == NULL ? NULL : SLOT(x, at_alias);
    if (alias == NULL || (alias != Py_None && Py_TYPE(alias) != root_type) || SLOT(x, at_weak) != Py_False) return NULL;
    if (!PyArray_CheckExact(value) || size_of(value) > unchained) return NULL;
    if ((PyObject *)PyArray_DESCR((PyArrayObject *)value) != SLOT(beside, at_node_dtype)) return NULL;
    PyObject *node = PyObject_GetAttr(x, node_name);
    if (node != NULL && !is_node(node)) Py_CLEAR(node);
    return node;
}

static PyObject *node_beside(PyObject *x, PyObject *node)
{
    return Py_TYPE(x) == array_type ? node_of_value(x, node) : node_of_number(x, node);
}

/* An array on a node, which is taken over: `_from_uop`. */
static PyObject *array_of_node(PyObject *node)
{
    if (node == NULL) return NULL;
    PyObject *most = PyDict_GetItemWithError(bounds_names, lazy_depth_name), *x = NULL;
    if (most != NULL && (PyLong_AsLong(SLOT(node, at_depth)) > PyLong_AsLong(most) ||
                         PyLong_AsLong(SLOT(node, at_flags)) & TRACED)) {
        x = PyObject_CallMethodOneArg((PyObject *)array_type, from_node_name, node);
        Py_DECREF(node);
        return x;
    }
    PyObject *held = most == NULL ? NULL : PyLong_FromLong(PyLong_AsLong(SLOT(node, at_held)) + 1);
    if (held != NULL) x = new_array(Py_NewRef(Py_None), Py_NewRef(Py_None));
    if (x == NULL) {
        Py_XDECREF(held);
        Py_DECREF(node);
        return NULL;
    }
    Py_SETREF(SLOT(node, at_held), held);
    SLOT(x, at_node) = node;
    return x;
}

/* The extent of an axis that two nodes have together, counted from the end, borrowed; NULL where there is none. */
static PyObject *common_extent(PyObject *shape, PyObject *other, Py_ssize_t from_end)
{
    Py_ssize_t i = PyTuple_GET_SIZE(shape) - from_end, k = PyTuple_GET_SIZE(other) - from_end;
    PyObject *extent = i < 0 ? NULL : PyTuple_GET_ITEM(shape, i), *beside = k < 0 ? NULL : PyTuple_GET_ITEM(other, k);
    if (extent == NULL || beside == NULL) return extent == NULL ? beside : extent;
    Py_ssize_t n = plain_extent(extent), m = plain_extent(beside);
    if (n < 0 || m < 0) return NULL;
    return n == m || m == 1 ? extent : n == 1 ? beside : NULL;
}

/* The shape of two nodes together, a new reference; NULL, without an exception, where Python has to say it. */
static PyObject *common_shape(PyObject *shape, PyObject *other)
{
    if (!PyTuple_CheckExact(shape) || !PyTuple_CheckExact(other)) return NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(shape), m = PyTuple_GET_SIZE(other), most = n > m ? n : m;
    PyObject *result = PyTuple_New(most);
    for (Py_ssize_t i = 0; result != NULL && i < most; i++) {
        PyObject *extent = common_extent(shape, other, most - i);
        if (extent == NULL)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, i, Py_NewRef(extent));
    }
    return result;
}

/* A node, which is taken over, moved to a shape, which may be NULL with an exception, and is taken over too. */
static PyObject *moved_node(PyObject *op, PyObject *node, PyObject *shape)
{
    int is_same = shape == NULL ? -1 : PyObject_RichCompareBool(SLOT(node, at_node_shape), shape, Py_EQ);
    if (is_same == 0) {
        PyObject *src = PyTuple_Pack(1, node), *dtype = SLOT(node, at_node_dtype);
        PyObject *moved = src == NULL ? NULL : node_of_type(op, src, shape, shape, dtype);
        Py_SETREF(node, moved);
    }
    else if (is_same < 0)
        Py_CLEAR(node);
    Py_XDECREF(shape);
    return node;
}

/* A node, which is taken over, in the shape that it can be broadcast to: `broadcast_to` of composite.py. */
static PyObject *broadcast_node(PyObject *node, PyObject *shape)
{
    PyObject *own = SLOT(node, at_node_shape);
    Py_ssize_t n = PyTuple_GET_SIZE(own), added = PyTuple_GET_SIZE(shape) - n;
    if (added > 0) {
        PyObject *column = PyTuple_New(added + n);
        for (Py_ssize_t i = 0; column != NULL && i < added + n; i++)
            PyTuple_SET_ITEM(column, i, i < added ? PyLong_FromLong(1) : Py_NewRef(PyTuple_GET_ITEM(own, i - added)));
        node = moved_node(op_reshape, node, column);
    }
    return node == NULL ? NULL : moved_node(op_expand, node, Py_NewRef(shape));
}

/* The array of op(x, y), whose nodes are taken over; NULL, without an exception, where it is for Python. */
static PyObject *recorded_as(const Recorded *how, PyObject *a, PyObject *b)
{
    PyObject *result = NULL;
    if (a != NULL && b != NULL && SLOT(a, at_node_dtype) == SLOT(b, at_node_dtype)) {
        PyObject *shape = SLOT(a, at_node_shape), *other = SLOT(b, at_node_shape);
        int is_same = shape == other ? 1 : PyObject_RichCompareBool(shape, other, Py_EQ);
        PyObject *common = is_same == 0 ? common_shape(shape, other) : NULL;
        if (common != NULL) {
            a = broadcast_node(a, common);
            b = broadcast_node(b, common);
            is_same = a != NULL && b != NULL;
            Py_DECREF(common);
        }
        if (is_same > 0) {
            result = array_of_node(new_node(how->op, PyTuple_Pack(2, a, b), Py_None, Py_None));
            if (result == NULL) is_for_python();
        }
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    return result;
}

/* x op y, one of them an array; as above. */
static PyObject *record_two(const Recorded *how, PyObject *x, PyObject *y)
{
    if (how->op == NULL) return NULL;
    PyObject *a = node_of(x), *b = node_of(y);
    if ((a == NULL && b == NULL) || !has_kind_of_node(how->kinds, a == NULL ? b : a)) return NULL;
    if ((a == NULL || may_be_known(a)) && (b == NULL || may_be_known(b))) return NULL;
    PyObject *left = Py_XNewRef(a), *right = Py_XNewRef(b);  /* whatever runs while the other one is made */
    if (left == NULL)
        left = node_beside(x, right);
    else if (right == NULL)
        right = node_beside(y, left);
    return recorded_as(how, left, right);
}

/* x op y of a comparison: beside integers numbers are for Python, which knows those that no dtype holds. */
static PyObject *record_comparison(const Recorded *how, PyObject *x, PyObject *y, int is_swapped)
{
    PyObject *a = how->op == NULL ? NULL : node_of(x), *b;
    if (a == NULL || !has_kind_of_node(how->kinds, a)) return NULL;
    int is_known = may_be_known(a);
    if (PyFloat_CheckExact(y) || PyLong_CheckExact(y))
        b = has_kind_of_node("f", a) && !is_known ? node_of_number(y, a) : NULL;
    else if ((b = node_of(y)) != NULL)
        b = is_known && may_be_known(b) ? NULL : Py_NewRef(b);
    if (b == NULL) return NULL;
    return is_swapped ? recorded_as(how, b, Py_NewRef(a)) : recorded_as(how, Py_NewRef(a), b);
}

static PyObject *record_one(const Recorded *how, PyObject *x)
{
    PyObject *a = how->op == NULL ? NULL : node_of(x);
    if (a == NULL || may_be_known(a) || !has_kind_of_node(how->kinds, a)) return NULL;
    PyObject *result = array_of_node(new_node(how->op, PyTuple_Pack(1, a), Py_None, Py_None));
    if (result == NULL) is_for_python();
    return result;
}
