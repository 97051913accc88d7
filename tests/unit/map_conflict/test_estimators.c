/* Learned estimators: what they see, their gradients, their training, their file, and searches by them. */
#include "mappers/conflict/estimators/judge.h"
#include "mappers/conflict/estimators/train.h"
#include "mappers/conflict/estimators/weights.h"
#include "mappers/conflict/plan.h"
#include "mappers/learn/correlation.h"
#include "mappers/mappers.h"
#include "models/system/hardware.h"
#include "tests/unit/map_conflict/suites.h"
#include "tools/library/tiles.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct pim_grid mesh = {16, 16};

/* AlexNet: 32 nodes, 46 edges. */
static struct pim_arena arena;
static struct pim_tile_graph tiles;
static struct pim_tile_setting setting;

static void begin(void)
{
    struct pim_error error = {0};
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-alexnet", PIM_TILE_CODE, &arena, &tiles);
    ck_assert(pim_tile_setting_make(&setting, &tiles, &mesh, false, &error) == PIM_OK);
}

static void end(void)
{
    pim_tile_setting_terminate(&setting);
    pim_arena_terminate(&arena);
}

static void draw_place(struct pim_random *random, uint32_t *place)
{
    uint32_t cell[256];
    for (uint32_t c = 0; c < 256; c++)
        cell[c] = c;
    for (uint32_t n = 0; n < tiles.nodes; n++) {
        uint32_t other = n + (uint32_t)pim_random_below(random, 256 - n), kept = cell[other];
        cell[other] = cell[n];
        cell[n] = place[n] = kept;
    }
}

/* --- what estimators see --- */

/* Whether an edge passes between two neighbouring cells, along its row first: a second opinion. */
static bool passes(const struct pim_flow *flow, const uint32_t *place, uint32_t from, uint32_t to)
{
    int sx = (int)(place[flow->from] % 16), sy = (int)(place[flow->from] / 16);
    int dx = (int)(place[flow->to] % 16), dy = (int)(place[flow->to] / 16);
    int ax = (int)(from % 16), ay = (int)(from / 16), bx = (int)(to % 16), by = (int)(to / 16);
    if (ay == by && ay == sy)
        return bx > ax ? sx <= ax && bx <= dx : dx <= bx && ax <= sx;
    return ax == bx && ax == dx && (by > ay ? sy <= ay && by <= dy : dy <= by && ay <= sy);
}

static bool conflict(const struct pim_flow *a, const struct pim_flow *b, const uint32_t *place, bool directed)
{
    for (uint32_t cell = 0; cell < 256; cell++)
        for (unsigned south = 0; south < 2; south++) {
            uint32_t next = cell + (south ? 16 : 1);
            if (south ? cell >= 240 : cell % 16 == 15)
                continue;
            bool ahead[2] = {passes(a, place, cell, next), passes(b, place, cell, next)};
            bool back[2] = {passes(a, place, next, cell), passes(b, place, next, cell)};
            if (directed ? (ahead[0] && ahead[1]) || (back[0] && back[1])
                         : (ahead[0] || back[0]) && (ahead[1] || back[1]))
                return true;
        }
    return false;
}

static void hold_view(const struct pim_tile_view *view, const uint32_t *place, bool directed)
{
    static size_t pairs[2 * 46 * 46];
    struct pim_sparse wanted;
    struct pim_error error = {0};
    size_t count = 0;
    uint64_t crowd[46] = {0}, carried[46] = {0};
    for (uint32_t a = 0; a < tiles.edges; a++)
        for (uint32_t b = 0; b < tiles.edges; b++)
            if (a != b && conflict(&setting.flows[a], &setting.flows[b], place, directed)) {
                crowd[a]++;
                carried[a] += setting.flows[b].weight;
                if (a < b) {
                    pairs[2 * count] = a;
                    pairs[2 * count++ + 1] = b;
                }
            }
    ck_assert(pim_sparse_propagation(&wanted, tiles.edges, pairs, count, &error) == PIM_OK);
    ck_assert_mem_eq(wanted.start, view->conflicts.start, (tiles.edges + 1) * sizeof *wanted.start);
    ck_assert_mem_eq(wanted.column, view->conflicts.column,
                     wanted.start[tiles.edges] * sizeof *wanted.column);
    for (size_t k = 0; k < wanted.start[tiles.edges]; k++)
        ck_assert_double_eq_tol(wanted.value[k], view->conflicts.value[k], 1e-15);
    pim_sparse_terminate(&wanted);
    for (uint32_t e = 0; e < tiles.edges; e++) {
        const struct pim_flow *flow = &setting.flows[e];
        double wide = 8 * atan(1) / 16;
        uint32_t from_row = place[flow->from] / 16, to_row = place[flow->to] / 16;
        const double numbers[] = {(double)flow->weight / (double)setting.heaviest,
                                  pim_grid_distance(&mesh, place[flow->from], place[flow->to]) / 12.0,
                                  sin(wide * from_row),
                                  sin(wide * (place[flow->from] % 16)),
                                  sin(wide * to_row),
                                  sin(wide * (place[flow->to] % 16))};
        for (unsigned i = 0; i < PIM_TILE_EDGE_NUMBERS; i++)
            ck_assert_double_eq_tol(view->edge[e * PIM_TILE_EDGE_NUMBERS + i], numbers[i], 1e-15);
        ck_assert_double_eq(view->crowd[2 * e], (double)crowd[e] / 16);
        ck_assert_double_eq_tol(view->crowd[2 * e + 1], (double)carried[e] / (double)setting.heaviest / 16,
                                1e-15);
    }
}

