/* The helper functions of reductions, see `kernels.h`; what order they keep is told in `c_reduce.py`. More words stand for

     OP(a, b)  two elements combined             LANES      accumulators that take elements in turn
     NOUN      what that gives, in words         FEW, MANY  so many for few elements, and for many
     FIRST     what changes nothing, 0 of a sum  BLOCK      elements of a block: 16 for each accumulator
     BETTER    > of a maximum, < of a minimum
     UNORDERED(a, b)  whether one of them is nan
     TILE, COLUMNS  rows or columns that are reduced side by side
     SIDE_BY_SIDE   1 where accumulators may take what changes nothing, else 0 */

#include "kernels.h"

/* What a compiler that reads this file alone takes the capitals for. */
#define OP(a, b) ((a) + (b))
#define FIRST 0
#define BETTER == /* which complex numbers have, too */
#define UNORDERED(a, b) (((a) != (a)) | ((b) != (b))) /* of floating-point numbers the compiler has one operation */
#define first_zero_TxMANY first_zero_TxLANES
#define LANES 8
#define FEW 8
#define MANY 32
#define BLOCK 128
#define SHORT 128
#define IN_TURN 16
#define SUM_BLOCK 64
#define TILE 256
#define LEVELS 6
#define COLUMNS 8
#define PER_LINE 8
#define AHEAD 16
#define FEW_LEVELS 3
#define SIDE_BY_SIDE 1
#define fold_OP_TxLANES fold_OP_Tx8
#define fold_OP_TxFEW fold_OP_Tx8
#define fold_OP_TxMANY fold_OP_Tx32
#define laneLANES lane8
#define OP_TxFEW OP_TxLANES
#define OP_TxMANY OP_TxLANES
#define flush_OP_TxMANY flush_OP_TxLANES
#define ORDER lane32

/* ------------------------------------------------------------------------------------------------------- definitions */

static inline void OP_Tx1(T *restrict acc, const T *restrict x, int64_t m) {
    for (int k = 0; m > 0; m--, x++) acc[k] = OP(x[k], acc[k]);
}

/* LANES accumulators take the NOUN of m elements in turn */
static inline void OP_TxLANES(T *restrict acc, const T *restrict x, int64_t m) {
    for (; m >= LANES; m -= LANES, x += LANES)
#pragma omp simd
        for (int k = 0; k < LANES; k++) acc[k] = OP(x[k], acc[k]);
    for (int64_t k = 0; k < m; k++) { acc[k] = OP(x[k], acc[k]); SCALAR; }
}

static inline T fold_OP_Tx1(T *restrict acc) { return acc[0]; }

/* the accumulators, combined in pairs */
static inline T fold_OP_Tx8(T *restrict acc) {
    const T a = OP(acc[4], acc[0]), b = OP(acc[5], acc[1]);
    const T c = OP(acc[6], acc[2]), d = OP(acc[7], acc[3]);
    const T e = OP(c, a), f = OP(d, b);
    return OP(f, e);
}

/* the accumulators, combined in pairs */
static inline T fold_OP_Tx32(T *restrict acc) {
#pragma omp simd
    for (int k = 0; k < 16; k++) acc[k] = OP(acc[k + 16], acc[k]);
#pragma omp simd
    for (int k = 0; k < 8; k++) acc[k] = OP(acc[k + 8], acc[k]);
    const T a = OP(acc[4], acc[0]), b = OP(acc[5], acc[1]);
    const T c = OP(acc[6], acc[2]), d = OP(acc[7], acc[3]);
    const T e = OP(c, a), f = OP(d, b);
    return OP(f, e);
}

/* the accumulators begin with a number that a compiler does not see: of zeros it makes stores that are narrower than the
   loads after them, which then wait for the cache */
static inline void clear_OP_TxLANES(T *restrict acc) {
    T first = FIRST;
    __asm__("" : "+m"(first));
#pragma omp simd
    for (int k = 0; k < LANES; k++) acc[k] = first;
}

/* blocks are combined as a binary counter carries: tree[k] is the result of 2^k of them */
static void flush_OP_TxLANES(T *restrict tree, int64_t blocks, T *restrict acc) {
    T x = fold_OP_TxLANES(acc);
    int level = 0;
    for (; blocks & 1; blocks >>= 1, level++) x = OP(x, tree[level]);
    tree[level] = x;
    clear_OP_TxLANES(acc);
}

