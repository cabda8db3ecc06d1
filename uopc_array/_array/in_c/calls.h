/* Calls of jitted functions whose arguments are as they were before: pointers and numbers go to the compiled program at
   once, and what it fills are the values of new arrays.

   A `PreparedCall` is made by Python of a call that has run; where anything is not as it was then, Python is asked. */

enum { MOST_ARGUMENTS = 64, MOST_CONDITIONS = 32, MOST_POINTERS = 192, MOST_SCALARS = 16 };
enum { SCALAR_BYTES = 16, ALIGNMENT = 64 };
enum { IN_MEMORY, NUMBER, PYTHON_FLOAT, PYTHON_INT };

static PyTypeObject *function_type, *memory_type;
static Py_ssize_t at_prepared, at_state;                           /* slots of a jitted function */
static Py_ssize_t at_pointer, at_shape, at_dtype;                  /* of memory */
static PyObject *buffer_op, *const_op, *call_method;

typedef int64_t (*Entry)(const void *, const char *, int64_t);

/* What an argument has to be. */
typedef struct {
    int kind, number;       /* of its dtype, among NumPy's */
    PyObject *shape, *dtype;
} Argument;

typedef struct {
    PyObject_HEAD
    PyObject *settings, *state, *conditions, *captured, *kept;
    PyObject *structure, *form;             /* of the arguments and of the result; None is of neither */
    Entry entry;
    const void *program;
    int64_t threads;
    int keeps_lock, has_large_outputs;
    int n_arguments, n_inputs, n_outputs, n_temporaries, n_scalars;
    Argument arguments[MOST_ARGUMENTS];
    int input_of[MOST_POINTERS];            /* numbers of arguments, or -1 */
    uint64_t fixed[MOST_POINTERS];          /* the address, where that is no argument's; or an offset of a temporary */
    PyArray_Descr *dtypes[MOST_ARGUMENTS];  /* of the outputs */
    int n_axes[MOST_ARGUMENTS];
    npy_intp shapes[MOST_ARGUMENTS][NPY_MAXDIMS];
    Py_ssize_t arena_bytes;
    char formats[MOST_SCALARS];
    PyObject *scalars[MOST_SCALARS];        /* a number, or NULL where it is an argument */
    int scalar_of[MOST_SCALARS];
} PreparedCall;

static int prepared_traverse(PreparedCall *self, visitproc visit, void *arg)
{
    Py_VISIT(self->state);
    Py_VISIT(self->conditions);
    Py_VISIT(self->captured);
    Py_VISIT(self->kept);
    Py_VISIT(self->structure);
    Py_VISIT(self->form);
    return 0;
}

static int prepared_clear(PreparedCall *self)
{
    Py_CLEAR(self->state);
    Py_CLEAR(self->conditions);
    Py_CLEAR(self->captured);
    Py_CLEAR(self->kept);
    Py_CLEAR(self->structure);
    Py_CLEAR(self->form);
    return 0;
}

static void prepared_end(PreparedCall *self)
{
    PyObject_GC_UnTrack(self);
    prepared_clear(self);
    Py_CLEAR(self->settings);
    for (int i = 0; i < self->n_arguments; i++) {
        Py_CLEAR(self->arguments[i].shape);
        Py_CLEAR(self->arguments[i].dtype);
    }
    for (int i = 0; i < self->n_outputs; i++) Py_CLEAR(self->dtypes[i]);
    for (int i = 0; i < self->n_scalars; i++) Py_CLEAR(self->scalars[i]);
    PyObject_GC_Del(self);
}

static PyTypeObject PreparedCallType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "uopc_array._array.at_once_c.PreparedCall",
    .tp_doc = "A call of a compiled program, for arguments like those that it was made of.",
    .tp_basicsize = sizeof(PreparedCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = (traverseproc)prepared_traverse,
    .tp_clear = (inquiry)prepared_clear,
    .tp_dealloc = (destructor)prepared_end,
};

