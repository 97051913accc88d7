/*
 * A search problem as operations, and what every search has in common: budget, end, result.
 *
 * An individual is a block of `size` bytes that only the problem understands. The searches (evolution.h,
 * nsga2.h, annealing.h, walk.h) move, copy and compare individuals through the operations below and know
 * nothing else of them.
 *
 * Invariants:
 *  1. The result depends on problem, options and seed alone, not on the number of threads: every individual
 *     that is made has a stream of random numbers of its own, from the seed, its generation and its place
 *     (pim_search_stream), and nothing else that is random takes part in making it.
 *  2. Scores are minimised. A score that is not a number counts as infinite.
 *  3. Two individuals that compare equal are ordered by their identity: the one made earlier comes first.
 *  4. Time limit and stop only decide when a search ends, never which way it takes: what it has found by then
 *     is a prefix of the same search without them.
 */
#ifndef PIMSIM_MAPPERS_SEARCH_PROBLEM_H
#define PIMSIM_MAPPERS_SEARCH_PROBLEM_H

#include "sim/random.h"
#include "sim/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pim_json;

enum { PIM_SEARCH_OBJECTIVES = 3, PIM_SEARCH_THREADS = 64, PIM_SEARCH_POPULATION = 1 << 20 };

struct pim_individual {
    void *data;
    double score[PIM_SEARCH_OBJECTIVES]; /* the first one decides where there is only one */
    uint64_t identity;                   /* place at the start; later (generation + 1) << 32 | place */
    uint64_t digest;                     /* of the data, where the problem has one and twins are parted */
};

/*
 * The operations. `context` is the problem, read only while a search runs; `scratch` is the room of the
 * calling thread, `scratch_size` zeroed bytes that `scratch_initialize` made ready. Where NULL is allowed, it
 * says what then happens. Several threads call them at once with different individuals.
 */
struct pim_search_problem {
    void *context;
    size_t size;         /* bytes of an individual */
    size_t scratch_size; /* bytes of a thread's room; may be 0 */
    uint32_t objectives; /* 1 to PIM_SEARCH_OBJECTIVES */
    double bound;        /* no first score is below it; -INFINITY: nothing is known */

    /* Makes zeroed bytes an individual, and gives back what it owns. NULL: nothing to do. */
    enum pim_status (*initialize)(void *context, void *data, struct pim_error *error);
    void (*terminate)(void *context, void *data);
    enum pim_status (*scratch_initialize)(void *context, void *scratch, struct pim_error *error);
    void (*scratch_terminate)(void *context, void *scratch);

    /* NULL: the bytes are copied. */
    void (*copy)(void *context, void *to, const void *from);
    /* Makes individual `index` of the start. */
    void (*start)(void *context, void *scratch, void *data, uint64_t index, struct pim_random *random);
    /* Changes an individual; false: it is as it was, and its score still holds. */
    bool (*mutate)(void *context, void *scratch, void *data, struct pim_random *random);
    /* Makes `child`, a copy of `a`, a mixture of both. NULL: there is no crossing. */
    void (*cross)(void *context, void *scratch, struct pim_individual *child, const struct pim_individual *a,
                  const struct pim_individual *b, struct pim_random *random);
    /* Writes `objectives` scores. Only PIM_OK goes on; an individual that cannot work scores INFINITY. */
    enum pim_status (*score)(void *context, void *scratch, void *data, double *scores,
                             struct pim_error *error);
    /* Below, equal to or above 0: the order of a search with one objective. NULL: by the first score. */
    int (*compare)(void *context, const struct pim_individual *a, const struct pim_individual *b);
    /* A digest of what an individual is; of two with equal digests and equal scores only the older one
       survives. NULL: twins are kept. */
    uint64_t (*digest)(void *context, const void *data);
};

/* How long a search goes on. What a step is, each search says. */
struct pim_search_budget {
    uint64_t seed;
    uint64_t steps;    /* at most */
    uint64_t patience; /* ends after so many steps without a better first score; 0: never */
    double seconds;    /* of wall clock, looked at after every step; 0: without limit */
    unsigned threads;  /* 0: one; fewer than asked for are as good */
    /* Asked after every step; true ends the search with the best so far. NULL: never. */
    bool (*stop)(void *context);
    void *stop_context;
    /* Told after every step. NULL: nobody is. */
    void (*progress)(void *context, uint64_t steps, double best);
    void *progress_context;
};

/* X(name, text, cause): `cause` is what ended a search that had not come to its end, in a word; else NULL. */
#define PIM_SEARCH_END_MAP(X)                                                                                \
    X(PIM_SEARCH_STEPS, "the steps are done", NULL)                                                          \
    X(PIM_SEARCH_PATIENCE, "nothing better was found for as long as was asked", NULL)                        \
    X(PIM_SEARCH_TIME, "the time is over", "time limit")                                                     \
    X(PIM_SEARCH_STOPPED, "it was stopped", "interrupt")                                                     \
    X(PIM_SEARCH_BOUND, "the bound is reached: it is an optimum", NULL)                                      \
    X(PIM_SEARCH_COMPLETE, "all of the space was seen: it is an optimum", NULL)

