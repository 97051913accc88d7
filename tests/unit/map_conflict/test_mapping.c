/* Mappings: legal, the same for any number of threads, no worse than what they start from. */
#include "models/system/hardware.h"
#include "tests/unit/map_conflict/suites.h"
#include "tools/library/tiles.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pim_tile_mapping_options options_for(enum pim_tile_mapping mapping)
{
    return (struct pim_tile_mapping_options){
        .mapping = mapping, .grid = {16, 16}, .population = 8, .generations = 3, .seed = 3, .threads = 1};
}

static void hold_legal(const uint32_t *place, uint32_t nodes)
{
    bool taken[256] = {false};
    for (uint32_t n = 0; n < nodes; n++) {
        ck_assert_uint_lt(place[n], 256);
        ck_assert(!taken[place[n]]);
        taken[place[n]] = true;
    }
}

START_TEST(mappings_are_legal_and_the_same_for_any_threads)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-resnet18", PIM_TILE_CODE, &arena, &tiles);
    for (unsigned mapping = 0; mapping < PIM_TILE_MAPPINGS; mapping++)
        for (unsigned fitness = 0; fitness < PIM_TILE_BY_SIMULATION; fitness++) {
            struct pim_tile_mapping_options options = options_for((enum pim_tile_mapping)mapping);
            struct pim_tile_mapping_result result, other;
            uint32_t place[256], again[256];
            struct pim_error error = {0};
            options.fitness = (enum pim_tile_fitness)fitness;
            ck_assert_msg(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_OK, "%s", error.text);
            hold_legal(place, tiles.nodes);
            options.threads = 3;
            ck_assert(pim_tile_map(&tiles, &options, again, &other, &error) == PIM_OK);
            ck_assert_mem_eq(place, again, tiles.nodes * sizeof *place);
            ck_assert_uint_eq(result.cost, other.cost);
            if (result.searched && mapping != PIM_TILE_NSGA2)
                ck_assert_double_eq(result.search.best,
                                    (double)(fitness == PIM_TILE_BY_COST ? result.cost : result.bottleneck));
        }
    pim_arena_terminate(&arena);
}
END_TEST

/* The whole way of a search, its start by cost included, with latencies from threads that run at once. */
START_TEST(searches_by_simulation_are_the_same_for_any_threads)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    static struct pim_hardware hardware = {.tiles.options = PIM_CONFLICT_DEFAULTS};
    static const unsigned threads[] = {1, 2, 5};
    static const enum pim_tile_mapping mappings[] = {PIM_TILE_HEURISTIC, PIM_TILE_NODE_GROUP, PIM_TILE_NSGA2};
    void *replay;
    hardware.tiles.options.routing = PIM_CONFLICT_ADAPTIVE;
    hardware.tiles.options.arbiter = PIM_CONFLICT_BALANCE;
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-alexnet", PIM_TILE_CODE, &arena, &tiles);
    ck_assert(pim_tiles_simulator.create(&hardware, &tiles, 1, &replay, &error) == PIM_OK);
    for (size_t m = 0; m < 4; m++) { /* the last one from the finalists of several searches */
        struct pim_tile_mapping_options options = options_for(mappings[m % 3]);
        struct pim_tile_mapping_result result[3];
        uint32_t place[3][256];
        options.searches = m < 3 ? 1 : 3;
        options.finalists = m < 3 ? options.finalists : 4;
        options.fitness = PIM_TILE_BY_SIMULATION;
        options.simulate = pim_tiles_simulator.run;
        options.simulate_context = replay;
        for (size_t i = 0; i < 3; i++) {
            options.threads = threads[i];
            ck_assert(pim_tile_map(&tiles, &options, place[i], &result[i], &error) == PIM_OK);
            ck_assert_mem_eq(place[i], place[0], tiles.nodes * sizeof place[0][0]);
            ck_assert_double_eq(result[i].latency_ns, result[0].latency_ns);
            ck_assert_uint_eq(result[i].search.evaluations, result[0].search.evaluations);
        }
    }
    pim_tiles_simulator.destroy(replay);
    pim_arena_terminate(&arena);
}
END_TEST

