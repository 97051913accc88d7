/*
 * pimsim-bench noc: the flit-level mesh. Flit-hops (flits x routers traversed) per CPU second under uniform
 * traffic of short packets, and flits and packet-hops per CPU second for rings of long worms, each with
 * routers that sleep and with routers that are stepped every cycle, in the same run.
 */
#include "tools/bench/bench.h"

#include "models/noc/noc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct result {
    double seconds;
    uint64_t cycles;
    struct pim_noc_statistics statistics;
};

static struct pim_noc *create(const struct pim_noc_configuration *configuration,
                              const struct pim_noc_callbacks *callbacks)
{
    struct pim_noc *noc;
    struct pim_error error = {0};
    if (pim_noc_create(configuration, NULL, 1, callbacks, &noc, &error) != PIM_OK) {
        fprintf(stderr, "pimsim-bench: %s\n", error.text);
        exit(EXIT_FAILURE);
    }
    return noc;
}

/* What routes the flits: the fast mesh, or the general routers with links of so many of a flit's 64 bits. */
enum { FAST_MESH = 0, WHOLE_FLIT = 64 };

static struct pim_noc_configuration mesh(uint32_t side, uint32_t link_bits, bool step_every_cycle)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = configuration.height = side;
    configuration.virtual_channels = 8;
    configuration.step_every_cycle = step_every_cycle;
    configuration.general = link_bits != FAST_MESH;
    configuration.link_bits = (struct pim_noc_bits){link_bits, 1};
    return configuration;
}

struct load {
    uint32_t side, flits, one_in; /* every node begins a packet in one of so many cycles */
    uint64_t cycles;
    uint32_t link_bits; /* FAST_MESH, or of the general routers */
    enum pim_noc_topology_kind topology;
    enum pim_noc_routing_kind routing;
};

/* Every node sends packets to random nodes (itself included), at random; then the network drains. */
static struct result run_uniform(const struct load *load, bool step_every_cycle)
{
    struct pim_noc_configuration configuration = mesh(load->side, load->link_bits, step_every_cycle);
    configuration.topology = load->topology;
    configuration.routing = load->routing;
    struct pim_noc *noc = create(&configuration, NULL);
    uint32_t nodes = load->side * load->side;
    uint64_t state = 1, count = 0, sent = 0, capacity = load->cycles * nodes / load->one_in * 5 / 4 + 1000;
    struct {
        uint32_t cycle;
        uint32_t source, destination;
    } *list = bench_allocate((size_t)capacity, sizeof *list);
    for (uint32_t cycle = 0; cycle < load->cycles; cycle++)
        for (uint32_t node = 0; node < nodes; node++)
            if (bench_random(&state) % load->one_in == 0 && count < capacity) {
                list[count].cycle = cycle;
                list[count].source = node;
                list[count++].destination = (uint32_t)(bench_random(&state) >> 32) % nodes;
            }
    struct result result = {0};
    double start = bench_cpu_ns();
    for (;;) {
        uint64_t cycle = pim_noc_next_cycle(noc);
        if (sent < count && list[sent].cycle < cycle)
            cycle = list[sent].cycle;
        if (cycle == UINT64_MAX)
            break;
        for (; sent < count && list[sent].cycle == cycle; sent++)
            pim_noc_send_at(noc, cycle, list[sent].source, list[sent].destination, load->flits, sent);
        pim_noc_step(noc, cycle);
        result.cycles = cycle + 1;
    }
    result.seconds = (bench_cpu_ns() - start) * 1e-9;
    pim_noc_get_statistics(noc, &result.statistics);
    pim_noc_destroy(noc);
    free(list);
    return result;
}

enum ring { COLUMNS = 1, ROWS = 2 };

struct rings {
    struct pim_noc *noc;
    uint32_t side, rounds, flits;
    unsigned kinds;  /* set of enum ring */
    uint64_t cycle;  /* in which the next packet is created */
    uint32_t *round; /* of each node */
};

/* The packet's value: its ring. A node sends the next one when the tail of the last one has left. */
static void send_next(struct rings *rings, uint32_t source)
{
    uint32_t round = rings->round[source]++, side = rings->side;
    if (round >= rings->rounds)
        return;
    uint32_t x = source % side, y = source / side;
    bool column = rings->kinds == COLUMNS || (rings->kinds == (COLUMNS | ROWS) && round % 2 == 0);
    uint32_t destination = column ? x + (y + 1) % side * side : (x + 1) % side + y * side;
    pim_noc_send_at(rings->noc, rings->cycle, source, destination, rings->flits, column);
}

