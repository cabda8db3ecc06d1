/* The nodes of the graph: how one is made and entered in the table, how a graph is compared with one that was seen, and
   how the graph that came of it is made again. uopc_core/ir/uop.py and alike.py say what each does and why, and do the
   same where this module has not been built. */
static PyTypeObject *node_type, *ref_type;
static Py_ssize_t at_op, at_src, at_arg, at_node_dtype, at_node_shape, at_flags, at_depth, at_held, at_realized;
static Py_ssize_t at_key;                                                 /* of a reference in the table */
static PyObject *node_names;                                              /* of the module of nodes */
static PyObject *node_table, *rules, *takes, *typed;                      /* see connect_nodes */
static PyObject *op_const, *op_buffer, *op_param, *op_variable, *op_detach;
static PyObject *op_reshape, *op_expand, *op_permute, *op_shrink, *op_pad, *op_flip;
static PyObject *op_where, *op_cast, *op_materialize, *op_reduce, *op_add, *op_mul, *op_max, *op_min;
static PyObject *any_argument, *many_name, *entered_name, *buffer_name, *number_name, *forget_function, *new_function;
static PyObject *recent_numbers, *const_function;
static PyObject *zero;

enum { TRACKED = 1, TRACED = 2, HIDDEN = 4 };

/* Whether this is a node whose fields have been filled, of which the flags are the last. */
static int is_node(PyObject *x)
{
    return Py_TYPE(x) == node_type && SLOT(x, at_flags) != NULL;
}

#include "types.h"

static long flags_of(PyObject *op, PyObject *dtype, long flags)
{
    if (op == op_variable) return flags | TRACKED;
    if (op == op_param) return TRACED;
    if (flags & TRACKED) {
        char kind = PyArray_DescrCheck(dtype) ? ((PyArray_Descr *)dtype)->kind : 0;
        if (op == op_detach || (kind != 'f' && kind != 'c')) return (flags & ~TRACKED) | HIDDEN;
    }
    return flags;
}

/* A tuple that the table holds for as long as the node is there: no cycle through it could be collected meanwhile, so
   the collector need not look at it. */
static void is_no_cycle(PyObject *tuple)
{
    if (PyTuple_CheckExact(tuple)) PyObject_GC_UnTrack(tuple);
}

/* Enter a node, which is taken over, in the table by its key: the node that is there in the end. */
static PyObject *enter_node(PyObject *node, PyObject *key)
{
    PyObject *args[2] = {node, forget_function};
    PyObject *ref = PyObject_Vectorcall((PyObject *)ref_type, args, 2, NULL);
    if (ref == NULL) {
        Py_DECREF(node);
        return NULL;
    }
    SLOT(ref, at_key) = Py_NewRef(key);
    is_no_cycle(key);
    is_no_cycle(PyTuple_GET_ITEM(key, 1));
    PyObject *there = PyDict_SetDefault(node_table, key, ref);
    PyObject *most = there == NULL ? NULL : PyDict_GetItemWithError(node_names, many_name);
    if (most == NULL)
        Py_CLEAR(node);
    else if (there != ref || PyDict_GET_SIZE(node_table) > PyLong_AsSsize_t(most)) {
        PyObject *entered = PyDict_GetItemWithError(node_names, entered_name);
        args[0] = ref, args[1] = node;
        Py_SETREF(node, entered == NULL ? NULL : PyObject_Vectorcall(entered, args, 2, NULL));
    }
    Py_DECREF(ref);
    return node;
}

/* A node that is not in the table: `_make` of uop.py. `shape` and `dtype` are those of the node, where they are known,
   else NULL, and what the rule is to be told in the place of `dtype`. */
