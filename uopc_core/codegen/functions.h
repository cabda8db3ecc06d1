/* Mathematical functions of our own, see `kernels.h`; what errors they have is told in docs/accuracy.md.

   They are written so that a compiler makes vectors of loops over them: without branches, with tables only of what vectors
   hold, and part of their loops in any case, as a call would end the vectors. Adding and subtracting 1.5 times two to the
   digits of a number leaves its nearest integer, which stands in the lowest bits between the two. */

#include "kernels.h"

/* What a compiler that reads this file alone takes the capitals for. */
#define __builtin_fabsF __builtin_fabs
#define __builtin_rintF __builtin_rint
#define __builtin_infF __builtin_inf
#define usual_powersF(y, a, b, n, few) usual_powers((double *)(y), (const double *)(a), (const double *)(b), n, few)
#define sizes_of_powersF(y, a, b, n) sizes_of_powers((double *)(y), (const double *)(a), (const double *)(b), n)
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

/* ------------------------------------------------------------------------------------------------------------- tables */

/* As many singles as there are in a vector are looked up at once in a table of 16 or 32, at the lowest bits of indices. */

#if defined __AVX512DQ__
#define SINGLES 16
#else
#define SINGLES 8
#endif

#if defined __AVX2__ && defined __GNUC__ && !defined __clang__
static inline __attribute__((always_inline)) void look_up(float *y, const float *table, int size, const int32_t *index) {
    typedef int32_t vector __attribute__((vector_size(SINGLES * 4)));
    vector part[4], at, found;
    __builtin_memcpy(part, table, size * 4), __builtin_memcpy(&at, index, sizeof(at));
    found = size == SINGLES ? __builtin_shuffle(part[0], at) : __builtin_shuffle(part[0], part[1], at);
    if (size == 4 * SINGLES) {
        const vector more = __builtin_shuffle(part[2], part[3], at), second = (at << 27) >> 31;
        found = (found & ~second) | (more & second);
    }
    __builtin_memcpy(y, &found, sizeof(found));
}
#else
static inline __attribute__((always_inline)) void look_up(float *y, const float *table, int size, const int32_t *index) {
    for (int k = 0; k < SINGLES; k++) y[k] = table[index[k] & (size - 1)];
}
#endif

/* the same of doubles in a table of 16 */

#define DOUBLES (SINGLES / 2)

#if defined __AVX512DQ__ && defined __GNUC__ && !defined __clang__
static inline __attribute__((always_inline)) void look_up_doubles(double *y, const double *table, const int64_t *index) {
    typedef int64_t vector __attribute__((vector_size(64)));
    vector part[2], at;
    __builtin_memcpy(part, table, sizeof(part)), __builtin_memcpy(&at, index, sizeof(at));
    at = __builtin_shuffle(part[0], part[1], at);
    __builtin_memcpy(y, &at, sizeof(at));
}
#else
static inline __attribute__((always_inline)) void look_up_doubles(double *y, const double *table, const int64_t *index) {
    for (int k = 0; k < DOUBLES; k++) y[k] = table[index[k] & 15];
}
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
   power, which may be a thousand. The first bits of m, of a = 2**k m, counted so that one of their values is that of the
   numbers around 1, choose c from a table, so that f = m c - 1 is small and not rounded. -log2(c) is a number of few
   digits after the point and a rest. In float64 they are four bits, |f| < 0.035, and log(1 + f) = 2 atanh(f / (2 + f)), a
   series in the square of the quotient s; its first term, and what was rounded away of s, are added by themselves. */

static const double inverse_of_wide_part[16] = {
    0x1.6p0, 0x1.58p0, 0x1.48p0, 0x1.38p0, 0x1.3p0, 0x1.28p0, 0x1.18p0, 0x1.1p0, 0x1.08p0, 0x1p0, 0x1.ep-1, 0x1.c8p-1,
    0x1.bp-1, 0x1.98p-1, 0x1.88p-1, 0x1.7p-1
};

