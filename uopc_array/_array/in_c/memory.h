/* Memory for the arrays that NumPy makes in the context in which it does not warn, by its interface for that (NEP 49).

   The C library gives what is larger than 128 KB back to the system as soon as it is free, and an expression of some
   operations takes fresh pages each time, which cost five times the arithmetic. So a few such blocks are kept. What is
   smaller is the C library's. */
#include <stdatomic.h>
#include <stdlib.h>

enum { LEAST_KEPT = 64 << 10, CLASS_BYTES = 64 << 10, N_CLASSES = 32, MOST_OF_A_CLASS = 8, MOST_KEPT_BYTES = 8 << 20 };
enum { HEAD = 64 };  /* bytes before the elements: the last of them say how many follow, 0 of what is not kept */

static void *kept_blocks[N_CLASSES][MOST_OF_A_CLASS];
static int n_kept[N_CLASSES];
static size_t kept_bytes;
static uint64_t last_turn, turns[N_CLASSES];  /* when a block of each class was last taken or given back */
static atomic_flag is_busy = ATOMIC_FLAG_INIT;  /* who finds it set does without what is kept, and never waits */

static size_t *capacity_of(void *block) { return (size_t *)((char *)block - sizeof(size_t)); }

/* The number of a class of blocks; -1 of what is not kept. */
static int class_of(size_t size)
{
    size_t number = (size + CLASS_BYTES - 1) / CLASS_BYTES;
    return size < LEAST_KEPT || number > N_CLASSES ? -1 : (int)number - 1;
}

static void *taken_from(int number)
{
    void *block = NULL;
    if (!atomic_flag_test_and_set(&is_busy)) {
        turns[number] = ++last_turn;
        if (n_kept[number] > 0) {
            block = kept_blocks[number][--n_kept[number]];
            kept_bytes -= *capacity_of(block);
        }
        atomic_flag_clear(&is_busy);
    }
    return block;
}

static void drop_kept_blocks(void)
{
    if (atomic_flag_test_and_set(&is_busy)) return;
    for (int number = 0; number < N_CLASSES; number++)
        while (n_kept[number] > 0) free((char *)kept_blocks[number][--n_kept[number]] - HEAD);
    kept_bytes = 0;
    atomic_flag_clear(&is_busy);
}

/* Make room for a block, by the blocks of the classes that have not been used for the longest time: a program that goes
   on to arrays of another size needs those no more. Returns whether there is room. */
static int room_for(size_t capacity, int number)
{
    while (kept_bytes + capacity > MOST_KEPT_BYTES) {
        int oldest = -1;
        for (int other = 0; other < N_CLASSES; other++)
            if (other != number && n_kept[other] > 0 && (oldest < 0 || turns[other] < turns[oldest])) oldest = other;
        if (oldest < 0) return 0;
        void *block = kept_blocks[oldest][--n_kept[oldest]];
        kept_bytes -= *capacity_of(block);
        free((char *)block - HEAD);
    }
    return 1;
}

static void *new_block(void *Py_UNUSED(context), size_t size)
{
    int number = class_of(size);
    size_t capacity = number < 0 ? 0 : (size_t)(number + 1) * CLASS_BYTES;
    void *block = number < 0 ? NULL : taken_from(number);
    if (block != NULL) return block;
    if (size > SIZE_MAX - 2 * HEAD) return NULL;
    size_t all = HEAD + (capacity > size ? capacity : (size + HEAD - 1) / HEAD * HEAD);
    char *start = size < 1024 ? malloc(HEAD + size) : aligned_alloc(HEAD, all);
    if (start == NULL) {
        drop_kept_blocks();
        start = size < 1024 ? malloc(HEAD + size) : aligned_alloc(HEAD, all);
        if (start == NULL) return NULL;
    }
    *capacity_of(start + HEAD) = capacity;
    return start + HEAD;
}

static void end_of_block(void *Py_UNUSED(context), void *block, size_t Py_UNUSED(size))
{
    if (block == NULL) return;
    size_t capacity = *capacity_of(block);
    if (capacity != 0 && !atomic_flag_test_and_set(&is_busy)) {
        int number = class_of(capacity);
        turns[number] = ++last_turn;
        int is_kept = n_kept[number] < MOST_OF_A_CLASS && room_for(capacity, number);
        if (is_kept) {
            kept_blocks[number][n_kept[number]++] = block;
            kept_bytes += capacity;
        }
        atomic_flag_clear(&is_busy);
        if (is_kept) return;
    }
    free((char *)block - HEAD);
}

static void *zeroed_block(void *context, size_t n, size_t size)
{
    if (size != 0 && n > SIZE_MAX / size) return NULL;
    void *block = new_block(context, n * size);
    return block == NULL ? NULL : memset(block, 0, n * size);
}

/* Another size of a block, of which `size` bytes are wanted; how many there were only the C library knows. */
static void *resized_block(void *context, void *block, size_t size)
{
    if (block == NULL) return new_block(context, size);
    size_t capacity = *capacity_of(block);
    if (capacity != 0) {
        if (size <= capacity && size > capacity / 2) return block;
        void *moved = new_block(context, size);
        if (moved == NULL) return NULL;
        memcpy(moved, block, size < capacity ? size : capacity);
        end_of_block(context, block, 0);
        return moved;
    }
    if (size > SIZE_MAX - 2 * HEAD) return NULL;
    char *start = realloc((char *)block - HEAD, HEAD + size);
    return start == NULL ? NULL : start + HEAD;
}

static PyDataMem_Handler handler = {"uopc_array", 1, {NULL, new_block, zeroed_block, resized_block, end_of_block}};

/* Let NumPy use this in the context `quiet`; 0 with an exception where that fails. */
static int use_memory(void)
{
    PyObject *capsule = PyCapsule_New(&handler, "mem_handler", NULL);
    if (capsule == NULL || PyContext_Enter(quiet) < 0) {
        Py_XDECREF(capsule);
        return 0;
    }
    PyObject *before = PyDataMem_SetHandler(capsule);
    Py_DECREF(capsule);
    Py_XDECREF(before);
    if (PyContext_Exit(quiet) < 0) return 0;
    return before != NULL;
}
