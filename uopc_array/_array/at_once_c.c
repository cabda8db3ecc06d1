/* The operators of an array whose operands are known and small, in C: at_once.py says what they do and why, and does
   the same where this module has not been built.

   `Quick` is the first base of Array. Each of its operators computes what is held as a value with one call of NumPy's,
   and calls the method of Python's for all the rest; so whatever is not decided here in a few lines is decided there.
   Nothing here runs without the global lock, and nothing between two calls can be seen by other threads. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

/* ------------------------------------------------------------------------------------------ what Python has told */

static PyTypeObject *array_type, *root_type, *part_type;
static Py_ssize_t at_value, at_alias, at_weak;                            /* slots of a handle */
static Py_ssize_t at_base, at_memory, at_keys, at_writable;               /* slots of the alias of a view */
static Py_ssize_t at_root_writable;                                       /* of the alias of an array with views */
static PyObject *quiet;                                                   /* the context in which NumPy does not warn */
static Py_ssize_t largest, under_lock, most_lenses;
static PyObject *programs, *lenses;                                       /* what computes, and views, by what they are of */
static PyObject *view_types;                                              /* of lenses that strides describe */
static PyTypeObject Quick;

enum { MOST_ITEMS = 24 };                                                 /* of what tells such functions apart */

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

enum { ADD, SUB, MUL, TRUEDIV, FLOORDIV, MOD, AND, OR, XOR, LSHIFT, RSHIFT, POW, MATMUL, N_BINARY };
enum { NEG, POS, ABS, INVERT, N_UNARY };
enum { TO_BOOL, TO_INT, TO_FLOAT, TO_INDEX, N_EXITS };

typedef PyObject *(*Binary)(PyObject *, PyObject *);

typedef struct {
    const char *name;
    Binary function, in_place;      /* of NumPy's values; NULL is always for Python */
    const char *kinds;              /* of dtypes of which NumPy's bits are those of the graph; NULL and "" are all */
    PyObject *method, *reflected, *in_place_method;
} Operation;

static const char REALS[] = "biuf", WHOLE[] = "biu";

static Operation operations[N_BINARY] = {
    [ADD] = {"add", PyNumber_Add, PyNumber_InPlaceAdd, NULL},
    [SUB] = {"sub", PyNumber_Subtract, PyNumber_InPlaceSubtract, NULL},
    [MUL] = {"mul", PyNumber_Multiply, PyNumber_InPlaceMultiply, REALS},
    [TRUEDIV] = {"truediv", PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide, REALS},
    [FLOORDIV] = {"floordiv", PyNumber_FloorDivide, PyNumber_InPlaceFloorDivide, WHOLE},
    [MOD] = {"mod", PyNumber_Remainder, PyNumber_InPlaceRemainder, NULL},
    [AND] = {"and", PyNumber_And, PyNumber_InPlaceAnd, NULL},
    [OR] = {"or", PyNumber_Or, PyNumber_InPlaceOr, NULL},
    [XOR] = {"xor", PyNumber_Xor, PyNumber_InPlaceXor, NULL},
    [LSHIFT] = {"lshift", PyNumber_Lshift, PyNumber_InPlaceLshift, NULL},
    [RSHIFT] = {"rshift", PyNumber_Rshift, PyNumber_InPlaceRshift, NULL},
    [POW] = {"pow", NULL, NULL, NULL},
    [MATMUL] = {"matmul", NULL, NULL, NULL},
};

static struct { const char *name; PyObject *(*function)(PyObject *); const char *kinds; PyObject *method; }
unary_operations[N_UNARY] = {
    [NEG] = {"__neg__", PyNumber_Negative, NULL},
    [POS] = {"__pos__", PyNumber_Positive, NULL},
    [ABS] = {"__abs__", PyNumber_Absolute, REALS},
    [INVERT] = {"__invert__", PyNumber_Invert, NULL},
};

static struct { const char *name, *kinds; PyObject *method; } comparisons[6] = {
    [Py_LT] = {"__lt__", REALS}, [Py_LE] = {"__le__", REALS}, [Py_EQ] = {"__eq__", NULL},
    [Py_NE] = {"__ne__", NULL}, [Py_GT] = {"__gt__", REALS}, [Py_GE] = {"__ge__", REALS},
};

static struct { const char *name; PyObject *method; } exits[N_EXITS] = {
    [TO_BOOL] = {"__bool__"}, [TO_INT] = {"__int__"}, [TO_FLOAT] = {"__float__"}, [TO_INDEX] = {"__index__"},
};

