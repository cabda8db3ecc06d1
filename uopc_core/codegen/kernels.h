/* The helper functions of kernels, as C that a compiler reads by itself.

   A kernel gets copies of the functions that it calls and of what these call, nothing else: what a compiler has to read
   is what a first call waits for. `helpers.py` makes them. A definition ends at a blank line, and what stands in capitals
   is replaced: a word by the C of what it stands for, a part of a name by its short name, so that `floordiv_INT` becomes
   `floordiv_i32` on int32_t.

     T, R      any type                             F  what the names of C's functions of FLOAT or PART end in
     INT       a signed integer                     W  the same of WIDE
     UINT      an unsigned integer                  OP(a, b)  two elements of a reduction combined
     FLOAT     float or double                      NOUN      what that gives, in words
     COMPLEX   complex64 or complex128              FIRST     what changes nothing: 0 of a sum
     PART      the type of its parts                LANES     accumulators that take elements in turn
     WIDE      a real type with more digits         NAME, NAME2  a mathematical function of one or two operands
     VECTOR, SIMD  what has the compiler use the vectors of a function or of a loop
     CNAME, CWIDE  a function of complex numbers, of PARTs and of WIDEs
     QUOTIENT  what is divided: COMPLEX, or complex numbers of WIDEs

   Each gives NumPy's bits, the corners included: division by zero, INT_MIN // -1, shifts past the width, conversions out
   of range; none has undefined behaviour where -fwrapv is in force. Functions of libm have no definition here. */

#include <stdint.h>

/* What a compiler that reads this file alone takes the capitals for. */
#ifndef T
#define T double
#endif
#define R T
#ifndef INT
#define INT int64_t
#define UINT uint64_t
#endif
#ifndef FLOAT
#define FLOAT double
#define COMPLEX double _Complex
#define PART double
#define WIDE long double
#endif
#define QUOTIENT COMPLEX
#define VECTOR
#define SIMD _Pragma("omp simd")
#define OP(a, b) ((a) + (b))
#define FIRST 0
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
#define fold_OP_TxLANES fold_OP_Tx8
#define fold_OP_TxFEW fold_OP_Tx8
#define fold_OP_TxMANY fold_OP_Tx32
#define laneLANES lane8
#define OP_TxFEW OP_TxLANES
#define OP_TxMANY OP_TxLANES
#define flush_OP_TxMANY flush_OP_TxLANES
#define ORDER lane32
#define __builtin_copysignF __builtin_copysign
#define __builtin_floorF __builtin_floor
#define __builtin_fabsW __builtin_fabsl
#define __builtin_sinW __builtin_sinl
#define __builtin_cosW __builtin_cosl
#define __builtin_expW __builtin_expl
#define __builtin_expm1W __builtin_expm1l
#pragma GCC diagnostic ignored "-Wunused-function" /* a kernel calls few of them */
#pragma GCC diagnostic ignored "-Wunused-const-variable"

/* ------------------------------------------------------------------------------------------------------- definitions */

/* gcc 12 and later make one rounding of a product and the sum or difference it goes to, -ffp-contract=off or not, where
   neighbouring lanes alternate between the two, as the parts of complex numbers do. */

#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 12
#define ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define ROUNDED(x) (x)
#endif

/* Loops of few iterations are not worth the time that the compiler takes to vectorise them. */

#define SCALAR __asm__ volatile("") /* keeps the few iterations of a rest from being vectorised */