/* Whether an array of NumPy's has these extents. */
static int has_shape(PyArrayObject *value, PyObject *shape)
{
    int n = PyArray_NDIM(value);
    if (PyTuple_GET_SIZE(shape) != n) return 0;
    for (int i = 0; i < n; i++)
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i)) != PyArray_DIM(value, i)) return 0;
    return 1;
}

/* The address of the elements of an array of NumPy's, and what keeps them; 0 where it is not as expected. */
static uint64_t address_in(PyObject *value, const Argument *expected, PyObject **keeper)
{
    PyArrayObject *array = (PyArrayObject *)value;
    if (expected->kind != IN_MEMORY || PyArray_TYPE(array) != expected->number || !PyArray_ISCARRAY_RO(array) ||
        !has_shape(array, expected->shape))
        return 0;
    *keeper = Py_NewRef(value);
    return (uint64_t)(uintptr_t)PyArray_DATA(array);
}

/* The address of the elements of an argument, and what keeps them; 0 where it is not as expected. */
static uint64_t address_of(PyObject *x, const Argument *expected, char *room, PyObject **keeper)
{
    if (PyArray_CheckExact(x))  /* a byte of NumPy's bool may be any, one of C's only 0 or 1 */
        return expected->number == NPY_BOOL ? 0 : address_in(x, expected, keeper);
    if (Py_TYPE(x) != array_type) return 0;
    PyObject *value = SLOT(x, at_value);
    if (value != NULL && value != Py_None) {
        value = value_of(x);
        if (value == NULL) return 0;
        if (!PyArray_CheckExact(value)) {
            if (expected->kind != NUMBER || number_of_scalar(value) != expected->number) return 0;
            PyArray_ScalarAsCtype(value, room);
            return (uint64_t)(uintptr_t)room;
        }
        return address_in(value, expected, keeper);
    }
    PyObject *node = SLOT(x, at_node), *alias = SLOT(x, at_alias);
    if (node == NULL || Py_TYPE(node) != node_type || SLOT(x, at_weak) != Py_False) return 0;
    if (alias != Py_None && (alias == NULL || Py_TYPE(alias) != root_type)) return 0;
    if (SLOT(node, at_op) == const_op) {
        if (expected->kind != NUMBER || alias != Py_None || SLOT(node, at_node_dtype) != expected->dtype) return 0;
        if (PyArray_Pack((PyArray_Descr *)expected->dtype, room, SLOT(node, at_arg)) < 0) return 0;
        return (uint64_t)(uintptr_t)room;
    }
    if (SLOT(node, at_op) != buffer_op) return 0;
    if (PyTuple_GET_SIZE(expected->shape) == 0 && (expected->kind == NUMBER) != (alias == Py_None)) return 0;
    PyObject *memory = SLOT(node, at_realized), *flags = SLOT(node, at_flags);
    if (memory == NULL || Py_TYPE(memory) != memory_type || flags == NULL || PyObject_IsTrue(flags) != 0) return 0;
    if (SLOT(memory, at_dtype) != expected->dtype) return 0;
    PyObject *shape = SLOT(memory, at_shape);
    if (shape != expected->shape && PyObject_RichCompareBool(shape, expected->shape, Py_EQ) != 1) return 0;
    uint64_t address = PyLong_AsUnsignedLongLong(SLOT(memory, at_pointer));
    if (address != 0) *keeper = Py_NewRef(memory);
    return address;
}

/* A number where the program reads it; 0 where it does not fit. */
static int put_scalar(char *place, char format, PyObject *number)
{
    if (format == 'f') {
        double value = PyFloat_AsDouble(number);
        memcpy(place, &value, sizeof value);
    }
    else if (format == 'c') {
        Py_complex value = PyComplex_AsCComplex(number);
        memcpy(place, &value, sizeof value);
    }
    else if (format == 'u') {
        unsigned long long value = PyLong_AsUnsignedLongLong(number);
        memcpy(place, &value, sizeof value);
    }
    else {
        long long value = PyLong_AsLongLong(number);
        memcpy(place, &value, sizeof value);
    }
    return !PyErr_Occurred();
}