enum { AT_ONCE, OF_ONE_AT_ONCE, OF_KNOWN, VIEW_AT_ONCE, VIEW_OF_KNOWN, MAKES_VALUES, N_FUNCTIONS };

static struct { const char *name; PyObject *function; } by_name[N_FUNCTIONS] = {
    [AT_ONCE] = {"at_once"}, [OF_ONE_AT_ONCE] = {"of_one_at_once"}, [OF_KNOWN] = {"of_known"},
    [VIEW_AT_ONCE] = {"view_at_once"}, [VIEW_OF_KNOWN] = {"view_of_known"}, [MAKES_VALUES] = {"makes_values"},
};

static PyObject *on_array, *is_writable_name;                             /* names */
static PyObject *get_method, *set_method, *del_method, *end_method, *len_method;

static PyObject *for_python(int which, PyObject *const *args, Py_ssize_t n)
{
    if (by_name[which].function == NULL) {
        PyErr_Format(PyExc_TypeError, "%s: there is no function yet; call connect_function(...) first", by_name[which].name);
        return NULL;
    }
    return PyObject_Vectorcall(by_name[which].function, args, n, NULL);
}

/* The longer way: method(x, y), or method(x) where `y` is NULL, or method(x, y, z). */
static PyObject *by_python(PyObject *method, PyObject *x, PyObject *y, PyObject *z)
{
    if (method == NULL) {
        PyErr_SetString(PyExc_TypeError, "Quick: there are no methods yet; call connect(...) first");
        return NULL;
    }
    PyObject *args[3] = {x, y, z};
    return PyObject_Vectorcall(method, args, y == NULL ? 1 : z == NULL ? 2 : 3, NULL);
}

/* ------------------------------------------------------------------------------------------------------ values */

/* The place of a scalar's type among NumPy's dtypes; -1 where it is none of ours. */
static int number_of_scalar(PyObject *x)
{
    PyTypeObject *type = Py_TYPE(x);
    if (type == &PyDoubleArrType_Type) return NPY_DOUBLE;
    if (type == &PyLongArrType_Type) return NPY_LONG;
    if (type == &PyBoolArrType_Type) return NPY_BOOL;
    if (type == &PyFloatArrType_Type) return NPY_FLOAT;
    if (type == &PyIntArrType_Type) return NPY_INT;
    if (type == &PyLongLongArrType_Type) return NPY_LONGLONG;
    if (type == &PyCDoubleArrType_Type) return NPY_CDOUBLE;
    if (type == &PyCFloatArrType_Type) return NPY_CFLOAT;
    if (type == &PyByteArrType_Type) return NPY_BYTE;
    if (type == &PyUByteArrType_Type) return NPY_UBYTE;
    if (type == &PyShortArrType_Type) return NPY_SHORT;
    if (type == &PyUShortArrType_Type) return NPY_USHORT;
    if (type == &PyUIntArrType_Type) return NPY_UINT;
    if (type == &PyULongArrType_Type) return NPY_ULONG;
    if (type == &PyULongLongArrType_Type) return NPY_ULONGLONG;
    return -1;
}

/* The place of the dtype of a value, an array or a scalar, among NumPy's. */
static int number_of(PyObject *value)
{
    return PyArray_CheckExact(value) ? PyArray_TYPE((PyArrayObject *)value) : number_of_scalar(value);
}

static char kind_of_number(int number)
{
    if (PyTypeNum_ISBOOL(number)) return 'b';
    if (number < 0) return 0;
    if (PyTypeNum_ISUNSIGNED(number)) return 'u';
    if (PyTypeNum_ISSIGNED(number)) return 'i';
    return PyTypeNum_ISFLOAT(number) ? 'f' : PyTypeNum_ISCOMPLEX(number) ? 'c' : 0;
}

static Py_ssize_t size_of(PyObject *value)
{
    return PyArray_CheckExact(value) ? PyArray_SIZE((PyArrayObject *)value) : 1;
}

/* Whether what has this alias is no view, or one of what its base still holds. */
static int is_current(PyObject *alias)
{
    if (alias == Py_None || Py_TYPE(alias) == root_type) return 1;
    if (Py_TYPE(alias) != part_type) return 0;
    PyObject *base = SLOT(alias, at_base);
    return Py_TYPE(base) == array_type && SLOT(alias, at_memory) == SLOT(base, at_value);
}

