/*
 * Runs of traces end when the replay of the same graph and mapping ends, to the tick: all recorded graphs and
 * mappings, both ways of switching, all kinds of routes and arbiters, one image and several. What is
 * counted is the same too.
 */
#include "mappers/conflict/emit.h"
#include "mappers/conflict/mapping.h"
#include "mappers/network/descriptor/descriptor.h"
#include "models/system/report/steps.h"
#include "tests/unit/test_main.h"
#include "tests/unit/tile/suites.h"
#include "tests/unit/tile/support.h"
#include "tools/library/tiles.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct net {
    const char *recorded, *files; /* `files` NULL: a network of configs/networks, placed as a snake */
    struct pim_network *network;  /* names live in it */
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_task_graph *graph; /* as it was recorded */
};

static void make_network(struct net *net, const struct pim_tile_hardware *hardware)
{
    struct pim_tile_layer *layers;
    uint32_t count;
    struct pim_error error = {0};
    char relative[128], path[1024];
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", net->recorded);
    ck_assert_msg(pim_network_read(pimsim_source_path(path, sizeof path, relative), NULL, 0, &net->network,
                                   &error) == PIM_OK,
                  "%s", error.text);
    ck_assert(pim_tile_layers_of(&net->network->graph, &net->arena, &layers, &count, &error) == PIM_OK);
    ck_assert(pim_tile_graph_make(&net->tiles, net->recorded, layers, count, hardware, &net->arena, &error) ==
              PIM_OK);
    ck_assert_msg(pim_tiles_task_graph(&net->tiles, &net->graph, &error) == PIM_OK, "%s", error.text);
}

static void make_net(struct net *net)
{
    struct pim_tile_layer *layers;
    uint32_t count;
    const struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    struct pim_error error = {0};
    char relative[128], path[1024];
    pim_arena_initialize(&net->arena, 0);
    if (!net->files) {
        make_network(net, &hardware);
        return;
    }
    ck_assert(pim_tile_layers_named(net->recorded, &net->arena, &layers, &count));
    ck_assert_msg(pim_tile_graph_make(&net->tiles, net->recorded, layers, count, &hardware, &net->arena,
                                      &error) == PIM_OK,
                  "%s", error.text);
    (void)snprintf(relative, sizeof relative, "tests/data/conflict/%s", net->files);
    ck_assert_msg(pim_task_graph_read(pimsim_source_path(path, sizeof path, relative), &net->graph, &error) ==
                      PIM_OK,
                  "%s", error.text);
}

static void end_net(struct net *net)
{
    pim_network_destroy(net->network);
    pim_task_graph_destroy(net->graph);
    pim_arena_terminate(&net->arena);
}

/* The estimate for the hardware of a run; without one: none. */
static void make_estimate(const struct net *net, const uint32_t *place, uint32_t images, struct tile_run *run,
                          const struct pim_machine_tiles *machine, struct pim_tile_estimate *estimate)
{
    const struct pim_mapper_tiles *simulator = &pim_tiles_simulator;
    const struct pim_tile_limits limits = {.latency_ns = 0};
    struct pim_error error = {0};
    struct pim_hardware hardware;
    void *replay = NULL;
    if (run) {
        ck_assert_msg(read_tiles(run, &hardware) == PIM_OK, "%s", run->error.text);
        ck_assert(simulator->create(&hardware, &net->tiles, images, &replay, &error) == PIM_OK);
        ck_assert((simulator->differs(replay) == NULL) == !run->differs);
    }
    ck_assert_msg(pim_tile_estimate_make(estimate, &net->tiles, place, machine, images, simulator, replay,
                                         &limits, &error) == PIM_OK,
                  "%s", error.text);
    ck_assert_int_eq(estimate->known, run != NULL);
    simulator->destroy(replay);
}

/* The trace of a mapping, with the estimate for the hardware of a run; with tables where the options make
 * them. */
