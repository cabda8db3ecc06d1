/* Operators on two numbers of the commonest dtypes, float64 and the int of this machine, without a call of NumPy's. */

/* A number as C has it; `is_int` says which of the two is meant. */
typedef struct { int is_int; long i; double f; } Number;

static int as_number(PyObject *x, Number *number)
{
    PyTypeObject *type = Py_TYPE(x);
    int overflow = 0;
    *number = (Number){0, 0, 0};
    if (type == &PyDoubleArrType_Type)
        number->f = PyArrayScalar_VAL(x, Double);
    else if (type == &PyFloat_Type)
        number->f = PyFloat_AS_DOUBLE(x);
    else if (type == &PyLongArrType_Type || type == &PyLong_Type) {
        number->is_int = 1;
        number->i = type == &PyLong_Type ? PyLong_AsLongAndOverflow(x, &overflow) : PyArrayScalar_VAL(x, Long);
        number->f = (double)number->i;
    }
    else
        return 0;
    return overflow == 0;
}

static PyObject *of_double(double x)
{
    PyObject *result = PyArrayScalar_New(Double);
    if (result != NULL) PyArrayScalar_ASSIGN(result, Double, x);
    return result;
}

static PyObject *of_long(unsigned long bits)
{
    PyObject *result = PyArrayScalar_New(Long);
    if (result != NULL) PyArrayScalar_ASSIGN(result, Long, (npy_long)bits);
    return result;
}

static PyObject *of_longs(Binary function, long x, long y)
{
    unsigned long a = (unsigned long)x, b = (unsigned long)y;  /* which wrap */
    if (function == PyNumber_Add) return of_long(a + b);
    if (function == PyNumber_Subtract) return of_long(a - b);
    if (function == PyNumber_Multiply) return of_long(a * b);
    if (function == PyNumber_And) return of_long(a & b);
    if (function == PyNumber_Or) return of_long(a | b);
    if (function == PyNumber_Xor) return of_long(a ^ b);
    if (function == PyNumber_TrueDivide) return of_double((double)x / (double)y);
    if (b >= 8 * sizeof(long)) return NULL;  /* shifts: NumPy says what those by more or by less than there are bits give */
    if (function == PyNumber_Lshift) return of_long(a << b);
    if (function == PyNumber_Rshift) return of_long((unsigned long)(x >> b));
    return NULL;
}

/* Of two that are no number, a sum and a product are the first to NumPy; a compiler may turn them. */
static int may_be_turned(Binary function) { return function == PyNumber_Add || function == PyNumber_Multiply; }

/* function(x, y) of numbers one of which is NumPy's: a new number of NumPy's; NULL, without an exception, where it is for
   NumPy to compute. */
static PyObject *of_numbers(Binary function, PyObject *x, PyObject *y)
{
    Number a, b;
    if (!as_number(x, &a) || !as_number(y, &b) || (may_be_turned(function) && isnan(b.f))) return NULL;
    PyObject *result = NULL;
    if (a.is_int && b.is_int)
        result = of_longs(function, a.i, b.i);
    else if (function == PyNumber_Add)
        result = of_double(a.f + b.f);
    else if (function == PyNumber_Subtract)
        result = of_double(a.f - b.f);
    else if (function == PyNumber_Multiply)
        result = of_double(a.f * b.f);
    else if (function == PyNumber_TrueDivide)
        result = of_double(a.f / b.f);
    if (result == NULL) PyErr_Clear();
    return result;
}

#define COMPARED(a, b, op)                                                                                           \
    ((op) == Py_LT ? (a) < (b) : (op) == Py_LE ? (a) <= (b) : (op) == Py_EQ ? (a) == (b)                             \
     : (op) == Py_NE ? (a) != (b) : (op) == Py_GT ? (a) > (b) : (a) >= (b))

/* The comparison of such numbers: a bool of NumPy's; NULL, without an exception, where it is for NumPy. An int beside a
   float is. */
static PyObject *compared_numbers(PyObject *x, PyObject *y, int op)
{
    Number a, b;
    if (!as_number(x, &a) || !as_number(y, &b) || a.is_int != b.is_int) return NULL;
    int is_true = a.is_int ? COMPARED(a.i, b.i, op) : COMPARED(a.f, b.f, op);
    return Py_NewRef(is_true ? PyArrayScalar_True : PyArrayScalar_False);
}