enum pim_search_end {
#define X(name, text, cause) name,
    PIM_SEARCH_END_MAP(X)
#undef X
        PIM_SEARCH_ENDS
};

struct pim_search_result {
    enum pim_search_end end;
    uint64_t steps;       /* done */
    uint64_t evaluations; /* scores that were computed */
    double best;          /* first score of the best individual */
    double bound;         /* no individual is better; equal to `best`: it is an optimum */
};

/* The text of an end, and its cause: NULL when it was no early one. */
const char *pim_search_end_name(enum pim_search_end end);
const char *pim_search_end_cause(enum pim_search_end end);

/* What every plan says of a search that ended early, for people between two texts of the mapper, and in JSON;
 * `cause` NULL: it did not, and nothing is written. */
void pim_search_print_early(const char *before, const char *cause, const char *behind, FILE *file);
void pim_search_put_early(const char *cause, struct pim_json *json);

/* The stream of an individual; that of the start has generation UINT32_MAX, the first children have 0. */
static inline struct pim_random pim_search_stream(uint64_t seed, uint32_t generation, uint32_t place)
{
    struct pim_random random;
    uint64_t state = seed;
    pim_random_initialize(&random, pim_splitmix64(&state) ^ ((uint64_t)generation << 32 | place));
    return random;
}

/* --- for searches --- */

/* PIM_BAD_INPUT when threads or objectives are out of range. */
enum pim_status pim_search_check(const struct pim_search_problem *problem,
                                 const struct pim_search_budget *budget, struct pim_error *error);

/* `count` individuals with room for their data, all initialized; NULL and an error when that fails. */
enum pim_status pim_individuals_make(const struct pim_search_problem *problem, size_t count,
                                     struct pim_individual **individuals, struct pim_error *error);
void pim_individuals_free(const struct pim_search_problem *problem, size_t count,
                          struct pim_individual *individuals);

void pim_individual_copy(const struct pim_search_problem *problem, struct pim_individual *to,
                         const struct pim_individual *from);

/* Scores an individual; what is not a number becomes INFINITY. */
enum pim_status pim_individual_score(const struct pim_search_problem *problem, void *scratch,
                                     struct pim_individual *individual, struct pim_error *error);

/* The total order of invariant 3. */
int pim_individual_compare(const struct pim_search_problem *problem, const struct pim_individual *a,
                           const struct pim_individual *b);

/* Sorts pointers to individuals by it. PIM_NO_MEMORY leaves them as they are. */
enum pim_status pim_individuals_sort(const struct pim_search_problem *problem,
                                     struct pim_individual **individuals, size_t count,
                                     struct pim_error *error);

/* --- clocks of a budget --- */

struct pim_search_watch {
    const struct pim_search_budget *budget;
    uint64_t started; /* ns */
    uint64_t idle;    /* steps since the last better score */
    double best;
};

/* Of the wall clock, for searches that share a limit. */
uint64_t pim_search_nanoseconds(void);
double pim_search_seconds(void);

/* What is left of a limit of so many seconds that began at `begin`, a moment at least; 0: there is none. */
double pim_search_left(double limit, double begin);

void pim_search_begin(struct pim_search_watch *watch, const struct pim_search_budget *budget, double best);

/* After step number `steps` with the best score so far: true, with the reason, when the search ends. Of a
 * time limit and a stop that came between two steps the limit is told, as pim_search_limit_over() does. */
bool pim_search_over(struct pim_search_watch *watch, uint64_t steps, double best, double bound,
                     enum pim_search_end *end);

/*
 * One limit for all that a mapper searches, and why it ended. What is seen first is told, and stays: a stop
 * behind the end of the time, of who waits for what is still under way, changes nothing. When both came
 * between two looks it is the time: when that was over is known, when the stop came is not.
 */
struct pim_search_limit {
    double begin, seconds;       /* of the clock, and from there on; 0: there is none */
    bool (*stop)(void *context); /* NULL: never */
    void *context;
    atomic_int end; /* enum pim_search_end; PIM_SEARCH_ENDS: it goes on */
};

/* Begins now. */
void pim_search_limit_begin(struct pim_search_limit *limit, double seconds, bool (*stop)(void *context),
                            void *context);
/* Whether it is over; asked by several threads at once. `stop` is asked every time: it may have to note that
 * a request was heard. */
bool pim_search_limit_over(void *limit);
/* Why it was over: PIM_SEARCH_TIME or PIM_SEARCH_STOPPED. As long as it is not: PIM_SEARCH_TIME, of who had a
 * limit of time of its own. */
enum pim_search_end pim_search_limit_end(const struct pim_search_limit *limit);
/* The cause, as of pim_search_end_cause(); NULL: nobody saw that it was over. */
const char *pim_search_limit_cause(const struct pim_search_limit *limit);
/* What is left of its time, a moment at least: the next look sees that it is over; 0: there is no limit. */
double pim_search_limit_left(const struct pim_search_limit *limit);

#endif