/* The value that an array holds, borrowed; NULL where it holds none, or is no array of ours. */
static PyObject *value_of(PyObject *x)
{
    if (Py_TYPE(x) != array_type) return NULL;
    PyObject *value = SLOT(x, at_value), *alias = SLOT(x, at_alias);
    if (value == NULL || value == Py_None || alias == NULL || !is_current(alias)) return NULL;
    return value;
}

static int may_write(PyObject *alias)
{
    if (alias == Py_None) return 1;
    return SLOT(alias, Py_TYPE(alias) == part_type ? at_writable : at_root_writable) == Py_True;
}

/* A new array on a value and an alias, which it takes over. */
static PyObject *new_array(PyObject *value, PyObject *alias)
{
    PyObject *x = array_type->tp_alloc(array_type, 0);
    if (x == NULL) {
        Py_DECREF(value);
        Py_DECREF(alias);
        return NULL;
    }
    SLOT(x, at_value) = value;
    SLOT(x, at_alias) = alias;
    SLOT(x, at_weak) = Py_NewRef(Py_False);
    return x;
}

/* A new array on what a function has given, which it takes over: of no axes a number, unless it is to be an array. */
static PyObject *array_on(PyObject *value, int is_array)
{
    if (PyArray_CheckExact(value) ? PyArray_NDIM((PyArrayObject *)value) > 0 : !is_array)
        return new_array(value, Py_NewRef(Py_None));
    PyObject *alias;
    if (is_array) {
        if (!PyArray_CheckExact(value)) Py_SETREF(value, PyArray_FromScalar(value, NULL));
        alias = value == NULL ? NULL : PyObject_CallNoArgs((PyObject *)root_type);
    }
    else {
        Py_SETREF(value, PyArray_Return((PyArrayObject *)Py_NewRef(value)));
        alias = Py_NewRef(Py_None);
    }
    if (value == NULL || alias == NULL) {
        Py_XDECREF(value);
        Py_XDECREF(alias);
        return NULL;
    }
    return new_array(value, alias);
}

/* What follows a call that may have failed: 0 where the longer way is to be gone, which has words for it. */
static int is_for_python(void)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return 0;
    PyErr_Clear();
    return 1;
}

/* Enter the context in which NumPy does not warn; 0 where another thread is in there. */
static int enter(void)
{
    if (PyContext_Enter(quiet) == 0) return 1;
    PyErr_Clear();
    return 0;
}

/* Leave it with what has been computed; NULL, without an exception where it is for Python to say what is wrong. */
static PyObject *leave(PyObject *value)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyContext_Exit(quiet);
    PyErr_Restore(type, error, trace);
    if (value == NULL) is_for_python();
    return value;
}

static PyObject *quietly(Binary function, PyObject *a, PyObject *b)
{
    if (!enter()) return NULL;
    Py_INCREF(a);
    Py_INCREF(b);
    PyObject *value = leave(function(a, b));
    Py_DECREF(a);
    Py_DECREF(b);
    return value;
}

static PyObject *compared_quietly(PyObject *a, PyObject *b, int op)
{
    if (!enter()) return NULL;
    Py_INCREF(a);
    Py_INCREF(b);
    PyObject *value = leave(PyObject_RichCompare(a, b, op));
    Py_DECREF(a);
    Py_DECREF(b);
    return value;
}

/* An operand beside a value: a value, or a number of Python's or NumPy's; borrowed, NULL where it is for Python. */
static PyObject *operand(PyObject *y, int *number)
{
    PyObject *b = value_of(y);
    if (b != NULL) {
        *number = number_of(b);
        return b;
    }
    if (PyLong_CheckExact(y)) {
        *number = NPY_NOTYPE;  /* goes with all */
        return y;
    }
    *number = PyFloat_CheckExact(y) ? NPY_DOUBLE : PyComplex_CheckExact(y) ? NPY_CDOUBLE : number_of_scalar(y);
    return *number < 0 ? NULL : y;
}

/* function(a, b), or function(a) where `b` is NULL; NULL as above. */
static PyObject *called_quietly(PyObject *function, PyObject *a, PyObject *b)
{
    if (!enter()) return NULL;
    PyObject *args[2] = {Py_NewRef(a), Py_XNewRef(b)};
    PyObject *value = leave(PyObject_Vectorcall(function, args, b == NULL ? 1 : 2, NULL));
    Py_DECREF(a);
    Py_XDECREF(b);
    return value;
}

static int has_kind(const char *kinds, int number)
{
    if (kinds == NULL || *kinds == 0 || number == NPY_NOTYPE) return 1;
    char kind = kind_of_number(number);
    return kind != 0 && strchr(kinds, kind) != NULL;
}