/* ----------------------------------------------------------------------------------------------------------- indices */

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static inline int64_t floordiv_index(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static inline int64_t floormod_index(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

/* an index, moved into the buffer where it is outside because nothing is wanted there */
static inline int64_t within(int64_t i, int64_t first, int64_t last) {
    const int64_t low = i > first ? i : first;
    return low < last ? low : last;
}

/* an index out of bounds: what the error tells */
static __attribute__((noinline, cold)) int64_t fail(int64_t *status, int64_t index, int64_t axis, int64_t size) {
    status[0] = 1, status[1] = index, status[2] = axis, status[3] = size;
    return 1;
}

/* ---------------------------------------------------------------------------------------------------------- integers */

static inline UINT floordiv_UINT(UINT a, UINT b) { return b ? a / b : 0; }

static inline UINT floormod_UINT(UINT a, UINT b) { return b ? a % b : 0; }

static inline INT floordiv_INT(INT a, INT b) {
    if (b == 0) return 0;
    if (b == -1) return -a;
    return a / b - ((a % b != 0) & ((a < 0) != (b < 0)));
}

static inline INT floormod_INT(INT a, INT b) {
    if (b == 0 || b == -1) return 0;
    const INT m = a % b;
    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

static inline UINT pow_UINT(UINT a, UINT b) {
    UINT r = 1;
    while (b) {
        if (b & 1) r = r * a;
        a = a * a;
        b >>= 1;
    }
    return r;
}

static inline INT pow_INT(INT a, INT b) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    INT r = 1;
    while (b) {
        if (b & 1) r = r * a;
        a = a * a;
        b >>= 1;
    }
    return r;
}

static inline UINT shl_UINT(UINT a, UINT b) { return (uint64_t)b < 8 * sizeof(UINT) ? a << b : 0; }

static inline INT shl_INT(INT a, INT b) { return (uint64_t)b < 8 * sizeof(INT) ? a << b : 0; }

static inline UINT shr_UINT(UINT a, UINT b) { return (uint64_t)b < 8 * sizeof(UINT) ? a >> b : 0; }

static inline INT shr_INT(INT a, INT b) { return (uint64_t)b < 8 * sizeof(INT) ? a >> b : a < 0 ? -1 : 0; }

/* Widynski (2020), "Squares: a fast counter-based RNG", five rounds. */

static inline uint64_t squares64(uint64_t i, uint64_t key) {
    const uint64_t y = i * key, z = y + key;
    uint64_t x = y * y + y;
    x = x >> 32 | x << 32, x = x * x + z;
    x = x >> 32 | x << 32, x = x * x + y;
    x = x >> 32 | x << 32;
    const uint64_t t = x * x + z;
    x = t >> 32 | t << 32;
    return t ^ (x * x + y) >> 32;
}

/* ------------------------------------------------------------------------------------------------------- conversions */

static inline R bits_R_T(T x) {
    union { T a; R b; } u = { x };
    return u.b;
}

/* Out of range they give what the x86 instructions give: the lowest integer of the width converted to. */

static inline int64_t i64_FLOAT(FLOAT x) {
    return x >= -(FLOAT)0x1p63 && x < (FLOAT)0x1p63 ? (int64_t)x : (-__INT64_MAX__ - 1);
}

static inline uint64_t u64_FLOAT(FLOAT x) {
    return x >= (FLOAT)0x1p63 ? (uint64_t)i64_FLOAT(x - (FLOAT)0x1p63) ^ 0x8000000000000000ULL : (uint64_t)i64_FLOAT(x);
}

static inline int32_t i32_f32(float x) { return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : (-__INT32_MAX__ - 1); }

/* double has values between INT32_MIN - 1 and INT32_MIN, which are truncated */
static inline int32_t i32_f64(double x) {
    return x > -0x1.00000002p31 && x < 0x1p31 ? (int32_t)x : (-__INT32_MAX__ - 1);
}

/* ---------------------------------------------------------------------------------------------------------- quotients */

FLOAT fmodF(FLOAT, FLOAT);

FLOAT nextafterF(FLOAT, FLOAT);

static inline FLOAT floordiv_FLOAT(FLOAT a, FLOAT b) {
    if (b == 0) return a / b;
    const FLOAT m = fmodF(a, b);
    FLOAT d = (a - m) / b;
    if (m != 0 && (b < 0) != (m < 0)) d -= 1;
    if (d == 0) return __builtin_copysignF(0, a / b);
    const FLOAT w = __builtin_floorF(d);
    return d - w > (FLOAT)0.5 ? w + 1 : w;
}

static inline FLOAT floormod_FLOAT(FLOAT a, FLOAT b) {
    const FLOAT m = fmodF(a, b);
    if (b == 0) return m;
    if (m == 0) return __builtin_copysignF(0, b);
    return (b < 0) != (m < 0) ? m + b : m;
}

/* --------------------------------------------------------------------------------------------------- complex numbers */

static inline COMPLEX mul_COMPLEX(COMPLEX a, COMPLEX b) {
    const PART ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
    return __builtin_complex(ROUNDED(ar * br) - ROUNDED(ai * bi), ROUNDED(ar * bi) + ROUNDED(ai * br));
}

/* Smith (1962), "Algorithm 116: complex division", as NumPy has it, with more digits and a wider range. */

static inline QUOTIENT div_QUOTIENT(QUOTIENT a, QUOTIENT b) {
    const WIDE ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
    const WIDE r = __builtin_fabsW(br), i = __builtin_fabsW(bi);
    if (r >= i) {
        if (r == 0 && i == 0) return __builtin_complex(ar / r, ai / r);
        const WIDE q = bi / br, s = 1 / (br + bi * q);
        return __builtin_complex((ar + ROUNDED(ai * q)) * s, (ai - ROUNDED(ar * q)) * s);
    }
    const WIDE q = br / bi, s = 1 / (bi + br * q);
    return __builtin_complex((ROUNDED(ar * q) + ai) * s, (ROUNDED(ai * q) - ar) * s);
}

typedef WIDE _Complex wideW;

static inline wideW mul_wideW(wideW a, wideW b) {
    const WIDE ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
    return __builtin_complex(ar * br - ai * bi, ar * bi + ai * br);
}

wideW cpowW(wideW, wideW);

/* NumPy's, with more digits: a power has the relative error of its base many times, or that of its logarithm. */

static inline COMPLEX pow_COMPLEX(COMPLEX a, COMPLEX b) {
    const WIDE br = __real__ b, bi = __imag__ b;
    wideW r = __builtin_complex((WIDE)1, (WIDE)0);
    if (br == 0 && bi == 0) return r;
    if (a == 0) return br > 0 ? 0 : __builtin_complex((WIDE)__builtin_nan(""), (WIDE)__builtin_nan(""));
    if (bi != 0 || !(br > -100 && br < 100) || br != (int)br) return cpowW(a, b);
    if (br == 1) return a;
    wideW x = a;
    if (br == 2 || br == 3) r = mul_wideW(x, x);
    if (br == 2) return r;
    if (br == 3) return mul_wideW(r, x);
    int k = br < 0 ? -(int)br : (int)br;
    for (;;) {
        if (k & 1) r = mul_wideW(r, x);
        k >>= 1;
        if (!k) break;
        x = mul_wideW(x, x);
    }
    if (br > 0) return r;
    const wideW n = __builtin_complex((WIDE)1, (WIDE)0);
    return div_QUOTIENT(n, r);
}

/* What libm has no function for. Real functions are called as builtins, which never vectorise whatever else a kernel
   calls: elements of complex arrays are computed one by one. */

PART _Complex CNAME(PART _Complex);

WIDE _Complex CWIDE(WIDE _Complex);

WIDE _Complex cexpW(WIDE _Complex);

PART _Complex cexpF(PART _Complex);

PART _Complex clogF(PART _Complex);

double _Complex clog(double _Complex);

static inline COMPLEX np_cexp2F(COMPLEX x) {
    const WIDE k = (WIDE)0x1.62e42fefa39ef35793c7673007e5fp-1L;
    return cexpW(__builtin_complex(__real__ x * k, __imag__ x * k));
}

static inline COMPLEX np_clog2F(COMPLEX x) {
    const COMPLEX l = clogF(x);
    const PART k = (PART)0x1.71547652b82fep0;
    return __builtin_complex(__real__ l * k, __imag__ l * k);
}

static inline COMPLEX np_clog10F(COMPLEX x) {
    const COMPLEX l = clogF(x);
    const PART k = (PART)0x1.bcb7b1526e50ep-2;
    return __builtin_complex(__real__ l * k, __imag__ l * k);
}

/* where the terms of the real part cancel, the digits come from the wider type */
static inline COMPLEX np_cexpm1F(COMPLEX x) {
    const WIDE a = __real__ x, b = __imag__ x, s = __builtin_sinW(b / 2);
    if (a > 40) return cexpF(x);
    return __builtin_complex(__builtin_expm1W(a) * __builtin_cosW(b) - 2 * s * s, __builtin_expW(a) * __builtin_sinW(b));
}

/* |1 + x|**2 - 1 = 2 * a + a * a + b * b with what each sum and product has rounded away (Ogita, Rump & Oishi, 2005) */
static inline COMPLEX np_clog1pF(COMPLEX x) {
    const double a = __real__ x, b = __imag__ x, p = a * a, q = b * b, t = 2 * a + q, s = t + p;
    const double u = t - 2 * a, v = s - t, r = 1 + a;
    const double rest = ((2 * a - (t - u)) + (q - u)) + ((t - (s - v)) + (p - v))
        + (__builtin_fma(a, a, -p) + __builtin_fma(b, b, -q));
    if (!(__builtin_fabs(a) < 4 && __builtin_fabs(b) < 4 && s > -0.5)) return clog(__builtin_complex(r, b));
    return __builtin_complex(__builtin_log1p(s + rest) / 2, __builtin_atan2(b, r));
}

/* -------------------------------------------------------------------------------------------- mathematical functions */

VECTOR double exp(double);

VECTOR double log1p(double);

VECTOR FLOAT powF(FLOAT, FLOAT);

/* in double for float too: near the root, where the two terms cancel, that is what leaves digits */
static inline FLOAT logaddexpF(FLOAT a, FLOAT b) {
    const double d = (double)a - b, m = a > b ? a : b;
    const double far = m + log1p(exp(-__builtin_fabs(d)));
    return (FLOAT)(a == b ? a + 0x1.62e42fefa39efp-1 : d != d ? d : far);
}

/* small powers are products, whether the exponent is known beforehand or comes from memory */
static inline FLOAT powerF(FLOAT a, FLOAT b) {
    const FLOAT p = powF(a, b), square = a * a;
    return b == 2 ? square : b == 3 ? square * a : b == 1 ? a : b == -1 ? 1 / a : p;
}

VECTOR FLOAT NAME(FLOAT);

static void NAME_16(FLOAT *y, const FLOAT *x) {
SIMD
    for (int i = 0; i < 16; i++) y[i] = NAME(x[i]);
}

static __attribute__((noinline)) void NAME_v(FLOAT *y, const FLOAT *x, int64_t n) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) NAME_16(y + i, x + i);
    if (i == n) return;
    FLOAT x16[16] = {0}, y16[16];
    __builtin_memcpy(x16, x + i, (n - i) * sizeof(FLOAT));
    NAME_16(y16, x16);
    __builtin_memcpy(y + i, y16, (n - i) * sizeof(FLOAT));
}