static const double log2_of_wide_part[16] = {
    -0x1.d6753e033p-2, -0x1.b47ebf7388p-2, -0x1.6e221cd9dp-2, -0x1.24407ab0ep-2, -0x1.fbc16b9028p-3,
    -0x1.acf5e2db5p-3, -0x1.08c588cda8p-3, -0x1.663f6fac9p-4, -0x1.6bad3758ep-5, 0, 0x1.7d60496dp-4,
    0x1.563dc29ff8p-3, 0x1.f5fd8a906p-3, 0x1.4f6fbb2cecp-2, 0x1.8a8980abfcp-2, 0x1.e7df5fe538p-2
};

static const double log2_of_wide_part_rest[16] = {
    0x1.5f101c141e67p-42, -0x1.50520a377c7ecp-45, -0x1.9bcaf1aa4168ap-43, -0x1.ce60916e52e91p-44,
    0x1.7f5dc57266758p-43, 0x1.36c101ee1344p-43, 0x1.871a7610e40bdp-45, -0x1.3167ccc538261p-44,
    -0x1.fb0e626c0de13p-42, 0, -0x1.12ce6312ebb82p-42, 0x1.6590643906f2ap-42, 0x1.f1a4847f7b278p-42,
    0x1.661e393a16b95p-44, -0x1.66cccab240e9p-45, 0x1.5669df6a2b592p-43
};

/* the logarithms to base 2 of numbers above 0, given by their bits; the exponent in these may be below that of any
   normal number */
static inline __attribute__((always_inline)) void log2_of_doubles(double *high, double *low, const uint64_t *bits) {
    int64_t index[DOUBLES];
    double ms[DOUBLES], ks[DOUBLES], c[DOUBLES], whole[DOUBLES], rest[DOUBLES];
#pragma omp simd
    for (int j = 0; j < DOUBLES; j++) {
        const uint64_t above = bits[j] - 0x3fe6800000000000ULL; /* 0.703 */
        const union { uint64_t a; double b; } m = { bits[j] - (above & 0xfff0000000000000ULL) };
        const union { uint64_t a; double b; } k = { (above + (1ULL << 63)) >> 52 | 0x4330000000000000ULL };
        ms[j] = m.b, ks[j] = k.b - (0x1p52 + 2048), index[j] = (int64_t)(above >> 48);
    }
    look_up_doubles(c, inverse_of_wide_part, index);
    look_up_doubles(whole, log2_of_wide_part, index);
    look_up_doubles(rest, log2_of_wide_part_rest, index);
#pragma omp simd
    for (int j = 0; j < DOUBLES; j++) {
        const double f = FUSED(ms[j], c[j], -1), d = FUSED(ms[j], c[j], 1), inverse = 1 / d, lost = f - (d - 2);
        const double s = f * inverse, s_rest = FUSED(-s, lost, FUSED(-s, d, f)) * inverse, z = s * s;
        const double p = s * 0x1.71547652b82fep1, t = ks[j] + whole[j], sum = t + p;
        double q = 0x1.4874aabd5285dp-2;
        q = FUSED(q, z, 0x1.a61760a4a4597p-2), q = FUSED(q, z, 0x1.2776c50efdbc5p-1), q = FUSED(q, z, 0x1.ec709dc3a03fdp-1);
        const double r = rest[j] + FUSED(s, 0x1.777d0ffda0d24p-55, FUSED(s, 0x1.71547652b82fep1, -p));
        low[j] = FUSED(s * z, q, FUSED(s_rest, 0x1.71547652b82fep1, r) + (p - (sum - t)));
        high[j] = sum;
    }
}

/* In float32 they are five bits, |f| < 0.02, and log(1 + f) is a short polynomial. */

