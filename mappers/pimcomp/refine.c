/* See refine.h. */
#include "mappers/pimcomp/refine.h"

#include "mappers/pimcomp/layout/chromosome.h"
#include "mappers/pimcomp/layout/layout.h"
#include "sim/try.h"

#include <string.h>

/* Streams of random numbers behind those of the generations. */
enum { MUTATIONS_MOST = 4, REFINEMENT = 1 << 30 };
/* One child in so many changes whether maps stay on chip. */
enum { TURNS = 32 };
/* A trial counts for so many instructions at least: drawing, threads and a refusal take time, too. */
enum { TRIAL_LEAST = 2000 };
/* A budget of so many trials is enough for layouts with maps on chip and without beside each other. */
enum { TRIALS_OF_BOTH = 1024 };

/* Of how many mutants the closed forms choose each child. */
static const unsigned draws_of[][PIM_REFINE_CHILDREN] = {
    [PIM_CORE_HIGH_THROUGHPUT] = {16, 2, 64, 32}, [PIM_CORE_LOW_LATENCY] = {4, 1, 4, 1}};

struct chain {
    struct pim_chromosome best, child[PIM_REFINE_CHILDREN];
    struct pim_core_layout layout; /* of the best: */
    struct pim_arena arena;        /* here it lives, unless it is what the chain began with */
    bool begins;                   /* its first round is to come */
    bool inherits;                 /* it began at a layout that is not by the rule of chromosomes */
    bool no_keeping;               /* of the best */
    uint64_t cycles;               /* of the best, */
    uint64_t start;                /* and of what it began with, */
    uint64_t instructions;         /* and how many that has */
};

struct refinement {
    const struct pim_core_profile_options *profiling;
    const struct pim_refine_options *options;
    struct pim_gene_space space;
    struct pim_gene_workshop workshop;
    struct pim_chromosome drawn;
    struct chain chain[PIM_REFINE_CHAINS];
    struct chain *going[PIM_REFINE_CHAINS]; /* the best first */
    uint32_t chains;
    bool may_keep;   /* maps may stay on chip */
    bool both;       /* there are chains with maps on chip and without, until a single one is left */
    uint32_t number; /* of the round */
    uint64_t budget; /* instructions of a part */
    uint64_t spent;  /* of the part */
    struct pim_core_profile *round;
};

/* --- life --- */

static enum pim_status make_chain(struct refinement *r, struct chain *chain, struct pim_arena *arena,
                                  struct pim_error *error)
{
    pim_arena_initialize(&chain->arena, 1 << 16);
    for (unsigned i = 0; i < PIM_REFINE_CHILDREN; i++)
        PIM_TRY(pim_chromosome_make(&r->space, arena, &chain->child[i], error));
    return pim_chromosome_make(&r->space, arena, &chain->best, error);
}

static enum pim_status make(struct refinement *r, struct pim_arena *arena, struct pim_error *error)
{
    PIM_TRY(
        pim_gene_space_make(r->profiling->mapping, r->options->max_layers_in_core, arena, &r->space, error));
    PIM_TRY(pim_gene_workshop_make(&r->space, arena, &r->workshop, error));
    PIM_TRY(pim_chromosome_make(&r->space, arena, &r->drawn, error));
    for (unsigned i = 0; i < PIM_REFINE_CHAINS; i++)
        PIM_TRY(make_chain(r, &r->chain[i], arena, error));
    r->round = PIM_ARENA_NEW(arena, struct pim_core_profile);
    r->round->served = true; /* by what the chains begin with */
    return PIM_OK;
}

/* The candidate behind one of `cycles` cycles; of equals the first; PIM_NONE: there is none. */
static uint32_t next_best(const struct pim_core_profile *profile, uint64_t cycles)
{
    uint32_t best = PIM_NONE;
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct pim_core_candidate *candidate = &profile->candidate[i];
        if (pim_core_candidate_is_timed(candidate) && candidate->estimate > cycles &&
            (best == PIM_NONE || candidate->estimate < profile->candidate[best].estimate))
            best = i;
    }
    return best;
}

