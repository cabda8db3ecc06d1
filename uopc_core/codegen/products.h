/* Sums of products, of which no array is made: the helper functions of products of matrices that no library computes. The
   order of a sum is that of `reductions.h`, whose words stand for the same here, and one more does:

     TIMES(a, b)  the product of two elements          BYTES  of an element
     DEEP         elements of a sum that are added up at a time, in a product in tiles; RUNS, where y has more bytes than
     MUCH
     LANE         what adds up one accumulator of each column, where 8 or more are side by side
     FEW_LANES    what adds up all of columns that are short
     PRODUCTS_OF_FEW, PRODUCTS_OF_MANY  what adds products to the accumulators of one row */

#include "reductions.h"

/* What a compiler that reads this file alone takes the capitals for. */
#define TIMES(a, b) ((a) * (b))
#define BYTES 8
#define DEEP 512
#define RUNS 16
#define MUCH 1000000
#define LANE near_lane_T
#define FEW_LANES few_lanes_T
#define PRODUCTS_OF_FEW products_TxLANES
#define PRODUCTS_OF_MANY products_TxLANES

/* ------------------------------------------------------------------------------------------------------- definitions */

/* a vector that lies where its elements may */
typedef FLOAT __attribute__((vector_size(8 * BYTES), aligned(BYTES), may_alias)) vector_FLOAT;

/* acc[l] is the sum of the products of f with `count` elements of column l, `step` bytes from one to the next; it is
   `apart` bytes from one column to the next */
static void lane_T(T *restrict acc, const T *restrict f, const char *y, int64_t step, int64_t apart, int64_t count, int64_t m) {
    for (int64_t l = 0; l < m; l++) acc[l] = 0;
    for (int64_t t = 0; t < count; t++, y += step)
        for (int64_t l = 0; l < m; l++) acc[l] = TIMES(f[t], *(const T *)(y + l * apart)) + acc[l];
}

/* the same of columns side by side */
static void near_lane_T(T *restrict acc, const T *restrict f, const char *y, int64_t step, int64_t count, int64_t m) {
    for (int64_t l = 0; l < m; l++) acc[l] = 0;
    for (int64_t t = 0; t < count; t++, y += step) {
        const T *row = (const T *)y, a = f[t];
#pragma omp simd
        for (int64_t l = 0; l < m; l++) acc[l] = TIMES(a, row[l]) + acc[l];
    }
}

/* and of a vector of them or more. The last vector may begin before the one before it ends: what is
   computed twice is the same */
static void vector_lane_FLOAT(FLOAT *restrict acc, const FLOAT *restrict f, const char *y, int64_t step, int64_t count, int64_t m) {
    int64_t l = 0;
    for (; l + 32 <= m; l += 32) {
        vector_FLOAT a = {0}, b = {0}, c = {0}, d = {0};
        const char *row = y + l * BYTES;
        for (int64_t t = 0; t < count; t++, row += step) {
            const vector_FLOAT *v = (const vector_FLOAT *)row;
            const FLOAT g = f[t];
            a = g * v[0] + a, b = g * v[1] + b, c = g * v[2] + c, d = g * v[3] + d;
        }
        vector_FLOAT *out = (vector_FLOAT *)(acc + l);
        out[0] = a, out[1] = b, out[2] = c, out[3] = d;
    }
    for (; l < m; l += 8) {
        if (l > m - 8) l = m - 8;
        vector_FLOAT a = {0};
        const char *row = y + l * BYTES;
        for (int64_t t = 0; t < count; t++, row += step) a = f[t] * *(const vector_FLOAT *)row + a;
        *(vector_FLOAT *)(acc + l) = a;
    }
}

/* acc[l] is the sum of the products of f with column l, of n < SHORT elements, `step` bytes apart; columns side by side */
static void few_lanes_T(T *restrict acc, const T *restrict f, const char *y, int64_t step, int64_t n, int64_t m) {
    const int n_lanes = n <= IN_TURN ? 1 : FEW;
    T lanes[FEW][TILE], g[16];
    for (int k = 0; k < n_lanes; k++) {
        const int64_t count = (n - k + n_lanes - 1) / n_lanes;
        for (int64_t t = 0; t < count; t++) g[t] = f[k + t * n_lanes];
        near_lane_T(n_lanes == 1 ? acc : lanes[k], g, y + k * step, n_lanes * step, count, m);
    }
    for (int64_t l = 0; l < m && n_lanes > 1; l++) {
        T a[FEW];
        for (int k = 0; k < FEW; k++) a[k] = lanes[k][l];
        acc[l] = fold_OP_TxFEW(a);
    }
}

