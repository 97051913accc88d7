/* The problem of layouts for mappers/search; its evolution makes the generations. Rules: genetic.h. */
#include "mappers/pimcomp/layout/genetic.h"

#include "mappers/pimcomp/layout/chromosome.h"
#include "mappers/search/evolution.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SURVIVORS_PART = 5, MUTATIONS_MOST = 8, POPULATION_MOST = 1 << 20, STRETCH = 32 };

struct search {
    const struct pim_gene_space *space;
    const struct pim_core_search_options *options;
    struct pim_arena *scratch;
    struct pim_chromosome *first, best; /* first: what the population starts with */
    uint32_t firsts;
    struct pim_chromosome *past; /* bests of old, as a ring: the last `runners_up` of `pasts` */
    uint32_t pasts;
    uint32_t population, survivors;
    bool exact;    /* the order of this generation: by cycles, not by steps of them */
    uint64_t mark; /* cycles at the last real gain */
    uint32_t idle; /* generations since then */
    struct pim_core_search_result *result;
    struct pim_arena *arena; /* of the layouts */
    struct pim_gene_workshop workshop;
};

struct pim_core_search_options pim_core_search_preset(enum pim_core_preset preset)
{
    static const uint32_t population[] = {200, 100, 200}, generations[] = {1000, 400, 1000},
                          patience[] = {200, 100, 0};
    return (struct pim_core_search_options){.population = population[preset],
                                            .generations = generations[preset],
                                            .patience = patience[preset],
                                            .max_layers_in_core = 32,
                                            .seed = 1,
                                            .threads = 1};
}

/* --- individuals --- */

static enum pim_status make_individual(void *context, void *data, struct pim_error *error)
{
    struct search *search = context;
    return pim_chromosome_make(search->space, search->scratch, data, error);
}

static enum pim_status make_workshop(void *context, void *scratch, struct pim_error *error)
{
    struct search *search = context;
    return pim_gene_workshop_make(search->space, search->scratch, scratch, error);
}

static void copy(void *context, void *to, const void *from)
{
    const struct search *search = context;
    pim_chromosome_copy(search->space, to, from);
}

static void start(void *context, void *scratch, void *data, uint64_t index, struct pim_random *random)
{
    const struct search *search = context;
    (void)scratch;
    (void)random;
    pim_chromosome_copy(search->space, data, &search->first[index % search->firsts]);
}

static bool mutate(void *context, void *scratch, void *data, struct pim_random *random)
{
    const struct search *search = context;
    unsigned changes = 0;
    do
        changes += pim_chromosome_mutate(search->space, scratch, data, random);
    while (changes < MUTATIONS_MOST && pim_random_below(random, 2));
    if (changes > 0)
        ((struct pim_chromosome *)data)->cycles = 0; /* to be weighed */
    return changes > 0;
}

static enum pim_status score(void *context, void *scratch, void *data, double *scores,
                             struct pim_error *error)
{
    const struct search *search = context;
    struct pim_chromosome *chromosome = data;
    (void)error;
    if (chromosome->cycles == 0) /* not yet weighed */
        pim_chromosome_weigh(search->space, scratch, chromosome);
    scores[0] = (double)chromosome->cycles;
    return PIM_OK;
}

/* Cycles in steps of one to two thirty-seconds: within a step the spread decides. */
static uint64_t step_of(uint64_t cycles)
{
    unsigned shift = 0;
    while (cycles >> shift >= 64)
        shift++;
    return (uint64_t)shift << 6 | cycles >> shift;
}

/* By cycles, then spread. */
static int compare_exactly(const void *left, const void *right)
{
    const struct pim_chromosome *a = *(struct pim_chromosome *const *)left;
    const struct pim_chromosome *b = *(struct pim_chromosome *const *)right;
    if (a->cycles != b->cycles)
        return a->cycles < b->cycles ? -1 : 1;
    if (a->spread != b->spread)
        return a->spread < b->spread ? -1 : 1;
    return a->identity < b->identity ? -1 : a->identity > b->identity;
}

static int compare_by_steps(const void *left, const void *right)
{
    const struct pim_chromosome *a = *(struct pim_chromosome *const *)left;
    const struct pim_chromosome *b = *(struct pim_chromosome *const *)right;
    uint64_t first = step_of(a->cycles), second = step_of(b->cycles);
    if (first != second)
        return first < second ? -1 : 1;
    if (a->spread != b->spread)
        return a->spread < b->spread ? -1 : 1;
    return compare_exactly(left, right);
}

/* The best so far is about to be replaced by one of `cycles` cycles: it is remembered when it is an eighth
 * better than the last one that was. */
static void remember_best(struct search *search, uint64_t cycles)
{
    uint32_t room = search->options->runners_up;
    if (room == 0 || search->best.cycles == cycles)
        return;
    if (search->pasts > 0) {
        uint64_t before = search->past[(search->pasts - 1) % room].cycles;
        if (before - before / 8 < search->best.cycles)
            return;
    }
    pim_chromosome_copy(search->space, &search->past[search->pasts++ % room], &search->best);
}