static uint64_t trial_of(uint64_t instructions)
{
    return instructions > TRIAL_LEAST ? instructions : TRIAL_LEAST;
}

/* How many chains that go on have maps on chip, or have none. */
static uint32_t count_kind(const struct refinement *r, bool no_keeping)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->chains; i++)
        count += r->going[i]->no_keeping == no_keeping;
    return count;
}

/* True when all chains that go on have maps on chip, or none does. */
static bool are_alike(const struct refinement *r)
{
    const uint32_t without = count_kind(r, true);
    return without == 0 || without == r->chains;
}

/* The first `count` chains go on; where both kinds are wanted, the last of several is the best of the other
 * kind. */
static void go_on(struct refinement *r, uint32_t count)
{
    const uint32_t all = r->chains;
    r->chains = count;
    for (uint32_t i = count; r->both && count > 1 && i < all && are_alike(r); i++)
        if (r->going[i]->no_keeping != r->going[0]->no_keeping)
            r->going[count - 1] = r->going[i];
}

/* The budget, in as many parts as the number of chains is halved, each of a round at least; fewer chains when
 * it is too small. */
static void divide(struct refinement *r, uint64_t instructions)
{
    uint64_t least = r->options->timed * instructions;
    uint32_t most = 1;
    uint64_t budget = least > r->options->instructions ? least : r->options->instructions;
    for (uint32_t chains = 1, parts = 1; chains <= PIM_REFINE_CHAINS; chains *= 2, parts++) {
        if (chains > 1 &&
            (chains > r->chains || budget / parts < instructions * chains * PIM_REFINE_CHILDREN))
            continue;
        most = chains;
        r->budget = budget / parts;
    }
    go_on(r, r->chains < most ? r->chains : most);
}

/* High throughput: whether a chain has begun at as many replicas of each layer, of the same kind. */
static bool is_begun(const struct refinement *r, const struct pim_core_candidate *candidate)
{
    if (r->profiling->mapping->mode != PIM_CORE_HIGH_THROUGHPUT)
        return false;
    for (uint32_t c = 0; c < r->chains; c++)
        if (r->chain[c].no_keeping == candidate->no_keeping &&
            pim_core_layouts_replicate_equally(r->profiling->mapping, &r->chain[c].layout,
                                               &candidate->layout))
            return true;
    return false;
}

/* Begins chains at the best candidates, `most` of each kind. */
static void begin_chains(struct refinement *r, const struct pim_core_profile *profile, uint32_t most)
{
    uint64_t cycles = 0;
    for (uint32_t i; r->chains < PIM_REFINE_CHAINS && (i = next_best(profile, cycles)) != PIM_NONE;) {
        const struct pim_core_candidate *candidate = &profile->candidate[i];
        struct chain *chain = &r->chain[r->chains];
        cycles = candidate->estimate;
        if (count_kind(r, candidate->no_keeping) >= most || is_begun(r, candidate) ||
            !pim_chromosome_from_layout(&r->space, &candidate->layout, &chain->best))
            continue;
        chain->start = chain->cycles = cycles;
        chain->layout = candidate->layout;
        chain->begins = true;
        chain->no_keeping = candidate->no_keeping;
        chain->instructions = candidate->instructions;
        r->going[r->chains++] = chain;
    }
}

/* The chains begin: where both kinds are wanted, half of them are of each as far as there are any. */
static void set_out(struct refinement *r, const struct pim_core_profile *profile)
{
    const uint32_t first = next_best(profile, 0);
    if (first == PIM_NONE)
        return;
    r->both = r->may_keep &&
              r->options->instructions / trial_of(profile->candidate[first].instructions) >= TRIALS_OF_BOTH;
    if (r->both)
        begin_chains(r, profile, PIM_REFINE_CHAINS / 2);
    begin_chains(r, profile, PIM_REFINE_CHAINS);
    if (r->chains > 0)
        divide(r, trial_of(r->going[0]->instructions));
}

/* --- a round --- */

