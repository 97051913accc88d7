#include "mappers/nicepim/check/check_values.h"

#include "mappers/nicepim/check/execute.h"

#include <stdlib.h>

/* Compares a box of a tensor; *seen counts its elements. */
static enum pim_status compare_box(const struct execution *x, uint32_t node, const struct nice_note *note,
                                   uint64_t *seen)
{
    uint64_t end = note->place.address + place_bytes(&note->place);
    for (uint64_t address = note->place.address; address < end; address += WORD_BYTES) {
        uint32_t at[4];
        bool high;
        struct word word = {0};
        if (!tensors_position(&note->place, address, at, &high))
            continue;
        const struct identity i = tensors_identify(x->tensors, note->layer, note->image, at);
        int16_t expected = tensors_expected(x->tensors, &i);
        (void)word_memory_read(&x->node[node].memory, address, &word);
        if (word.kind != WORD_DATA || word.tensor != execution_tensor(x, &i) || word.element != i.element)
            return pim_fail(x->error, PIM_BAD_INPUT,
                            "element %" PRIu32 " of layer %s is not where it should be on node %" PRIu32,
                            i.element, execution_layer(x, i.layer), node);
        if (word.value != expected)
            return pim_fail(x->error, PIM_BAD_INPUT,
                            "element %" PRIu32 " of layer %s on node %" PRIu32 " is %d: the network has %d",
                            i.element, execution_layer(x, i.layer), node, word.value, expected);
        ++*seen;
    }
    return PIM_OK;
}

/* All tensors lie somewhere whole. Boxes do not overlap, so that as many elements as there are is all. */
static enum pim_status compare(const struct execution *x, uint64_t *elements)
{
    const struct flow *flow = x->tensors->flow;
    enum pim_status status = PIM_OK;
    uint64_t *seen = calloc((size_t)flow->count + 1, sizeof *seen);
    if (!seen)
        status = execution_no_memory(x);
    for (uint32_t node = 0; node < x->nodes && status == PIM_OK; node++) {
        const struct nice_notes *notes = &x->record->node[node];
        for (size_t i = 0; i < notes->count && status == PIM_OK; i++) {
            const struct nice_note *note = &notes->items[i].note;
            if (note->kind == NICE_NOTE_RESULT)
                status = compare_box(x, node, note, &seen[note->layer]);
        }
    }
    for (uint32_t i = 0; i < flow->count && status == PIM_OK; i++) {
        const uint32_t at[4] = {0};
        const struct identity first = tensors_identify(x->tensors, i, 0, at);
        uint64_t all = tensors_size(x->tensors, i) * x->tensors->samples;
        bool outside = flow->operation[i].kind != FLOW_CONCAT && tensors_is_input(x->tensors, first.layer);
        if (!outside && seen[i] != all)
            status = pim_fail(x->error, PIM_BAD_INPUT,
                              "layer %s: %" PRIu64 " of its %" PRIu64 " elements lie on nodes",
                              execution_layer(x, i), seen[i], all);
        *elements += seen[i];
    }
    free(seen);
    return status;
}

enum pim_status nice_check_values(const struct nice_plan *plan, const struct nice_record *record,
                                  const struct pim_trace *trace, uint64_t seed, struct nice_check *result,
                                  struct pim_error *error)
{
    struct tensors tensors;
    struct execution x = {0};
    *result = (struct nice_check){0};
    if (record->failed)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for notes");
    enum pim_status status =
        tensors_initialize(&tensors, &plan->flow, plan->images * plan->flow.batch, error);
    if (status == PIM_OK)
        status = execution_initialize(&x, &tensors, record, trace, plan->hardware->memory_bytes, error);
    if (status == PIM_OK)
        status = execution_run(&x, seed);
    if (status == PIM_OK)
        status = compare(&x, &result->elements);
    result->products = x.products;
    result->moved = x.moved;
    if (status == PIM_OK && x.products != plan->flow.macs * plan->images)
        status = pim_fail(error, PIM_BAD_INPUT,
                          "the trace makes %" PRIu64 " multiply-accumulates: the network has %" PRIu64,
                          x.products, plan->flow.macs * plan->images);
    execution_terminate(&x);
    tensors_terminate(&tensors);
    return status;
}
