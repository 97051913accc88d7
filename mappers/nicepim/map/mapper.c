/* NicePIM's PIM-Mapper behind the interface of all mappers. */
#include "mappers/nicepim/mapper.h"

#include "mappers/nicepim/map/emit.h"
#include "sim/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_TRIALS = 6 };

struct choices {
    struct pim_mapper_search search;
    uint64_t batch;
    unsigned mapping;
};

static const struct pim_option rows[] = {
    PIM_CHOICE_ROW(
        "mapping", struct choices, mapping, "METHOD", "nicepim|sequential",
        "sequential: the paper's baseline, each layer on all nodes, blind to messages and layouts"),
    PIM_COUNT_ROW("batch", struct choices, batch, "IMAGES", 1, 64, "Images that are worked together (1)"),
};

static const struct choices defaults = {.batch = 1};

struct made {
    struct nice_plan plan;
    struct nice_result result;
    struct pim_estimate_hardware hardware;
    const char *configuration, *name;
    uint32_t batch;
    bool sequential;                  /* nothing but the baseline was asked for */
    enum nice_method method;          /* that won */
    uint64_t tried[NICE_METHODS];     /* estimates; 0: not tried, or it did not fit */
    char left_out[NICE_METHODS][256]; /* why; "": tried or not asked for */
    char network[256], mapping[256];
};

static void terminate(void *plan)
{
    struct made *made = plan;
    nice_plan_terminate(&made->plan);
    free(made);
}

static const char *const methods[] = {
#define X(name, text) text,
    NICE_METHOD_MAP(X)
#undef X
};

/* Weights get what maps and what is received leave, which depends on the plan: as long as a plan needs more
 * than there is, weights get less. */
static enum pim_status try_method(const struct pim_mapper_inputs *inputs, const struct made *made,
                                  enum nice_method method, struct nice_plan *plan, struct nice_result *result,
                                  struct pim_error *error)
{
    uint64_t memory = made->hardware.memory_bytes, capacity = memory;
    for (int trial = 0;; trial++) {
        if (nice_plan_make(inputs->network, &made->hardware, made->batch, capacity, method, plan, error) !=
                PIM_OK ||
            nice_emit(plan, NULL, result, error) != PIM_OK)
            return error->status;
        if (result->memory_bytes <= memory)
            return PIM_OK;
        uint64_t excess = result->memory_bytes - memory;
        if (trial == CAPACITY_TRIALS || excess >= plan->stored)
            return pim_fail(error, PIM_BAD_INPUT,
                            "weights, maps and what is received need %" PRIu64
                            " bytes on the fullest node, which has %" PRIu64 ": %" PRIu64 " too few",
                            result->memory_bytes, memory, excess);
        capacity = plan->stored - excess;
        nice_plan_terminate(plan);
    }
}

/* All methods, and the one whose programs are estimated to end first: what is chosen among candidates does
 * not see what moves between layers. */
static enum pim_status make(const struct pim_mapper_inputs *inputs, struct made *made,
                            struct pim_error *error)
{
    bool found = false;
    struct pim_error first = {0};
    for (int method = made->sequential ? NICE_SEQUENTIAL : NICE_PARALLEL; method < NICE_METHODS; method++) {
        struct nice_plan plan = {0};
        struct nice_result result = {0};
        struct pim_error failure = {0};
        if (try_method(inputs, made, (enum nice_method)method, &plan, &result, &failure) != PIM_OK) {
            nice_plan_terminate(&plan);
            (void)snprintf(made->left_out[method], sizeof made->left_out[method], "%.255s", failure.text);
            first = first.status == PIM_OK ? failure : first;
            continue;
        }
        made->tried[method] = result.cycles;
        if (found && result.cycles >= made->result.cycles) {
            nice_plan_terminate(&plan);
            continue;
        }
        nice_plan_terminate(&made->plan);
        made->plan = plan;
        made->result = result;
        made->method = (enum nice_method)method;
        found = true;
    }
    return found ? PIM_OK : pim_fail(error, first.status, "%s", first.text);
}