/* Whether variables of closures, and names of modules, hold what they held. */
static int are_as_before(PyObject *conditions)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(conditions); i++) {
        PyObject *condition = PyTuple_GET_ITEM(conditions, i), *holder = PyTuple_GET_ITEM(condition, 0);
        PyObject *held = PyCell_Check(holder) ? PyCell_GET(holder)
                                              : PyDict_GetItemWithError(holder, PyTuple_GET_ITEM(condition, 1));
        if (held != PyTuple_GET_ITEM(condition, 2)) return 0;
    }
    return 1;
}

/* The result of a call, of arrays that have been filled and of numbers where there is NULL; the arrays are taken over. */
static PyObject *result_of(const PreparedCall *self, PyObject **outputs, char (*room)[SCALAR_BYTES])
{
    for (int i = 0; i < self->n_outputs; i++) {
        PyObject *value = outputs[i];
        if (value == NULL) value = PyArray_Scalar(room[i], self->dtypes[i], NULL);
        outputs[i] = value == NULL ? NULL : new_array(value, Py_NewRef(Py_None));
        if (outputs[i] == NULL) return NULL;
    }
    return self->form == Py_None ? Py_NewRef(outputs[0]) : put_together(self->form, outputs);
}

/* What the program gives for these arguments; NULL, without an exception, where it is for Python. The caller holds
   `self` meanwhile. */
