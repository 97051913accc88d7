/* Generations, and the threads that make their children. Rules: genetic.h. */
#include "mappers/pimcomp/genetic.h"

#include "mappers/pimcomp/chromosome.h"
#include "sim/progress.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SURVIVORS_PART = 5, MUTATIONS_MOST = 8, THREADS_MOST = 64, POPULATION_MOST = 1 << 20, STRETCH = 32 };

struct search {
    const struct pim_gene_space *space;
    const struct pim_core_search_options *options;
    struct pim_chromosome **individual; /* best first; the survivors are the first ones */
    struct pim_chromosome best;
    struct pim_chromosome *past; /* bests of old, as a ring: the last `runners_up` of `pasts` */
    uint32_t pasts;
    uint32_t population, survivors;
    uint32_t generation;
    struct pim_gene_workshop *workshop; /* of each thread */
    unsigned threads;                   /* that help beside the caller */
    pthread_t thread[THREADS_MOST];
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    /* guarded by the mutex */
    uint32_t next;    /* individual to be made; `population`: none */
    uint32_t busy;    /* individuals in the making */
    unsigned started; /* threads so far: numbers for their workshops */
    bool over;
};

bool pim_core_search_preset(const char *name, struct pim_core_search_options *options)
{
    static const struct {
        const char *name;
        struct pim_core_search_options options;
    } presets[] = {
        {"paper", {.population = 200, .generations = 1000, .patience = 0}},
        {"default", {.population = 200, .generations = 2000, .patience = 400}},
        {"fast", {.population = 100, .generations = 400, .patience = 100}},
    };
    for (unsigned i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(presets[i].name, name) == 0) {
            *options = presets[i].options;
            options->max_layers_in_core = 32;
            options->seed = 1;
            options->threads = 1;
            return true;
        }
    return false;
}

/* --- individuals --- */

static struct pim_random random_of(const struct search *search, uint32_t individual)
{
    uint64_t state = search->options->seed;
    uint64_t mixed = pim_splitmix64(&state) ^ ((uint64_t)search->generation << 32 | individual);
    struct pim_random random;
    pim_random_initialize(&random, mixed);
    return random;
}

