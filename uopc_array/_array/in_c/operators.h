/* The operators of an array, and what makes numbers of Python's of it. */
enum { ADD, SUB, MUL, TRUEDIV, FLOORDIV, MOD, AND, OR, XOR, LSHIFT, RSHIFT, POW, MATMUL, N_BINARY };
enum { NEG, POS, ABS, INVERT, N_UNARY };
enum { TO_BOOL, TO_INT, TO_FLOAT, TO_INDEX, N_EXITS };

/* Whether there is an infinity in an operand, or nobody has looked. */
static int may_be_infinite(PyObject *x)
{
    if (PyFloat_CheckExact(x)) return isinf(PyFloat_AS_DOUBLE(x));
    if (PyLong_CheckExact(x)) return 0;
    int number = number_of(x), is_found = 0;
    if (PyTypeNum_ISINTEGER(number) || PyTypeNum_ISBOOL(number)) return 0;
    if (number != NPY_DOUBLE && number != NPY_FLOAT) return 1;
    if (!PyArray_CheckExact(x)) return isinf(PyFloat_AsDouble(x));
    PyArrayObject *a = (PyArrayObject *)x;
    if (PyArray_NDIM(a) != 1 && !PyArray_IS_C_CONTIGUOUS(a)) return 1;
    npy_intp n = PyArray_SIZE(a), step = PyArray_NDIM(a) == 1 ? PyArray_STRIDE(a, 0) : PyArray_ITEMSIZE(a);
    const char *place = PyArray_BYTES(a);
    for (npy_intp i = 0; i < n; i++, place += step)
        is_found |= number == NPY_DOUBLE ? isinf(*(const double *)place) : isinf(*(const float *)place);
    return is_found;
}

/* a // b, and a //= b, but of infinities, of which NumPy has nan or -1: those are for Python. */
static PyObject *whole_quotient_by(Binary function, PyObject *a, PyObject *b)
{
    if (may_be_infinite(a) || may_be_infinite(b)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_FloatingPointError, "an infinity");
        return NULL;
    }
    return function(a, b);
}

static PyObject *whole_quotient(PyObject *a, PyObject *b) { return whole_quotient_by(PyNumber_FloorDivide, a, b); }

static PyObject *in_place_whole_quotient(PyObject *a, PyObject *b)
{
    return whole_quotient_by(PyNumber_InPlaceFloorDivide, a, b);
}

typedef struct {
    const char *name;
    Binary function, in_place;      /* of NumPy's values; NULL is always for Python */
    const char *ufunc_name;         /* NumPy's */
    const char *kinds;              /* of dtypes of which NumPy's bits are those of the graph; NULL and "" are all */
    PyObject *method, *reflected, *in_place_method, *ufunc;
    Recorded recorded;
} Operation;

static const char REALS[] = "biuf";

static Operation operations[N_BINARY] = {
    [ADD] = {"add", PyNumber_Add, PyNumber_InPlaceAdd, "add", NULL},
    [SUB] = {"sub", PyNumber_Subtract, PyNumber_InPlaceSubtract, "subtract", NULL},
    [MUL] = {"mul", PyNumber_Multiply, PyNumber_InPlaceMultiply, "multiply", REALS},
    [TRUEDIV] = {"truediv", PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide, "divide", REALS},
    [FLOORDIV] = {"floordiv", whole_quotient, in_place_whole_quotient, "floor_divide", REALS},
    [MOD] = {"mod", PyNumber_Remainder, PyNumber_InPlaceRemainder, "remainder", NULL},
    [AND] = {"and", PyNumber_And, PyNumber_InPlaceAnd, "bitwise_and", NULL},
    [OR] = {"or", PyNumber_Or, PyNumber_InPlaceOr, "bitwise_or", NULL},
    [XOR] = {"xor", PyNumber_Xor, PyNumber_InPlaceXor, "bitwise_xor", NULL},
    [LSHIFT] = {"lshift", PyNumber_Lshift, PyNumber_InPlaceLshift, "left_shift", NULL},
    [RSHIFT] = {"rshift", PyNumber_Rshift, PyNumber_InPlaceRshift, "right_shift", NULL},
    [POW] = {"pow", NULL, NULL, "power", NULL},
    [MATMUL] = {"matmul", NULL, NULL, "matmul", NULL},
};