static void write_trace(const struct net *net, const uint32_t *place, uint32_t images, struct tile_run *run,
                        const struct pim_behaviour *table, const char *path)
{
    const struct pim_machine_tiles machine = {
        .width = 16, .height = 16, .link_gbps = 8, .logic_khz = 1000000};
    const struct pim_trace_description description = {
        .family = "conflict", .width = 16, .height = 16, .units = 256};
    const struct pim_tile_limits limits = {.latency_ns = 0};
    struct pim_tile_estimate estimate;
    struct pim_trace_writer *writer;
    struct pim_error error = {0};
    make_estimate(net, place, images, run, &machine, &estimate);
    ck_assert(pim_trace_writer_create(path, &description, &writer, &error) == PIM_OK);
    ck_assert_msg(pim_tile_emit(&net->tiles, place, images, &estimate, &limits, writer, &error) == PIM_OK,
                  "%s", error.text);
    if (table)
        ck_assert(pim_behaviour_put(table, writer, &error) == PIM_OK);
    ck_assert_msg(pim_trace_writer_finish(writer, &error) == PIM_OK, "%s", error.text);
    pim_tile_estimate_terminate(&estimate);
}

struct schedule {
    const char *switching, *routing, *arbiter;
    bool ideal;
    uint32_t images;
};

static unsigned index_of(const char *name, const char *(*names)(unsigned))
{
    unsigned i = 0;
    while (strcmp(names(i), name) != 0)
        i++;
    return i;
}

static void hold_counts(const struct tile_run *run, const struct net *net,
                        const struct pim_conflict_result *wanted)
{
    const struct pim_tiles *tiles = pim_system_tiles(run->system);
    const struct pim_conflict_result *counted = pim_conflict_network_result(tiles->network);
    uint64_t waits = 0, seen_waits = 0;
    ck_assert_uint_eq(run->result.noc.packets_delivered, wanted->packets);
    ck_assert_uint_eq(run->result.actions.noc_bit_hops, wanted->bit_hops);
    for (uint32_t e = 0; e < net->graph->edges; e++) {
        ck_assert_uint_eq(counted->task[e].packets, wanted->task[e].packets);
        ck_assert_uint_eq(counted->task[e].hops, wanted->task[e].hops);
        ck_assert_uint_eq(counted->task[e].last_end, wanted->task[e].last_end);
        waits += wanted->task[e].wait_fixed;
        seen_waits += counted->task[e].wait_fixed;
    }
    ck_assert_uint_eq(seen_waits, waits);
    ck_assert_uint_eq(counted->links, wanted->links);
    for (uint32_t i = 0; i < wanted->links; i++)
        ck_assert_uint_eq(counted->link[i].held_bits, wanted->link[i].held_bits);
    uint64_t phases = 0; /* packets belong to the phase that made them: the sums are those of the run */
    for (uint32_t p = 0; p < run->system->phase_count; p++)
        phases += run->system->phases[p].actions.noc_bit_hops;
    ck_assert_uint_eq(phases, wanted->bit_hops);
}

/* What every phase adds, and the run, in shares of themselves. */
static void hold_estimates(const struct tile_run *run, double most, double most_of_run)
{
    const struct pim_system *system = run->system;
    uint64_t frontier = 0, estimated = 0;
    for (uint32_t p = 0; p < system->phase_count; p++) {
        const struct pim_trace_phase *phase = pim_trace_phase(run->trace, p);
        uint64_t adds = pim_phase_advance(pim_system_cycles(system, system->phases[p].end), &frontier);
        uint64_t off =
            adds > phase->estimate_cycles ? adds - phase->estimate_cycles : phase->estimate_cycles - adds;
        estimated += phase->estimate_cycles;
        ck_assert_msg(isinf(most) || (double)off <= most * (double)adds + 1,
                      "%s: estimated with %" PRIu64 " cycles, adds %" PRIu64, phase->name,
                      phase->estimate_cycles, adds);
    }
    uint64_t cycles = run->result.cycles, off = cycles > estimated ? cycles - estimated : estimated - cycles;
    ck_assert_msg((double)off <= most_of_run * (double)cycles + 1,
                  "%" PRIu64 " cycles estimated, %" PRIu64 " simulated", estimated, cycles);
}

