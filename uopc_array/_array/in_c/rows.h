/* Operators on few doubles in a row, and a number beside one, without a call of NumPy's: that takes longer to find out
   what to do than to do it. Sums, differences, products and quotients are rounded once, so their bits are NumPy's. */
/* Elements from which on NumPy's wider loops make up for its calls, and those of quotients. */
enum { MOST_IN_ROW = 1024, MOST_QUOTIENTS = 512 };

/* Where the elements lie, and the bytes from each to the next, 0 of a number. */
typedef struct { char *place; npy_intp step; double number; } Row;

/* Whether these are few doubles that lie in a row as they are, or all one after another. */
static int is_row(PyObject *x)
{
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    return PyArray_TYPE(a) == NPY_DOUBLE && PyArray_NDIM(a) > 0 && PyArray_ISBEHAVED_RO(a) &&
           (PyArray_NDIM(a) == 1 || PyArray_IS_C_CONTIGUOUS(a)) && PyArray_SIZE(a) <= MOST_IN_ROW;
}

/* What is beside a row, of its shape, or a number; 0 where it is for NumPy. */
static int as_row(PyObject *x, PyArrayObject *like, Row *row)
{
    if (PyArray_CheckExact(x)) {
        PyArrayObject *a = (PyArrayObject *)x;
        int n = PyArray_NDIM(like);
        if (a != like && !(is_row(x) && PyArray_NDIM(a) == n && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(like), n)))
            return 0;
        *row = (Row){PyArray_BYTES(a), n == 1 ? PyArray_STRIDE(a, 0) : (npy_intp)sizeof(double), 0};
        return 1;
    }
    Number number;
    if (!as_number(x, &number)) return 0;
    *row = (Row){NULL, 0, number.f};
    return 1;
}

/* Whether writing the elements of one row from its first on spoils none of another that are still to be read: they are
   the same, or apart. */
static int may_write_over(const Row *out, const Row *x, npy_intp n)
{
    if (x->place == NULL || n == 0 || (x->place == out->place && x->step == out->step)) return 1;
    npy_intp of_out = out->step * (n - 1), of_x = x->step * (n - 1), size = sizeof(double);
    const char *first = out->place + (of_out < 0 ? of_out : 0), *last = out->place + (of_out < 0 ? 0 : of_out) + size;
    return x->place + (of_x < 0 ? 0 : of_x) + size <= first || x->place + (of_x < 0 ? of_x : 0) >= last;
}

#define AT(row, i) (*(double *)((row)->place + (i) * (row)->step))
#define EACH(of)                                                                                                     \
    if (out->step == size && x->step == size && y->step == size)                                                     \
        for (npy_intp i = 0; i < n; i++)                                                                             \
            ((double *)out->place)[i] = of(((double *)x->place)[i], ((double *)y->place)[i]);                        \
    else if (out->step == size && x->step == size && y->place == NULL)                                               \
        for (npy_intp i = 0; i < n; i++) ((double *)out->place)[i] = of(((double *)x->place)[i], y->number);         \
    else if (out->step == size && y->step == size && x->place == NULL)                                               \
        for (npy_intp i = 0; i < n; i++) ((double *)out->place)[i] = of(x->number, ((double *)y->place)[i]);         \
    else                                                                                                             \
        for (npy_intp i = 0; i < n; i++)                                                                             \
            AT(out, i) = of(x->place == NULL ? x->number : AT(x, i), y->place == NULL ? y->number : AT(y, i));

/* Whether elements of a row may be nan. */
static int may_have_nan(const Row *x, npy_intp n)
{
    if (x->place == NULL) return x->number != x->number;
    if (x->step != (npy_intp)sizeof(double)) return 1;
    uint64_t seen = 0;
    for (npy_intp i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x->place + i * sizeof bits, sizeof bits);
        seen |= (bits & 0x7fffffffffffffff) + 0x000fffffffffffff;  /* beyond infinity */
    }
    return seen >> 63 != 0;
}

