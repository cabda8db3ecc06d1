/* Threads that run random programs on runtime.c at the same time, some of which fail, and fork in the midst of it.
 *
 * usage: runtime_stress THREADS ROUNDS FORKS; prints the number of programs that ran, or where something was wrong.
 */
#include "runtime.c"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 3000, STEPS = 5, BUFFERS = 80 };

typedef struct {
    int64_t seed, n_rounds, n_forks, n_wrong, n_run;
} worker_order;

static uint64_t draw(uint64_t *state, uint64_t bound) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state % bound;
}

/* bufs[0][i] = bufs[1][i] * scalar + dim, through scratch where there is some */
static int64_t scale(void *const *bufs, const int64_t *dims, const uopc_scalar *scalars, int64_t begin, int64_t end, char *scratch,
                     int64_t *status) {
    int64_t *out = bufs[0];
    const int64_t *in = bufs[1];
    (void)status;
    for (int64_t i = begin; i < end; i++) {
        int64_t value = in[i] * scalars[0].i + dims[0];
        if (scratch) {
            ((int64_t *)scratch)[i % dims[1]] = value;
            value = ((int64_t *)scratch)[i % dims[1]];
        }
        out[i] = value;
    }
    return 0;
}

/* bufs[0][i] = bufs[1][i]; fails at every iteration that is a multiple of dims[0], except the first */
static int64_t fail(void *const *bufs, const int64_t *dims, const uopc_scalar *scalars, int64_t begin, int64_t end, char *scratch,
                    int64_t *status) {
    (void)scalars, (void)scratch;
    for (int64_t i = begin; i < end; i++) {
        ((int64_t *)bufs[0])[i] = ((const int64_t *)bufs[1])[i];
        if (i && i % dims[0] == 0) {
            status[0] = 1, status[1] = i, status[2] = 2, status[3] = dims[0];
            return 1;
        }
    }
    return 0;
}

/* One random program on fresh memory; 0 if all it gives is right. */
static int run_one(uint64_t *state) {
    int64_t n = 1 + (int64_t)draw(state, SIZE), n_steps = 1 + (int64_t)draw(state, STEPS), fails_at = -1;
    int64_t *memory[STEPS + 1], dims[STEPS][2], wanted[STEPS + 1];
    int32_t slots[STEPS][BUFFERS], scalar_slots[1] = {0};
    uopc_step steps[STEPS];
    _Alignas(16) char arguments[(STEPS + 2) / 2 * 16 + sizeof(uopc_scalar)];
    for (int64_t k = 0; k <= n_steps; k++) memory[k] = malloc((size_t)n * sizeof(int64_t));
    for (int64_t i = 0; i < n; i++) memory[0][i] = i;
    for (int64_t k = 0; k < n_steps; k++) {
        int fails = fails_at < 0 && draw(state, 8) == 0;
        int32_t n_slots = draw(state, 10) ? 2 : BUFFERS; /* more than fit on the stack */
        for (int32_t s = 0; s < n_slots; s++) slots[k][s] = (int32_t)(s % 2 ? k : k + 1);
        dims[k][0] = fails ? 1 + (int64_t)draw(state, (uint64_t)n) : (int64_t)draw(state, 100);
        dims[k][1] = 1 + (int64_t)draw(state, 500);
        int64_t scratch_bytes = draw(state, 2) ? dims[k][1] * 8 : 0;
        steps[k] = (uopc_step){fails ? fail : scale, slots[k], scalar_slots, dims[k], n_slots, 1, n,
                               1 + (int64_t)draw(state, 64), (int64_t)draw(state, 1 << 20), scratch_bytes, 0};
        if (fails && dims[k][0] < n) fails_at = k;
    }
    uopc_program program = {steps, n_steps, n_steps + 1};
    for (int64_t k = 0; k <= n_steps; k++) ((void **)arguments)[k] = memory[k];
    ((uopc_scalar *)(arguments + (n_steps + 2) / 2 * 16))[0].i = 3;
    int64_t failed = uopc_call(&program, arguments, 1 + (int64_t)draw(state, 8)), status[STATUS] = {0};
    int wrong = failed != fails_at + 1;
    if (failed) {
        uopc_last_status(status);
        wrong |= status[0] != 1 || status[1] != dims[fails_at][0];
    }
    for (int64_t i = 0; i < n; i++) {
        wanted[0] = i;
        for (int64_t k = 0; k < n_steps && k != fails_at; k++) {
            wanted[k + 1] = steps[k].fn == scale ? wanted[k] * 3 + dims[k][0] : wanted[k];
            wrong |= memory[k + 1][i] != wanted[k + 1];
        }
    }
    for (int64_t k = 0; k <= n_steps; k++) free(memory[k]);
    return wrong;
}

static int fork_and_run(uint64_t *state) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int wrong = 0;
        for (int i = 0; i < 5; i++) wrong |= run_one(state);
        _exit(wrong);
    }
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

static void *stress(void *argument) {
    worker_order *order = argument;
    uint64_t state = (uint64_t)order->seed * 0x9E3779B97F4A7C15u + 1;
    for (int64_t round = 0; round < order->n_rounds; round++) {
        order->n_wrong += run_one(&state);
        order->n_run++;
        if (order->n_forks && round % (order->n_rounds / order->n_forks) == 0) order->n_wrong += fork_and_run(&state);
    }
    return NULL;
}

int main(int n, char **words) {
    if (n != 4) return 2;
    int64_t n_threads = atoll(words[1]), n_wrong = 0, n_run = 0;
    pthread_t threads[64];
    worker_order orders[64];
    for (int64_t t = 0; t < n_threads; t++) {
        orders[t] = (worker_order){t, atoll(words[2]), atoll(words[3]), 0, 0};
        if (pthread_create(&threads[t], NULL, stress, &orders[t])) return 3;
    }
    for (int64_t t = 0; t < n_threads; t++) {
        pthread_join(threads[t], NULL);
        n_wrong += orders[t].n_wrong;
        n_run += orders[t].n_run;
    }
    printf("%lld programs, %lld wrong\n", (long long)n_run, (long long)n_wrong);
    return n_wrong != 0;
}
