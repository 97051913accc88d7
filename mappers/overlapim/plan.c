#include "mappers/overlapim/plan.h"

#include "mappers/overlapim/chain/mix.h"
#include "mappers/overlapim/constraints.h"
#include "mappers/search/workers.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Comparisons of data spaces in the time of an analysis: about 2 us against 1.5 ns (docs/benchmarks.md). */
enum { COMPARISONS = 1500 };

enum { BUDGET = 1000 }; /* candidates a layer and objective when nothing is asked for */

/* Beside the searches by pairs near the best so far, those in the whole space have so many candidates a layer
 * at most: with more than that, candidates near the best find more. */
enum { PAIRS = 100 };

enum { RUNS = 256 }; /* of the network, at most, to mix what was found */

static const struct {
    const char *name;
    unsigned found; /* its mappings */
    bool transformed, overlapped;
} series_table[PIM_SERIES] = {
#define X(name, text, found, transformed, overlapped) {text, found, transformed, overlapped},
    PIM_SERIES_MAP(X)
#undef X
};

const char *pim_series_name(unsigned series)
{
    return series < PIM_SERIES ? series_table[series].name : NULL;
}

void pim_overlapim_plan_terminate(struct pim_overlapim_plan *plan)
{
    for (unsigned o = 0; o < PIM_FOUND; o++)
        free(plan->mappings[o]);
    for (unsigned s = 0; s < PIM_SERIES; s++)
        pim_chain_terminate(&plan->chains[s]);
    free(plan->spaces);
    pim_mapped_layers_terminate(&plan->layers);
}

uint64_t pim_overlapim_cycles(const struct pim_overlapim_plan *plan, enum pim_series series)
{
    return series_table[series].overlapped ? plan->chains[series].end : plan->chains[series].sequential;
}

bool pim_overlapim_has(const struct pim_overlapim_plan *plan, enum pim_series series)
{
    return plan->chains[series].layer != NULL;
}

bool pim_overlapim_transformed(const struct pim_overlapim_plan *plan, enum pim_series series)
{
    return series == PIM_SERIES_WIDE    ? plan->wide_transformed
           : series == PIM_SERIES_MIXED ? plan->mixed_transformed
                                        : series_table[series].transformed;
}

const struct pim_layer_mapping *pim_overlapim_mappings(const struct pim_overlapim_plan *plan,
                                                       enum pim_series series)
{
    return plan->mappings[series_table[series].found];
}

/* The series that an objective stands for. Every trace is overlapped, also one of `original`. */
static enum pim_series series_of(unsigned objective)
{
    static const enum pim_series own[PIM_OBJECTIVES] = {[PIM_OBJECTIVE_ORIGINAL] =
                                                            PIM_SERIES_ORIGINAL_OVERLAP,
                                                        [PIM_OBJECTIVE_OVERLAP] = PIM_SERIES_OVERLAP,
                                                        [PIM_OBJECTIVE_TRANSFORM] = PIM_SERIES_TRANSFORM,
                                                        [PIM_OBJECTIVE_AHEAD] = PIM_SERIES_AHEAD};
    return objective < PIM_OBJECTIVES ? own[objective] : PIM_SERIES_TRANSFORM;
}

uint32_t pim_overlapim_unit(const struct pim_overlapim_plan *plan, uint32_t layer, uint32_t channel)
{
    return pim_chain_unit(&plan->search, layer) + channel;
}

static enum pim_status make_spaces(struct pim_overlapim_plan *plan,
                                   const struct pim_overlapim_options *options, struct pim_error *error)
{
    plan->spaces = calloc(plan->layers.count, sizeof *plan->spaces);
    if (!plan->spaces)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " layers", plan->layers.count);
    for (uint32_t i = 0; i < plan->layers.count; i++) {
        const struct pim_mapped_layer *layer = &plan->layers.layer[i];
        struct pim_mapping_space *space = &plan->spaces[i];
        pim_mapping_space_initialize(space, &layer->workload, plan->search.channels, plan->machine.banks,
                                     plan->machine.columns, options->data_spaces);
        static const unsigned reduced[] = {PIM_C, PIM_R, PIM_S};
        for (unsigned d = 0; d < 3 && !layer->product; d++) /* a column works out its outputs whole */
            space->factor[PIM_SLOT_INSIDE][reduced[d]] = layer->workload.size[reduced[d]];
    }
    return options->constraints
               ? pim_constraints_read(options->constraints, &plan->layers, plan->spaces, error)
               : PIM_OK;
}

struct told {
    const struct pim_mapper_search *search;
    enum pim_objective objective;
    struct pim_search_limit limit;
};

static void tell(void *context, uint64_t done, uint64_t total)
{
    const struct told *told = context;
    if (told->search->progress)
        told->search->progress(told->search->context, pim_objective_name(told->objective), done, total);
}

static bool stop(void *context)
{
    struct told *told = context;
    return pim_search_limit_over(&told->limit);
}