/* and of a vector of them or more, the accumulators in registers */
static void vector_few_lanes_FLOAT(
    FLOAT *restrict acc, const FLOAT *restrict f, const char *y, int64_t step, int64_t n, int64_t m) {
    for (int64_t l = 0; l < m; l += 8) {
        if (l > m - 8) l = m - 8;
        const char *row = y + l * BYTES;
        vector_FLOAT a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, g = {0}, h = {0}, i = {0};
        if (n <= IN_TURN)
            for (int64_t t = 0; t < n; t++, row += step) a = f[t] * *(const vector_FLOAT *)row + a;
        else {
            int64_t t = 0;
            for (; t + 8 <= n; t += 8, row += 8 * step) {
                a = f[t] * *(const vector_FLOAT *)row + a;
                b = f[t + 1] * *(const vector_FLOAT *)(row + step) + b;
                c = f[t + 2] * *(const vector_FLOAT *)(row + 2 * step) + c;
                d = f[t + 3] * *(const vector_FLOAT *)(row + 3 * step) + d;
                e = f[t + 4] * *(const vector_FLOAT *)(row + 4 * step) + e;
                g = f[t + 5] * *(const vector_FLOAT *)(row + 5 * step) + g;
                h = f[t + 6] * *(const vector_FLOAT *)(row + 6 * step) + h;
                i = f[t + 7] * *(const vector_FLOAT *)(row + 7 * step) + i;
            }
            if (t < n) a = f[t] * *(const vector_FLOAT *)row + a;
            if (t + 1 < n) b = f[t + 1] * *(const vector_FLOAT *)(row + step) + b;
            if (t + 2 < n) c = f[t + 2] * *(const vector_FLOAT *)(row + 2 * step) + c;
            if (t + 3 < n) d = f[t + 3] * *(const vector_FLOAT *)(row + 3 * step) + d;
            if (t + 4 < n) e = f[t + 4] * *(const vector_FLOAT *)(row + 4 * step) + e;
            if (t + 5 < n) g = f[t + 5] * *(const vector_FLOAT *)(row + 5 * step) + g;
            if (t + 6 < n) h = f[t + 6] * *(const vector_FLOAT *)(row + 6 * step) + h;
            a = ((i + d) + (g + b)) + ((h + c) + (e + a));
        }
        *(vector_FLOAT *)(acc + l) = a;
    }
}

/* the sums of the products of x with m columns, of n elements each */
static void product_columns_T(
    char *out, int64_t out_step, const char *x, int64_t x_step, const char *y, int64_t y_step, int64_t apart, int64_t n,
    int64_t m) {
    T acc[TILE], lanes[LEVELS][TILE], tree[32][TILE], f[SHORT];
    if (n < SHORT && apart == (int64_t)sizeof(T) && m >= 8) {
        for (int64_t k = 0; k < n; k++) f[k] = *(const T *)(x + k * x_step);
        FEW_LANES(acc, f, y, y_step, n, m);
        for (int64_t l = 0; l < m; l++) *(T *)(out + l * out_step) = acc[l];
        return;
    }
    const int levels = n <= IN_TURN ? 0 : n < SHORT ? FEW_LEVELS : LEVELS - 1, n_lanes = 1 << levels;
    int64_t blocks = 0;
    for (int64_t block = 0; block < n; block += 16 * n_lanes, blocks++) {
        const int64_t end = n - block < 16 * n_lanes ? n : block + 16 * n_lanes;
        for (int k = 0; k < n_lanes; k++) {
            const int64_t first = block + (ORDER[k] >> (LEVELS - 1 - levels));
            const int64_t count = first < end ? (end - first + n_lanes - 1) / n_lanes : 0;
            for (int64_t t = 0; t < count; t++) f[t] = *(const T *)(x + (first + t * n_lanes) * x_step);
            const char *const row = y + first * y_step;
            if (apart == (int64_t)sizeof(T) && m >= 8) LANE(acc, f, row, n_lanes * y_step, count, m);
            else lane_T(acc, f, row, n_lanes * y_step, apart, count, m);
            if (levels) push_row_OP_TxTILE(lanes, k, acc, m);
        }
        if (levels) push_row_OP_TxTILE(tree, blocks, lanes[levels], m);
    }
    if (levels) total_row_OP_TxTILE(tree, blocks, acc, m);
    for (int64_t l = 0; l < m; l++) *(T *)(out + l * out_step) = acc[l];
}