static void injected(void *context, uint64_t packet, uint32_t source)
{
    (void)packet;
    send_next(context, source);
}

static struct result run_rings(uint32_t link_bits, unsigned kinds, uint32_t flits, uint32_t rounds,
                               bool step_every_cycle)
{
    const uint32_t side = 16;
    struct pim_noc_configuration configuration = mesh(side, link_bits, step_every_cycle);
    struct rings rings = {.side = side, .rounds = rounds, .flits = flits, .kinds = kinds};
    struct pim_noc_callbacks callbacks = {.context = &rings, .injected = injected};
    rings.noc = create(&configuration, &callbacks);
    rings.round = bench_allocate((size_t)side * side, sizeof *rings.round);
    memset(rings.round, 0, (size_t)side * side * sizeof *rings.round);
    struct result result = {0};
    double start = bench_cpu_ns();
    for (uint32_t node = 0; node < side * side; node++)
        send_next(&rings, node);
    for (uint64_t cycle; (cycle = pim_noc_next_cycle(rings.noc)) != UINT64_MAX;) {
        rings.cycle = cycle + 1;
        pim_noc_step(rings.noc, cycle);
        result.cycles = cycle + 1;
    }
    result.seconds = (bench_cpu_ns() - start) * 1e-9;
    pim_noc_get_statistics(rings.noc, &result.statistics);
    pim_noc_destroy(rings.noc);
    free(rings.round);
    return result;
}

static void print_line(const char *name, const struct result *fast, const struct result *slow)
{
    const struct pim_noc_statistics *statistics = &fast->statistics;
    double slow_rate = (double)slow->statistics.flit_hops / slow->seconds;
    double rate = (double)statistics->flit_hops / fast->seconds;
    printf("%-32s %8.3f %9.2f %10.2f %11.3f %9.2f %8.1f\n", name, fast->seconds,
           (double)statistics->flits_delivered / fast->seconds * 1e-6, rate * 1e-6,
           (double)statistics->hops / fast->seconds * 1e-6,
           (double)statistics->router_evaluations / (double)statistics->hops, rate / slow_rate);
}

static void bench_uniform(struct load load)
{
    char name[64];
    struct result fast = run_uniform(&load, false);
    load.cycles = load.cycles / 4 + 1;
    struct result slow = run_uniform(&load, true);
    const char *what = load.topology == PIM_NOC_TORUS ? "torus"
                       : load.routing == PIM_NOC_XY   ? "uniform"
                                                      : pim_noc_routing_name(load.routing);
    (void)snprintf(name, sizeof name, "%s%s %.4g, %" PRIu32 "x%" PRIu32 ", %" PRIu32 " flit%s",
                   load.link_bits != FAST_MESH ? "general, " : "", what, (double)load.flits / load.one_in,
                   load.side, load.side, load.flits, load.flits == 1 ? "" : "s");
    print_line(name, &fast, &slow);
}

static void bench_rings(uint32_t link_bits, unsigned kinds, uint32_t flits, uint32_t scale)
{
    char name[64];
    uint32_t rounds = scale * (link_bits == FAST_MESH ? 400 : 20) / (flits < 400 ? 1 : flits / 400) + 1;
    struct result fast = run_rings(link_bits, kinds, flits, rounds, false);
    struct result slow = run_rings(link_bits, kinds, flits, 4000 / flits + 2, true);
    (void)snprintf(name, sizeof name, "%s rings, 16x16, %" PRIu32 " flits",
                   kinds == COLUMNS ? "column"
                   : kinds == ROWS  ? "row"
                                    : "both",
                   flits);
    if (link_bits != FAST_MESH)
        (void)snprintf(name, sizeof name, "general, column rings, %" PRIu32 " bits", link_bits);
    print_line(name, &fast, &slow);
}