static enum pim_status search_one(const struct pim_search_inputs *inputs, enum pim_objective objective,
                                  struct pim_layer_mapping *found, struct pim_error *error)
{
    struct told *told = inputs->context;
    told->objective = objective;
    return pim_search_network(inputs, objective, found, error);
}

/* The fastest series so far, by the estimates; of real rows in lock step. */
static enum pim_series fastest_of(const struct pim_overlapim_plan *plan)
{
    enum pim_series fastest = PIM_SERIES_ORIGINAL_OVERLAP;
    for (unsigned s = 0; s < PIM_SERIES_MIXED; s++) {
        const bool fits = series_table[s].overlapped && pim_overlapim_has(plan, (enum pim_series)s) &&
                          !(plan->real && series_table[s].transformed);
        if (fits && plan->chains[s].end < plan->chains[fastest].end)
            fastest = (enum pim_series)s;
    }
    return fastest;
}

/* Takes the mappings as those of best_wide, if it is not there yet or ends later. */
static enum pim_status take_wide(struct pim_overlapim_plan *plan, const struct pim_layer_mapping *mappings,
                                 bool transformed, struct pim_error *error)
{
    struct pim_layer_mapping *wide = plan->mappings[PIM_FOUND_WIDE];
    struct pim_chain *best = &plan->chains[PIM_SERIES_WIDE], chain;
    if (pim_chain_run(&plan->search, mappings, transformed, false, &chain, error) != PIM_OK)
        return error->status;
    const bool taken = !pim_overlapim_has(plan, PIM_SERIES_WIDE) || chain.end < best->end;
    pim_chain_terminate(taken ? best : &chain);
    if (!taken)
        return PIM_OK;
    *best = chain;
    memcpy(wide, mappings, plan->layers.count * sizeof *wide);
    plan->wide_transformed = transformed;
    return PIM_OK;
}

/* Where most candidates are near the best so far, all searches among candidates of the whole space as well:
 * found[o], by objective. Those by pairs look at PAIRS candidates at most. */
