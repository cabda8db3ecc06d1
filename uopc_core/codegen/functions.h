/* Mathematical functions of our own, see `kernels.h`; what errors they have is told in docs/accuracy.md.

   They are written so that a compiler makes vectors of loops over them: without branches and tables, and part of their
   loops in any case, as a call would end the vectors. Adding and subtracting 1.5 times two to the digits of a number
   leaves its nearest integer, which stands in the lowest bits between the two. */

#include "kernels.h"

/* What a compiler that reads this file alone takes the capitals for. */
#define __builtin_fabsF __builtin_fabs
#define __builtin_rintF __builtin_rint
#define __builtin_infF __builtin_inf
#define usual_powerF usual_power
#define size_of_powerF size_of_power
#define log_ofF log_of
#define is_rareF is_rare

/* ------------------------------------------------------------------------------------------------------- definitions */

/* a * b + c, rounded once where the machine does so at the speed of a product */

#if defined __FP_FAST_FMA || defined __FMA__ || defined __aarch64__
#define FUSED(a, b, c) __builtin_fma(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

#if defined __FP_FAST_FMA || defined __FMA__ || defined __aarch64__
#define FUSED_SINGLE(a, b, c) __builtin_fmaf(a, b, c)
#else
#define FUSED_SINGLE(a, b, c) ((a) * (b) + (c))
#endif

/* ----------------------------------------------------------------------------------------------- hyperbolic tangents */

/* m / (m + 2) of m = exp(2 x) - 1 = 2**n q + (2**n - 1), where q = exp(r) - 1 for what remains
   of 2 x beside n log(2), a polynomial that meets it at Chebyshev nodes. */

static inline __attribute__((always_inline)) double np_tanh(double x) {
    const double a = __builtin_fabs(x), z = a > 22 ? 44 : 2 * a;
    const union { double a; uint64_t b; } t = { FUSED(z, 0x1.71547652b82fep0, 0x1.8p52) };
    const double n = t.a - 0x1.8p52;
    const double r = FUSED(n, -0x1.a39ef35793c76p-33, FUSED(n, -0x1.62e42feep-1, z));
    double p = 0x1.af390ba7e6f47p-26;
    p = FUSED(p, r, 0x1.2891d4ffbb0f9p-22), p = FUSED(p, r, 0x1.71de0d85293b8p-19);
    p = FUSED(p, r, 0x1.a019b8ca26fcfp-16), p = FUSED(p, r, 0x1.a01a01a7cebcdp-13);
    p = FUSED(p, r, 0x1.6c16c1789d1d7p-10), p = FUSED(p, r, 0x1.11111111109a6p-7);
    p = FUSED(p, r, 0x1.5555555553d37p-5), p = FUSED(p, r, 0x1.5555555555556p-3);
    p = FUSED(p, r, 0.5);
    const union { uint64_t a; double b; } e = { (t.b + 1023) << 52 };
    const double q = FUSED(p, r * r, r), m = FUSED(e.b, q, e.b - 1), y = m / (m + 2);
    return __builtin_copysign(x != x ? x : y, x);
}

static inline __attribute__((always_inline)) float np_tanhf(float x) {
    const float a = __builtin_fabsf(x), z = a > 10 ? 20 : 2 * a;
    const union { float a; uint32_t b; } t = { FUSED_SINGLE(z, 0x1.715476p0f, 0x1.8p23f) };
    const float n = t.a - 0x1.8p23f;
    const float r = FUSED_SINGLE(n, -0x1.7f7d1cp-20f, FUSED_SINGLE(n, -0x1.62e4p-1f, z));
    float p = 0x1.6d117cp-10f;
    p = FUSED_SINGLE(p, r, 0x1.120be2p-7f), p = FUSED_SINGLE(p, r, 0x1.555518p-5f);
    p = FUSED_SINGLE(p, r, 0x1.5554dcp-3f), p = FUSED_SINGLE(p, r, 0.5f);
    const union { uint32_t a; float b; } e = { (t.b + 127) << 23 };
    const float q = FUSED_SINGLE(p, r * r, r), m = FUSED_SINGLE(e.b, q, e.b - 1), y = m / (m + 2);
    return __builtin_copysignf(x != x ? x : y, x);
}


/* -------------------------------------------------------------------------------------------------------------- powers */

/* 2**(b log2(a)). The logarithm is a sum of two numbers, of twice the digits: its error is multiplied by that of the
   power, which may be a thousand. Of a = 2**k m one takes f = m c - 1, where c of 3/4, 1 and 5/4 leaves |f| < 0.16 without
   rounding, and log(1 + f) = 2 atanh(f / (2 + f)), a series in the square of the quotient s. Its first term, and what
   was rounded away of s and of its cube, are added by themselves. */

