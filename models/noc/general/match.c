/*
 * Allocators of the general network over sparse lists of requests: islip, separable input-first and
 * output-first, wavefront; and the arbiters they are made of.
 *
 * 1. A matching holds every input and every output at most once.
 * 2. Pointers and stamps change for matches only, of islip in the first iteration only; a wavefront's
 * diagonal moves in every cycle in which something is asked for.
 */
#include "models/noc/general/match.h"
#include "sim/integer.h"

#include <assert.h>
#include <string.h>

#define NO_REQUEST UINT16_MAX

/* Whether task a has a larger total / transferred than b: 1, 0 equal, -1. Nothing transferred: infinite. */
static int compare_balance(const struct general_task *a, const struct general_task *b)
{
    uint64_t low_a, low_b;
    uint64_t high_a = pim_multiply_full(a->total, b->transferred, &low_a);
    uint64_t high_b = pim_multiply_full(b->total, a->transferred, &low_b);
    if (high_a != high_b)
        return high_a > high_b ? 1 : -1;
    return low_a == low_b ? 0 : low_a > low_b ? 1 : -1;
}

static struct general_task task_of(const struct noc_general *general, uint32_t task)
{
    static const struct general_task alone = {1, 0}; /* a packet without a task */
    return task < general->task_capacity ? general->tasks[task] : alone;
}

/* Workload balance, then age: 1, 0 the same packet, -1. */
static int compare_packets(const struct pim_noc *noc, uint32_t first, uint32_t second)
{
    const struct noc_general *general = noc->general;
    const struct general_packet *a = &general->packets[first], *b = &general->packets[second];
    if (noc->configuration.arbiter == PIM_NOC_WORKLOAD_BALANCE && a->task != b->task) {
        struct general_task task_a = task_of(general, a->task), task_b = task_of(general, b->task);
        int balance = compare_balance(&task_a, &task_b);
        if (balance != 0)
            return balance;
        return a->task < b->task ? 1 : -1;
    }
    return a->number == b->number ? 0 : a->number < b->number ? 1 : -1;
}

static unsigned behind(unsigned index, unsigned pointer, unsigned size)
{
    return index >= pointer ? index - pointer : index + size - pointer;
}

/* The tree: `pointer` is behind the candidate served last, and so the group after that one's is first. */
static bool tree_prefers(unsigned groups, unsigned first, unsigned second, unsigned pointer, unsigned size,
                         const uint64_t *stamps)
{
    unsigned span = size / groups, a = first / span, b = second / span;
    if (a == b)
        return behind(first % span, (unsigned)stamps[a], span) <
               behind(second % span, (unsigned)stamps[a], span);
    unsigned next = ((pointer == 0 ? size : pointer) - 1) / span + 1;
    next = next == groups ? 0 : next;
    return behind(a, next, groups) < behind(b, next, groups);
}

bool pim_noc_general_prefers(const struct pim_noc *noc, struct general_arbiter arbiter,
                             const struct general_request *a, unsigned first, const struct general_request *b,
                             unsigned second, unsigned pointer, unsigned size, const uint64_t *stamps)
{
    int order;
    switch (arbiter.kind) {
    case PIM_NOC_MATRIX:
        assert(stamps);
        return stamps[first] == stamps[second] ? first > second : stamps[first] < stamps[second];
    case PIM_NOC_TREE:
        assert(stamps);
        return tree_prefers(arbiter.groups, first, second, pointer, size, stamps);
    case PIM_NOC_FIXED_PRIORITY:
        return first < second;
    case PIM_NOC_AGE:
    case PIM_NOC_WORKLOAD_BALANCE:
        order = compare_packets(noc, a->packet, b->packet);
        if (order != 0)
            return order > 0;
        break;
    case PIM_NOC_ROUND_ROBIN:
    case PIM_NOC_ARBITERS:
        break;
    }
    return behind(first, pointer, size) < behind(second, pointer, size);
}

/* 1: the first request goes before the second by urgency or priority, -1: behind it, 0: neither. */
static int compare_urgency(const struct general_matching *matching, const struct general_request *a,
                           const struct general_request *b)
{
    if (matching->urgency_ignored)
        return a->urgency / 2 == b->urgency / 2 ? 0 : a->urgency > b->urgency ? 1 : -1;
    if (a->urgency != b->urgency)
        return a->urgency > b->urgency ? 1 : -1;
    return a->priority == b->priority ? 0 : a->priority > b->priority ? 1 : -1;
}

