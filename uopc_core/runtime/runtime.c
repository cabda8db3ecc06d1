/* Runs compiled programs: walks their steps, splits each among threads, and reports the first failure.
 *
 * The split is static and in multiples of the step's grain, so the parts never depend on timing; only who runs a part does: what a worker
 * has not begun when the caller is through with its own part, the caller does too, so a busy machine costs nothing. Workers are made
 * when first needed, inherit the affinity of the thread that needs them, and sleep when idle. A forked child starts without any. While
 * one thread of the program uses the workers, another that comes along runs its steps alone.
 *
 * Why threads of its own and not OpenMP's: libgomp's do not survive a fork (a child that enters a parallel region waits for ever for
 * workers it has not got), a team waits for all of its members at the end of a region, also for one that the system has not run yet,
 * and spins meanwhile, and a second OpenMP runtime in the process, as other packages bring theirs, is a set of threads more on the
 * same CPUs. Kernels use `omp simd` alone, which needs no runtime.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef union { int64_t i; uint64_t u; double f; double c[2]; } uopc_scalar;

typedef int64_t (*uopc_kernel)(void *const *bufs, const int64_t *dims, const uopc_scalar *scalars, int64_t begin, int64_t end,
                               char *scratch, int64_t *status);

typedef struct {
    uopc_kernel fn;
    const int32_t *slots;        /* which buffers of the program the kernel takes */
    const int32_t *scalar_slots; /* which scalars */
    const int64_t *dims;
    int32_t n_slots, n_scalars;
    int64_t extent, grain; /* of the loop that may be split */
    int64_t work;          /* element operations in all */
    int64_t scratch_bytes; /* for each thread */
    int64_t parts_bytes;   /* for all threads in its place: the function is called once more, for no iteration, at the end */
} uopc_step;

typedef struct {
    const uopc_step *steps;
    int64_t n_steps, n_bufs;
} uopc_program;

enum { STATUS = 4, MAX_THREADS = 256, LOCAL = 64, SPINS = 1000, OUT_OF_MEMORY = 2 };
#ifndef WORK_OF_A_THREAD /* costs.py tells it */
#define WORK_OF_A_THREAD 32768
#endif

/* ---- what a thread owns: scratch, and gathered arguments of steps with many ---- */

typedef struct {
    char *scratch;
    int64_t scratch_bytes;
} thread_space;

static pthread_key_t space_key;
static pthread_once_t space_once = PTHREAD_ONCE_INIT;
static __thread thread_space *my_space;
static __thread int64_t my_status[STATUS];

static void free_space(void *space) {
    free(((thread_space *)space)->scratch);
    free(space);
}

static void make_space_key(void) { pthread_key_create(&space_key, free_space); }

/* Scratch of this thread, 64-byte aligned and kept for the next step; NULL if there is no memory. */
static char *scratch_of(int64_t bytes) {
    if (!my_space) {
        pthread_once(&space_once, make_space_key);
        my_space = calloc(1, sizeof *my_space);
        if (!my_space) return NULL;
        pthread_setspecific(space_key, my_space);
    }
    if (my_space->scratch_bytes < bytes) {
        void *grown;
        if (posix_memalign(&grown, 64, (size_t)bytes)) return NULL;
        free(my_space->scratch);
        my_space->scratch = grown;
        my_space->scratch_bytes = bytes;
    }
    return my_space->scratch;
}

/* Subnormal numbers are kept, whatever another library has set for this thread. Returns what was set. */
static unsigned keep_subnormals(void) {
#if defined(__SSE__)
    unsigned before = __builtin_ia32_stmxcsr();
    if (before & 0x8040u) __builtin_ia32_ldmxcsr(before & ~0x8040u);
    return before;
#else
    return 0;
#endif
}

static void restore_subnormals(unsigned before) {
#if defined(__SSE__)
    if (before & 0x8040u) __builtin_ia32_ldmxcsr(before);
#else
    (void)before;
#endif
}

/* ---- one step ---- */

typedef struct {
    const uopc_step *step;
    void *const *bufs;
    const uopc_scalar *scalars;
    char *parts; /* what all threads share */
    int64_t n_parts;
    int64_t remaining; /* parts of other threads that still run; atomic */
    int64_t status[MAX_THREADS][STATUS];
} job;