static inline __attribute__((always_inline)) double log2_high(double a, int64_t more, double *low) {
    const union { double a; uint64_t b; } bits = { a };
    const uint64_t above = bits.b - 0x3fe6a09e667f3bcdULL; /* the square root of 1/2 */
    const int64_t k = ((int64_t)above >> 52) + more;
    const union { uint64_t a; double b; } m = { bits.b - (above & 0xfff0000000000000ULL) };
    const int over = m.b > 0x1.279a74590331cp0, under = m.b < 0x1.c9f25c5bfedd9p-1;
    double c = 1, whole = 0, rest = 0;
    c = over ? 0.75 : c, whole = over ? 0x1.a8ff97181p-2 : whole, rest = over ? 0x1.4bc302ffa76fbp-43 : rest;
    c = under ? 1.25 : c, whole = under ? -0x1.49a784bcd2p-2 : whole, rest = under ? 0x1.1d406db502403p-44 : rest;
    const double f = FUSED(m.b, c, -1), d = FUSED(m.b, c, 1), inverse = 1 / d, lost = f - (d - 2);
    const double s = f * inverse, s_rest = FUSED(-s, lost, FUSED(-s, d, f)) * inverse, z = s * s, w = z * z;
    const double cube = s * z, cube_rest = FUSED(s, FUSED(s, s, -z), FUSED(s, z, -cube));
    const double q = FUSED(FUSED(FUSED(0x1.ccba0a89d5817p-3, z, 0x1.0c95e9454aa05p-2), w,
        FUSED(0x1.484b1702a8642p-2, z, 0x1.a61762a6b20d7p-2)), w, FUSED(0x1.2776c50ef9ce3p-1, z, 0x1.ec709dc3a03fdp-1));
    const double p = s * 0x1.71547652b82fep1, t = (double)k + whole, sum = t + p;
    const double slope = FUSED(z, 0x1.71547652b82fep1, 0x1.71547652b82fep1);
    rest += FUSED(s, 0x1.777d0ffda0d24p-55, FUSED(s, 0x1.71547652b82fep1, -p));
    rest = FUSED(cube_rest, 0x1.ec709dc3a03fdp-1, FUSED(s_rest, slope, rest)) + (p - (sum - t));
    rest = FUSED(cube, q, rest);
    const double high = sum + rest;
    *low = sum - high + rest;
    return high;
}

static inline __attribute__((always_inline)) float log2_highf(float a, int32_t more, float *low) {
    const union { float a; uint32_t b; } bits = { a };
    const uint32_t above = bits.b - 0x3f3504f3U; /* the square root of 1/2 */
    const int32_t k = ((int32_t)above >> 23) + more;
    const union { uint32_t a; float b; } m = { bits.b - (above & 0xff800000U) };
    const int over = m.b > 0x1.279a74p0f, under = m.b < 0x1.c9f25cp-1f;
    float c = 1, whole = 0, rest = 0;
    c = over ? 0.75f : c, whole = over ? 0x1.a9p-2f : whole, rest = over ? -0x1.a39fbep-20f : rest;
    c = under ? 1.25f : c, whole = under ? -0x1.49a8p-2f : whole, rest = under ? 0x1.ed0cbap-20f : rest;
    const float f = FUSED_SINGLE(m.b, c, -1), d = FUSED_SINGLE(m.b, c, 1), s = f / d, lost = f - (d - 2);
    const float inverse = FUSED_SINGLE(d, -0.25f, 1), z = s * s; /* near enough for what was lost */
    const float s_rest = FUSED_SINGLE(-s, lost, FUSED_SINGLE(-s, d, f)) * inverse;
    const float q = FUSED_SINGLE(FUSED_SINGLE(0x1.a8a642p-2f, z, 0x1.277622p-1f), z, 0x1.ec709ep-1f);
    const float p = s * 0x1.715476p1f, t = (float)k + whole, sum = t + p;
    rest += FUSED_SINGLE(s, 0x1.4ae0cp-25f, FUSED_SINGLE(s, 0x1.715476p1f, -p));
    rest = FUSED_SINGLE(s * z, q, FUSED_SINGLE(s_rest, 0x1.715476p1f, rest) + (p - (sum - t)));
    const float high = sum + rest;
    *low = sum - high + rest;
    return high;
}