static PyObject *made_node(PyObject *key, PyObject *op, PyObject *src, PyObject *arg, PyObject *dtype, PyObject *shape)
{
    PyObject *type = NULL;  /* holds what is not held by others */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(src); i++)
        if (!is_node(PyTuple_GET_ITEM(src, i))) {
            PyErr_Format(PyExc_TypeError, "UOp: expected nodes as sources, got %.100s",
                         Py_TYPE(PyTuple_GET_ITEM(src, i))->tp_name);
            return NULL;
        }
    if (shape == NULL) {
        PyObject *found = dtype_of_elements(op, src);
        if (found != NULL) {
            dtype = found;
            shape = SLOT(PyTuple_GET_ITEM(src, 0), at_node_shape);
        }
        else if ((type = shape_by_rule(op, src, arg, &dtype)) != NULL)
            shape = type;
        else {
            PyObject *rule = PyErr_Occurred() ? NULL : PyObject_GetItem(rules, op);
            if (rule == NULL) return NULL;
            PyObject *args[4] = {op, src, arg, dtype};
            type = PyObject_Vectorcall(rule, args, 4, NULL);
            Py_DECREF(rule);
            if (type == NULL || !PyArg_ParseTuple(type, "OO", &shape, &dtype)) {
                Py_XDECREF(type);
                return NULL;
            }
        }
    }
    long flags = 0, depth = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(src); i++) {
        PyObject *s = PyTuple_GET_ITEM(src, i);
        flags |= PyLong_AsLong(SLOT(s, at_flags));
        long below = PyLong_AsLong(SLOT(s, at_depth));
        if (below >= depth) depth = below + 1;
    }
    PyObject *node = node_type->tp_alloc(node_type, 0);
    if (node != NULL) {
        SLOT(node, at_op) = Py_NewRef(op);
        SLOT(node, at_src) = Py_NewRef(src);
        SLOT(node, at_arg) = Py_NewRef(arg);
        SLOT(node, at_node_shape) = Py_NewRef(shape);
        SLOT(node, at_node_dtype) = Py_NewRef(dtype);
        SLOT(node, at_realized) = Py_NewRef(Py_None);
        SLOT(node, at_held) = Py_NewRef(zero);
        SLOT(node, at_depth) = PyLong_FromLong(depth);
        SLOT(node, at_flags) = PyLong_FromLong(flags_of(op, dtype, flags));
        if (SLOT(node, at_depth) == NULL || SLOT(node, at_flags) == NULL) Py_CLEAR(node);
    }
    Py_XDECREF(type);
    return node == NULL ? NULL : enter_node(node, key);
}

/* The node that a reference refers to, a new reference; NULL, without an exception, where it is gone. */
static PyObject *node_of_ref(PyObject *ref)
{
    PyObject *node = NULL;
#if PY_VERSION_HEX >= 0x030D0000
    PyWeakref_GetRef(ref, &node);
#else
    node = PyWeakref_GET_OBJECT(ref);
    node = node == Py_None ? NULL : Py_NewRef(node);
#endif
    return node;
}

/* The node of the table with this key; as above. */
static PyObject *node_of_key(PyObject *key)
{
    PyObject *ref = PyDict_GetItemWithError(node_table, key);
    return ref == NULL ? NULL : node_of_ref(ref);
}

/* UOp.of_type(op, src, arg, shape, dtype), of which `src` is taken over. */
static PyObject *node_of_type(PyObject *op, PyObject *src, PyObject *arg, PyObject *shape, PyObject *dtype)
{
    int is_typed = PySet_Contains(typed, op);
    PyObject *key = is_typed < 0 ? NULL : PyTuple_Pack(4, op, src, arg, is_typed ? dtype : Py_None);
    PyObject *node = key == NULL ? NULL : node_of_key(key);
    if (node == NULL && !PyErr_Occurred()) node = made_node(key, op, src, arg, dtype, shape);
    Py_XDECREF(key);
    Py_DECREF(src);
    return node;
}

