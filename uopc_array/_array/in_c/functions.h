/* Other functions: of operands alone, and those that have a program, which is looked up by what they are given. */
/* at_once(function, x, y, is_reflected=False, kinds=""), as in at_once.py. */
static PyObject *at_once_of(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    const char *kinds = n > 4 ? PyUnicode_AsUTF8(args[4]) : NULL;
    if (n >= 3 && (is_recorded(args[1], args[2]) || is_for_graph(args[1]) ||
                   (Py_TYPE(args[1]) == array_type && is_for_graph(args[2]))))
        Py_RETURN_NONE;
    if (n >= 3 && (n <= 4 || kinds != NULL)) {
        int is_reflected = n > 3 && args[3] == Py_True, number;
        PyObject *a = value_of(args[1]), *b = a == NULL ? NULL : operand(args[2], &number);
        if (b != NULL && are_small_together(a, b) && has_kind(kinds, number_of(a)) && has_kind(kinds, number)) {
            PyObject *value = called_quietly(args[0], is_reflected ? b : a, is_reflected ? a : b);
            if (value != NULL) return new_array(value, Py_NewRef(Py_None));
        }
    }
    return PyErr_Occurred() ? NULL : for_python(AT_ONCE, args, n);
}

/* of_one_at_once(function, x, kinds=""), as in at_once.py. */
static PyObject *of_one_at_once(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    const char *kinds = n > 2 ? PyUnicode_AsUTF8(args[2]) : NULL;
    if (n >= 2 && (is_recorded(args[1], NULL) || is_for_graph(args[1]))) Py_RETURN_NONE;
    if (n >= 2 && (n <= 2 || kinds != NULL)) {
        PyObject *a = value_of(args[1]);
        if (a != NULL && size_of(a) <= largest && has_kind(kinds, number_of(a))) {
            PyObject *value = called_quietly(args[0], a, NULL);
            if (value != NULL) return array_on(value, 0);
        }
    }
    return PyErr_Occurred() ? NULL : for_python(OF_ONE_AT_ONCE, args, n);
}

/* What tells programs apart, being made: as `_key` of programs.py makes it. */
typedef struct {
    PyObject *items[MOST_ITEMS], *values[MOST_ITEMS];
    Py_ssize_t n, n_values;
} Key;

static void drop(Key *key)
{
    while (key->n > 0) Py_DECREF(key->items[--key->n]);
    while (key->n_values > 0) Py_DECREF(key->values[--key->n_values]);
}

/* Add an item, which is taken over; 0 where it is NULL, or one too many. */
static int add_item(Key *key, PyObject *item)
{
    if (item == NULL) return 0;
    if (key->n == MOST_ITEMS) {
        Py_DECREF(item);
        return 0;
    }
    key->items[key->n++] = item;
    return 1;
}

static int add_value(Key *key, PyObject *value)
{
    if (key->n_values == MOST_ITEMS) return 0;
    key->values[key->n_values++] = Py_NewRef(value);
    return 1;
}

static PyObject *shape_of(PyObject *value)
{
    if (!PyArray_CheckExact(value)) return PyTuple_New(0);
    int n = PyArray_NDIM((PyArrayObject *)value);
    PyObject *shape = PyTuple_New(n);
    for (int i = 0; shape != NULL && i < n; i++) {
        PyObject *extent = PyLong_FromSsize_t(PyArray_DIM((PyArrayObject *)value, i));
        if (extent == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, i, extent);
    }
    return shape;
}

enum { NOT_SMALL = 1 << 16 };  /* as in programs.py */

/* Add an array or a scalar; 0 where it holds no value that is small. */
static int add_operand(Key *key, PyObject *x, int is_of_elements)
{
    PyObject *value = value_of(x);
    if (value == NULL && number_of_scalar(x) >= 0) value = x;
    if (value == NULL || size_of(value) > largest || !add_value(key, value)) return 0;
    long number = number_of(value);
    if (is_of_elements) {
        int has_axes = PyArray_CheckExact(value) && PyArray_NDIM((PyArrayObject *)value) > 0;
        if (size_of(value) > small) number += NOT_SMALL;
        return add_item(key, PyLong_FromLong(has_axes ? number : ~number));
    }
    return add_item(key, PyLong_FromLong(number)) && add_item(key, shape_of(value));
}