#define SUM(x, y) ((x) + (y))
#define DIFFERENCE(x, y) ((x) - (y))
#define PRODUCT(x, y) ((x) * (y))
#define QUOTIENT(x, y) ((x) / (y))

/* Of two nans the first is the result, as in NumPy where elements are few, though a compiler may exchange operands. */
static double sum_with_nan(double x, double y) { return x != x ? x + x : x + y; }
static double product_with_nan(double x, double y) { return x != x ? x + x : x * y; }

static int is_of_rows(Binary function)
{
    return function == PyNumber_Add || function == PyNumber_Subtract || function == PyNumber_Multiply ||
           function == PyNumber_TrueDivide;
}

static void compute_row(Binary function, const Row *out, const Row *x, const Row *y, npy_intp n)
{
    const npy_intp size = sizeof(double);
    if (function == PyNumber_Add) {
        if (may_have_nan(x, n)) {
            EACH(sum_with_nan)
        }
        else {
            EACH(SUM)
        }
    }
    else if (function == PyNumber_Subtract) {
        EACH(DIFFERENCE)
    }
    else if (function == PyNumber_Multiply) {
        if (may_have_nan(x, n)) {
            EACH(product_with_nan)
        }
        else {
            EACH(PRODUCT)
        }
    }
    else {
        EACH(QUOTIENT)
    }
}

/* function(x, y): a new array; NULL, without an exception, where it is for NumPy. */
static PyObject *of_rows(Binary function, PyObject *x, PyObject *y)
{
    Row a, b;
    PyObject *like = PyArray_CheckExact(x) ? x : y;
    if (!is_of_rows(function) || !is_row(like)) return NULL;
    PyArrayObject *shaped = (PyArrayObject *)like;
    if (function == PyNumber_TrueDivide && PyArray_SIZE(shaped) > MOST_QUOTIENTS) return NULL;
    if (!as_row(x, shaped, &a) || !as_row(y, shaped, &b)) return NULL;
    Py_INCREF(x);  /* held before anything is made */
    Py_INCREF(y);
    PyObject *result = PyArray_SimpleNew(PyArray_NDIM(shaped), PyArray_DIMS(shaped), NPY_DOUBLE);
    if (result == NULL)
        PyErr_Clear();
    else {
        Row out = {PyArray_BYTES((PyArrayObject *)result), sizeof(double), 0};
        compute_row(function, &out, &a, &b, PyArray_SIZE(shaped));
    }
    Py_DECREF(x);
    Py_DECREF(y);
    return result;
}

/* The operator whose results are those of this one in place; NULL for others. */
static Binary of_in_place(Binary in_place)
{
    return in_place == PyNumber_InPlaceAdd          ? PyNumber_Add
           : in_place == PyNumber_InPlaceSubtract   ? PyNumber_Subtract
           : in_place == PyNumber_InPlaceMultiply   ? PyNumber_Multiply
           : in_place == PyNumber_InPlaceTrueDivide ? PyNumber_TrueDivide
                                                    : NULL;
}

/* Write function(x, y), or `y` where there is no function, to `x`, which may be written to; 0 where it is for NumPy. */
static int row_is_written(Binary function, PyObject *x, PyObject *y)
{
    Row a, b;
    if (!is_row(x) || !PyArray_ISWRITEABLE((PyArrayObject *)x)) return 0;
    npy_intp n = PyArray_SIZE((PyArrayObject *)x);
    if (!as_row(x, (PyArrayObject *)x, &a) || !as_row(y, (PyArrayObject *)x, &b) || !may_write_over(&a, &b, n)) return 0;
    if ((n > 1 && a.step == 0) || (function == PyNumber_TrueDivide && n > MOST_QUOTIENTS)) return 0;
    if (function != NULL)
        compute_row(function, &a, &a, &b, n);
    else if (b.place == NULL)
        for (npy_intp i = 0; i < n; i++) AT(&a, i) = b.number;
    else if (a.step == (npy_intp)sizeof(double) && b.step == a.step)
        memmove(a.place, b.place, n * sizeof(double));
    else
        for (npy_intp i = 0; i < n; i++) AT(&a, i) = AT(&b, i);
    return 1;
}