static T total_OP_T(const T *restrict tree, int64_t blocks) {
    int level = __builtin_ctzll((uint64_t)blocks);
    T x = tree[level++];
    for (blocks >>= level; blocks; blocks >>= 1, level++)
        if (blocks & 1) x = OP(x, tree[level]);
    return x;
}

/* parts of one power of two of blocks, of which the last may have less: as the blocks themselves would be combined */
static T united_OP_T(const T *restrict parts, int64_t n) {
    T tree[48];
    for (int64_t i = 0; i < n; i++) {
        T x = parts[i];
        int level = 0;
        for (int64_t k = i; k & 1; k >>= 1, level++) x = OP(x, tree[level]);
        tree[level] = x;
    }
    return total_OP_T(tree, n);
}

/* The order in which accumulators are combined as a binary counter carries: their numbers, bits reversed. */

static const unsigned char lane1[1] = {0};

static const unsigned char lane8[8] = {0, 4, 2, 6, 1, 5, 3, 7};

static const unsigned char lane32[32] = {
    0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
    1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31
};

/* Of extremes the order is seen only where they are zeros of both signs: so any order will do, and of zeros the first is
   looked for that the order meets. */

static __attribute__((noinline)) T first_zero_TxLANES(const T *restrict x, int64_t n) {
    for (int64_t i = 0; i < n; i += BLOCK)
        for (int k = 0; k < LANES; k++)
            for (int64_t j = i + laneLANES[k]; j < i + BLOCK && j < n; j += LANES)
                if (x[j] == 0) return x[j];
    return 0;
}

/* Not part of its caller, whose loops would suffer. */

static __attribute__((noinline)) T extreme_OP_TxLANES(T *restrict acc, const T *restrict x, int64_t n) {
    const T found = fold_OP_TxLANES(acc);
    return found == 0 ? first_zero_TxLANES(x, n) : found;
}

static __attribute__((noinline)) T ordered_OP_T(const T *restrict x, int64_t n) {
    T acc[MANY];
    for (int k = 0; k < MANY; k++) acc[k] = FIRST;
    for (int64_t i = 0; i < n; i += BLOCK) OP_TxMANY(acc, x + i, n - i < BLOCK ? n - i : BLOCK);
    const T found = fold_OP_TxMANY(acc);
    return found == 0 ? first_zero_TxMANY(x, n) : found;
}

#define BEST_OP(a, b) ((a) BETTER (b) ? (a) : (b))

/* The extreme of a row of memory: four vectors at a time, the last four once more where they do not fill up; a row that
   is shorter than these goes in order, as the last part of a long one may. A nan is only seen, and then looked for as
   it is done with zeros. */

static __attribute__((noinline)) T extreme_OP_T(const T *restrict x, int64_t n) {
    enum { wide = 64 / sizeof(T), half = wide / 2 };
    if (n < 4 * wide) return ordered_OP_T(x, n);
    T a[wide], b[wide], c[wide], d[wide], none[wide];
#pragma omp simd
    for (int k = 0; k < wide; k++) a[k] = b[k] = c[k] = d[k] = x[k], none[k] = 0;
    for (int64_t i = 0; i < n; i += 4 * wide) {
        const T *v = x + (i + 4 * wide <= n ? i : n - 4 * wide);
#pragma omp simd
        for (int k = 0; k < wide; k++) {
            const T p = v[k], q = v[k + wide], r = v[k + 2 * wide], s = v[k + 3 * wide];
            a[k] = BEST_OP(a[k], p), b[k] = BEST_OP(b[k], q), c[k] = BEST_OP(c[k], r), d[k] = BEST_OP(d[k], s);
            none[k] = UNORDERED(p, q) | UNORDERED(r, s) ? 1 : none[k];
        }
    }
#pragma omp simd
    for (int k = 0; k < wide; k++) {
        const T p = BEST_OP(a[k], b[k]), q = BEST_OP(c[k], d[k]);
        a[k] = BEST_OP(p, q);
    }
#pragma omp simd
    for (int k = 0; k < half; k++) a[k] = BEST_OP(a[k], a[k + half]), none[k] += none[k + half];
    T found = a[0], missing = none[0];
    for (int k = 1; k < half; k++) {
        found = BEST_OP(found, a[k]), missing += none[k];
        SCALAR;
    }
    return (found == 0) | (missing != 0) ? ordered_OP_T(x, n) : found;
}