/* UOp.new(op, src, arg, None) of an op whose dtype follows from its sources, and `src`, which is taken over. */
static PyObject *new_node(PyObject *op, PyObject *src, PyObject *arg, PyObject *dtype)
{
    PyObject *key = src == NULL ? NULL : PyTuple_Pack(4, op, src, arg, dtype);
    PyObject *node = key == NULL ? NULL : node_of_key(key);
    if (node == NULL && !PyErr_Occurred()) node = made_node(key, op, src, arg, dtype, NULL);
    Py_XDECREF(key);
    Py_XDECREF(src);
    return node;
}

/* new(op, src=(), arg=None, dtype=None): `UOp.new`. */
static PyObject *node_new(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    if (names != NULL || n < 2 || n > 4 || !PyTuple_CheckExact(args[1]) || args[0] == op_const || args[0] == op_buffer)
        return PyObject_Vectorcall(new_function, args, n, names);
    return new_node(args[0], Py_NewRef(args[1]), n > 2 ? args[2] : Py_None, n > 3 ? args[3] : Py_None);
}

/* of_type(op, src, arg, shape, dtype): `UOp.of_type`. */
static PyObject *node_of_known_type(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    if (n != 5 || !PyTuple_CheckExact(args[1]) || !PyTuple_CheckExact(args[3])) {
        PyErr_Format(PyExc_TypeError, "of_type: expected five arguments, the second and fourth tuples, got %zd", n);
        return NULL;
    }
    return node_of_type(args[0], Py_NewRef(args[1]), args[2], args[3], args[4]);
}

/* make_node(key, op, src, arg, dtype, shape=None): `_make` of uop.py. */
static PyObject *make_node(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    int is_key = n > 0 && PyTuple_CheckExact(args[0]) && PyTuple_GET_SIZE(args[0]) > 1;
    if (n < 5 || n > 6 || !is_key || !PyTuple_CheckExact(args[2])) {
        PyErr_Format(PyExc_TypeError, "make_node: expected a key, an op, a tuple and two or three more, got %zd", n);
        return NULL;
    }
    if (args[1] == op_buffer) return PyObject_CallMethodOneArg((PyObject *)node_type, buffer_name, args[3]);
    PyObject *shape = n == 6 && args[5] != Py_None && args[4] != Py_None ? args[5] : NULL;
    return made_node(args[0], args[1], args[2], args[3], args[4], shape);
}

/* forget_node(ref): `_forget` of uop.py. */
static PyObject *forget_node(PyObject *Py_UNUSED(module), PyObject *ref)
{
    PyObject *key = Py_TYPE(ref) == ref_type ? SLOT(ref, at_key) : NULL;
    if (key != NULL) {
        Py_INCREF(key);
        PyObject *there = PyDict_GetItemWithError(node_table, key);
        if (there == ref) PyDict_DelItem(node_table, key);
        Py_DECREF(key);
        PyErr_Clear();  /* what cannot be found has been taken out */
    }
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------------------------------------------ graphs */

/* Whether `sources` may stand at `places`, as `are_placed` of alike.py says; -1 with an exception. */
static int are_placed(PyObject *sources, PyObject *places, PyObject *nodes, PyObject *numbers)
{
    if (PyTuple_GET_SIZE(sources) != PyTuple_GET_SIZE(places)) return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(places); i++) {
        PyObject *s = PyTuple_GET_ITEM(sources, i), *place = PyTuple_GET_ITEM(places, i);
        if (place == Py_None) {
            if (PyList_Append(nodes, s) < 0) return -1;
        }
        else if (PyLong_CheckExact(place)) {
            Py_ssize_t number = plain_extent(place);
            if (number < 0 || number >= PyList_GET_SIZE(nodes) || PyList_GET_ITEM(nodes, number) != s) return 0;
        }
        else if (Py_TYPE(place) == node_type) {
            if (place != s) return 0;
        }
        else {
            PyObject *number = PyObject_CallMethodOneArg(place, number_name, s);
            int is_one = number == NULL ? -1 : number != Py_None;
            if (is_one > 0 && PyList_Append(numbers, number) < 0) is_one = -1;
            Py_XDECREF(number);
            if (is_one <= 0) return is_one;
        }
    }
    return 1;
}