/* LANES accumulators take the products of m pairs in turn */
static void products_TxLANES(T *restrict acc, const T *restrict x, const T *restrict y, int64_t m) {
    for (; m >= LANES; m -= LANES, x += LANES, y += LANES)
#pragma omp simd
        for (int k = 0; k < LANES; k++) acc[k] = TIMES(x[k], y[k]) + acc[k];
    for (int64_t k = 0; k < m; k++) { acc[k] = TIMES(x[k], y[k]) + acc[k]; SCALAR; }
}

/* the same of 8, which are one vector */
static inline void vector_products_FLOATx8(FLOAT *restrict acc, const FLOAT *x, const FLOAT *y, int64_t m) {
    vector_FLOAT *const out = (vector_FLOAT *)acc;
    vector_FLOAT a = *out;
    for (; m >= 8; m -= 8, x += 8, y += 8) a = *(const vector_FLOAT *)x * *(const vector_FLOAT *)y + a;
    *out = a;
    for (int64_t k = 0; k < m; k++) { acc[k] = x[k] * y[k] + acc[k]; SCALAR; }
}

/* of 32, which are four */
static void vector_products_FLOATx32(FLOAT *restrict acc, const FLOAT *x, const FLOAT *y, int64_t m) {
    vector_FLOAT *const out = (vector_FLOAT *)acc;
    vector_FLOAT a = out[0], b = out[1], c = out[2], d = out[3];
    for (; m >= 32; m -= 32, x += 32, y += 32) {
        const vector_FLOAT *v = (const vector_FLOAT *)x, *w = (const vector_FLOAT *)y;
        a = v[0] * w[0] + a, b = v[1] * w[1] + b, c = v[2] * w[2] + c, d = v[3] * w[3] + d;
    }
    const vector_FLOAT *v = (const vector_FLOAT *)x, *w = (const vector_FLOAT *)y;
    if (m >= 8) a = v[0] * w[0] + a;
    if (m >= 16) b = v[1] * w[1] + b;
    if (m >= 24) c = v[2] * w[2] + c;
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
    for (int64_t k = m & ~7; k < m; k++) { acc[k] = x[k] * y[k] + acc[k]; SCALAR; }
}

/* the sum of the products of two rows of n elements */
static T product_row_T(const char *x, int64_t x_step, const char *y, int64_t y_step, int64_t n) {
    T acc[MANY], tree[48], copy[2][BLOCK];
    int64_t blocks = 0;
    for (int k = 0; k < MANY; k++) acc[k] = 0;
    for (int64_t i = 0; i < n; i += BLOCK, x += BLOCK * x_step, y += BLOCK * y_step) {
        const int64_t m = n - i < BLOCK ? n - i : BLOCK;
        const T *a = (const T *)x, *b = (const T *)y;
        if (x_step != (int64_t)sizeof(T)) {
            for (int64_t k = 0; k < m; k++) copy[0][k] = *(const T *)(x + k * x_step);
            a = copy[0];
        }
        if (y_step != (int64_t)sizeof(T)) {
            for (int64_t k = 0; k < m; k++) copy[1][k] = *(const T *)(y + k * y_step);
            b = copy[1];
        }
        if (n <= IN_TURN) {
            for (int64_t k = 0; k < n; k++) { acc[0] = TIMES(a[k], b[k]) + acc[0]; SCALAR; }
            return acc[0];
        }
        if (n < SHORT) {
            PRODUCTS_OF_FEW(acc, a, b, n);
            return fold_OP_TxFEW(acc);
        }
        PRODUCTS_OF_MANY(acc, a, b, m);
        flush_OP_TxMANY(tree, blocks++, acc);
    }
    return n ? total_OP_T(tree, blocks) : acc[0];
}

/* Strides in bytes: rows and columns of the result, of x and of y. What lies side by side is computed side by side. */

