#include "mappers/nicepim/map/attempts.h"

#include "mappers/nicepim/map/refine/refine.h"
#include "mappers/search/workers.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdio.h>

enum { CAPACITY_TRIALS = 6, LIMIT_TRIALS = 4 };

const char *const nice_objectives[NICE_OBJECTIVES] = {
#define X(name, text) text,
    NICE_OBJECTIVE_MAP(X)
#undef X
};

const char *const nice_methods[NICE_METHODS] = {
#define X(name, text) text,
    NICE_METHOD_MAP(X)
#undef X
};

/* A plan by one method with one pair of weights. */
struct attempt {
    struct nice_way way;
    uint64_t most_cycles; /* what takes longer is not estimated to its end; 0: all is */
    bool both;            /* the plan of branches one after another is the same: there are none */
    bool left_out;        /* a stop came before it was begun, or begun again */
    enum pim_status status;
    struct nice_plan plan;
    struct nice_result result;
    struct pim_error failure;
};

enum { CORNERS = 2, ATTEMPTS = NICE_METHODS > CORNERS ? NICE_METHODS : CORNERS };

struct attempts {
    const struct nice_search *search;
    unsigned forced;                  /* the attempt that is made whatever happens; ATTEMPTS: none */
    struct tile_memory *const *tiles; /* of each worker */
    struct pim_cycles_memory *const *cycles;
    struct attempt list[ATTEMPTS];
    unsigned count;
};

/* What plans are made for by turns, whatever is asked: so each objective has the best of the same plans. */
struct turn {
    enum nice_objective objective; /* corners are tried as long as it may fall */
    struct nice_weights weights;
};

/* Weights get what maps and what is received leave, which depends on the plan: as long as a plan needs more
 * than there is, weights get less. */
static enum pim_status try_limit(const struct nice_search *search, struct attempt *attempt,
                                 struct tile_memory *tiles, struct pim_cycles_memory *cycles,
                                 uint64_t copy_limit, struct pim_error *error)
{
    uint64_t memory = search->hardware->memory_bytes, capacity = memory;
    struct nice_plan *plan = &attempt->plan;
    for (int trial = 0;; trial++) {
        const struct nice_request request = {.network = search->network,
                                             .hardware = search->hardware,
                                             .batch = search->batch,
                                             .capacity = capacity,
                                             .copy_limit = copy_limit,
                                             .method = attempt->way.method,
                                             .weights = attempt->way.weights,
                                             .rule = attempt->way.rule,
                                             .layouts = attempt->way.layouts,
                                             .most_cycles = attempt->most_cycles,
                                             .width = attempt->way.width,
                                             .height = attempt->way.height,
                                             .tiles = tiles,
                                             .cycles = cycles,
                                             .stop = search->stop};
        if (nice_plan_make(&request, plan, error) != PIM_OK ||
            nice_emit(plan, NULL, &attempt->result, error) != PIM_OK)
            return error->status;
        uint64_t needed = attempt->result.memory_bytes, excess = needed - memory;
        if (needed <= memory)
            return PIM_OK;
        if (trial == CAPACITY_TRIALS || excess >= plan->stored)
            return pim_fail(error, PIM_BAD_INPUT,
                            "weights, maps and what is received need %" PRIu64
                            " bytes on the fullest node, which has %" PRIu64 ": %" PRIu64 " too few",
                            needed, memory, excess);
        capacity = plan->stored - excess;
        nice_plan_terminate(plan);
    }
}

/* True: a stop came, and the attempt is left out. */
static bool is_left_out(const struct attempts *attempts, uint64_t index, struct attempt *attempt)
{
    attempt->left_out = index != attempts->forced && nice_stop_asked(&attempts->search->stop);
    if (attempt->left_out)
        attempt->status = pim_fail(&attempt->failure, PIM_BAD_INPUT, "it was stopped before");
    return attempt->left_out;
}

/* A copy that several nodes hold together is brought together where it is used, in memory that large layers
 * may not leave: where that is so, large copies are held whole. The failure of the first trial is told. */
static void work(void *context, unsigned worker, uint64_t index)
{
    const struct attempts *attempts = context;
    struct attempt *attempt = &((struct attempts *)context)->list[index];
    uint64_t limit = UINT64_MAX, memory = attempts->search->hardware->memory_bytes;
    for (int trial = 0; trial < LIMIT_TRIALS && !is_left_out(attempts, index, attempt); trial++) {
        struct pim_error failure = {0};
        attempt->status = try_limit(attempts->search, attempt, attempts->tiles[worker],
                                    attempts->cycles[worker], limit, &failure);
        if (attempt->status == PIM_OK)
            return;
        nice_plan_terminate(&attempt->plan);
        if (trial == 0)
            attempt->failure = failure;
        if (attempt->status != PIM_BAD_INPUT)
            return;
        limit = limit == UINT64_MAX ? memory / 2 : limit / 2;
    }
}