/* Whether a node is as a row says; what it leads to is added to the lists. -1 with an exception. */
static int is_alike(PyObject *node, PyObject *row, PyObject *nodes, PyObject *memory, PyObject *numbers)
{
    if (!is_node(node) || !PyTuple_CheckExact(row) || PyTuple_GET_SIZE(row) != 6) return 0;
    PyObject *op = PyTuple_GET_ITEM(row, 0), *arg = PyTuple_GET_ITEM(row, 1), *dtype = PyTuple_GET_ITEM(row, 2);
    PyObject *is_held = PyTuple_GET_ITEM(row, 3), *places = PyTuple_GET_ITEM(row, 5);
    if (SLOT(node, at_node_dtype) != dtype) return 0;
    if (op == Py_None) {
        PyObject *value = SLOT(node, at_realized);
        if (value == Py_None) return 0;
        int is_shape = PyObject_RichCompareBool(SLOT(node, at_node_shape), arg, Py_EQ);
        return is_shape > 0 && PyList_Append(memory, value) < 0 ? -1 : is_shape;
    }
    if (SLOT(node, at_op) != op || SLOT(node, at_realized) != Py_None) return 0;
    PyObject *src = SLOT(node, at_src), *held = SLOT(node, at_held);
    Py_ssize_t n = PyTuple_GET_SIZE(src);
    if (n != PyLong_AsSsize_t(PyTuple_GET_ITEM(row, 4))) return 0;
    if (is_held != Py_None && (PyLong_AsLong(held) > 0) != (is_held == Py_True)) return 0;
    Py_INCREF(src);
    int is_same = 1;
    if (arg != any_argument) is_same = PyObject_RichCompareBool(arg, SLOT(node, at_arg), Py_EQ);
    if (is_same > 0 && PyTuple_CheckExact(places))
        is_same = are_placed(src, places, nodes, numbers);
    else
        for (Py_ssize_t i = 0; is_same > 0 && i < n; i++)
            if (PyList_Append(nodes, PyTuple_GET_ITEM(src, i)) < 0) is_same = -1;
    Py_DECREF(src);
    return is_same;
}

/* are_alike(rows, nodes, start, memory, numbers), as in alike.py. */
static PyObject *are_alike(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *rows, *nodes, *memory, *numbers;
    Py_ssize_t start;
    if (!PyArg_ParseTuple(args, "O!O!nO!O!", &PyList_Type, &rows, &PyList_Type, &nodes, &start, &PyList_Type, &memory,
                          &PyList_Type, &numbers))
        return NULL;
    Py_ssize_t n = PyList_GET_SIZE(rows);
    for (Py_ssize_t i = 0; i < n && start + i < PyList_GET_SIZE(nodes); i++) {
        int is_same = is_alike(PyList_GET_ITEM(nodes, start + i), PyList_GET_ITEM(rows, i), nodes, memory, numbers);
        if (is_same < 0) return NULL;
        if (!is_same) Py_RETURN_FALSE;
    }
    if (PyList_GET_SIZE(nodes) - start != n) Py_RETURN_FALSE;
    PyObject *different = PySet_New(nodes);
    if (different == NULL) return NULL;
    int is_each_once = PySet_GET_SIZE(different) == PyList_GET_SIZE(nodes);
    Py_DECREF(different);
    return PyBool_FromLong(is_each_once);
}