static PyObject *called(PreparedCall *self, PyObject *args)
{
    Py_ssize_t n_captured = PyTuple_GET_SIZE(self->captured);
    if (n_captured + PyTuple_GET_SIZE(args) != self->n_arguments || !are_as_before(self->conditions)) {
        PyErr_Clear();
        return NULL;
    }
    if (settings_now() != self->settings) return NULL;

    _Alignas(ALIGNMENT) char block[(MOST_POINTERS / 2 + MOST_SCALARS) * SCALAR_BYTES];
    _Alignas(SCALAR_BYTES) char numbers[MOST_ARGUMENTS][SCALAR_BYTES], room[MOST_ARGUMENTS][SCALAR_BYTES];
    char *arena = NULL;
    PyObject *keepers[MOST_ARGUMENTS], *outputs[MOST_ARGUMENTS], *result = NULL;
    uint64_t addresses[MOST_ARGUMENTS], *pointers = (uint64_t *)block;
    for (int i = 0; i < self->n_arguments; i++) keepers[i] = NULL;
    for (int i = 0; i < self->n_outputs; i++) outputs[i] = NULL;

    for (int i = 0; i < self->n_arguments; i++) {
        const Argument *expected = &self->arguments[i];
        PyObject *x = i < n_captured ? PyTuple_GET_ITEM(self->captured, i) : PyTuple_GET_ITEM(args, i - n_captured);
        if (expected->kind == PYTHON_FLOAT || expected->kind == PYTHON_INT) {
            if (expected->kind == PYTHON_FLOAT ? PyFloat_CheckExact(x) : PyLong_CheckExact(x)) continue;
            goto end;
        }
        addresses[i] = address_of(x, expected, numbers[i], &keepers[i]);
        if (addresses[i] == 0) goto end;
    }
    int n = 0;
    for (; n < self->n_inputs; n++) pointers[n] = self->input_of[n] < 0 ? self->fixed[n] : addresses[self->input_of[n]];
    int is_inside = self->has_large_outputs && enter();  /* where large blocks are kept for the next call */
    int is_made = 1;
    for (int i = 0; is_made && i < self->n_outputs; i++) {
        if (self->n_axes[i] == 0) {
            pointers[n++] = (uint64_t)(uintptr_t)room[i];
            continue;
        }
        Py_INCREF(self->dtypes[i]);
        outputs[i] = PyArray_NewFromDescr(&PyArray_Type, self->dtypes[i], self->n_axes[i], self->shapes[i], NULL, NULL,
                                          0, NULL);
        is_made = outputs[i] != NULL;
        if (is_made) pointers[n++] = (uint64_t)(uintptr_t)PyArray_DATA((PyArrayObject *)outputs[i]);
    }
    if (is_inside) PyContext_Exit(quiet);
    if (!is_made) goto end;
    if (self->n_temporaries > 0) {
        arena = new_block(NULL, self->arena_bytes + ALIGNMENT);
        if (arena == NULL) goto end;
        uint64_t start = ((uint64_t)(uintptr_t)arena + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        for (int i = 0; i < self->n_temporaries; i++, n++) pointers[n] = start + self->fixed[n];
    }
    char *place = block + (n + 1) / 2 * SCALAR_BYTES;
    for (int i = 0; i < self->n_scalars; i++, place += SCALAR_BYTES) {
        PyObject *number = self->scalars[i];
        if (number == NULL) number = PyTuple_GET_ITEM(args, self->scalar_of[i] - n_captured);
        if (!put_scalar(place, self->formats[i], number)) goto end;
    }
    int64_t has_failed;
    if (self->keeps_lock)
        has_failed = self->entry(self->program, block, self->threads);
    else {
        Py_BEGIN_ALLOW_THREADS
        has_failed = self->entry(self->program, block, self->threads);
        Py_END_ALLOW_THREADS
    }
    if (!has_failed) result = result_of(self, outputs, room);  /* else Python does it again, and says what is wrong */
end:
    for (int i = 0; i < self->n_arguments; i++) Py_XDECREF(keepers[i]);
    for (int i = 0; i < self->n_outputs; i++) Py_XDECREF(outputs[i]);
    end_of_block(NULL, arena, 0);
    if (result == NULL) PyErr_Clear();
    return result;
}

/* f(*args, **kwargs) of a jitted function. */
static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    if (Py_TYPE(self) == function_type) {
        int has_names = kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0;
        PyObject *prepared = Py_XNewRef(SLOT(self, at_prepared)), *result = NULL;
        Py_ssize_t n = prepared != NULL && PyTuple_CheckExact(prepared) ? PyTuple_GET_SIZE(prepared) : 0;
        for (Py_ssize_t i = 0; result == NULL && i < n; i++) {
            PreparedCall *one = (PreparedCall *)PyTuple_GET_ITEM(prepared, i);
            if (Py_TYPE(one) != &PreparedCallType || SLOT(self, at_state) != one->state) continue;
            if (one->structure == Py_None) {
                if (!has_names) result = called(one, args);
                continue;
            }
            PyObject *leaves = leaves_of(one->structure, args, kwargs);
            if (leaves != NULL) result = called(one, leaves);
            Py_XDECREF(leaves);
        }
        Py_XDECREF(prepared);
        if (result != NULL) return result;
    }
    if (call_method == NULL) {
        PyErr_SetString(PyExc_TypeError, "QuickCall: there is no method yet; call connect_calls(...) first");
        return NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    PyObject *all = PyTuple_New(n + 1);
    if (all == NULL) return NULL;
    PyTuple_SET_ITEM(all, 0, Py_NewRef(self));
    for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(all, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    PyObject *result = PyObject_Call(call_method, all, kwargs);
    Py_DECREF(all);
    return result;
}

static PyTypeObject QuickCall = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "uopc_array._array.at_once_c.QuickCall",
    .tp_doc = "The call of jitted functions, computed here where a call like it has been prepared.",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_call = call,
};

/* ----------------------------------------------------------------------------------------------------- preparing */

static int are_conditions(PyObject *conditions)
{
    if (PyTuple_GET_SIZE(conditions) > MOST_CONDITIONS) return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(conditions); i++) {
        PyObject *condition = PyTuple_GET_ITEM(conditions, i);
        if (!PyTuple_CheckExact(condition) || PyTuple_GET_SIZE(condition) != 3) return 0;
        PyObject *holder = PyTuple_GET_ITEM(condition, 0);
        if (!PyCell_Check(holder) && !PyDict_CheckExact(holder)) return 0;
    }
    return 1;
}

