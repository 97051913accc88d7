/* The plan for people, and as JSON. */
#include "mappers/conflict/plan.h"
#include "sim/output/json.h"

#include <inttypes.h>
#include <math.h>

/* What the simulations of this plan simplify; NULL: nothing, or there is no estimate. */
static const char *estimate_by(const struct pim_conflict_plan *plan)
{
    const struct pim_mapper_tiles *tiles = plan->inputs->tiles;
    return tiles && plan->replay && plan->estimate.known ? tiles->differs(plan->replay) : NULL;
}

static void print_search(const struct pim_conflict_plan *plan, FILE *file)
{
    const struct pim_tile_mapping_result *result = &plan->result;
    if (!result->searched)
        return;
    fprintf(file, "search               by %s, %" PRIu64 " generations, %" PRIu64 " scores; ",
            pim_tile_fitness_name(plan->choices->fitness), result->search.steps, result->search.evaluations);
    if (!result->ended_early)
        fprintf(file, "it ended: %s\n", pim_search_end_name(result->search.end));
    pim_search_print_early("", result->ended_early, "\n", file);
    if (result->searches > 1)
        fprintf(file, "searches             %" PRIu32 ", each with a seed of its own\n", result->searches);
    fprintf(file, "search space         10^%.1f", result->space);
    if (result->groups)
        fprintf(file, " for %" PRIu32 " groups", result->groups);
    fprintf(file, "\n");
    if (result->finalists)
        fprintf(file, "simulated in the end %" PRIu32 " mappings\n", result->finalists);
    if (result->refined)
        fprintf(file, "refined by           %" PRIu64 " simulations of local moves\n", result->refined);
    if (result->front)
        fprintf(file, "first front          %" PRIu32 " mappings\n", result->front);
}

/* What was not simulated because it was stopped says so; what nobody asked for is left out. */
static void print_time(FILE *file, const char *name, double ns, bool stopped)
{
    if (!isnan(ns))
        fprintf(file, "%-20s %.3f us\n", name, ns / 1000);
    else if (stopped)
        fprintf(file, "%-20s not known: it was stopped before its simulation had ended\n", name);
}

/* Of all images, as the trace is; of the first alone as well, where there are several. */
static void print_estimate(const struct pim_conflict_plan *plan, FILE *file)
{
    const struct pim_tile_estimate *estimate = &plan->estimate;
    const bool stopped = plan->inputs->tiles && !estimate->known;
    print_time(file, plan->choices->images > 1 ? "estimate, all" : "estimate",
               pim_tile_estimate_run(estimate), stopped);
    if (plan->choices->images > 1)
        print_time(file, "estimate, first", pim_tile_estimate_image(estimate), stopped);
    const char *differs = estimate_by(plan);
    if (differs)
        fprintf(file, "%-20s %s\n", "estimate by", differs);
}

enum pim_status pim_conflict_print(const struct pim_conflict_plan *plan, FILE *file, struct pim_error *error)
{
    const struct pim_tile_mapping_result *result = &plan->result;
    const struct pim_tile_graph *tiles = &plan->tiles;
    uint64_t packets = 0, bits = 0;
    (void)error;
    for (uint32_t e = 0; e < tiles->edges; e++) {
        packets += tiles->edge[e].packets;
        bits += tiles->edge[e].packets * tiles->edge[e].bits;
    }
    fprintf(file, "network              %s, preset %s\n", tiles->name,
            plan->choices->preset ? "fixed" : "code");
    fprintf(file,
            "graph                %" PRIu32 " nodes, %" PRIu32 " edges; an image: %" PRIu64
            " packets, %" PRIu64 " bits\n",
            tiles->nodes, tiles->edges, packets, bits);
    fprintf(file, "mapping              %s: %s\n", pim_tile_mapping_name(plan->choices->mapping),
            pim_tile_mapping_text(plan->choices->mapping));
    if (plan->studied)
        pim_tile_study_print(&plan->study, file);
    print_search(plan, file);
    fprintf(file, "communication cost   %" PRIu64 " bits x hops\n", result->cost);
    fprintf(file, "bottleneck link      %.3f us held\n",
            (double)result->bottleneck / plan->machine.link_gbps / 1000);
    print_estimate(plan, file);
    print_time(file, "latency", result->latency_ns, result->stopped);
    if (plan->choices->images > 1)
        print_time(file, "time for an image", result->interval_ns, result->stopped);
    return PIM_OK;
}

static void put_real_or_null(struct pim_json *json, const char *name, double value)
{
    if (isfinite(value))
        pim_json_put_real(json, name, value);
    else
        pim_json_put_null(json, name);
}

/* null, with the reason beside it, where the estimate is not known. */
static void put_estimate(struct pim_json *json, const struct pim_conflict_plan *plan)
{
    const double estimate = pim_tile_estimate_run(&plan->estimate);
    put_real_or_null(json, "estimate_ns", estimate);
    if (plan->choices->images > 1)
        put_real_or_null(json, "estimate_first_image_ns", pim_tile_estimate_image(&plan->estimate));
    if (estimate_by(plan))
        pim_json_put_text(json, "estimate_by", estimate_by(plan));
    if (!isfinite(estimate))
        pim_json_put_text(json, "estimate_unknown",
                          plan->inputs->tiles ? "it was stopped before its simulation had ended"
                                              : "nobody simulates");
}

enum pim_status pim_conflict_write_json(const struct pim_conflict_plan *plan, FILE *file,
                                        struct pim_error *error)
{
    const struct pim_tile_mapping_result *result = &plan->result;
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the report");
    pim_json_put_text(json, "network", plan->tiles.name);
    pim_json_put_text(json, "preset", plan->choices->preset ? "fixed" : "code");
    pim_json_put_count(json, "images", plan->choices->images);
    pim_json_put_count(json, "nodes", plan->tiles.nodes);
    pim_json_put_count(json, "edges", plan->tiles.edges);
    pim_json_put_text(json, "mapping", pim_tile_mapping_name(plan->choices->mapping));
    pim_json_put_text(json, "fitness", pim_tile_fitness_name(plan->choices->fitness));
    pim_json_put_count(json, "seed", plan->choices->search.seed);
    pim_json_put_count(json, "generations", result->search.steps);
    pim_json_put_count(json, "evaluations", result->search.evaluations);
    pim_json_put_count(json, "searches", result->searches);
    pim_search_put_early(result->ended_early, json);
    pim_json_put_count(json, "refined", result->refined);
    pim_json_put_count(json, "groups", result->groups);
    put_real_or_null(json, "search_space_log10", result->searched ? result->space : (double)NAN);
    pim_json_put_count(json, "cost_bit_hops", result->cost);
    pim_json_put_count(json, "bottleneck_bit_hops", result->bottleneck);
    put_estimate(json, plan);
    put_real_or_null(json, "latency_ns", result->latency_ns);
    put_real_or_null(json, "interval_ns", result->interval_ns);
    if (plan->studied)
        pim_tile_study_put(&plan->study, json);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}
