#include "mappers/overlapim/plan.h"

#include "mappers/overlapim/analysis/case/case.h"
#include "sim/output/json.h"
#include "sim/output/output.h"

#include <inttypes.h>

static const struct pim_layer_mapping *mappings_of(const struct pim_overlapim_plan *plan)
{
    return pim_overlapim_mappings(plan, plan->series);
}

static enum pim_status write_nests(const struct pim_overlapim_plan *plan, FILE *file, struct pim_error *error)
{
    struct pim_overlap_layer *layers = NULL;
    if (pim_chain_layers(&plan->search, mappings_of(plan), pim_overlapim_transformed(plan, plan->series),
                         &plan->chains[plan->series], &layers, error) != PIM_OK)
        return error->status;
    fprintf(file, "\n");
    pim_case_write(layers, plan->layers.count, file);
    pim_chain_layers_free(layers, plan->layers.count);
    return PIM_OK;
}

/* What a series took when it was simulated, and which of them was taken, where the fastest was asked for. */
static void put_outcome(const struct pim_overlapim_plan *plan, enum pim_series series, FILE *file)
{
    if (plan->best && plan->simulated[series] > 0)
        fprintf(file, " %20" PRIu64, plan->simulated[series]);
    else if (plan->best)
        fprintf(file, " %20s", "-");
    fprintf(file, "%s\n", plan->best && series == plan->series ? "  taken" : "");
}

static void put_choice(struct pim_json *json, const struct pim_overlapim_plan *plan)
{
    pim_json_put_text(json, "taken", pim_series_name(plan->series));
    pim_json_begin_object(json, "simulated");
    for (unsigned s = 0; s < PIM_SERIES; s++) {
        if (plan->simulated[s] > 0)
            pim_json_put_count(json, pim_series_name(s), plan->simulated[s]);
    }
    pim_json_end(json);
}

enum pim_status pim_overlapim_print(const struct pim_overlapim_plan *plan, FILE *file,
                                    struct pim_error *error)
{
    const struct pim_layer_mapping *mappings = mappings_of(plan);
    const struct pim_chain *chain = &plan->chains[plan->series];
    char speedup[PIM_REAL_CHARACTERS];
    double original = (double)pim_overlapim_cycles(plan, PIM_SERIES_ORIGINAL);
    fprintf(file,
            "%s: %" PRIu32 " layers (%" PRIu32 " products), %" PRIu32 " channels each, %" PRIu64
            " %scandidates a layer and objective\n",
            plan->network, plan->layers.count, plan->layers.products, plan->search.channels,
            plan->search.budget, plan->search.random ? "random " : "");
    pim_search_print_early("search: ", plan->ended_early, "\n", file);
    if (plan->layers.whole_links > 0)
        fprintf(file, "needs that are not followed, and taken as the whole of their producer: %" PRIu32 "\n",
                plan->layers.whole_links);
    if (plan->ruled)
        fprintf(file, "best_ahead has the mappings of best_original: what was found is slower\n");
    if (plan->ends[plan->series])
        fprintf(file, "layers of %s hand over at their ends where they would wait for each other\n",
                pim_series_name(plan->series));
    if (plan->checked.layers > 0)
        fprintf(file,
                "values: %" PRIu32 " product layers executed on real bits, %" PRIu64
                " outputs, all as by direct evaluation\n",
                plan->checked.layers, plan->checked.outputs);
    fprintf(file, "\n%-24s %20s %10s%s\n", "series", "cycles", "speedup",
            plan->best ? "            simulated" : "");
    for (unsigned s = 0; s < PIM_SERIES; s++) {
        if (!pim_overlapim_has(plan, (enum pim_series)s))
            continue;
        uint64_t cycles = pim_overlapim_cycles(plan, (enum pim_series)s);
        pim_format_real(speedup, original / (double)cycles, 4);
        fprintf(file, "%-24s %20" PRIu64 " %10s", pim_series_name(s), cycles, speedup);
        put_outcome(plan, (enum pim_series)s, file);
    }
    fprintf(file, "\n%-32s %8s %6s %12s %16s %16s %16s %10s\n", "layer", "steps", "banks", "step", "alone",
            "bound", "end", "moved");
    for (uint32_t i = 0; i < plan->layers.count; i++) {
        const struct pim_layer_mapping *m = &mappings[i];
        uint64_t bound = pim_layer_bound(&plan->machine, &plan->layers.layer[i], plan->search.channels);
        fprintf(file,
                "%-32.32s %8" PRIu64 " %6" PRIu64 " %12" PRIu64 " %16" PRIu64 " %16" PRIu64 " %16" PRIu64
                " %10" PRIu64 "\n",
                plan->layers.layer[i].name, m->strides.steps, m->strides.banks, m->cost.total,
                m->strides.steps * m->cost.total, bound, chain->layer[i].end, chain->layer[i].moved);
    }
    return plan->nests ? write_nests(plan, file, error) : PIM_OK;
}

