/* What every search has in common; see problem.h. */
#include "mappers/search/problem.h"

#include "sim/output/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *pim_search_end_name(enum pim_search_end end)
{
    static const char *const names[] = {
#define X(name, text, cause) text,
        PIM_SEARCH_END_MAP(X)
#undef X
    };
    return (unsigned)end < PIM_SEARCH_ENDS ? names[end] : NULL;
}

const char *pim_search_end_cause(enum pim_search_end end)
{
    static const char *const causes[] = {
#define X(name, text, cause) cause,
        PIM_SEARCH_END_MAP(X)
#undef X
    };
    return (unsigned)end < PIM_SEARCH_ENDS ? causes[end] : NULL;
}

void pim_search_print_early(const char *before, const char *cause, const char *behind, FILE *file)
{
    if (cause)
        fprintf(file, "%sended early (%s): the best so far%s", before, cause, behind);
}

void pim_search_put_early(const char *cause, struct pim_json *json)
{
    if (cause)
        pim_json_put_text(json, "ended_early", cause);
}

enum pim_status pim_search_check(const struct pim_search_problem *problem,
                                 const struct pim_search_budget *budget, struct pim_error *error)
{
    if (budget->threads > PIM_SEARCH_THREADS)
        return pim_fail(error, PIM_BAD_INPUT, "%u threads: at most %d are possible", budget->threads,
                        PIM_SEARCH_THREADS);
    if (problem->objectives < 1 || problem->objectives > PIM_SEARCH_OBJECTIVES)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " objectives: allowed are 1 to %d",
                        problem->objectives, PIM_SEARCH_OBJECTIVES);
    if (!(budget->seconds >= 0))
        return pim_fail(error, PIM_BAD_INPUT, "a time limit of %g s: it must not be negative",
                        budget->seconds);
    return PIM_OK;
}

/* --- individuals --- */

void pim_individuals_free(const struct pim_search_problem *problem, size_t count,
                          struct pim_individual *individuals)
{
    for (size_t i = 0; individuals && i < count; i++) {
        if (problem->terminate && individuals[i].data)
            problem->terminate(problem->context, individuals[i].data);
        free(individuals[i].data);
    }
    free(individuals);
}

enum pim_status pim_individuals_make(const struct pim_search_problem *problem, size_t count,
                                     struct pim_individual **individuals, struct pim_error *error)
{
    struct pim_individual *made = *individuals = calloc(count + 1, sizeof *made);
    enum pim_status status = made ? PIM_OK : PIM_NO_MEMORY;
    for (size_t i = 0; i < count && status == PIM_OK; i++) {
        made[i].data = calloc(1, problem->size + 1);
        status = made[i].data ? PIM_OK : PIM_NO_MEMORY;
        if (status == PIM_OK && problem->initialize &&
            (status = problem->initialize(problem->context, made[i].data, error)) != PIM_OK) {
            free(made[i].data);
            made[i].data = NULL;
            pim_individuals_free(problem, count, made);
            *individuals = NULL;
            return status;
        }
    }
    if (status == PIM_OK)
        return PIM_OK;
    pim_individuals_free(problem, count, made);
    *individuals = NULL;
    return pim_fail(error, PIM_NO_MEMORY, "no memory for a population of %zu", count);
}

void pim_individual_copy(const struct pim_search_problem *problem, struct pim_individual *to,
                         const struct pim_individual *from)
{
    if (to == from)
        return;
    if (problem->copy)
        problem->copy(problem->context, to->data, from->data);
    else if (problem->size > 0)
        memcpy(to->data, from->data, problem->size);
    memcpy(to->score, from->score, sizeof to->score);
    to->identity = from->identity;
}

enum pim_status pim_individual_score(const struct pim_search_problem *problem, void *scratch,
                                     struct pim_individual *individual, struct pim_error *error)
{
    enum pim_status status =
        problem->score(problem->context, scratch, individual->data, individual->score, error);
    for (uint32_t i = 0; i < problem->objectives; i++)
        if (isnan(individual->score[i]))
            individual->score[i] = HUGE_VAL;
    return status;
}

int pim_individual_compare(const struct pim_search_problem *problem, const struct pim_individual *a,
                           const struct pim_individual *b)
{
    int order = problem->compare ? problem->compare(problem->context, a, b)
                                 : (a->score[0] > b->score[0]) - (a->score[0] < b->score[0]);
    return order != 0 ? order : (a->identity > b->identity) - (a->identity < b->identity);
}

