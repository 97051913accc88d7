/*
 * Cycles as a formula: a variable for each arc, one arc into and out of every member, the load of every
 * link at most K, and where asked the hops at most H. That subsets are no cycles of their own is demanded
 * only where a solver closed one, for all sets of the same shape. So "nothing found" is a proof, and a
 * model without closed subsets is a schedule.
 */
#include "mappers/nicepim/cycles/sat.h"

#include <stdlib.h>
#include <string.h>

/* Loads and hops above this are not counted in unary: the answer is then that nothing is known. */
enum { UNARY_LIMIT = 512 };

struct encoding {
    const struct pim_sharing *sharing;
    struct formula formula;
    size_t *base;      /* of each set: arc (a, b) is arc[base + a * n + b] */
    int32_t *arc;      /* its variable, 0: not allowed */
    uint64_t *allowed; /* most hops above the nearest that an arc of the set may have */
    uint64_t unit;     /* of weights: their greatest common divisor */
    struct element *elements;
    int32_t *clause;
    uint32_t *component;
    bool *value;
};

static size_t set_size(const struct pim_sharing *sharing, size_t set)
{
    return sharing->start[set + 1] - sharing->start[set];
}

static uint32_t member_distance(const struct pim_sharing *sharing, size_t set, size_t a, size_t b)
{
    const uint32_t *node = sharing->node + sharing->start[set];
    return sharing_distance(sharing, node[a], node[b]);
}

static uint32_t nearest(const struct pim_sharing *sharing, size_t set, size_t member)
{
    uint32_t least = UINT32_MAX;
    for (size_t b = 0; b < set_size(sharing, set); b++) {
        uint32_t distance = b == member ? UINT32_MAX : member_distance(sharing, set, member, b);
        least = distance < least ? distance : least;
    }
    return least;
}

static int32_t arc_of(const struct encoding *encoding, size_t set, size_t a, size_t b)
{
    return encoding->arc[encoding->base[set] + a * set_size(encoding->sharing, set) + b];
}

/* --- arcs --- */

/*
 * What hops leave: every member spends at least the distance to its nearest, every set at least its tour.
 * False when not even that fits.
 */
static bool spare_hops(struct encoding *encoding, uint64_t hops, const uint64_t *tours, uint64_t *spare)
{
    const struct pim_sharing *sharing = encoding->sharing;
    uint64_t least = 0, slack = 0;
    for (size_t s = 0; s < sharing->set_count; s++) {
        uint64_t sum = 0;
        for (size_t i = 0; set_size(sharing, s) > 1 && i < set_size(sharing, s); i++)
            sum += nearest(sharing, s, i);
        least += sharing->weight[s] * sum;
        encoding->allowed[s] = tours[s] > sum ? sharing->weight[s] * (tours[s] - sum) : 0;
        slack += encoding->allowed[s];
    }
    *spare = hops - least;
    if (hops < least + slack)
        return false;
    for (size_t s = 0; s < sharing->set_count; s++)
        encoding->allowed[s] += hops - least - slack;
    return true;
}

static void add_arcs(struct encoding *encoding, bool limited)
{
    const struct pim_sharing *sharing = encoding->sharing;
    for (size_t s = 0; s < sharing->set_count; s++) {
        size_t n = set_size(sharing, s);
        for (size_t a = 0; n > 1 && a < n; a++) {
            uint32_t least = nearest(sharing, s, a);
            for (size_t b = 0; b < n; b++) {
                uint64_t excess =
                    a == b ? 0 : sharing->weight[s] * (member_distance(sharing, s, a, b) - least);
                if (a != b && (!limited || excess <= encoding->allowed[s]))
                    encoding->arc[encoding->base[s] + a * n + b] = formula_variable(&encoding->formula);
            }
        }
    }
}

/* Exactly one of the `count` literals in encoding->clause. */
static void exactly_one(struct encoding *encoding, size_t count)
{
    formula_add(&encoding->formula, encoding->clause, count);
    for (size_t i = 0; i < count; i++)
        encoding->elements[i] = (struct element){encoding->clause[i], 1};
    formula_at_most(&encoding->formula, encoding->elements, count, 1);
}

