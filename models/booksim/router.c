/* The router: delays, buffers, allocators with what stands in brackets behind their names, priorities. */
#include "models/booksim/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one of the two allocators becomes. */
struct allocator {
    enum pim_noc_allocator kind;
    enum pim_noc_arbiter arbiter;
    uint32_t groups, iterations;
};

static const struct {
    const char *name;
    enum pim_noc_allocator kind;
} allocators[] = {
    {"islip", PIM_NOC_ISLIP},
    {"separable_input_first", PIM_NOC_SEPARABLE_INPUT_FIRST},
    {"separable_output_first", PIM_NOC_SEPARABLE_OUTPUT_FIRST},
    {"wavefront", PIM_NOC_WAVEFRONT},
    {"rr_wavefront", PIM_NOC_ROUND_ROBIN_WAVEFRONT},
};

/* A whole number up to `end`; 0: it is none, or too large. */
static uint32_t number_before(const char *text, char end)
{
    char *stop;
    if (*text < '0' || *text > '9')
        return 0;
    unsigned long value = strtoul(text, &stop, 10);
    return *stop == end && value <= 4096 ? (uint32_t)value : 0;
}

/* What stands in the brackets, its closing one included: "2)", "matrix)", "tree(5,round_robin))". */
static bool read_parameter(const char *text, struct allocator *allocator)
{
    if (allocator->kind == PIM_NOC_ISLIP) {
        allocator->iterations = number_before(text, ')');
        return allocator->iterations > 0 && strchr(text, ')')[1] == '\0';
    }
    if (allocator->kind != PIM_NOC_SEPARABLE_INPUT_FIRST && allocator->kind != PIM_NOC_SEPARABLE_OUTPUT_FIRST)
        return false;
    if (strcmp(text, "round_robin)") == 0)
        return true;
    allocator->arbiter = PIM_NOC_MATRIX;
    if (strcmp(text, "matrix)") == 0)
        return true;
    allocator->arbiter = PIM_NOC_TREE;
    if (strncmp(text, "tree(", 5) != 0)
        return false;
    allocator->groups = number_before(text + 5, ',');
    return allocator->groups > 0 && strcmp(strchr(text, ','), ",round_robin))") == 0;
}

static enum pim_status read_allocator(const struct booksim_values *values, const char *key,
                                      struct allocator *allocator, struct pim_error *error)
{
    const char *text = booksim_text(values, key);
    size_t length = strcspn(text, "("), i = 0;
    while (i < sizeof allocators / sizeof *allocators &&
           (strncmp(text, allocators[i].name, length) != 0 || allocators[i].name[length] != '\0'))
        i++;
    *allocator = (struct allocator){.arbiter = PIM_NOC_SAME_ARBITER, .iterations = 1};
    if (i < sizeof allocators / sizeof *allocators) {
        allocator->kind = allocators[i].kind;
        if (text[length] == '\0' || read_parameter(text + length + 1, allocator))
            return PIM_OK;
    }
    return booksim_refuse(
        values, key, error,
        "honoured are islip, islip(ITERATIONS), wavefront, rr_wavefront, and separable_input_first and "
        "separable_output_first alone or with (round_robin), (matrix) or (tree(GROUPS,round_robin))");
}

static enum pim_status read_allocators(const struct booksim_values *values, struct pim_noc_configuration *noc,
                                       struct pim_error *error)
{
    struct allocator vc, crossbar;
    if (read_allocator(values, "vc_allocator", &vc, error) != PIM_OK ||
        read_allocator(values, "sw_allocator", &crossbar, error) != PIM_OK)
        return error->status;
    noc->vc_allocator = vc.kind;
    noc->vc_arbiter = vc.arbiter;
    noc->vc_groups = vc.groups;
    noc->vc_iterations = vc.iterations;
    noc->switch_allocator = crossbar.kind;
    noc->switch_arbiter = crossbar.arbiter;
    noc->switch_groups = crossbar.groups;
    noc->switch_iterations = crossbar.iterations;
    return PIM_OK;
}

static enum pim_status read_priority(const struct booksim_values *values, struct pim_noc_configuration *noc,
                                     struct pim_error *error)
{
    static const struct {
        const char *name;
        enum pim_noc_priority priority;
    } priorities[] = {
        {"none", PIM_NOC_NO_PRIORITY},
        {"class", PIM_NOC_NO_PRIORITY}, /* one class */
        {"age", PIM_NOC_PACKET_AGE},
        {"network_age", PIM_NOC_NETWORK_AGE},
        {"local_age", PIM_NOC_LOCAL_AGE},
        {"hop_count", PIM_NOC_HOP_COUNT},
        {"queue_length", PIM_NOC_QUEUE_LENGTH},
        {"sequence", PIM_NOC_SEQUENCE},
    };
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++)
        if (strcmp(booksim_text(values, "priority"), priorities[i].name) == 0) {
            noc->priority = priorities[i].priority;
            return PIM_OK;
        }
    return booksim_refuse(
        values, "priority", error,
        "allowed are none, class, age, network_age, local_age, hop_count, queue_length and sequence");
}

enum pim_status booksim_read_router(const struct booksim_values *values, struct pim_noc_configuration *noc,
                                    struct pim_error *error)
{
    uint32_t speculative, hold, tail;
    const struct {
        const char *key;
        int64_t least, most;
        uint32_t *value;
    } numbers[] = {
        {"num_vcs", 1, PIM_NOC_VC_LIMIT, &noc->virtual_channels},
        {"vc_buf_size", 1, PIM_NOC_BUFFER_LIMIT, &noc->buffer_flits},
        {"routing_delay", 0, 1, &noc->routing_delay}, /* more: BookSim's stages are no pipelines */
        {"credit_delay", 0, PIM_NOC_DELAY_LIMIT, &noc->credit_delay},
        {"speculative", 0, 1, &speculative},
        {"hold_switch_for_packet", 0, 1, &hold},
        {"wait_for_tail_credit", 0, 1, &tail},
        {"input_speedup", 1, PIM_NOC_SPEEDUP_LIMIT, &noc->input_speedup},
        {"output_speedup", 1, PIM_NOC_SPEEDUP_LIMIT, &noc->output_speedup},
        {"output_buffer_size", -1, PIM_NOC_BUFFER_LIMIT, &noc->output_buffer_flits},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (booksim_integer(values, numbers[i].key, numbers[i].least, numbers[i].most, numbers[i].value,
                            error) != PIM_OK)
            return error->status;
    if (booksim_text(values, "output_buffer_size")[0] != '-' && noc->output_buffer_flits == 0)
        return booksim_refuse(values, "output_buffer_size", error, "with it nothing is ever sent");
    if (noc->output_speedup == 1)
        noc->output_buffer_flits = 0; /* it never holds more than the flit being sent */
    noc->speculative = speculative;
    noc->hold_switch_for_packet = hold;
    noc->wait_for_tail_credit = tail;
    if (read_allocators(values, noc, error) != PIM_OK)
        return error->status;
    return read_priority(values, noc, error);
}