static void run_range(const job *j, int64_t begin, int64_t end, int64_t *status) {
    const uopc_step *s = j->step;
    char *scratch = j->parts;
    if (s->scratch_bytes > 0 && !(scratch = scratch_of(s->scratch_bytes))) {
        status[0] = OUT_OF_MEMORY;
        return;
    }
    s->fn(j->bufs, s->dims, j->scalars, begin, end, scratch, status);
}

static void run_part(job *j, int64_t part) {
    const uopc_step *s = j->step;
    int64_t n_grains = (s->extent + s->grain - 1) / s->grain;
    int64_t begin = n_grains * part / j->n_parts * s->grain, end = n_grains * (part + 1) / j->n_parts * s->grain;
    run_range(j, begin, end < s->extent ? end : s->extent, j->status[part]);
}

/* ---- workers ---- */

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    job *job;      /* on offer; whoever exchanges it for NULL runs the part; atomic */
    int64_t part;
    int is_asleep; /* under the mutex */
} worker;

static worker *workers[MAX_THREADS];
static int64_t n_workers;
static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER; /* held by the thread that uses the workers */
static pthread_mutex_t done_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static job *take_job(worker *w) {
    if (!__atomic_load_n(&w->job, __ATOMIC_RELAXED)) return NULL;
    return __atomic_exchange_n(&w->job, NULL, __ATOMIC_ACQ_REL);
}

static job *next_job(worker *me) {
    job *j;
    for (int i = 0; i < SPINS; i++) {
        if ((j = take_job(me))) return j;
        relax();
    }
    pthread_mutex_lock(&me->mutex);
    me->is_asleep = 1;
    while (!(j = take_job(me))) pthread_cond_wait(&me->wake, &me->mutex);
    me->is_asleep = 0;
    pthread_mutex_unlock(&me->mutex);
    return j;
}

static void *work(void *self) {
    worker *me = self;
    keep_subnormals();
    for (;;) {
        job *j = next_job(me);
        run_part(j, me->part);
        if (__atomic_sub_fetch(&j->remaining, 1, __ATOMIC_ACQ_REL) == 0) { /* from here on the job may be gone */
            pthread_mutex_lock(&done_mutex);
            pthread_cond_signal(&done);
            pthread_mutex_unlock(&done_mutex);
        }
    }
    return NULL;
}

/* In a forked child: no workers, and no lock held by a thread that is not there. The memory of the workers is let go. */
static void forget_workers(void) {
    n_workers = 0;
    pthread_mutex_init(&pool_mutex, NULL);
    pthread_mutex_init(&done_mutex, NULL);
    pthread_cond_init(&done, NULL);
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_workers); }

static int start_worker(void) {
    worker *w = calloc(1, sizeof *w);
    if (!w) return 0;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->wake, NULL);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the threads of Python */
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        free(w);
        return 0;
    }
    pthread_detach(thread);
    workers[n_workers++] = w;
    return 1;
}

static void hand_over(worker *w, job *j, int64_t part) {
    w->part = part;
    __atomic_store_n(&w->job, j, __ATOMIC_RELEASE);
    pthread_mutex_lock(&w->mutex);
    if (w->is_asleep) pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mutex);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Runs the parts that no worker has begun, then waits for those that one has: awake for as long as the own part took, which is what
 * theirs take from when they began. To sleep and be woken may take longer than that, on a virtual machine 100 us; and where a worker
 * is kept from running, as long again is all that is lost. */
static void finish(job *j, int64_t own_ns) {
    for (int64_t part = 1; part < j->n_parts; part++) {
        if (take_job(workers[part - 1])) {
            run_part(j, part);
            __atomic_sub_fetch(&j->remaining, 1, __ATOMIC_ACQ_REL);
        }
    }
    const int64_t until = now_ns() + own_ns;
    do {
        for (int i = 0; i < SPINS; i++) {
            if (__atomic_load_n(&j->remaining, __ATOMIC_ACQUIRE) == 0) return;
            relax();
        }
    } while (now_ns() < until);
    pthread_mutex_lock(&done_mutex);
    while (__atomic_load_n(&j->remaining, __ATOMIC_ACQUIRE) != 0) pthread_cond_wait(&done, &done_mutex);
    pthread_mutex_unlock(&done_mutex);
}

