/* The searches on placements with known optima: the same for any number of threads, ends as budgets say. */
#include "mappers/search/annealing.h"
#include "mappers/search/evolution.h"
#include "mappers/search/nsga2.h"
#include "mappers/search/walk.h"
#include "mappers/search/workers.h"
#include "tests/unit/search/suites.h"

#include <math.h>
#include <string.h>

enum { MOST = 32 };

/* A placement of facilities: individual = the place of each, then free places. */
struct placement {
    uint32_t facilities, places;
    double flow[MOST][MOST], distance[MOST][MOST], linear[MOST][MOST];
};

static double cost_of(const struct placement *p, const uint32_t *place)
{
    double cost = 0;
    for (uint32_t i = 0; i < p->facilities; i++) {
        cost += p->linear[i][place[i]];
        for (uint32_t j = 0; j < p->facilities; j++)
            cost += p->flow[i][j] * p->distance[place[i]][place[j]];
    }
    return cost;
}

static void start(void *context, void *scratch, void *data, uint64_t index, struct pim_random *random)
{
    const struct placement *p = context;
    uint32_t *place = data;
    (void)scratch;
    (void)index;
    for (uint32_t i = 0; i < p->places; i++)
        place[i] = i;
    pim_random_shuffle(random, place, p->places, sizeof *place);
}

/* Permutation number `index` in the factorial system. */
static void start_numbered(void *context, void *scratch, void *data, uint64_t index,
                           struct pim_random *random)
{
    const struct placement *p = context;
    uint32_t *place = data;
    (void)scratch;
    (void)random;
    for (uint32_t i = 0; i < p->places; i++)
        place[i] = i;
    for (uint32_t i = p->places; i > 1; i--) {
        uint32_t other = (uint32_t)(index % i), kept = place[i - 1];
        index /= i;
        place[i - 1] = place[other];
        place[other] = kept;
    }
}

static bool mutate(void *context, void *scratch, void *data, struct pim_random *random)
{
    const struct placement *p = context;
    uint32_t *place = data;
    (void)scratch;
    uint32_t a = (uint32_t)pim_random_below(random, p->facilities),
             b = (uint32_t)pim_random_below(random, p->places), kept = place[a];
    place[a] = place[b];
    place[b] = kept;
    return a != b;
}

static enum pim_status score(void *context, void *scratch, void *data, double *scores,
                             struct pim_error *error)
{
    (void)scratch;
    (void)error;
    scores[0] = cost_of(context, data);
    scores[1] = ((const uint32_t *)data)[0]; /* where the first one stands */
    return PIM_OK;
}

static uint64_t digest(void *context, const void *data)
{
    const struct placement *p = context;
    uint64_t state = 1;
    for (uint32_t i = 0; i < p->facilities; i++) {
        state ^= ((const uint32_t *)data)[i];
        state = pim_splitmix64(&state);
    }
    return state;
}

static struct pim_search_problem problem_of(struct placement *p)
{
    return (struct pim_search_problem){.context = p,
                                       .size = MOST * sizeof(uint32_t),
                                       .objectives = 1,
                                       .bound = -HUGE_VAL,
                                       .start = start,
                                       .mutate = mutate,
                                       .score = score,
                                       .digest = digest};
}

/* The next small assignment of the file, or false. */
static bool next_assignment(FILE *file, struct placement *p, double *optimum)
{
    char word[64];
    memset(p, 0, sizeof *p);
    if (!next_word(file, word) || strcmp(word, "assignment") != 0)
        return false;
    ck_assert(next_word(file, word));
    p->facilities = (uint32_t)next_count(file);
    p->places = (uint32_t)next_count(file);
    bool linear = next_count(file) != 0;
    *optimum = next_real(file);
    (void)next_count(file);
    ck_assert(p->places <= MOST);
    for (uint32_t i = 0; i < p->facilities * p->facilities; i++)
        p->flow[i / p->facilities][i % p->facilities] = next_real(file);
    for (uint32_t i = 0; i < p->places * p->places; i++)
        p->distance[i / p->places][i % p->places] = next_real(file);
    for (uint32_t i = 0; linear && i < p->facilities * p->places; i++)
        p->linear[i / p->places][i % p->places] = next_real(file);
    return true;
}

START_TEST(methods_find_recorded_optima)
{
    FILE *file = open_data("placement.txt");
    struct placement p;
    double optimum;
    unsigned cases = 0;
    for (; next_assignment(file, &p, &optimum); cases++) {
        uint32_t best[MOST];
        struct pim_search_result result;
        struct pim_error error = {0};
        struct pim_search_problem problem = problem_of(&p);
        const struct pim_annealing_options annealing = {.chains = 8, .moves = 8000};
        const struct pim_search_budget budget = {.seed = 1, .steps = 1000000};
        ck_assert(pim_anneal(&problem, &annealing, &budget, best, &result, &error) == PIM_OK);
        ck_assert_double_eq(result.best, optimum);
        ck_assert_double_eq(cost_of(&p, best), optimum);
        ck_assert(result.end == PIM_SEARCH_STEPS);
        if (p.places > 8)
            continue;
        uint64_t space = 1;
        for (uint32_t i = 2; i <= p.places; i++)
            space *= i;
        problem.start = start_numbered;
        ck_assert(pim_walk(&problem, space, &budget, best, &result, &error) == PIM_OK);
        ck_assert_double_eq(result.best, optimum);
        ck_assert_double_eq(result.bound, optimum);
        ck_assert(result.end == PIM_SEARCH_COMPLETE);
        ck_assert_uint_eq(result.steps, space);
    }
    ck_assert_uint_ge(cases, 8);
    ck_assert(fclose(file) == 0);
}
END_TEST