START_TEST(views_are_what_a_second_look_sees)
{
    struct pim_random random;
    uint32_t place[256];
    pim_random_initialize(&random, 16);
    begin();
    for (unsigned directed = 0; directed < 2; directed++) {
        setting.directed = directed;
        struct pim_tile_view *view = pim_tile_view_create(&setting);
        ck_assert_ptr_nonnull(view);
        for (int i = 0; i < 10; i++) {
            draw_place(&random, place);
            pim_tile_view_look(view, place);
            hold_view(view, place, directed);
        }
        pim_tile_view_destroy(view);
    }
    end();
}
END_TEST

/* --- networks --- */

START_TEST(gradients_are_the_central_differences)
{
    struct pim_random random;
    struct pim_error error = {0};
    uint32_t place[256];
    pim_random_initialize(&random, 17);
    begin();
    draw_place(&random, place);
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++) {
        struct pim_tile_estimator estimator;
        ck_assert(pim_tile_estimator_make(&estimator, (enum pim_tile_estimator_kind)kind, tiles.edges,
                                          &error) == PIM_OK);
        pim_layers_initialize(estimator.layer, estimator.layers, &random, estimator.parameter);
        for (size_t i = 0; i < estimator.parameters; i++)
            estimator.parameter[i] += 0.02 * pim_random_unit(&random);
        struct pim_tile_estimation *estimation = pim_tile_estimation_create(&setting, &estimator);
        double *gradient = calloc(estimator.parameters, sizeof *gradient), largest = 0;
        ck_assert(estimation && gradient);
        (void)pim_tile_estimation_output(estimation, place, NULL);
        pim_tile_estimation_gradient(estimation, 3, gradient);
        for (size_t i = 0; i < estimator.parameters; i += estimator.parameters / 300 + 1) {
            double old = estimator.parameter[i], output[2];
            for (int side = 0; side < 2; side++) {
                estimator.parameter[i] = old + (side ? 1e-6 : -1e-6);
                output[side] = pim_tile_estimation_output(estimation, place, NULL);
            }
            estimator.parameter[i] = old;
            ck_assert_double_eq_tol(3 * (output[1] - output[0]) / 2e-6, gradient[i], 1e-6);
            largest = fmax(largest, fabs(gradient[i]));
        }
        ck_assert_double_gt(largest, 1e-3);
        free(gradient);
        pim_tile_estimation_destroy(estimation);
        pim_tile_estimator_terminate(&estimator);
    }
    end();
}
END_TEST

enum { SAMPLES = 64 };

/* Mappings whose latency is said to be the sum of what conflicting edges carry: no simulator. */
static void draw_samples(struct pim_tile_samples *samples, double *latency, uint32_t *places, uint64_t seed)
{
    struct pim_random random;
    struct pim_tile_view *view = pim_tile_view_create(&setting);
    pim_random_initialize(&random, seed);
    *samples = (struct pim_tile_samples){
        .nodes = tiles.nodes, .count = SAMPLES, .place = places, .latency_ns = latency};
    for (uint32_t i = 0; i < SAMPLES; i++) {
        draw_place(&random, places + i * tiles.nodes);
        pim_tile_view_look(view, places + i * tiles.nodes);
        latency[i] = 1000;
        for (uint32_t e = 0; e < tiles.edges; e++)
            latency[i] += 100 * view->crowd[2 * e + 1];
    }
    pim_tile_view_destroy(view);
}

