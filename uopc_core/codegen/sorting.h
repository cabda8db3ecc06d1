/* The helper functions of sorting, see `kernels.h`. One more word stands for

     KEY       an unsigned integer as wide as T, in the order of which elements are sorted; `top` is its highest bit */

#include "kernels.h"

/* What a compiler that reads this file alone takes the capitals for. */
#define KEY uint64_t
#define key_T key_FLOAT

/* ------------------------------------------------------------------------------------------------------- definitions */

/* nan is largest, and zeros of both signs are equal */
static inline KEY key_FLOAT(FLOAT x, KEY top) {
    union { FLOAT a; KEY b; } u = { x + 0 };
    return x != x ? ~(KEY)0 : u.b & top ? ~u.b : u.b | top;
}

static inline KEY key_INT(INT x, KEY top) { return (KEY)x ^ top; }

static inline KEY key_UINT(UINT x, KEY top) { return (void)top, x; }

static inline int width_of(uint64_t x) { return x ? 64 - __builtin_clzll(x) : 0; }

/* Elements whose keys agree in the digits that were kept lie in the order of their indices; where they differ in the
   others they are put in order one by one. Returns 0 where that would take long. */
static __attribute__((noinline)) int mend_T(uint64_t *a, int64_t n, int bits, const char *x, int64_t step, KEY top) {
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    int64_t moves = 0;
    for (int64_t i = 1; i < n; i++) {
        if (a[i] >> bits != a[i - 1] >> bits) continue;
        const uint64_t own = a[i];
        const KEY key = key_T(*(const T *)(x + (int64_t)(own & mask) * step), top);
        int64_t j = i;
        for (; j && a[j - 1] >> bits == own >> bits; j--) {
            if (key_T(*(const T *)(x + (int64_t)(a[j - 1] & mask) * step), top) <= key) break;
            a[j] = a[j - 1];
        }
        a[j] = own;
        moves += i - j;
        if (moves > 4 * n) return 0;
    }
    return 1;
}

/* The indices of n elements in order, equal ones in the order of their indices: a radix sort from the last digit on, of
   numbers that hold a key, less the smallest one, and below it an index (Knuth, The Art of Computer Programming 3, 5.2.5).
   Digits of a key for which there is no room are left to `mend_T`. Returns 0 where it gives up. */
static int argsort_T(uint64_t *out, uint64_t *other, const char *x, int64_t n, int64_t step, KEY top) {
    enum { DIGIT = 11, DIGITS = 6 };
    KEY low = ~(KEY)0, high = 0;
    for (int64_t i = 0; i < n; i++) {
        const KEY key = key_T(*(const T *)(x + i * step), top);
        low = key < low ? key : low, high = key > high ? key : high;
    }
    const int bits = width_of(n - 1), wide = width_of(high - low), dropped = wide + bits > 64 ? wide + bits - 64 : 0;
    const int digits = (wide - dropped + DIGIT - 1) / DIGIT;
    const int digit = digits ? (wide - dropped + digits - 1) / digits : 0;
    const uint64_t mask = ((uint64_t)1 << digit) - 1;
    if (!digits) {
        for (int64_t i = 0; i < n; i++) out[i] = i;
        return 1;
    }
    int64_t place[DIGITS][1 << DIGIT];
    for (int d = 0; d < digits; d++)
        for (int k = 0; k < 1 << digit; k++) place[d][k] = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = (uint64_t)(key_T(*(const T *)(x + i * step), top) - low) >> dropped;
        for (int d = 0; d < digits; d++) place[d][key >> d * digit & mask]++;
    }
    for (int d = 0; d < digits; d++) {
        int64_t sum = 0;
        for (int k = 0; k < 1 << digit; k++) {
            const int64_t count = place[d][k];
            place[d][k] = sum, sum += count;
        }
    }
    uint64_t *to = digits % 2 ? out : other, *from = digits % 2 ? other : out;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = (uint64_t)(key_T(*(const T *)(x + i * step), top) - low) >> dropped;
        to[place[0][key & mask]++] = key << bits | (uint64_t)i;
    }
    for (int d = 1; d < digits; d++) {
        uint64_t *const was = to;
        to = from, from = was;
        for (int64_t i = 0; i < n; i++) to[place[d][from[i] >> (bits + d * digit) & mask]++] = from[i];
    }
    if (dropped && !mend_T(out, n, bits, x, step, top)) return 0;
    for (int64_t i = 0; i < n; i++) out[i] &= ((uint64_t)1 << bits) - 1;
    return 1;
}