static int take_arguments(PreparedCall *self, PyObject *arguments)
{
    Py_ssize_t n = PyTuple_GET_SIZE(arguments);
    if (n > MOST_ARGUMENTS) return 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        Argument *argument = &self->arguments[i];
        PyObject *shape, *dtype;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(arguments, i), "iOO", &argument->kind, &shape, &dtype)) return 0;
        argument->shape = Py_NewRef(shape);
        argument->dtype = Py_NewRef(dtype);
        argument->number = PyArray_DescrCheck(dtype) ? ((PyArray_Descr *)dtype)->type_num : -1;
        self->n_arguments = (int)i + 1;
        if (!PyTuple_CheckExact(shape)) return 0;
    }
    return 1;
}

static int take_outputs(PreparedCall *self, PyObject *outputs)
{
    Py_ssize_t n = PyTuple_GET_SIZE(outputs);
    if (n > MOST_ARGUMENTS) return 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *shape, *dtype;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(outputs, i), "O!O!", &PyTuple_Type, &shape, &PyArrayDescr_Type, &dtype))
            return 0;
        if (PyTuple_GET_SIZE(shape) > NPY_MAXDIMS) return 0;
        self->dtypes[i] = (PyArray_Descr *)Py_NewRef(dtype);
        self->n_outputs = (int)i + 1;
        self->n_axes[i] = (int)PyTuple_GET_SIZE(shape);
        for (int axis = 0; axis < self->n_axes[i]; axis++) {
            self->shapes[i][axis] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, axis));
            if (PyErr_Occurred()) return 0;
        }
        npy_intp n_elements = PyArray_MultiplyList(self->shapes[i], self->n_axes[i]);
        if (n_elements * PyDataType_ELSIZE(self->dtypes[i]) >= LEAST_KEPT) self->has_large_outputs = 1;
    }
    return 1;
}

/* Inputs, each the number of an argument or -1 and an address; offsets of temporaries follow the outputs. */
static int take_pointers(PreparedCall *self, PyObject *inputs, PyObject *offsets)
{
    Py_ssize_t n = PyTuple_GET_SIZE(inputs), n_offsets = PyTuple_GET_SIZE(offsets);
    if (n + self->n_outputs + n_offsets > MOST_POINTERS) return 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned long long address;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(inputs, i), "iK", &self->input_of[i], &address)) return 0;
        int number = self->input_of[i];
        if (number >= 0 && (number >= self->n_arguments || self->arguments[number].kind > NUMBER)) return 0;
        self->fixed[i] = address;
    }
    self->n_inputs = (int)n;
    self->n_temporaries = (int)n_offsets;
    for (Py_ssize_t i = 0; i < n_offsets; i++) {
        self->fixed[n + self->n_outputs + i] = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(offsets, i));
        if (PyErr_Occurred()) return 0;
    }
    return 1;
}

/* Scalars, each a format with the number of an argument, or with -1 and a number. */
static int take_scalars(PreparedCall *self, PyObject *scalars)
{
    Py_ssize_t n = PyTuple_GET_SIZE(scalars);
    if (n > MOST_SCALARS) return 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *number;
        int format;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(scalars, i), "CiO", &format, &self->scalar_of[i], &number)) return 0;
        self->formats[i] = (char)format;
        self->n_scalars = (int)i + 1;
        int i_argument = self->scalar_of[i];
        if (i_argument < 0)
            self->scalars[i] = Py_NewRef(number);
        else if (i_argument >= self->n_arguments || self->arguments[i_argument].kind < PYTHON_FLOAT)
            return 0;
    }
    return 1;
}

PyDoc_STRVAR(prepare_call_doc,
    "prepare_call(settings, state, conditions, captured, entry, program, threads, keeps_lock, structure, arguments, "
    "inputs, outputs, form, offsets, arena_bytes, scalars, kept)\n--\n\n"
    "A PreparedCall; None where it would take more room than there is.\n\n"
    "Args:\n"
    "    settings: those in force, by identity.\n"
    "    state: what the function had in its slot, by identity.\n"
    "    conditions: of each a cell, None and what it holds, or a dict, a key and what it has there.\n"
    "    captured: arrays that are arguments before those of the call.\n"
    "    entry, program, threads: addresses, and the number that the entry is given.\n"
    "    keeps_lock: whether other threads wait meanwhile.\n"
    "    structure: forms of the arguments and of those by name, and the number of leaves; None: each is a leaf.\n"
    "    arguments: of each leaf the kind (0 in memory, 1 a number of ours, 2 a float, 3 an int), its shape and dtype.\n"
    "    inputs: of each pointer the number of an argument, or -1 and an address.\n"
    "    outputs: of each its shape and dtype.\n"
    "    form: of the result, see `containers.h`; None is the one output.\n"
    "    offsets, arena_bytes: of temporaries.\n"
    "    scalars: of each the kind of its dtype, and the number of an argument, or -1 and a number.\n"
    "    kept: what the addresses belong to.");