static struct {
    const char *name;
    PyObject *(*function)(PyObject *);
    const char *kinds;
    PyObject *method;
    Recorded recorded;
} unary_operations[N_UNARY] = {
    [NEG] = {"__neg__", PyNumber_Negative, NULL},
    [POS] = {"__pos__", PyNumber_Positive, NULL},
    [ABS] = {"__abs__", PyNumber_Absolute, REALS},
    [INVERT] = {"__invert__", PyNumber_Invert, NULL},
};

static struct {
    const char *name, *kinds, *ufunc_name;
    PyObject *method, *ufunc;
    Recorded recorded;
} comparisons[6] = {
    [Py_LT] = {"__lt__", REALS, "less"}, [Py_LE] = {"__le__", REALS, "less_equal"},
    [Py_EQ] = {"__eq__", NULL, "equal"}, [Py_NE] = {"__ne__", NULL, "not_equal"},
    [Py_GT] = {"__gt__", REALS, "greater"}, [Py_GE] = {"__ge__", REALS, "greater_equal"},
};

static struct { const char *name; PyObject *method; } exits[N_EXITS] = {
    [TO_BOOL] = {"__bool__"}, [TO_INT] = {"__int__"}, [TO_FLOAT] = {"__float__"}, [TO_INDEX] = {"__index__"},
};

/* How the operator whose method is `__name__` is recorded. */
static Recorded *record_of(const char *name)
{
    char method[32];
    PyOS_snprintf(method, sizeof method, "__%s__", name);
    for (int i = 0; i < N_BINARY; i++)
        if (strcmp(operations[i].name, name) == 0) return &operations[i].recorded;
    for (int i = 0; i < N_UNARY; i++)
        if (strcmp(unary_operations[i].name, method) == 0) return &unary_operations[i].recorded;
    for (int i = 0; i < 6; i++)
        if (strcmp(comparisons[i].name, method) == 0) return &comparisons[i].recorded;
    return NULL;
}

static PyObject *binary(PyObject *x, PyObject *y, const Operation *op)
{
    int is_left = PyObject_TypeCheck(x, &Quick);
    if (op->function != NULL) {
        PyObject *result = is_left ? at_once(op->function, op->kinds, x, y, 0)
                                   : at_once(op->function, op->kinds, y, x, 1);
        if (result != NULL || PyErr_Occurred()) return result;
        result = record_two(&op->recorded, x, y);
        if (result != NULL || PyErr_Occurred()) return result;
    }
    else if (op == &operations[MATMUL]) {
        PyObject *result = product(x, y, 0);
        if (result != NULL || PyErr_Occurred()) return result;
    }
    int is_in_graph = op->function != NULL && (has_node(x) || has_node(y));
    if (is_left) {
        PyObject *result = is_in_graph ? by_python_in_chain(op->method, x, y) : by_python(op->method, x, y, NULL);
        if (result != Py_NotImplemented || !PyObject_TypeCheck(y, &Quick)) return result;
        Py_DECREF(result);
    }
    return is_in_graph ? by_python_in_chain(op->reflected, y, x) : by_python(op->reflected, y, x, NULL);
}

/* Write function(a, b) to `a`, which belongs to `x` and is current; 1 if it is done, 0, without an exception, where it is
   for Python. Nobody can come between the look at it and the operation; up to the end of that where NumPy keeps the
   lock, as it does for few elements, else those who do wait. */
static int written(Binary function, PyObject *a, PyObject *b)
{
    Binary of_row = of_in_place(function);
    if (of_row != NULL && row_is_written(of_row, a, b)) return 1;
    int is_under_lock = size_of(a) <= under_lock && size_of(b) <= under_lock;
    if (!is_under_lock && (size_of(b) > largest || size_of(a) > largest || !begin_writing())) return 0;
    PyObject *value = quietly(function, a, b);
    if (!is_under_lock) end_writing();
    Py_XDECREF(value);
    return value != NULL;
}