static double score(enum nice_objective objective, const struct nice_tried *tried)
{
    return objective == NICE_LATENCY  ? (double)tried->cycles
           : objective == NICE_ENERGY ? tried->pj
                                      : tried->pj * (double)tried->cycles;
}

static bool is_less(enum nice_objective objective, const struct nice_tried *a, const struct nice_tried *b)
{
    return b->cycles == 0 || score(objective, a) < score(objective, b);
}

/* What came of a method; false: nothing. */
static bool note(const struct nice_search *search, enum nice_method method, const struct attempt *attempt,
                 struct nice_best *best)
{
    const struct nice_tried tried = {attempt->result.cycles, attempt->result.energy.total};
    best->cut_short = best->cut_short || attempt->left_out || attempt->plan.cut_short;
    struct nice_tried *of_method = &best->tried[method];
    if (attempt->status != PIM_OK) {
        if (of_method->cycles == 0)
            (void)snprintf(best->left_out[method], sizeof best->left_out[0], "%.255s", attempt->failure.text);
        return false;
    }
    if (is_less(search->objective, &tried, of_method))
        *of_method = tried;
    return true;
}

/* The best is kept by what its programs are estimated to take: candidates see what moves between layers only
 * roughly. True: no other is as good for the objective of this turn. */
static bool keep(const struct nice_search *search, enum nice_objective turn, struct attempt *attempt,
                 struct nice_best *best)
{
    const struct nice_tried tried = {attempt->result.cycles, attempt->result.energy.total};
    if (attempt->both)
        (void)note(search, NICE_SERIAL, attempt, best);
    if (!note(search, attempt->way.method, attempt, best))
        return false;
    if (is_less(NICE_LATENCY, &tried, &best->least[NICE_LATENCY]))
        best->fastest = attempt->way;
    if (attempt->way.rule == NICE_NO_RULE &&
        (best->chosen_cycles == 0 || tried.cycles < best->chosen_cycles)) {
        best->chosen = attempt->way;
        best->chosen_cycles = tried.cycles;
    }
    const bool least = is_less(turn, &tried, &best->least[turn]),
               asked = is_less(search->objective, &tried, &best->least[search->objective]);
    for (int objective = 0; objective < NICE_OBJECTIVES; objective++) {
        if (is_less((enum nice_objective)objective, &tried, &best->least[objective]))
            best->least[objective] = tried;
    }
    if (asked) {
        nice_plan_terminate(&best->plan);
        best->plan = attempt->plan;
        best->result = attempt->result;
        best->method = attempt->way.method;
        best->found = true;
    } else {
        nice_plan_terminate(&attempt->plan);
    }
    return least;
}

/* No plan on so many nodes is better: a PE multiplies once a cycle, and each product costs its energy. */
static struct nice_tried bound_of(const struct nice_search *search, uint32_t width, uint32_t height)
{
    const struct pim_estimate_hardware *hardware = search->hardware;
    const uint64_t macs = search->network->graph.macs * search->batch,
                   pes = (uint64_t)width * height * hardware->pe_rows * hardware->pe_columns,
                   cycles = pim_divide_up(macs, pes);
    return (struct nice_tried){cycles, (double)macs * hardware->energy.mac_pj +
                                           nice_standing_pj(hardware) * (double)cycles};
}

/* Where there is no plan, those that a stop left out are made until one fits. */
static void make_one(struct attempts *attempts)
{
    bool made = false;
    for (unsigned i = 0; i < attempts->count; i++)
        made = made || attempts->list[i].status == PIM_OK;
    for (unsigned i = 0; i < attempts->count && !made; i++) {
        if (!attempts->list[i].left_out)
            continue;
        attempts->forced = i;
        attempts->list[i].failure = (struct pim_error){0};
        work(attempts, 0, i);
        made = attempts->list[i].status == PIM_OK;
    }
}

/* Half and three quarters of a corner, along its longer side: those that may be better than the best so far.
 * False: the half cannot be, nor can anything smaller. */
