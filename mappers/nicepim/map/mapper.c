/* NicePIM's PIM-Mapper behind the interface of all mappers. */
#include "mappers/mappers.h"

#include "mappers/machine/nodes.h"
#include "mappers/nicepim/check/check_values.h"
#include "mappers/nicepim/map/attempts.h"
#include "mappers/search/problem.h"
#include "sim/output/json.h"
#include "sim/output/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct choices {
    struct pim_mapper_search search;
    uint64_t batch;
    unsigned mapping, objective;
    bool check;
};

static const struct pim_option rows[] = {
    PIM_CHOICE_ROW("mapping", struct choices, mapping, "METHOD", "nicepim|sequential|serial|parallel|ddam",
                   "Which plan: that of the paper's baseline, each layer on all nodes, blind to messages and "
                   "layouts (sequential); branches one after another (serial), or side by side where that is "
                   "chosen (parallel); the best of these (nicepim); or DDAM's pipeline, the batch image by "
                   "image through parts of the network on regions of their own (ddam)"),
    PIM_CHOICE_ROW("objective", struct choices, objective, "GOAL", "latency|energy|edp",
                   "What is minimised: cycles, energy, or their product"),
    PIM_THREADS_ROW(
        "Threads that make plans; 0: one for each processor. The plan is the same with any number"),
    PIM_SECONDS_ROW("Of the search, which then takes the best plan so far; one that fits is always made",
                    .standard = "no limit"),
    PIM_COUNT_ROW("batch", struct choices, batch, "IMAGES", 1, 64, "Images that are worked together"),
    PIM_FLAG_ROW(
        "check-values", struct choices, check,
        "Executes the programs with numbers and compares them with a direct evaluation of the network"),
};

static const struct choices defaults = {.batch = 1};

enum { MAPPING_NICEPIM, MAPPING_SEQUENTIAL, MAPPING_SERIAL, MAPPING_PARALLEL, MAPPING_DDAM };

/* Options that do nothing are refused; threads change no plan, and are taken everywhere. */
static enum pim_status accept(const void *options, bool writes, struct pim_error *error)
{
    const struct choices *choices = options;
    const struct pim_option_refusal refusals[] = {
        {choices->mapping == MAPPING_SEQUENTIAL || choices->mapping == MAPPING_DDAM, "objective",
         "does nothing: --mapping sequential and ddam are baselines that know cycles alone"}};
    (void)writes;
    return pim_option_refuse(&pim_nicepim_mapper.options, options, refusals,
                             sizeof refusals / sizeof refusals[0], error);
}

struct made {
    struct nice_search search;
    struct nice_best best;
    struct pim_estimate_hardware hardware;
    const char *configuration;
    unsigned asked;          /* of enum MAPPING_.. */
    const char *ended_early; /* what the search was stopped by; NULL: it was not */
    char network[256], mapping[256];
    bool check, checked;
    struct nice_record record; /* for the check */
    struct nice_check values;
};

static void terminate(void *plan)
{
    struct made *made = plan;
    nice_best_terminate(&made->best);
    nice_record_terminate(&made->record);
}

static enum pim_status plan(const struct pim_mapper_inputs *inputs, const void *options, void *made_plan,
                            struct pim_error *error)
{
    const struct choices *choices = options;
    struct made *made = made_plan;
    if (pim_machine_nodes_check(inputs->configuration, error) != PIM_OK)
        return error->status;
    if (inputs->nodes->width > 32 || inputs->nodes->height > 32)
        return pim_configuration_fail(inputs->configuration, error,
                                      inputs->nodes->width > 32 ? "array.width" : "array.height",
                                      "this mapper takes arrays of at most 32 x 32 nodes");
    made->hardware = *inputs->nodes;
    made->configuration = inputs->configuration_text;
    made->check = choices->check;
    made->asked = choices->mapping;
    struct pim_search_limit limit;
    pim_search_limit_begin(&limit, (double)choices->search.seconds, choices->search.stop,
                           choices->search.context);
    made->search = (struct nice_search){.network = inputs->network,
                                        .hardware = &made->hardware,
                                        .batch = (uint32_t)choices->batch,
                                        .objective = (enum nice_objective)choices->objective,
                                        .threads = (unsigned)choices->search.threads,
                                        .stop = {pim_search_limit_over, &limit}};
    static const enum nice_method methods_of[] = {NICE_METHODS, NICE_SEQUENTIAL, NICE_SERIAL, NICE_PARALLEL,
                                                  NICE_PIPELINE};
    for (int method = 0; method < NICE_METHODS; method++)
        made->search.asked[method] = choices->mapping == MAPPING_NICEPIM
                                         ? method != NICE_PIPELINE
                                         : method == (int)methods_of[choices->mapping];
    const enum pim_status status = nice_search(&made->search, &made->best, error);
    made->search.stop = made->best.plan.stop = (struct nice_stop){NULL, NULL};
    if (status == PIM_OK && made->best.cut_short)
        made->ended_early = pim_search_end_cause(pim_search_limit_end(&limit));
    return status;
}

