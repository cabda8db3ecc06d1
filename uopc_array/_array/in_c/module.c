/* The operators of an array whose operands are known and small, in C: at_once.py says what they do and why, and does
   the same where this module has not been built.

   `Quick` is the first base of Array. Each of its operators computes what is held as a value with one call of NumPy's,
   and calls the method of Python's for all the rest; so whatever is not decided here in a few lines is decided there.
   `nodes.h` makes and compares the nodes of graphs, for uopc_core.
   Nothing here runs without the global lock, and nothing between two calls can be seen by other threads. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

#include "values.h"
#include "numbers.h"
#include "rows.h"
#include "chains.h"
#include "memory.h"
#include "nodes.h"
#include "record.h"
#include "products.h"
#include "operators.h"
#include "items.h"
#include "ufuncs.h"
#include "functions.h"
#include "containers.h"
#include "calls.h"
#include "choose.h"
#include "cumulate.h"

/* ------------------------------------------------------------------------------------------------------- the type */

/* Whether a node that is still to be computed has been told that one handle less stands for it; what is in memory is
   for Python, which sees whether somebody else still needs that. */
static int is_let_go(PyObject *node)
{
    if (node == NULL || !is_node(node) || PyLong_AsLong(SLOT(node, at_depth)) == 0) return 0;
    PyObject *held = PyLong_FromLong(PyLong_AsLong(SLOT(node, at_held)) - 1);
    if (held == NULL) {
        PyErr_Clear();
        return 0;
    }
    Py_SETREF(SLOT(node, at_held), held);
    return 1;
}

/* A handle goes: what holds a value has no node to let go of. */
static void end(PyObject *x)
{
    if (Py_TYPE(x) == array_type) {
        PyObject *value = SLOT(x, at_value);
        if (value != NULL && (value != Py_None || is_let_go(SLOT(x, at_node)))) return;
    }
    if (end_method == NULL) return;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *result = by_python(end_method, x, NULL, NULL);
    if (result == NULL) PyErr_WriteUnraisable(x);
    Py_XDECREF(result);
    PyErr_Restore(type, error, trace);
}

static PyNumberMethods number_methods = {
    .nb_add = add, .nb_subtract = subtract, .nb_multiply = multiply, .nb_true_divide = divide,
    .nb_floor_divide = floor_divide, .nb_remainder = remain, .nb_power = power, .nb_matrix_multiply = matmul,
    .nb_and = and, .nb_or = or, .nb_xor = xor, .nb_lshift = lshift, .nb_rshift = rshift,
    .nb_inplace_add = in_place_add_or_error, .nb_inplace_subtract = in_place_subtract,
    .nb_inplace_multiply = in_place_multiply,
    .nb_inplace_true_divide = in_place_divide, .nb_inplace_floor_divide = in_place_floor_divide,
    .nb_inplace_remainder = in_place_remain, .nb_inplace_power = in_place_power,
    .nb_inplace_matrix_multiply = in_place_matmul,
    .nb_inplace_and = in_place_and, .nb_inplace_or = in_place_or, .nb_inplace_xor = in_place_xor,
    .nb_inplace_lshift = in_place_lshift, .nb_inplace_rshift = in_place_rshift,
    .nb_negative = negative, .nb_positive = positive, .nb_absolute = absolute, .nb_invert = invert,
    .nb_bool = to_bool, .nb_int = to_int, .nb_float = to_float, .nb_index = to_index,
};

static PyMappingMethods mapping_methods = {.mp_length = length, .mp_subscript = get_item, .mp_ass_subscript = set_item};

static PyTypeObject Quick = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "uopc_array._array.at_once_c.Quick",
    .tp_doc = "The operators of arrays; those of which the operands are known and small are computed here.",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_as_number = &number_methods,
    .tp_as_mapping = &mapping_methods,
    .tp_richcompare = compare,
    .tp_methods = methods,
    .tp_finalize = end,
};

/* ------------------------------------------------------------------------------------------------------ connecting */

/* The method of this name, new reference kept for good; NULL with an exception where there is none. */
static PyObject *method_of(PyObject *methods, const char *before, const char *name, const char *after)
{
    PyObject *key = PyUnicode_FromFormat("%s%s%s", before, name, after);
    if (key == NULL) return NULL;
    PyObject *method = PyObject_GetItem(methods, key);
    Py_DECREF(key);
    return method;
}

PyDoc_STRVAR(connect_doc,
    "connect(array, root, part, methods, quiet, views, largest, small, unchained, spared, spared_by_part,\n"
    "        under_lock, most_lenses, writers)\n--\n\n"
    "Say what the operators need to know; the package does, once.\n\n"
    "Args:\n"
    "    array: the class of arrays, whose first base is `Quick`.\n"
    "    root, part: the classes of aliases, of arrays with views and of views of known values.\n"
    "    methods: what each operator is in Python, by its name.\n"
    "    quiet: the context in which NumPy does not warn.\n"
    "    views: the classes of lenses that strides describe.\n"
    "    largest: elements of what may be computed at once.\n"
    "    small: elements of what is, whatever it is part of.\n"
    "    unchained: elements up to which operators are, however many there are.\n"
    "    spared: elements that NumPy would pass over in vain, from which the graph computes.\n"
    "    spared_by_part: how many more for each operand that is a part of another array.\n"
    "    under_lock: elements up to which NumPy writes without letting other threads run.\n"
    "    most_lenses: steps from a base to a view.\n"
    "    writers: a list, with an item for each who writes while NumPy lets other threads run.");