/* Whether two values give what is small, as far as can be said without broadcasting them. */
static int are_small_together(PyObject *a, PyObject *b)
{
    Py_ssize_t n = size_of(a);
    if (!PyArray_CheckExact(b)) return n <= largest;
    if (!PyArray_CheckExact(a)) return size_of(b) <= largest;
    PyArrayObject *x = (PyArrayObject *)a, *y = (PyArrayObject *)b;
    if (PyArray_NDIM(x) == PyArray_NDIM(y) && PyArray_CompareLists(PyArray_DIMS(x), PyArray_DIMS(y), PyArray_NDIM(x)))
        return n <= largest;
    Py_ssize_t m = size_of(b);
    return n <= largest && m <= largest && n * m <= largest;
}

/* function(x, y), where `x` is an array, or function(y, x): a new array, or NULL, without an exception where it is for
   Python. */
static PyObject *at_once(Binary function, const char *kinds, PyObject *x, PyObject *y, int is_reflected)
{
    PyObject *a = value_of(x);
    if (a == NULL) return NULL;
    int number;
    PyObject *b = operand(y, &number);
    if (b == NULL || !are_small_together(a, b)) return NULL;
    if (kinds != NULL && !(has_kind(kinds, number_of(a)) && has_kind(kinds, number))) return NULL;
    PyObject *value = is_reflected ? quietly(function, b, a) : quietly(function, a, b);
    return value == NULL ? NULL : new_array(value, Py_NewRef(Py_None));
}

/* --------------------------------------------------------------------------------------------------- operators */

static PyObject *binary(PyObject *x, PyObject *y, const Operation *op)
{
    int is_left = PyObject_TypeCheck(x, &Quick);
    if (op->function != NULL) {
        PyObject *result = is_left ? at_once(op->function, op->kinds, x, y, 0) : at_once(op->function, op->kinds, y, x, 1);
        if (result != NULL || PyErr_Occurred()) return result;
    }
    if (is_left) {
        PyObject *result = by_python(op->method, x, y, NULL);
        if (result != Py_NotImplemented || !PyObject_TypeCheck(y, &Quick)) return result;
        Py_DECREF(result);
    }
    return by_python(op->reflected, y, x, NULL);
}

/* x op= y. The array is written to where nobody can come between the look at it and the end: NumPy keeps the lock for
   so few elements. A number gets another value. */
static PyObject *in_place(PyObject *x, PyObject *y, const Operation *op)
{
    PyObject *a = value_of(x);
    if (a != NULL && op->function != NULL && !PyArray_CheckExact(a)) {
        PyObject *result = at_once(op->function, op->kinds, x, y, 0);
        if (result != NULL || PyErr_Occurred()) return result;
    }
    else if (a != NULL && op->function != NULL && size_of(a) <= under_lock && may_write(SLOT(x, at_alias)) &&
             has_kind(op->kinds, number_of(a))) {
        int number;
        PyObject *b = operand(y, &number);
        if (b != NULL && size_of(b) <= under_lock) {
            PyObject *value = quietly(op->in_place, a, b);
            if (value != NULL) {
                Py_DECREF(value);
                return Py_NewRef(x);
            }
            if (PyErr_Occurred()) return NULL;
        }
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
        }
    }
    return binary(x, y, &operations[POW]);
}

static PyObject *in_place_power(PyObject *x, PyObject *y, PyObject *Py_UNUSED(modulus))
{
    return in_place(x, y, &operations[POW]);
}

static PyObject *compare(PyObject *x, PyObject *y, int op)
{
    const char *kinds = comparisons[op].kinds;
    int number;
    PyObject *a = value_of(x), *b = a == NULL ? NULL : operand(y, &number);
    if (b != NULL && are_small_together(a, b) && has_kind(kinds, number_of(a)) && has_kind(kinds, number)) {
        PyObject *value = compared_quietly(a, b, op);
        if (value != NULL) return new_array(value, Py_NewRef(Py_None));
        if (PyErr_Occurred()) return NULL;
    }
    return by_python(comparisons[op].method, x, y, NULL);
}