static const float inverse_of_part[32] = {
    0x1.64p0f, 0x1.5cp0f, 0x1.54p0f, 0x1.5p0f, 0x1.48p0f, 0x1.4p0f, 0x1.3cp0f, 0x1.34p0f, 0x1.3p0f, 0x1.28p0f,
    0x1.24p0f, 0x1.2p0f, 0x1.1cp0f, 0x1.14p0f, 0x1.1p0f, 0x1.0cp0f, 0x1.08p0f, 0x1.04p0f, 0x1p0f, 0x1.fp-1f,
    0x1.ep-1f, 0x1.d4p-1f, 0x1.c8p-1f, 0x1.b8p-1f, 0x1.bp-1f, 0x1.a4p-1f, 0x1.98p-1f, 0x1.9p-1f, 0x1.88p-1f,
    0x1.7cp-1f, 0x1.74p-1f, 0x1.6cp-1f
};

static const float log2_of_part[32] = {
    -0x1.e728p-2f, -0x1.c594p-2f, -0x1.a338p-2f, -0x1.91bcp-2f, -0x1.6e24p-2f, -0x1.49a8p-2f, -0x1.3714p-2f,
    -0x1.113p-2f, -0x1.fbcp-3f, -0x1.acf8p-3f, -0x1.84cp-3f, -0x1.5cp-3f, -0x1.32bp-3f, -0x1.bc8p-4f, -0x1.664p-4f,
    -0x1.0ebp-4f, -0x1.6bap-5f, -0x1.6e8p-6f, 0, 0x1.774p-5f, 0x1.7d6p-4f, 0x1.098p-3f, 0x1.564p-3f, 0x1.bfc8p-3f,
    0x1.f6p-3f, 0x1.249cp-2f, 0x1.4f7p-2f, 0x1.6cbp-2f, 0x1.8a88p-2f, 0x1.b878p-2f, 0x1.d7e8p-2f, 0x1.f804p-2f
};

static const float log2_of_part_rest[32] = {
    0x1.55e18ap-18f, 0x1.052d6ap-18f, 0x1.3eb014p-19f, 0x1.5db83ap-20f, 0x1.e3263p-18f, 0x1.ed0cbap-20f,
    0x1.b315b4p-18f, -0x1.f6b4c2p-20f, -0x1.6b9026p-19f, 0x1.0e9258p-18f, -0x1.5e8178p-18f, -0x1.a39fbep-19f,
    0x1.61d876p-19f, -0x1.0902b6p-18f, 0x1.20a6dep-21f, -0x1.c4fd14p-19f, -0x1.a6eb1ep-18f, 0x1.a5e8f4p-20f, 0,
    -0x1.acd89ap-19f, 0x1.25b3eep-22f, -0x1.c731ap-19f, -0x1.1eb002p-18f, -0x1.858p-19f, -0x1.3ab7cep-18f,
    0x1.a5627ap-19f, -0x1.134c4ep-20f, 0x1.ed0cbap-19f, 0x1.80abfcp-18f, -0x1.d42728p-21f, -0x1.3f543cp-18f,
    0x1.5d1a1ap-19f
};

static inline __attribute__((always_inline)) void log2_of_singles(float *high, float *low, const uint32_t *bits) {
    int32_t index[SINGLES];
    float ms[SINGLES], ks[SINGLES], c[SINGLES], whole[SINGLES], rest[SINGLES];
#pragma omp simd
    for (int j = 0; j < SINGLES; j++) {
        const uint32_t above = bits[j] - 0x3f360000U; /* 0.711 */
        const union { uint32_t a; float b; } m = { bits[j] - (above & 0xff800000U) };
        ms[j] = m.b, ks[j] = (float)((int32_t)above >> 23), index[j] = (int32_t)(above >> 18);
    }
    look_up(c, inverse_of_part, 32, index);
    look_up(whole, log2_of_part, 32, index);
    look_up(rest, log2_of_part_rest, 32, index);
#pragma omp simd
    for (int j = 0; j < SINGLES; j++) {
        const float f = FUSED_SINGLE(ms[j], c[j], -1), p = f * 0x1.715476p0f, t = ks[j] + whole[j], sum = t + p;
        float q = 0x1.278be8p-2f;
        q = FUSED_SINGLE(q, f, -0x1.716d1ep-2f), q = FUSED_SINGLE(q, f, 0x1.ec709ep-2f);
        q = FUSED_SINGLE(q, f, -0x1.715476p-1f), q = FUSED_SINGLE(q, f, 0x1.4ae0cp-26f);
        low[j] = FUSED_SINGLE(f, q, FUSED_SINGLE(f, 0x1.715476p0f, -p) + (p - (sum - t)) + rest[j]);
        high[j] = sum;
    }
}