static void put_layer(struct pim_json *json, const struct pim_overlapim_plan *plan, uint32_t index)
{
    const struct pim_mapped_layer *layer = &plan->layers.layer[index];
    pim_json_begin_object(json, NULL);
    pim_json_put_text(json, "name", layer->name);
    pim_json_put_boolean(json, "product", layer->product);
    pim_json_begin_object(json, "size");
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        pim_json_put_count(json, pim_dimension_name(d), layer->workload.size[d]);
    pim_json_end(json);
    pim_json_put_count(json, "bound", pim_layer_bound(&plan->machine, layer, plan->search.channels));
    for (unsigned o = 0; o < PIM_FOUND; o++) {
        if (!plan->mappings[o] || (o == PIM_FOUND_WIDE && !pim_overlapim_has(plan, PIM_SERIES_WIDE)))
            continue;
        const struct pim_layer_mapping *m = &plan->mappings[o][index];
        pim_json_begin_object(json, o < PIM_OBJECTIVES    ? pim_objective_name(o)
                                    : o == PIM_FOUND_WIDE ? "wide"
                                                          : "mixed");
        pim_json_put_count(json, "steps", m->strides.steps);
        pim_json_put_count(json, "banks", m->strides.banks);
        pim_json_put_count(json, "rows", m->cost.rows);
        pim_json_put_count(json, "step_cycles", m->cost.total);
#define X(member, text) pim_json_put_count(json, #member, m->cost.member);
        PIM_STEP_PARTS(X)
#undef X
        pim_json_put_count(json, "transfer", m->cost.transfer);
        pim_json_put_count(json, "candidates", m->valid);
        pim_json_put_count(json, "drawn", m->drawn);
        pim_json_put_count(json, "score", m->score);
        pim_json_put_count(json, "score_bound", m->bound);
        pim_json_end(json);
    }
    pim_json_begin_object(json, "end");
    for (unsigned s = 0; s < PIM_SERIES; s++) {
        if (pim_overlapim_has(plan, (enum pim_series)s))
            pim_json_put_count(json, pim_series_name(s), plan->chains[s].layer[index].end);
    }
    pim_json_end(json);
    pim_json_put_count(json, "moved_partial_sums", plan->chains[PIM_SERIES_TRANSFORM].layer[index].moved);
    pim_json_end(json);
}

enum pim_status pim_overlapim_write_json(const struct pim_overlapim_plan *plan, FILE *file,
                                         struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the plan");
    pim_json_put_text(json, "network", plan->network);
    pim_json_put_count(json, "layer_count", plan->layers.count);
    pim_json_put_count(json, "products", plan->layers.products);
    pim_json_put_count(json, "channels_per_layer", plan->search.channels);
    pim_json_put_text(json, "search", plan->search.random ? "random" : "local");
    pim_json_put_count(json, "budget", plan->search.budget);
    pim_json_put_count(json, "seed", plan->search.seed);
    pim_search_put_early(plan->ended_early, json);
    pim_json_put_count(json, "whole_links", plan->layers.whole_links);
    if (plan->ruled)
        pim_json_put_boolean(json, "ahead_has_original", true);
    if (plan->ends[plan->series])
        pim_json_put_boolean(json, "hand_over_at_ends", true);
    pim_json_begin_object(json, "series");
    for (unsigned s = 0; s < PIM_SERIES; s++) {
        if (pim_overlapim_has(plan, (enum pim_series)s))
            pim_json_put_count(json, pim_series_name(s), pim_overlapim_cycles(plan, (enum pim_series)s));
    }
    pim_json_end(json);
    if (plan->best)
        put_choice(json, plan);
    pim_json_begin_array(json, "layers");
    for (uint32_t i = 0; i < plan->layers.count; i++)
        put_layer(json, plan, i);
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}