/* k elements for accumulators from number `lane` on, the others take what changes nothing: a whole vector is written, since
   the next one that is read would wait for a part of it */
static inline void part_OP_TxLANES(T *restrict acc, const T *restrict x, int64_t lane, int64_t k) {
    if (SIDE_BY_SIDE)
#pragma omp simd
        for (int64_t j = 0; j < LANES; j++) {
            const T v = j >= lane && j < lane + k ? x[j - lane] : FIRST;
            acc[j] = OP(v, acc[j]);
        }
    else
        for (int64_t j = 0; j < k; j++) { acc[lane + j] = OP(x[j], acc[lane + j]); SCALAR; }
}

/* m more elements, of which the first is number `at` of its block */
static void append_OP_TxLANES(T *restrict tree, int64_t *blocks, T *restrict acc, int64_t *at, const T *restrict x, int64_t m) {
    while (m > 0) {
        int64_t k = BLOCK - *at;
        if (k > m) k = m;
        const int64_t lane = *at % LANES, before = lane ? (k < LANES - lane ? k : LANES - lane) : 0;
        *at += k, m -= k;
        if (before) part_OP_TxLANES(acc, x, lane, before);
        x += before, k -= before;
        const int64_t rest = k % LANES;
        OP_TxLANES(acc, x, k - rest);
        if (rest) part_OP_TxLANES(acc, x + k - rest, 0, rest);
        x += k;
        if (*at < BLOCK) return;
        flush_OP_TxLANES(tree, (*blocks)++, acc);
        *at = 0;
    }
}

/* What is done with columns is told in `c_columns.py`. */

static void rows_OP_TxLANES_COLUMNS(
    T (*restrict lane)[COLUMNS], const T *restrict x, int64_t apart, int64_t row, int64_t end, int64_t m) {
    for (; row < end; row++) {
        T *restrict a = lane[row % LANES];
        const T *restrict v = x + row * apart;
        for (int c = 0; c < COLUMNS; c += PER_LINE) __builtin_prefetch(v + AHEAD * apart + c);
        if (m == COLUMNS)
#pragma omp simd
            for (int c = 0; c < COLUMNS; c++) a[c] = OP(v[c], a[c]);
        else
            for (int64_t c = 0; c < m; c++) a[c] = OP(v[c], a[c]);
    }
}

/* accumulator r of a column takes rows r + LANES i; in the order of all it is number begin + r */
static void append_COLUMNS_columns_OP_TxLANES(
    T *restrict tree, int64_t *blocks, T *restrict acc, int64_t *at, const T *restrict x, int64_t apart, int64_t n,
    int64_t m) {
    T lane[LANES][COLUMNS], total[n / BLOCK + 1][COLUMNS], whole[LANES];
    int64_t begin[COLUMNS], head[COLUMNS], row = 0;
    int order[COLUMNS];
    for (int c = 0; c < m; c++) {
        begin[c] = (*at + c * n) % BLOCK, head[c] = (BLOCK - begin[c]) % BLOCK;
        int i = c;
        for (; i && head[order[i - 1]] > head[c]; i--) order[i] = order[i - 1];
        order[i] = c;
    }
    for (int r = 0; r < LANES; r++)
        for (int c = 0; c < COLUMNS; c++) lane[r][c] = FIRST;
    for (int64_t done = 0; done <= n; done += BLOCK)
        for (int i = 0; i < m; i++) {
            const int c = order[i];
            if (done + head[c] > n) break;
            rows_OP_TxLANES_COLUMNS(lane, x, apart, row, done + head[c], m);
            row = done + head[c];
            for (int r = 0; r < LANES; r++) {
                whole[(begin[c] + r) % LANES] = lane[r][c];
                lane[r][c] = FIRST;
            }
            if (done) total[done / BLOCK - 1][c] = fold_OP_TxLANES(whole);
        }
    rows_OP_TxLANES_COLUMNS(lane, x, apart, row, n, m);
    for (int c = 0; c < m; c++) {
        const int64_t h = head[c] < n ? head[c] : n;
        for (int64_t j = 0; j < h; j++) {
            T *const a = &acc[(*at + j) % LANES];
            *a = OP(x[j * apart + c], *a);
        }
        *at += h;
        if (*at == BLOCK) flush_OP_TxLANES(tree, (*blocks)++, acc), *at = 0;
        if (head[c] > n) continue;
        for (int64_t b = 0; b < (n - h) / BLOCK; b++) {
            T x = total[b][c];
            int level = 0;
            for (int64_t k = (*blocks)++; k & 1; k >>= 1, level++) x = OP(x, tree[level]);
            tree[level] = x;
        }
        *at = (n - h) % BLOCK;
        if (*at)
            for (int r = 0; r < LANES; r++) acc[(begin[c] + r) % LANES] = lane[r][c];
    }
}