/* Whether an output prefers request a to b, both of it. */
static bool output_prefers(const struct general_matching *matching, unsigned a, unsigned b)
{
    const struct general_request *first = &matching->requests[a], *second = &matching->requests[b];
    int order = compare_urgency(matching, first, second);
    if (order != 0)
        return order > 0;
    const uint64_t *stamps = matching->output_stamps;
    return pim_noc_general_prefers(matching->noc, matching->arbiter, first, first->input, second,
                                   second->input, matching->grant[first->output * matching->grant_stride],
                                   matching->inputs,
                                   stamps ? stamps + (size_t)first->output * matching->inputs : NULL);
}

/* The same for an input. */
static bool input_prefers(const struct general_matching *matching, unsigned a, unsigned b)
{
    const struct general_request *first = &matching->requests[a], *second = &matching->requests[b];
    int order = compare_urgency(matching, first, second);
    if (order != 0)
        return order > 0;
    const uint64_t *stamps = matching->input_stamps;
    return pim_noc_general_prefers(matching->noc, matching->arbiter, first, first->output, second,
                                   second->output, matching->accept[first->input * matching->accept_stride],
                                   matching->outputs,
                                   stamps ? stamps + (size_t)first->input * matching->outputs : NULL);
}

/* An arbiter has served a candidate out of `size`. */
static void stamp(const struct general_matching *matching, uint64_t *stamps, unsigned candidate,
                  unsigned size)
{
    if (matching->arbiter.kind != PIM_NOC_TREE) {
        stamps[candidate] = matching->now;
        return;
    }
    unsigned span = size / matching->arbiter.groups;
    stamps[candidate / span] = (candidate % span + 1) % span;
}

/* Grants a request; `serve`: pointers move behind the partners. */
static void grant(const struct general_matching *matching, unsigned index, bool serve)
{
    struct general_request *request = &matching->requests[index];
    request->granted = true;
    if (!serve)
        return;
    unsigned input = request->input, output = request->output;
    matching->accept[input * matching->accept_stride] =
        (uint16_t)(output + 1 == matching->outputs ? 0 : output + 1);
    matching->grant[output * matching->grant_stride] =
        (uint16_t)(input + 1 == matching->inputs ? 0 : input + 1);
    if (matching->input_stamps)
        stamp(matching, matching->input_stamps + (size_t)input * matching->outputs, output,
              matching->outputs);
    if (matching->output_stamps)
        stamp(matching, matching->output_stamps + (size_t)output * matching->inputs, input, matching->inputs);
}

static void clear(uint16_t *best, unsigned count)
{
    memset(best, 0xff, count * sizeof *best);
}

static void islip(const struct general_matching *matching)
{
    uint16_t offered[GENERAL_ROW_LIMIT], accepted[GENERAL_ROW_LIMIT];
    bool input_taken[GENERAL_ROW_LIMIT], output_taken[GENERAL_ROW_LIMIT];
    memset(input_taken, 0, matching->inputs * sizeof *input_taken);
    memset(output_taken, 0, matching->outputs * sizeof *output_taken);
    for (unsigned iteration = 0; iteration < matching->iterations; iteration++) {
        bool any = false;
        clear(offered, matching->outputs);
        clear(accepted, matching->inputs);
        for (unsigned i = 0; i < matching->count; i++) {
            const struct general_request *request = &matching->requests[i];
            uint16_t *best = &offered[request->output];
            if (!input_taken[request->input] && !output_taken[request->output] &&
                (*best == NO_REQUEST || output_prefers(matching, i, *best)))
                *best = (uint16_t)i;
        }
        for (unsigned i = 0; i < matching->count; i++) {
            const struct general_request *request = &matching->requests[i];
            uint16_t *best = &accepted[request->input];
            if (offered[request->output] == i && (*best == NO_REQUEST || input_prefers(matching, i, *best)))
                *best = (uint16_t)i;
        }
        for (unsigned i = 0; i < matching->count; i++) {
            const struct general_request *request = &matching->requests[i];
            if (accepted[request->input] != i)
                continue;
            grant(matching, i, iteration == 0);
            input_taken[request->input] = output_taken[request->output] = any = true;
        }
        if (!any)
            break;
    }
}