/* Replaces an individual by a mutant of a survivor. */
static void make_child(struct search *search, uint32_t index, struct pim_gene_workshop *workshop)
{
    struct pim_random random = random_of(search, index);
    struct pim_chromosome *child = search->individual[index];
    uint64_t a = pim_random_below(&random, search->survivors),
             b = pim_random_below(&random, search->survivors);
    pim_chromosome_copy(search->space, child, search->individual[a < b ? a : b]);
    unsigned changes = 0;
    do
        changes += pim_chromosome_mutate(search->space, workshop, child, &random);
    while (changes < MUTATIONS_MOST && pim_random_below(&random, 2));
    child->identity = (uint64_t)search->generation << 32 | index;
    if (changes)
        pim_chromosome_weigh(search->space, workshop, child);
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
static void keep_best(struct search *search)
{
    for (uint32_t i = 0; i < search->population; i++) {
        const struct pim_chromosome *other = search->individual[i];
        if (other->cycles < search->best.cycles ||
            (other->cycles == search->best.cycles && other->spread < search->best.spread)) {
            remember_best(search, other->cycles);
            pim_chromosome_copy(search->space, &search->best, other);
        }
    }
}

/* --- threads --- */

/* Makes individuals as long as there are any; the mutex is held at the beginning and at the end. */
static void make_children(struct search *search, struct pim_gene_workshop *workshop)
{
    while (search->next < search->population) {
        uint32_t index = search->next++;
        search->busy++;
        (void)pthread_mutex_unlock(&search->mutex);
        make_child(search, index, workshop);
        (void)pthread_mutex_lock(&search->mutex);
        search->busy--;
    }
    if (search->busy == 0)
        (void)pthread_cond_broadcast(&search->done);
}

static void *help(void *context)
{
    struct search *search = context;
    (void)pthread_mutex_lock(&search->mutex);
    struct pim_gene_workshop *workshop = &search->workshop[++search->started];
    while (!search->over) {
        make_children(search, workshop);
        if (!search->over)
            (void)pthread_cond_wait(&search->work, &search->mutex);
    }
    (void)pthread_mutex_unlock(&search->mutex);
    return NULL;
}

/* All individuals but the survivors, by all threads. */
static void make_generation(struct search *search)
{
    (void)pthread_mutex_lock(&search->mutex);
    search->next = search->survivors;
    (void)pthread_cond_broadcast(&search->work);
    make_children(search, &search->workshop[0]);
    while (search->busy)
        (void)pthread_cond_wait(&search->done, &search->mutex);
    (void)pthread_mutex_unlock(&search->mutex);
    search->generation++;
    bool rounds = search->space->costs.mode == PIM_CORE_HIGH_THROUGHPUT;
    bool exact = !rounds || search->generation / STRETCH % 2 != 0;
    if (exact && search->generation % STRETCH == 0) /* the best of all joins */
        pim_chromosome_copy(search->space, search->individual[search->population - 1], &search->best);
    qsort(search->individual, search->population, sizeof(struct pim_chromosome *),
          exact ? compare_exactly : compare_by_steps);
}

/* Fewer threads than asked for are as good. */
static enum pim_status start_threads(struct search *search, unsigned threads, struct pim_error *error)
{
    if (pthread_mutex_init(&search->mutex, NULL) != 0 || pthread_cond_init(&search->work, NULL) != 0 ||
        pthread_cond_init(&search->done, NULL) != 0)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the threads of the search");
    search->next = search->population;
    while (search->threads + 1 < threads &&
           pthread_create(&search->thread[search->threads], NULL, help, search) == 0)
        search->threads++;
    return PIM_OK;
}

static void stop_threads(struct search *search)
{
    (void)pthread_mutex_lock(&search->mutex);
    search->over = true;
    (void)pthread_cond_broadcast(&search->work);
    (void)pthread_mutex_unlock(&search->mutex);
    for (unsigned i = 0; i < search->threads; i++)
        (void)pthread_join(search->thread[i], NULL);
    (void)pthread_cond_destroy(&search->work);
    (void)pthread_cond_destroy(&search->done);
    (void)pthread_mutex_destroy(&search->mutex);
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
    if (o->threads > THREADS_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "%u threads: at most %d are possible", o->threads,
                        THREADS_MOST);
    return PIM_OK;
}

static enum pim_status make_room(struct search *search, struct pim_arena *scratch, struct pim_error *error)
{
    unsigned threads = search->options->threads ? search->options->threads : 1;
    search->workshop = PIM_ARENA_ARRAY(scratch, struct pim_gene_workshop, threads);
    search->individual = PIM_ARENA_ARRAY(scratch, struct pim_chromosome *, search->population);
    struct pim_chromosome *made = PIM_ARENA_ARRAY(scratch, struct pim_chromosome, search->population);
    search->past = PIM_ARENA_ARRAY(scratch, struct pim_chromosome, search->options->runners_up + 1);
    if (!search->workshop || !search->individual || !made || !search->past)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a population of %" PRIu32, search->population);
    enum pim_status status = pim_chromosome_make(search->space, scratch, &search->best, error);
    for (unsigned i = 0; i < threads && status == PIM_OK; i++)
        status = pim_gene_workshop_make(search->space, scratch, &search->workshop[i], error);
    for (uint32_t i = 0; i < search->options->runners_up && status == PIM_OK; i++)
        status = pim_chromosome_make(search->space, scratch, &search->past[i], error);
    for (uint32_t i = 0; i < search->population && status == PIM_OK; i++) {
        search->individual[i] = &made[i];
        status = pim_chromosome_make(search->space, scratch, &made[i], error);
    }
    return status;
}

/* Generations until one of the two ends. */
static void run(struct search *search, struct pim_core_search_result *result)
{
    struct pim_progress progress;
    uint64_t mark = search->best.cycles; /* of the last real gain */
    uint32_t idle = 0;
    pim_progress_start(&progress, "layout", search->options->generations, search->options->quiet);
    while (search->generation < search->options->generations) {
        make_generation(search);
        result->evaluations += search->population - search->survivors;
        pim_progress_update(&progress, search->generation);
        keep_best(search);
        uint64_t best = search->best.cycles;
        idle++;
        if (mark - best > mark / 1000) {
            mark = best;
            idle = 0;
        }
        if (search->options->patience && idle >= search->options->patience)
            break;
    }
    pim_progress_finish(&progress);
    result->generations = search->generation;
}

static struct pim_core_estimate weigh(struct search *search, struct pim_chromosome *chromosome)
{
    pim_chromosome_weigh(search->space, &search->workshop[0], chromosome);
    return search->workshop[0].weighing.result;
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

static enum pim_status collect_runners_up(struct search *search, struct pim_arena *arena,
                                          struct pim_core_search_result *result, struct pim_error *error)
{
    struct taken taken = {.search = search, .layout = {&search->best}, .count = 1};
    uint32_t wanted = search->options->runners_up, pasts = search->pasts < wanted ? search->pasts : wanted;
    uint32_t old = pasts < wanted / 2 ? pasts : wanted / 2;
    qsort(search->individual, search->population, sizeof(struct pim_chromosome *), compare_exactly);
    for (uint32_t i = 0; i < search->population; i++)
        take(&taken, search->individual[i], wanted - old);
    for (uint32_t i = 0; i < pasts; i++) { /* the last one is the best */
        assert(wanted > 0);
        take(&taken, &search->past[(search->pasts - 1 - i) % wanted], wanted);
    }
    qsort(taken.layout + 1, taken.count - 1, sizeof taken.layout[0], compare_exactly);
    enum pim_status status = PIM_OK;
    for (uint32_t i = 1; i < taken.count && status == PIM_OK; i++)
        status = pim_chromosome_layout(search->space, taken.layout[i], arena,
                                       &result->runner_up[result->runners_up++], error);
    return status;
}

static enum pim_status search_layout(struct search *search, struct pim_arena *scratch,
                                     struct pim_arena *arena, struct pim_core_layout *layout,
                                     struct pim_core_search_result *result, struct pim_error *error)
{
    enum pim_status status = make_room(search, scratch, error);
    if (status != PIM_OK)
        return status;
    result->searched = pim_chromosome_first(search->space, search->individual[0]);
    if (!result->searched)
        return PIM_OK;
    result->first = weigh(search, search->individual[0]);
    for (uint32_t i = 1; i < search->population; i++)
        pim_chromosome_copy(search->space, search->individual[i], search->individual[0]);
    pim_chromosome_copy(search->space, &search->best, search->individual[0]);
    result->evaluations = 1;
    if ((status = start_threads(search, search->options->threads, error)) != PIM_OK)
        return status;
    run(search, result);
    stop_threads(search);
    result->best = weigh(search, &search->best);
    if ((status = collect_runners_up(search, arena, result, error)) != PIM_OK)
        return status;
    return pim_chromosome_layout(search->space, &search->best, arena, layout, error);
}

enum pim_status pim_core_layout_search(const struct pim_core_architecture *architecture,
                                       const struct pim_core_network *network,
                                       const struct pim_core_partition *partition, enum pim_core_mode mode,
                                       const struct pim_core_search_options *options, struct pim_arena *arena,
                                       struct pim_core_layout *layout, struct pim_core_search_result *result,
                                       struct pim_error *error)
{
    struct pim_gene_space space;
    struct pim_arena scratch;
    *result = (struct pim_core_search_result){.searched = false};
    enum pim_status status = check_options(options, error);
    if (status != PIM_OK)
        return status;
    pim_arena_initialize(&scratch, 1 << 20);
    struct search *search = PIM_ARENA_NEW(&scratch, struct search);
    *search = (struct search){.space = &space,
                              .options = options,
                              .population = options->population,
                              .survivors = options->population / SURVIVORS_PART};
    status = pim_gene_space_make(architecture, network, partition, mode, options->max_layers_in_core,
                                 &scratch, &space, error);
    if (status == PIM_OK && space.matrices != 0)
        status = search_layout(search, &scratch, arena, layout, result, error);
    pim_arena_terminate(&scratch);
    if (status != PIM_OK || result->searched)
        return status;
    status = pim_core_layout_first(architecture, network, partition, arena, layout, error);
    if (status != PIM_OK)
        return status;
    const struct pim_core_mapping mapping = {architecture, network, partition, layout, mode};
    status = pim_core_estimate_layout(&mapping, NULL, &result->first, error);
    result->best = result->first;
    return status;
}
