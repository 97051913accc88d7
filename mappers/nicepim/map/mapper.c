/* NicePIM's PIM-Mapper behind the interface of all mappers. */
#include "mappers/nicepim/mapper.h"

#include "mappers/nicepim/check/check_values.h"
#include "mappers/nicepim/map/program/emit.h"
#include "sim/output/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_TRIALS = 6, LIMIT_TRIALS = 4 };

struct choices {
    struct pim_mapper_search search;
    uint64_t batch;
    unsigned mapping, objective;
    bool check;
};

/* X(name, text) */
#define OBJECTIVE_MAP(X)                                                                                     \
    X(OBJECTIVE_LATENCY, "latency")                                                                          \
    X(OBJECTIVE_ENERGY, "energy")                                                                            \
    X(OBJECTIVE_EDP, "edp")

enum objective {
#define X(name, text) name,
    OBJECTIVE_MAP(X)
#undef X
};

static const char *const objectives[] = {
#define X(name, text) text,
    OBJECTIVE_MAP(X)
#undef X
};

static const struct pim_option rows[] = {
    PIM_CHOICE_ROW(
        "mapping", struct choices, mapping, "METHOD", "nicepim|sequential|serial|parallel|ddam",
        "sequential: the paper's baseline, each layer on all nodes, blind to messages and layouts; serial, "
        "parallel: branches one after another, side by side where that is chosen; nicepim: the best of "
        "these; ddam: DDAM's pipeline, the batch "
        "image by image through parts of the network on regions of their own"),
    PIM_CHOICE_ROW("objective", struct choices, objective, "GOAL", "latency|energy|edp",
                   "What is minimised: cycles (latency), energy, or their product (edp)"),
    PIM_COUNT_ROW("batch", struct choices, batch, "IMAGES", 1, 64, "Images that are worked together (1)"),
    PIM_FLAG_ROW(
        "check-values", struct choices, check,
        "Executes the programs with numbers and compares them with a direct evaluation of the network"),
};

static const struct choices defaults = {.batch = 1};

/* Estimates of a plan; 0 cycles: not tried, or it did not fit. */
struct tried {
    uint64_t cycles;
    double pj;
};

struct made {
    struct nice_plan plan;
    struct nice_result result;
    struct pim_estimate_hardware hardware;
    const char *configuration, *name;
    uint32_t batch;
    bool asked[NICE_METHODS];         /* which plans are made */
    enum objective objective;         /* what they are compared by */
    bool found;                       /* a plan */
    enum nice_method method;          /* that won */
    struct tried tried[NICE_METHODS]; /* the best of each */
    char left_out[NICE_METHODS][256]; /* why; "": tried or not asked for */
    char network[256], mapping[256];
    bool check, checked;
    struct nice_record record; /* for the check */
    struct nice_check values;
};

static void terminate(void *plan)
{
    struct made *made = plan;
    nice_plan_terminate(&made->plan);
    nice_record_terminate(&made->record);
}

static const char *const methods[] = {
#define X(name, text) text,
    NICE_METHOD_MAP(X)
#undef X
};

struct attempt {
    enum nice_method method;
    struct nice_weights weights;
};

/* Weights get what maps and what is received leave, which depends on the plan: as long as a plan needs more
 * than there is, weights get less. */
