/*
 * The slow side of the event queue: what happens when a record does not go straight to its near list.
 * The invariants it keeps are in sim/kernel/wheel.h.
 */
#include "sim/kernel/queue.h"

#include <stdio.h>
#include <stdlib.h>

#define RECORDS_PER_BLOCK 1023 /* with the block's header 32 KiB, an allocator's size class */
#define HEAP_WIDTH 4
#define WORDS_PER_EPOCH (PIM_NEAR_LISTS / 2 / PIM_BITS_PER_WORD)
#define FAR_WORDS (PIM_FAR_LISTS / PIM_BITS_PER_WORD)

_Static_assert(sizeof(void *) != 8 || sizeof(struct pim_record) == 32, "two records fill a cache line");

struct pim_pool_block {
    struct pim_pool_block *next;
    struct pim_record records[RECORDS_PER_BLOCK];
};

void pim_queue_blank(struct pim_kernel *kernel, void *context)
{
    (void)context;
    kernel->events--;
    kernel->cancelled--;
}

static bool is_blank(const struct pim_record *record)
{
    return record->handler == pim_queue_blank;
}

static void *allocate_or_abort(void *old, size_t size)
{
    void *memory = realloc(old, size);
    if (!memory) {
        fprintf(stderr, "pimsim: out of memory: no %zu bytes for pending events\n", size);
        _Exit(1);
    }
    return memory;
}

/* ---- the pool ---- */

static void recycle(struct pim_kernel *kernel, struct pim_record *record)
{
    record->next = kernel->spare;
    kernel->spare = record;
}

static void add_block(struct pim_kernel *kernel)
{
    struct pim_pool_block *block = allocate_or_abort(NULL, sizeof *block);
    block->next = kernel->blocks;
    kernel->blocks = block;
    kernel->records += RECORDS_PER_BLOCK;
    for (size_t i = RECORDS_PER_BLOCK; i-- > 0;)
        recycle(kernel, &block->records[i]);
}

static struct pim_record *take_record(struct pim_kernel *kernel)
{
    if (!kernel->spare && kernel->cancelled > 0 && kernel->cancelled >= kernel->records / 4)
        pim_queue_sweep(kernel);
    if (!kernel->spare)
        add_block(kernel);
    struct pim_record *record = kernel->spare;
    kernel->spare = record->next;
    return record;
}

/* ---- the overflow heap ---- */

static bool entry_before(const struct pim_heap_entry *a, const struct pim_heap_entry *b)
{
    return a->key < b->key || (a->key == b->key && a->sequence < b->sequence);
}

static void heap_push(struct pim_kernel *kernel, struct pim_record *record)
{
    if (kernel->heap_count == kernel->heap_capacity) {
        size_t capacity = kernel->heap_capacity ? 2 * kernel->heap_capacity : 64;
        kernel->heap = allocate_or_abort(kernel->heap, capacity * sizeof *kernel->heap);
        kernel->heap_capacity = capacity;
    }
    struct pim_heap_entry entry = {record->key, kernel->heap_sequence++, record};
    size_t hole = kernel->heap_count++;
    while (hole > 0) {
        size_t parent = (hole - 1) / HEAP_WIDTH;
        if (!entry_before(&entry, &kernel->heap[parent]))
            break;
        kernel->heap[hole] = kernel->heap[parent];
        hole = parent;
    }
    kernel->heap[hole] = entry;
}

/* Lets `entry` sink from `hole` to its place. */
static void heap_sink(struct pim_kernel *kernel, size_t hole, struct pim_heap_entry entry)
{
    struct pim_heap_entry *heap = kernel->heap;
    for (;;) {
        size_t first = HEAP_WIDTH * hole + 1;
        if (first >= kernel->heap_count)
            break;
        size_t end = first + HEAP_WIDTH < kernel->heap_count ? first + HEAP_WIDTH : kernel->heap_count;
        size_t least = first;
        for (size_t child = first + 1; child < end; child++)
            if (entry_before(&heap[child], &heap[least]))
                least = child;
        if (!entry_before(&heap[least], &entry))
            break;
        heap[hole] = heap[least];
        hole = least;
    }
    heap[hole] = entry;
}