/* Merges two sorted halves of `from` into `to`. */
static void merge(const struct pim_search_problem *problem, struct pim_individual **from, size_t middle,
                  size_t count, struct pim_individual **to)
{
    size_t left = 0, right = middle;
    for (size_t i = 0; i < count; i++) {
        bool take = right == count ||
                    (left < middle && pim_individual_compare(problem, from[left], from[right]) <= 0);
        to[i] = take ? from[left++] : from[right++];
    }
}

enum pim_status pim_individuals_sort(const struct pim_search_problem *problem,
                                     struct pim_individual **individuals, size_t count,
                                     struct pim_error *error)
{
    struct pim_individual **room = calloc(count + 1, sizeof(struct pim_individual *));
    if (!room)
        return pim_fail(error, PIM_NO_MEMORY, "no memory to sort a population of %zu", count);
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t first = 0; first < count; first += 2 * run) {
            size_t all = count - first < 2 * run ? count - first : 2 * run;
            merge(problem, individuals + first, all < run ? all : run, all, room + first);
        }
        memcpy(individuals, room, count * sizeof(struct pim_individual *));
    }
    free(room);
    return PIM_OK;
}

/* --- budgets --- */

double pim_search_seconds(void)
{
    return 1e-9 * (double)pim_search_nanoseconds();
}

double pim_search_left(double limit, double begin)
{
    const double least = 0.001; /* s; 0 would be no limit */
    const double left = limit - (pim_search_seconds() - begin);
    if (limit <= 0)
        return 0;
    return left > least ? left : least;
}

uint64_t pim_search_nanoseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void pim_search_begin(struct pim_search_watch *watch, const struct pim_search_budget *budget, double best)
{
    *watch = (struct pim_search_watch){
        .budget = budget, .started = budget->seconds > 0 ? pim_search_nanoseconds() : 0, .best = best};
}

bool pim_search_over(struct pim_search_watch *watch, uint64_t steps, double best, double bound,
                     enum pim_search_end *end)
{
    const struct pim_search_budget *budget = watch->budget;
    watch->idle = best < watch->best ? 0 : watch->idle + 1;
    watch->best = best;
    if (budget->progress)
        budget->progress(budget->progress_context, steps, best);
    if (best <= bound)
        *end = PIM_SEARCH_BOUND;
    else if (steps >= budget->steps)
        *end = PIM_SEARCH_STEPS;
    else if (budget->patience > 0 && watch->idle >= budget->patience)
        *end = PIM_SEARCH_PATIENCE;
    else {
        const bool stopped = budget->stop && budget->stop(budget->stop_context);
        const bool late = budget->seconds > 0 &&
                          (double)(pim_search_nanoseconds() - watch->started) >= budget->seconds * 1e9;
        *end = late ? PIM_SEARCH_TIME : PIM_SEARCH_STOPPED;
        return stopped || late;
    }
    return true;
}

void pim_search_limit_begin(struct pim_search_limit *limit, double seconds, bool (*stop)(void *context),
                            void *context)
{
    limit->begin = pim_search_seconds();
    limit->seconds = seconds;
    limit->stop = stop;
    limit->context = context;
    atomic_init(&limit->end, PIM_SEARCH_ENDS);
}

bool pim_search_limit_over(void *context)
{
    struct pim_search_limit *limit = context;
    const bool stopped = limit->stop && limit->stop(limit->context);
    const bool late = limit->seconds > 0 && pim_search_seconds() - limit->begin >= limit->seconds;
    int none = PIM_SEARCH_ENDS;
    if (stopped || late)
        (void)atomic_compare_exchange_strong(&limit->end, &none, late ? PIM_SEARCH_TIME : PIM_SEARCH_STOPPED);
    return stopped || late;
}

enum pim_search_end pim_search_limit_end(const struct pim_search_limit *limit)
{
    const int end = atomic_load(&limit->end);
    return end == PIM_SEARCH_STOPPED ? PIM_SEARCH_STOPPED : PIM_SEARCH_TIME;
}

const char *pim_search_limit_cause(const struct pim_search_limit *limit)
{
    return pim_search_end_cause((enum pim_search_end)atomic_load(&limit->end));
}

double pim_search_limit_left(const struct pim_search_limit *limit)
{
    const double left = limit->seconds - (pim_search_seconds() - limit->begin);
    return limit->seconds > 0 ? fmax(left, 1e-9) : 0;
}