/* the cumulative sum of blocks is one in blocks of SUM_BLOCK itself */
static __attribute__((noinline)) T running_T(T *restrict inside, T *restrict before, int64_t *restrict n, T x) {
    T out = 0;
    for (int level = 0;; level++) {
        inside[level] = n[level] ? inside[level] + x : x;
        const T sum = before[level] + inside[level];
        if (level) before[level - 1] = sum;
        else out = sum;
        if (++n[level] < SUM_BLOCK) return out;
        n[level] = 0, x = inside[level];
    }
}

/* the first of 64 bytes in which one bit is set, of each the bit `at`, else 64 */
static inline int first_with_bit(const uint64_t *words, int at) {
    uint64_t bits = 0;
    for (int k = 0; k < 8; k++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        const uint64_t word = words[k];
#else
        const uint64_t word = __builtin_bswap64(words[k]);
#endif
        bits |= ((word >> at & 0x0101010101010101ULL) * 0x0102040810204080ULL >> 56) << 8 * k;
    }
    return bits ? __builtin_ctzll(bits) : 64;
}

/* the first of 64 truth values that holds, else 64 */
static inline int first_of_64(const unsigned char *holds) {
    uint64_t w[8];
    __builtin_memcpy(w, holds, 64);
    return first_with_bit(w, 0);
}

/* the same of 256: bit k of a byte is that of the truth value 64 k places on */
static inline int first_of_256(const unsigned char *holds) {
    uint64_t w[8];
    __builtin_memcpy(w, holds, 64);
    uint64_t any = (w[0] | w[1]) | (w[2] | w[3]) | ((w[4] | w[5]) | (w[6] | w[7]));
    if (!any) return 256;
    any |= any >> 32, any |= any >> 16, any |= any >> 8;
    const int at = __builtin_ctzll(any);
    return 64 * at + first_with_bit(w, at);
}

/* -------------------------------------------------------------------------------------- reductions of rows side by side */

/* rows are combined as a binary counter carries: tree[k] is the result of 2^k of them */
static void push_row_OP_TxTILE(T (*restrict tree)[TILE], int64_t rows, T *restrict x, int64_t m) {
    int level = 0;
    for (; rows & 1; rows >>= 1, level++)
#pragma omp simd
        for (int64_t l = 0; l < m; l++) x[l] = OP(x[l], tree[level][l]);
    __builtin_memcpy(tree[level], x, m * sizeof(T));
}

static void total_row_OP_TxTILE(T (*restrict tree)[TILE], int64_t rows, T *restrict x, int64_t m) {
    int level = __builtin_ctzll((uint64_t)rows);
    __builtin_memcpy(x, tree[level++], m * sizeof(T));
    for (rows >>= level; rows; rows >>= 1, level++)
        if (rows & 1)
#pragma omp simd
            for (int64_t l = 0; l < m; l++) x[l] = OP(x[l], tree[level][l]);
}

/* ------------------------------------------------------------------------- a reduction by itself, see `c_reduce_loop.py` */

static T row_OP_T(const char *x, int64_t n, int64_t step) {
    T acc[MANY], tree[48], copy[BLOCK];
    int64_t blocks = 0;
    for (int k = 0; k < MANY; k++) acc[k] = FIRST;
    for (int64_t i = 0; i < n; i += BLOCK, x += BLOCK * step) {
        const int64_t m = n - i < BLOCK ? n - i : BLOCK;
        const T *row = (const T *)x;
        if (step != (int64_t)sizeof(T)) {
            for (int64_t k = 0; k < m; k++) copy[k] = *(const T *)(x + k * step);
            row = copy;
        }
        if (n <= IN_TURN) {
            for (int64_t k = 0; k < n; k++) { acc[0] = OP(row[k], acc[0]); SCALAR; }
            return acc[0];
        }
        if (n < SHORT) {
            OP_TxFEW(acc, row, n);
            return fold_OP_TxFEW(acc);
        }
        OP_TxMANY(acc, row, m);
        flush_OP_TxMANY(tree, blocks++, acc);
    }
    return n ? total_OP_T(tree, blocks) : acc[0];
}