static void product_T(
    char *out, int64_t out_row, int64_t out_column, const char *x, int64_t x_row, int64_t x_column, const char *y,
    int64_t y_row, int64_t y_column, int64_t rows, int64_t n, int64_t columns) {
    const int64_t x_down = x_row < 0 ? -x_row : x_row, x_across = x_column < 0 ? -x_column : x_column;
    const int64_t y_down = y_row < 0 ? -y_row : y_row, y_across = y_column < 0 ? -y_column : y_column;
    if (n > 1 && columns > 1 && y_across < y_down)
        for (int64_t j = 0; j < columns; j += TILE)
            for (int64_t i = 0; i < rows; i++)
                product_columns_T(
                    out + i * out_row + j * out_column, out_column, x + i * x_row, x_column, y + j * y_column, y_row, y_column,
                    n, columns - j < TILE ? columns - j : TILE);
    else if (n > 1 && rows > 1 && x_down < x_across)
        for (int64_t i = 0; i < rows; i += TILE)
            for (int64_t j = 0; j < columns; j++)
                product_columns_T(
                    out + i * out_row + j * out_column, out_row, y + j * y_column, y_row, x + i * x_row, x_column, x_row, n,
                    rows - i < TILE ? rows - i : TILE);
    else
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                *(T *)(out + i * out_row + j * out_column) =
                    product_row_T(x + i * x_row, x_column, y + j * y_column, y_row, n);
}

/* ------------------------------------------------------------------------------------ products of matrices in tiles */

/* Small matrices, of which a library computes no more than a part of the time. Each element is summed in order, with one
   rounding a step where the machine has that at the speed of a product: so its bits depend neither on the tile it is in
   nor on the width of a vector. */

#if defined __AVX512VL__
typedef FLOAT __attribute__((vector_size(64), aligned(BYTES), may_alias)) wide_FLOAT;
#elif defined __AVX__
typedef FLOAT __attribute__((vector_size(32), aligned(BYTES), may_alias)) wide_FLOAT;
#else
typedef FLOAT __attribute__((vector_size(16), aligned(BYTES), may_alias)) wide_FLOAT;
#endif

/* how many rows of a tile have their sums in registers */
#if defined __AVX512VL__ || defined __aarch64__
#define TALL 8
#else
#define TALL 4
#endif

/* a tile, of `TALL` rows and two vectors of columns; what is in `out` is added to, but for `first` */
static __attribute__((noinline, optimize("fp-contract=fast"))) void tile_FLOAT(
    char *out, int64_t out_row, const char *x, int64_t x_row, int64_t x_column, const char *y, int64_t y_row, int64_t n,
    int first) {
#if defined __clang__
#pragma STDC FP_CONTRACT ON
#endif
    wide_FLOAT a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0}, b0 = {0}, b1 = {0}, b2 = {0}, b3 = {0};
#if TALL == 8
    wide_FLOAT a4 = {0}, a5 = {0}, a6 = {0}, a7 = {0}, b4 = {0}, b5 = {0}, b6 = {0}, b7 = {0};
#endif
    wide_FLOAT *o;
    if (!first) {
        o = (wide_FLOAT *)(out + 0 * out_row), a0 = o[0], b0 = o[1];
        o = (wide_FLOAT *)(out + 1 * out_row), a1 = o[0], b1 = o[1];
        o = (wide_FLOAT *)(out + 2 * out_row), a2 = o[0], b2 = o[1];
        o = (wide_FLOAT *)(out + 3 * out_row), a3 = o[0], b3 = o[1];
#if TALL == 8
        o = (wide_FLOAT *)(out + 4 * out_row), a4 = o[0], b4 = o[1];
        o = (wide_FLOAT *)(out + 5 * out_row), a5 = o[0], b5 = o[1];
        o = (wide_FLOAT *)(out + 6 * out_row), a6 = o[0], b6 = o[1];
        o = (wide_FLOAT *)(out + 7 * out_row), a7 = o[0], b7 = o[1];
#endif
    }
    for (int64_t t = 0; t < n; t++, x += x_column, y += y_row) {
        const wide_FLOAT v = *(const wide_FLOAT *)y, w = *(const wide_FLOAT *)(y + sizeof(wide_FLOAT));
        FLOAT f;
        f = *(const FLOAT *)(x + 0 * x_row), a0 = f * v + a0, b0 = f * w + b0;
        f = *(const FLOAT *)(x + 1 * x_row), a1 = f * v + a1, b1 = f * w + b1;
        f = *(const FLOAT *)(x + 2 * x_row), a2 = f * v + a2, b2 = f * w + b2;
        f = *(const FLOAT *)(x + 3 * x_row), a3 = f * v + a3, b3 = f * w + b3;
#if TALL == 8
        f = *(const FLOAT *)(x + 4 * x_row), a4 = f * v + a4, b4 = f * w + b4;
        f = *(const FLOAT *)(x + 5 * x_row), a5 = f * v + a5, b5 = f * w + b5;
        f = *(const FLOAT *)(x + 6 * x_row), a6 = f * v + a6, b6 = f * w + b6;
        f = *(const FLOAT *)(x + 7 * x_row), a7 = f * v + a7, b7 = f * w + b7;
#endif
    }
    o = (wide_FLOAT *)(out + 0 * out_row), o[0] = a0, o[1] = b0;
    o = (wide_FLOAT *)(out + 1 * out_row), o[0] = a1, o[1] = b1;
    o = (wide_FLOAT *)(out + 2 * out_row), o[0] = a2, o[1] = b2;
    o = (wide_FLOAT *)(out + 3 * out_row), o[0] = a3, o[1] = b3;