/* 2**r of |r| up to 1/2, a polynomial that meets it at Chebyshev nodes */
static inline __attribute__((always_inline)) double exp2_near(double r) {
    const double r2 = r * r, r4 = r2 * r2;
    const double a = FUSED(0x1.e9d400f144ca3p-32, r, 0x1.e60642a220885p-28);
    const double b = FUSED(0x1.b524fae4cb89bp-24, r, 0x1.62bfd475db30ep-20);
    const double c = FUSED(0x1.ffcbfc670e3f6p-17, r, 0x1.43091309705fdp-13);
    const double d = FUSED(0x1.5d87fe78a5275p-10, r, 0x1.3b2ab6fba1dd8p-7);
    const double e = FUSED(0x1.c6b08d704a0c2p-5, r, 0x1.ebfbdff82c598p-3);
    const double p = FUSED(FUSED(FUSED(a, r2, b), r4, FUSED(c, r2, d)), r2, e);
    return FUSED(FUSED(p, r, 0x1.62e42fefa39efp-1), r, 1);
}

static inline __attribute__((always_inline)) float exp2_nearf(float r) {
    const float r2 = r * r, a = FUSED_SINGLE(0x1.44138cp-13f, r, 0x1.5f0894p-10f);
    const float b = FUSED_SINGLE(0x1.3b2a54p-7f, r, 0x1.c6af6cp-5f);
    const float p = FUSED_SINGLE(FUSED_SINGLE(a, r2, b), r, 0x1.ebfbep-3f);
    return FUSED_SINGLE(FUSED_SINGLE(p, r, 0x1.62e43p-1f), r, 1);
}

/* -1 or less where a number is not a normal one above 0 */
static inline __attribute__((always_inline)) int64_t is_rare(double x) {
    const union { double a; int64_t b; } bits = { x };
    return (bits.b - 0x0010000000000000LL) | (0x7fefffffffffffffLL - bits.b);
}

static inline __attribute__((always_inline)) int32_t is_raref(float x) {
    const union { float a; int32_t b; } bits = { x };
    return (bits.b - 0x00800000) | (0x7f7fffff - bits.b);
}

/* a power of a normal number above 0 that is one itself; what may be none, or has a small whole exponent, leaves -1 or
   less in `rare` */
static inline __attribute__((always_inline)) double usual_power(double a, double b, int64_t *rare) {
    double low;
    const double high = log2_high(a, 0, &low), e = b * high, e_rest = FUSED(b, low, FUSED(b, high, -e));
    const union { double a; uint64_t b; } t = { e + 0x1.8p52 }, p = { exp2_near(e - (t.a - 0x1.8p52) + e_rest) };
    const union { uint64_t a; double b; } y = { p.b + (t.b << 52) };
    const union { double a; int64_t b; } size = { __builtin_fabs(e) };
    const int64_t small = (__builtin_rint(b) == b) & (__builtin_fabs(b) < 4) ? -1 : 0;
    *rare = is_rare(a) | (0x408fefffffffffffLL - size.b) | small;
    return y.b;
}

static inline __attribute__((always_inline)) float usual_powerf(float a, float b, int32_t *rare) {
    float low;
    const float high = log2_highf(a, 0, &low), e = b * high, e_rest = FUSED_SINGLE(b, low, FUSED_SINGLE(b, high, -e));
    const union { float a; uint32_t b; } t = { e + 0x1.8p23f }, p = { exp2_nearf(e - (t.a - 0x1.8p23f) + e_rest) };
    const union { uint32_t a; float b; } y = { p.b + (t.b << 23) };
    const union { float a; int32_t b; } size = { __builtin_fabsf(e) };
    const int32_t small = (__builtin_rintf(b) == b) & (__builtin_fabsf(b) < 4) ? -1 : 0;
    *rare = is_raref(a) | (0x42fbffff - size.b) | small;
    return y.b;
}

/* the power of |a| above 0, by the same steps, where it may be a subnormal number, 0 or infinite: the power of two goes to
   it in halves */
static inline __attribute__((always_inline)) double size_of_power(double a, double b) {
    const double x = __builtin_fabs(a);
    const int below = x < 0x1p-1022;
    double low;
    const double high = log2_high(below ? x * 0x1p54 : x, below ? -54 : 0, &low), e = b * high;
    const double inside = e < -1100 ? -1100 : e > 1100 ? 1100 : e;
    const double e_rest = inside == e ? FUSED(b, low, FUSED(b, high, -e)) : 0;
    const union { double a; uint64_t b; } t = { inside + 0x1.8p52 };
    const int64_t n = (int64_t)(t.b << 32) >> 32, half = n >> 1;
    const union { uint64_t a; double b; } first = { (half + 1023) << 52 }, second = { (n - half + 1023) << 52 };
    return exp2_near(inside - (t.a - 0x1.8p52) + e_rest) * first.b * second.b;
}