static void run_parallel(job *j, int64_t n_parts) {
    pthread_once(&fork_once, watch_forks);
    while (n_workers < n_parts - 1 && start_worker()) {}
    j->n_parts = n_workers + 1 < n_parts ? n_workers + 1 : n_parts;
    j->remaining = j->n_parts - 1;
    for (int64_t part = 0; part < j->n_parts; part++) j->status[part][0] = 0;
    for (int64_t part = 1; part < j->n_parts; part++) hand_over(workers[part - 1], j, part);
    const int64_t start = now_ns();
    run_part(j, 0);
    finish(j, now_ns() - start);
}

static int64_t count_parts(const uopc_step *s, int64_t n_threads) {
    int64_t n_parts = s->work / WORK_OF_A_THREAD, n_grains = s->extent / s->grain;
    if (n_parts > n_grains) n_parts = n_grains;
    if (n_parts > n_threads) n_parts = n_threads;
    return n_parts > MAX_THREADS ? MAX_THREADS : n_parts;
}

/* Runs the step of `j`; returns 1 with the failure of the lowest iteration in `status`. */
static int64_t run_step(job *j, int64_t n_threads, int64_t *status) {
    const uopc_step *s = j->step;
    int64_t n_parts = count_parts(s, n_threads);
    j->parts = NULL;
    if (s->parts_bytes > 0 && !(j->parts = scratch_of(s->parts_bytes))) {
        status[0] = OUT_OF_MEMORY;
        return 1;
    }
    if (n_parts > 1 && pthread_mutex_trylock(&pool_mutex) == 0) {
        run_parallel(j, n_parts);
        pthread_mutex_unlock(&pool_mutex);
    } else {
        j->n_parts = 1;
        j->status[0][0] = 0;
        run_range(j, 0, s->extent, j->status[0]);
    }
    for (int64_t part = 0; part < j->n_parts; part++) {
        if (j->status[part][0]) {
            memcpy(status, j->status[part], sizeof j->status[part]);
            return 1;
        }
    }
    if (s->parts_bytes > 0) run_range(j, s->extent, s->extent, status);
    return 0;
}

/* ---- programs ---- */

/* Runs the steps in order. Returns 0, or 1 + the number of the step that failed, with `status` filled. */
int64_t uopc_run(const uopc_step *steps, int64_t n_steps, void *const *bufs, const uopc_scalar *scalars, int64_t n_threads, int64_t *status) {
    void *local_bufs[LOCAL], **step_bufs = local_bufs, **many_bufs = NULL;
    uopc_scalar local_scalars[LOCAL], *step_scalars = local_scalars, *many_scalars = NULL;
    int32_t max_bufs = 0, max_scalars = 0;
    job j;
    unsigned before = keep_subnormals();
    int64_t failed = 0;
    for (int64_t i = 0; i < n_steps; i++) {
        if (steps[i].n_slots > max_bufs) max_bufs = steps[i].n_slots;
        if (steps[i].n_scalars > max_scalars) max_scalars = steps[i].n_scalars;
    }
    if (max_bufs > LOCAL) step_bufs = many_bufs = malloc((size_t)max_bufs * sizeof *many_bufs);
    if (max_scalars > LOCAL) step_scalars = many_scalars = malloc((size_t)max_scalars * sizeof *many_scalars);
    if (!step_bufs || !step_scalars) {
        status[0] = OUT_OF_MEMORY;
        failed = 1;
    }
    for (int64_t i = 0; i < n_steps && !failed; i++) {
        const uopc_step *s = &steps[i];
        for (int32_t k = 0; k < s->n_slots; k++) step_bufs[k] = bufs[s->slots[k]];
        for (int32_t k = 0; k < s->n_scalars; k++) step_scalars[k] = scalars[s->scalar_slots[k]];
        j.step = s;
        j.bufs = step_bufs;
        j.scalars = step_scalars;
        if (run_step(&j, n_threads, status)) failed = i + 1;
    }
    free(many_bufs);
    free(many_scalars);
    restore_subnormals(before);
    return failed;
}

/* The entry for Python: `arguments` are the pointers of the program's buffers, then, from the next multiple of 16, its scalars. */
int64_t uopc_call(const uopc_program *program, const char *arguments, int64_t n_threads) {
    void *const *bufs = (void *const *)arguments;
    const uopc_scalar *scalars = (const uopc_scalar *)(arguments + (program->n_bufs + 1) / 2 * 16);
    return uopc_run(program->steps, program->n_steps, bufs, scalars, n_threads, my_status);
}

/* What went wrong in the last call of this thread that failed. */
void uopc_last_status(int64_t *status) { memcpy(status, my_status, sizeof my_status); }
