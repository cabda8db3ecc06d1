/* The helper functions of kernels, as C that a compiler reads by itself; those of reductions are in `reductions.h`,
   mathematical functions of our own in `functions.h`.

   A kernel gets copies of the functions that it calls and of what these call, nothing else: what a compiler has to read
   is what a first call waits for. `helpers.py` makes them. A definition ends at a blank line, and what stands in capitals
   is replaced: a word by the C of what it stands for, a part of a name by its short name, so that `floordiv_INT` becomes
   `floordiv_i32` on int32_t.

     T, R      any types                         PART      the type of the parts of COMPLEX
     INT       a signed integer                  WIDE      a real type with more digits
     UINT      an unsigned integer               QUOTIENT  what is divided: COMPLEX, or complex numbers of WIDEs
     FLOAT     float or double                   F         what the names of C's functions of FLOAT or PART end in
     COMPLEX   complex64 or complex128           W         the same of WIDE
     NAME, NAME2   a mathematical function of one operand, of two
     CNAME, CWIDE  one of complex numbers, of PARTs and of WIDEs
     ACROSS    columns of a tile
    AHEAD_BYTES   from what is read now to what is fetched
     VECTOR, SIMD  what has the compiler use the vectors of a function, or of a loop

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
#define ACROSS 16
#define AHEAD_BYTES 16384
#define VECTOR
#define SIMD _Pragma("omp simd")
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

/* has the second level of the cache fetch a block of m elements that comes some blocks later, which may be past the end */
static inline void ahead_T(const T *x, int64_t m) {
    const char *begin = (const char *)x + AHEAD_BYTES, *end = (const char *)(x + m) + AHEAD_BYTES;
    for (; begin < end; begin += 64) __builtin_prefetch(begin, 0, 2);
}

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

/* ---------------------------------------------------------------------------------------------------------- movement */

/* four elements of this size, that lie where they may */
typedef UINT __attribute__((vector_size(4 * sizeof(UINT)), aligned(sizeof(UINT)), may_alias)) quad_UINT;

/* lines of m elements of memory, `apart` from one of the n to the next, as columns of a tile: four by four */
static inline void turn_UINTxACROSS(
    UINT (*restrict to)[ACROSS], const UINT *restrict x, int64_t apart, int64_t m, int64_t n) {
    int64_t j = 0;
    for (; j + 4 <= n; j += 4, x += 4 * apart) {
        int64_t i = 0;
        for (; i + 4 <= m; i += 4) {
            const quad_UINT a = *(const quad_UINT *)(x + i), b = *(const quad_UINT *)(x + apart + i);
            const quad_UINT c = *(const quad_UINT *)(x + 2 * apart + i), d = *(const quad_UINT *)(x + 3 * apart + i);
            const quad_UINT e = {a[0], b[0], a[1], b[1]}, f = {c[0], d[0], c[1], d[1]};
            const quad_UINT g = {a[2], b[2], a[3], b[3]}, h = {c[2], d[2], c[3], d[3]};
            *(quad_UINT *)&to[i][j] = (quad_UINT){e[0], e[1], f[0], f[1]};
            *(quad_UINT *)&to[i + 1][j] = (quad_UINT){e[2], e[3], f[2], f[3]};
            *(quad_UINT *)&to[i + 2][j] = (quad_UINT){g[0], g[1], h[0], h[1]};
            *(quad_UINT *)&to[i + 3][j] = (quad_UINT){g[2], g[3], h[2], h[3]};
        }
        for (; i < m; i++)
            for (int k = 0; k < 4; k++) to[i][j + k] = x[k * apart + i];
    }
    for (; j < n; j++, x += apart)
        for (int64_t i = 0; i < m; i++) to[i][j] = x[i];
}

/* m rows of a tile to lines of memory, past the caches. Returns 0 where they do not begin where lines of the cache do, or
   the machine has no such way. */

#if defined __SSE2__ && defined __GNUC__ && !defined __clang__
static inline int stream_UINTxACROSS(UINT *to, int64_t apart, const UINT (*tile)[ACROSS], int64_t m) {
    typedef long long pair __attribute__((vector_size(16), may_alias));
    if (((uint64_t)to | (uint64_t)apart * sizeof(UINT)) & 63) return 0;
    for (int64_t i = 0; i < m; i++)
        for (int k = 0; k < ACROSS; k += 16 / sizeof(UINT)) {
            pair two;
            __builtin_memcpy(&two, &tile[i][k], 16);
            __builtin_ia32_movntdq((pair *)&to[i * apart + k], two);
        }
    return 1;
}
#else
static inline int stream_UINTxACROSS(UINT *to, int64_t apart, const UINT (*tile)[ACROSS], int64_t m) { return 0; }
#endif

/* other threads see what has gone past the caches */

#if defined __SSE2__ && defined __GNUC__ && !defined __clang__
#define STREAMED __builtin_ia32_sfence()
#else
#define STREAMED (void)0
#endif

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

/* in double for float too: near the root, where the two terms cancel, that is what leaves digits */
static inline FLOAT logaddexpF(FLOAT a, FLOAT b) {
    const double d = (double)a - b, m = a > b ? a : b;
    const double far = m + log1p(exp(-__builtin_fabs(d)));
    return (FLOAT)(a == b ? a + 0x1.62e42fefa39efp-1 : d != d ? d : far);
}

VECTOR FLOAT NAME(FLOAT);

/* of n elements, full blocks of 16 */
static void NAME_16(FLOAT *y, const FLOAT *x, int64_t n) {
    for (int64_t i = 0; i < n; i += 16)
SIMD
        for (int k = 0; k < 16; k++) y[i + k] = NAME(x[i + k]);
}

static __attribute__((noinline)) void NAME_v(FLOAT *y, const FLOAT *x, int64_t n) {
    const int64_t i = n & -16;
    NAME_16(y, x, i);
    if (i == n) return;
    FLOAT x16[16] = {0}, y16[16];
    __builtin_memcpy(x16, x + i, (n - i) * sizeof(FLOAT));
    NAME_16(y16, x16, 16);
    __builtin_memcpy(y + i, y16, (n - i) * sizeof(FLOAT));
}

static inline FLOAT NAME_1(FLOAT x) {
    NAME_v(&x, &x, 1);
    return x;
}

VECTOR FLOAT NAME2(FLOAT, FLOAT);

static void NAME2_16(FLOAT *y, const FLOAT *a, const FLOAT *b, int64_t n) {
    for (int64_t i = 0; i < n; i += 16)
SIMD
        for (int k = 0; k < 16; k++) y[i + k] = NAME2(a[i + k], b[i + k]);
}

static __attribute__((noinline)) void NAME2_v(FLOAT *y, const FLOAT *a, const FLOAT *b, int64_t n) {
    const int64_t i = n & -16;
    NAME2_16(y, a, b, i);
    if (i == n) return;
    FLOAT a16[16] = {0}, b16[16] = {0}, y16[16];
    __builtin_memcpy(a16, a + i, (n - i) * sizeof(FLOAT));
    __builtin_memcpy(b16, b + i, (n - i) * sizeof(FLOAT));
    NAME2_16(y16, a16, b16, 16);
    __builtin_memcpy(y + i, y16, (n - i) * sizeof(FLOAT));
}

static inline FLOAT NAME2_1(FLOAT a, FLOAT b) {
    NAME2_v(&a, &a, &b, 1);
    return a;
}