static uint32_t *place_of(const struct net *net, const char *mapping)
{
    const struct pim_conflict_mesh mesh = {16, 16};
    char relative[128], file[1024];
    uint32_t *place;
    struct pim_error error = {0};
    (void)snprintf(relative, sizeof relative, "tests/data/conflict/%s.mappings.json",
                   net->files ? net->files : "");
    ck_assert_msg(
        pim_conflict_place_named(net->files ? pimsim_source_path(file, sizeof file, relative) : NULL, mapping,
                                 net->graph, &mesh, &place, &error) == PIM_OK,
        "%s", error.text);
    return place;
}

static void hold_equal(const struct net *net, const char *mapping, const struct schedule *schedule)
{
    struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
    struct pim_error error = {0};
    struct pim_conflict_result wanted;
    struct pim_behaviour table = {.router = NULL};
    char path[64], settings[6][64];
    uint32_t *place = place_of(net, mapping);
    bool tables = strcmp(schedule->routing, "table") == 0;
    options.arithmetic = PIM_CONFLICT_EXACT;
    options.images = schedule->images;
    options.ideal = schedule->ideal;
    options.input_bits = options.output_bits = net->files ? options.input_bits : 1 << 26;
    options.arbiter = (enum pim_conflict_arbiter)index_of(schedule->arbiter, pim_conflict_arbiter_name);
    if (tables) { /* made by a run on free paths */
        ck_assert(pim_behaviour_initialize(&table, &options.mesh, &error) == PIM_OK);
        options.routing = PIM_CONFLICT_ADAPTIVE;
        options.make_table = &table;
        ck_assert(pim_conflict_run(net->graph, place, &options, &wanted, &error) == PIM_OK);
        pim_conflict_result_terminate(&wanted);
        options.make_table = NULL;
        options.table = &table;
    }
    options.routing = (enum pim_conflict_routing)index_of(schedule->routing, pim_conflict_routing_name);
    options.switching = (enum pim_switching)index_of(schedule->switching, pim_switching_name);
    ck_assert_msg(pim_conflict_run(net->graph, place, &options, &wanted, &error) == PIM_OK, "%s", error.text);
    tile_path(path);
    (void)snprintf(settings[0], 64, "tile.switching=%s", schedule->switching);
    (void)snprintf(settings[1], 64, "tile.routing=%s", schedule->routing);
    (void)snprintf(settings[2], 64, "tile.arbiter=%s",
                   options.arbiter == PIM_CONFLICT_ROUND_ROBIN ? "round_robin" : schedule->arbiter);
    (void)snprintf(settings[3], 64, "tile.ideal=%s", schedule->ideal ? "true" : "false");
    (void)snprintf(settings[4], 64, "tile.input_buffer_bits=%" PRIu64, options.input_bits);
    (void)snprintf(settings[5], 64, "tile.output_buffer_bits=%" PRIu64, options.output_bits);
    struct tile_run run = {
        .settings = {settings[0], settings[1], settings[2], settings[3], settings[4], settings[5]}};
    write_trace(net, place, schedule->images, &run, tables ? &table : NULL, path);
    run_tiles(&run, path);
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    ck_assert_msg(run.result.end == wanted.end,
                  "%s %s %s %s %s, %" PRIu32 " images: ends at %" PRIu64 " fs, the replay at %" PRIu64,
                  net->recorded, mapping, schedule->switching, schedule->routing, schedule->arbiter,
                  schedule->images, run.result.end, wanted.end);
    hold_counts(&run, net, &wanted);
    hold_estimates(&run, 0, 0);
    end_tiles(&run);
    (void)unlink(path);
    pim_conflict_result_terminate(&wanted);
    pim_behaviour_terminate(&table);
    free(place);
}