static enum pim_status estimate(void *plan, struct pim_mapper_estimate *estimate, struct pim_error *error)
{
    const struct made *made = plan;
    (void)error;
    estimate->cycles = made->best.result.cycles;
    memcpy(estimate->parts, made->best.result.parts, sizeof estimate->parts);
    return PIM_OK;
}

static uint64_t weight_bytes(const struct nice_plan *plan)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan->flow.count; i++)
        bytes += plan->flow.operation[i].weight_bytes;
    return bytes;
}

static void name_network(const struct pim_network *network, char *text, size_t size)
{
    (void)snprintf(text, size, "%.200s", network->name);
}

/* The images of the network, which may come several at once, `batch` times. */
static void name_mapping(unsigned mapping, const struct pim_network *network, uint64_t batch, char *text,
                         size_t size)
{
    (void)snprintf(text, size, "%s, batch of %" PRIu64,
                   mapping == MAPPING_SEQUENTIAL ? "sequential baseline"
                   : mapping == MAPPING_DDAM     ? "DDAM pipeline"
                                                 : "NicePIM",
                   batch * pim_graph_images(&network->graph));
}

static void foresee(const struct pim_mapper_inputs *inputs, const void *options, struct pim_mapper_job *job)
{
    const struct choices *choices = options;
    name_network(inputs->network, job->network, sizeof job->network);
    name_mapping(choices->mapping, inputs->network, choices->batch, job->mapping, sizeof job->mapping);
    job->macs[0] = inputs->network->graph.macs * choices->batch;
}

static enum pim_status describe(void *plan, struct pim_trace_description *description,
                                struct pim_error *error)
{
    struct made *made = plan;
    (void)error;
    name_network(made->search.network, made->network, sizeof made->network);
    name_mapping(made->asked, made->search.network, made->search.batch, made->mapping, sizeof made->mapping);
    *description = (struct pim_trace_description){.family = "nicepim",
                                                  .network = made->network,
                                                  .mapping = made->mapping,
                                                  .configuration = made->configuration,
                                                  .width = made->hardware.width,
                                                  .height = made->hardware.height,
                                                  .units = made->hardware.width * made->hardware.height,
                                                  .macs = made->best.plan.flow.macs * made->best.plan.images,
                                                  .weight_bytes = weight_bytes(&made->best.plan)};
    return PIM_OK;
}

static enum pim_status emit(void *plan, struct pim_trace_writer *writer, struct pim_error *error)
{
    struct made *made = plan;
    struct nice_result result;
    const struct nice_observer observer = {nice_record_see, &made->record};
    if (made->check && !nice_record_initialize(&made->record, made->hardware.width * made->hardware.height))
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for notes");
    return nice_emit_observed(&made->best.plan, writer, made->check ? &observer : NULL, &result, error);
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
    enum pim_status status =
        nice_check_values(&made->best.plan, &made->record, trace, SEED, &made->values, error);
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
    char energy[PIM_REAL_CHARACTERS];
    fprintf(file, "%-20s %" PRIu64 " cycles", method == (int)made->best.method ? "taken" : "tried",
            made->best.tried[method].cycles);
    pim_format_energy(energy, made->best.tried[method].pj);
    if (made->search.objective != NICE_LATENCY)
        fprintf(file, ", %s", energy);
    fprintf(file, " estimated: %s\n", nice_methods[method]);
}

