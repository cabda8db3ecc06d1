/* Arguments and results in dicts, lists and tuples, by forms that Python has made of those of a call: a tuple each of
   LEAF and its number, of DICT, keys and forms, of LIST or TUPLE and forms, or of CONSTANT and an object. */
enum { LEAF, DICT, LIST, TUPLE, CONSTANT };
enum { MOST_LEVELS = 16 };

static long kind_of_form(PyObject *form) { return PyLong_AsLong(PyTuple_GET_ITEM(form, 0)); }

static int is_form(PyObject *form, int n_leaves, int level);

static int are_forms(PyObject *forms, int n_leaves, int level)
{
    if (!PyTuple_CheckExact(forms) || level > MOST_LEVELS) return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(forms); i++)
        if (!is_form(PyTuple_GET_ITEM(forms, i), n_leaves, level)) return 0;
    return 1;
}

/* Whether this is a form, with numbers of leaves below `n_leaves`. */
static int is_form(PyObject *form, int n_leaves, int level)
{
    if (!PyTuple_CheckExact(form) || PyTuple_GET_SIZE(form) < 2) return 0;
    PyObject *kind = PyTuple_GET_ITEM(form, 0), *inner = PyTuple_GET_ITEM(form, 1);
    if (!PyLong_CheckExact(kind)) return 0;
    switch (PyLong_AsLong(kind)) {
    case LEAF: {
        Py_ssize_t number = PyLong_CheckExact(inner) ? PyLong_AsSsize_t(inner) : -1;
        return 0 <= number && number < n_leaves;
    }
    case DICT:
        if (PyTuple_GET_SIZE(form) != 3 || !PyTuple_CheckExact(inner)) return 0;
        if (!are_forms(PyTuple_GET_ITEM(form, 2), n_leaves, level + 1)) return 0;
        return PyTuple_GET_SIZE(inner) == PyTuple_GET_SIZE(PyTuple_GET_ITEM(form, 2));
    case LIST:
    case TUPLE: return are_forms(inner, n_leaves, level + 1);
    case CONSTANT: return 1;
    default: return 0;
    }
}

static int is_constant(PyObject *x, PyObject *constant)
{
    return x == constant || (PyUnicode_CheckExact(x) && PyUnicode_CheckExact(constant) &&
                             PyUnicode_Compare(x, constant) == 0);
}

/* Put the leaves of what has this form into a tuple; 0, perhaps with an exception, where it has another. */
static int take_apart(PyObject *form, PyObject *x, PyObject *leaves)
{
    PyObject *inner = PyTuple_GET_ITEM(form, 1), *forms = inner;
    long kind = kind_of_form(form);
    if (kind == LEAF) {
        PyObject **place = &((PyTupleObject *)leaves)->ob_item[PyLong_AsSsize_t(inner)];
        Py_XSETREF(*place, Py_NewRef(x));
        return 1;
    }
    if (kind == CONSTANT) return is_constant(x, inner);
    if (kind == DICT) forms = PyTuple_GET_ITEM(form, 2);
    Py_ssize_t n = PyTuple_GET_SIZE(forms);
    if (kind == DICT ? !PyDict_CheckExact(x) || PyDict_GET_SIZE(x) != n
                     : !(kind == LIST ? PyList_CheckExact(x) : PyTuple_CheckExact(x)) || Py_SIZE(x) != n)
        return 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item;  /* held, for the comparison of keys may run what takes it away */
        if (kind == DICT)
            item = Py_XNewRef(PyDict_GetItemWithError(x, PyTuple_GET_ITEM(inner, i)));
        else
            item = i < Py_SIZE(x) ? Py_NewRef(PySequence_Fast_GET_ITEM(x, i)) : NULL;
        int is_alike = item != NULL && take_apart(PyTuple_GET_ITEM(forms, i), item, leaves);
        Py_XDECREF(item);
        if (!is_alike) return 0;
    }
    return 1;
}

/* The leaves of the arguments of a call; NULL, without an exception, where their form is another.

   `structure` has the form of the tuple of arguments, that of those by name or None, and the number of leaves. */
static PyObject *leaves_of(PyObject *structure, PyObject *args, PyObject *kwargs)
{
    PyObject *by_name = PyTuple_GET_ITEM(structure, 1);
    int has_names = kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0;
    if (has_names != (by_name != Py_None)) return NULL;
    PyObject *leaves = PyTuple_New(PyLong_AsSsize_t(PyTuple_GET_ITEM(structure, 2)));
    int is_alike = leaves != NULL && take_apart(PyTuple_GET_ITEM(structure, 0), args, leaves) &&
                   (!has_names || take_apart(by_name, kwargs, leaves));
    for (Py_ssize_t i = 0; is_alike && i < PyTuple_GET_SIZE(leaves); i++)
        is_alike = PyTuple_GET_ITEM(leaves, i) != NULL;
    if (is_alike) return leaves;
    Py_XDECREF(leaves);
    PyErr_Clear();
    return NULL;
}

/* A new object of this form, with these leaves. */
static PyObject *put_together(PyObject *form, PyObject *const *leaves)
{
    PyObject *inner = PyTuple_GET_ITEM(form, 1), *forms = inner, *result;
    long kind = kind_of_form(form);
    if (kind == LEAF) return Py_NewRef(leaves[PyLong_AsSsize_t(inner)]);
    if (kind == CONSTANT) return Py_NewRef(inner);
    if (kind == DICT) forms = PyTuple_GET_ITEM(form, 2);
    Py_ssize_t n = PyTuple_GET_SIZE(forms);
    result = kind == DICT ? PyDict_New() : kind == LIST ? PyList_New(n) : PyTuple_New(n);
    for (Py_ssize_t i = 0; result != NULL && i < n; i++) {
        PyObject *item = put_together(PyTuple_GET_ITEM(forms, i), leaves);
        if (item == NULL)
            Py_CLEAR(result);
        else if (kind == LIST)
            PyList_SET_ITEM(result, i, item);
        else if (kind == TUPLE)
            PyTuple_SET_ITEM(result, i, item);
        else {
            if (PyDict_SetItem(result, PyTuple_GET_ITEM(inner, i), item) < 0) Py_CLEAR(result);
            Py_DECREF(item);
        }
    }
    return result;
}

/* Whether this is None, or what `leaves_of` takes. */
static int is_structure(PyObject *structure, int most_leaves)
{
    if (structure == Py_None) return 1;
    if (!PyTuple_CheckExact(structure) || PyTuple_GET_SIZE(structure) != 3) return 0;
    PyObject *by_name = PyTuple_GET_ITEM(structure, 1), *number = PyTuple_GET_ITEM(structure, 2);
    Py_ssize_t n = PyLong_CheckExact(number) ? PyLong_AsSsize_t(number) : -1;
    return 0 <= n && n <= most_leaves && is_form(PyTuple_GET_ITEM(structure, 0), (int)n, 0) &&
           (by_name == Py_None || is_form(by_name, (int)n, 0));
}