static enum pim_status look_wide(struct pim_overlapim_plan *plan, const struct pim_search_inputs *inputs,
                                 struct pim_layer_mapping *const *found, struct pim_error *error)
{
    struct pim_search_inputs wide = *inputs;
    wide.random = true;
    for (unsigned o = 0; o < PIM_OBJECTIVES; o++) {
        const bool by_pairs = o == PIM_OBJECTIVE_OVERLAP || o == PIM_OBJECTIVE_TRANSFORM;
        wide.budget = by_pairs && inputs->budget > PAIRS ? PAIRS : inputs->budget;
        PIM_TRY(search_one(&wide, (enum pim_objective)o, found[o], error));
    }
    for (unsigned s = 0; s < PIM_SERIES_WIDE; s++) {
        if (series_table[s].overlapped && !(plan->real && series_table[s].transformed) &&
            take_wide(plan, found[series_table[s].found], series_table[s].transformed, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

/* Mixes the fastest of what was found with the mappings of the others; what single searches of the
 * whole space have found comes last, where runs are left. */
static enum pim_status mix(struct pim_overlapim_plan *plan, const struct pim_search_inputs *inputs,
                           struct pim_layer_mapping *const *wide, struct pim_error *error)
{
    const struct pim_layer_mapping *first[PIM_OBJECTIVES + 1], *then[PIM_OBJECTIVES];
    struct pim_layer_mapping *mixed = plan->mappings[PIM_FOUND_MIXED];
    struct pim_chain *chain = &plan->chains[PIM_SERIES_MIXED];
    unsigned firsts = 0, others = 0;
    uint32_t runs = RUNS;
    if (!inputs->random && look_wide(plan, inputs, wide, error) != PIM_OK)
        return error->status;
    for (unsigned o = 0; o < PIM_OBJECTIVES; o++)
        first[firsts++] = plan->mappings[o];
    for (unsigned o = 0; o < PIM_OBJECTIVES && !inputs->random; o++)
        *(o == PIM_OBJECTIVE_AHEAD ? &first[firsts++] : &then[others++]) = wide[o];
    const enum pim_series fastest = fastest_of(plan);
    const bool transformed = plan->mixed_transformed = pim_overlapim_transformed(plan, fastest);
    memcpy(mixed, pim_overlapim_mappings(plan, fastest), plan->layers.count * sizeof *mixed);
    if (pim_chain_run(inputs, mixed, transformed, false, chain, error) != PIM_OK ||
        pim_chain_mix(inputs, first, firsts, transformed, &runs, mixed, chain, error) != PIM_OK)
        return error->status;
    return pim_chain_mix(inputs, then, others, transformed, &runs, mixed, chain, error);
}

static enum pim_status make_mixed(struct pim_overlapim_plan *plan, const struct pim_search_inputs *inputs,
                                  struct pim_error *error)
{
    const size_t count = plan->layers.count;
    struct pim_layer_mapping *all = calloc(PIM_OBJECTIVES * count, sizeof *all), *wide[PIM_OBJECTIVES];
    plan->mappings[PIM_FOUND_WIDE] = calloc(count, sizeof *all);
    plan->mappings[PIM_FOUND_MIXED] = calloc(count, sizeof *all);
    for (unsigned o = 0; all && o < PIM_OBJECTIVES; o++)
        wide[o] = all + o * count;
    enum pim_status status = all && plan->mappings[PIM_FOUND_WIDE] && plan->mappings[PIM_FOUND_MIXED]
                                 ? mix(plan, inputs, wide, error)
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for the mappings");
    free(all);
    return status;
}

static enum pim_status search_all(struct pim_overlapim_plan *plan,
                                  const struct pim_overlapim_options *options, struct pim_error *error)
{
    struct told told = {.search = &options->search};
    struct pim_search_inputs inputs = plan->search;
    inputs.progress = tell;
    inputs.stop = stop;
    inputs.context = &told;
    pim_search_limit_begin(&told.limit, (double)told.search->seconds, told.search->stop,
                           told.search->context);
    for (unsigned o = 0; o < PIM_OBJECTIVES; o++) {
        plan->mappings[o] = calloc(plan->layers.count, sizeof *plan->mappings[o]);
        if (!plan->mappings[o])
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the mappings");
        PIM_TRY(search_one(&inputs, (enum pim_objective)o, plan->mappings[o], error));
    }
    for (unsigned s = 0; s < PIM_SERIES_WIDE; s++) {
        if (pim_chain_run(&plan->search, plan->mappings[series_table[s].found], series_table[s].transformed,
                          false, &plan->chains[s], error) != PIM_OK)
            return error->status;
    }
    if (plan->best && make_mixed(plan, &inputs, error) != PIM_OK)
        return error->status;
    plan->ended_early = pim_search_limit_cause(&told.limit);
    return PIM_OK;
}

enum pim_status pim_overlapim_plan_make(const struct pim_mapper_inputs *inputs,
                                        const struct pim_overlapim_options *options,
                                        struct pim_overlapim_plan *plan, struct pim_error *error)
{
    memset(plan, 0, sizeof *plan);
    plan->network = inputs->network->name;
    plan->configuration = inputs->configuration_text;
    plan->series = series_of(options->objective);
    plan->best = options->objective == PIM_OBJECTIVE_BEST;
    plan->nests = options->nests;
    plan->real = options->rows == 1 || options->check;
    if (pim_machine_read(inputs->configuration, &plan->machine, error) != PIM_OK ||
        pim_mapped_layers_make(inputs->network, &plan->layers, error) != PIM_OK)
        return error->status;
    plan->search =
        (struct pim_search_inputs){.layers = &plan->layers,
                                   .machine = &plan->machine,
                                   .channels = 1U << options->channels,
                                   .budget = options->search.steps ? options->search.steps : BUDGET,
                                   .seed = options->search.seed,
                                   .comparisons = options->analysis ? COMPARISONS : 0,
                                   .random = options->random == 1 || options->analysis == 1,
                                   .real = plan->real,
                                   .order = (enum pim_search_order)options->order};
    uint32_t channels = plan->machine.stacks * plan->machine.channels;
    if (plan->search.channels > channels)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " channels a layer are asked for, there are %" PRIu32,
                        plan->search.channels, channels);
    if (make_spaces(plan, options, error) != PIM_OK)
        return error->status;
    plan->search.spaces = plan->spaces;
    if (pim_workers_create(&plan->search.workers, pim_workers_wanted(options->search.threads), error) !=
        PIM_OK)
        return error->status;
    enum pim_status status = search_all(plan, options, error);
    pim_workers_destroy(plan->search.workers);
    plan->search.workers = NULL;
    return status;
}

/* The schedules of a series once more. */
static enum pim_status run_again(struct pim_overlapim_plan *plan, enum pim_series series,
                                 struct pim_error *error)
{
    pim_chain_terminate(&plan->chains[series]);
    return pim_chain_run(&plan->search, pim_overlapim_mappings(plan, series),
                         pim_overlapim_transformed(plan, series), plan->ends[series], &plan->chains[series],
                         error);
}

enum pim_status pim_overlapim_take_ends(struct pim_overlapim_plan *plan, struct pim_error *error)
{
    plan->ends[plan->series] = true;
    return run_again(plan, plan->series, error);
}

enum pim_status pim_overlapim_take_rule(struct pim_overlapim_plan *plan, struct pim_error *error)
{
    memcpy(plan->mappings[PIM_OBJECTIVE_AHEAD], plan->mappings[PIM_OBJECTIVE_ORIGINAL],
           plan->layers.count * sizeof *plan->mappings[PIM_OBJECTIVE_AHEAD]);
    plan->ends[PIM_SERIES_AHEAD] = plan->ends[PIM_SERIES_ORIGINAL_OVERLAP];
    return run_again(plan, PIM_SERIES_AHEAD, error);
}
