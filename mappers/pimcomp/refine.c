/* See refine.h. */
#include "mappers/pimcomp/refine.h"

#include "mappers/pimcomp/layout/chromosome.h"
#include "sim/try.h"

#include <string.h>

/* Streams of random numbers behind those of the generations. */
enum { MUTATIONS_MOST = 4, REFINEMENT = 1 << 30 };

struct refinement {
    const struct pim_core_profile_options *profiling;
    const struct pim_refine_options *options;
    struct pim_gene_space space;
    struct pim_gene_workshop workshop;
    struct pim_chromosome best, drawn, child[PIM_REFINE_CHILDREN];
    bool no_keeping;
    uint64_t cycles; /* of the best */
    struct pim_core_profile *round;
};

static enum pim_status make(struct refinement *r, struct pim_arena *arena, struct pim_error *error)
{
    const struct pim_core_mapping *m = r->profiling->mapping;
    PIM_TRY(pim_gene_space_make(m->architecture, m->network, m->partition, m->mode,
                                r->options->max_layers_in_core, arena, &r->space, error));
    PIM_TRY(pim_gene_workshop_make(&r->space, arena, &r->workshop, error));
    PIM_TRY(pim_chromosome_make(&r->space, arena, &r->best, error));
    PIM_TRY(pim_chromosome_make(&r->space, arena, &r->drawn, error));
    for (unsigned i = 0; i < PIM_REFINE_CHILDREN; i++)
        PIM_TRY(pim_chromosome_make(&r->space, arena, &r->child[i], error));
    r->round = PIM_ARENA_NEW(arena, struct pim_core_profile);
    return PIM_OK;
}

/* A mutant of the best layout. */
static void draw(struct refinement *r, struct pim_random *random, struct pim_chromosome *mutant)
{
    unsigned changes = 0;
    pim_chromosome_copy(&r->space, mutant, &r->best);
    for (unsigned tries = 0; tries < 16 * MUTATIONS_MOST && changes < MUTATIONS_MOST; tries++) {
        changes += pim_chromosome_mutate(&r->space, &r->workshop, mutant, random);
        if (changes > 0 && pim_random_below(random, 2))
            break;
    }
    pim_chromosome_weigh(&r->space, &r->workshop, mutant);
}

/* The children of a round, as candidates of r->round. */
static enum pim_status breed(struct refinement *r, uint32_t number, struct pim_arena *scratch,
                             struct pim_error *error)
{
    const struct pim_core_profile_options *p = r->profiling;
    bool may_keep = p->mapping->mode == PIM_CORE_HIGH_THROUGHPUT && !p->schedule.no_keeping;
    r->round->count = 0;
    for (unsigned i = 0; i < PIM_REFINE_CHILDREN; i++) {
        struct pim_core_candidate *candidate = &r->round->candidate[r->round->count++];
        bool turns = may_keep && i + 1 == PIM_REFINE_CHILDREN;
        *candidate = (struct pim_core_candidate){.name = "refined", .no_keeping = r->no_keeping != turns};
        unsigned draws = turns ? 0 : i % 2 ? 1 : PIM_REFINE_DRAWS;
        struct pim_random random = pim_search_stream(r->options->seed, REFINEMENT + number, i);
        pim_chromosome_copy(&r->space, &r->child[i], &r->best);
        for (unsigned n = 0; n < draws; n++) {
            draw(r, &random, &r->drawn);
            if (n == 0 || r->drawn.cycles < r->child[i].cycles)
                pim_chromosome_copy(&r->space, &r->child[i], &r->drawn);
        }
        PIM_TRY(pim_chromosome_layout(&r->space, &r->child[i], scratch, &candidate->layout, error));
    }
    return PIM_OK;
}

/* One round; true in *better when the best layout is another one now. */
static enum pim_status advance(struct refinement *r, uint32_t number, bool *better, struct pim_error *error)
{
    struct pim_arena scratch;
    pim_arena_initialize(&scratch, 1 << 16);
    enum pim_status status = breed(r, number, &scratch, error);
    if (status == PIM_OK)
        status = pim_core_profile_time(r->profiling, r->round, 0, error);
    pim_arena_terminate(&scratch);
    if (status == PIM_BAD_INPUT) { /* none of them can be scheduled */
        *error = (struct pim_error){0};
        return PIM_OK;
    }
    if (status != PIM_OK)
        return status;
    uint32_t best = pim_core_profile_best(r->round, 0, r->round->count);
    if (r->round->candidate[best].estimate < r->cycles) {
        r->cycles = r->round->candidate[best].estimate;
        r->no_keeping = r->round->candidate[best].no_keeping;
        pim_chromosome_copy(&r->space, &r->best, &r->child[best]);
        *better = true;
    }
    return PIM_OK;
}

static enum pim_status climb(struct refinement *r, struct pim_arena *arena, struct pim_core_profile *profile,
                             struct pim_error *error)
{
    const struct pim_refine_options *o = r->options;
    const double begin = pim_search_seconds();
    bool better = false;
    for (uint32_t number = 0; number < o->rounds; number++) {
        if ((o->stop && o->stop(o->context)) ||
            (o->seconds > 0 && pim_search_seconds() - begin >= o->seconds))
            break;
        if (advance(r, number, &better, error) != PIM_OK)
            return error->status;
    }
    profile->timed += r->round->timed;
    if (!better || profile->count == PIM_CORE_CANDIDATES_MOST)
        return PIM_OK;
    struct pim_core_candidate *candidate = &profile->candidate[profile->count++];
    *candidate = (struct pim_core_candidate){
        .name = "refined", .number = 1, .searched = true, .no_keeping = r->no_keeping, .estimate = r->cycles};
    for (uint32_t i = 0; i + 1 < profile->count; i++)
        candidate->number += strcmp(profile->candidate[i].name, candidate->name) == 0;
    return pim_chromosome_layout(&r->space, &r->best, arena, &candidate->layout, error);
}

enum pim_status pim_core_refine(const struct pim_core_profile_options *profiling,
                                const struct pim_refine_options *options, uint32_t start,
                                struct pim_arena *arena, struct pim_core_profile *profile,
                                struct pim_error *error)
{
    struct pim_arena scratch;
    pim_arena_initialize(&scratch, 1 << 20);
    struct refinement *r = PIM_ARENA_NEW(&scratch, struct refinement);
    const struct pim_core_candidate *best = &profile->candidate[start];
    *r = (struct refinement){
        .profiling = profiling, .options = options, .no_keeping = best->no_keeping, .cycles = best->estimate};
    enum pim_status status = make(r, &scratch, error);
    if (status == PIM_OK && r->space.matrices != 0 &&
        pim_chromosome_from_layout(&r->space, &best->layout, &r->best))
        status = climb(r, arena, profile, error);
    pim_arena_terminate(&scratch);
    return status;
}