/* A mutant of a chain's layout. */
static void draw(struct refinement *r, const struct chain *chain, struct pim_random *random,
                 struct pim_chromosome *mutant)
{
    unsigned changes = 0;
    pim_chromosome_copy(&r->space, mutant, &chain->best);
    for (unsigned tries = 0; tries < 16 * MUTATIONS_MOST && changes < MUTATIONS_MOST; tries++) {
        changes += pim_chromosome_mutate(&r->space, &r->workshop, mutant, random);
        if (changes > 0 && pim_random_below(random, 2))
            break;
    }
    pim_chromosome_weigh(&r->space, &r->workshop, mutant);
}

/* Child number `i` of a chain: the best of some mutants, or, when it turns, the chain's own. */
static enum pim_status bear(struct refinement *r, struct chain *chain, unsigned i, bool turns,
                            struct pim_random *random, struct pim_arena *scratch,
                            struct pim_core_layout *layout, struct pim_error *error)
{
    const unsigned draws = turns ? 0 : draws_of[r->profiling->mapping->mode][i];
    pim_chromosome_copy(&r->space, &chain->child[i], &chain->best);
    if (chain->begins && i == 0) { /* laid anew, where that is another one */
        PIM_TRY(pim_chromosome_layout(&r->space, &chain->best, NULL, scratch, layout, error));
        chain->inherits = !pim_core_layouts_equal(r->profiling->mapping, layout, &chain->layout);
        if (chain->inherits)
            return PIM_OK;
    }
    for (unsigned n = 0; n < draws; n++) {
        draw(r, chain, random, &r->drawn);
        if (n == 0 || r->drawn.cycles < chain->child[i].cycles)
            pim_chromosome_copy(&r->space, &chain->child[i], &r->drawn);
    }
    return pim_chromosome_layout(&r->space, &chain->child[i], chain->inherits ? &chain->layout : NULL,
                                 scratch, layout, error);
}

/* The children of a chain, as candidates of r->round. */
static enum pim_status breed(struct refinement *r, struct chain *chain, struct pim_arena *scratch,
                             struct pim_error *error)
{
    const bool may_turn = r->may_keep && (!r->both || r->chains == 1);
    for (unsigned i = 0; i < PIM_REFINE_CHILDREN; i++) {
        struct pim_core_candidate *candidate = &r->round->candidate[r->round->count];
        struct pim_random random =
            pim_search_stream(r->options->seed, REFINEMENT + r->number, r->round->count++);
        bool turns = may_turn && pim_random_below(&random, TURNS) == 0 && !(chain->begins && i == 0);
        *candidate = (struct pim_core_candidate){.name = "refined", .no_keeping = chain->no_keeping != turns};
        PIM_TRY(bear(r, chain, i, turns, &random, scratch, &candidate->layout, error));
    }
    chain->begins = false;
    return PIM_OK;
}

/* The best of a chain's children, which are timed from number `first` on, takes the place of its layout if it
 * is not too slow. */
static enum pim_status succeed(struct refinement *r, struct chain *chain, uint32_t first,
                               struct pim_error *error)
{
    uint32_t best = pim_core_profile_best(r->round, first, first + PIM_REFINE_CHILDREN);
    const struct pim_core_candidate *candidate = &r->round->candidate[best];
    if (!pim_core_candidate_is_timed(candidate) || candidate->estimate > chain->cycles)
        return PIM_OK;
    chain->cycles = candidate->estimate;
    chain->no_keeping = candidate->no_keeping;
    pim_chromosome_copy(&r->space, &chain->best, &chain->child[best - first]);
    pim_arena_reset(&chain->arena);
    return pim_core_layout_copy(r->profiling->mapping, &candidate->layout, &chain->arena, &chain->layout,
                                error);
}