/* 2**r of |r| up to 1/2, a polynomial that meets it at Chebyshev nodes */
static inline __attribute__((always_inline)) double exp2_near(double r) {
    double p = 0x1.e9d400f144ca3p-32;
    p = FUSED(p, r, 0x1.e60642a220885p-28), p = FUSED(p, r, 0x1.b524fae4cb89bp-24);
    p = FUSED(p, r, 0x1.62bfd475db30ep-20), p = FUSED(p, r, 0x1.ffcbfc670e3f6p-17);
    p = FUSED(p, r, 0x1.43091309705fdp-13), p = FUSED(p, r, 0x1.5d87fe78a5275p-10);
    p = FUSED(p, r, 0x1.3b2ab6fba1dd8p-7), p = FUSED(p, r, 0x1.c6b08d704a0c2p-5);
    p = FUSED(p, r, 0x1.ebfbdff82c598p-3), p = FUSED(p, r, 0x1.62e42fefa39efp-1);
    return FUSED(p, r, 1);
}

static inline __attribute__((always_inline)) float exp2_nearf(float r) {
    float p = 0x1.44138ap-13f;
    p = FUSED_SINGLE(p, r, 0x1.5f089p-10f), p = FUSED_SINGLE(p, r, 0x1.3b2a54p-7f), p = FUSED_SINGLE(p, r, 0x1.c6af6cp-5f);
    p = FUSED_SINGLE(p, r, 0x1.ebfbep-3f), p = FUSED_SINGLE(p, r, 0x1.62e43p-1f);
    return FUSED_SINGLE(p, r, 1);
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

/* powers of normal numbers above 0 that are such themselves. Returns whether one may be none; `few`, whether an exponent
   has two digits at most. */
static inline __attribute__((always_inline)) int usual_powers(
    double *y, const double *a, const double *b, int64_t n, int *few
) {
    int64_t rares[DOUBLES] = {0}, rare = 0;
    uint64_t last[DOUBLES];
    for (int k = 0; k < DOUBLES; k++) last[k] = ~0ULL;
    for (int64_t j = 0; j < n; j += DOUBLES) {
        uint64_t bits[DOUBLES];
        double high[DOUBLES], low[DOUBLES];
#pragma omp simd
        for (int k = 0; k < DOUBLES; k++) {
            const union { double a; uint64_t b; } x = { a[j + k] };
            bits[k] = x.b;
        }
        log2_of_doubles(high, low, bits);
#pragma omp simd
        for (int k = 0; k < DOUBLES; k++) {
            const union { double a; uint64_t b; } e = { b[j + k] }, t = { FUSED(e.a, high[k] + low[k], 0x1.8p52) };
            const double r = FUSED(e.a, low[k], FUSED(e.a, high[k], 0x1.8p52 - t.a));
            const union { double a; uint64_t b; } p = { exp2_near(r) };
            const union { uint64_t a; double b; } power = { p.b + (t.b << 52) };
            const int64_t size = (int64_t)bits[k], n = (int64_t)(t.b - 0x4338000000000000ULL);
            y[j + k] = power.b;
            rares[k] |= (size - 0x0010000000000000LL) | (0x7fefffffffffffffLL - size) | (n + 1021) | (1021 - n);
            last[k] = last[k] < e.b << 13 ? last[k] : e.b << 13;
        }
    }
    *few = 0;
    for (int k = 0; k < DOUBLES; k++) rare |= rares[k], *few |= last[k] == 0;
    return rare < 0;
}

static inline __attribute__((always_inline)) int usual_powersf(
    float *y, const float *a, const float *b, int64_t n, int *few
) {
    uint32_t sizes[SINGLES] = {0}, powers[SINGLES] = {0}, last[SINGLES], rare = 0, none = 0;
    for (int k = 0; k < SINGLES; k++) last[k] = ~0U;
    for (int64_t j = 0; j < n; j += SINGLES) {
        uint32_t bits[SINGLES];
        float high[SINGLES], low[SINGLES];
#pragma omp simd
        for (int k = 0; k < SINGLES; k++) {
            const union { float a; uint32_t b; } x = { a[j + k] };
            bits[k] = x.b;
        }
        log2_of_singles(high, low, bits);
#pragma omp simd
        for (int k = 0; k < SINGLES; k++) {
            const union { float a; uint32_t b; } e = { b[j + k] }, t = { FUSED_SINGLE(e.a, high[k] + low[k], 0x1.8p23f) };
            const float r = FUSED_SINGLE(e.a, low[k], FUSED_SINGLE(e.a, high[k], 0x1.8p23f - t.a));
            const union { float a; uint32_t b; } p = { exp2_nearf(r) };
            const union { uint32_t a; float b; } power = { p.b + (t.b << 23) };
            const uint32_t size = bits[k] - 0x00800000U, n = t.b - (0x4b400000U - 125);
            y[j + k] = power.b;
            sizes[k] = sizes[k] > size ? sizes[k] : size, powers[k] = powers[k] > n ? powers[k] : n;
            last[k] = last[k] < e.b << 10 ? last[k] : e.b << 10;
        }
    }
#pragma omp simd reduction(|:rare, none)
    for (int k = 0; k < SINGLES; k++) rare |= (sizes[k] >= 0x7f000000U) | (powers[k] > 250), none |= last[k] == 0;
    *few = none;
    return rare;
}

/* powers of |a| above 0, by the same steps, where they may be subnormal numbers, 0 or infinite: the power of two goes to
   them in halves */
static inline __attribute__((always_inline)) void sizes_of_powers(double *y, const double *a, const double *b, int64_t n) {
    for (int64_t j = 0; j < n; j += DOUBLES) {
        uint64_t bits[DOUBLES];
        double high[DOUBLES], low[DOUBLES];
#pragma omp simd
        for (int k = 0; k < DOUBLES; k++) {
            const double x = __builtin_fabs(a[j + k]);
            const int below = x < 0x1p-1022;
            const union { double a; uint64_t b; } size = { below ? x * 0x1p54 : x };
            bits[k] = size.b - (below ? 54ULL << 52 : 0);
        }
        log2_of_doubles(high, low, bits);
#pragma omp simd
        for (int k = 0; k < DOUBLES; k++) {
            const double power = b[j + k], e = power * (high[k] + low[k]);
            const int inside = (e > -1100) & (e < 1100);
            const double t = FUSED(power, high[k] + low[k], 0x1.8p52);
            const double r = FUSED(power, low[k], FUSED(power, high[k], 0x1.8p52 - t));
            const union { double a; uint64_t b; } near = { inside ? t : e < 0 ? 0x1.8p52 - 1100 : 0x1.8p52 + 1100 };
            const uint64_t n = near.b - (0x4338000000000000ULL - 2046), half = n >> 1;
            const union { uint64_t a; double b; } first = { half << 52 }, second = { (n - half) << 52 };
            y[j + k] = exp2_near(inside ? r : 0) * first.b * second.b;
        }
    }
}

static inline __attribute__((always_inline)) void sizes_of_powersf(float *y, const float *a, const float *b, int64_t n) {
    for (int64_t j = 0; j < n; j += SINGLES) {
        uint32_t bits[SINGLES];
        float high[SINGLES], low[SINGLES];
#pragma omp simd
        for (int k = 0; k < SINGLES; k++) {
            const float x = __builtin_fabsf(a[j + k]);
            const int below = x < 0x1p-126f;
            const union { float a; uint32_t b; } size = { below ? x * 0x1p25f : x };
            bits[k] = size.b - (below ? 25U << 23 : 0);
        }
        log2_of_singles(high, low, bits);
#pragma omp simd
        for (int k = 0; k < SINGLES; k++) {
            const float power = b[j + k], e = power * (high[k] + low[k]);
            const int inside = (e > -180) & (e < 180);
            const float t = FUSED_SINGLE(power, high[k] + low[k], 0x1.8p23f);
            const float r = FUSED_SINGLE(power, low[k], FUSED_SINGLE(power, high[k], 0x1.8p23f - t));
            const union { float a; uint32_t b; } near = { inside ? t : e < 0 ? 0x1.8p23f - 180 : 0x1.8p23f + 180 };
            const int32_t n = (int32_t)(near.b << 16) >> 16, half = n >> 1;
            const union { uint32_t a; float b; } first = { (half + 127) << 23 }, second = { (n - half + 127) << 23 };
            y[j + k] = exp2_nearf(inside ? r : 0) * first.b * second.b;
        }
    }
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

static inline __attribute__((always_inline)) int has_small_powerF(const FLOAT *b, int64_t n) {
    int found = 0;
    for (int64_t j = 0; j < n; j++) found |= (b[j] == 1) | (b[j] == 2) | (b[j] == 3) | (b[j] == -1);
    return found;
}

VECTOR FLOAT powF(FLOAT, FLOAT);

/* libm's where nothing is rounded once at the speed of a product */

#if defined __FP_FAST_FMA || defined __FMA__ || defined __aarch64__
static void powerF_16(FLOAT *y, const FLOAT *a, const FLOAT *b, int64_t n) {
    FLOAT y128[128];
    for (int64_t i = 0, m = 128; i < n; i += m, a += m, b += m) {
        m = n - i < 128 ? n - i : 128;
        int few; /* digits, as small exponents have */
        const int rare = usual_powersF(y128, a, b, m, &few);
        if (rare || (few && has_small_powerF(b, m))) {
            sizes_of_powersF(y128, a, b, m);
            for (int64_t j = 0; j < m; j += 16)
#pragma omp simd
                for (int k = 0; k < 16; k++)
                    y128[j + k] = small_powerF(a[j + k], b[j + k], any_powerF(a[j + k], b[j + k], y128[j + k]));
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

/* x c + x p(x), of which c is 1, 1/2 or 1/4 and p a polynomial around each of 16 places 17/64 apart; from 4 on all round
   to 1 */

static const float erf_parts[6][16] = {
    {
        0, -0x1.321abap-5f, -0x1.961744p-5f, -0x1.11ac2ep-5f, -0x1.a079a4p-8f, 0x1.9c3cdcp-7f, 0x1.18f126p-6f,
        0x1.9821ecp-7f, 0x1.841a66p-8f, 0x1.882e54p-10f, -0x1.c73a18p-12f, -0x1.cecbfap-11f, -0x1.931cbp-11f,
        -0x1.20786ep-11f, -0x1.853702p-12f, -0x1.1c7c64p-12f
    },
    {
        0x1.cb48ap-4f, 0x1.5f0b26p-4f, 0x1.933184p-6f, -0x1.0cd6c8p-5f, -0x1.e4f192p-5f, -0x1.b6ea84p-5f, -0x1.09d3c4p-5f,
        -0x1.9121d6p-7f, -0x1.221f94p-13f, 0x1.26904p-8f, 0x1.467d24p-8f, 0x1.06ab52p-8f, 0x1.7a0a1p-9f, 0x1.074a94p-9f,
        0x1.6fd6b6p-10f, 0x1.041f4ep-10f
    },
    {
        0, 0x1.c35caep-4f, 0x1.5d175cp-3f, 0x1.4f9ec4p-3f, 0x1.c7e68p-4f, 0x1.8ff2bp-5f, 0x1.492e9p-9f, -0x1.513e4cp-6f,
        -0x1.ae6c98p-6f, -0x1.7eb294p-6f, -0x1.27f7a2p-6f, -0x1.b17ff2p-7f, -0x1.3a0be2p-7f, -0x1.cbb096p-8f,
        -0x1.567ca8p-8f, -0x1.04056ep-8f
    },
    {
        -0x1.81260cp-2f, -0x1.523cdep-2f, -0x1.b6766ap-3f, -0x1.3a759cp-4f, 0x1.1c8376p-5f, 0x1.91cde8p-4f,
        0x1.df5496p-4f, 0x1.bbf08ep-4f, 0x1.6bfc44p-4f, 0x1.19aea6p-4f, 0x1.abecd6p-5f, 0x1.465d9ap-5f, 0x1.f91dc4p-6f,
        0x1.8dc654p-6f, 0x1.3e915cp-6f, 0x1.030564p-6f
    },
    {
        0, -0x1.88547ep-3f, -0x1.5a6e46p-2f, -0x1.a94b18p-2f, -0x1.b2cde8p-2f, -0x1.8c6696p-2f, -0x1.5036p-2f,
        -0x1.1211f8p-2f, -0x1.b87062p-3f, -0x1.62e7ap-3f, -0x1.21767ep-3f, -0x1.df725ap-4f, -0x1.9315aep-4f,
        -0x1.577f62p-4f, -0x1.282f8cp-4f, -0x1.0202fap-4f
    },
    {
        0x1.06eba8p-3f, 0x1.a3673cp-4f, 0x1.f608fp-6f, -0x1.231fb4p-4f, -0x1.78b83cp-3f, 0x1.a8f7b4p-3f, 0x1.cbd6a2p-4f,
        0x1.101d04p-5f, -0x1.f65862p-6f, -0x1.4fe0ecp-4f, -0x1.fa3dfep-4f, 0x1.79ca08p-4f, 0x1.0502dep-4f, 0x1.445768p-5f,
        0x1.35c7e8p-6f, 0x1.0100b6p-10f
    }
};

static const float erf_quotients[16] = {
    0x1p0f, 0x1p0f, 0x1p0f, 0x1p0f, 0x1p0f, 0x1p-1f, 0x1p-1f, 0x1p-1f, 0x1p-1f, 0x1p-1f, 0x1p-1f, 0x1p-2f, 0x1p-2f,
    0x1p-2f, 0x1p-2f, 0x1p-2f
};

static void np_erff_16(float *y, const float *x, int64_t n) {
    for (int64_t i = 0; i < n; i += SINGLES) {
        int32_t index[SINGLES];
        float sizes[SINGLES], beside[SINGLES], p[6][SINGLES], c[SINGLES];
#pragma omp simd
        for (int k = 0; k < SINGLES; k++) {
            const float size = __builtin_fabsf(x[i + k]), a = size > 4 ? 4 : size;
            const union { float a; int32_t b; } t = { FUSED_SINGLE(a, 0x1.e1e1e2p1f, 0x1.8p23f) };
            index[k] = t.b, sizes[k] = a, beside[k] = FUSED_SINGLE(t.a - 0x1.8p23f, -0x1.1p-2f, a);
        }
        look_up(p[0], erf_parts[0], 16, index), look_up(p[1], erf_parts[1], 16, index);
        look_up(p[2], erf_parts[2], 16, index), look_up(p[3], erf_parts[3], 16, index);
        look_up(p[4], erf_parts[4], 16, index), look_up(p[5], erf_parts[5], 16, index);
        look_up(c, erf_quotients, 16, index);
#pragma omp simd
        for (int k = 0; k < SINGLES; k++) {
            const float d = beside[k];
            float q = FUSED_SINGLE(p[0][k], d, p[1][k]);
            q = FUSED_SINGLE(q, d, p[2][k]), q = FUSED_SINGLE(q, d, p[3][k]);
            q = FUSED_SINGLE(q, d, p[4][k]), q = FUSED_SINGLE(q, d, p[5][k]);
            y[i + k] = __builtin_copysignf(FUSED_SINGLE(sizes[k], q, sizes[k] * c[k]), x[i + k]);
        }
    }
}