static void read_one(struct placement *p, unsigned number)
{
    FILE *file = open_data("placement.txt");
    double optimum;
    for (unsigned i = 0; i <= number; i++)
        ck_assert(next_assignment(file, p, &optimum));
    ck_assert(fclose(file) == 0);
}

/* Runs method 0 to 4 and gives the best placement. */
static void run_method(unsigned method, struct placement *p, unsigned threads, uint32_t *best,
                       struct pim_search_result *result)
{
    struct pim_error error = {0};
    struct pim_search_problem problem = problem_of(p);
    const struct pim_search_budget budget = {.seed = 7, .steps = method == 3 ? 5000 : 12, .threads = threads};
    const struct pim_evolution_options evolution = {
        .population = 60, .survivors = 20, .mutations = method == 0 ? 3 : 1, .each = method == 1};
    const struct pim_annealing_options annealing = {.chains = 5, .moves = 400};
    const struct pim_nsga2_options nsga2 = {.population = 30};
    enum pim_status status;
    problem.objectives = method == 4 ? 2 : 1;
    if (method < 2)
        status = pim_evolve(&problem, &evolution, &budget, best, result, &error);
    else if (method == 2)
        status = pim_anneal(&problem, &annealing, &budget, best, result, &error);
    else if (method == 3)
        status = pim_walk(&problem, 0, &budget, best, result, &error);
    else
        status = pim_nsga2(&problem, &nsga2, &budget, best, result, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    ck_assert_double_eq(result->best, cost_of(p, best));
}

START_TEST(threads_change_nothing)
{
    struct placement p;
    read_one(&p, 4);
    for (unsigned method = 0; method < 5; method++) {
        uint32_t one[MOST] = {0}, other[MOST] = {0};
        struct pim_search_result first, second;
        run_method(method, &p, 1, one, &first);
        for (unsigned threads = 2; threads <= 5; threads++) {
            run_method(method, &p, threads, other, &second);
            ck_assert_mem_eq(one, other, p.places * sizeof *one);
            ck_assert_uint_eq(first.evaluations, second.evaluations);
            ck_assert_uint_eq(first.steps, second.steps);
        }
    }
}
END_TEST

/* What an option of threads says is never more than a search takes. */
START_TEST(options_of_threads)
{
    ck_assert_uint_ge(pim_workers_wanted(0), 1);
    ck_assert_uint_le(pim_workers_wanted(0), PIM_SEARCH_THREADS);
    ck_assert_uint_eq(pim_workers_wanted(3), 3);
    ck_assert_uint_eq(pim_workers_wanted(256), PIM_SEARCH_THREADS);
}
END_TEST

static bool stop_at_third(void *context)
{
    return ++*(unsigned *)context == 3;
}

START_TEST(budgets_end_searches)
{
    struct placement p;
    uint32_t best[MOST];
    unsigned asked = 0;
    struct pim_search_result result;
    struct pim_error error = {0};
    read_one(&p, 4);
    struct pim_search_problem problem = problem_of(&p);
    const struct pim_evolution_options options = {.population = 20, .survivors = 10};
    struct pim_search_budget budget = {.seed = 1, .steps = 50, .stop = stop_at_third, .stop_context = &asked};
    ck_assert(pim_evolve(&problem, &options, &budget, best, &result, &error) == PIM_OK);
    ck_assert(result.end == PIM_SEARCH_STOPPED && result.steps == 3);
    ck_assert_uint_le(result.evaluations, 20 + 3 * 10); /* mutations that change nothing are not scored */
    ck_assert_uint_gt(result.evaluations, 20 + 2 * 10);
    budget = (struct pim_search_budget){.seed = 1, .steps = 100000, .patience = 5};
    ck_assert(pim_evolve(&problem, &options, &budget, best, &result, &error) == PIM_OK);
    ck_assert(result.end == PIM_SEARCH_PATIENCE);
    problem.bound = result.best;
    budget.patience = 0;
    ck_assert(pim_evolve(&problem, &options, &budget, best, &result, &error) == PIM_OK);
    ck_assert(result.end == PIM_SEARCH_BOUND && result.best == result.bound);
    budget = (struct pim_search_budget){.steps = 1000000000, .seconds = 1e-9};
    problem.bound = -HUGE_VAL;
    ck_assert(pim_evolve(&problem, &options, &budget, best, &result, &error) == PIM_OK);
    ck_assert(result.end == PIM_SEARCH_TIME && result.steps == 1);
    budget.stop = stop_at_third; /* when the time is over already */
    budget.stop_context = &asked;
    asked = 2;
    ck_assert(pim_evolve(&problem, &options, &budget, best, &result, &error) == PIM_OK);
    ck_assert(result.end == PIM_SEARCH_TIME && result.steps == 1);
    ck_assert_uint_eq(asked, 3);
    budget = (struct pim_search_budget){.steps = 1, .threads = 1000};
    ck_assert(pim_evolve(&problem, &options, &budget, best, &result, &error) == PIM_BAD_INPUT);
}
END_TEST

static bool told(void *context)
{
    return *(const bool *)context;
}

/* What a limit saw first stays; of what it sees together, the time. */
START_TEST(limits_know_their_first_cause)
{
    bool stops = false;
    struct pim_search_limit limit;
    pim_search_limit_begin(&limit, 3600, told, &stops);
    ck_assert(!pim_search_limit_over(&limit));
    ck_assert_int_eq(pim_search_limit_end(&limit), PIM_SEARCH_TIME); /* of who had one of its own */
    stops = true;
    ck_assert(pim_search_limit_over(&limit));
    limit.begin -= 3600;
    ck_assert(pim_search_limit_over(&limit));
    ck_assert_int_eq(pim_search_limit_end(&limit), PIM_SEARCH_STOPPED);
    stops = false;
    pim_search_limit_begin(&limit, 3600, told, &stops);
    limit.begin -= 3600;
    ck_assert(pim_search_limit_over(&limit));
    stops = true;
    ck_assert(pim_search_limit_over(&limit));
    ck_assert_int_eq(pim_search_limit_end(&limit), PIM_SEARCH_TIME);
    pim_search_limit_begin(&limit, 3600, told, &stops);
    limit.begin -= 3600;
    ck_assert(pim_search_limit_over(&limit));
    ck_assert_int_eq(pim_search_limit_end(&limit), PIM_SEARCH_TIME);
    pim_search_limit_begin(&limit, 0, NULL, NULL);
    ck_assert(!pim_search_limit_over(&limit));
    ck_assert_str_eq(pim_search_end_cause(PIM_SEARCH_STOPPED), "interrupt");
    ck_assert_str_eq(pim_search_end_cause(PIM_SEARCH_TIME), "time limit");
    ck_assert_ptr_null(pim_search_end_cause(PIM_SEARCH_STEPS));
    ck_assert_ptr_null(pim_search_end_cause(PIM_SEARCH_ENDS));
}
END_TEST

/* No two of the best have the same places: twins go to the end. */
static enum pim_status look(void *context, struct pim_population *population, struct pim_error *error)
{
    (void)error;
    for (uint32_t i = 0; i < 20; i++)
        for (uint32_t j = 0; j < i; j++)
            ck_assert(digest(population->problem->context, population->individual[i]->data) !=
                      digest(population->problem->context, population->individual[j]->data));
    *(bool *)context = true;
    return PIM_OK;
}

START_TEST(twins_do_not_survive)
{
    struct placement p;
    uint32_t best[MOST];
    bool looked = false;
    struct pim_search_result result;
    struct pim_error error = {0};
    read_one(&p, 4);
    const struct pim_search_problem problem = problem_of(&p);
    const struct pim_evolution_options options = {
        .population = 200, .survivors = 20, .done = look, .context = &looked};
    const struct pim_search_budget budget = {.seed = 1, .steps = 60};
    ck_assert(pim_evolve(&problem, &options, &budget, best, &result, &error) == PIM_OK);
    ck_assert(looked);
}
END_TEST

START_TEST(chances_are_exponential)
{
    struct pim_random random;
    pim_random_initialize(&random, 3);
    for (unsigned eighths = 1; eighths < 32; eighths *= 2) {
        unsigned taken = 0, draws = 200000;
        double x = eighths / 8.0;
        for (unsigned i = 0; i < draws; i++)
            taken += pim_search_exponential(&random, x);
        double share = (double)taken / draws, wanted = exp(-x);
        ck_assert_double_le(fabs(share - wanted), 5 * sqrt(wanted * (1 - wanted) / draws));
    }
    ck_assert(pim_search_exponential(&random, 0));
    ck_assert(!pim_search_exponential(&random, HUGE_VAL));
}
END_TEST

Suite *search_methods_suite(void)
{
    Suite *suite = suite_create("search_methods");
    TCase *tests = tcase_create("methods");
    tcase_add_test(tests, methods_find_recorded_optima);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, options_of_threads);
    tcase_add_test(tests, budgets_end_searches);
    tcase_add_test(tests, limits_know_their_first_cause);
    tcase_add_test(tests, twins_do_not_survive);
    tcase_add_test(tests, chances_are_exponential);
    suite_add_tcase(suite, tests);
    return suite;
}