/* make_again(rows, nodes), as in alike.py. */
static PyObject *make_again(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *rows, *nodes;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &rows, &PyList_Type, &nodes)) return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows); i++) {
        PyObject *op, *arg, *shape, *dtype, *places;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(rows, i), "OOO!OO!", &op, &arg, &PyTuple_Type, &shape, &dtype,
                              &PyTuple_Type, &places))
            return NULL;
        Py_ssize_t n = PyTuple_GET_SIZE(places);
        PyObject *src = PyTuple_New(n);
        if (src == NULL) return NULL;
        for (Py_ssize_t k = 0; k < n; k++) {
            PyObject *place = PyTuple_GET_ITEM(places, k);
            Py_ssize_t number = plain_extent(place);
            if (number >= 0 && number < PyList_GET_SIZE(nodes)) place = PyList_GET_ITEM(nodes, number);
            PyTuple_SET_ITEM(src, k, Py_NewRef(place));
        }
        PyObject *node = node_of_type(op, src, arg, shape, dtype);
        int is_done = node == NULL ? -1 : PyList_Append(nodes, node);
        Py_XDECREF(node);
        if (is_done < 0) return NULL;
    }
    Py_RETURN_NONE;
}

/* The nodes of the last `n` references in the table, the latest first: `_latest_nodes` of uop.py. */
static PyObject *latest_nodes(PyObject *Py_UNUSED(module), PyObject *count)
{
    Py_ssize_t n = PyLong_AsSsize_t(count);
    if (n == -1 && PyErr_Occurred()) return NULL;
    PyObject *values = PyObject_CallMethod(node_table, "values", NULL), *refs = NULL, *found = NULL, *ref;
    PyObject *args[1] = {values};
    if (values != NULL) refs = PyObject_Vectorcall((PyObject *)&PyReversed_Type, args, 1, NULL);
    if (refs != NULL) found = PyList_New(0);
    while (found != NULL && n-- > 0 && (ref = PyIter_Next(refs)) != NULL) {
        PyObject *node = node_of_ref(ref);
        if (node != NULL && PyList_Append(found, node) < 0) Py_CLEAR(found);
        Py_XDECREF(node);
        Py_DECREF(ref);
    }
    if (PyErr_Occurred()) Py_CLEAR(found);
    Py_XDECREF(refs);
    Py_XDECREF(values);
    return found;
}

/* Whether what reads a node of `marked` is to be looked at; -1 with an exception. */
static int reads_marked(PyObject *node, PyObject *marked, PyObject *inside)
{
    if (SLOT(node, at_realized) != Py_None || PyLong_AsLong(SLOT(node, at_flags)) & TRACED) return 0;
    PyObject *src = Py_NewRef(SLOT(node, at_src));
    int is_above = 0;
    for (Py_ssize_t i = 0; is_above == 0 && i < PyTuple_GET_SIZE(src); i++)
        is_above = PySet_Contains(marked, PyTuple_GET_ITEM(src, i));
    Py_DECREF(src);
    if (is_above <= 0) return is_above;
    int is_inside = PySequence_Contains(inside, node);
    return is_inside < 0 ? -1 : !is_inside;
}

/* held_among(nodes, below, inside), as in alike.py. */
static PyObject *held_among(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *nodes, *below, *inside;
    if (!PyArg_ParseTuple(args, "O!OO", &PyList_Type, &nodes, &below, &inside)) return NULL;
    PyObject *marked = PySet_New(below), *found = marked == NULL ? NULL : PyList_New(0);
    for (Py_ssize_t i = PyList_GET_SIZE(nodes) - 1; found != NULL && i >= 0; i--) {
        PyObject *node = PyList_GET_ITEM(nodes, i);
        int is_above = is_node(node) ? reads_marked(node, marked, inside) : 0;
        if (is_above > 0)
            is_above = PyLong_AsLong(SLOT(node, at_held)) != 0 ? PyList_Append(found, node) : PySet_Add(marked, node);
        if (is_above < 0) Py_CLEAR(found);
    }
    Py_XDECREF(marked);
    return found;
}