static PyObject *connect(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyTypeObject *array, *root, *part;
    PyObject *methods, *context, *views, *writing;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!O!nnnnnnnO!", &PyType_Type, &array, &PyType_Type, &root, &PyType_Type, &part,
                          &PyDict_Type, &methods, &PyContext_Type, &context, &PyFrozenSet_Type, &views,
                          &largest, &small, &unchained, &spared, &spared_by_part, &under_lock, &most_lenses,
                          &PyList_Type, &writing))
        return NULL;
    const struct { PyTypeObject *type; const char *name; Py_ssize_t *offset; } slots[] = {
        {array, "_value", &at_value}, {array, "_own_node", &at_node}, {array, "_alias", &at_alias},
        {array, "_weak", &at_weak}, {array, "_chain", &at_chain},
        {part, "base", &at_base}, {part, "memory", &at_memory}, {part, "keys", &at_keys},
        {part, "is_writable", &at_writable}, {root, "is_writable", &at_root_writable},
    };
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if ((*slots[i].offset = offset_of((PyObject *)slots[i].type, slots[i].name)) < 0) return NULL;
    for (int i = 0; i < N_BINARY; i++) {
        Operation *op = &operations[i];
        if ((op->method = method_of(methods, "__", op->name, "__")) == NULL) return NULL;
        if ((op->reflected = method_of(methods, "__r", op->name, "__")) == NULL) return NULL;
        if ((op->in_place_method = method_of(methods, "__i", op->name, "__")) == NULL) return NULL;
    }
    for (int i = 0; i < N_UNARY; i++)
        if ((unary_operations[i].method = method_of(methods, "", unary_operations[i].name, "")) == NULL) return NULL;
    for (int i = 0; i < 6; i++)
        if ((comparisons[i].method = method_of(methods, "", comparisons[i].name, "")) == NULL) return NULL;
    for (int i = 0; i < N_EXITS; i++)
        if ((exits[i].method = method_of(methods, "", exits[i].name, "")) == NULL) return NULL;
    if ((get_method = method_of(methods, "", "__getitem__", "")) == NULL) return NULL;
    if ((set_method = method_of(methods, "", "__setitem__", "")) == NULL) return NULL;
    if ((del_method = method_of(methods, "", "__delitem__", "")) == NULL) return NULL;
    if ((len_method = method_of(methods, "", "__len__", "")) == NULL) return NULL;
    if ((end_method = method_of(methods, "", "__del__", "")) == NULL) return NULL;
    root_type = (PyTypeObject *)Py_NewRef(root);
    part_type = (PyTypeObject *)Py_NewRef(part);
    quiet = Py_NewRef(context);
    view_types = Py_NewRef(views);
    writers = Py_NewRef(writing);
    on_array = PyUnicode_InternFromString("on_array");
    is_writable_name = PyUnicode_InternFromString("is_writable");
    node_name = PyUnicode_InternFromString("_uop");
    if (on_array == NULL || is_writable_name == NULL || node_name == NULL) return NULL;
    array_type = (PyTypeObject *)Py_NewRef(array);
    if (!use_memory()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(connect_records_doc,
    "connect_records(operators, bounds, in_memory)\n--\n\n"
    "Say how operators are recorded: by the name of each, its op and the kinds of dtypes for which it is that; and\n"
    "the names of the module that bounds graphs, and the ops of nodes whose value may be known.");

static PyObject *connect_records(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *table, *bounds, *in_memory, *name, *how;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyDict_Type, &table, &PyDict_Type, &bounds, &PyFrozenSet_Type, &in_memory))
        return NULL;
    Py_XSETREF(ops_in_memory, Py_NewRef(in_memory));
    Py_XSETREF(bounds_names, Py_NewRef(bounds));
    Py_XSETREF(lazy_depth_name, PyUnicode_InternFromString("lazy_depth"));
    Py_XSETREF(from_node_name, PyUnicode_InternFromString("_from_uop"));
    if (lazy_depth_name == NULL || from_node_name == NULL) return NULL;
    for (Py_ssize_t place = 0; PyDict_Next(table, &place, &name, &how);) {
        PyObject *op;
        const char *kinds, *text = PyUnicode_AsUTF8(name);
        Recorded *record = text == NULL ? NULL : record_of(text);
        if (record == NULL || !PyArg_ParseTuple(how, "Os", &op, &kinds)) {
            if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "connect_records: there is no operator %s", text);
            return NULL;
        }
        Py_INCREF(how);  /* for good, as the text of the kinds is */
        *record = (Recorded){Py_NewRef(op), kinds};
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(connect_function_doc,
    "connect_function(name, function, table=None)\n--\n\n"
    "Say what a function of this module is in Python, and where what it has made is found by what tells that apart.");

