/*
parallel for i0 in 0..4096:
    reduce a0 by max:
        simd for r0 in 0..1024:
            v0:float32 = buf4[1024*i0 + r0]
            a0 <- v0
    reduce ba0 by add:
        simd for br0 in 0..1024:
            bv0:float32 = buf4[br0 + 1024*i0]
            bv2:float32 = sub(bv0, a0)
            bv3:float32 = exp(bv2)
            ba0 <- bv3
            buf1[br0] = bv3
    simd for cr0 in 0..1024:
        cv0:float32 = buf1[cr0]
        cv2:float32 = div(cv0, ba0)
        buf3[cr0 + 1024*i0] = cv2
*/
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
/* the accumulators begin with a number that a compiler does not see: of zeros it makes stores that are narrower than the
   loads after them, which then wait for the cache */
static inline void clear_max_f32x32(float *restrict acc) {
    float first = (-__builtin_inff());
    __asm__("" : "+m"(first));
#pragma omp simd
    for (int k = 0; k < 32; k++) acc[k] = first;
}
#define SCALAR __asm__ volatile("") /* keeps the few iterations of a rest from being vectorised */
/* 32 accumulators take the maximum of m elements in turn */
static inline void max_f32x32(float *restrict acc, const float *restrict x, int64_t m) {
    for (; m >= 32; m -= 32, x += 32)
#pragma omp simd
        for (int k = 0; k < 32; k++) acc[k] = x[k] != x[k] ? x[k] : (x[k] > acc[k] ? x[k] : acc[k]);
    for (int64_t k = 0; k < m; k++) { acc[k] = x[k] != x[k] ? x[k] : (x[k] > acc[k] ? x[k] : acc[k]); SCALAR; }
}
/* the accumulators, combined in pairs */
static inline float fold_max_f32x32(float *restrict acc) {
#pragma omp simd
    for (int k = 0; k < 16; k++) acc[k] = acc[k + 16] != acc[k + 16] ? acc[k + 16] : (acc[k + 16] > acc[k] ? acc[k + 16] : acc[k]);
#pragma omp simd
    for (int k = 0; k < 8; k++) acc[k] = acc[k + 8] != acc[k + 8] ? acc[k + 8] : (acc[k + 8] > acc[k] ? acc[k + 8] : acc[k]);
    const float a = acc[4] != acc[4] ? acc[4] : (acc[4] > acc[0] ? acc[4] : acc[0]), b = acc[5] != acc[5] ? acc[5] : (acc[5] > acc[1] ? acc[5] : acc[1]);
    const float c = acc[6] != acc[6] ? acc[6] : (acc[6] > acc[2] ? acc[6] : acc[2]), d = acc[7] != acc[7] ? acc[7] : (acc[7] > acc[3] ? acc[7] : acc[3]);
    const float e = c != c ? c : (c > a ? c : a), f = d != d ? d : (d > b ? d : b);
    return f != f ? f : (f > e ? f : e);
}
static const unsigned char lane32[32] = {
    0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
    1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31
};
static __attribute__((noinline)) float first_zero_f32x32(const float *restrict x, int64_t n) {
    for (int64_t i = 0; i < n; i += 512)
        for (int k = 0; k < 32; k++)
            for (int64_t j = i + lane32[k]; j < i + 512 && j < n; j += 32)
                if (x[j] == 0) return x[j];
    return 0;
}
static __attribute__((noinline)) float extreme_max_f32x32(float *restrict acc, const float *restrict x, int64_t n) {
    const float found = fold_max_f32x32(acc);
    return found == 0 ? first_zero_f32x32(x, n) : found;
}
/* the accumulators begin with a number that a compiler does not see: of zeros it makes stores that are narrower than the
   loads after them, which then wait for the cache */