/* x op= y. A number gets another value. */
static PyObject *in_place(PyObject *x, PyObject *y, const Operation *op)
{
    PyObject *a = value_of(x);
    if (a != NULL && op->function != NULL && !PyArray_CheckExact(a)) {
        PyObject *result = at_once(op->function, op->kinds, x, y, 0);
        if (result != NULL || PyErr_Occurred()) return result;
    }
    else if (a != NULL && op->function != NULL && may_write(SLOT(x, at_alias)) && has_kind(op->kinds, number_of(a))) {
        int number;
        PyObject *b = operand(y, &number);
        if (b != NULL && written(op->in_place, a, b)) return Py_NewRef(x);
        if (PyErr_Occurred()) return NULL;
    }
    return by_python(op->in_place_method, x, y, NULL);
}

#define OPERATOR(name, which)                                                                                        \
    static PyObject *name(PyObject *x, PyObject *y) { return binary(x, y, &operations[which]); }
#define IN_PLACE(name, which)                                                                                        \
    static PyObject *in_place_##name(PyObject *x, PyObject *y) { return in_place(x, y, &operations[which]); }

/* A class that gets `__iadd__` from here also gets it in the place where sequences are extended, and what that says is
   final: so what nobody knows is an error here. */
static PyObject *in_place_add_or_error(PyObject *x, PyObject *y)
{
    PyObject *result = in_place(x, y, &operations[ADD]);
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
    result = PyNumber_Add(x, y);
    PyNumberMethods *theirs = Py_TYPE(y)->tp_as_number;
    if (result == NULL && PyErr_ExceptionMatches(PyExc_TypeError) && (theirs == NULL || theirs->nb_add == NULL))
        PyErr_Format(PyExc_TypeError, "unsupported operand type(s) for +=: '%.100s' and '%.100s'", Py_TYPE(x)->tp_name,
                     Py_TYPE(y)->tp_name);
    return result;
}

OPERATOR(add, ADD)
OPERATOR(subtract, SUB)
OPERATOR(multiply, MUL)
OPERATOR(divide, TRUEDIV)
OPERATOR(floor_divide, FLOORDIV)
OPERATOR(remain, MOD)
OPERATOR(and, AND)
OPERATOR(or, OR)
OPERATOR(xor, XOR)
OPERATOR(lshift, LSHIFT)
OPERATOR(rshift, RSHIFT)
OPERATOR(matmul, MATMUL)
IN_PLACE(subtract, SUB)
IN_PLACE(multiply, MUL)
IN_PLACE(divide, TRUEDIV)
IN_PLACE(floor_divide, FLOORDIV)
IN_PLACE(remain, MOD)
IN_PLACE(and, AND)
IN_PLACE(or, OR)
IN_PLACE(xor, XOR)
IN_PLACE(lshift, LSHIFT)
IN_PLACE(rshift, RSHIFT)
IN_PLACE(matmul, MATMUL)

static PyObject *power(PyObject *x, PyObject *y, PyObject *modulus)
{
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    if (PyLong_CheckExact(y) && PyObject_TypeCheck(x, &Quick)) {
        int overflow;
        if (PyLong_AsLongAndOverflow(y, &overflow) == 2) {  /* a product, whose bits NumPy's are */
            PyObject *result = at_once(PyNumber_Multiply, "iuf", x, x, 0);
            if (result != NULL || PyErr_Occurred()) return result;
            result = record_two(&operations[MUL].recorded, x, x);
            if (result != NULL || PyErr_Occurred()) return result;
        }
    }
    return binary(x, y, &operations[POW]);
}

static PyObject *in_place_power(PyObject *x, PyObject *y, PyObject *Py_UNUSED(modulus))
{
    return in_place(x, y, &operations[POW]);
}

/* The comparison, if both are known and small; NULL, without an exception, where it is for Python. */
static PyObject *compared_at_once(PyObject *x, PyObject *y, int op)
{
    const char *kinds = comparisons[op].kinds;
    int number;
    PyObject *a = value_of(x), *b = a == NULL ? NULL : operand(y, &number);
    if (b == NULL) return NULL;
    if (!PyArray_CheckExact(a) && !PyArray_CheckExact(b)) {
        PyObject *value = compared_numbers(a, b, op);
        if (value != NULL) return new_array(value, Py_NewRef(Py_None));
    }
    if (!are_small_together(a, b) || !has_kind(kinds, number_of(a)) || !has_kind(kinds, number)) return NULL;
    Chain chain;
    Py_ssize_t n = larger_size(a, b);
    PyObject *value = is_for_now(x, y, n, &chain) ? compared_quietly(a, b, op) : NULL;
    return value == NULL ? NULL : noted(new_array(value, Py_NewRef(Py_None)), &chain, n);
}