static PyObject *connect_function(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    PyObject *function, *table = NULL;
    if (!PyArg_ParseTuple(args, "sO|O!", &name, &function, &PyDict_Type, &table)) return NULL;
    for (int i = 0; i < N_FUNCTIONS; i++)
        if (strcmp(name, by_name[i].name) == 0) Py_XSETREF(by_name[i].function, Py_NewRef(function));
    if (table != NULL && strcmp(name, "of_known") == 0) Py_XSETREF(programs, Py_NewRef(table));
    if (table != NULL && strcmp(name, "view_of_known") == 0) Py_XSETREF(lenses, Py_NewRef(table));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"connect", connect, METH_VARARGS, connect_doc},
    {"connect_records", connect_records, METH_VARARGS, connect_records_doc},
    {"connect_function", connect_function, METH_VARARGS, connect_function_doc},
    {"at_once", (PyCFunction)(void (*)(void))at_once_of, METH_FASTCALL, "See at_once.py."},
    {"of_one_at_once", (PyCFunction)(void (*)(void))of_one_at_once, METH_FASTCALL, "See at_once.py."},
    {"of_known", (PyCFunction)(void (*)(void))of_known, METH_FASTCALL, "See programs.py."},
    {"view_at_once", (PyCFunction)(void (*)(void))view_at_once, METH_FASTCALL, "See at_once.py."},
    {"view_of_known", (PyCFunction)(void (*)(void))view_of_known, METH_FASTCALL, "See programs.py."},
    {"product_at_once", (PyCFunction)(void (*)(void))product_at_once, METH_FASTCALL, "See products.py."},
    {"dot_at_once", (PyCFunction)(void (*)(void))dot_at_once, METH_FASTCALL, "See products.py."},
    {"handle_on", (PyCFunction)(void (*)(void))handle_on, METH_FASTCALL, "See at_once.py."},
    {"connect_products", connect_products, METH_VARARGS, connect_products_doc},
    {"note_product", note_product, METH_VARARGS, note_product_doc},
    {"connect_ufuncs", connect_ufuncs, METH_VARARGS, connect_ufuncs_doc},
    {"prepare_call", prepare_call, METH_VARARGS, prepare_call_doc},
    {"connect_calls", connect_calls, METH_VARARGS, connect_calls_doc},
    {"connect_nodes", connect_nodes, METH_VARARGS, connect_nodes_doc},
    {"new", (PyCFunction)(void (*)(void))node_new, METH_FASTCALL | METH_KEYWORDS, "See uopc_core/ir/uop.py."},
    {"of_type", (PyCFunction)(void (*)(void))node_of_known_type, METH_FASTCALL, "See uopc_core/ir/uop.py."},
    {"make_node", (PyCFunction)(void (*)(void))make_node, METH_FASTCALL, "See uopc_core/ir/uop.py."},
    {"forget_node", forget_node, METH_O, "See uopc_core/ir/uop.py."},
    {"are_alike", are_alike, METH_VARARGS, "See uopc_core/ir/alike.py."},
    {"latest_nodes", latest_nodes, METH_O, "See uopc_core/ir/uop.py."},
    {"held_among", held_among, METH_VARARGS, "See uopc_core/ir/alike.py."},
    {"choose", (PyCFunction)(void (*)(void))choose, METH_FASTCALL, "See uopc_core/interpret/numpy_ops.py."},
    {"connect_choose", connect_choose, METH_O, "Say what `choose` is in Python."},
    {"cumulate", cumulate, METH_O, "See uopc_core/interpret/numpy_ops.py."},
    {"connect_cumulate", connect_cumulate, METH_VARARGS, "Say what `cumulate` is in Python, and the size of blocks."},
    {"make_again", make_again, METH_VARARGS, "See uopc_core/ir/alike.py."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "at_once_c",
    .m_doc = "The operators of arrays whose operands are known and small.",
    .m_size = -1,
    .m_methods = functions,
};

#define INTERFACE 5  /* extension.py takes no other: one that was compiled long ago lies there after an update */

PyMODINIT_FUNC PyInit_at_once_c(void)
{
    import_array();
    import_umath();
    if (PyType_Ready(&Quick) < 0 || PyType_Ready(&QuickCall) < 0 || PyType_Ready(&PreparedCallType) < 0) return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made == NULL) return NULL;
    if (PyModule_AddObjectRef(made, "Quick", (PyObject *)&Quick) < 0 ||
        PyModule_AddObjectRef(made, "QuickCall", (PyObject *)&QuickCall) < 0 ||
        PyModule_AddIntConstant(made, "INTERFACE", INTERFACE) < 0)
        Py_CLEAR(made);
    return made;
}