static inline void clear_add_f32x32(float *restrict acc) {
    float first = 0.0f;
    __asm__("" : "+m"(first));
#pragma omp simd
    for (int k = 0; k < 32; k++) acc[k] = first;
}
__attribute__((simd("notinbranch"))) float expf(float);
/* of n elements, full blocks of 16 */
static void expf_16(float *y, const float *x, int64_t n) {
    for (int64_t i = 0; i < n; i += 16)
#pragma omp simd
        for (int k = 0; k < 16; k++) y[i + k] = expf(x[i + k]);
}
static __attribute__((noinline)) void expf_v(float *y, const float *x, int64_t n) {
    const int64_t i = n & -16;
    expf_16(y, x, i);
    if (i == n) return;
    float x16[16] = {0}, y16[16];
    __builtin_memcpy(x16, x + i, (n - i) * sizeof(float));
    expf_16(y16, x16, 16);
    __builtin_memcpy(y + i, y16, (n - i) * sizeof(float));
}
/* 32 accumulators take the sum of m elements in turn */
static inline void add_f32x32(float *restrict acc, const float *restrict x, int64_t m) {
    for (; m >= 32; m -= 32, x += 32)
#pragma omp simd
        for (int k = 0; k < 32; k++) acc[k] = x[k] + acc[k];
    for (int64_t k = 0; k < m; k++) { acc[k] = x[k] + acc[k]; SCALAR; }
}
/* the accumulators, combined in pairs */
static inline float fold_add_f32x32(float *restrict acc) {
#pragma omp simd
    for (int k = 0; k < 16; k++) acc[k] = acc[k + 16] + acc[k];
#pragma omp simd
    for (int k = 0; k < 8; k++) acc[k] = acc[k + 8] + acc[k];
    const float a = acc[4] + acc[0], b = acc[5] + acc[1];
    const float c = acc[6] + acc[2], d = acc[7] + acc[3];
    const float e = c + a, f = d + b;
    return f + e;
}
/* blocks are combined as a binary counter carries: tree[k] is the result of 2^k of them */
static void flush_add_f32x32(float *restrict tree, int64_t blocks, float *restrict acc) {
    float x = fold_add_f32x32(acc);
    int level = 0;
    for (; blocks & 1; blocks >>= 1, level++) x = x + tree[level];
    tree[level] = x;
    clear_add_f32x32(acc);
}
static float total_add_f32(const float *restrict tree, int64_t blocks) {
    int level = __builtin_ctzll((uint64_t)blocks);
    float x = tree[level++];
    for (blocks >>= level; blocks; blocks >>= 1, level++)
        if (blocks & 1) x = x + tree[level];
    return x;
}
typedef union { int64_t i; uint64_t u; double f; double c[2]; } uopc_scalar;

static inline int64_t F_n_n(float *restrict row0, float *restrict out0, const float *restrict in0, const int64_t *restrict n, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        float a0_[32];
        clear_max_f32x32(a0_);
        for (int64_t j0 = 0; j0 < n[0]; j0 += 512) {
            const int64_t m = n[0] - j0 < 512 ? n[0] - j0 : 512;
            max_f32x32(a0_, &in0[i*n[1] + j0], m);
        }
        const float a0 = extreme_max_f32x32(a0_, &in0[i*n[3] + 0], n[2]);
        float ba0_[32];
        clear_add_f32x32(ba0_);
        float ba0_tree[48];
        int64_t ba0_blocks = 0;
        for (int64_t j0 = 0; j0 < n[4]; j0 += 512) {
            const int64_t m = n[4] - j0 < 512 ? n[4] - j0 : 512;
            float t0[512];
#pragma omp simd
            for (int64_t l = 0; l < m; l++) {
                const int64_t j = j0 + l;
                const float bv0 = in0[i*n[5] + j];
                const float bv2 = bv0 - a0;
                t0[l] = bv2;
            }
            expf_v(&row0[j0], t0, m);
            add_f32x32(ba0_, &row0[j0], m);
            flush_add_f32x32(ba0_tree, ba0_blocks++, ba0_);
        }
        const float ba0 = total_add_f32(ba0_tree, ba0_blocks);
#pragma omp simd
        for (int64_t j = 0; j < n[6]; j++) {
            const float cv0 = row0[j];
            const float cv2 = cv0 / ba0;
            out0[i*n[7] + j] = cv2;
        }
    }
    return 0;
}

int64_t uopc_kernel_e070df3341801a3e(void *const *bufs, const int64_t *dims, const uopc_scalar *scalars, int64_t begin, int64_t end, char *scratch, int64_t *status) {
    return F_n_n((float *)(scratch + 0), bufs[0], bufs[1], dims, begin, end);
}