/* The figures that are known: 256! / 195! mappings of VGG-8 on 16 x 16; groups of 38, 11, 7 and 5 nodes. */
START_TEST(spaces_and_groups)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    uint32_t group[256], groups, sizes[256] = {0};
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-vgg8", PIM_TILE_CODE, &arena, &tiles);
    ck_assert_double_eq_tol(pim_tile_space(256, 61), log10(3.31) + 143, 2e-3);
    ck_assert(pim_tile_group(&tiles, 0, group, &groups, &error) == PIM_OK);
    for (uint32_t n = 0; n < tiles.nodes; n++)
        sizes[group[n]]++;
    ck_assert_uint_eq(groups, 4);
    uint32_t sum = 0, squares = 0;
    for (uint32_t g = 0; g < groups; g++) {
        sum += sizes[g];
        squares += sizes[g] * sizes[g];
    }
    ck_assert_uint_eq(sum, 61);
    ck_assert_uint_eq(squares, 38 * 38 + 11 * 11 + 7 * 7 + 5 * 5);
    ck_assert(pim_tile_group(&tiles, 4, group, &groups, &error) == PIM_OK);
    memset(sizes, 0, sizeof sizes);
    for (uint32_t n = 0; n < tiles.nodes; n++)
        ck_assert_uint_le(++sizes[group[n]], 4);
    ck_assert_uint_ge(groups, 16);
    pim_arena_terminate(&arena);
}
END_TEST

/* Searched by simulation: the score is the latency of the mapping, and better than the pattern's. */
START_TEST(simulation_as_fitness)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    static struct pim_hardware hardware = {.tiles.options = PIM_CONFLICT_DEFAULTS};
    void *replay;
    uint32_t place[256];
    double latency, interval, snake;
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-alexnet", PIM_TILE_CODE, &arena, &tiles);
    for (unsigned mapping = PIM_TILE_HEURISTIC; mapping < PIM_TILE_MAPPINGS; mapping++) {
        struct pim_tile_mapping_options options = options_for((enum pim_tile_mapping)mapping);
        struct pim_tile_mapping_result result;
        uint32_t images = mapping == PIM_TILE_NSGA2 ? 2 : 1;
        ck_assert(pim_tiles_simulator.create(&hardware, &tiles, images, &replay, &error) == PIM_OK);
        options.fitness = PIM_TILE_BY_SIMULATION;
        options.threads = 2;
        options.simulate = pim_tiles_simulator.run;
        options.simulate_context = replay;
        ck_assert(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_OK);
        hold_legal(place, tiles.nodes);
        ck_assert(pim_tiles_simulator.run(replay, place, &no_limits, &latency, &interval, &error) == PIM_OK);
        ck_assert_double_eq(result.latency_ns, latency);
        ck_assert_double_eq(result.search.best, latency);
        pim_tiles_simulator.destroy(replay);
    }
    ck_assert(pim_tiles_simulator.create(&hardware, &tiles, 1, &replay, &error) == PIM_OK);
    const struct pim_grid grid = {16, 16};
    struct pim_tile_mapping_options options = options_for(PIM_TILE_NODE_GROUP);
    struct pim_tile_mapping_result result;
    pim_tile_pattern(PIM_TILE_SNAKE, &grid, tiles.nodes, place);
    ck_assert(pim_tiles_simulator.run(replay, place, &no_limits, &snake, &interval, &error) == PIM_OK);
    options.simulate = pim_tiles_simulator.run;
    options.simulate_context = replay;
    options.finalists = 8;
    ck_assert(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_OK);
    ck_assert_uint_eq(result.finalists, 8);
    ck_assert_double_lt(result.latency_ns, snake);
    pim_tiles_simulator.destroy(replay);
    pim_arena_terminate(&arena);
}
END_TEST

/* Of several searches the fastest mapping is taken, with the first search the one that stands alone; all
 * finalists are told, and the fastest of all is where local moves begin. A search by simulation goes on from
 * the fastest finalists of the others. */
struct told {
    double least;
    uint32_t calls;
};

