/* Which operators on values of middle size, more than `unchained` elements, are for the graph.

   An operand that nothing else refers to is what another operator of the same statement has made. Such operators are a
   chain, which begins at a line of a function. Where a kernel would spare NumPy to pass over `spared` elements, and
   `spared_by_part` more for each operand that is a part of another array, the line is remembered, and from the next time on the operands there become nodes: what follows is recorded. The line is known
   by what its names say, so nothing is held. No value depends on who computes. */
enum { N_LINES = 1024, MOST_OPERATORS = 255 };

typedef struct { size_t name; int is_graph; } Line;

static Line lines[N_LINES];
static Py_ssize_t at_chain;                                               /* the slot of a handle for what follows */
static Py_ssize_t small, unchained, spared, spared_by_part;
static PyObject *node_name;

/* Operators, by what the one is known by that came first, and that of the right operand, 0 is none; and how many of their
   operands are parts of other arrays. */
typedef struct { size_t name, other; int operators, parts; } Chain;

static Line *line_of(size_t name) { return &lines[name % N_LINES]; }

static int is_line_for_graph(size_t name)
{
    const Line *line = line_of(name);
    return line->is_graph && line->name == name;
}

static void have_recorded(size_t name) { *line_of(name) = (Line){name, 1}; }

/* The name of the operator that the interpreter is at; 0, without an exception, where there is none. */
static size_t running_operator(void)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    if (frame == NULL) return 0;
    PyCodeObject *code = PyFrame_GetCode(frame);
    const Py_hash_t parts[] = {
        PyObject_Hash(code->co_filename), PyObject_Hash(code->co_name), code->co_firstlineno, PyFrame_GetLasti(frame),
    };
    Py_DECREF(code);
    Py_DECREF(frame);
    size_t name = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) name = (name ^ (size_t)parts[i]) * 0x9e3779b97f4a7c15u;
    return name ^ name >> 29;
}

/* The chain that made an array which nothing else refers to; of 0 operators where there is none. */
static Chain chain_of(PyObject *x)
{
    Chain chain = {0, 0, 0, 0};
    if (x == NULL || Py_TYPE(x) != array_type || Py_REFCNT(x) != 1) return chain;
    PyObject *bytes = SLOT(x, at_chain);
    if (bytes != NULL && PyBytes_CheckExact(bytes) && PyBytes_GET_SIZE(bytes) == sizeof chain)
        memcpy(&chain, PyBytes_AS_STRING(bytes), sizeof chain);
    return chain;
}

/* Let what holds a value of middle size have a node; 0 with an exception where that fails. */
static int become_node(PyObject *x)
{
    PyObject *value = value_of(x);
    if (value == NULL || size_of(value) <= unchained) return 1;
    PyObject *node = PyObject_GetAttr(x, node_name);
    Py_XDECREF(node);
    return node != NULL;
}

/* Whether an operand is a part of another array, which takes longer to record. */
static int is_part(PyObject *x)
{
    PyObject *alias = x != NULL && Py_TYPE(x) == array_type ? SLOT(x, at_alias) : NULL;
    return alias != NULL && alias != Py_None && Py_TYPE(alias) != root_type;
}

static int at_most(int n) { return n < MOST_OPERATORS ? n : MOST_OPERATORS; }

/* The chain of which an operator is the next one, or which it begins. `y` is NULL for an operator of one operand. */
static Chain chain_to(PyObject *x, PyObject *y)
{
    Chain left = chain_of(x), right = chain_of(y);
    int operators = at_most(left.operators + right.operators + 1);
    int parts = at_most(left.parts + right.parts + is_part(x) + is_part(y));
    if (operators == 1) return (Chain){running_operator(), 0, 1, parts};
    if (left.operators == 0) return (Chain){right.name, 0, operators, parts};
    return (Chain){left.name, right.operators > 0 ? right.name : 0, operators, parts};
}

static int is_to_record(const Chain *chain) { return chain->operators == 1 && is_line_for_graph(chain->name); }

/* A new array of `n` elements, which may be NULL, with the chain that made it. Where that has become long enough, it is
   recorded from the next time on. */