static const struct schedule schedules[] = {
    {"path_hold", "xy", "fixed", false, 1},       {"path_hold", "xy", "fixed", true, 1},
    {"path_hold", "xy", "balance", false, 1},     {"path_hold", "yx", "fixed", false, 2},
    {"path_hold", "adaptive", "fixed", false, 1}, {"path_hold", "adaptive", "balance", false, 2},
    {"path_hold", "table", "balance", false, 1},  {"saf", "xy", "fixed", false, 1},
    {"saf", "xy", "balance", false, 2},           {"saf", "table", "balance", false, 1},
    {"path_hold", "xy", "fifo", false, 1},        {"path_hold", "xy", "round-robin", false, 2},
    {"saf", "yx", "round-robin", false, 1},
};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

/* Every schedule; each with a quarter of the mappings under a sanitizer, where they take turns. */
START_TEST(runs_end_with_their_replays)
{
    static const char *const mappings[] = {"naive_rowmajor", "snake", "impact", "node_group_best"};
    struct net net = {.recorded = "cifar-alexnet", .files = "cifar_alexnet"};
    make_net(&net);
    for (int m = 0; m < PIM_CASES(4); m++)
        hold_equal(&net, mappings[(m + _i) % 4], &schedules[_i]);
    end_net(&net);
}
END_TEST

START_TEST(runs_of_more_tiles_end_with_their_replays)
{
    struct net net = {.recorded = "cifar-vgg8", .files = "cifar_vgg8"};
    make_net(&net);
    hold_equal(&net, "node_group_best", &schedules[PIM_CASE(_i)]);
    end_net(&net);
}
END_TEST

/* Tables of a mapping lead the packets of another one to the wrong tiles. */
START_TEST(tables_of_another_mapping_are_refused)
{
    static const char *const switchings[] = {"tile.switching=path_hold", "tile.switching=saf"};
    struct net net = {.recorded = "cifar-alexnet", .files = "cifar_alexnet"};
    struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
    struct pim_conflict_result made;
    struct pim_behaviour table;
    struct pim_error error = {0};
    char path[64];
    make_net(&net);
    uint32_t *place = place_of(&net, "snake"), *other = place_of(&net, "node_group_best");
    ck_assert(pim_behaviour_initialize(&table, &options.mesh, &error) == PIM_OK);
    options.routing = PIM_CONFLICT_ADAPTIVE;
    options.make_table = &table;
    ck_assert(pim_conflict_run(net.graph, place, &options, &made, &error) == PIM_OK);
    pim_conflict_result_terminate(&made);
    tile_path(path);
    write_trace(&net, other, 1, NULL, &table, path);
    for (size_t i = 0; i < 2; i++) {
        struct tile_run run = {.settings = {switchings[i], "tile.routing=table"}};
        run_tiles(&run, path);
        ck_assert_int_eq(run.status, PIM_BAD_INPUT);
        ck_assert_msg(strstr(run.error.text, "behaviour table") != NULL, "%s", run.error.text);
        end_tiles(&run);
    }
    (void)unlink(path);
    pim_behaviour_terminate(&table);
    free(place);
    free(other);
    end_net(&net);
}
END_TEST

/* Worms go through the routers of the run, whatever these are; keys of the other networks may be of anything
 * that a configuration was before. */
static const struct worms {
    const char *settings[5];
    uint32_t images;
} worms[] = {
    {{"noc.link_bits_per_cycle=3"}, 1},
    {{"noc.terminal_bits_per_cycle=3"}, 1},
    {{"noc.link_gigabits_per_second=2.5", "noc.terminal_gigabits_per_second=2.5"}, 1},
    {{"noc.routing=yx", "tile.arbiter=balance"}, 2},
    {{"noc.topology=torus", "noc.virtual_channels=4"}, 1},
    {{"noc.fidelity=ideal"}, 1},
    {{"noc.fidelity=analytic"}, 3},
    {{"clock.network_khz=800000", "noc.flit_bits=16"}, 1},
    {{"tile.router_packets=1", "tile.router_delay_ns=1000", "tile.half_duplex=true", "tile.routing=yx"}, 1},
};
enum { WORMS = sizeof worms / sizeof worms[0] };