/* Each input picks a request, then each output one of those; or the other way round. */
static void separable(const struct general_matching *matching, bool input_first)
{
    uint16_t by_input[GENERAL_ROW_LIMIT], by_output[GENERAL_ROW_LIMIT];
    clear(by_input, matching->inputs);
    clear(by_output, matching->outputs);
    for (unsigned stage = 0; stage < 2; stage++) {
        bool at_input = (stage == 0) == input_first;
        for (unsigned i = 0; i < matching->count; i++) {
            const struct general_request *request = &matching->requests[i];
            uint16_t *input = &by_input[request->input], *output = &by_output[request->output];
            if (stage == 1 && (at_input ? *output : *input) != i)
                continue;
            uint16_t *best = at_input ? input : output;
            if (*best == NO_REQUEST ||
                (at_input ? input_prefers(matching, i, *best) : output_prefers(matching, i, *best)))
                *best = (uint16_t)i;
        }
    }
    for (unsigned i = 0; i < matching->count; i++)
        if (by_input[matching->requests[i].input] == i && by_output[matching->requests[i].output] == i)
            grant(matching, i, true);
}

/* All requests of the urgency and priority of `level`, diagonal after diagonal from the pointer on: those of
 * a diagonal differ in input and output, so their order has no influence. Returns the first diagonal on which
 * something is granted, `size` or more: none. */
static unsigned wave(const struct general_matching *matching, const struct general_request *level,
                     bool *input_taken, bool *output_taken)
{
    uint16_t first[GENERAL_ROW_LIMIT], *following = matching->noc->general->scratch.following;
    unsigned size = matching->inputs > matching->outputs ? matching->inputs : matching->outputs;
    clear(first, size);
    for (unsigned i = matching->count; i-- > 0;) {
        const struct general_request *request = &matching->requests[i];
        if (compare_urgency(matching, request, level) != 0)
            continue;
        unsigned diagonal = ((unsigned)request->input + request->output) % size;
        diagonal = behind(diagonal, *matching->diagonal, size);
        following[i] = first[diagonal];
        first[diagonal] = (uint16_t)i;
    }
    unsigned granted = size;
    for (unsigned diagonal = 0; diagonal < size; diagonal++)
        for (unsigned i = first[diagonal]; i != NO_REQUEST; i = following[i]) {
            const struct general_request *request = &matching->requests[i];
            if (input_taken[request->input] || output_taken[request->output])
                continue;
            grant(matching, i, false);
            input_taken[request->input] = output_taken[request->output] = true;
            granted = diagonal < granted ? diagonal : granted;
        }
    return granted;
}

static void wavefront(const struct general_matching *matching)
{
    bool input_taken[GENERAL_ROW_LIMIT], output_taken[GENERAL_ROW_LIMIT];
    memset(input_taken, 0, matching->inputs * sizeof *input_taken);
    memset(output_taken, 0, matching->outputs * sizeof *output_taken);
    unsigned size = matching->inputs > matching->outputs ? matching->inputs : matching->outputs;
    unsigned first = size;
    const struct general_request *level = NULL, *next = &matching->requests[0];
    for (unsigned i = 1; i < matching->count; i++)
        next = compare_urgency(matching, &matching->requests[i], next) > 0 ? &matching->requests[i] : next;
    while (next) { /* one level after the other, from the highest */
        level = next;
        unsigned granted = wave(matching, level, input_taken, output_taken);
        first = first == size ? granted : first;
        next = NULL;
        for (unsigned i = 0; i < matching->count; i++) {
            const struct general_request *request = &matching->requests[i];
            if (compare_urgency(matching, request, level) < 0 &&
                (!next || compare_urgency(matching, request, next) > 0))
                next = request;
        }
    }
    bool follows = matching->allocator == PIM_NOC_ROUND_ROBIN_WAVEFRONT;
    *matching->diagonal = (uint16_t)((*matching->diagonal + (follows ? first : 0U) + 1U) % size);
}

void pim_noc_general_match(struct general_matching *matching)
{
    assert(matching->count > 0 && matching->count < NO_REQUEST);
    matching->urgency_ignored = matching->allocator == PIM_NOC_ISLIP;
    if (pim_noc_general_is_wavefront(matching->allocator)) {
        wavefront(matching);
        return;
    }
    if (matching->count == 1)
        grant(matching, 0, true);
    else if (matching->allocator == PIM_NOC_ISLIP)
        islip(matching);
    else
        separable(matching, matching->allocator == PIM_NOC_SEPARABLE_INPUT_FIRST);
}