static void note_least(void *context, const struct pim_tile_finalist *finalist)
{
    struct told *told = context;
    told->least = fmin(told->least, finalist->latency_ns);
    told->calls++;
}

START_TEST(of_several_searches_the_fastest_is_taken)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    static struct pim_hardware hardware = {.tiles.options = PIM_CONFLICT_DEFAULTS};
    void *replay;
    bool gained = false;
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-alexnet", PIM_TILE_CODE, &arena, &tiles);
    ck_assert(pim_tiles_simulator.create(&hardware, &tiles, 1, &replay, &error) == PIM_OK);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct pim_tile_mapping_options options = options_for(PIM_TILE_NODE_GROUP);
        struct pim_tile_mapping_result result[4];
        struct told told[4];
        uint32_t place[4][256];
        options.seed = seed;
        options.simulate = pim_tiles_simulator.run;
        options.simulate_context = replay;
        options.finalists = 4;
        options.finalist = note_least;
        for (size_t i = 0; i < 4; i++) { /* the last one by simulation, from what the second ends with */
            told[i] = (struct told){HUGE_VAL, 0};
            options.finalist_context = &told[i];
            options.searches = i == 0 ? 1 : 5;
            options.refinement = i == 2 ? 16 : 0;
            options.fitness = i == 3 ? PIM_TILE_BY_SIMULATION : PIM_TILE_BY_COST;
            ck_assert(pim_tile_map(&tiles, &options, place[i], &result[i], &error) == PIM_OK);
            hold_legal(place[i], tiles.nodes);
        }
        for (size_t i = 0; i < 4; i++) {
            double latency, interval;
            ck_assert(pim_tiles_simulator.run(replay, place[i], &no_limits, &latency, &interval, &error) ==
                      PIM_OK);
            ck_assert_double_eq(latency, result[i].latency_ns);
            if (i != 2)
                ck_assert_double_eq(told[i].least, result[i].latency_ns);
        }
        ck_assert_uint_eq(told[0].calls, 4);
        ck_assert_uint_eq(told[1].calls, 20);
        ck_assert_uint_eq(result[1].finalists, 20);
        ck_assert_uint_eq(result[1].searches, 5);
        ck_assert_uint_eq(result[1].search.steps, 5 * result[0].search.steps);
        ck_assert_uint_gt(result[1].search.evaluations, result[0].search.evaluations);
        ck_assert_double_le(result[1].latency_ns, result[0].latency_ns);
        ck_assert_double_le(result[2].latency_ns, result[1].latency_ns);
        ck_assert_double_lt(result[3].latency_ns, result[1].latency_ns);
        ck_assert_uint_eq(told[3].calls, 24);
        ck_assert_uint_eq(result[3].searches, 5);
        ck_assert_uint_eq(result[3].search.steps, 6 * result[0].search.steps);
        gained |= result[1].latency_ns < result[0].latency_ns;
    }
    ck_assert(gained);
    pim_tiles_simulator.destroy(replay);
    pim_arena_terminate(&arena);
}
END_TEST

/* The simulator, but for its limit. */
static enum pim_status without_limit(void *replay, const uint32_t *place,
                                     const struct pim_tile_limits *limits, double *latency_ns,
                                     double *interval_ns, struct pim_error *error)
{
    (void)limits;
    return pim_tiles_simulator.run(replay, place, &no_limits, latency_ns, interval_ns, error);
}

/* Simulations that are given up are those of mappings that would not survive: the search is the same. Local
 * moves never make the result worse, and find something better from so short a search. */