static PyObject *compare(PyObject *x, PyObject *y, int op)
{
    PyObject *result = compared_at_once(x, y, op);
    if (result != NULL || PyErr_Occurred()) return result;
    result = record_comparison(&comparisons[op].recorded, x, y, op == Py_GT || op == Py_GE);
    if (result != NULL || PyErr_Occurred()) return result;
    PyObject *method = comparisons[op].method;
    return has_node(x) || has_node(y) ? by_python_in_chain(method, x, y) : by_python(method, x, y, NULL);
}

static PyObject *unary(PyObject *x, int which)
{
    PyObject *a = value_of(x);
    if (a != NULL && size_of(a) <= largest && has_kind(unary_operations[which].kinds, number_of(a))) {
        Chain chain;
        Py_ssize_t n = size_of(a);
        Py_INCREF(a);
        PyObject *value = NULL;
        if (is_for_now(x, NULL, n, &chain) && enter()) value = leave(unary_operations[which].function(a));
        Py_DECREF(a);
        if (value != NULL) return noted(new_array(value, Py_NewRef(Py_None)), &chain, n);
        if (PyErr_Occurred()) return NULL;
    }
    PyObject *result = record_one(&unary_operations[which].recorded, x);
    if (result != NULL || PyErr_Occurred()) return result;
    PyObject *method = unary_operations[which].method;
    return has_node(x) ? by_python_in_chain(method, x, NULL) : by_python(method, x, NULL, NULL);
}

static PyObject *negative(PyObject *x) { return unary(x, NEG); }
static PyObject *positive(PyObject *x) { return unary(x, POS); }
static PyObject *absolute(PyObject *x) { return unary(x, ABS); }
static PyObject *invert(PyObject *x) { return unary(x, INVERT); }

/* ------------------------------------------------------------------------------------------- numbers of Python's */

/* The value of a number, borrowed; NULL where it is none that is known. */
static PyObject *known_number(PyObject *x)
{
    PyObject *value = value_of(x);
    return value != NULL && !PyArray_CheckExact(value) ? value : NULL;
}

static int to_bool(PyObject *x)
{
    PyObject *value = known_number(x);
    if (value != NULL) return PyObject_IsTrue(value);
    PyObject *result = by_python(exits[TO_BOOL].method, x, NULL, NULL);
    if (result == NULL) return -1;
    int is_true = PyObject_IsTrue(result);
    Py_DECREF(result);
    return is_true;
}

static PyObject *to_number(PyObject *x, int which, PyObject *(*convert)(PyObject *), const char *kinds)
{
    PyObject *value = known_number(x);
    if (value != NULL && has_kind(kinds, number_of(value))) {
        Py_INCREF(value);
        PyObject *result = convert(value);
        Py_DECREF(value);
        return result;
    }
    return by_python(exits[which].method, x, NULL, NULL);
}

static PyObject *to_int(PyObject *x) { return to_number(x, TO_INT, PyNumber_Long, REALS); }
static PyObject *to_float(PyObject *x) { return to_number(x, TO_FLOAT, PyNumber_Float, REALS); }
static PyObject *to_index(PyObject *x) { return to_number(x, TO_INDEX, PyNumber_Index, "iu"); }

static Py_ssize_t length(PyObject *x)
{
    PyObject *value = value_of(x);
    if (value != NULL && PyArray_CheckExact(value) && PyArray_NDIM((PyArrayObject *)value) > 0)
        return PyArray_DIM((PyArrayObject *)value, 0);
    PyObject *result = by_python(len_method, x, NULL, NULL);
    if (result == NULL) return -1;
    Py_ssize_t n = PyLong_AsSsize_t(result);
    Py_DECREF(result);
    return n;
}
