/* See segmented.h. */
#include "mappers/pimcomp/segmented.h"
#include "sim/try.h"

enum pim_status pim_core_segmented_rule(const struct pim_core_segment_problem *problem,
                                        pim_core_layout_rule *rule, const char *name, struct pim_arena *arena,
                                        struct pim_core_segments *segments, struct pim_error *error)
{
    for (uint32_t s = 0; s < segments->count; s++) {
        struct pim_core_segment *segment = &segments->segment[s];
        const struct pim_core_mapping mapping = pim_core_segment_mapping(problem, segment);
        if (rule(&mapping, arena, &segment->layout, error) != PIM_OK ||
            pim_core_segment_weigh(problem, segment, error) != PIM_OK)
            return pim_fail_in(error, "segment %u", (unsigned)s);
        segment->taken = name;
    }
    return PIM_OK;
}

/* The timed layout that is the fastest with all samples, into the segment; one is timed. */
static enum pim_status take_best(const struct pim_core_segment_problem *problem,
                                 const struct pim_core_profile *profile, struct pim_core_segment *segment,
                                 struct pim_error *error)
{
    const struct pim_core_segment rule = *segment;
    segment->cycles = UINT64_MAX;
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct pim_core_candidate *candidate = &profile->candidate[i];
        struct pim_core_segment tried = rule;
        if (!pim_core_candidate_is_timed(candidate))
            continue;
        tried.layout = candidate->layout;
        tried.taken = candidate->name;
        tried.no_keeping = candidate->no_keeping;
        PIM_TRY(pim_core_segment_weigh(problem, &tried, error));
        tried.round_cycles = candidate->estimate;
        tried.cycles = tried.write_cycles + pim_core_segment_rounds(problem, &tried) * candidate->estimate;
        if (tried.cycles < segment->cycles)
            *segment = tried;
    }
    return PIM_OK;
}

/* Of the rule of thumb and the searched layout the better one by the closed forms. */
static enum pim_status take_better(const struct pim_core_segment_problem *problem,
                                   const struct pim_core_layout *searched, struct pim_core_segment *segment,
                                   struct pim_error *error)
{
    struct pim_core_segment tried = *segment;
    tried.layout = *searched;
    tried.taken = "genetic";
    PIM_TRY(pim_core_segment_weigh(problem, &tried, error));
    if (tried.cycles < segment->cycles)
        *segment = tried;
    return PIM_OK;
}

static enum pim_status search_one(const struct pim_core_segment_problem *problem,
                                  struct pim_core_search_options *options,
                                  struct pim_core_profile_options profiling, uint32_t timed,
                                  struct pim_arena *arena, struct pim_core_segment *segment,
                                  struct pim_core_search_result *result, struct pim_error *error)
{
    struct pim_core_layout searched;
    struct pim_core_profile *profile = PIM_ARENA_NEW(arena, struct pim_core_profile);
    const struct pim_core_mapping mapping = pim_core_segment_mapping(problem, segment);
    options->starts = 1;
    options->start = &segment->layout;
    options->runners_up = timed ? timed - 1 : 0;
    profiling.mapping = &mapping;
    PIM_TRY(pim_core_layout_search(&mapping, options, arena, &searched, result, error));
    if (timed == 0)
        return take_better(problem, &searched, segment, error);
    pim_core_profile_add(&profiling, profile, segment->taken, false, &segment->layout);
    struct pim_core_segment better = *segment;
    PIM_TRY(take_better(problem, &searched, &better, error));
    const uint32_t preferred = better.cycles < segment->cycles ? profile->count : 0;
    pim_core_profile_add(&profiling, profile, "genetic", true, &searched);
    for (uint32_t i = 0; i < result->runners_up; i++)
        pim_core_profile_add(&profiling, profile, "genetic", true, &result->runner_up[i]);
    PIM_TRY(pim_core_profile_time(&profiling, profile, 0, preferred, error));
    if (profile->cut_short && !pim_search_end_cause(result->end))
        result->end = pim_search_limit_end(profiling.limit);
    return take_best(problem, profile, segment, error);
}

enum pim_status pim_core_segmented_search(const struct pim_core_segment_problem *problem,
                                          const struct pim_core_search_options *search,
                                          const struct pim_core_profile_options *profiling, uint32_t timed,
                                          struct pim_arena *arena, struct pim_core_segments *segments,
                                          struct pim_core_search_result *result, struct pim_error *error)
{
    const double begin = pim_search_seconds();
    *result = (struct pim_core_search_result){.generations = 0};
    for (uint32_t s = 0; s < segments->count; s++) {
        struct pim_core_search_result one = {.generations = 0};
        struct pim_core_search_options options = *search;
        options.seconds = pim_search_left(search->seconds, begin) / (segments->count - s); /* equal parts */
        if (search_one(problem, &options, *profiling, timed, arena, &segments->segment[s], &one, error) !=
            PIM_OK)
            return pim_fail_in(error, "segment %u", (unsigned)s);
        result->generations += one.generations;
        result->evaluations += one.evaluations;
        result->first.cycles += one.first.cycles;
        result->best.cycles += one.best.cycles;
        if (!pim_search_end_cause(result->end) && pim_search_end_cause(one.end))
            result->end = one.end;
    }
    return PIM_OK;
}
