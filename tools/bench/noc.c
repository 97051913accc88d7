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

/* `general`: on the plain evaluation of the general routers. `link_bits`: of a flit's 64 that a link takes in
 * a cycle; 0: all. */
static struct pim_noc_configuration mesh(uint32_t side, uint32_t link_bits, bool general,
                                         bool step_every_cycle)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = configuration.height = side;
    configuration.virtual_channels = 8;
    configuration.step_every_cycle = step_every_cycle;
    configuration.general = general;
    configuration.link_bits = (struct pim_noc_bits){link_bits, 1};
    return configuration;
}

/* What a configuration has beside topology, routing and links. */
enum variant {
    USUAL,
    MESSAGES,     /* two kinds of messages, each with half of the virtual channels */
    CLASSES,      /* the same, with a queue each at the terminals */
    CONCENTRATED, /* four nodes at a router */
    WAVEFRONT     /* both allocators */
};
static const char *const variant_names[] = {
    [USUAL] = "uniform",      [MESSAGES] = "messages",   [CLASSES] = "classes",
    [CONCENTRATED] = "cmesh", [WAVEFRONT] = "wavefront",
};

struct load {
    uint32_t side, flits, one_in; /* every node begins a packet in one of so many cycles */
    uint64_t cycles;
    uint32_t link_bits;
    enum pim_noc_topology_kind topology;
    enum pim_noc_routing_kind routing;
    enum variant variant;
    bool mixed; /* half of the packets have one flit */
    bool general;
};

static struct pim_noc_configuration configuration_of(const struct load *load, bool step_every_cycle)
{
    struct pim_noc_configuration configuration =
        mesh(load->side, load->link_bits, load->general, step_every_cycle);
    configuration.topology = load->topology;
    configuration.routing = load->routing;
    if (load->variant == MESSAGES || load->variant == CLASSES) {
        configuration.message_classes = load->variant == MESSAGES;
        configuration.classes = 2;
        for (uint32_t class = 0; class < 2; class ++) {
            configuration.class_channels[class] = configuration.virtual_channels / 2;
            configuration.class_first[class] = class * configuration.virtual_channels / 2;
        }
    }
    if (load->variant == CONCENTRATED)
        configuration.concentration = 4;
    if (load->variant == WAVEFRONT)
        configuration.vc_allocator = configuration.switch_allocator = PIM_NOC_WAVEFRONT;
    return configuration;
}