START_TEST(limits_and_local_moves)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    static struct pim_hardware hardware = {.tiles.options = PIM_CONFLICT_DEFAULTS};
    void *replay;
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-alexnet", PIM_TILE_CODE, &arena, &tiles);
    ck_assert(pim_tiles_simulator.create(&hardware, &tiles, 1, &replay, &error) == PIM_OK);
    struct pim_tile_mapping_options options = options_for(PIM_TILE_NODE_GROUP);
    options.fitness = PIM_TILE_BY_SIMULATION;
    options.simulate_context = replay;
    struct pim_tile_mapping_result result[4];
    uint32_t place[4][256];
    for (size_t i = 0; i < 4; i++) {
        options.simulate = i % 2 ? without_limit : pim_tiles_simulator.run;
        options.threads = i == 3 ? 3 : 1;
        options.refinement = i < 2 ? 0 : 60;
        ck_assert(pim_tile_map(&tiles, &options, place[i], &result[i], &error) == PIM_OK);
        hold_legal(place[i], tiles.nodes);
    }
    ck_assert_mem_eq(place[0], place[1], tiles.nodes * sizeof place[0][0]);
    ck_assert_mem_eq(place[2], place[3], tiles.nodes * sizeof place[0][0]);
    ck_assert_uint_eq(result[0].refined, 0);
    ck_assert_uint_ge(result[2].refined, 60 - 8); /* twins of their parents are not simulated */
    ck_assert_uint_le(result[2].refined, 64 + PIM_TILE_STARTS);
    ck_assert_double_lt(result[2].latency_ns, result[0].latency_ns);
    double latency, interval;
    ck_assert(pim_tiles_simulator.run(replay, place[2], &no_limits, &latency, &interval, &error) == PIM_OK);
    ck_assert_double_eq(latency, result[2].latency_ns);
    struct pim_tile_limits limits = {latency, NULL, NULL};
    ck_assert(pim_tiles_simulator.run(replay, place[2], &limits, &latency, NULL, &error) == PIM_OK);
    ck_assert_double_eq(latency, result[2].latency_ns);
    limits.latency_ns = 0.999 * latency;
    ck_assert(pim_tiles_simulator.run(replay, place[2], &limits, &latency, &interval, &error) == PIM_OK);
    ck_assert(isinf(interval));
    ck_assert(isinf(latency));
    pim_tiles_simulator.destroy(replay);
    pim_arena_terminate(&arena);
}
END_TEST

/* A simulator of which the fastest mapping is the cheapest, and that counts its calls. */
struct counted {
    const struct pim_tile_graph *tiles;
    uint32_t calls;
};

static enum pim_status by_distance(void *context, const uint32_t *place, const struct pim_tile_limits *limits,
                                   double *latency_ns, double *interval_ns, struct pim_error *error)
{
    struct counted *counted = context;
    const struct pim_grid grid = {16, 16};
    (void)limits;
    (void)error;
    counted->calls++;
    *latency_ns = 0;
    for (uint32_t e = 0; e < counted->tiles->edges; e++) {
        const struct pim_tile_edge *edge = &counted->tiles->edge[e];
        *latency_ns += (double)edge->packets * (double)edge->bits *
                       (double)pim_grid_distance(&grid, place[edge->source], place[edge->destination]);
    }
    if (interval_ns)
        *interval_ns = *latency_ns;
    return PIM_OK;
}

/* The finalists of a search by something else have those of its start among them. */
START_TEST(never_worse_than_the_start)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    struct pim_tile_mapping_result cost, other;
    uint32_t place[256];
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-vgg8", PIM_TILE_CODE, &arena, &tiles);
    struct counted counted = {&tiles, 0};
    struct pim_tile_mapping_options options = options_for(PIM_TILE_NODE_GROUP);
    options.simulate = by_distance;
    options.simulate_context = &counted;
    options.finalists = 4;
    ck_assert(pim_tile_map(&tiles, &options, place, &cost, &error) == PIM_OK);
    ck_assert_uint_eq(cost.finalists, 4);
    options.fitness = PIM_TILE_BY_BOTTLENECK;
    ck_assert(pim_tile_map(&tiles, &options, place, &other, &error) == PIM_OK);
    ck_assert_uint_eq(other.finalists, 8);
    ck_assert_double_eq(other.latency_ns, cost.latency_ns);
    ck_assert_uint_eq(other.cost, cost.cost);
    pim_arena_terminate(&arena);
}
END_TEST