static bool list_corners(const struct turn *turn, const struct nice_best *best, uint32_t width,
                         uint32_t height, struct attempts *attempts)
{
    const uint32_t longer = width > height ? width : height;
    const uint32_t sides[CORNERS] = {pim_divide_up32(longer, 2), longer - longer / 4};
    bool half = false;
    attempts->count = 0;
    for (unsigned i = 0; i < CORNERS && sides[i] < longer; i++) {
        const struct attempt attempt = {.way = {.method = NICE_SERIAL,
                                                .weights = turn->weights,
                                                .width = width > height ? sides[i] : width,
                                                .height = width > height ? height : sides[i]}};
        const struct nice_tried bound = bound_of(attempts->search, attempt.way.width, attempt.way.height);
        if (!is_less(turn->objective, &bound, &best->least[turn->objective]))
            continue;
        attempts->list[attempts->count++] = attempt;
        half = half || i == 0;
    }
    return half;
}

/*
 * What moves between nodes makes small networks slower on many of them than on few. So branches one after
 * another are tried on half of the array and on three quarters, then on half and three quarters of the better
 * of these, or of the half where neither is better: corners in between may be slower than all nodes and one.
 * It ends where the half has too little memory, or cannot be better whatever the plan.
 */
static void try_corners(const struct nice_search *search, const struct turn *turn,
                        struct pim_workers *workers, struct nice_best *best)
{
    struct attempts attempts = {
        .search = search, .forced = ATTEMPTS, .tiles = best->tiles, .cycles = best->cycles};
    uint32_t width = search->hardware->width, height = search->hardware->height;
    for (bool further = true; further;) {
        const bool half = list_corners(turn, best, width, height, &attempts);
        pim_workers_run(workers, work, &attempts, 0, attempts.count);
        /* What does not fit on a half does not fit on less. */
        further = half && attempts.list[0].status == PIM_OK;
        if (further) {
            width = attempts.list[0].way.width;
            height = attempts.list[0].way.height;
        }
        for (unsigned i = 0; i < attempts.count; i++) {
            struct attempt *attempt = &attempts.list[i];
            if (keep(search, turn->objective, attempt, best)) {
                further = true;
                width = attempt->way.width;
                height = attempt->way.height;
            }
        }
    }
}

/* The plan by a rule that ends first; 0 cycles: there is none yet. */
struct thumb {
    uint64_t cycles;
    uint32_t width, height;
};

/* Both rules on a corner: layouts may still make up for a quarter more than the best plan takes. */
static void try_rules_on(const struct nice_search *search, uint32_t width, uint32_t height, bool layouts,
                         struct pim_workers *workers, struct nice_best *best, struct thumb *thumb)
{
    const uint64_t least = best->least[NICE_LATENCY].cycles;
    const bool all = width == search->hardware->width && height == search->hardware->height;
    struct attempts attempts = {
        .search = search, .forced = ATTEMPTS, .tiles = best->tiles, .cycles = best->cycles};
    for (int rule = NICE_BY_ROWS; rule < NICE_RULES; rule++)
        attempts.list[attempts.count++] = (struct attempt){.way = {.method = NICE_SERIAL,
                                                                   .weights = {.cycles = 1},
                                                                   .width = all ? 0 : width,
                                                                   .height = all ? 0 : height,
                                                                   .rule = (enum nice_rule)rule,
                                                                   .layouts = layouts},
                                                           .most_cycles = least + least / 4};
    pim_workers_run(workers, work, &attempts, 0, attempts.count);
    for (unsigned i = 0; i < attempts.count; i++) {
        struct attempt *attempt = &attempts.list[i];
        best->cut_short = best->cut_short || attempt->left_out;
        if (attempt->status == PIM_OK && attempt->result.cycles <= attempt->most_cycles &&
            (thumb->cycles == 0 || attempt->result.cycles < thumb->cycles))
            *thumb = (struct thumb){attempt->result.cycles, width, height};
        if (attempt->status == PIM_OK && attempt->result.cycles < best->least[NICE_LATENCY].cycles) {
            attempt->plan.most_cycles = 0;
            (void)keep(search, NICE_LATENCY, attempt, best);
        } else {
            nice_plan_terminate(&attempt->plan);
        }
    }
}

/*
 * Candidates know what moves between layers only roughly, and each is the cheapest behind those before it: so
 * a plan may be slower than one that cuts all layers alike. Both rules of thumb are estimated on corners of
 * all shapes, those that are soon seen to be slower not to their end, and layouts are chosen for the best.
 */