PyDoc_STRVAR(connect_nodes_doc,
    "connect_nodes(node, ref, names, table, numbers, rules, takes, typed, ops, any)\n--\n\n"
    "Say what nodes are; the package does, once.\n\n"
    "Args:\n"
    "    node, ref: the classes of nodes and of the weak references in the table.\n"
    "    names: of the module that defines them.\n"
    "    table: of all nodes.\n"
    "    numbers: the constants that were made last.\n"
    "    rules: of types, by op.\n"
    "    takes: by op of elements, how many sources, and the dtype of the result by that of the sources.\n"
    "    typed: ops whose dtype does not follow from their sources.\n"
    "    ops: by name.\n"
    "    any: what stands in a row for an argument that may be another.");

static PyObject *connect_nodes(PyObject *module, PyObject *args)
{
    PyObject *node, *ref, *names, *table, *numbers, *inferred, *taken, *with_dtype, *ops, *any;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!O!O!O!O!O", &PyType_Type, &node, &PyType_Type, &ref, &PyDict_Type,
                          &names, &PyDict_Type, &table, &PyDict_Type, &numbers, &PyDict_Type, &inferred,
                          &PyDict_Type, &taken, &PyFrozenSet_Type,
                          &with_dtype, &PyDict_Type, &ops, &any))
        return NULL;
    const struct { PyObject *type; const char *name; Py_ssize_t *offset; } slots[] = {
        {node, "op", &at_op}, {node, "src", &at_src}, {node, "arg", &at_arg}, {node, "dtype", &at_node_dtype},
        {node, "shape", &at_node_shape}, {node, "flags", &at_flags}, {node, "depth", &at_depth},
        {node, "held", &at_held}, {node, "realized", &at_realized}, {ref, "key", &at_key},
    };
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if ((*slots[i].offset = offset_of(slots[i].type, slots[i].name)) < 0) return NULL;
    const struct { PyObject *given, **kept; } things[] = {
        {names, &node_names}, {table, &node_table}, {inferred, &rules}, {taken, &takes}, {with_dtype, &typed},
        {any, &any_argument}, {numbers, &recent_numbers},
        {node, (PyObject **)&node_type}, {ref, (PyObject **)&ref_type},
    };
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) Py_XSETREF(*things[i].kept, Py_NewRef(things[i].given));
    const struct { const char *name; PyObject **kept; } named[] = {
        {"CONST", &op_const}, {"BUFFER", &op_buffer}, {"PARAM", &op_param}, {"VARIABLE", &op_variable},
        {"DETACH", &op_detach}, {"MATERIALIZE", &op_materialize}, {"WHERE", &op_where}, {"CAST", &op_cast},
        {"RESHAPE", &op_reshape}, {"EXPAND", &op_expand}, {"PERMUTE", &op_permute}, {"SHRINK", &op_shrink},
        {"PAD", &op_pad}, {"FLIP", &op_flip}, {"REDUCE", &op_reduce}, {"ADD", &op_add}, {"MUL", &op_mul},
        {"MAX", &op_max}, {"MIN", &op_min},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        PyObject *op = PyMapping_GetItemString(ops, named[i].name);
        if (op == NULL) return NULL;
        Py_XSETREF(*named[i].kept, op);
    }
    Py_XSETREF(zero, PyLong_FromLong(0));
    Py_XSETREF(many_name, PyUnicode_InternFromString("_many"));
    Py_XSETREF(entered_name, PyUnicode_InternFromString("_entered"));
    Py_XSETREF(buffer_name, PyUnicode_InternFromString("buffer"));
    Py_XSETREF(number_name, PyUnicode_InternFromString("number"));
    Py_XSETREF(forget_function, PyObject_GetAttrString(module, "forget_node"));
    Py_XSETREF(new_function, PyObject_GetAttrString(node, "new"));
    Py_XSETREF(const_function, PyObject_GetAttrString(node, "const"));
    if (forget_function == NULL || zero == NULL || many_name == NULL || entered_name == NULL) return NULL;
    if (buffer_name == NULL || number_name == NULL || new_function == NULL || const_function == NULL) return NULL;
    Py_RETURN_NONE;
}
