/* Bounds, annealing and, where one is installed, a solver, in the order that settles most cases soonest. */
#include "mappers/nicepim/cycles/internal.h"
#include "sim/random.h"

#include <stdlib.h>
#include <string.h>

struct search {
    const struct pim_sharing *sharing;
    const struct pim_cycles_options *options;
    const struct sat_solver *solver;
    struct pim_cycles *best;
    uint32_t *trial;
    uint64_t spent, seed;
    uint32_t rounds;
};

struct pim_cycles_options pim_cycles_defaults(void)
{
    return (struct pim_cycles_options){
        .seed = 1, .steps = 12000000, .solver = "auto", .conflict_limit = 200000, .rounds = 400};
}

static size_t member_count(const struct pim_sharing *sharing)
{
    return sharing->start[sharing->set_count];
}

/* Takes the trial if it is better. */
static void consider(struct search *search)
{
    uint64_t load, hops;
    struct pim_cycles *best = search->best;
    pim_cycles_evaluate(search->sharing, search->trial, &load, &hops);
    if (load > best->max_load || (load == best->max_load && hops >= best->hops))
        return;
    best->max_load = load;
    best->hops = hops;
    memcpy(best->order, search->trial, member_count(search->sharing) * sizeof *best->order);
}

/* One annealing for load <= K from the trial as it is. */
static enum pim_status anneal(struct search *search, uint64_t load, uint64_t steps, double hot, bool *reached,
                              struct pim_error *error)
{
    uint64_t left = search->options->steps - search->spent;
    struct anneal options = {.sharing = search->sharing,
                             .asked = search->options,
                             .seed = pim_splitmix64(&search->seed),
                             .steps = steps < left ? steps : left,
                             .load = load,
                             .hops_bound = search->best->hops_bound,
                             .hot = hot,
                             .cold = 0.15};
    search->spent += options.steps;
    if (anneal_run(&options, search->trial, reached, error) != PIM_OK)
        return error->status;
    consider(search);
    return PIM_OK;
}

static void in_order(struct search *search)
{
    const struct pim_sharing *sharing = search->sharing;
    for (size_t s = 0; s < sharing->set_count; s++) {
        for (size_t i = sharing->start[s]; i < sharing->start[s + 1]; i++)
            search->trial[i] = (uint32_t)(i - sharing->start[s]);
    }
}

static bool has_steps(const struct search *search)
{
    return search->spent < search->options->steps && !cycles_stopped(search->options);
}

/* Lowers the load by bisection between what is known impossible and what was found. */
static enum pim_status lower_load(struct search *search, uint64_t steps, struct pim_error *error)
{
    struct pim_cycles *best = search->best;
    uint64_t failed = best->load_bound - 1, load = best->load_bound;
    while (best->max_load > failed + 1 && has_steps(search)) {
        bool reached;
        in_order(search);
        if (anneal(search, load, steps, 6, &reached, error) != PIM_OK)
            return error->status;
        if (!reached)
            failed = load;
        load = failed + 1 + (best->max_load > failed + 1 ? (best->max_load - failed - 1) / 2 : 0);
    }
    return PIM_OK;
}

static bool proved(const struct pim_cycles *best)
{
    return best->max_load == best->load_bound && best->hops == best->hops_bound;
}

static enum pim_status search_cycles(struct search *search, struct pim_error *error)
{
    struct pim_cycles *best = search->best;
    uint64_t steps = search->options->steps / 12;
    bool reached;
    if (lower_load(search, steps, error) != PIM_OK)
        return error->status;
    /* Round after round: for less load, for fewer hops anew and hot, for fewer hops from the best and
     * cooler. */
    for (int round = 0; !proved(best) && has_steps(search); round++) {
        bool lower = round % 3 == 0 && best->max_load > best->load_bound, anew = round % 3 != 2;
        if (anew)
            in_order(search);
        else
            memcpy(search->trial, best->order, member_count(search->sharing) * sizeof *search->trial);
        if (anneal(search, lower ? best->max_load - 1 : best->max_load, steps, anew ? 6 : 1.5, &reached,
                   error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

/* --- proof --- */

/* Asks for less load, then for fewer hops, until the solver finds nothing or does not know. */
static enum pim_status ask(struct search *search, bool hops, struct pim_error *error)
{
    struct pim_cycles *best = search->best;
    while (search->rounds > 0 && (hops ? best->hops > best->hops_bound : best->max_load > best->load_bound)) {
        enum sat_answer answer;
        uint64_t load = hops ? best->max_load : best->max_load - 1;
        uint64_t most = hops ? best->hops - 1 : UINT64_MAX;
        if (sat_decide(search->sharing, search->solver, search->options, &search->rounds, load, most, &answer,
                       search->trial, error) != PIM_OK)
            return error->status;
        if (answer == SAT_UNKNOWN)
            return PIM_OK;
        if (answer == SAT_FOUND) {
            consider(search);
        } else if (hops) {
            best->hops_bound = best->hops;
            best->hops_proof = PIM_CYCLES_UNSAT;
        } else {
            best->load_bound = best->max_load;
            best->load_proof = PIM_CYCLES_UNSAT;
        }
    }
    return PIM_OK;
}

static enum pim_status prove(struct search *search, struct pim_error *error)
{
    if (sat_find(search->options->solver, &search->solver, error) != PIM_OK)
        return error->status;
    if (!search->solver)
        return PIM_OK;
    uint64_t load = search->best->max_load;
    if (ask(search, false, error) != PIM_OK)
        return error->status;
    /* A solver stops at the first cycles of less load: their hops are for the annealing to lower. */
    if (search->best->max_load < load) {
        bool reached;
        search->spent = 0;
        memcpy(search->trial, search->best->order, member_count(search->sharing) * sizeof *search->trial);
        if (anneal(search, search->best->max_load, search->options->steps, 1.5, &reached, error) != PIM_OK)
            return error->status;
    }
    return ask(search, true, error);
}

enum pim_status pim_cycles_solve(const struct pim_sharing *sharing, const struct pim_cycles_options *options,
                                 struct pim_cycles *cycles, struct pim_error *error)
{
    size_t members = member_count(sharing);
    *cycles = (struct pim_cycles){.max_load = UINT64_MAX, .hops_proof = PIM_CYCLES_TOURS};
    struct search search = {.sharing = sharing,
                            .options = options,
                            .best = cycles,
                            .seed = options->seed,
                            .rounds = options->rounds};
    uint64_t *tours = calloc(sharing->set_count, sizeof *tours);
    search.trial = calloc(members, sizeof *search.trial);
    cycles->order = calloc(members, sizeof *cycles->order);
    enum pim_status status = PIM_OK;
    if (!tours || !search.trial || !cycles->order)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the cycles of %zu members", members);
    if (status == PIM_OK)
        status = sharing_tours(sharing, tours, error);
    if (status == PIM_OK) {
        cycles->hops_bound = sharing_tours_sum(sharing, tours);
        status =
            sharing_load_bound(sharing, cycles->hops_bound, &cycles->load_bound, &cycles->load_proof, error);
    }
    if (status == PIM_OK) {
        in_order(&search);
        consider(&search);
        status = construct_order(sharing, search.trial, error);
    }
    if (status == PIM_OK) {
        consider(&search);
        status = search_cycles(&search, error);
    }
    if (status == PIM_OK)
        status = prove(&search, error);
    free(tours);
    free(search.trial);
    if (status != PIM_OK)
        pim_cycles_terminate(cycles);
    return status;
}