static void try_rules(const struct nice_search *search, struct pim_workers *workers, struct nice_best *best)
{
    static const uint32_t sides[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32};
    enum { SIDES = sizeof sides / sizeof sides[0] };
    const uint32_t width = search->hardware->width, height = search->hardware->height;
    struct thumb thumb = {0};
    for (size_t h = 0; h < SIDES && (h == 0 || sides[h - 1] < height); h++) {
        for (size_t w = 0; w < SIDES && (w == 0 || sides[w - 1] < width); w++) {
            const uint32_t corner[2] = {pim_smaller32(sides[w], width), pim_smaller32(sides[h], height)};
            const struct nice_tried bound = bound_of(search, corner[0], corner[1]);
            if (is_less(NICE_LATENCY, &bound, &best->least[NICE_LATENCY]))
                try_rules_on(search, corner[0], corner[1], false, workers, best, &thumb);
        }
    }
    if (thumb.cycles > 0)
        try_rules_on(search, thumb.width, thumb.height, true, workers, best, &thumb);
}

/* All methods with the weights of a turn. */
static void try_weights(const struct nice_search *search, const struct turn *turn,
                        struct pim_workers *workers, struct nice_best *best, struct pim_error *first)
{
    struct attempts attempts = {
        .search = search, .forced = best->found ? ATTEMPTS : 0, .tiles = best->tiles, .cycles = best->cycles};
    for (int method = 0; method < NICE_METHODS; method++) {
        /* The baselines know latency and throughput alone; side by side branches need what they need one
         * after another. */
        if (method == NICE_PARALLEL && search->asked[NICE_SERIAL] && turn->objective == NICE_ENERGY)
            continue;
        const bool both = method == NICE_PARALLEL && search->asked[NICE_SERIAL] && !best->branches;
        if (method == NICE_SERIAL && attempts.count > 0 && attempts.list[0].both)
            continue;
        if (search->asked[method] && (method < NICE_SEQUENTIAL || turn->weights.energy == 0))
            attempts.list[attempts.count++] = (struct attempt){
                .way = {.method = (enum nice_method)method, .weights = turn->weights}, .both = both};
    }
    pim_workers_run(workers, work, &attempts, 0, attempts.count);
    if (!best->found)
        make_one(&attempts);
    for (unsigned i = 0; i < attempts.count; i++) {
        if (attempts.list[i].status != PIM_OK && first->status == PIM_OK)
            *first = attempts.list[i].failure;
        (void)keep(search, turn->objective, &attempts.list[i], best);
    }
    if (search->asked[NICE_SERIAL] && best->tried[NICE_SERIAL].cycles > 0)
        try_corners(search, turn, workers, best);
    if (search->asked[NICE_SERIAL] && turn->objective == NICE_LATENCY && best->found)
        try_rules(search, workers, best);
}

/*
 * Plans of least cycles, of least energy, and for the weighted sum that falls as the product of both does at
 * the best plan so far (Dinkelbach's method), anew where that changed. What moves between layers is seen only
 * roughly by candidates, costs energy, and is often what makes a plan slow: a plan that is made for one
 * objective may be the best for another.
 */
static enum pim_status try_all(const struct nice_search *search, struct pim_workers *workers,
                               struct nice_best *best, struct pim_error *error)
{
    enum { SUMS = 2 };
    struct pim_error first = {0};
    uint64_t standing = (uint64_t)(nice_standing_pj(search->hardware) + 0.5), cycles = 0;
    try_weights(search, &(struct turn){NICE_LATENCY, {1, 0}}, workers, best, &first);
    if (!best->found)
        return pim_fail(error, first.status, "%s", first.text);
    if (best->result.energy.total == 0)
        return search->objective == NICE_LATENCY
                   ? PIM_OK
                   : pim_fail(
                         error, PIM_BAD_INPUT,
                         "the hardware has no energies (energy.*): nothing to minimise for --objective %s",
                         nice_objectives[search->objective]);
    try_weights(search, &(struct turn){NICE_ENERGY, {standing, 1}}, workers, best, &first);
    const struct nice_tried *product = &best->least[NICE_EDP];
    for (int sum = 0; sum < SUMS && cycles != product->cycles; sum++) {
        cycles = product->cycles;
        double slope = product->pj / (double)cycles;
        try_weights(search, &(struct turn){NICE_EDP, {standing + (uint64_t)(slope + 0.5), 1}}, workers, best,
                    &first);
    }
    return PIM_OK;
}

