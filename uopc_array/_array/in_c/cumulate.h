/* Cumulative sums in blocks, as `_cumulative_sum` of numpy_ops.py adds them up, to the last bit: within blocks, to which
   that of the totals of the blocks before is added. Blocks side by side, since an addition waits for the one before it. */
static PyObject *cumulator;  /* the same in Python, of all that is not done here */
static npy_intp sum_block;

enum { ABREAST = 8 };

#define CUMULATE(name, type)                                                                                         \
    static void name##_in_blocks(npy_intp n_blocks, npy_intp block, const type *x, type *out)                        \
    {                                                                                                                \
        npy_intp first = 0;                                                                                          \
        for (; first + ABREAST <= n_blocks; first += ABREAST) {                                                      \
            const type *from = x + first * block;                                                                    \
            type *to = out + first * block, sums[ABREAST];                                                           \
            for (int k = 0; k < ABREAST; k++) to[k * block] = sums[k] = from[k * block];                             \
            for (npy_intp i = 1; i < block; i++)                                                                     \
                for (int k = 0; k < ABREAST; k++) to[k * block + i] = sums[k] += from[k * block + i];                \
        }                                                                                                            \
        for (; first < n_blocks; first++) {                                                                          \
            type sum = out[first * block] = x[first * block];                                                        \
            for (npy_intp i = 1; i < block; i++) out[first * block + i] = sum += x[first * block + i];               \
        }                                                                                                            \
    }                                                                                                                \
    /* `room` is for the totals of all blocks, and of theirs */                                                      \
    static void name(npy_intp n, const type *x, type *out, type *room)                                               \
    {                                                                                                                \
        if (n <= sum_block) {                                                                                        \
            if (n > 0) name##_in_blocks(1, n, x, out);                                                               \
            return;                                                                                                  \
        }                                                                                                            \
        npy_intp n_blocks = n / sum_block, whole = n_blocks * sum_block, rest = n - whole;                           \
        name##_in_blocks(n_blocks, sum_block, x, out);                                                               \
        type *totals = room, *before = room + n_blocks;                                                              \
        for (npy_intp i = 0; i < n_blocks; i++) totals[i] = out[(i + 1) * sum_block - 1];                            \
        name(n_blocks, totals, before, room + 2 * n_blocks);                                                         \
        for (npy_intp i = 1; i < n_blocks; i++)                                                                      \
            for (npy_intp j = 0; j < sum_block; j++) out[i * sum_block + j] += before[i - 1];                        \
        if (rest > 0) name##_in_blocks(1, rest, x + whole, out + whole);                                             \
        for (npy_intp j = 0; j < rest; j++) out[whole + j] += before[n_blocks - 1];                                  \
    }

CUMULATE(cumulate_f32, float)
CUMULATE(cumulate_f64, double)

/* cumulate(x), along the last axis. */
static PyObject *cumulate(PyObject *Py_UNUSED(module), PyObject *x)
{
    PyArrayObject *from = (PyArrayObject *)x;
    int number = PyArray_CheckExact(x) ? PyArray_TYPE(from) : -1;
    if ((number == NPY_DOUBLE || number == NPY_FLOAT) && PyArray_ISCARRAY_RO(from) && PyArray_NDIM(from) > 0) {
        npy_intp n = PyArray_DIM(from, PyArray_NDIM(from) - 1), size = PyArray_SIZE(from);
        double *room = PyMem_RawMalloc((4 * (size_t)(n / sum_block) + 8) * sizeof *room);
        PyObject *out = room == NULL ? PyErr_NoMemory() : PyArray_NewLikeArray(from, NPY_CORDER, NULL, 0);
        if (out != NULL) {
            void *to = PyArray_DATA((PyArrayObject *)out);
            const void *elements = PyArray_DATA(from);
            PyThreadState *state = size < LEAST_UNLOCKED ? NULL : PyEval_SaveThread();
            for (npy_intp row = 0; n > 0 && row < size; row += n)
                if (number == NPY_DOUBLE)
                    cumulate_f64(n, (const double *)elements + row, (double *)to + row, room);
                else
                    cumulate_f32(n, (const float *)elements + row, (float *)to + row, (float *)room);
            if (state != NULL) PyEval_RestoreThread(state);
        }
        PyMem_RawFree(room);
        return out;
    }
    if (cumulator == NULL) {
        PyErr_SetString(PyExc_TypeError, "cumulate: there is no function yet; call connect_cumulate(...) first");
        return NULL;
    }
    return PyObject_CallOneArg(cumulator, x);
}

static PyObject *connect_cumulate(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function;
    Py_ssize_t block;
    if (!PyArg_ParseTuple(args, "On", &function, &block)) return NULL;
    if (block < 2) {
        PyErr_Format(PyExc_ValueError, "connect_cumulate: expected blocks of 2 elements or more, got %zd", block);
        return NULL;
    }
    Py_XSETREF(cumulator, Py_NewRef(function));
    sum_block = block;
    Py_RETURN_NONE;
}