static enum pim_status try_limit(const struct pim_mapper_inputs *inputs, const struct made *made,
                                 const struct attempt *attempt, uint64_t copy_limit, struct nice_plan *plan,
                                 struct nice_result *result, struct pim_error *error)
{
    uint64_t memory = made->hardware.memory_bytes, capacity = memory;
    for (int trial = 0;; trial++) {
        const struct nice_request request = {inputs->network, &made->hardware, made->batch,     capacity,
                                             copy_limit,      attempt->method, attempt->weights};
        if (nice_plan_make(&request, plan, error) != PIM_OK || nice_emit(plan, NULL, result, error) != PIM_OK)
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

/* A copy that several nodes hold together is brought together where it is used, in memory that large layers
 * may not leave: where that is so, large copies are held whole. */
static enum pim_status try_method(const struct pim_mapper_inputs *inputs, const struct made *made,
                                  const struct attempt *attempt, struct nice_plan *plan,
                                  struct nice_result *result, struct pim_error *error)
{
    struct pim_error first = {0};
    uint64_t limit = UINT64_MAX;
    for (int trial = 0; trial < LIMIT_TRIALS; trial++) {
        struct pim_error failure = {0};
        if (try_limit(inputs, made, attempt, limit, plan, result, &failure) == PIM_OK)
            return PIM_OK;
        nice_plan_terminate(plan);
        first = trial == 0 ? failure : first;
        if (failure.status != PIM_BAD_INPUT)
            break;
        limit = limit == UINT64_MAX ? made->hardware.memory_bytes / 2 : limit / 2;
    }
    return pim_fail(error, first.status, "%s", first.text);
}

static double score(enum objective objective, const struct tried *tried)
{
    return objective == OBJECTIVE_LATENCY  ? (double)tried->cycles
           : objective == OBJECTIVE_ENERGY ? tried->pj
                                           : tried->pj * (double)tried->cycles;
}

/* All methods with these weights; the best plan of all is kept by what its programs are estimated to take:
 * candidates see what moves between layers only roughly. */
static void try_weights(const struct pim_mapper_inputs *inputs, struct made *made,
                        struct nice_weights weights, struct pim_error *first)
{
    for (int method = 0; method < NICE_METHODS; method++) {
        const struct attempt attempt = {(enum nice_method)method, weights};
        struct nice_plan plan = {0};
        struct nice_result result = {0};
        struct pim_error failure = {0};
        if (!made->asked[method] || (method >= NICE_SEQUENTIAL && weights.energy > 0))
            continue; /* the baselines know latency and throughput alone */
        if (try_method(inputs, made, &attempt, &plan, &result, &failure) != PIM_OK) {
            nice_plan_terminate(&plan);
            if (made->tried[method].cycles == 0)
                (void)snprintf(made->left_out[method], sizeof made->left_out[method], "%.255s", failure.text);
            *first = first->status == PIM_OK ? failure : *first;
            continue;
        }
        const struct tried tried = {result.cycles, result.energy.total},
                           best = {made->result.cycles, made->result.energy.total};
        if (made->tried[method].cycles == 0 ||
            score(made->objective, &tried) < score(made->objective, &made->tried[method]))
            made->tried[method] = tried;
        if (made->found && score(made->objective, &tried) >= score(made->objective, &best)) {
            nice_plan_terminate(&plan);
            continue;
        }
        nice_plan_terminate(&made->plan);
        made->plan = plan;
        made->result = result;
        made->method = (enum nice_method)method;
        made->found = true;
    }
}

/*
 * Plans for latency are made for every objective. For energy, plans with the least energy besides; for the
 * product of both, plans for the weighted sum that falls as the product does at the best plan so far, anew
 * where that changed (Dinkelbach's method, twice at most).
 */
static enum pim_status make(const struct pim_mapper_inputs *inputs, struct made *made,
                            struct pim_error *error)
{
    enum { SUMS = 2 };
    struct pim_error first = {0};
    uint64_t standing = (uint64_t)(nice_standing_pj(&made->hardware) + 0.5), cycles = 0;
    try_weights(inputs, made, (struct nice_weights){1, 0}, &first);
    if (made->objective != OBJECTIVE_LATENCY && made->found && made->result.energy.total <= 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the hardware has no energies (energy.*): nothing to minimise for --objective %s",
                        objectives[made->objective]);
    if (made->objective != OBJECTIVE_LATENCY && made->found)
        try_weights(inputs, made, (struct nice_weights){standing, 1}, &first);
    for (int sum = 0;
         sum < SUMS && made->objective == OBJECTIVE_EDP && made->found && cycles != made->result.cycles;
         sum++) {
        cycles = made->result.cycles;
        double slope = made->result.energy.total / (double)cycles;
        try_weights(inputs, made, (struct nice_weights){standing + (uint64_t)(slope + 0.5), 1}, &first);
    }
    return made->found ? PIM_OK : pim_fail(error, first.status, "%s", first.text);
}

static enum pim_status plan(const struct pim_mapper_inputs *inputs, const void *options, void *made_plan,
                            struct pim_error *error)
{
    const struct choices *choices = options;
    struct made *made = made_plan;
    if (!inputs->nodes || inputs->nodes->width > 32 || inputs->nodes->height > 32)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the hardware is no array of DRAM-PIM nodes of at most 32 x 32");
    made->hardware = *inputs->nodes;
    made->configuration = inputs->configuration_text;
    made->name = inputs->network->name;
    made->batch = (uint32_t)choices->batch;
    made->objective = (enum objective)choices->objective;
    made->check = choices->check;
    static const enum nice_method methods_of[] = {NICE_METHODS, NICE_SEQUENTIAL, NICE_SERIAL, NICE_PARALLEL,
                                                  NICE_PIPELINE};
    for (int method = 0; method < NICE_METHODS; method++)
        made->asked[method] =
            choices->mapping == 0 ? method != NICE_PIPELINE : method == (int)methods_of[choices->mapping];
    return make(inputs, made, error);
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
                   made->asked[NICE_SERIAL] || made->asked[NICE_PARALLEL] ? "NicePIM"
                   : made->asked[NICE_PIPELINE]                           ? "DDAM pipeline"
                                                                          : "sequential baseline",
                   made->batch);
    *description = (struct pim_trace_description){.family = "nicepim",
                                                  .network = made->network,
                                                  .mapping = made->mapping,
                                                  .configuration = made->configuration,
                                                  .width = made->hardware.width,
                                                  .height = made->hardware.height,
                                                  .units = made->hardware.width * made->hardware.height,
                                                  .macs = made->plan.flow.macs * made->plan.images,
                                                  .weight_bytes = weight_bytes(&made->plan)};
    return PIM_OK;
}

static enum pim_status emit(void *plan, struct pim_trace_writer *writer, struct pim_error *error)
{
    struct made *made = plan;
    struct nice_result result;
    const struct nice_observer observer = {nice_record_see, &made->record};
    if (made->check && !nice_record_initialize(&made->record, made->hardware.width * made->hardware.height))
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for notes");
    return nice_emit_observed(&made->plan, writer, made->check ? &observer : NULL, &result, error);
}

static bool checks(const void *plan)
{
    const struct made *made = plan;
    return made->check;
}

static enum pim_status check(void *plan, const char *path, struct pim_error *error)
{
    enum { SEED = 1 };
    struct made *made = plan;
    struct pim_trace *trace;
    if (pim_trace_open(path, &trace, error) != PIM_OK)
        return error->status;
    made->checked = true;
    enum pim_status status = nice_check_values(&made->plan, &made->record, trace, SEED, &made->values, error);
    pim_trace_close(trace);
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "the check of values");
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

static void print_tried(FILE *file, const struct made *made, int method)
{
    fprintf(file, "%-20s %" PRIu64 " cycles", method == (int)made->method ? "taken" : "tried",
            made->tried[method].cycles);
    if (made->objective != OBJECTIVE_LATENCY)
        fprintf(file, ", %.1f uJ", made->tried[method].pj * 1e-6);
    fprintf(file, " estimated: %s\n", methods[method]);
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
    if (p->rounded)
        fprintf(file, "choice               costs %" PRIu64 ", %" PRIu64 " at least: sizes were rounded up\n",
                p->cost, p->bound);
    if (p->parts > 0)
        fprintf(file,
                "parts                %" PRIu32 ", the slowest takes %" PRIu64
                " cycles of an image as the division saw it\n",
                p->parts, p->cost);
    fprintf(file, "memory of a node     %" PRIu64 " bytes of %" PRIu64 "\n", made->result.memory_bytes,
            made->hardware.memory_bytes);
    for (int method = 0; method < NICE_METHODS; method++) {
        if (made->tried[method].cycles > 0)
            print_tried(file, made, method);
        else if (made->left_out[method][0] != '\0')
            fprintf(file, "%-20s %s: %s\n", "left out", methods[method], made->left_out[method]);
    }
    fprintf(file, "estimated cycles     %" PRIu64 "\n", made->result.cycles);
    if (made->result.energy.total > 0)
        fprintf(file, "estimated energy     %.1f uJ\n", made->result.energy.total * 1e-6);
    if (made->checked)
        fprintf(file, "checked values       %" PRIu64 " elements are those of the network\n",
                made->values.elements);
    fprintf(file, "\n");
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

/* Cycles where cycles alone were minimised, else the weighted sum. */
static void put_choice(struct pim_json *json, const struct nice_plan *p)
{
    bool cycles = p->weights.energy == 0;
    pim_json_put_count(json, cycles ? "choice_cycles" : "choice_cost", p->cost);
    pim_json_put_count(json, cycles ? "choice_bound_cycles" : "choice_bound", p->bound);
    pim_json_put_boolean(json, "choice_exact", !p->rounded && !p->sequential && p->parts == 0);
}

static void put_energy(struct pim_json *json, const struct nice_energy *energy)
{
    const struct {
        const char *name;
        double pj;
    } parts[] = {{"pe", energy->pe},      {"acu", energy->acu}, {"sram", energy->sram},
                 {"dram", energy->dram},  {"noc", energy->noc}, {"static", energy->standing},
                 {"total", energy->total}};
    pim_json_begin_object(json, "estimated_energy_pj");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        pim_json_put_real(json, parts[i].name, parts[i].pj);
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
    pim_json_put_text(json, "objective", objectives[made->objective]);
    put_choice(json, p);
    if (p->parts > 0)
        pim_json_put_count(json, "parts", p->parts);
    pim_json_put_count(json, "macs", made->result.macs);
    pim_json_put_count(json, "estimated_cycles", made->result.cycles);
    put_energy(json, &made->result.energy);
    if (made->checked)
        pim_json_put_count(json, "checked_elements", made->values.elements);
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
    .summary = "Convolutional networks and transformers on DRAM-PIM nodes",
    .description = "Maps a convolutional network or a transformer onto an array of DRAM-PIM nodes as NicePIM "
                   "does: regions of branches, "
                   "cuts of layers, copies of weights, layouts.",
    .onnx = true,
    .options = {rows, sizeof rows / sizeof rows[0], sizeof(struct choices), &defaults},
    .plan_size = sizeof(struct made),
    .plan = plan,
    .terminate = terminate,
    .estimate = estimate,
    .describe = describe,
    .emit = emit,
    .checks = checks,
    .check = check,
    .print = print,
    .write_json = write_json,
};