static PyObject *noted(PyObject *x, const Chain *chain, Py_ssize_t n)
{
    if (x == NULL || n <= unchained) return x;
    if ((chain->operators - 1) * n >= spared + chain->parts * spared_by_part) {
        have_recorded(chain->name);
        if (chain->other != 0) have_recorded(chain->other);
    }
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)chain, sizeof *chain);
    if (bytes == NULL)
        PyErr_Clear();
    else
        Py_XSETREF(SLOT(x, at_chain), bytes);
    return x;
}

/* Whether an operator on values of `n` elements is to be computed at once; else the operands have nodes, or there is an
   exception. */
static int is_for_now(PyObject *x, PyObject *y, Py_ssize_t n, Chain *chain)
{
    if (n <= unchained) return 1;
    *chain = chain_to(x, y);
    if (!is_to_record(chain)) return 1;
    if (become_node(x) && y != NULL) become_node(y);
    return 0;
}

/* ------------------------------------------------------------------------------------- operands that are in the graph */

/* Two operands that are to be recorded: what Python computes at once else, of a node in memory, it does not of these. */
static PyObject *recorded[2];

static int is_recorded(PyObject *x, PyObject *y)
{
    return recorded[0] != NULL && x == recorded[0] && y == recorded[1];
}

static int has_node(PyObject *x) { return x != NULL && Py_TYPE(x) == array_type && value_of(x) == NULL; }

/* The longer way of an operator one of whose operands has a node. */
static PyObject *by_python_in_chain(PyObject *method, PyObject *x, PyObject *y)
{
    Chain chain = chain_to(x, y);
    int is_for_graph = is_to_record(&chain);
    if (is_for_graph) {
        recorded[0] = x;
        recorded[1] = y;
    }
    PyObject *result = by_python(method, x, y, NULL);
    if (is_for_graph) recorded[0] = recorded[1] = NULL;
    PyObject *value = result == NULL ? NULL : value_of(result);
    if (value != NULL) return noted(result, &chain, size_of(value));
    if (chain.operators > 1 && result != NULL && has_node(result)) {  /* it has met what is to be recorded */
        have_recorded(chain.name);
        if (chain.other != 0) have_recorded(chain.other);
    }
    return result;
}

/* Elements of the larger of two values. */
static Py_ssize_t larger_size(PyObject *a, PyObject *b)
{
    Py_ssize_t n = size_of(a), m = PyArray_CheckExact(b) ? size_of(b) : 1;
    return n > m ? n : m;
}

/* function(a, b) of numbers and of few doubles; NULL, without an exception, where it is for NumPy. */
static PyObject *here(Binary function, PyObject *a, PyObject *b)
{
    return PyArray_CheckExact(a) || PyArray_CheckExact(b) ? of_rows(function, a, b) : of_numbers(function, a, b);
}

/* function(x, y), where `x` is an array, or function(y, x): a new array, or NULL, without an exception where it is for
   Python. */
static PyObject *at_once(Binary function, const char *kinds, PyObject *x, PyObject *y, int is_reflected)
{
    PyObject *a = value_of(x);
    if (a == NULL) return NULL;
    int number;
    Chain chain;
    PyObject *b = operand(y, &number);
    if (b == NULL) return NULL;
    PyObject *value = here(function, is_reflected ? b : a, is_reflected ? a : b);
    if (value != NULL) return new_array(value, Py_NewRef(Py_None));
    if (!are_small_together(a, b)) return NULL;
    if (kinds != NULL && !(has_kind(kinds, number_of(a)) && has_kind(kinds, number))) return NULL;
    Py_ssize_t n = larger_size(a, b);
    if (!is_for_now(x, y, n, &chain)) return NULL;
    if (!is_reflected)
        value = quietly(function, a, b);
    else if (PyComplex_CheckExact(b) && Py_TYPE(a) == &PyDoubleArrType_Type) {  /* which it would take for a float */
        PyObject *number_of_numpy = PyObject_CallOneArg((PyObject *)&PyCDoubleArrType_Type, b);
        if (number_of_numpy == NULL) return NULL;
        value = quietly(function, number_of_numpy, a);
        Py_DECREF(number_of_numpy);
    }
    else
        value = quietly(function, b, a);
    return value == NULL ? NULL : noted(new_array(value, Py_NewRef(Py_None)), &chain, n);
}