static void hold_worms(struct net *net, const char *mapping, struct tile_run *run, uint32_t images,
                       double most, double most_of_run)
{
    char path[64];
    make_net(net);
    uint32_t *place = place_of(net, mapping);
    tile_path(path);
    write_trace(net, place, images, run, NULL, path);
    run_tiles(run, path);
    ck_assert_msg(run->status == PIM_OK, "%s", run->error.text);
    hold_estimates(run, most, most_of_run);
    end_tiles(run);
    (void)unlink(path);
    free(place);
    end_net(net);
}

START_TEST(worms_are_replayed_whatever_the_network)
{
    const struct worms *of = &worms[PIM_CASE(_i)];
    struct net net = {.recorded = "cifar-alexnet", .files = "cifar_alexnet"};
    struct tile_run run = {.settings = {"tile.switching=wormhole"}};
    for (size_t i = 0; of->settings[i]; i++)
        run.settings[1 + i] = of->settings[i];
    hold_worms(&net, "snake", &run, of->images, 0, 0);
}
END_TEST

START_TEST(worms_are_replayed)
{
    static const char *const mappings[] = {"naive_rowmajor", "snake", "impact", "node_group_best"};
    const struct net nets[] = {{.recorded = "cifar-alexnet", .files = "cifar_alexnet"},
                               {.recorded = "cifar-vgg8", .files = "cifar_vgg8"}};
    const int which = PIM_CASE(_i);
    struct net net = nets[which / 4];
    struct tile_run run = {.settings = {"tile.switching=wormhole"}};
    hold_worms(&net, mappings[which % 4], &run, 1, 0, 0);
}
END_TEST

#ifndef PIMSIM_SANITIZED
/* More flits than are replayed one by one: worms whole. */
START_TEST(many_worms_are_replayed_whole)
{
    struct net net = {.recorded = "cifar-vgg8", .files = "cifar_vgg8"};
    struct tile_run run = {.settings = {"tile.switching=wormhole"}, .differs = true};
    hold_worms(&net, "node_group_best", &run, 5, HUGE_VAL, 0.01);
}
END_TEST
#endif

/* A transformer, and maps of ImageNet. */
START_TEST(other_networks_too)
{
    static const char *const names[] = {"vit-t", "resnet18"};
    for (size_t i = 0; i < 2; i++) {
        struct net net = {.recorded = names[i]};
        make_net(&net);
        hold_equal(&net, "snake", &(struct schedule){"path_hold", "xy", "balance", false, 1});
        end_net(&net);
    }
}
END_TEST

Suite *tile_replay_suite(void)
{
    Suite *suite = suite_create("tile_replay");
    TCase *cases = tcase_create("replay");
    tcase_add_loop_test(cases, runs_end_with_their_replays, 0, SCHEDULES);
    tcase_add_loop_test(cases, runs_of_more_tiles_end_with_their_replays, 0, PIM_CASES(SCHEDULES));
    tcase_add_loop_test(cases, worms_are_replayed, 0, PIM_CASES(8));
    tcase_add_loop_test(cases, worms_are_replayed_whatever_the_network, 0, PIM_CASES(WORMS));
#ifndef PIMSIM_SANITIZED
    tcase_add_test(cases, many_worms_are_replayed_whole);
#endif
    tcase_add_test(cases, tables_of_another_mapping_are_refused);
    tcase_add_test(cases, other_networks_too);
    suite_add_tcase(suite, cases);
    return suite;
}