static void add_degrees(struct encoding *encoding)
{
    const struct pim_sharing *sharing = encoding->sharing;
    for (size_t s = 0; s < sharing->set_count; s++) {
        size_t n = set_size(sharing, s);
        for (size_t a = 0; n > 1 && a < 2 * n; a++) {
            size_t count = 0;
            for (size_t b = 0; b < n; b++) {
                int32_t arc = a < n ? arc_of(encoding, s, a, b) : arc_of(encoding, s, b, a - n);
                if (arc != 0)
                    encoding->clause[count++] = arc;
            }
            exactly_one(encoding, count);
        }
        for (size_t a = 0; n > 2 && a < n; a++) {
            for (size_t b = 0; b < a; b++) {
                int32_t there = arc_of(encoding, s, a, b), back = arc_of(encoding, s, b, a);
                if (there != 0 && back != 0)
                    formula_add(&encoding->formula, (int32_t[]){-there, -back}, 2);
            }
        }
    }
}

/* --- sums --- */

/* Calls for every arc over one link would walk all routes again and again: the routes are sorted by link. */
struct crossing {
    uint32_t link;
    struct element element;
};

static int compare_crossings(const void *a, const void *b)
{
    const struct crossing *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return (x->element.literal > y->element.literal) - (x->element.literal < y->element.literal);
}

static size_t list_crossings(const struct encoding *encoding, struct crossing *crossings)
{
    const struct pim_sharing *sharing = encoding->sharing;
    uint32_t links[2 * PIM_SHARING_SIDE];
    size_t total = 0;
    for (size_t s = 0; s < sharing->set_count; s++) {
        size_t n = set_size(sharing, s);
        const uint32_t *node = sharing->node + sharing->start[s];
        for (size_t pair = 0; pair < n * n; pair++) {
            int32_t arc = encoding->arc[encoding->base[s] + pair];
            if (arc == 0)
                continue;
            uint32_t length = sharing_route(sharing, node[pair / n], node[pair % n], links);
            for (uint32_t l = 0; l < length; l++, total++) {
                if (crossings)
                    crossings[total] =
                        (struct crossing){links[l], {arc, (uint32_t)(sharing->weight[s] / encoding->unit)}};
            }
        }
    }
    return total;
}

static void add_loads(struct encoding *encoding, uint32_t limit)
{
    size_t total = list_crossings(encoding, NULL);
    struct crossing *crossings = calloc(total + 1, sizeof *crossings);
    struct element *elements = calloc(total + 1, sizeof *elements);
    encoding->formula.failed = encoding->formula.failed || !crossings || !elements;
    if (crossings && elements) {
        (void)list_crossings(encoding, crossings);
        qsort(crossings, total, sizeof *crossings, compare_crossings);
        for (size_t first = 0, end; first < total; first = end) {
            for (end = first; end < total && crossings[end].link == crossings[first].link; end++)
                elements[end - first] = crossings[end].element;
            formula_at_most(&encoding->formula, elements, end - first, limit);
        }
    }
    free(crossings);
    free(elements);
}

/* The hops above the nearest: each member's is one number, by its arc out. Like formula_at_most, but with one
 * row of registers for a member instead of one for an arc. */