static inline __attribute__((always_inline)) float size_of_powerf(float a, float b) {
    const float x = __builtin_fabsf(a);
    const int below = x < 0x1p-126f;
    float low;
    const float high = log2_highf(below ? x * 0x1p25f : x, below ? -25 : 0, &low), e = b * high;
    const float inside = e < -180 ? -180 : e > 180 ? 180 : e;
    const float e_rest = inside == e ? FUSED_SINGLE(b, low, FUSED_SINGLE(b, high, -e)) : 0;
    const union { float a; uint32_t b; } t = { inside + 0x1.8p23f };
    const int32_t n = (int32_t)(t.b << 16) >> 16, half = n >> 1;
    const union { uint32_t a; float b; } first = { (half + 127) << 23 }, second = { (n - half + 127) << 23 };
    return exp2_nearf(inside - (t.a - 0x1.8p23f) + e_rest) * first.b * second.b;
}

/* `size` with its sign, and what C and IEEE 754 say of the corners */
static inline __attribute__((always_inline)) FLOAT any_powerF(FLOAT a, FLOAT b, FLOAT size) {
    const FLOAT x = __builtin_fabsF(a), inf = __builtin_infF(), half = b * (FLOAT)0.5;
    const int whole = __builtin_rintF(b) == b, odd = whole & (__builtin_rintF(half) != half);
    FLOAT y = x == 0 ? (b < 0 ? inf : 0) : x == inf ? (b < 0 ? 0 : inf) : size;
    y = __builtin_fabsF(b) == inf ? (x == 1 ? 1 : (x > 1) == (b > 0) ? inf : 0) : y;
    y = odd ? __builtin_copysignF(y, a) : y;
    y = (a < 0) & (x < inf) & !whole ? (FLOAT)__builtin_nan("") : y;
    y = (a != a) | (b != b) ? a + b : y;
    return (b == 0) | (a == 1) ? 1 : y;
}

/* small powers are products, whether the exponent is known beforehand or comes from memory */
static inline __attribute__((always_inline)) FLOAT small_powerF(FLOAT a, FLOAT b, FLOAT y) {
    const FLOAT square = a * a;
    return b == 2 ? square : b == 3 ? square * a : b == 1 ? a : b == -1 ? 1 / a : y;
}

VECTOR FLOAT powF(FLOAT, FLOAT);

/* libm's where nothing is rounded once at the speed of a product */

#if defined __FP_FAST_FMA || defined __FMA__ || defined __aarch64__
static void powerF_16(FLOAT *y, const FLOAT *a, const FLOAT *b, int64_t n) {
    FLOAT y128[128];
    for (int64_t i = 0, m = 128; i < n; i += m, a += m, b += m) {
        m = n - i < 128 ? n - i : 128;
        __typeof__(is_rareF(0)) rare = 0, found;
#pragma omp simd reduction(|:rare) private(found)
        for (int64_t j = 0; j < (m & -16); j++) y128[j] = usual_powerF(a[j], b[j], &found), rare |= found;
        if (rare < 0)
            for (int64_t j = 0; j < m; j += 16)
#pragma omp simd
                for (int k = 0; k < 16; k++) {
                    const FLOAT x = a[j + k], e = b[j + k];
                    y128[j + k] = small_powerF(x, e, any_powerF(x, e, size_of_powerF(x, e)));
                }
        __builtin_memcpy(y + i, y128, m * sizeof(FLOAT));
    }
}
#else
static void powerF_16(FLOAT *y, const FLOAT *a, const FLOAT *b, int64_t n) {
    for (int64_t i = 0; i < n; i += 16)
SIMD
        for (int k = 0; k < 16; k++) y[i + k] = small_powerF(a[i + k], b[i + k], powF(a[i + k], b[i + k]));
}
#endif

/* ---------------------------------------------------------------------------------------------------------- logarithms */

/* log(2**k (1 + f)) = k log(2) + 2 atanh(s) of s = f / (2 + f), a series in the square of s; f is added by itself */