static void make_weights(struct pim_tile_weights *weights, const char *configuration)
{
    struct pim_error error = {0};
    const struct pim_tile_identity identity = {&tiles, configuration, 2};
    ck_assert(pim_tile_weights_make(weights, &identity, &error) == PIM_OK);
    weights->seed = 5;
    weights->size = SAMPLES;
    weights->epochs = 40;
    weights->batch = 8;
    weights->populations = 2;
    weights->held_out = 1;
    weights->population = calloc(2, sizeof *weights->population);
    ck_assert_ptr_nonnull(weights->population);
    weights->population[0] = (struct pim_tile_population){PIM_TILE_RANDOM_NODE_GROUP, 77, 0, 0, SAMPLES, 0};
    weights->population[1] = (struct pim_tile_population){PIM_TILE_CONVERGED_HEURISTIC, 78, 300, 64, 60, 4};
}

/* Learns its samples, and the same bits for any number of threads. */
START_TEST(training_learns_and_does_not_depend_on_threads)
{
    static double latency[SAMPLES], estimate[SAMPLES];
    static uint32_t places[SAMPLES * 256];
    struct pim_tile_samples samples;
    struct pim_error error = {0};
    struct pim_tile_weights weights[3];
    begin();
    draw_samples(&samples, latency, places, 18);
    for (unsigned i = 0; i < 3; i++) {
        const struct pim_tile_training training = {
            .seed = 5, .epochs = i == 2 ? 0 : 40, .batch = 8, .threads = i == 1 ? 3 : 1};
        make_weights(&weights[i], "hardware");
        ck_assert_msg(pim_tile_train(weights[i].estimator, &setting, &samples, &training, &error) == PIM_OK,
                      "%s", error.text);
    }
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++) {
        const struct pim_tile_estimator *one = &weights[0].estimator[kind];
        double errors[2] = {0, 0};
        ck_assert_mem_eq(one->parameter, weights[1].estimator[kind].parameter,
                         one->parameters * sizeof *one->parameter);
        for (unsigned trained = 0; trained < 2; trained++) {
            struct pim_tile_estimation *estimation =
                pim_tile_estimation_create(&setting, &weights[trained ? 0 : 2].estimator[kind]);
            for (uint32_t i = 0; i < SAMPLES; i++) {
                estimate[i] = pim_tile_estimation_latency(estimation, places + i * tiles.nodes);
                errors[trained] += pow(log(estimate[i]) - log(latency[i]), 2);
            }
            pim_tile_estimation_destroy(estimation);
        }
        ck_assert_double_lt(errors[1], errors[0] / 2);
        ck_assert_double_gt(pim_correlation(SAMPLES, estimate, latency), kind == PIM_TILE_GCN ? 0.4 : 0.8);
    }
    for (unsigned i = 0; i < 3; i++)
        pim_tile_weights_terminate(&weights[i]);
    end();
}
END_TEST

static bool stopped(void *context)
{
    (void)context;
    return true;
}

START_TEST(trainings_that_cannot_be_are_refused)
{
    static double latency[SAMPLES];
    static uint32_t places[SAMPLES * 256];
    struct pim_tile_samples samples;
    struct pim_error error = {0};
    struct pim_tile_weights weights;
    struct pim_tile_training training = {.seed = 5, .epochs = 2, .batch = 8, .threads = 2, .stop = stopped};
    begin();
    make_weights(&weights, "hardware");
    draw_samples(&samples, latency, places, 18);
    ck_assert(pim_tile_train(weights.estimator, &setting, &samples, &training, &error) == PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "stopped"));
    training.stop = NULL;
    samples.count = 1;
    ck_assert(pim_tile_train(weights.estimator, &setting, &samples, &training, &error) == PIM_BAD_INPUT);
    pim_tile_weights_terminate(&weights);
    end();
}
END_TEST

/* --- the file --- */

static json_t *document(const struct pim_tile_weights *weights)
{
    struct pim_error error = {0};
    char *text = NULL;
    size_t size = 0;
    json_t *root;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    ck_assert_msg(pim_tile_weights_print(weights, file, &error) == PIM_OK, "%s", error.text);
    (void)fclose(file);
    ck_assert_msg(pim_json_parse("weights", text, size, &root, &error) == PIM_OK, "%s", error.text);
    free(text);
    return root;
}