static int has_ints_alone(PyObject *items)
{
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); i++)
        if (!PyLong_CheckExact(PySequence_Fast_GET_ITEM(items, i))) return 0;
    return 1;
}

static int add_typed(Key *key, PyObject *x, PyObject *item)
{
    return item != NULL && add_item(key, Py_NewRef((PyObject *)Py_TYPE(x))) && add_item(key, item);
}

/* Add an argument; 0 where it is for Python. */
static int add_argument(Key *key, PyObject *x, int is_of_elements, int is_weak)
{
    if (Py_TYPE(x) == array_type || number_of_scalar(x) >= 0) return add_operand(key, x, is_of_elements);
    if (x == Py_None || PyBool_Check(x) || PyLong_CheckExact(x) || PyUnicode_CheckExact(x) ||
        PyType_CheckExact(x) || PyArray_DescrCheck(x))
        return add_typed(key, x, Py_NewRef(x));
    if (PyFloat_CheckExact(x)) {
        if (!(is_of_elements && is_weak)) return add_typed(key, x, PyObject_CallMethod(x, "hex", NULL));
        PyObject *value = PyObject_CallOneArg((PyObject *)&PyDoubleArrType_Type, x);
        if (value == NULL || key->n_values == MOST_ITEMS) {
            Py_XDECREF(value);
            return 0;
        }
        key->values[key->n_values++] = value;
        return add_item(key, Py_NewRef((PyObject *)Py_TYPE(x)));
    }
    if (is_of_elements || !(PyTuple_CheckExact(x) || PyList_CheckExact(x))) return 0;
    if (has_ints_alone(x)) return add_typed(key, x, PySequence_Tuple(x));
    if (!add_item(key, Py_NewRef((PyObject *)&PyList_Type)) ||
        !add_item(key, PyLong_FromSsize_t(PySequence_Fast_GET_SIZE(x))))
        return 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(x); i++)
        if (!add_operand(key, PySequence_Fast_GET_ITEM(x, i), 0)) return 0;
    return 1;
}

/* What stands in a table under a key, borrowed; NULL, without an exception, where there is nothing. */
static PyObject *found(PyObject *table, const Key *key)
{
    PyObject *result = NULL, *tuple = table == NULL ? NULL : PyTuple_New(key->n);
    if (tuple != NULL) {
        for (Py_ssize_t i = 0; i < key->n; i++) PyTuple_SET_ITEM(tuple, i, Py_NewRef(key->items[i]));
        result = PyDict_GetItemWithError(table, tuple);
        Py_DECREF(tuple);
    }
    PyErr_Clear();
    return result;
}

/* The function that has been made of the program for these arguments, borrowed, with their values in `key`; NULL,
   without an exception, where there is none. */
static PyObject *program_of(Key *key, PyObject *native, PyObject *args, int is_of_elements, int is_weak)
{
    int is_made = add_item(key, Py_NewRef(native));
    for (Py_ssize_t i = 0; is_made && i < PyTuple_GET_SIZE(args); i++)
        is_made = add_argument(key, PyTuple_GET_ITEM(args, i), is_of_elements, is_weak);
    if (!is_made) {
        PyErr_Clear();
        return NULL;
    }
    if (is_of_elements && key->n_values == 2 && !are_small_together(key->values[0], key->values[1])) return NULL;
    PyObject *function = found(programs, key);
    if (function != NULL && key->n_values == 0) {  /* of nothing known: settings and traces say what is made */
        PyObject *makes = for_python(MAKES_VALUES, NULL, 0);
        if (makes != Py_True) function = NULL;
        Py_XDECREF(makes);
        PyErr_Clear();
    }
    return function;
}

/* of_known(cls, native, name, nodes, args, is_array, is_of_elements=False, numbers_count=False), as in programs.py,
   where it has made a function; else it is called. */