static struct pim_record *heap_pop(struct pim_kernel *kernel)
{
    struct pim_record *record = kernel->heap[0].record;
    kernel->heap_count--;
    if (kernel->heap_count > 0)
        heap_sink(kernel, 0, kernel->heap[kernel->heap_count]);
    return record;
}

/* ---- insertion ---- */

static void append_near(struct pim_kernel *kernel, struct pim_record *record)
{
    uint64_t index = record->key % PIM_NEAR_LISTS;
    pim_list_append(&kernel->near[index], record);
    pim_bits_set(kernel->near_bits, index);
}

struct pim_record *pim_kernel_insert(struct pim_kernel *kernel, uint64_t key, pim_handler *handler,
                                     void *context)
{
    struct pim_record *record = take_record(kernel);
    record->key = key;
    record->handler = handler;
    record->context = context;
    if (key < kernel->near_end) {
        append_near(kernel, record);
        return record;
    }
    uint64_t epoch = pim_queue_epoch_of(key);
    if (epoch - kernel->epoch - 2 < PIM_FAR_LISTS) {
        pim_list_append(&kernel->far[epoch % PIM_FAR_LISTS], record);
        pim_bits_set(kernel->far_bits, epoch % PIM_FAR_LISTS);
    } else {
        heap_push(kernel, record);
    }
    return record;
}

void pim_kernel_schedule_slow(struct pim_kernel *kernel, uint64_t key, pim_handler *handler, void *context)
{
    (void)pim_kernel_insert(kernel, key, handler, context);
}

void pim_kernel_schedule_delayed(struct pim_kernel *kernel, pim_time delay, enum pim_phase phase,
                                 pim_handler *handler, void *context)
{
    pim_time now = kernel->key >> PIM_PHASE_BITS;
    pim_check(delay <= PIM_TIME_LAST - now, "a delay overflows");
    (void)pim_kernel_insert(kernel, pim_kernel_key(kernel, now + delay, phase), handler, context);
}

/* ---- from epoch to epoch ---- */

/* The first epoch with a far list that is not empty: a search round the bits, from that of epoch + 2 on. */
static uint64_t next_far_epoch(const struct pim_kernel *kernel)
{
    uint64_t first = kernel->epoch + 2;
    uint64_t start = first % PIM_FAR_LISTS;
    uint64_t mask = ~UINT64_C(0) << (start % PIM_BITS_PER_WORD);
    for (uint64_t step = 0; step <= FAR_WORDS; step++) {
        uint64_t word = (start / PIM_BITS_PER_WORD + step) % FAR_WORDS;
        uint64_t bits = kernel->far_bits[word] & (step == 0           ? mask
                                                  : step == FAR_WORDS ? ~mask
                                                                      : ~UINT64_C(0));
        if (bits) {
            uint64_t index = word * PIM_BITS_PER_WORD + pim_lowest_bit(bits);
            return first + (index - start) % PIM_FAR_LISTS;
        }
    }
    return PIM_NO_EPOCH;
}

static bool half_is_empty(const struct pim_kernel *kernel, uint64_t epoch)
{
    const uint64_t *words = &kernel->near_bits[epoch % 2 * WORDS_PER_EPOCH];
    uint64_t any = 0;
    for (size_t i = 0; i < WORDS_PER_EPOCH; i++)
        any |= words[i];
    return any == 0;
}

static uint64_t heap_epoch(const struct pim_kernel *kernel)
{
    return kernel->heap_count > 0 ? pim_queue_epoch_of(kernel->heap[0].key) : PIM_NO_EPOCH;
}

uint64_t pim_queue_next_epoch(const struct pim_kernel *kernel)
{
    if (!half_is_empty(kernel, kernel->epoch + 1))
        return kernel->epoch + 1;
    uint64_t far = next_far_epoch(kernel);
    uint64_t over = heap_epoch(kernel);
    return far < over ? far : over;
}