/* m rows, `apart` bytes from one to the next: one accumulator of each after the other */
static void rows_OP_T(char *out, int64_t out_step, const char *x, int64_t apart, int64_t n, int64_t step, int64_t m) {
    T acc[TILE], lanes[LEVELS][TILE], tree[32][TILE];
    const int levels = n < SHORT ? FEW_LEVELS : LEVELS - 1, n_lanes = 1 << levels;
    int64_t blocks = 0;
    for (int64_t block = 0; block < n; block += 16 * n_lanes, blocks++) {
        const int64_t end = n - block < 16 * n_lanes ? n : block + 16 * n_lanes;
        for (int k = 0; k < n_lanes; k++) {
            for (int64_t l = 0; l < m; l++) acc[l] = FIRST;
            for (int64_t r = block + (ORDER[k] >> (LEVELS - 1 - levels)); r < end; r += n_lanes) {
                const char *row = x + r * step;
                if (apart == (int64_t)sizeof(T))
#pragma omp simd
                    for (int64_t l = 0; l < m; l++) acc[l] = OP(((const T *)row)[l], acc[l]);
                else
                    for (int64_t l = 0; l < m; l++) acc[l] = OP(*(const T *)(row + l * apart), acc[l]);
            }
            push_row_OP_TxTILE(lanes, k, acc, m);
        }
        push_row_OP_TxTILE(tree, blocks, lanes[levels], m);
    }
    total_row_OP_TxTILE(tree, blocks, acc, m);
    for (int64_t l = 0; l < m; l++) *(T *)(out + l * out_step) = acc[l];
}

static T first_zero_T(const char *x, int64_t n, int64_t step) {
    const int levels = n <= IN_TURN ? 0 : n < SHORT ? FEW_LEVELS : LEVELS - 1;
    const int64_t block = 16 << levels;
    for (int64_t i = 0; i < n; i += block)
        for (int k = 0; k < 1 << levels; k++)
            for (int64_t j = i + (ORDER[k] >> (LEVELS - 1 - levels)); j < n && j < i + block; j += 1 << levels)
                if (*(const T *)(x + j * step) == 0) return *(const T *)(x + j * step);
    return 0;
}

static T extreme_row_OP_T(const char *x, int64_t n, int64_t step) {
    T acc[MANY], copy[BLOCK];
    if ((step == (int64_t)sizeof(T)) & (n >= SHORT)) return extreme_OP_T((const T *)x, n);
    for (int k = 0; k < MANY; k++) acc[k] = FIRST;
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t m = n - i < BLOCK ? n - i : BLOCK;
        const T *row = (const T *)(x + i * step);
        if (step != (int64_t)sizeof(T)) {
            for (int64_t k = 0; k < m; k++) copy[k] = *(const T *)(x + (i + k) * step);
            row = copy;
        }
        OP_TxMANY(acc, row, m);
    }
    const T found = fold_OP_TxMANY(acc);
    return found == 0 ? first_zero_T(x, n, step) : found;
}

static void extreme_rows_OP_T(char *out, int64_t out_step, const char *x, int64_t apart, int64_t n, int64_t step, int64_t m) {
    T acc[TILE];
    for (int64_t l = 0; l < m; l++) acc[l] = FIRST;
    for (int64_t r = 0; r < n; r++) {
        const char *row = x + r * step;
        if (apart == (int64_t)sizeof(T))
#pragma omp simd
            for (int64_t l = 0; l < m; l++) acc[l] = OP(((const T *)row)[l], acc[l]);
        else
            for (int64_t l = 0; l < m; l++) acc[l] = OP(*(const T *)(row + l * apart), acc[l]);
    }
    for (int64_t l = 0; l < m; l++) *(T *)(out + l * out_step) = acc[l] == 0 ? first_zero_T(x + l * apart, n, step) : acc[l];
}
