/* See segmented.h. */
#include "mappers/pimcomp/segmented.h"

enum pim_status pim_core_segmented_rule(const struct pim_core_segment_problem *problem,
                                        pim_core_layout_rule *rule, const char *name, struct pim_arena *arena,
                                        struct pim_core_segments *segments, struct pim_error *error)
{
    for (uint32_t s = 0; s < segments->count; s++) {
        struct pim_core_segment *segment = &segments->segment[s];
        if (rule(problem->architecture, &segment->network, &segment->partition, arena, &segment->layout,
                 error) != PIM_OK ||
            pim_core_segment_weigh(problem, segment, error) != PIM_OK)
            return pim_fail_in(error, "segment %u", (unsigned)s);
        segment->taken = name;
    }
    return PIM_OK;
}

/* The timed layout that is the fastest with all samples, into the segment. */
static enum pim_status take_best(const struct pim_core_segment_problem *problem,
                                 const struct pim_core_profile *profile, struct pim_core_segment *segment,
                                 struct pim_error *error)
{
    struct pim_core_segment best = *segment;
    bool any = false;
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct pim_core_candidate *candidate = &profile->candidate[i];
        struct pim_core_segment tried = *segment;
        if (candidate->refused)
            continue;
        tried.layout = candidate->layout;
        tried.taken = candidate->name;
        tried.no_keeping = candidate->no_keeping;
        if (pim_core_segment_weigh(problem, &tried, error) != PIM_OK)
            return error->status;
        uint64_t rounds = (tried.cycles - tried.write_cycles) / (tried.round_cycles ? tried.round_cycles : 1);
        tried.round_cycles = candidate->estimate;
        tried.cycles = tried.write_cycles + rounds * candidate->estimate;
        if (!any || tried.cycles < best.cycles)
            best = tried;
        any = true;
    }
    *segment = best;
    return PIM_OK;
}

static enum pim_status search_one(const struct pim_core_segment_problem *problem,
                                  const struct pim_core_search_options *search,
                                  const struct pim_core_profile_options *profiling, struct pim_arena *arena,
                                  struct pim_core_segment *segment, struct pim_core_search_result *result,
                                  struct pim_error *error)
{
    struct pim_core_search_options options = *search;
    struct pim_core_profile_options used = *profiling;
    struct pim_core_layout searched;
    struct pim_core_profile *profile = PIM_ARENA_NEW(arena, struct pim_core_profile);
    const struct pim_core_mapping mapping = {.architecture = problem->architecture,
                                             .network = &segment->network,
                                             .partition = &segment->partition,
                                             .layout = &segment->layout,
                                             .mode = problem->mode};
    if (!profile)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the layouts of a segment");
    options.starts = 1;
    options.start = &segment->layout;
    options.runners_up = 0;
    used.mapping = &mapping;
    if (pim_core_layout_search(problem->architecture, &segment->network, &segment->partition, problem->mode,
                               &options, arena, &searched, result, error) != PIM_OK)
        return error->status;
    pim_core_profile_add(&used, profile, segment->taken, false, &segment->layout);
    pim_core_profile_add(&used, profile, "genetic", true, &searched);
    if (pim_core_profile_time(&used, profile, 0, error) != PIM_OK)
        return error->status;
    return take_best(problem, profile, segment, error);
}

enum pim_status pim_core_segmented_search(const struct pim_core_segment_problem *problem,
                                          const struct pim_core_search_options *search,
                                          const struct pim_core_profile_options *profiling,
                                          struct pim_arena *arena, struct pim_core_segments *segments,
                                          struct pim_core_search_result *result, struct pim_error *error)
{
    *result = (struct pim_core_search_result){.generations = 0};
    for (uint32_t s = 0; s < segments->count; s++) {
        struct pim_core_search_result one = {.generations = 0};
        if (search_one(problem, search, profiling, arena, &segments->segment[s], &one, error) != PIM_OK)
            return pim_fail_in(error, "segment %u", (unsigned)s);
        result->generations += one.generations;
        result->evaluations += one.evaluations;
        result->first.cycles += one.first.cycles;
        result->best.cycles += one.best.cycles;
        if (one.end == PIM_SEARCH_TIME || one.end == PIM_SEARCH_STOPPED)
            result->end = one.end;
    }
    return PIM_OK;
}
