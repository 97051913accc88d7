/* Plans of the Allspark mapping as a table and as JSON (read.c reads them). */
#include "mappers/allspark/plan/file.h"
#include "mappers/search/problem.h"

#include "mappers/allspark/placement/placement.h"
#include "mappers/allspark/shapes.h"
#include "sim/output/json.h"
#include "sim/try.h"

#include <inttypes.h>

static double mebibytes(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

/* What the weights of the blocks would take without sharing or reuse: as Table VI of the paper counts. */
struct memory_cases {
    uint64_t shared_and_reused, not_reused, not_shared, rest;
};

static struct memory_cases memory_cases(const struct pim_allspark_plan *plan)
{
    struct memory_cases cases = {0};
    for (uint32_t i = 0; i < plan->stages; i++)
        for (uint32_t j = 0; j < plan->stage[i].partitions; j++) {
            const struct pim_allspark_partition *part = &plan->stage[i].partition[j];
            uint64_t blocks = pim_allspark_block_bytes(part), copies = (uint64_t)part->ring;
            cases.shared_and_reused += part->reuses ? 0 : blocks;
            cases.not_reused += part->layers * blocks;
            cases.not_shared += part->reuses ? 0 : copies * blocks;
        }
    cases.rest = plan->weight_bytes - cases.shared_and_reused;
    return cases;
}

/* Perfect utilisation: the network's MACs (without padded tokens) over the PEs of all nodes, one MAC a cycle
   each, and nothing besides. */
static uint64_t ideal_cycles(const struct pim_allspark_plan *plan)
{
    uint64_t macs = plan->batch * plan->network->graph.macs;
    uint64_t elements = (uint64_t)plan->hardware.width * plan->hardware.height * plan->hardware.pe_rows *
                        plan->hardware.pe_columns;
    return macs / elements + (macs % elements != 0);
}

static void print_partition(const struct pim_allspark_stage *stage, uint32_t index, FILE *file)
{
    const struct pim_allspark_partition *part = &stage->partition[index];
    char partition[24], layers[32];
    (void)snprintf(partition, sizeof partition, "%" PRIu32 "x%" PRIu32, part->u, part->v);
    (void)snprintf(layers, sizeof layers, part->layers > 1 ? "%" PRIu32 "-%" PRIu32 : "%" PRIu32,
                   part->first_layer + 1, part->first_layer + part->layers);
    fprintf(file,
            "%5" PRIu32 "  %6" PRIu32 "  %8" PRIu32 "  %6s  %9s  %4" PRIu32 "  %6" PRIu32 "  %10" PRIu32
            "  %8" PRIu32 "  %10s  %12" PRIu64 "\n",
            stage->of + 1, part->blocks, part->branches, layers, partition, part->ring, part->chunks,
            pim_layer_capacity(part), part->layer_branches,
            part->reuses       ? "whole copy"
            : part->layers > 1 ? "same"
                               : "-",
            part->weight_bytes);
}

/* Where scores are not stored whole. */
static void print_row_blocks(const struct pim_allspark_stage *stage, FILE *file)
{
    for (uint32_t i = 0; i < stage->partitions; i++) {
        const struct pim_allspark_partition *part = &stage->partition[i];
        if (part->row_blocks > 1)
            fprintf(file,
                    "attention of stage %" PRIu32 ", %" PRIu32 "x%" PRIu32 ": %" PRIu32
                    " blocks of rows one after another\n",
                    stage->of + 1, part->u, part->v, part->row_blocks);
    }
}

static void print_placement(const struct pim_allspark_plan *plan, FILE *file)
{
    struct pim_error error = {0};
    uint64_t between;
    for (uint32_t i = 0; i < plan->stages; i++) {
        struct pim_placement_report report;
        if (pim_allspark_placement(plan, i, NULL, &report, &error) == PIM_OK && report.greedy.edges > 0)
            fprintf(file,
                    "placement of stage %" PRIu32 ": %.2f hops on average over %" PRIu64
                    " edges (in order %.2f, at random %.2f)\n",
                    plan->stage[i].of + 1, report.greedy.average, report.greedy.edges, report.ordered.average,
                    report.random);
    }
    if (pim_allspark_estimate_interaction(plan, &between, &error) == PIM_OK && between > 0)
        fprintf(file, "exchange between branches%s: %" PRIu64 " cycles of the estimate\n",
                plan->exchange == PIM_ALLSPARK_GATHER ? " over top-left nodes" : "", between);
}

void pim_plan_space(const struct pim_allspark_options *options, struct pim_plan_result *result)
{
    bool automatic = options->scheme == PIM_ALLSPARK_AUTOMATIC;
    bool cut = pim_families[result->plan->network->transformer->family].alternates;
    char rings[32] = "up to a line", chunks[32] = "1 to 64";
    if (options->ring)
        (void)snprintf(rings, sizeof rings, "of %s%" PRIu32, options->ring > 1 ? "at most " : "",
                       options->ring);
    if (options->ring == 1)
        (void)snprintf(rings, sizeof rings, "of one branch");
    if (options->copies)
        (void)snprintf(rings, sizeof rings, "of a node up to a line");
    if (options->chunks)
        (void)snprintf(chunks, sizeof chunks, "%" PRIu32, options->chunks);
    (void)snprintf(result->optimal_of, sizeof result->optimal_of,
                   "%" PRIu32 " candidates (%s, rings %s, chunks %s%s%s), by their estimates without "
                   "what branches give to each other",
                   result->plan->candidates,
                   automatic ? "partitions that make the largest share smaller" : "the given partitions",
                   rings, chunks, automatic ? "" : ", where not given",
                   cut ? ", for this cut of the global attention" : "");
}

/* How far the plan is from the best of its space, and what that is. */
static void print_optimum(const struct pim_plan_result *result, FILE *file)
{
    const struct pim_allspark_plan *plan = result->plan;
    uint64_t gap = plan->cycles - plan->bound;
    fprintf(file, "scheduler %s: %.3f s, ", result->scheduler, result->solve_seconds);
    pim_search_print_early("", result->ended_early, ", ", file);
    if (gap == 0)
        fputs("optimal", file);
    else
        fprintf(file, "at most %.2f %% above the optimum",
                100.0 * (double)gap / (double)(plan->bound ? plan->bound : 1));
    fprintf(file, "\n  of %s\n", result->optimal_of);
}

void pim_plan_print(const struct pim_plan_result *result, FILE *file)
{
    const struct pim_allspark_plan *plan = result->plan;
    fprintf(file, "%s on %" PRIu32 " x %" PRIu32 " nodes", plan->network->name, plan->hardware.width,
            plan->hardware.height);
    if (plan->batch > 1)
        fprintf(file, ", %" PRIu32 " images worked together", plan->batch);
    if (plan->prefetch)
        fputs(", with prefetch of weights", file);
    fputs("\n", file);
    fputs("stage  blocks  branches  layers  partition  ring  chunks  sub-arrays  of these  reuse       "
          "weights/node\n",
          file);
    for (uint32_t i = 0; i < plan->stages; i++)
        for (uint32_t j = 0; j < plan->stage[i].partitions; j++)
            print_partition(&plan->stage[i], j, file);
    for (uint32_t i = 0; i < plan->stages; i++)
        print_row_blocks(&plan->stage[i], file);
    fprintf(file,
            "memory of a node: weights %" PRIu64 " + workspace %" PRIu64 " = %" PRIu64 " of %" PRIu64
            " bytes\n",
            plan->weight_bytes, plan->workspace_bytes, plan->weight_bytes + plan->workspace_bytes,
            plan->hardware.memory_bytes);
    struct memory_cases cases = memory_cases(plan);
    fprintf(
        file,
        "weights of blocks: %.2f MiB; without reuse %.2f, without sharing %.2f; of merging and classifier "
        "%.2f\n",
        mebibytes(cases.shared_and_reused), mebibytes(cases.not_reused), mebibytes(cases.not_shared),
        mebibytes(cases.rest));
    print_placement(plan, file);
    fprintf(file, "estimate: %" PRIu64 " cycles", result->cycles);
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        fprintf(file, "%s %s %.1f %%", part ? "," : " =", pim_estimate_part_name(part),
                100.0 * (double)result->parts[part] / (double)(result->cycles ? result->cycles : 1));
    uint64_t ideal = ideal_cycles(plan);
    fprintf(file, "\nideal: %" PRIu64 " cycles with all elements always at work, %.1f %% of the estimate",
            ideal, 100.0 * (double)ideal / (double)(result->cycles ? result->cycles : 1));
    fputs("\n", file);
    print_optimum(result, file);
    if (result->checked_elements > 0)
        fprintf(file, "checked values: %" PRIu64 " elements are those of the network\n",
                result->checked_elements);
}

static void put_layers(struct pim_json *json, const struct pim_allspark_stage *stage)
{
    pim_json_begin_array(json, "temporal_layers");
    for (uint32_t layer = 0; layer < stage->layers; layer++) {
        const struct pim_plan_layer made = pim_plan_layer(stage, layer);
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "u", made.part->u);
        pim_json_put_count(json, "v", made.part->v);
        pim_json_put_count(json, "branches", made.branches);
        pim_json_put_boolean(json, "reuses", made.reuses);
        pim_json_put_boolean(json, "whole_copy", made.part->reused);
        pim_json_put_count(json, "ring", made.part->ring);
        pim_json_put_count(json, "chunks", made.part->chunks);
        pim_json_put_count(json, "row_blocks", made.part->row_blocks);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_memory(struct pim_json *json, const struct pim_allspark_plan *plan)
{
    struct memory_cases cases = memory_cases(plan);
    pim_json_begin_object(json, "memory_per_node");
    pim_json_put_count(json, "weights", plan->weight_bytes);
    pim_json_put_count(json, "workspace", plan->workspace_bytes);
    pim_json_put_count(json, "total", plan->weight_bytes + plan->workspace_bytes);
    pim_json_put_count(json, "capacity", plan->hardware.memory_bytes);
    pim_json_put_count(json, "block_weights", cases.shared_and_reused);
    pim_json_put_count(json, "block_weights_without_reuse", cases.not_reused);
    pim_json_put_count(json, "block_weights_without_sharing", cases.not_shared);
    pim_json_end(json);
}

enum pim_status pim_plan_write_json(const struct pim_plan_result *result, FILE *file, struct pim_error *error)
{
    const struct pim_allspark_plan *plan = result->plan;
    struct pim_json *json = pim_json_create();
    PIM_NEED_MEMORY(json, error, "out of memory for the plan");
    pim_json_put_text(json, "network", plan->network->name);
    pim_json_put_text(json, "partition", result->partition);
    pim_json_put_count(json, "batch", plan->batch);
    pim_json_put_boolean(json, "prefetch", plan->prefetch);
    pim_json_put_text(json, "exchange", pim_plan_exchange_name(plan->exchange));
    pim_json_begin_array(json, "stages");
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_stage *stage = &plan->stage[i];
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "stage", stage->of + 1);
        pim_json_put_count(json, "blocks", stage->partition[0].blocks);
        pim_json_put_count(json, "first_block", stage->first_block);
        pim_json_put_count(json, "block_step", stage->block_step);
        pim_json_put_count(json, "branches", stage->partition[0].branches);
        put_layers(json, stage);
        pim_json_put_count(json, "weights", stage->weight_bytes);
        pim_json_put_count(json, "workspace", stage->workspace_bytes);
        pim_json_end(json);
    }
    pim_json_end(json);
    put_memory(json, plan);
    pim_json_put_count(json, "estimate_cycles", result->cycles);
    pim_json_begin_object(json, "estimate_parts");
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        pim_json_put_count(json, pim_estimate_part_name(part), result->parts[part]);
    pim_json_end(json);
    pim_json_put_count(json, "ideal_cycles", ideal_cycles(plan));
    pim_json_put_count(json, "scheduled_cycles", plan->cycles);
    pim_json_put_count(json, "bound_cycles", plan->bound);
    pim_json_put_boolean(json, "optimal", plan->cycles == plan->bound);
    pim_json_put_text(json, "optimal_of", result->optimal_of);
    pim_search_put_early(result->ended_early, json);
    pim_json_put_text(json, "scheduler", result->scheduler);
    pim_json_put_real(json, "solve_seconds", result->solve_seconds);
    if (result->checked_elements > 0)
        pim_json_put_count(json, "checked_elements", result->checked_elements);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}