START_TEST(weights_come_back_to_the_bit)
{
    struct pim_random random;
    struct pim_error error = {0};
    struct pim_tile_weights weights, again;
    pim_random_initialize(&random, 19);
    begin();
    make_weights(&weights, "one\ntwo\n");
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++) {
        struct pim_tile_estimator *estimator = &weights.estimator[kind];
        estimator->mean = 13.7 + pim_random_unit(&random);
        estimator->deviation = pim_random_unit(&random);
        for (size_t i = 0; i < estimator->parameters; i++)
            estimator->parameter[i] = pim_random_unit(&random) - 0.5;
    }
    json_t *root = document(&weights);
    ck_assert_msg(pim_tile_weights_take(&again, root, &error) == PIM_OK, "%s", error.text);
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++) {
        const struct pim_tile_estimator *a = &weights.estimator[kind], *b = &again.estimator[kind];
        ck_assert_uint_eq(a->parameters, b->parameters);
        ck_assert_mem_eq(a->parameter, b->parameter, a->parameters * sizeof *a->parameter);
        ck_assert_mem_eq(&a->mean, &b->mean, sizeof a->mean);
        ck_assert_mem_eq(&a->deviation, &b->deviation, sizeof a->deviation);
    }
    ck_assert_uint_eq(again.held_out, 1);
    ck_assert_uint_eq(again.population[1].seed, 78);
    ck_assert_uint_eq(again.population[1].still, 4);
    json_t *second = document(&again);
    ck_assert(json_equal(root, second));
    json_decref(second);
    json_decref(root);
    pim_tile_weights_terminate(&again);
    pim_tile_weights_terminate(&weights);
    end();
}
END_TEST

/* Every value of the document taken away, or replaced by what it cannot be. */
static void hold_refused(json_t *root)
{
    struct pim_tile_weights weights;
    struct pim_error error = {0};
    ck_assert(pim_tile_weights_take(&weights, root, &error) == PIM_BAD_INPUT);
    ck_assert_str_ne(error.text, "");
    pim_tile_weights_terminate(&weights);
}

static void spoil_members(json_t *root, json_t *object)
{
    void *iterator = json_object_iter(object);
    while (iterator) {
        const char *key = json_object_iter_key(iterator);
        json_t *kept = json_incref(json_object_iter_value(iterator));
        json_t *const wrong[] = {json_null(), json_integer(-1), json_string(""), json_real(-0.5)};
        for (unsigned i = 0; i < 4; i++) {
            bool fits = strcmp(key, "log_latency_mean") == 0 && i % 2 == 1; /* any number is a mean */
            ck_assert(json_object_iter_set(object, iterator, wrong[i]) == 0);
            if (!fits)
                hold_refused(root);
            json_decref(wrong[i]);
        }
        ck_assert(json_object_iter_set_new(object, iterator, kept) == 0);
        iterator = json_object_iter_next(object, iterator);
    }
}

START_TEST(spoilt_files_are_refused)
{
    struct pim_tile_weights weights;
    begin();
    make_weights(&weights, "hardware");
    json_t *root = document(&weights);
    json_t *estimator = json_array_get(json_object_get(root, "estimators"), 1);
    json_t *parameters = json_object_get(estimator, "parameters");
    spoil_members(root, root);
    spoil_members(root, estimator);
    spoil_members(root, json_array_get(json_object_get(root, "held_out"), 0));
    json_t *layer = json_array_get(json_object_get(estimator, "layers"), 0);
    ck_assert(json_array_set_new(layer, 1, json_integer(33)) == 0);
    hold_refused(root);
    ck_assert(json_array_set_new(layer, 1, json_integer(32)) == 0);
    ck_assert(json_array_set_new(parameters, 7, json_string("7")) == 0);
    hold_refused(root);
    ck_assert(json_array_set_new(parameters, 7, json_integer(7)) == 0);
    ck_assert(json_object_set_new(root, "edges", json_integer(45)) == 0);
    hold_refused(root);
    ck_assert(json_object_set_new(root, "edges", json_integer(46)) == 0);
    ck_assert(json_array_append_new(parameters, json_real(0)) == 0);
    hold_refused(root);
    ck_assert(json_array_remove(parameters, json_array_size(parameters) - 1) == 0);
    struct pim_error error = {0};
    struct pim_tile_weights good;
    ck_assert_msg(pim_tile_weights_take(&good, root, &error) == PIM_OK, "%s", error.text);
    pim_tile_weights_terminate(&good);
    json_decref(root);
    pim_tile_weights_terminate(&weights);
    end();
}
END_TEST