static enum pim_status plan(const struct pim_mapper_inputs *inputs, const void *options, void **made_plan,
                            struct pim_error *error)
{
    const struct choices *choices = options;
    struct made *made = calloc(1, sizeof *made);
    *made_plan = NULL;
    if (!made)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the plan");
    if (!inputs->nodes || inputs->nodes->width > 32 || inputs->nodes->height > 32) {
        free(made);
        return pim_fail(error, PIM_BAD_INPUT,
                        "the hardware is no array of DRAM-PIM nodes of at most 32 x 32");
    }
    made->hardware = *inputs->nodes;
    made->configuration = inputs->configuration_text;
    made->name = inputs->network->name;
    made->batch = (uint32_t)choices->batch;
    made->sequential = choices->mapping == 1;
    if (make(inputs, made, error) != PIM_OK) {
        terminate(made);
        return error->status;
    }
    *made_plan = made;
    return PIM_OK;
}

static enum pim_status estimate(void *plan, struct pim_mapper_estimate *estimate, struct pim_error *error)
{
    const struct made *made = plan;
    (void)error;
    estimate->cycles = made->result.cycles;
    memcpy(estimate->parts, made->result.parts, sizeof estimate->parts);
    return PIM_OK;
}

static uint64_t weight_bytes(const struct nice_plan *plan)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan->flow.count; i++)
        bytes += plan->flow.operation[i].weight_bytes;
    return bytes;
}

static enum pim_status describe(void *plan, struct pim_trace_description *description,
                                struct pim_error *error)
{
    struct made *made = plan;
    (void)error;
    (void)snprintf(made->network, sizeof made->network, "%.200s", made->name);
    (void)snprintf(made->mapping, sizeof made->mapping, "%s, batch of %" PRIu32,
                   made->sequential ? "sequential baseline" : "NicePIM", made->batch);
    *description = (struct pim_trace_description){.family = "nicepim",
                                                  .network = made->network,
                                                  .mapping = made->mapping,
                                                  .configuration = made->configuration,
                                                  .width = made->hardware.width,
                                                  .height = made->hardware.height,
                                                  .units = made->hardware.width * made->hardware.height,
                                                  .macs = made->plan.flow.macs,
                                                  .weight_bytes = weight_bytes(&made->plan)};
    return PIM_OK;
}

static enum pim_status emit(void *plan, struct pim_trace_writer *writer, struct pim_error *error)
{
    struct made *made = plan;
    struct nice_result result;
    return nice_emit(&made->plan, writer, &result, error);
}

/* --- reports --- */

static const char loop_letters[] = "BPQKC";

static void cut_text(const struct pim_cut *cut, char text[128])
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < PIM_LOOPS; i++) {
        uint8_t loop = cut->order[i];
        if (cut->high[loop] * cut->wide[loop] > 1)
            length +=
                (size_t)snprintf(text + length, 128 - length, "%s%c%" PRIu32 "x%" PRIu32, length ? " " : "",
                                 loop_letters[loop], cut->high[loop], cut->wide[loop]);
    }
}

static void layout_text(struct pim_map_layout layout, char text[32])
{
    if (layout.order == PIM_LAYOUT_BHWC)
        (void)snprintf(text, 32, "BHWC");
    else
        (void)snprintf(text, 32, "BCHW[%" PRIu32 "]", layout.group);
}

static enum pim_status print(void *plan, FILE *file, struct pim_error *error)
{
    const struct made *made = plan;
    const struct nice_plan *p = &made->plan;
    (void)error;
    fprintf(file, "segments             %" PRIu32 ", %" PRIu32 " with branches side by side\n",
            p->flow.segments.segment_count, p->parallel_segments);
    fprintf(file, "weights of a node    %" PRIu64 " bytes of %" PRIu64 " there are for them\n", p->stored,
            p->capacity);
    fprintf(file, "memory of a node     %" PRIu64 " bytes of %" PRIu64 "\n", made->result.memory_bytes,
            made->hardware.memory_bytes);
    for (int method = 0; method < NICE_METHODS; method++) {
        if (made->tried[method] > 0)
            fprintf(file, "%-20s %" PRIu64 " cycles estimated: %s\n",
                    method == (int)made->method ? "taken" : "tried", made->tried[method], methods[method]);
        else if (made->left_out[method][0] != '\0')
            fprintf(file, "%-20s %s: %s\n", "left out", methods[method], made->left_out[method]);
    }
    fprintf(file, "estimated cycles     %" PRIu64 "\n\n", made->result.cycles);
    fprintf(file, "%-32s %-12s %-24s %8s %-10s %-10s\n", "layer", "region", "cut", "share", "input",
            "output");
    for (uint32_t i = 0; i < p->flow.count; i++) {
        if (p->flow.operation[i].kind != FLOW_PRODUCT)
            continue;
        const struct nice_decision *d = &p->decision[i];
        char cut[128], region[64], input[32], output[32];
        cut_text(&d->cut, cut);
        layout_text(p->layout[p->flow.graph->layers[i].input[0]], input);
        layout_text(p->layout[i], output);
        (void)snprintf(region, sizeof region, "%" PRIu32 "x%" PRIu32 "+%" PRIu32 "+%" PRIu32,
                       d->region.height, d->region.width, d->region.y, d->region.x);
        fprintf(file, "%-32.32s %-12s %-24s %8" PRIu32 " %-10s %-10s\n", p->flow.graph->layers[i].name,
                region, cut, d->sharing, input, output);
    }
    return PIM_OK;
}