/* A limit that is over at once leaves the cheapest mappings of one generation, and 16 simulations. */
START_TEST(one_limit_for_all_stages)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    struct pim_tile_mapping_result result;
    uint32_t place[256];
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-alexnet", PIM_TILE_CODE, &arena, &tiles);
    static const enum pim_tile_fitness fitnesses[] = {PIM_TILE_BY_COST, PIM_TILE_BY_BOTTLENECK,
                                                      PIM_TILE_BY_SIMULATION};
    for (size_t i = 0; i < sizeof fitnesses / sizeof fitnesses[0]; i++) {
        struct counted counted = {&tiles, 0};
        struct pim_tile_mapping_options options = options_for(PIM_TILE_NODE_GROUP);
        options.fitness = fitnesses[i];
        options.simulate = by_distance;
        options.simulate_context = &counted;
        options.population = 40;
        options.generations = 1000000;
        options.finalists = 40;
        options.refinement = 1000000;
        options.seconds = 1e-9;
        ck_assert(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_OK);
        hold_legal(place, tiles.nodes);
        ck_assert_uint_eq(result.search.steps, 1);
        ck_assert_int_eq(result.search.end, PIM_SEARCH_TIME);
        ck_assert_uint_eq(counted.calls, fitnesses[i] == PIM_TILE_BY_SIMULATION ? PIM_TILE_STARTS : 16);
        ck_assert_uint_eq(result.finalists, counted.calls);
        ck_assert_uint_eq(result.refined, 0);
    }
    pim_arena_terminate(&arena);
}
END_TEST

/* Says stop from the `after`-th question on, and counts the questions behind the first stop. */
struct impatient {
    uint32_t after, asked, later;
};

static bool stops_later(void *context)
{
    struct impatient *impatient = context;
    if (++impatient->asked <= impatient->after)
        return false;
    impatient->later++;
    return true;
}

/* A stop within a simulation: what was found so far, and no figure of what did not end. Images that would
 * take minutes show that nothing runs to its end. */
START_TEST(stop_within_a_simulation)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    static struct pim_hardware hardware = {.tiles.options = PIM_CONFLICT_DEFAULTS};
    struct pim_tile_mapping_result result;
    void *replay;
    uint32_t place[256], pattern[256];
    double latency, interval;
    const struct pim_grid grid = {16, 16};
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-vgg8", PIM_TILE_CODE, &arena, &tiles);
    ck_assert(pim_tiles_simulator.create(&hardware, &tiles, 65535, &replay, &error) == PIM_OK);
    pim_tile_pattern(PIM_TILE_SNAKE, &grid, tiles.nodes, pattern);
    ck_assert(pim_tiles_simulator.run(replay, pattern, &no_limits, &latency, NULL, &error) == PIM_OK);
    for (uint32_t after = 0; after < 400; after = 2 * after + 1) {
        struct impatient impatient = {after, 0, 0};
        struct pim_tile_mapping_options options = options_for(PIM_TILE_SNAKE);
        options.simulate = pim_tiles_simulator.run;
        options.simulate_context = replay;
        options.images = 65535;
        options.stop = stops_later;
        options.stop_context = &impatient;
        ck_assert(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_OK);
        ck_assert_mem_eq(place, pattern, tiles.nodes * sizeof place[0]);
        ck_assert(result.stopped && isnan(result.interval_ns));
        ck_assert(isnan(result.latency_ns) || result.latency_ns == latency);
        ck_assert(after < 100 || result.latency_ns == latency);
        ck_assert_uint_le(impatient.later, 40);
        const struct pim_tile_limits limits = {HUGE_VAL, stops_later, &impatient};
        ck_assert(pim_tiles_simulator.run(replay, place, &limits, &latency, &interval, &error) == PIM_OK);
        ck_assert(isnan(latency) && isnan(interval));
        ck_assert(pim_tiles_simulator.run(replay, place, &no_limits, &latency, NULL, &error) == PIM_OK);
    }
    pim_tiles_simulator.destroy(replay);
    pim_arena_terminate(&arena);
}
END_TEST

