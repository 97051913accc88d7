/* See searches.h. */
#include "mappers/pimcomp/searches.h"

#include "mappers/pimcomp/layout/layout.h"

#include "sim/random.h"
#include "sim/try.h"

#include <assert.h>

/* Layouts that do not fit are left out. */
static enum pim_status find_starts(const struct pim_core_mapping *mapping,
                                   const struct pim_core_search_options *options, struct pim_arena *arena,
                                   struct pim_core_searches *searches, struct pim_error *error)
{
    static const struct {
        const char *name;
        pim_core_layout_rule *make;
    } rules[] = {{"first", pim_core_layout_first},
                 {"balance", pim_core_layout_balance},
                 {"whole cores", pim_core_layout_whole_cores}};
    _Static_assert(sizeof rules / sizeof *rules == PIM_CORE_RULES, "one place for each");
    for (unsigned i = 0; i < PIM_CORE_RULES; i++) {
        struct pim_error ignored = {0};
        searches->rule_name[searches->rules] = rules[i].name;
        searches->rules +=
            rules[i].make(mapping, arena, &searches->start[searches->rules], &ignored) == PIM_OK;
    }
    enum pim_status status = pim_core_layouts_even(
        mapping, PIM_CORE_EVENS, arena, searches->start + searches->rules, &searches->evens, error);
    searches->starts = searches->rules + searches->evens;
    assert(options->starts <= PIM_CORE_GIVEN_MOST);
    for (uint32_t i = 0; i < options->starts; i++)
        searches->start[searches->starts++] = options->start[i];
    return status;
}

/* Two searches with this budget, of which the second starts from the layouts without a search and those that
 * were given: in one population their descendants would be all that survives. It is begun behind the end of
 * the time, too: the best of its first population is no worse than these. */
static enum pim_status run_both(const struct pim_core_mapping *mapping,
                                struct pim_core_search_options options, double begin, struct pim_arena *arena,
                                struct pim_core_searches *searches, struct pim_error *error)
{
    const double limit = options.seconds;
    for (unsigned turn = 0; turn < 2; turn++) {
        options.seconds = pim_search_left(limit, begin);
        options.starts = turn == 0 ? 0 : searches->starts;
        options.start = turn == 0 ? NULL : searches->start;
        if (turn > 0 && searches->starts == 0)
            return PIM_OK;
        assert(searches->count < PIM_CORE_SEARCHES_MOST);
        PIM_TRY(pim_core_layout_search(mapping, &options, arena, &searches->found[searches->count].layout,
                                       &searches->found[searches->count].result, error));
        searches->count++;
    }
    return PIM_OK;
}

enum pim_status pim_core_searches_run(const struct pim_core_mapping *mapping,
                                      const struct pim_core_search_options *options, uint32_t restarts,
                                      struct pim_arena *arena, struct pim_core_searches *searches,
                                      struct pim_error *error)
{
    const struct pim_core_search_options fast = pim_core_search_preset(PIM_PRESET_FAST);
    struct pim_core_search_options brief = *options;
    const double begin = pim_search_seconds();
    *searches = (struct pim_core_searches){0};
    PIM_TRY(find_starts(mapping, options, arena, searches, error));
    if (options->population > fast.population) {
        brief.population = fast.population;
        brief.generations = fast.generations < options->generations ? fast.generations : options->generations;
        brief.patience = fast.patience;
        brief.runners_up = 0;
        uint64_t seeds = options->seed;
        assert(restarts <= PIM_CORE_RESTARTS_MOST);
        for (uint32_t r = 0; r < restarts; r++) {
            brief.seed = r == 0 ? options->seed : pim_splitmix64(&seeds);
            PIM_TRY(run_both(mapping, brief, begin, arena, searches, error));
            searches->brief = r == 0 ? searches->count : searches->brief;
            if (pim_search_end_cause(searches->found[searches->count - 1].result.end))
                return PIM_OK;
        }
    }
    enum pim_status status = run_both(mapping, *options, begin, arena, searches, error);
    if (searches->brief == 0)
        searches->brief = searches->count;
    return status;
}

uint32_t pim_core_searches_best(const struct pim_core_searches *searches)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < searches->count; i++)
        if (searches->found[i].result.best.cycles < searches->found[best].result.best.cycles)
            best = i;
    return best;
}

struct pim_core_search_result pim_core_searches_sum(const struct pim_core_searches *searches)
{
    struct pim_core_search_result sum = searches->found[pim_core_searches_best(searches)].result;
    bool early = false;
    sum.generations = 0;
    sum.evaluations = 0;
    for (uint32_t i = 0; i < searches->count; i++) {
        const struct pim_core_search_result *result = &searches->found[i].result;
        sum.generations += result->generations;
        sum.evaluations += result->evaluations;
        if (!early && pim_search_end_cause(result->end)) {
            sum.end = result->end;
            early = true;
        }
    }
    return sum;
}