/* Moves the records of `epoch` to the near lists: those of the heap came first (invariant 2). */
static void fill_near(struct pim_kernel *kernel, uint64_t epoch)
{
    while (heap_epoch(kernel) <= epoch)
        append_near(kernel, heap_pop(kernel));
    uint64_t index = epoch % PIM_FAR_LISTS;
    struct pim_record *record = kernel->far[index].head;
    if (!record)
        return;
    pim_list_clear(&kernel->far[index]);
    kernel->far_bits[index / PIM_BITS_PER_WORD] &= ~(UINT64_C(1) << (index % PIM_BITS_PER_WORD));
    while (record) {
        struct pim_record *next = record->next;
        append_near(kernel, record);
        record = next;
    }
}

/* Invariants 3 and 4 of one list, whose records have keys of `first` to `last`. */
static void verify_list(const struct pim_list *list, bool bit, uint64_t first, uint64_t last)
{
    pim_check(bit == (list->head != NULL), "a bit says otherwise than its list");
    const struct pim_record *const *end = (const struct pim_record *const *)&list->head;
    for (const struct pim_record *record = list->head; record; record = record->next) {
        pim_check(record->key >= first && record->key <= last, "an event is in the list of another key");
        end = (const struct pim_record *const *)&record->next;
    }
    pim_check(end == (const struct pim_record *const *)list->tail, "a list does not end where it says");
}

/* Walks over all lists, between two epochs. */
static void verify(const struct pim_kernel *kernel)
{
    uint64_t epoch = kernel->epoch, step = UINT64_C(1) << PIM_EPOCH_BITS;
    for (uint64_t key = epoch * step; key < (epoch + 2) * step; key++) {
        uint64_t index = key % PIM_NEAR_LISTS;
        bool bit = kernel->near_bits[index / PIM_BITS_PER_WORD] >> (index % PIM_BITS_PER_WORD) & 1;
        verify_list(&kernel->near[index], bit, key, key);
    }
    for (uint64_t i = epoch + 2; i < epoch + 2 + PIM_FAR_LISTS; i++) {
        uint64_t index = i % PIM_FAR_LISTS;
        bool bit = kernel->far_bits[index / PIM_BITS_PER_WORD] >> (index % PIM_BITS_PER_WORD) & 1;
        verify_list(&kernel->far[index], bit, i * step, (i + 1) * step - 1);
    }
    for (size_t i = 1; i < kernel->heap_count; i++)
        pim_check(!entry_before(&kernel->heap[i], &kernel->heap[(i - 1) / HEAP_WIDTH]),
                  "the heap is out of order");
}

void pim_queue_enter(struct pim_kernel *kernel, uint64_t epoch)
{
    assert(epoch > kernel->epoch);
    bool next = epoch == kernel->epoch + 1;
    kernel->epoch = epoch;
    kernel->near_end = (epoch + 2) << PIM_EPOCH_BITS;
    if (!next)
        fill_near(kernel, epoch);
    fill_near(kernel, epoch + 1);
    if (PIM_DEEP_CHECKS)
        verify(kernel);
}

/* ---- looking at the queue ---- */

/* Whether a chain has a live event. */
static bool has_live(const struct pim_record *record)
{
    while (record && is_blank(record))
        record = record->next;
    return record != NULL;
}

static uint64_t first_near_key(const struct pim_kernel *kernel, uint64_t epoch)
{
    size_t first = epoch % 2 * WORDS_PER_EPOCH;
    for (size_t i = first; i < first + WORDS_PER_EPOCH; i++) {
        for (uint64_t left = kernel->near_bits[i]; left; left &= left - 1) {
            const struct pim_record *head = kernel->near[i * PIM_BITS_PER_WORD + pim_lowest_bit(left)].head;
            if (has_live(head))
                return head->key;
        }
    }
    return UINT64_MAX;
}