/* Every node sends packets to random nodes (itself included), at random; then the network drains. */
static struct result run_uniform(const struct load *load, bool step_every_cycle)
{
    struct pim_noc_configuration configuration = configuration_of(load, step_every_cycle);
    struct pim_noc *noc = create(&configuration, NULL);
    uint32_t nodes = pim_noc_nodes(&configuration), classes = configuration.classes ? 2 : 1;
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
            pim_noc_send_tagged_at(
                noc, cycle, list[sent].source, list[sent].destination,
                load->mixed && bench_random(&state) >> 32 & 1 ? 1 : load->flits, sent,
                (struct pim_noc_tag){.task = PIM_NOC_NO_TASK, .class = (uint32_t)sent % classes});
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

static struct result run_rings(uint32_t link_bits, bool general, unsigned kinds, uint32_t flits,
                               uint32_t rounds, bool step_every_cycle)
{
    const uint32_t side = 16;
    struct pim_noc_configuration configuration = mesh(side, link_bits, general, step_every_cycle);
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

static const char *name_of(const struct load *load)
{
    if (load->topology == PIM_NOC_TORUS)
        return "torus";
    if (load->link_bits)
        return "narrow";
    return load->routing == PIM_NOC_XY ? variant_names[load->variant] : pim_noc_routing_name(load->routing);
}

static void bench_uniform(struct load load, uint64_t scale)
{
    char name[64];
    load.cycles *= scale;
    struct result fast = run_uniform(&load, false);
    load.cycles = load.cycles / 4 + 1;
    struct result slow = run_uniform(&load, true);
    (void)snprintf(name, sizeof name, "%s%s %.4g, %" PRIu32 "x%" PRIu32 ", %" PRIu32 " flit%s",
                   load.general ? "general, " : "", name_of(&load), (double)load.flits / load.one_in,
                   load.side, load.side, load.flits, load.flits == 1 ? "" : "s");
    print_line(name, &fast, &slow);
}

/* Flit-hops per CPU second by packet length and load; packets at random between all nodes. */
static void bench_loads(uint64_t scale)
{
    static const uint32_t lengths[] = {1, 4, 8, 9, 16, 32, 128, 5, 16};
    enum { LENGTHS = sizeof lengths / sizeof *lengths, MIXED_FROM = 7 };
    static const double loads[] = {0.05, 0.1, 0.2, 0.3, 0.4};
    printf("clock %.2f GHz; million flit-hops per CPU second\nmesh   load", bench_clock_ghz());
    for (unsigned i = 0; i < LENGTHS; i++)
        printf(i < MIXED_FROM ? "%8" PRIu32 : "  1 | %2" PRIu32, lengths[i]);
    for (uint32_t side = 8; side <= 16; side += 8)
        for (unsigned l = 0; l < sizeof loads / sizeof *loads; l++) {
            if (side == 16 && loads[l] > 0.2) /* more than it can take */
                continue;
            printf("\n%2" PRIu32 "x%-2" PRIu32 "  %4.2f", side, side, loads[l]);
            for (unsigned i = 0; i < LENGTHS; i++) {
                bool mixed = i >= MIXED_FROM;
                double flits = mixed ? (1 + lengths[i]) / 2.0 : lengths[i];
                struct load load = {.side = side,
                                    .flits = lengths[i],
                                    .one_in = (uint32_t)(flits / loads[l] + 0.5),
                                    .cycles = (uint64_t)(128000 / loads[l] / (side * side)) * scale,
                                    .mixed = mixed};
                struct result result = run_uniform(&load, false);
                printf("%8.1f", (double)result.statistics.flit_hops / result.seconds * 1e-6);
            }
        }
    printf("\n");
}

static void bench_rings(uint32_t link_bits, bool general, unsigned kinds, uint32_t flits, uint32_t scale)
{
    char name[64];
    uint32_t rounds = scale * (link_bits == 0 && !general ? 400 : 20) / (flits < 400 ? 1 : flits / 400) + 1;
    struct result fast = run_rings(link_bits, general, kinds, flits, rounds, false);
    struct result slow = run_rings(link_bits, general, kinds, flits, 4000 / flits + 2, true);
    (void)snprintf(name, sizeof name, "%s rings, 16x16, %" PRIu32 " flits",
                   kinds == COLUMNS ? "column"
                   : kinds == ROWS  ? "row"
                                    : "both",
                   flits);
    if (link_bits || general)
        (void)snprintf(name, sizeof name, "%scolumn rings, %" PRIu32 " bits", general ? "general, " : "",
                       link_bits ? link_bits : 64);
    print_line(name, &fast, &slow);
}

/* The same packets on both kinds of routers. */
static void bench_both(const struct load *loads, size_t count, uint64_t scale)
{
    for (unsigned slow = 0; slow < 2; slow++)
        for (size_t i = 0; i < count; i++) {
            struct load load = loads[i];
            load.general = slow;
            load.cycles /= slow + 1;
            bench_uniform(load, scale);
        }
}

static void bench_all(uint64_t scale)
{
    static const struct load plain[] = {
        {.side = 8, .flits = 1, .one_in = 5, .cycles = 40000},
        {.side = 16, .flits = 1, .one_in = 5, .cycles = 10000},
        {.side = 8, .flits = 5, .one_in = 25, .cycles = 40000},
        {.side = 8, .flits = 9, .one_in = 45, .cycles = 40000},
        {.side = 8, .flits = 16, .one_in = 80, .cycles = 40000},
        {.side = 8, .flits = 128, .one_in = 640, .cycles = 40000},
        {.side = 64, .flits = 1, .one_in = 20, .cycles = 1000}, /* as many flits in a router as above */
        {.side = 128, .flits = 1, .one_in = 40, .cycles = 700},
        {.side = 64, .flits = 1, .one_in = 833, .cycles = 15000}, /* 2 % of what the mesh can take */
    };
    static const struct load routed[] = {
        {.side = 8, .flits = 1, .one_in = 5, .cycles = 40000, .topology = PIM_NOC_TORUS},
        {.side = 8, .flits = 5, .one_in = 25, .cycles = 40000, .topology = PIM_NOC_TORUS},
        {.side = 8, .flits = 16, .one_in = 80, .cycles = 40000, .topology = PIM_NOC_TORUS},
        {.side = 16, .flits = 5, .one_in = 25, .cycles = 10000, .topology = PIM_NOC_TORUS},
        {.side = 8, .flits = 5, .one_in = 25, .cycles = 40000, .routing = PIM_NOC_O1TURN},
        {.side = 8, .flits = 5, .one_in = 25, .cycles = 40000, .routing = PIM_NOC_VALIANT},
        {.side = 8, .flits = 1, .one_in = 5, .cycles = 40000, .variant = MESSAGES},
        {.side = 8, .flits = 5, .one_in = 25, .cycles = 40000, .variant = MESSAGES},
    };
    static const struct load by_sets[] = {
        {.side = 8, .flits = 5, .one_in = 25, .cycles = 40000, .variant = CLASSES},
        {.side = 4, .flits = 5, .one_in = 25, .cycles = 40000, .variant = CONCENTRATED},
        {.side = 8, .flits = 5, .one_in = 25, .cycles = 40000, .variant = WAVEFRONT},
        {.side = 8, .flits = 5, .one_in = 25, .cycles = 40000, .link_bits = 32},
    };
    static const struct load general[] = {
        {.side = 8, .flits = 1, .one_in = 5, .cycles = 20000, .general = true},
        {.side = 8, .flits = 5, .one_in = 25, .cycles = 20000, .general = true},
        {.side = 16, .flits = 1, .one_in = 5, .cycles = 5000, .general = true},
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        bench_uniform(plain[i], scale);
    for (uint32_t flits = 100; flits <= 2000; flits *= flits == 100 ? 5 : 4)
        bench_rings(0, false, COLUMNS, flits, (uint32_t)scale);
    bench_rings(0, false, ROWS, 500, (uint32_t)scale);
    bench_rings(0, false, COLUMNS | ROWS, 500, (uint32_t)scale);
    bench_both(routed, sizeof routed / sizeof *routed, scale);
    bench_both(by_sets, sizeof by_sets / sizeof *by_sets, scale);
    for (size_t i = 0; i < sizeof general / sizeof *general; i++)
        bench_uniform(general[i], scale);
    bench_rings(0, true, COLUMNS, 500, (uint32_t)scale);
    bench_rings(16, false, COLUMNS, 500, (uint32_t)scale);
}

int bench_noc(int count, char **arguments)
{
    uint64_t scale = 1;
    bool loads = false;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--help") == 0) {
            printf("usage: pimsim-bench noc [--loads] [--scale N]\n\n"
                   "  --loads     packets of 1 to 128 flits at many loads, nothing else\n"
                   "  --scale N   repeats the workloads N times as long (1 to 100)\n");
            return 0;
        }
        if (strcmp(arguments[i], "--loads") == 0) {
            loads = true;
            continue;
        }
        if (strcmp(arguments[i], "--scale") != 0 || i + 1 >= count) {
            fprintf(stderr, "pimsim-bench noc: unknown option '%s'\n", arguments[i]);
            return 2;
        }
        if (!bench_count("--scale", arguments[++i], 1, 100, &scale))
            return 2;
    }
    if (loads) {
        bench_loads(scale);
        return 0;
    }
    printf("clock %.2f GHz; millions per CPU second; speedup of sleeping over stepping every cycle, in "
           "flit-hops per CPU second\n",
           bench_clock_ghz());
    printf("%-32s %8s %9s %10s %11s %9s %8s\n", "workload", "CPU s", "flits", "flit-hops", "packet-hops",
           "eval/hop", "speedup");
    bench_all(scale);
    return 0;
}