START_TEST(weights_are_of_one_graph_and_one_hardware)
{
    struct pim_tile_weights weights;
    struct pim_tile_graph other;
    struct pim_error error = {0};
    begin();
    make_weights(&weights, "name = 1\nlink = 8\n");
    struct pim_tile_identity identity = {&tiles, "name = 1\nlink = 8\n", 2};
    ck_assert(pim_tile_weights_fit(&weights, &identity, &error) == PIM_OK);
    identity.images = 3;
    ck_assert(pim_tile_weights_fit(&weights, &identity, &error) == PIM_BAD_INPUT);
    identity.images = 2;
    identity.configuration = "name = 1\nlink = 4\n";
    ck_assert(pim_tile_weights_fit(&weights, &identity, &error) == PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "(\"link = 8\", here \"link = 4\")"));
    identity.configuration = "name = 1\nlink = 8\n";
    weights.edges++; /* a file whose digest is right, and whose estimators read an edge more than there is */
    ck_assert(pim_tile_weights_fit(&weights, &identity, &error) == PIM_BAD_INPUT);
    weights.edges--;
    weights.nodes--;
    ck_assert(pim_tile_weights_fit(&weights, &identity, &error) == PIM_BAD_INPUT);
    weights.nodes++;
    make_recorded("cifar-alexnet", PIM_TILE_FIXED, &arena, &other); /* other times, the same edges */
    identity.graph = &other;
    ck_assert(pim_tile_weights_fit(&weights, &identity, &error) == PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "--train"));
    pim_tile_weights_terminate(&weights);
    end();
}
END_TEST

/* --- populations, verdicts, searches --- */