static inline __attribute__((always_inline)) double log_of(double x, int64_t more) {
    const union { double a; uint64_t b; } bits = { x };
    const uint64_t above = bits.b - 0x3fe6a09e667f3bcdULL; /* the square root of 1/2 */
    const double k = (double)(((int64_t)above >> 52) + more);
    const union { uint64_t a; double b; } m = { bits.b - (above & 0xfff0000000000000ULL) };
    const double f = m.b - 1, s = f / (m.b + 1), z = s * s, w = z * z;
    const double a = FUSED(0x1.2b584aae78a57p-3, w, FUSED(0x1.39fe606542ddep-3, z, 0x1.7462b4ab2ef6bp-3));
    const double b = FUSED(0x1.c71c62e5800a1p-3, z, 0x1.2492492df148dp-2);
    const double c = FUSED(0x1.99999999952e2p-2, z, 0x1.5555555555558p-1);
    const double rest = FUSED(-FUSED(FUSED(a, w, b), w, c), z, f);
    return FUSED(k, 0x1.62e42fefa39efp-1, FUSED(k, 0x1.abc9e3b39803fp-56, FUSED(-s, rest, f)));
}

static inline __attribute__((always_inline)) float log_off(float x, int32_t more) {
    const union { float a; uint32_t b; } bits = { x };
    const uint32_t above = bits.b - 0x3f3504f3U; /* the square root of 1/2 */
    const float k = (float)(((int32_t)above >> 23) + more);
    const union { uint32_t a; float b; } m = { bits.b - (above & 0xff800000U) };
    const float f = m.b - 1, s = f / (m.b + 1), z = s * s;
    const float p = FUSED_SINGLE(FUSED_SINGLE(0x1.2ee61p-2f, z, 0x1.997c3p-2f), z, 0x1.55555cp-1f);
    return FUSED_SINGLE(k, 0x1.62e43p-1f, FUSED_SINGLE(k, -0x1.05c61p-29f, FUSED_SINGLE(-s, FUSED_SINGLE(-p, z, f), f)));
}

/* of any number: of subnormal ones the digits are moved up first */
static inline __attribute__((always_inline)) FLOAT any_logF(FLOAT x) {
    const FLOAT tiny = sizeof(FLOAT) == 8 ? (FLOAT)0x1p-1022 : (FLOAT)0x1p-126;
    const FLOAT y = log_ofF(x < tiny ? x * (FLOAT)0x1p54 : x, x < tiny ? -54 : 0);
    const FLOAT corner = x == 0 ? -__builtin_infF() : x < 0 ? (FLOAT)__builtin_nan("") : x;
    return (x > 0) & (x < __builtin_infF()) ? y : corner;
}

static void np_logF_16(FLOAT *y, const FLOAT *x, int64_t n) {
    for (int64_t i = 0, m = 256; i < n; i += m) {
        m = n - i < 256 ? n - i : 256;
        __typeof__(is_rareF(0)) rare = 0;
#pragma omp simd reduction(|:rare)
        for (int64_t j = i; j < i + (m & -16); j++) rare |= is_rareF(x[j]);
        for (int64_t j = i; j < i + m; j += 16)
            if (rare >= 0)
#pragma omp simd
                for (int k = 0; k < 16; k++) y[j + k] = log_ofF(x[j + k], 0);
            else
#pragma omp simd
                for (int k = 0; k < 16; k++) y[j + k] = any_logF(x[j + k]);
    }
}

/* ----------------------------------------------------------------------------------------------------- error function */

/* x + x p(x**2) up to 1, from there on 1 - q(x)**-8, polynomials of which the error in the result is spread evenly; from 4
   on all round to 1. */

static inline __attribute__((always_inline)) float np_erff(float x) {
    const float size = __builtin_fabsf(x), a = size > 4 ? 4 : size, z = a * a;
    float p = 0x1.4ae438p-14f;
    p = FUSED_SINGLE(p, z, -0x1.a485b4p-11f), p = FUSED_SINGLE(p, z, 0x1.5419eep-8f);
    p = FUSED_SINGLE(p, z, -0x1.b7fbb4p-6f), p = FUSED_SINGLE(p, z, 0x1.ce2d2p-4f);
    p = FUSED_SINGLE(p, z, -0x1.81273ep-2f), p = FUSED_SINGLE(p, z, 0x1.06eba8p-3f);
    float q = 0x1.1f31e6p-11f;
    q = FUSED_SINGLE(q, a, -0x1.097ad6p-8f), q = FUSED_SINGLE(q, a, 0x1.26cc4ap-6f);
    q = FUSED_SINGLE(q, a, -0x1.13f59cp-5f), q = FUSED_SINGLE(q, a, 0x1.324b18p-4f);
    q = FUSED_SINGLE(q, a, 0x1.8cd58ep-5f), q = FUSED_SINGLE(q, a, 0x1.471512p-3f);
    q = FUSED_SINGLE(q, a, 0x1.fe258ap-1f);
    q *= q, q *= q, q *= q;
    const float y = a < 1 ? FUSED_SINGLE(a, p, a) : 1 - 1 / q;
    return __builtin_copysignf(x != x ? x : y, x);
}