#if TALL == 8
    o = (wide_FLOAT *)(out + 4 * out_row), o[0] = a4, o[1] = b4;
    o = (wide_FLOAT *)(out + 5 * out_row), o[0] = a5, o[1] = b5;
    o = (wide_FLOAT *)(out + 6 * out_row), o[0] = a6, o[1] = b6;
    o = (wide_FLOAT *)(out + 7 * out_row), o[0] = a7, o[1] = b7;
#endif
}

/* the same of one vector of columns */
static __attribute__((noinline, optimize("fp-contract=fast"))) void slim_tile_FLOAT(
    char *out, int64_t out_row, const char *x, int64_t x_row, int64_t x_column, const char *y, int64_t y_row, int64_t n,
    int first) {
#if defined __clang__
#pragma STDC FP_CONTRACT ON
#endif
    wide_FLOAT a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0};
#if TALL == 8
    wide_FLOAT a4 = {0}, a5 = {0}, a6 = {0}, a7 = {0};
#endif
    if (!first) {
        a0 = *(const wide_FLOAT *)(out + 0 * out_row);
        a1 = *(const wide_FLOAT *)(out + 1 * out_row);
        a2 = *(const wide_FLOAT *)(out + 2 * out_row);
        a3 = *(const wide_FLOAT *)(out + 3 * out_row);
#if TALL == 8
        a4 = *(const wide_FLOAT *)(out + 4 * out_row);
        a5 = *(const wide_FLOAT *)(out + 5 * out_row);
        a6 = *(const wide_FLOAT *)(out + 6 * out_row);
        a7 = *(const wide_FLOAT *)(out + 7 * out_row);
#endif
    }
    for (int64_t t = 0; t < n; t++, x += x_column, y += y_row) {
        const wide_FLOAT v = *(const wide_FLOAT *)y;
        a0 = *(const FLOAT *)(x + 0 * x_row) * v + a0;
        a1 = *(const FLOAT *)(x + 1 * x_row) * v + a1;
        a2 = *(const FLOAT *)(x + 2 * x_row) * v + a2;
        a3 = *(const FLOAT *)(x + 3 * x_row) * v + a3;
#if TALL == 8
        a4 = *(const FLOAT *)(x + 4 * x_row) * v + a4;
        a5 = *(const FLOAT *)(x + 5 * x_row) * v + a5;
        a6 = *(const FLOAT *)(x + 6 * x_row) * v + a6;
        a7 = *(const FLOAT *)(x + 7 * x_row) * v + a7;
#endif
    }
    *(wide_FLOAT *)(out + 0 * out_row) = a0;
    *(wide_FLOAT *)(out + 1 * out_row) = a1;
    *(wide_FLOAT *)(out + 2 * out_row) = a2;
    *(wide_FLOAT *)(out + 3 * out_row) = a3;
#if TALL == 8
    *(wide_FLOAT *)(out + 4 * out_row) = a4;
    *(wide_FLOAT *)(out + 5 * out_row) = a5;
    *(wide_FLOAT *)(out + 6 * out_row) = a6;
    *(wide_FLOAT *)(out + 7 * out_row) = a7;
#endif
}

/* four elements that lie where they may */
typedef FLOAT __attribute__((vector_size(4 * BYTES), aligned(BYTES), may_alias)) quad_FLOAT;