static void add_hops(struct encoding *encoding, uint32_t limit)
{
    const struct pim_sharing *sharing = encoding->sharing;
    struct formula *formula = &encoding->formula;
    int32_t previous = formula->variables;
    formula->variables += (int32_t)limit + 1; /* registers of nothing: free, and false suits them */
    for (size_t s = 0; s < sharing->set_count; s++) {
        size_t n = set_size(sharing, s);
        for (size_t a = 0; n > 1 && a < n && !formula->failed; a++) {
            uint32_t least = nearest(sharing, s, a);
            int32_t registers = formula->variables;
            formula->variables += (int32_t)limit + 1;
            for (uint32_t j = 1; j <= limit; j++)
                formula_add(formula, (int32_t[]){-(previous + (int32_t)j), registers + (int32_t)j}, 2);
            for (size_t b = 0; b < n; b++) {
                int32_t arc = arc_of(encoding, s, a, b);
                if (arc == 0)
                    continue;
                uint64_t hops = sharing->weight[s] * (member_distance(sharing, s, a, b) - least);
                uint32_t excess = (uint32_t)(hops / encoding->unit);
                for (uint32_t j = 1; excess > 0 && j <= limit + 1; j++) {
                    bool reached = j <= excess;
                    int32_t before = previous + (int32_t)(j - excess), at = registers + (int32_t)j;
                    int32_t clause[3] = {-arc};
                    size_t count = 1;
                    if (!reached)
                        clause[count++] = -before;
                    if (j <= limit)
                        clause[count++] = at;
                    formula_add(formula, clause, count);
                }
            }
            previous = registers;
        }
    }
}

/* --- closed subsets --- */

/* Marks the member's cycle in the model with its smallest member; gives how many cycles the set has. */
static size_t find_components(const struct encoding *encoding, size_t set, uint32_t *next)
{
    size_t n = set_size(encoding->sharing, set), components = 0;
    for (size_t a = 0; a < n; a++) {
        encoding->component[a] = UINT32_MAX;
        next[a] = 0;
        for (size_t b = 0; b < n; b++) {
            int32_t arc = arc_of(encoding, set, a, b);
            if (arc != 0 && encoding->value[arc])
                next[a] = (uint32_t)b;
        }
    }
    for (size_t a = 0; a < n; a++) {
        if (encoding->component[a] != UINT32_MAX)
            continue;
        components++;
        for (uint32_t at = (uint32_t)a; encoding->component[at] == UINT32_MAX; at = next[at])
            encoding->component[at] = (uint32_t)a;
    }
    return components;
}

/* An arc must leave the component, in this set and all that lie alike. */
static void add_cuts(struct encoding *encoding, size_t set, uint32_t component)
{
    const struct pim_sharing *sharing = encoding->sharing;
    size_t n = set_size(sharing, set);
    for (size_t s = 0; s < sharing->set_count; s++) {
        if (s != set && !sharing_alike(sharing, set, s))
            continue;
        size_t count = 0;
        for (size_t pair = 0; pair < n * n; pair++) {
            int32_t arc = encoding->arc[encoding->base[s] + pair];
            if (arc != 0 && encoding->component[pair / n] == component &&
                encoding->component[pair % n] != component)
                encoding->clause[count++] = arc;
        }
        formula_add(&encoding->formula, encoding->clause, count);
    }
}

/* Reads the model: true when every set is one cycle, which `order` then holds; else cuts are added. */
static bool read_model(struct encoding *encoding, uint32_t *next, uint32_t *order)
{
    const struct pim_sharing *sharing = encoding->sharing;
    bool closed = true;
    for (size_t s = 0; s < sharing->set_count; s++) {
        size_t n = set_size(sharing, s), first = sharing->start[s];
        if (n == 1) {
            order[first] = 0;
            continue;
        }
        if (find_components(encoding, s, next) > 1) {
            closed = false;
            for (uint32_t a = 0; a < n; a++) {
                if (encoding->component[a] == a)
                    add_cuts(encoding, s, a);
            }
            continue;
        }
        for (uint32_t i = 0, at = 0; i < n; i++, at = next[at])
            order[first + i] = at;
    }
    return closed;
}