int bench_noc(int count, char **arguments)
{
    uint64_t scale = 1;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--help") == 0) {
            printf("usage: pimsim-bench noc [--scale N]\n\n  --scale N   repeats the workloads N times as "
                   "long (1 to 100)\n");
            return 0;
        }
        if (strcmp(arguments[i], "--scale") != 0 || i + 1 >= count) {
            fprintf(stderr, "pimsim-bench noc: unknown option '%s'\n", arguments[i]);
            return 2;
        }
        if (!bench_count("--scale", arguments[++i], 1, 100, &scale))
            return 2;
    }
    printf("clock %.2f GHz; millions per CPU second; speedup of sleeping over stepping every cycle, in "
           "flit-hops per CPU second\n",
           bench_clock_ghz());
    printf("%-32s %8s %9s %10s %11s %9s %8s\n", "workload", "CPU s", "flits", "flit-hops", "packet-hops",
           "eval/hop", "speedup");
    bench_uniform((struct load){8, 1, 5, 40000 * scale, FAST_MESH, PIM_NOC_MESH, PIM_NOC_XY});
    bench_uniform((struct load){16, 1, 5, 10000 * scale, FAST_MESH, PIM_NOC_MESH, PIM_NOC_XY});
    bench_uniform((struct load){8, 5, 25, 40000 * scale, FAST_MESH, PIM_NOC_MESH, PIM_NOC_XY});
    bench_uniform((struct load){8, 9, 45, 40000 * scale, FAST_MESH, PIM_NOC_MESH, PIM_NOC_XY});
    bench_uniform((struct load){8, 16, 80, 40000 * scale, FAST_MESH, PIM_NOC_MESH, PIM_NOC_XY});
    bench_uniform((struct load){8, 128, 640, 40000 * scale, FAST_MESH, PIM_NOC_MESH, PIM_NOC_XY});
    bench_uniform((struct load){64, 1, 20, 1000 * scale, FAST_MESH, PIM_NOC_MESH,
                                PIM_NOC_XY}); /* as many flits in a router as above */
    bench_uniform((struct load){128, 1, 40, 700 * scale, FAST_MESH, PIM_NOC_MESH, PIM_NOC_XY});
    bench_uniform((struct load){64, 1, 833, 15000 * scale, FAST_MESH, PIM_NOC_MESH,
                                PIM_NOC_XY}); /* 2 % of what the mesh can take */
    for (uint32_t flits = 100; flits <= 2000; flits *= flits == 100 ? 5 : 4)
        bench_rings(FAST_MESH, COLUMNS, flits, (uint32_t)scale);
    bench_rings(FAST_MESH, ROWS, 500, (uint32_t)scale);
    bench_rings(FAST_MESH, COLUMNS | ROWS, 500, (uint32_t)scale);
    for (uint32_t bits = FAST_MESH; bits <= WHOLE_FLIT; bits += WHOLE_FLIT) { /* the same packets on both */
        uint64_t cycles = (bits == FAST_MESH ? 40000 : 20000) * scale;
        bench_uniform((struct load){8, 1, 5, cycles, bits, PIM_NOC_TORUS, PIM_NOC_XY});
        bench_uniform((struct load){8, 5, 25, cycles, bits, PIM_NOC_TORUS, PIM_NOC_XY});
        bench_uniform((struct load){8, 16, 80, cycles, bits, PIM_NOC_TORUS, PIM_NOC_XY});
        bench_uniform((struct load){16, 5, 25, cycles / 4, bits, PIM_NOC_TORUS, PIM_NOC_XY});
        bench_uniform((struct load){8, 5, 25, cycles, bits, PIM_NOC_MESH, PIM_NOC_O1TURN});
        bench_uniform((struct load){8, 5, 25, cycles, bits, PIM_NOC_MESH, PIM_NOC_VALIANT});
    }
    bench_uniform((struct load){8, 1, 5, 20000 * scale, WHOLE_FLIT, PIM_NOC_MESH, PIM_NOC_XY});
    bench_uniform((struct load){8, 5, 25, 20000 * scale, WHOLE_FLIT, PIM_NOC_MESH, PIM_NOC_XY});
    bench_uniform((struct load){16, 1, 5, 5000 * scale, WHOLE_FLIT, PIM_NOC_MESH, PIM_NOC_XY});
    bench_rings(WHOLE_FLIT, COLUMNS, 500, (uint32_t)scale);
    bench_rings(16, COLUMNS, 500, (uint32_t)scale);
    return 0;
}