/* A plan is made again, refined, and kept where it is the best. */
static enum pim_status refine_way(const struct nice_search *search, const struct nice_way *way,
                                  struct nice_best *best, struct pim_error *error)
{
    struct attempts attempts = {.search = search, .tiles = best->tiles, .cycles = best->cycles, .count = 1};
    struct attempt *attempt = &attempts.list[0];
    *attempt = (struct attempt){.way = *way};
    work(&attempts, 0, 0);
    best->cut_short = attempt->status == PIM_OK ? attempt->plan.cut_short : nice_stop_asked(&search->stop);
    if (attempt->status != PIM_OK && best->cut_short) /* what is cut short may not fit */
        return PIM_OK;
    if (attempt->status != PIM_OK)
        return pim_fail(error, attempt->status, "%s", attempt->failure.text);
    if (nice_refine(&attempt->plan, &attempt->result, error) != PIM_OK) {
        nice_plan_terminate(&attempt->plan);
        return error->status;
    }
    (void)keep(search, search->objective, attempt, best);
    return PIM_OK;
}

/* The fastest plan, which is there still if cycles are asked for. */
static enum pim_status refine_fastest(const struct nice_search *search, struct nice_best *best,
                                      struct pim_error *error)
{
    if (search->objective != NICE_LATENCY) {
        const struct nice_way fastest = best->fastest;
        return refine_way(search, &fastest, best, error);
    }
    if (nice_refine(&best->plan, &best->result, error) != PIM_OK)
        return error->status;
    best->tried[best->method] = (struct nice_tried){best->result.cycles, best->result.energy.total};
    best->least[NICE_LATENCY] = best->tried[best->method];
    best->cut_short = best->plan.cut_short;
    return PIM_OK;
}

/* The plan of least cycles is refined, whatever is asked for: so each objective has the best of the same
 * plans. A rule leaves less to refine: where it won, the fastest other plan may still end before it. */
static enum pim_status refine(const struct nice_search *search, struct nice_best *best,
                              struct pim_error *error)
{
    const struct nice_way chosen = best->chosen;
    const bool by_rule = best->fastest.rule != NICE_NO_RULE;
    best->cut_short = best->cut_short || nice_stop_asked(&search->stop);
    if (best->cut_short || best->fastest.method >= NICE_SEQUENTIAL) /* baselines are as they are */
        return PIM_OK;
    if (refine_fastest(search, best, error) != PIM_OK)
        return error->status;
    const uint64_t least = best->least[NICE_LATENCY].cycles;
    best->cut_short = best->cut_short || nice_stop_asked(&search->stop);
    if (best->cut_short || !by_rule || chosen.method >= NICE_SEQUENTIAL || best->chosen_cycles == 0 ||
        best->chosen_cycles > least + least / 4)
        return PIM_OK;
    return refine_way(search, &chosen, best, error);
}

/* Whether segments have branches that may work side by side. What is wrong with the network, plans tell. */
static bool has_branches(const struct nice_search *search)
{
    struct flow flow;
    struct pim_error ignored = {0};
    if (flow_build(search->network, search->batch, &flow, &ignored) != PIM_OK)
        return true;
    const bool branches = flow.segments.branch_count > flow.segments.segment_count;
    flow_terminate(&flow);
    return branches;
}

enum pim_status nice_search(const struct nice_search *search, struct nice_best *best, struct pim_error *error)
{
    unsigned threads = pim_workers_wanted(search->threads);
    struct pim_workers *workers;
    if (pim_workers_create(&workers, threads < NICE_METHODS ? threads : NICE_METHODS, error) != PIM_OK)
        return error->status;
    enum pim_status status = PIM_OK;
    best->branches = has_branches(search);
    for (unsigned worker = 0; worker < pim_workers_count(workers) && status == PIM_OK; worker++) {
        best->tiles[worker] = tile_memory_create();
        best->cycles[worker] = pim_cycles_memory_create();
        if (!best->tiles[worker] || !best->cycles[worker])
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory for tilings and cycles");
    }
    if (status == PIM_OK)
        status = try_all(search, workers, best, error);
    if (status == PIM_OK)
        status = refine(search, best, error);
    pim_workers_destroy(workers);
    return status;
}

void nice_best_terminate(struct nice_best *best)
{
    nice_plan_terminate(&best->plan);
    for (int worker = 0; worker < NICE_METHODS; worker++) {
        tile_memory_destroy(best->tiles[worker]);
        pim_cycles_memory_destroy(best->cycles[worker]);
    }
}