static PyObject *unary(PyObject *x, int which)
{
    PyObject *a = value_of(x);
    if (a != NULL && size_of(a) <= largest && has_kind(unary_operations[which].kinds, number_of(a)) && enter()) {
        Py_INCREF(a);
        PyObject *value = leave(unary_operations[which].function(a));
        Py_DECREF(a);
        if (value != NULL) return new_array(value, Py_NewRef(Py_None));
        if (PyErr_Occurred()) return NULL;
    }
    return by_python(unary_operations[which].method, x, NULL, NULL);
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

/* --------------------------------------------------------------------------------------------- items and stores */

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

/* The alias of what a step, a lens or a key, gives of `x`, whose value is `value`: a view. NULL where it is for Python. */
static PyObject *alias_of_part(PyObject *x, PyObject *value, PyObject *key, int may_be_written)
{
    PyObject *alias = SLOT(x, at_alias), *base = x, *memory = value, *is_writable = Py_True, *keys;
    if (alias != Py_None && Py_TYPE(alias) == part_type) {
        PyObject *before = SLOT(alias, at_keys);
        Py_ssize_t n = PyTuple_GET_SIZE(before);
        if (n >= most_lenses - 1) return NULL;
        keys = PyTuple_New(n + 1);
        if (keys == NULL) return NULL;
        for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(keys, i, Py_NewRef(PyTuple_GET_ITEM(before, i)));
        PyTuple_SET_ITEM(keys, n, Py_NewRef(key));
        base = SLOT(alias, at_base);
        memory = SLOT(alias, at_memory);
        is_writable = SLOT(alias, at_writable);
    }
    else {
        if (alias != Py_None) is_writable = SLOT(alias, at_root_writable);
        keys = PyTuple_Pack(1, key);
        if (keys == NULL) return NULL;
    }
    if (!may_be_written) is_writable = Py_False;
    Py_INCREF(base);
    Py_INCREF(memory);
    Py_INCREF(is_writable);
    PyObject *part = part_type->tp_alloc(part_type, 0);
    if (part == NULL) {
        Py_DECREF(keys);
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

static PyObject *get_item(PyObject *x, PyObject *given)
{
    PyObject *value = value_of(x);
    if (value == NULL || !PyArray_CheckExact(value)) return by_python(get_method, x, given, NULL);
    PyObject *key = plain_key(given);
    if (key == NULL) {
        PyObject *item = picked(value, given);
        if (item != NULL) return new_array(item, Py_NewRef(Py_None));
        return PyErr_Occurred() ? NULL : by_python(get_method, x, given, NULL);
    }
    Py_INCREF(value);
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

/* Whether a plain key names one element of an array. */
static int names_element(PyObject *key, int ndim)
{
    if (PyLong_CheckExact(key)) return ndim == 1;
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != ndim) return 0;
    for (int i = 0; i < ndim; i++)
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(key, i))) return 0;
    return 1;
}

/* x[key] = y where NumPy keeps the lock meanwhile: 1 if it is done, 0 if it is for Python, -1 with an exception. */
static int stored(PyObject *x, PyObject *given, PyObject *y)
{
    PyObject *target = value_of(x);
    if (target == NULL || !PyArray_CheckExact(target) || !may_write(SLOT(x, at_alias))) return 0;
    PyObject *b = storable(y, number_of(target));
    PyObject *key = b == NULL ? NULL : plain_key(given);
    if (key == NULL) return 0;
    Py_INCREF(target);
    Py_INCREF(b);
    PyObject *part = target, *where = key;
    int result = 0;
    if (size_of(target) <= under_lock || names_element(key, PyArray_NDIM((PyArrayObject *)target)))
        Py_INCREF(part);
    else {
        part = PyObject_GetItem(target, key);
        where = Py_Ellipsis;
        if (part == NULL)
            is_for_python();
        else if (!PyArray_CheckExact(part) || size_of(part) > under_lock)
            Py_CLEAR(part);
    }
    if (part != NULL && value_of(x) == target && may_write(SLOT(x, at_alias))) {
        result = PyObject_SetItem(part, where, b) == 0;
        if (!result) is_for_python();
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

/* ------------------------------------------------------------------------------------------------ other functions */

/* at_once(function, x, y, is_reflected=False, kinds=""), as in at_once.py. */
static PyObject *at_once_of(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    const char *kinds = n > 4 ? PyUnicode_AsUTF8(args[4]) : NULL;
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

/* Add an array or a scalar; 0 where it holds no value that is small. */
static int add_operand(Key *key, PyObject *x, int is_of_elements)
{
    PyObject *value = value_of(x);
    if (value == NULL && number_of_scalar(x) >= 0) value = x;
    if (value == NULL || size_of(value) > largest || !add_value(key, value)) return 0;
    long number = number_of(value);
    if (is_of_elements) {
        int has_axes = PyArray_CheckExact(value) && PyArray_NDIM((PyArrayObject *)value) > 0;
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

/* view_of_known(x, native, name, args), as in programs.py. */
static PyObject *view_of_known(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    PyObject *value = n == 4 && PyTuple_CheckExact(args[3]) ? value_of(args[0]) : NULL;
    if (value != NULL && PyArray_CheckExact(value)) {
        Key key = {.n = 0, .n_values = 0};
        int is_made = add_item(&key, Py_NewRef(args[1])) && add_item(&key, PyLong_FromLong(number_of(value))) &&
                      add_item(&key, shape_of(value));
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

/* ------------------------------------------------------------------------------------------------------- the type */

/* A handle goes: what holds a value has no node to let go of. */
static void end(PyObject *x)
{
    if (Py_TYPE(x) == array_type) {
        PyObject *value = SLOT(x, at_value);
        if (value != NULL && value != Py_None) return;
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
    .nb_inplace_add = in_place_add_or_error, .nb_inplace_subtract = in_place_subtract, .nb_inplace_multiply = in_place_multiply,
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
    .tp_finalize = end,
    .tp_new = PyType_GenericNew,
};

/* ------------------------------------------------------------------------------------------------------ connecting */

/* The offset of a slot of a class of Python's, -1 with an exception where it is none. */
static Py_ssize_t offset_of(PyObject *type, const char *name)
{
    PyObject *member = PyObject_GetAttrString(type, name);
    if (member == NULL) return -1;
    Py_ssize_t offset = -1;
    if (Py_TYPE(member) == &PyMemberDescr_Type && ((PyMemberDescrObject *)member)->d_member->type == T_OBJECT_EX)
        offset = ((PyMemberDescrObject *)member)->d_member->offset;
    else
        PyErr_Format(PyExc_TypeError, "connect: expected a slot, got the attribute %s", name);
    Py_DECREF(member);
    return offset;
}

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
    "connect(array, root, part, methods, quiet, views, largest, under_lock, most_lenses)\n--\n\n"
    "Say what the operators need to know; the package does, once.\n\n"
    "Args:\n"
    "    array: the class of arrays, whose first base is `Quick`.\n"
    "    root, part: the classes of aliases, of arrays with views and of views of known values.\n"
    "    methods: what each operator is in Python, by its name.\n"
    "    quiet: the context in which NumPy does not warn.\n"
    "    views: the classes of lenses that strides describe.\n"
    "    largest: elements of what is small.\n"
    "    under_lock: elements up to which NumPy writes without letting other threads run.\n"
    "    most_lenses: steps from a base to a view.");

static PyObject *connect(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyTypeObject *array, *root, *part;
    PyObject *methods, *context, *views;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!O!nnn", &PyType_Type, &array, &PyType_Type, &root, &PyType_Type, &part,
                          &PyDict_Type, &methods, &PyContext_Type, &context, &PyFrozenSet_Type, &views, &largest, &under_lock, &most_lenses))
        return NULL;
    const struct { PyTypeObject *type; const char *name; Py_ssize_t *offset; } slots[] = {
        {array, "_value", &at_value}, {array, "_alias", &at_alias}, {array, "_weak", &at_weak},
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
    on_array = PyUnicode_InternFromString("on_array");
    is_writable_name = PyUnicode_InternFromString("is_writable");
    if (on_array == NULL || is_writable_name == NULL) return NULL;
    array_type = (PyTypeObject *)Py_NewRef(array);
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
    {"connect_function", connect_function, METH_VARARGS, connect_function_doc},
    {"at_once", (PyCFunction)(void (*)(void))at_once_of, METH_FASTCALL, "See at_once.py."},
    {"of_one_at_once", (PyCFunction)(void (*)(void))of_one_at_once, METH_FASTCALL, "See at_once.py."},
    {"of_known", (PyCFunction)(void (*)(void))of_known, METH_FASTCALL, "See programs.py."},
    {"view_at_once", (PyCFunction)(void (*)(void))view_at_once, METH_FASTCALL, "See at_once.py."},
    {"view_of_known", (PyCFunction)(void (*)(void))view_of_known, METH_FASTCALL, "See programs.py."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "at_once_c",
    .m_doc = "The operators of arrays whose operands are known and small.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit_at_once_c(void)
{
    import_array();
    if (PyType_Ready(&Quick) < 0) return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && PyModule_AddObjectRef(made, "Quick", (PyObject *)&Quick) < 0) Py_CLEAR(made);
    return made;
}