static void put_decision(struct pim_json *json, const struct nice_plan *p, uint32_t layer)
{
    const struct nice_decision *d = &p->decision[layer];
    char text[128];
    pim_json_begin_object(json, NULL);
    pim_json_put_text(json, "name", p->flow.graph->layers[layer].name);
    pim_json_begin_array(json, "position");
    pim_json_put_count(json, NULL, d->region.y);
    pim_json_put_count(json, NULL, d->region.x);
    pim_json_end(json);
    pim_json_begin_array(json, "shape");
    pim_json_put_count(json, NULL, d->region.height);
    pim_json_put_count(json, NULL, d->region.width);
    pim_json_end(json);
    const uint32_t *sides[] = {d->cut.high, d->cut.wide};
    static const char *const names[] = {"Ph", "Pw"};
    for (size_t side = 0; side < 2; side++) {
        pim_json_begin_array(json, names[side]);
        for (size_t loop = 0; loop < PIM_LOOPS; loop++)
            pim_json_put_count(json, NULL, sides[side][loop]);
        pim_json_end(json);
    }
    for (size_t i = 0; i < PIM_LOOPS; i++)
        text[i] = loop_letters[d->cut.order[i]];
    text[PIM_LOOPS] = '\0';
    pim_json_put_text(json, "order", text);
    pim_json_put_count(json, "nodes_of_a_copy", d->sharing);
    pim_json_put_count(json, "stored_bytes", d->stored);
    pim_json_put_count(json, "candidate_cycles", d->cycles);
    layout_text(p->layout[p->flow.graph->layers[layer].input[0]], text);
    pim_json_put_text(json, "input_layout", text);
    layout_text(p->layout[layer], text);
    pim_json_put_text(json, "output_layout", text);
    pim_json_end(json);
}

static enum pim_status write_json(void *plan, FILE *file, struct pim_error *error)
{
    const struct made *made = plan;
    const struct nice_plan *p = &made->plan;
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the report");
    pim_json_put_text(json, "mapper", "nicepim");
    pim_json_put_text(json, "network", made->name);
    pim_json_put_text(json, "mapping", methods[made->method]);
    pim_json_put_count(json, "batch", made->batch);
    pim_json_put_count(json, "segments", p->flow.segments.segment_count);
    pim_json_put_count(json, "parallel_segments", p->parallel_segments);
    pim_json_put_count(json, "weight_capacity_bytes", p->capacity);
    pim_json_put_count(json, "stored_weight_bytes", p->stored);
    pim_json_put_count(json, "memory_bytes", made->result.memory_bytes);
    pim_json_put_count(json, "front_points", p->front_points);
    pim_json_put_count(json, "macs", made->result.macs);
    pim_json_put_count(json, "estimated_cycles", made->result.cycles);
    pim_json_begin_array(json, "layers");
    for (uint32_t i = 0; i < p->flow.count; i++) {
        if (p->flow.operation[i].kind == FLOW_PRODUCT)
            put_decision(json, p, i);
    }
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

const struct pim_mapper pim_nicepim_mapper = {
    .name = "nicepim",
    .summary = "Convolutional networks on DRAM-PIM nodes",
    .description =
        "Maps a convolutional network onto an array of DRAM-PIM nodes as NicePIM does: regions of branches, "
        "cuts of layers, copies of weights, layouts.",
    .onnx = true,
    .options = {rows, sizeof rows / sizeof rows[0], sizeof(struct choices), &defaults},
    .plan = plan,
    .terminate = terminate,
    .estimate = estimate,
    .describe = describe,
    .emit = emit,
    .print = print,
    .write_json = write_json,
};