/* The latency that a stopped search tells is that of the mapping it hands out, or none. */
START_TEST(stopped_searches_tell_the_truth)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    static struct pim_hardware hardware = {.tiles.options = PIM_CONFLICT_DEFAULTS};
    void *replay;
    uint32_t known = 0, unknown = 0;
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-vgg8", PIM_TILE_CODE, &arena, &tiles);
    ck_assert(pim_tiles_simulator.create(&hardware, &tiles, 1, &replay, &error) == PIM_OK);
    for (uint32_t i = 0; i < 12; i++) {
        struct impatient impatient = {i % 4 * 37 * (i % 4), 0, 0};
        struct pim_tile_mapping_options options = options_for(PIM_TILE_NODE_GROUP);
        struct pim_tile_mapping_result result;
        uint32_t place[256];
        double latency;
        options.fitness = (enum pim_tile_fitness)(i / 4);
        options.population = 8;
        options.generations = 5;
        options.finalists = 8;
        options.refinement = 30;
        options.simulate = pim_tiles_simulator.run;
        options.simulate_context = replay;
        options.stop = stops_later;
        options.stop_context = &impatient;
        ck_assert(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_OK);
        hold_legal(place, tiles.nodes);
        ck_assert(pim_tiles_simulator.run(replay, place, &no_limits, &latency, NULL, &error) == PIM_OK);
        ck_assert(isnan(result.latency_ns) || result.latency_ns == latency);
        ck_assert(isnan(result.latency_ns) == result.stopped);
        known += isnan(result.latency_ns) ? 0 : 1;
        unknown += isnan(result.latency_ns) ? 1 : 0;
    }
    ck_assert_uint_gt(known, 0);
    ck_assert_uint_gt(unknown, 0);
    pim_tiles_simulator.destroy(replay);
    pim_arena_terminate(&arena);
}
END_TEST

START_TEST(fastest_first)
{
    static const double latencies[] = {5, 3, 9, 3, 1, 8, 2};
    uint32_t first[PIM_TILE_STARTS];
    ck_assert_uint_eq(pim_tile_fastest(latencies, 7, first), 4);
    ck_assert_uint_eq(first[0], 4);
    ck_assert_uint_eq(first[1], 6);
    ck_assert_uint_eq(first[2], 1);
    ck_assert_uint_eq(first[3], 3);
    ck_assert_uint_eq(pim_tile_fastest(latencies, 2, first), 2);
    ck_assert_uint_eq(first[0], 1);
    ck_assert_uint_eq(first[1], 0);
}
END_TEST

START_TEST(bad_input_is_refused)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_tile_mapping_result result;
    struct pim_error error = {0};
    uint32_t place[256];
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-vgg8", PIM_TILE_CODE, &arena, &tiles);
    struct pim_tile_mapping_options options = options_for(PIM_TILE_SNAKE);
    options.grid = (struct pim_grid){7, 7};
    ck_assert(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "needs 61 tiles"));
    ck_assert_ptr_nonnull(strstr(error.text, "12 are missing"));
    options.grid = (struct pim_grid){10, 6};
    ck_assert(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "1 is missing"));
    options = options_for(PIM_TILE_NODE_GROUP);
    options.fitness = PIM_TILE_BY_SIMULATION;
    ck_assert(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_BAD_INPUT);
    options = options_for(PIM_TILE_NODE_GROUP);
    options.population = 1;
    ck_assert(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_BAD_INPUT);
    pim_arena_terminate(&arena);
}
END_TEST

Suite *conflict_mapping_suite(void)
{
    Suite *suite = suite_create("conflict_mapping");
    TCase *tests = tcase_create("mapping");
    tcase_add_test(tests, mappings_are_legal_and_the_same_for_any_threads);
    tcase_add_test(tests, searches_by_simulation_are_the_same_for_any_threads);
    tcase_add_test(tests, spaces_and_groups);
    tcase_add_test(tests, simulation_as_fitness);
    tcase_add_test(tests, of_several_searches_the_fastest_is_taken);
    tcase_add_test(tests, limits_and_local_moves);
    tcase_add_test(tests, never_worse_than_the_start);
    tcase_add_test(tests, one_limit_for_all_stages);
    tcase_add_test(tests, stop_within_a_simulation);
    tcase_add_test(tests, stopped_searches_tell_the_truth);
    tcase_add_test(tests, fastest_first);
    tcase_add_test(tests, bad_input_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