/* Keeps the best of all, by cycles alone, and the later of equals by spread. */
static void keep_best(struct search *search, const struct pim_population *population)
{
    for (uint32_t i = 0; i < search->population; i++) {
        const struct pim_chromosome *other = population->individual[i]->data;
        if (other->cycles < search->best.cycles ||
            (other->cycles == search->best.cycles && other->spread < search->best.spread)) {
            remember_best(search, other->cycles);
            pim_chromosome_copy(search->space, &search->best, other);
        }
    }
}

/* --- generations --- */

static int compare(void *context, const struct pim_individual *a, const struct pim_individual *b)
{
    const struct search *search = context;
    const struct pim_chromosome *left = a->data, *right = b->data;
    return search->exact ? compare_exactly(&left, &right) : compare_by_steps(&left, &right);
}

/* The children are there: the order for this generation; the best of all joins where it is exact. */
static void children_are_made(void *context, struct pim_population *population)
{
    struct search *search = context;
    for (uint32_t i = search->survivors; i < search->population; i++) {
        struct pim_chromosome *child = population->individual[i]->data;
        child->identity = population->individual[i]->identity;
    }
    bool rounds = search->space->costs.mode == PIM_CORE_HIGH_THROUGHPUT;
    search->exact = !rounds || population->generation / STRETCH % 2 != 0;
    if (search->exact && population->generation % STRETCH == 0)
        pim_chromosome_copy(search->space, population->individual[search->population - 1]->data,
                            &search->best);
}

static void tell(const struct search *search, uint32_t generation)
{
    const struct pim_core_search_options *options = search->options;
    if (options->progress)
        options->progress(options->context, "layout", generation, options->generations);
}

/* True when there was no real gain for as long as the options say. */
static bool generation_is_sorted(void *context, struct pim_population *population)
{
    struct search *search = context;
    search->result->evaluations += search->population - search->survivors;
    search->result->generations = population->generation;
    tell(search, population->generation);
    keep_best(search, population);
    uint64_t best = search->best.cycles;
    search->idle++;
    if (search->mark - best > search->mark / 1000) {
        search->mark = best;
        search->idle = 0;
    }
    return search->options->patience && search->idle >= search->options->patience;
}

/* --- the search --- */

static enum pim_status check_options(const struct pim_core_search_options *o, struct pim_error *error)
{
    if (o->population < SURVIVORS_PART || o->population > POPULATION_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "a population of %" PRIu32 ": allowed are %d to %d",
                        o->population, SURVIVORS_PART, POPULATION_MOST);
    if (o->max_layers_in_core < 1 || o->max_layers_in_core > PIM_GENES_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " layers in a core: allowed are 1 to %d",
                        o->max_layers_in_core, PIM_GENES_MOST);
    if (o->runners_up > PIM_RUNNERS_UP_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " layouts beside the best: at most %d are possible",
                        o->runners_up, PIM_RUNNERS_UP_MOST);
    if (o->threads > PIM_SEARCH_THREADS)
        return pim_fail(error, PIM_BAD_INPUT, "%u threads: at most %d are possible", o->threads,
                        PIM_SEARCH_THREADS);
    return PIM_OK;
}

static enum pim_status make_room(struct search *search, struct pim_error *error)
{
    struct pim_arena *scratch = search->scratch;
    search->past = PIM_ARENA_ARRAY(scratch, struct pim_chromosome, search->options->runners_up + 1);
    search->first = PIM_ARENA_ARRAY(scratch, struct pim_chromosome, search->options->starts + 1);
    PIM_NEED_MEMORY(search->past && search->first, error, "no memory for a population of %" PRIu32,
                    search->population);
    PIM_TRY(pim_chromosome_make(search->space, scratch, &search->best, error));
    for (uint32_t i = 0; i <= search->options->starts; i++)
        PIM_TRY(pim_chromosome_make(search->space, scratch, &search->first[i], error));
    for (uint32_t i = 0; i < search->options->runners_up; i++)
        PIM_TRY(pim_chromosome_make(search->space, scratch, &search->past[i], error));
    return pim_gene_workshop_make(search->space, scratch, &search->workshop, error);
}

static struct pim_core_estimate weigh(struct search *search, struct pim_chromosome *chromosome)
{
    pim_chromosome_weigh(search->space, &search->workshop, chromosome);
    return search->workshop.evaluation.result;
}

/* --- runners-up --- */

/* Taken ones: the best, and as many behind it. */
struct taken {
    struct search *search;
    const struct pim_chromosome *layout[PIM_RUNNERS_UP_MOST + 1];
    uint32_t count;
};

/* Takes a layout unless one with the same numbers of replicas is there, or there are `most`. */
static void take(struct taken *taken, const struct pim_chromosome *layout, uint32_t most)
{
    size_t bytes = taken->search->space->network->count * sizeof *layout->groups;
    for (uint32_t i = 0; i < taken->count; i++)
        if (memcmp(taken->layout[i]->groups, layout->groups, bytes) == 0)
            return;
    if (taken->count <= most)
        taken->layout[taken->count++] = layout;
}