static enum pim_status print(void *plan, FILE *file, struct pim_error *error)
{
    const struct made *made = plan;
    const struct nice_plan *p = &made->best.plan;
    char energy[PIM_REAL_CHARACTERS];
    (void)error;
    fprintf(file, "array                %" PRIu32 " x %" PRIu32 " nodes (rows x columns)\n", p->array->height,
            p->array->width);
    fprintf(file, "segments             %" PRIu32 ", %" PRIu32 " with branches side by side\n",
            p->flow.segments.segment_count, p->parallel_segments);
    if (p->corner)
        fprintf(file, "nodes that work      %" PRIu32 " x %" PRIu32 " of %" PRIu32 " x %" PRIu32 "\n",
                p->hardware->height, p->hardware->width, p->array->height, p->array->width);
    if (p->by_rule)
        fprintf(file,
                "rule of thumb        every layer on these nodes by rows or output channels, then refined\n");
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
    fprintf(file, "memory of a node     %" PRIu64 " bytes of %" PRIu64 "\n", made->best.result.memory_bytes,
            made->hardware.memory_bytes);
    for (int method = 0; method < NICE_METHODS; method++) {
        if (made->best.tried[method].cycles > 0)
            print_tried(file, made, method);
        else if (made->best.left_out[method][0] != '\0')
            fprintf(file, "%-20s %s: %s\n", "left out", nice_methods[method], made->best.left_out[method]);
    }
    pim_search_print_early("search               ", made->ended_early, "\n", file);
    fprintf(file, "estimated cycles     %" PRIu64 "\n", made->best.result.cycles);
    pim_format_energy(energy, made->best.result.energy.total);
    if (made->best.result.energy.total > 0)
        fprintf(file, "estimated energy     %s\n", energy);
    if (made->checked)
        fprintf(file, "checked values       %" PRIu64 " elements are those of the network\n",
                made->values.elements);
    fprintf(file, "\n");
    fprintf(file, "%-32s %-12s %-24s %8s %-10s %s\n", "layer", "region", "cut", "share", "input", "output");
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
        fprintf(file, "%-32.32s %-12s %-24s %8" PRIu32 " %-10s %s\n", p->flow.graph->layers[i].name, region,
                cut, d->sharing, input, output);
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

/* Cycles where cycles alone were minimised, else the weighted sum. Baselines and rules have no exact choice,
 * whose bound is known. */
static void put_choice(struct pim_json *json, const struct nice_plan *p)
{
    const bool cycles = p->weights.energy == 0, chosen = !p->sequential && !p->by_rule && p->parts == 0;
    const char *const bound = cycles ? "choice_bound_cycles" : "choice_bound";
    pim_json_put_count(json, cycles ? "choice_cycles" : "choice_cost", p->cost);
    if (chosen)
        pim_json_put_count(json, bound, p->bound);
    else
        pim_json_put_null(json, bound);
    pim_json_put_boolean(json, "choice_exact", chosen && !p->rounded);
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
    const struct nice_plan *p = &made->best.plan;
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the report");
    pim_json_put_text(json, "mapper", "nicepim");
    pim_json_put_text(json, "network", made->search.network->name);
    pim_json_put_text(json, "mapping", nice_methods[made->best.method]);
    pim_json_put_count(json, "batch", made->search.batch);
    pim_json_put_count(json, "segments", p->flow.segments.segment_count);
    pim_json_put_count(json, "parallel_segments", p->parallel_segments);
    pim_json_put_boolean(json, "rule_of_thumb", p->by_rule);
    pim_json_begin_array(json, "nodes_used");
    pim_json_put_count(json, NULL, p->hardware->height);
    pim_json_put_count(json, NULL, p->hardware->width);
    pim_json_end(json);
    pim_json_put_count(json, "weight_capacity_bytes", p->capacity);
    pim_json_put_count(json, "stored_weight_bytes", p->stored);
    pim_json_put_count(json, "memory_bytes", made->best.result.memory_bytes);
    pim_json_put_count(json, "front_points", p->front_points);
    pim_json_put_text(json, "objective", nice_objectives[made->search.objective]);
    pim_search_put_early(made->ended_early, json);
    put_choice(json, p);
    if (p->parts > 0)
        pim_json_put_count(json, "parts", p->parts);
    pim_json_put_count(json, "macs", made->best.result.macs);
    pim_json_put_count(json, "estimated_cycles", made->best.result.cycles);
    put_energy(json, &made->best.result.energy);
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
    .transformers = PIM_TRANSFORMERS_RECOGNISED,
    .stops = true,
    .options = {rows, sizeof rows / sizeof rows[0], sizeof(struct choices), &defaults},
    .accept = accept,
    .plan_size = sizeof(struct made),
    .plan = plan,
    .terminate = terminate,
    .estimate = estimate,
    .foresee = foresee,
    .describe = describe,
    .emit = emit,
    .checks = checks,
    .check = check,
    .print = print,
    .write_json = write_json,
};
