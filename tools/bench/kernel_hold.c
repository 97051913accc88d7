/*
 * The hold model, on the kernel's wheel and on the baseline: a binary heap of (key, sequence) with the same
 * order and the same kind of handler. The heap is what a simulator has that was written in an afternoon.
 */
#include "sim/kernel/kernel.h"
#include "tools/bench/bench.h"
#include "tools/bench/kernel.h"

#include <math.h>
#include <stdlib.h>

#define TABLE 16384u
#define SEED UINT64_C(0x9e3779b97f4a7c15)

const char *const bench_delay_names[BENCH_DELAYS] = {"hw", "hot", "far", "exp", "late"};

struct hold {
    uint32_t *table; /* (delay * 4 + phase) * 8 + handler */
    uint64_t state;
    uint64_t next;
    uint64_t left;
    bool stopped; /* of the heap's run */
};

static uint32_t between(uint64_t *random, uint32_t least, uint32_t most)
{
    return least + (uint32_t)(bench_random(random) % (most - least + 1));
}

static uint32_t draw_delay(enum bench_delays delays, uint64_t *random)
{
    uint32_t percent = between(random, 0, 99);
    if (delays == BENCH_HOT)
        return percent < 90   ? between(random, 1, 4)
               : percent < 99 ? between(random, 5, 64)
                              : between(random, 100, 4000);
    if (delays == BENCH_FAR)
        return percent < 80   ? between(random, 1, 64)
               : percent < 95 ? between(random, 100, 4000)
                              : between(random, 4000, 100000);
    if (delays == BENCH_EXP)
        return 1 + (uint32_t)(-200 * log(between(random, 1, 1 << 20) * 0x1p-20));
    if (delays == BENCH_LATE)
        return percent < 80 ? between(random, 1, 64) : between(random, 100000, 4000000);
    return percent < 95 ? between(random, 1, 64) : between(random, 100, 4000);
}

static uint32_t *make_table(enum bench_delays delays, unsigned handlers, uint64_t *random)
{
    uint32_t *table = bench_allocate(TABLE, sizeof *table);
    for (size_t i = 0; i < TABLE; i++) {
        uint32_t key = draw_delay(delays, random) * PIM_PHASES + between(random, 0, PIM_PHASES - 1);
        table[i] = key * BENCH_HANDLERS + (handlers > 1 ? between(random, 0, handlers - 1) : 0);
    }
    return table;
}

/* Twice the pending events and some more, so that the pool and the caches are in their steady state. */
static uint64_t warm_up(uint64_t pending)
{
    return 2 * pending + 100000;
}

/* ---- the wheel ---- */

static pim_handler *const handlers_on_wheel[BENCH_HANDLERS];

static inline void schedule_on_wheel(struct pim_kernel *kernel, struct hold *hold, uint32_t entry)
{
    uint32_t key = entry / BENCH_HANDLERS;
    pim_kernel_schedule(kernel, key / PIM_PHASES, (enum pim_phase)(key % PIM_PHASES),
                        handlers_on_wheel[entry % BENCH_HANDLERS], hold);
}

/* Handlers that differ by a constant: different code at different addresses. */
#define HANDLER_ON_WHEEL(number)                                                                             \
    static void hold_on_wheel##number(struct pim_kernel *kernel, void *context)                              \
    {                                                                                                        \
        struct hold *hold = context;                                                                         \
        hold->state += number;                                                                               \
        if (--hold->left == 0)                                                                               \
            pim_kernel_stop(kernel);                                                                         \
        schedule_on_wheel(kernel, hold, hold->table[hold->next++ % TABLE]);                                  \
    }
HANDLER_ON_WHEEL(0)
HANDLER_ON_WHEEL(1)
HANDLER_ON_WHEEL(2)
HANDLER_ON_WHEEL(3)
HANDLER_ON_WHEEL(4)
HANDLER_ON_WHEEL(5)
HANDLER_ON_WHEEL(6)
HANDLER_ON_WHEEL(7)

/* The one handler of a run without others knows itself. */
static void hold_alone_on_wheel(struct pim_kernel *kernel, void *context)
{
    struct hold *hold = context;
    uint32_t key = hold->table[hold->next++ % TABLE] / BENCH_HANDLERS;
    if (--hold->left == 0)
        pim_kernel_stop(kernel);
    pim_kernel_schedule(kernel, key / PIM_PHASES, (enum pim_phase)(key % PIM_PHASES), hold_alone_on_wheel,
                        hold);
}

static pim_handler *const handlers_on_wheel[BENCH_HANDLERS] = {hold_on_wheel0, hold_on_wheel1, hold_on_wheel2,
                                                               hold_on_wheel3, hold_on_wheel4, hold_on_wheel5,
                                                               hold_on_wheel6, hold_on_wheel7};