uint64_t pim_queue_first_key(const struct pim_kernel *kernel)
{
    if (has_live(kernel->rest))
        return kernel->key;
    uint64_t key = first_near_key(kernel, kernel->epoch);
    if (key == UINT64_MAX)
        key = first_near_key(kernel, kernel->epoch + 1);
    if (key != UINT64_MAX)
        return key;
    if (kernel->heap_count > 0)
        key = kernel->heap[0].key;
    uint64_t far = next_far_epoch(kernel);
    if (far != PIM_NO_EPOCH)
        for (const struct pim_record *r = kernel->far[far % PIM_FAR_LISTS].head; r; r = r->next)
            key = r->key < key ? r->key : key;
    return key;
}

bool pim_queue_is_empty(const struct pim_kernel *kernel)
{
    return !kernel->rest && half_is_empty(kernel, kernel->epoch) &&
           pim_queue_next_epoch(kernel) == PIM_NO_EPOCH;
}

/* ---- blanks ---- */

bool pim_queue_prune(struct pim_kernel *kernel, uint64_t index)
{
    struct pim_list *list = &kernel->near[index];
    while (list->head && is_blank(list->head)) {
        struct pim_record *blank = list->head;
        list->head = blank->next;
        recycle(kernel, blank);
        kernel->cancelled--;
    }
    if (list->head)
        return true;
    pim_list_clear(list);
    kernel->near_bits[index / PIM_BITS_PER_WORD] &= ~(UINT64_C(1) << (index % PIM_BITS_PER_WORD));
    return false;
}

/* Takes the blanks out of a chain of records; returns the link that ends it. */
static struct pim_record **sweep_chain(struct pim_kernel *kernel, struct pim_record **link)
{
    while (*link) {
        struct pim_record *record = *link;
        if (is_blank(record)) {
            *link = record->next;
            recycle(kernel, record);
            kernel->cancelled--;
        } else {
            link = &record->next;
        }
    }
    return link;
}

static void sweep_lists(struct pim_kernel *kernel, struct pim_list *lists, uint64_t *bits, size_t words,
                        size_t spared)
{
    for (size_t word = 0; word < words; word++) {
        if (word == spared)
            continue;
        for (uint64_t left = bits[word]; left; left &= left - 1) {
            unsigned bit = pim_lowest_bit(left);
            struct pim_list *list = &lists[word * PIM_BITS_PER_WORD + bit];
            list->tail = sweep_chain(kernel, &list->head);
            if (!list->head)
                bits[word] &= ~(UINT64_C(1) << bit);
        }
    }
}

static void sweep_heap(struct pim_kernel *kernel)
{
    size_t kept = 0;
    for (size_t i = 0; i < kernel->heap_count; i++) {
        if (is_blank(kernel->heap[i].record)) {
            recycle(kernel, kernel->heap[i].record);
            kernel->cancelled--;
        } else {
            kernel->heap[kept++] = kernel->heap[i];
        }
    }
    kernel->heap_count = kept;
    for (size_t i = kept / HEAP_WIDTH + 1; i-- > 0;)
        if (i < kept)
            heap_sink(kernel, i, kernel->heap[i]);
}

void pim_queue_sweep(struct pim_kernel *kernel)
{
    size_t spared = kernel->running ? kernel->key % PIM_NEAR_LISTS / PIM_BITS_PER_WORD : SIZE_MAX;
    (void)sweep_chain(kernel, &kernel->rest);
    sweep_lists(kernel, kernel->near, kernel->near_bits, PIM_NEAR_LISTS / PIM_BITS_PER_WORD, spared);
    sweep_lists(kernel, kernel->far, kernel->far_bits, FAR_WORDS, SIZE_MAX);
    sweep_heap(kernel);
}

/* ---- life cycle ---- */

void pim_queue_initialize(struct pim_kernel *kernel)
{
    for (size_t i = 0; i < PIM_NEAR_LISTS; i++)
        pim_list_clear(&kernel->near[i]);
    for (size_t i = 0; i < PIM_FAR_LISTS; i++)
        pim_list_clear(&kernel->far[i]);
    kernel->near_end = UINT64_C(2) << PIM_EPOCH_BITS;
}

void pim_queue_terminate(struct pim_kernel *kernel)
{
    while (kernel->blocks) {
        struct pim_pool_block *block = kernel->blocks;
        kernel->blocks = block->next;
        free(block);
    }
    free(kernel->heap);
}