static inline FLOAT NAME_1(FLOAT x) {
    NAME_v(&x, &x, 1);
    return x;
}

VECTOR FLOAT NAME2(FLOAT, FLOAT);

static void NAME2_16(FLOAT *y, const FLOAT *a, const FLOAT *b) {
SIMD
    for (int i = 0; i < 16; i++) y[i] = NAME2(a[i], b[i]);
}

static __attribute__((noinline)) void NAME2_v(FLOAT *y, const FLOAT *a, const FLOAT *b, int64_t n) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) NAME2_16(y + i, a + i, b + i);
    if (i == n) return;
    FLOAT a16[16] = {0}, b16[16] = {0}, y16[16];
    __builtin_memcpy(a16, a + i, (n - i) * sizeof(FLOAT));
    __builtin_memcpy(b16, b + i, (n - i) * sizeof(FLOAT));
    NAME2_16(y16, a16, b16);
    __builtin_memcpy(y + i, y16, (n - i) * sizeof(FLOAT));
}

static inline FLOAT NAME2_1(FLOAT a, FLOAT b) {
    NAME2_v(&a, &a, &b, 1);
    return a;
}

/* -------------------------------------------------------------------------------------------------------- reductions */

/* What order they keep is told in `c_reduce.py`. */

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

/* blocks are combined as a binary counter carries: tree[k] is the result of 2^k of them */
static void flush_OP_TxLANES(T *restrict tree, int64_t blocks, T *restrict acc) {
    T x = fold_OP_TxLANES(acc);
    int level = 0;
    for (; blocks & 1; blocks >>= 1, level++) x = OP(x, tree[level]);
    tree[level] = x;
#pragma omp simd
    for (int k = 0; k < LANES; k++) acc[k] = FIRST;
}

static T total_OP_T(const T *restrict tree, int64_t blocks) {
    int level = __builtin_ctzll((uint64_t)blocks);
    T x = tree[level++];
    for (blocks >>= level; blocks; blocks >>= 1, level++)
        if (blocks & 1) x = OP(x, tree[level]);
    return x;
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

/* m more elements, of which the first is number `at` of its block */
static void append_OP_TxLANES(T *restrict tree, int64_t *blocks, T *restrict acc, int64_t *at, const T *restrict x, int64_t m) {
    while (m > 0) {
        int64_t k = BLOCK - *at;
        if (k > m) k = m;
        int64_t lane = *at % LANES;
        *at += k, m -= k;
        for (; lane && k; lane = (lane + 1) % LANES, x++, k--) { acc[lane] = OP(*x, acc[lane]); SCALAR; }
        OP_TxLANES(acc, x, k);
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