static double run_wheel(struct hold *hold, unsigned handlers, uint64_t pending, uint64_t events,
                        unsigned repeats, uint64_t *random)
{
    struct pim_kernel *kernel = pim_kernel_create();
    if (!kernel)
        abort();
    for (uint64_t i = 0; i < pending; i++) {
        uint32_t entry = hold->table[bench_random(random) % TABLE], key = entry / BENCH_HANDLERS;
        if (handlers > 1)
            schedule_on_wheel(kernel, hold, entry);
        else
            pim_kernel_schedule(kernel, key / PIM_PHASES, (enum pim_phase)(key % PIM_PHASES),
                                hold_alone_on_wheel, hold);
    }
    double best = 0;
    for (unsigned repeat = repeats > 1 ? 0 : 1; repeat <= repeats; repeat++) {
        hold->left = repeat == 0 ? warm_up(pending) : events;
        double start = bench_cpu_ns();
        (void)pim_kernel_run(kernel, PIM_TIME_NEVER);
        double time = bench_cpu_ns() - start;
        if (repeat == 1 || (repeat > 1 && time < best))
            best = time;
    }
    pim_kernel_destroy(kernel);
    return best / (double)events;
}

/* ---- the heap ---- */

struct heap;
typedef void heap_handler(struct heap *heap, void *context);

struct entry {
    uint64_t key;
    uint64_t sequence;
    heap_handler *handler;
    void *context;
};

struct heap {
    struct entry *entries;
    uint64_t count;
    uint64_t key;
    uint64_t sequence;
};

static inline bool before(const struct entry *a, const struct entry *b)
{
    return a->key < b->key || (a->key == b->key && a->sequence < b->sequence);
}

static inline void heap_schedule(struct heap *heap, uint64_t delay, uint64_t phase, heap_handler *handler,
                                 void *context)
{
    uint64_t key = (heap->key / PIM_PHASES + delay) * PIM_PHASES + phase;
    struct entry entry = {key, heap->sequence++, handler, context};
    uint64_t hole = heap->count++;
    while (hole > 0 && before(&entry, &heap->entries[(hole - 1) / 2])) {
        heap->entries[hole] = heap->entries[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap->entries[hole] = entry;
}

static inline struct entry heap_pop(struct heap *heap)
{
    struct entry first = heap->entries[0];
    struct entry last = heap->entries[--heap->count];
    uint64_t hole = 0;
    for (uint64_t child = 1; child < heap->count; child = 2 * hole + 1) {
        if (child + 1 < heap->count && before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!before(&heap->entries[child], &last))
            break;
        heap->entries[hole] = heap->entries[child];
        hole = child;
    }
    heap->entries[hole] = last;
    return first;
}

static heap_handler *const handlers_on_heap[BENCH_HANDLERS];

static inline void schedule_on_heap(struct heap *heap, struct hold *hold, uint32_t entry)
{
    uint32_t key = entry / BENCH_HANDLERS;
    heap_schedule(heap, key / PIM_PHASES, key % PIM_PHASES, handlers_on_heap[entry % BENCH_HANDLERS], hold);
}

#define HANDLER_ON_HEAP(number)                                                                              \
    static void hold_on_heap##number(struct heap *heap, void *context)                                       \
    {                                                                                                        \
        struct hold *hold = context;                                                                         \
        hold->state += number;                                                                               \
        if (--hold->left == 0)                                                                               \
            hold->stopped = true;                                                                            \
        schedule_on_heap(heap, hold, hold->table[hold->next++ % TABLE]);                                     \
    }
HANDLER_ON_HEAP(0)
HANDLER_ON_HEAP(1)
HANDLER_ON_HEAP(2)
HANDLER_ON_HEAP(3)
HANDLER_ON_HEAP(4)
HANDLER_ON_HEAP(5)
HANDLER_ON_HEAP(6)
HANDLER_ON_HEAP(7)
static heap_handler *const handlers_on_heap[BENCH_HANDLERS] = {hold_on_heap0, hold_on_heap1, hold_on_heap2,
                                                               hold_on_heap3, hold_on_heap4, hold_on_heap5,
                                                               hold_on_heap6, hold_on_heap7};

static double run_heap(struct hold *hold, uint64_t pending, uint64_t events, unsigned repeats,
                       uint64_t *random)
{
    struct heap heap = {.entries = bench_allocate(pending + 1, sizeof(struct entry))};
    for (uint64_t i = 0; i < pending; i++)
        schedule_on_heap(&heap, hold, hold->table[bench_random(random) % TABLE]);
    double best = 0;
    for (unsigned repeat = repeats > 1 ? 0 : 1; repeat <= repeats; repeat++) {
        hold->left = repeat == 0 ? warm_up(pending) : events;
        hold->stopped = false;
        double start = bench_cpu_ns();
        while (!hold->stopped) {
            struct entry entry = heap_pop(&heap);
            heap.key = entry.key;
            entry.handler(&heap, entry.context);
        }
        double time = bench_cpu_ns() - start;
        if (repeat == 1 || (repeat > 1 && time < best))
            best = time;
    }
    free(heap.entries);
    return best / (double)events;
}

double bench_hold(enum bench_queue queue, enum bench_delays delays, unsigned handlers, uint64_t pending,
                  uint64_t events, unsigned repeats)
{
    uint64_t random = SEED;
    struct hold hold = {.table = make_table(delays, handlers, &random)};
    double ns = queue == BENCH_WHEEL ? run_wheel(&hold, handlers, pending, events, repeats, &random)
                                     : run_heap(&hold, pending, events, repeats, &random);
    free(hold.table);
    return ns;
}