static PyObject *of_known(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    if (n >= 6 && (PyTypeObject *)args[0] == array_type && PyTuple_CheckExact(args[4])) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[4]); i++)
            if (is_for_graph(PyTuple_GET_ITEM(args[4], i))) Py_RETURN_NONE;
        Key key = {.n = 0, .n_values = 0};
        PyObject *value = NULL, *function = program_of(&key, args[1], args[4], n > 6 && args[6] == Py_True,
                                                       !(n > 7 && args[7] == Py_True));
        if (function != NULL && enter()) {
            Py_INCREF(function);
            value = leave(PyObject_Vectorcall(function, key.values, key.n_values, NULL));
            Py_DECREF(function);
        }
        drop(&key);
        if (value != NULL) return array_on(value, args[5] == Py_True);
        if (PyErr_Occurred()) return NULL;
    }
    return for_python(OF_KNOWN, args, n);
}

/* What a lens gives of an array; NULL, without an exception, where that is for Python. */
static PyObject *view_by(PyObject *x, PyObject *lens)
{
    PyObject *value = value_of(x);
    if (value == NULL || !PyArray_CheckExact(value) || size_of(value) > largest || view_types == NULL) return NULL;
    PyObject *alias = SLOT(x, at_alias), *memory = value;
    if (alias != Py_None && Py_TYPE(alias) == part_type) memory = SLOT(alias, at_memory);
    if (!PyArray_CheckExact(memory) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)memory)) return NULL;
    if (PySet_Contains(view_types, (PyObject *)Py_TYPE(lens)) != 1) goto python;
    Py_INCREF(value);
    PyObject *item = PyObject_CallMethodOneArg(lens, on_array, value);
    PyObject *is_writable = item == NULL ? NULL : PyObject_GetAttr(lens, is_writable_name);
    alias = NULL;
    if (is_writable != NULL && PyArray_CheckExact(item) && size_of(item) <= largest && value_of(x) == value)
        alias = alias_of_part(x, value, lens, is_writable == Py_True);
    Py_XDECREF(is_writable);
    Py_DECREF(value);
    if (alias != NULL) return new_array(item, alias);
    Py_XDECREF(item);
python:
    if (PyErr_Occurred()) is_for_python();
    return NULL;
}

/* view_at_once(x, lens), as in at_once.py. */
static PyObject *view_at_once(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    PyObject *view = n == 2 ? view_by(args[0], args[1]) : NULL;
    return view != NULL || PyErr_Occurred() ? view : for_python(VIEW_AT_ONCE, args, n);
}

/* view_of_known(x, native, name, args, is_turn=False), as in programs.py. */
static PyObject *view_of_known(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    PyObject *value = (n == 4 || n == 5) && PyTuple_CheckExact(args[3]) ? value_of(args[0]) : NULL;
    if (value == NULL && n == 4 && node_of(args[0]) != NULL) Py_RETURN_NONE;
    if (value != NULL && PyArray_CheckExact(value)) {
        Key key = {.n = 0, .n_values = 0};
        int is_made = add_item(&key, Py_NewRef(args[1]));
        if (n == 5 && args[4] == Py_True)
            is_made = is_made && add_item(&key, PyLong_FromLong(PyArray_NDIM((PyArrayObject *)value)));
        else
            is_made = is_made && add_item(&key, PyLong_FromLong(number_of(value))) && add_item(&key, shape_of(value));
        for (Py_ssize_t i = 0; is_made && i < PyTuple_GET_SIZE(args[3]); i++)
            is_made = add_argument(&key, PyTuple_GET_ITEM(args[3], i), 0, 0) && key.n_values == 0;
        PyErr_Clear();
        PyObject *view = NULL, *lens = is_made ? Py_XNewRef(found(lenses, &key)) : NULL;
        drop(&key);
        if (lens != NULL) view = view_by(args[0], lens);
        Py_XDECREF(lens);
        if (view != NULL || PyErr_Occurred()) return view;
    }
    return for_python(VIEW_OF_KNOWN, args, n);
}

/* handle_on(cls, node, is_array), as in at_once.py. */
static PyObject *handle_on(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    if (n == 3 && (PyTypeObject *)args[0] == array_type && is_node(args[1]) && PyBool_Check(args[2])) {
        PyObject *node = args[1], *shape = SLOT(node, at_node_shape);
        int is_plain = args[2] == Py_False || PyTuple_GET_SIZE(shape) > 0;
        if (is_plain && (PyLong_AsLong(SLOT(node, at_flags)) != 0 || SLOT(node, at_realized) != Py_None ||
                         elements_of(shape) > small))
            return array_of_node(Py_NewRef(node));
    }
    return for_python(HANDLE_ON, args, n);
}