static PyObject *prepare_call(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *settings, *state, *conditions, *captured, *arguments, *inputs, *outputs, *offsets, *scalars, *kept;
    PyObject *structure, *form;
    unsigned long long entry, program;
    long long threads;
    int keeps_lock;
    Py_ssize_t arena_bytes;
    if (!PyArg_ParseTuple(args, "OOO!O!KKLpOO!O!O!OO!nO!O", &settings, &state, &PyTuple_Type, &conditions,
                          &PyTuple_Type, &captured, &entry, &program, &threads,
                          &keeps_lock, &structure, &PyTuple_Type, &arguments, &PyTuple_Type, &inputs, &PyTuple_Type,
                          &outputs, &form, &PyTuple_Type, &offsets, &arena_bytes, &PyTuple_Type, &scalars, &kept))
        return NULL;
    PreparedCall *self = PyObject_GC_New(PreparedCall, &PreparedCallType);
    if (self == NULL) return NULL;
    memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
    self->settings = Py_NewRef(settings);
    self->state = Py_NewRef(state);
    self->conditions = Py_NewRef(conditions);
    self->captured = Py_NewRef(captured);
    self->kept = Py_NewRef(kept);
    self->structure = Py_NewRef(structure);
    self->form = Py_NewRef(form);
    self->entry = (Entry)(uintptr_t)entry;
    self->program = (const void *)(uintptr_t)program;
    self->threads = threads;
    self->keeps_lock = keeps_lock;
    self->arena_bytes = arena_bytes;
    PyObject_GC_Track(self);
    if (are_conditions(conditions) && take_arguments(self, arguments) && take_outputs(self, outputs) &&
        take_pointers(self, inputs, offsets) && take_scalars(self, scalars) &&
        is_structure(structure, self->n_arguments) &&
        (form == Py_None ? self->n_outputs == 1 : is_form(form, self->n_outputs, 0)))
        return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(connect_calls_doc,
    "connect_calls(function, method, memory, buffer_op, const_op, settings)\n--\n\n"
    "Say the class of jitted functions, whose first base is `QuickCall`, and what a call is in Python; the class of\n"
    "memory, the ops of leaves, and the variable of the settings in force.");

static PyObject *connect_calls(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyTypeObject *function, *memory;
    PyObject *method, *op, *const_one, *variable;
    if (!PyArg_ParseTuple(args, "O!OO!OOO!", &PyType_Type, &function, &method, &PyType_Type, &memory, &op, &const_one,
                          &PyContextVar_Type, &variable))
        return NULL;
    if (array_type == NULL) {
        PyErr_SetString(PyExc_TypeError, "connect_calls: call connect(...) first");
        return NULL;
    }
    const struct { PyTypeObject *type; const char *name; Py_ssize_t *offset; } slots[] = {
        {function, "_prepared", &at_prepared}, {function, "_state", &at_state},
        {memory, "pointer", &at_pointer},
        {memory, "shape", &at_shape}, {memory, "dtype", &at_dtype},
    };
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if ((*slots[i].offset = offset_of((PyObject *)slots[i].type, slots[i].name)) < 0) return NULL;
    call_method = Py_NewRef(method);
    buffer_op = Py_NewRef(op);
    const_op = Py_NewRef(const_one);
    Py_XSETREF(settings_variable, Py_NewRef(variable));
    memory_type = (PyTypeObject *)Py_NewRef(memory);
    function_type = (PyTypeObject *)Py_NewRef(function);
    Py_RETURN_NONE;
}