/* One round of all chains that go on. */
static enum pim_status advance(struct refinement *r, struct pim_error *error)
{
    struct pim_arena scratch;
    enum pim_status status = PIM_OK;
    pim_arena_initialize(&scratch, 1 << 16);
    r->round->count = 0;
    for (uint32_t c = 0; c < r->chains && status == PIM_OK; c++)
        status = breed(r, r->going[c], &scratch, error);
    if (status == PIM_OK)
        status = pim_core_profile_time(r->profiling, r->round, 0, 0, error);
    r->number++;
    if (status == PIM_BAD_INPUT) { /* none of them can be scheduled */
        *error = (struct pim_error){0};
        status = PIM_OK;
    }
    for (uint32_t i = 0; i < r->round->count; i++)
        r->spent += trial_of(r->round->candidate[i].instructions) + 1;
    for (uint32_t c = 0; c < r->chains && status == PIM_OK; c++)
        status = succeed(r, r->going[c], c * PIM_REFINE_CHILDREN, error);
    pim_arena_terminate(&scratch);
    return status;
}

/* --- the whole --- */

/* The better half of the chains goes on, by the best that they have; of equals the first. Where both kinds
 * are wanted, the last of several is the best of the other kind. */
static void halve(struct refinement *r)
{
    for (uint32_t i = 1; i < r->chains; i++)
        for (uint32_t j = i; j > 0 && r->going[j]->cycles < r->going[j - 1]->cycles; j--) {
            struct chain *other = r->going[j];
            r->going[j] = r->going[j - 1];
            r->going[j - 1] = other;
        }
    go_on(r, r->chains / 2);
}

static enum pim_status add_best(const struct refinement *r, struct pim_arena *arena,
                                struct pim_core_profile *profile, struct pim_error *error)
{
    for (uint32_t c = 0; c < PIM_REFINE_CHAINS && profile->count < PIM_CORE_CANDIDATES_MOST; c++) {
        const struct chain *chain = &r->chain[c];
        if (chain->cycles >= chain->start)
            continue;
        struct pim_core_candidate *candidate = &profile->candidate[profile->count++];
        *candidate = (struct pim_core_candidate){.name = "refined",
                                                 .number = 1,
                                                 .searched = true,
                                                 .no_keeping = chain->no_keeping,
                                                 .estimate = chain->cycles};
        for (uint32_t i = 0; i + 1 < profile->count; i++)
            candidate->number += strcmp(profile->candidate[i].name, candidate->name) == 0;
        PIM_TRY(
            pim_core_layout_copy(r->profiling->mapping, &chain->layout, arena, &candidate->layout, error));
    }
    return PIM_OK;
}

static enum pim_status climb(struct refinement *r, struct pim_arena *arena, struct pim_core_profile *profile,
                             struct pim_error *error)
{
    for (; r->chains > 0 && !profile->cut_short; halve(r))
        for (r->spent = 0; r->spent < r->budget && !profile->cut_short;) {
            profile->cut_short = pim_core_profile_ends(r->profiling);
            if (!profile->cut_short && advance(r, error) != PIM_OK)
                return error->status;
            profile->cut_short = profile->cut_short || r->round->cut_short;
        }
    profile->timed += r->round->timed;
    return add_best(r, arena, profile, error);
}

enum pim_status pim_core_refine(const struct pim_core_profile_options *profiling,
                                const struct pim_refine_options *options, struct pim_arena *arena,
                                struct pim_core_profile *profile, struct pim_error *error)
{
    struct pim_arena scratch;
    pim_arena_initialize(&scratch, 1 << 20);
    struct refinement *r = PIM_ARENA_NEW(&scratch, struct refinement);
    *r = (struct refinement){.profiling = profiling,
                             .options = options,
                             .may_keep = profiling->mapping->mode == PIM_CORE_HIGH_THROUGHPUT &&
                                         !profiling->schedule.no_keeping};
    enum pim_status status = make(r, &scratch, error);
    if (status == PIM_OK && r->space.matrices != 0) {
        set_out(r, profile);
        status = climb(r, arena, profile, error);
    }
    for (unsigned i = 0; i < PIM_REFINE_CHAINS; i++)
        pim_arena_terminate(&r->chain[i].arena);
    pim_arena_terminate(&scratch);
    return status;
}