START_TEST(populations_have_their_own_seeds_and_true_latencies)
{
    static struct pim_hardware hardware = {.tiles.options = PIM_CONFLICT_DEFAULTS};
    struct pim_error error = {0};
    struct pim_tile_samples samples;
    void *replay;
    begin();
    ck_assert(pim_tiles_simulator.create(&hardware, &tiles, 1, &replay, &error) == PIM_OK);
    const struct pim_tile_mapping_options options = {.grid = mesh,
                                                     .population = 6,
                                                     .generations = 2,
                                                     .seed = 9,
                                                     .threads = 2,
                                                     .simulate = pim_tiles_simulator.run,
                                                     .simulate_context = replay};
    ck_assert_msg(pim_tile_samples_draw(&samples, &tiles, &options, 0, 2, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(samples.populations, 2 * PIM_TILE_SORTS);
    ck_assert_uint_eq(samples.count, 12 * PIM_TILE_SORTS);
    for (uint32_t p = 0; p < samples.populations; p++) {
        const struct pim_tile_population *population = &samples.population[p];
        ck_assert_uint_eq(population->first, 6 * p);
        ck_assert_uint_eq(population->generations, population->sort == PIM_TILE_RANDOM_NODE_GROUP ? 0 : 2);
        for (uint32_t q = 0; q < p; q++)
            ck_assert_uint_ne(population->seed, samples.population[q].seed);
        for (uint32_t i = population->first; i < population->first + population->count; i++) {
            const uint32_t *place = samples.place + i * tiles.nodes;
            double latency, interval;
            ck_assert(pim_tiles_simulator.run(replay, place, &no_limits, &latency, &interval, &error) ==
                      PIM_OK);
            ck_assert_double_eq(latency, samples.latency_ns[i]);
            ck_assert_uint_eq(samples.cost[i], pim_place_hops(&mesh, setting.flows, tiles.edges, place));
        }
    }
    pim_tile_samples_terminate(&samples);
    pim_tiles_simulator.destroy(replay);
    end();
}
END_TEST

START_TEST(verdicts_are_those_of_the_pick)
{
    const double estimate[] = {3, 1, 2, 5, 4}, latency[] = {30, 22, 20, 50, 40};
    struct pim_tile_judgement judgement;
    struct pim_error error = {0};
    ck_assert(pim_tile_judge_series(5, estimate, latency, &judgement, &error) == PIM_OK);
    ck_assert_double_eq_tol(judgement.regret, 0.1, 1e-15);
    ck_assert_double_eq_tol(judgement.rank_correlation, 0.9, 1e-15);
    ck_assert_double_eq_tol(judgement.correlation, 76 / sqrt(10 * 635.2), 1e-12);
    ck_assert(pim_tile_judge_series(1, estimate, latency, &judgement, &error) == PIM_OK);
    ck_assert_double_eq(judgement.regret, 0);
    ck_assert(isnan(judgement.correlation));
}
END_TEST

START_TEST(searches_by_estimators_are_the_same_for_any_threads)
{
    struct pim_random random;
    struct pim_error error = {0};
    pim_random_initialize(&random, 21);
    begin();
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++)
        for (unsigned mapping = PIM_TILE_HEURISTIC; mapping < PIM_TILE_MAPPINGS; mapping++) {
            struct pim_tile_estimator estimator;
            struct pim_tile_mapping_result result, other;
            uint32_t place[256], again[256];
            ck_assert(pim_tile_estimator_make(&estimator, (enum pim_tile_estimator_kind)kind, tiles.edges,
                                              &error) == PIM_OK);
            pim_layers_initialize(estimator.layer, estimator.layers, &random, estimator.parameter);
            struct pim_tile_mapping_options options = {.mapping = (enum pim_tile_mapping)mapping,
                                                       .fitness =
                                                           (enum pim_tile_fitness)(PIM_TILE_BY_MLP + kind),
                                                       .grid = mesh,
                                                       .population = 8,
                                                       .generations = 3,
                                                       .seed = 3,
                                                       .threads = 1,
                                                       .estimator = &estimator,
                                                       .setting = &setting};
            ck_assert_msg(pim_tile_map(&tiles, &options, place, &result, &error) == PIM_OK, "%s", error.text);
            options.threads = 3;
            ck_assert(pim_tile_map(&tiles, &options, again, &other, &error) == PIM_OK);
            ck_assert_mem_eq(place, again, tiles.nodes * sizeof *place);
            struct pim_tile_estimation *estimation = pim_tile_estimation_create(&setting, &estimator);
            if (mapping != PIM_TILE_NSGA2)
                ck_assert_double_eq(pim_tile_estimation_latency(estimation, place), result.search.best);
            pim_tile_estimation_destroy(estimation);
            options.fitness = kind == 0 ? PIM_TILE_BY_GCN : PIM_TILE_BY_MLP;
            ck_assert(pim_tile_map(&tiles, &options, again, &other, &error) == PIM_BAD_INPUT);
            pim_tile_estimator_terminate(&estimator);
        }
    end();
}
END_TEST

START_TEST(options_that_do_nothing_are_refused)
{
    struct pim_error error = {0};
    struct pim_conflict_choices choices = {.fitness = PIM_TILE_BY_GCN};
    ck_assert(pim_conflict_mapper.accept(&choices, false, &error) == PIM_USAGE);
    choices.weights = "w.json";
    ck_assert(pim_conflict_mapper.accept(&choices, false, &error) == PIM_OK);
    choices.judge = true;
    ck_assert(pim_conflict_mapper.accept(&choices, false, &error) == PIM_OK);
    choices.train = "t.json";
    ck_assert(pim_conflict_mapper.accept(&choices, false, &error) == PIM_USAGE);
    choices = (struct pim_conflict_choices){.judge = true};
    ck_assert(pim_conflict_mapper.accept(&choices, false, &error) == PIM_USAGE);
}
END_TEST

Suite *conflict_estimators_suite(void)
{
    Suite *suite = suite_create("conflict_estimators");
    TCase *tests = tcase_create("estimators");
    tcase_add_test(tests, views_are_what_a_second_look_sees);
    tcase_add_test(tests, gradients_are_the_central_differences);
    tcase_add_test(tests, training_learns_and_does_not_depend_on_threads);
    tcase_add_test(tests, trainings_that_cannot_be_are_refused);
    tcase_add_test(tests, weights_come_back_to_the_bit);
    tcase_add_test(tests, spoilt_files_are_refused);
    tcase_add_test(tests, weights_are_of_one_graph_and_one_hardware);
    tcase_add_test(tests, populations_have_their_own_seeds_and_true_latencies);
    tcase_add_test(tests, verdicts_are_those_of_the_pick);
    tcase_add_test(tests, searches_by_estimators_are_the_same_for_any_threads);
    tcase_add_test(tests, options_that_do_nothing_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