static enum pim_status collect_runners_up(void *context, struct pim_population *population,
                                          struct pim_error *error)
{
    struct search *search = context;
    struct pim_core_search_result *result = search->result;
    struct taken taken = {.search = search, .layout = {&search->best}, .count = 1};
    uint32_t wanted = search->options->runners_up, pasts = search->pasts < wanted ? search->pasts : wanted;
    uint32_t old = pasts < wanted / 2 ? pasts : wanted / 2;
    search->exact = true;
    PIM_TRY(pim_individuals_sort(population->problem, population->individual, population->count, error));
    for (uint32_t i = 0; i < search->population; i++)
        take(&taken, population->individual[i]->data, wanted - old);
    for (uint32_t i = 0; i < pasts; i++) { /* the last one is the best */
        assert(wanted > 0);
        take(&taken, &search->past[(search->pasts - 1 - i) % wanted], wanted);
    }
    qsort(taken.layout + 1, taken.count - 1, sizeof taken.layout[0], compare_exactly);
    for (uint32_t i = 1; i < taken.count; i++)
        PIM_TRY(pim_chromosome_layout(search->space, taken.layout[i], NULL, search->arena,
                                      &result->runner_up[result->runners_up++], error));
    return PIM_OK;
}

/* --- the whole --- */

static enum pim_status evolve(struct search *search, struct pim_error *error)
{
    const struct pim_search_problem problem = {.context = search,
                                               .size = sizeof(struct pim_chromosome),
                                               .scratch_size = sizeof(struct pim_gene_workshop),
                                               .objectives = 1,
                                               .bound = -HUGE_VAL,
                                               .initialize = make_individual,
                                               .scratch_initialize = make_workshop,
                                               .copy = copy,
                                               .start = start,
                                               .mutate = mutate,
                                               .score = score,
                                               .compare = compare};
    const struct pim_evolution_options options = {.population = search->population,
                                                  .survivors = search->survivors,
                                                  .bred = children_are_made,
                                                  .sorted = generation_is_sorted,
                                                  .done = collect_runners_up,
                                                  .context = search};
    const struct pim_search_budget budget = {.seed = search->options->seed,
                                             .steps = search->options->generations,
                                             .seconds = search->options->seconds,
                                             .threads = search->options->threads,
                                             .stop = search->options->stop,
                                             .stop_context = search->options->context};
    struct pim_chromosome last;
    struct pim_search_result result;
    PIM_TRY(make_individual(search, &last, error));
    tell(search, 0);
    enum pim_status status = pim_evolve(&problem, &options, &budget, &last, &result, error);
    search->result->end = result.end;
    return status;
}

static enum pim_status search_layout(struct search *search, struct pim_core_layout *layout,
                                     struct pim_error *error)
{
    struct pim_core_search_result *result = search->result;
    PIM_TRY(make_room(search, error));
    for (uint32_t i = 0; i < search->options->starts; i++)
        search->firsts += pim_chromosome_from_layout(search->space, &search->options->start[i],
                                                     &search->first[search->firsts]);
    if (search->firsts == 0)
        search->firsts = pim_chromosome_first(search->space, &search->first[0]);
    result->searched = search->firsts > 0;
    for (uint32_t i = 0; i < search->firsts; i++) {
        struct pim_core_estimate estimate = weigh(search, &search->first[i]);
        result->evaluations++;
        if (i > 0 && search->first[i].cycles >= search->best.cycles)
            continue;
        result->first = estimate;
        pim_chromosome_copy(search->space, &search->best, &search->first[i]);
    }
    if (!result->searched)
        return PIM_OK;
    search->mark = search->best.cycles;
    PIM_TRY(evolve(search, error));
    result->best = weigh(search, &search->best);
    return pim_chromosome_layout(search->space, &search->best, NULL, search->arena, layout, error);
}

enum pim_status pim_core_layout_search(const struct pim_core_mapping *mapping,
                                       const struct pim_core_search_options *options, struct pim_arena *arena,
                                       struct pim_core_layout *layout, struct pim_core_search_result *result,
                                       struct pim_error *error)
{
    struct pim_gene_space space;
    struct pim_arena scratch;
    *result = (struct pim_core_search_result){.searched = false};
    PIM_TRY(check_options(options, error));
    pim_arena_initialize(&scratch, 1 << 20);
    struct search *search = PIM_ARENA_NEW(&scratch, struct search);
    *search = (struct search){.space = &space,
                              .options = options,
                              .scratch = &scratch,
                              .arena = arena,
                              .result = result,
                              .exact = true,
                              .population = options->population,
                              .survivors = options->population / SURVIVORS_PART};
    enum pim_status status =
        pim_gene_space_make(mapping, options->max_layers_in_core, &scratch, &space, error);
    if (status == PIM_OK && space.matrices != 0)
        status = search_layout(search, layout, error);
    pim_arena_terminate(&scratch);
    if (status != PIM_OK || result->searched)
        return status;
    PIM_TRY(pim_core_layout_first(mapping, arena, layout, error));
    struct pim_core_mapping found = *mapping;
    found.layout = layout;
    status = pim_core_estimate_layout(&found, &result->first, error);
    result->best = result->first;
    return status;
}