/* n rows of `wide` columns of y, side by side: four by four where columns lie in order */
static void panel_FLOAT(FLOAT *panel, int64_t wide, const char *y, int64_t y_row, int64_t y_column, int64_t n) {
    const int64_t quads = y_row == BYTES ? n & ~3 : 0;
    for (int64_t l = 0; l < wide; l += 4) {
        const char *source = y + l * y_column;
        for (int64_t t = 0; t < quads; t += 4, source += 4 * BYTES) {
            const quad_FLOAT a = *(const quad_FLOAT *)source, b = *(const quad_FLOAT *)(source + y_column);
            const char *const third = source + 2 * y_column;
            const quad_FLOAT c = *(const quad_FLOAT *)third, d = *(const quad_FLOAT *)(third + y_column);
            const quad_FLOAT e = {a[0], b[0], a[1], b[1]}, f = {c[0], d[0], c[1], d[1]};
            const quad_FLOAT g = {a[2], b[2], a[3], b[3]}, h = {c[2], d[2], c[3], d[3]};
            FLOAT *const to = panel + t * wide + l;
            *(quad_FLOAT *)to = (quad_FLOAT){e[0], e[1], f[0], f[1]};
            *(quad_FLOAT *)(to + wide) = (quad_FLOAT){e[2], e[3], f[2], f[3]};
            *(quad_FLOAT *)(to + 2 * wide) = (quad_FLOAT){g[0], g[1], h[0], h[1]};
            *(quad_FLOAT *)(to + 3 * wide) = (quad_FLOAT){g[2], g[3], h[2], h[3]};
        }
    }
    for (int64_t l = 0; l < wide; l++)
        for (int64_t t = quads; t < n; t++) panel[t * wide + l] = *(const FLOAT *)(y + t * y_row + l * y_column);
}

/* Whole tiles of m rows and some columns, of `step` elements each: `DEEP` elements of their sums at a time, or `RUNS`, of
   as many rows of y, where it comes from memory. Columns of y that are not side by side are copied. */
static void tiles_FLOAT(
    char *out, int64_t out_row, const char *x, int64_t x_row, int64_t x_column, const char *y, int64_t y_row,
    int64_t y_column, int64_t m, int64_t n, int64_t columns, int64_t step) {
    FLOAT panel[DEEP * 2 * sizeof(wide_FLOAT) / BYTES] __attribute__((aligned(64)));
    const int64_t most = y_column == BYTES && n * columns * BYTES > MUCH ? RUNS : DEEP;
    for (int64_t t = 0; t < n; t += most) {
        const int64_t deep = n - t < most ? n - t : most;
        for (int64_t j = 0; j < columns; j += step) {
            const char *source = y + t * y_row + j * y_column;
            if (y_column != BYTES) panel_FLOAT(panel, step, source, y_row, y_column, deep), source = (const char *)panel;
            const int64_t down = y_column != BYTES ? step * BYTES : y_row;
            for (int64_t i = 0; i < m; i += TALL) {
                char *const target = out + i * out_row + j * BYTES;
                const char *const row = x + i * x_row + t * x_column;
                if (step * BYTES == sizeof(wide_FLOAT))
                    slim_tile_FLOAT(target, out_row, row, x_row, x_column, source, down, deep, t == 0);
                else tile_FLOAT(target, out_row, row, x_row, x_column, source, down, deep, t == 0);
            }
        }
    }
}

/* The product of (m, n) and (n, columns): 8 rows and 128 bytes of columns or more; rows of `out` are in order. What is left
   beside whole tiles is in tiles that overlap them, and is computed again, with the same result. */
static void tiled_product_FLOAT(
    char *out, int64_t out_row, const char *x, int64_t x_row, int64_t x_column, const char *y, int64_t y_row,
    int64_t y_column, int64_t m, int64_t n, int64_t columns) {
    enum { slim = sizeof(wide_FLOAT) / BYTES, wide = 2 * slim };
    const int64_t whole = columns - columns % wide, left = columns - whole, step = left > slim ? wide : slim;
    const int64_t high = m - m % TALL, low = m - TALL, last = columns - step;
    tiles_FLOAT(out, out_row, x, x_row, x_column, y, y_row, y_column, high, n, whole, wide);
    if (left)
        tiles_FLOAT(
            out + last * BYTES, out_row, x, x_row, x_column, y + last * y_column, y_row, y_column, high, n, step, step);
    if (high == m) return;
    out += low * out_row, x += low * x_row;
    tiles_FLOAT(out, out_row, x, x_row, x_column, y, y_row, y_column, TALL, n, whole, wide);
    if (left)
        tiles_FLOAT(
            out + last * BYTES, out_row, x, x_row, x_column, y + last * y_column, y_row, y_column, TALL, n, step, step);
}