/* --- the question --- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool allocate(struct encoding *encoding, const struct pim_sharing *sharing, uint32_t **next)
{
    size_t arcs = 0, largest = 1, widest = 1;
    encoding->base = calloc(sharing->set_count + 1, sizeof *encoding->base);
    encoding->allowed = calloc(sharing->set_count + 1, sizeof *encoding->allowed);
    for (size_t s = 0; encoding->base && s < sharing->set_count; s++) {
        size_t n = set_size(sharing, s);
        encoding->base[s] = arcs;
        arcs += n * n;
        largest = n > largest ? n : largest;
        widest = n * n > widest ? n * n : widest;
        encoding->unit = common_divisor(encoding->unit, sharing->weight[s]);
    }
    encoding->unit = encoding->unit > 0 ? encoding->unit : 1;
    encoding->arc = calloc(arcs + 1, sizeof *encoding->arc);
    encoding->elements = calloc(largest, sizeof *encoding->elements);
    encoding->clause = calloc(widest, sizeof *encoding->clause);
    encoding->component = calloc(largest, sizeof *encoding->component);
    *next = calloc(largest, sizeof **next);
    return encoding->base && encoding->allowed && encoding->arc && encoding->elements && encoding->clause &&
           encoding->component && *next;
}

static void release(struct encoding *encoding)
{
    formula_terminate(&encoding->formula);
    free(encoding->base);
    free(encoding->arc);
    free(encoding->allowed);
    free(encoding->elements);
    free(encoding->clause);
    free(encoding->component);
    free(encoding->value);
}

static enum pim_status ask_until_closed(struct encoding *encoding, const struct sat_solver *solver,
                                        const struct pim_cycles_options *asked, uint32_t *rounds,
                                        enum sat_answer *answer, uint32_t *next, uint32_t *order,
                                        struct pim_error *error)
{
    *answer = SAT_UNKNOWN;
    if (encoding->formula.failed)
        return PIM_OK;
    encoding->value = calloc((size_t)encoding->formula.variables + 1, sizeof *encoding->value);
    if (!encoding->value)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the model of a formula");
    while (*rounds > 0 && !encoding->formula.failed && !cycles_stopped(asked)) {
        (*rounds)--;
        if (sat_ask(solver, &encoding->formula, asked, answer, encoding->value, error) != PIM_OK)
            return error->status;
        if (*answer != SAT_FOUND || read_model(encoding, next, order))
            return PIM_OK;
    }
    *answer = SAT_UNKNOWN;
    return PIM_OK;
}

/* Builds the formula; false when the answer is known without one: SAT_NONE, or SAT_UNKNOWN for numbers that
 * are too large to be counted in unary. */
static bool build(struct encoding *encoding, uint64_t load, uint64_t hops, const uint64_t *tours,
                  enum sat_answer *answer)
{
    uint64_t spare = 0;
    bool limited = hops != UINT64_MAX;
    *answer = SAT_NONE;
    if (limited && !spare_hops(encoding, hops, tours, &spare))
        return false;
    *answer = SAT_UNKNOWN;
    if (load / encoding->unit > UNARY_LIMIT || spare / encoding->unit > UNARY_LIMIT)
        return false;
    add_arcs(encoding, limited);
    add_degrees(encoding);
    add_loads(encoding, (uint32_t)(load / encoding->unit));
    if (limited)
        add_hops(encoding, (uint32_t)(spare / encoding->unit));
    return true;
}

enum pim_status sat_decide(const struct pim_sharing *sharing, const struct sat_solver *solver,
                           const struct pim_cycles_options *asked, uint32_t *rounds, uint64_t load,
                           uint64_t hops, enum sat_answer *answer, uint32_t *order, struct pim_error *error)
{
    struct encoding encoding = {.sharing = sharing};
    uint32_t *next = NULL;
    uint64_t *tours = calloc(sharing->set_count, sizeof *tours);
    enum pim_status status = PIM_OK;
    if (!allocate(&encoding, sharing, &next) || !tours)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the arcs of %zu sharing sets",
                          sharing->set_count);
    if (status == PIM_OK)
        status = sharing_tours(sharing, tours, error);
    if (status == PIM_OK && build(&encoding, load, hops, tours, answer))
        status = ask_until_closed(&encoding, solver, asked, rounds, answer, next, order, error);
    free(next);
    free(tours);
    release(&encoding);
    return status;
}
