/*
 * Closed forms on hardware that the configuration's schema accepts, however odd: no estimate is below what
 * the widths of the parts allow or above everything one after another, and none falls when a part becomes
 * slower.
 */
#include "mappers/estimate/estimate.h"
#include "models/cost/read.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "sim/random.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MACHINES = 150, JOBS = 12, FORMS = 9 };

static const uint64_t seed = UINT64_C(0x6d616368696e65);

/* A key that makes the hardware slower when it grows, and the values that a test gives it. */
struct slower {
    const char *key;
    uint32_t ordinary, odd; /* values are below the first mostly, below the second sometimes */
    bool real;
};

static const struct slower slower[] = {
    {"dram.trcd_ns", 40, 10000, true},      {"dram.trp_ns", 40, 10000, true},
    {"dram.tcl_ns", 40, 10000, true},       {"dram.tccd_ns", 20, 10000, true},
    {"dram.twr_ns", 40, 10000, true},       {"dram.trtp_ns", 20, 10000, true},
    {"dram.twtr_ns", 20, 10000, true},      {"dram.trtw_ns", 20, 10000, true},
    {"dram.trfc_ns", 300, 10000, true},     {"dram.burst_cycles", 4, 64, false},
    {"noc.link_latency", 4, 64, false},     {"noc.routing_delay", 4, 64, false},
    {"pe.pipeline_depth", 16, 1024, false}, {"acu.pipeline_depth", 16, 1024, false},
};

enum { SLOWER = sizeof slower / sizeof slower[0] };

/* The other keys: sizes, widths, clocks. */
static const struct {
    const char *key;
    uint32_t values[5];
} sizes[] = {
    {"clock.logic_khz", {400000, 400000, 800000, 1000000, 100000}},
    {"clock.network_khz", {400000, 400000, 800000, 1000000, 100000}},
    {"clock.memory_khz", {400000, 400000, 800000, 1000000, 100000}},
    {"dram.banks", {1, 1, 2, 4, 64}},
    {"dram.column_bytes", {16, 16, 1, 64, 1024}},
    {"dram.arbitration_bytes", {1024, 1024, 64, 1, 65536}},
    {"network_interface.packet_bytes", {64, 64, 16, 1024, 4096}},
    {"pe.rows", {8, 8, 1, 16, 64}},
    {"pe.columns", {8, 8, 1, 16, 64}},
    {"pe.input_port_bytes", {0, 0, 1, 8, 64}},
    {"acu.elements_per_cycle", {8, 8, 1, 16, 64}},
    {"noc.flit_bits", {64, 64, 8, 128, 1024}},
};

enum { SIZES = sizeof sizes / sizeof sizes[0] };

struct values {
    uint32_t slower[SLOWER], size[SIZES];
};

static uint32_t below(uint64_t *state, uint64_t bound)
{
    return (uint32_t)(pim_splitmix64(state) % bound);
}

static uint32_t random_value(uint64_t *state, const struct slower *key)
{
    return 1 + below(state, below(state, 8) ? key->ordinary : key->odd);
}

static void set(struct pim_configuration *configuration, const char *key, uint32_t value, bool real)
{
    char text[96];
    struct pim_error error;
    (void)snprintf(text, sizeof text, "%s=%" PRIu32 "%s", key, value, real ? ".0" : "");
    ck_assert_msg(pim_configuration_set(configuration, text, &error) == PIM_OK, "%s: %s", text, error.text);
}

/* False when the values do not go together (a refresh interval too short for the other timings). */
static bool read_machine(const struct values *values, struct pim_estimate_hardware *machine)
{
    struct pim_configuration *configuration;
    struct pim_hardware hardware;
    struct pim_error error;
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, &error), PIM_OK);
    set(configuration, "array.width", 4, false);
    set(configuration, "array.height", 4, false);
    set(configuration, "dram.row_bytes", 1024, false);
    set(configuration, "dram.tras_ns", 10000, true); /* the longest: no row is closed before it was open */
    set(configuration, "dram.trc_ns", 10000, true);
    set(configuration, "dram.trefi_ns", 400000, true);
    for (unsigned i = 0; i < SLOWER; i++)
        set(configuration, slower[i].key, values->slower[i], slower[i].real);
    for (unsigned i = 0; i < SIZES; i++)
        set(configuration, sizes[i].key, values->size[i], false);
    ck_assert_msg(pim_configuration_complete(configuration, &error) == PIM_OK, "%s", error.text);
    bool good = pim_hardware_read(configuration, &hardware, &error) == PIM_OK;
    const struct pim_machine_network network = {.fixed = (int64_t)hardware.node.zero_load.fixed,
                                                .per_router = hardware.node.zero_load.per_router};
    if (good)
        ck_assert_int_eq(pim_machine_nodes_read(configuration, &network, machine, &error), PIM_OK);
    pim_configuration_destroy(configuration);
    return good;
}

static void random_values(uint64_t *state, struct values *values)
{
    for (unsigned i = 0; i < SLOWER; i++)
        values->slower[i] = random_value(state, &slower[i]);
    for (unsigned i = 0; i < SIZES; i++)
        values->size[i] = sizes[i].values[below(state, 5)];
}

/* What is to be done. */
struct job {
    uint64_t bytes, pitch, pieces, bursts;
    unsigned nodes;
    struct pim_matrix_shape shape;
    struct pim_depthwise_shape depthwise;
};

static struct job random_job(uint64_t *state)
{
    struct job job = {.bytes = 1 + below(state, below(state, 2) ? 64 : 100000),
                      .pieces = 1 + below(state, 300),
                      .nodes = 2 + below(state, 30)};
    job.pitch = below(state, 2) ? 0 : job.bytes + below(state, 5000);
    job.bursts = 1 + below(state, job.pieces);
    job.shape = (struct pim_matrix_shape){.m = 1 + below(state, 400),
                                          .n = 1 + below(state, 400),
                                          .k = 1 + below(state, 800),
                                          .count = 1 + below(state, 4),
                                          .vector_passes = 1 + below(state, 3),
                                          .residual = below(state, 2)};
    job.shape.segment = job.shape.k;
    job.shape.segments = 1;
    job.shape.input_pitch = job.shape.k;
    job.shape.output_pitch = job.shape.n + below(state, 300);
    job.shape.right_pitch = below(state, 2) ? 0 : job.shape.n;
    job.depthwise = (struct pim_depthwise_shape){.channels = 1 + below(state, 300),
                                                 .taps = 9,
                                                 .sequences = 1 + below(state, 4),
                                                 .tokens = 1 + below(state, 200),
                                                 .pitch = 300};
    return job;
}

/* Every form's estimate, what no hardware of these widths is faster than, and all of it one after another
   with a row opened for every column. Cycles of the logic clock. */
struct forms {
    double cycles[FORMS], least[FORMS], most[FORMS];
};

static double columns(const struct pim_estimate_hardware *machine, double bytes)
{
    double cycles = bytes / machine->port_bytes * machine->column_cycles;
    return cycles * (double)machine->logic_khz / (double)machine->memory_khz;
}

/* The time of so many columns, each in a row of its own. */
static double worst(const struct pim_estimate_hardware *machine, double count)
{
    double refresh = machine->refresh_interval
                         ? (double)machine->refresh_interval /
                               ((double)machine->refresh_interval - (double)machine->refresh_cycles)
                         : 1;
    double opening = (double)machine->read_row_cycles + (double)machine->write_row_cycles;
    double each = (double)machine->column_cycles + opening + machine->turn_cycles;
    return 2 + count * each * refresh * (double)machine->logic_khz / (double)machine->memory_khz;
}

static void put(struct forms *forms, unsigned form, uint64_t cycles, double least, double most)
{
    forms->cycles[form] = (double)cycles;
    forms->least[form] = least;
    forms->most[form] = most;
}

static void put_tilings(const struct pim_estimate_hardware *machine, const struct job *job,
                        struct forms *forms)
{
    const struct pim_matrix_shape *shape = &job->shape;
    struct pim_tiling tiling;
    struct pim_depthwise_tiling tile;
    struct pim_matrix_estimate product, depthwise;
    ck_assert(pim_estimate_tiling(machine, shape, &tiling, &product));
    double macs = (double)shape->m * shape->n * shape->k * shape->count;
    double elements = (double)machine->pe_rows * machine->pe_columns;
    double bytes = ((double)shape->m * shape->k + (double)shape->k * shape->n + (double)shape->m * shape->n) *
                   shape->count;
    double parts = (double)product.compute + (double)product.memory + (double)product.vector;
    double access = 2 * (double)pim_estimate_access(machine);
    put(forms, 5, product.total, macs / elements, access + 2 * parts);
    put(forms, 6, product.memory, columns(machine, bytes), worst(machine, 8 * macs));
    ck_assert(pim_estimate_depthwise(machine, &job->depthwise, &tile, &depthwise));
    double outputs = (double)job->depthwise.channels * job->depthwise.tokens * job->depthwise.sequences;
    parts = (double)depthwise.compute + (double)depthwise.memory + (double)depthwise.vector;
    put(forms, 7, depthwise.total, outputs * job->depthwise.taps / elements, access + 2 * parts);
    put(forms, 8, depthwise.memory, columns(machine, outputs),
        worst(machine, 8 * outputs * job->depthwise.taps));
}

static void compute(const struct pim_estimate_hardware *machine, const struct job *job, struct forms *forms)
{
    const struct pim_matrix_shape *shape = &job->shape;
    double bytes = (double)job->bytes, pieces = (double)job->pieces;
    double touched = pieces * (bytes / machine->port_bytes + 2);
    double flits = bytes / machine->flit_bytes * (double)machine->logic_khz / (double)machine->network_khz;
    double macs = (double)shape->m * shape->n * shape->k;
    double elements = (double)machine->pe_rows * machine->pe_columns;
    double rounds = job->nodes - 1;
    put(forms, 0, pim_estimate_stream(machine, job->bytes, false), columns(machine, bytes),
        worst(machine, touched));
    put(forms, 1, pim_estimate_stream(machine, job->bytes, true), columns(machine, bytes),
        worst(machine, touched));
    put(forms, 2, pim_estimate_pieces(machine, job->bytes, job->pitch, job->pieces, job->bursts, false),
        columns(machine, bytes * pieces), worst(machine, touched));
    put(forms, 3, pim_estimate_matrix(machine, shape->m, shape->n, shape->k), macs / elements,
        1e4 + macs * 64);
    double flight = 1e4 * (double)machine->logic_khz / (double)machine->network_khz * job->nodes;
    double moved = 2 * columns(machine, bytes);
    put(forms, 4, pim_estimate_ring(machine, job->bytes, job->nodes),
        rounds * (flits > moved ? flits : moved),
        rounds * (flits + 2 + worst(machine, 4 * bytes + 4) + 2 * (double)pim_estimate_access(machine)) +
            flight);
    put_tilings(machine, job, forms);
}

static const char *const form_names[FORMS] = {
    "read stream", "write stream",       "pieces", "matrix", "ring", "product", "memory of product",
    "depthwise",   "memory of depthwise"};

static void check_bounds(const struct forms *forms, unsigned machine)
{
    for (unsigned i = 0; i < FORMS; i++)
        ck_assert_msg(forms->cycles[i] >= 0.999999 * forms->least[i] &&
                          forms->cycles[i] <= 1.000001 * forms->most[i],
                      "seed %" PRIx64 " machine %u: %s takes %.0f cycles, bounds %.0f and %.0f", seed,
                      machine, form_names[i], forms->cycles[i], forms->least[i], forms->most[i]);
}

START_TEST(bounds_hold)
{
    uint64_t state = seed;
    unsigned good = 0;
    for (unsigned i = 0; i < MACHINES; i++) {
        struct values values;
        struct pim_estimate_hardware machine;
        random_values(&state, &values);
        if (!read_machine(&values, &machine))
            continue;
        good++;
        for (unsigned j = 0; j < JOBS; j++) {
            struct job job = random_job(&state);
            struct forms forms;
            compute(&machine, &job, &forms);
            check_bounds(&forms, i);
        }
    }
    ck_assert_uint_gt(good, MACHINES / 2);
}
END_TEST

/* One key grows, by little or by much. */
START_TEST(slower_parts_are_not_faster)
{
    uint64_t state = seed + (uint64_t)_i;
    unsigned compared = 0;
    for (unsigned i = 0; i < MACHINES / 5; i++) {
        struct values values;
        struct pim_estimate_hardware machine, slow;
        random_values(&state, &values);
        bool good = read_machine(&values, &machine);
        uint32_t *value = &values.slower[_i], before = *value;
        uint32_t room = slower[_i].odd - before;
        *value += room ? 1 + below(&state, below(&state, 2) ? room : 1 + room / 20) : 0;
        if (!good || !read_machine(&values, &slow))
            continue;
        for (unsigned j = 0; j < JOBS; j++) {
            struct job job = random_job(&state);
            struct forms first, second;
            compute(&machine, &job, &first);
            compute(&slow, &job, &second);
            for (unsigned form = 0; form < FORMS; form++)
                if (form != 6 && form != 8) /* the memory's share of another tiling */
                    ck_assert_msg(second.cycles[form] >= first.cycles[form],
                                  "seed %" PRIx64 " machine %u: %s from %" PRIu32 " to %" PRIu32
                                  " takes %s from %.0f to %.0f cycles",
                                  seed, i, slower[_i].key, before, *value, form_names[form],
                                  first.cycles[form], second.cycles[form]);
            compared++;
        }
    }
    ck_assert_uint_gt(compared, 0);
}
END_TEST

/* The two configurations by which the fault was found: a column so slow that rows open behind it. */
START_TEST(slow_columns_hide_rows)
{
    struct values values = {{18, 18, 20, 50, 15, 7, 7, 5, 180, 1, 1, 1, 8, 16}, {0}};
    struct pim_estimate_hardware machine;
    for (unsigned i = 0; i < SIZES; i++)
        values.size[i] = sizes[i].values[0];
    ck_assert(read_machine(&values, &machine));
    ck_assert_uint_eq(machine.column_cycles, 20);  /* 50 ns at 400 MHz */
    ck_assert_uint_eq(machine.read_row_cycles, 0); /* 3 + 8 + 8 cycles to reopen are fewer than 20 */
    ck_assert_uint_eq(machine.write_row_cycles, 4 + 1 + 6 + 8 + 8 - 20);
    values.slower[3] = 2;
    values.slower[9] = 24;
    ck_assert(read_machine(&values, &machine));
    ck_assert_uint_eq(machine.column_cycles, 24);
    ck_assert_uint_eq(machine.read_row_cycles, 0);
}
END_TEST

/* A long link: the first router is cheaper than any other, and two nodes still take their two latencies. */
START_TEST(long_links)
{
    struct values values = {{18, 18, 20, 2, 15, 7, 7, 5, 180, 1, 64, 1, 8, 16}, {0}};
    struct pim_estimate_hardware machine;
    for (unsigned i = 0; i < SIZES; i++)
        values.size[i] = sizes[i].values[0];
    ck_assert(read_machine(&values, &machine));
    ck_assert_int_lt(machine.network.fixed, 0);
    uint64_t ring = pim_estimate_ring(&machine, 1, 2);
    ck_assert_uint_gt(ring, 2 * 64);
    ck_assert_uint_lt(ring, 1000);
}
END_TEST

START_TEST(rings_pass_on_from_the_interface)
{
    struct values values = {{18, 18, 20, 2, 15, 7, 7, 5, 180, 1, 1, 1, 8, 16}, {0}};
    struct pim_estimate_hardware machine;
    for (unsigned i = 0; i < SIZES; i++)
        values.size[i] = sizes[i].values[0];
    ck_assert(read_machine(&values, &machine));
    ck_assert(!machine.cut_through);
    struct pim_estimate_hardware through = machine;
    through.cut_through = true;
    /* Only the first round of two nodes: nothing is passed on. */
    ck_assert_uint_eq(pim_estimate_ring(&through, 100000, 2), pim_estimate_ring(&machine, 100000, 2));
    /* Each later round saves as much. */
    uint64_t three = pim_estimate_ring(&machine, 100000, 3) - pim_estimate_ring(&through, 100000, 3);
    uint64_t six = pim_estimate_ring(&machine, 100000, 6) - pim_estimate_ring(&through, 100000, 6);
    ck_assert_uint_gt(three, 0);
    ck_assert_uint_eq(six, 4 * three);
}
END_TEST

/* The times of a bank in cycles of the memory's clock, each of its own key, whatever that clock is. */
START_TEST(bank_times_in_cycles)
{
    static const char *const keys[] = {"trcd", "trp",  "tras", "trc",  "tcl",  "tcwl", "tccd",
                                       "twr",  "trtp", "twtr", "trtw", "trfc", "trefi"};
    static const uint32_t cycles[] = {7, 9, 23, 37, 11, 5, 3, 13, 6, 4, 2, 101, 1999};
    struct pim_configuration *configuration;
    struct pim_error error;
    struct pim_bank_rules rules;
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, &error), PIM_OK);
    set(configuration, "array.width", 1, false);
    set(configuration, "array.height", 1, false);
    set(configuration, "clock.memory_khz", 333333, false);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "dram.%s", keys[i]);
        set(configuration, key, cycles[i], false);
    }
    ck_assert_int_eq(pim_configuration_complete(configuration, &error), PIM_OK);
    ck_assert_int_eq(pim_cost_read_bank(configuration, &rules, &error), PIM_OK);
    const struct pim_bank_timing *t = &rules.timing;
    const uint32_t found[] = {t->trcd, t->trp,  t->tras, t->trc,  t->tcl,  t->tcwl, t->tccd,
                              t->twr,  t->trtp, t->twtr, t->trtw, t->trfc, t->trefi};
    ck_assert_mem_eq(found, cycles, sizeof cycles);
    set(configuration, "dram.trefi", 0, false);
    ck_assert_int_eq(pim_cost_read_bank(configuration, &rules, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "dram.trefi: 0 cycles leave no time for an access"));
    set(configuration, "dram.trefi_ns", 60, true);
    ck_assert_int_eq(pim_cost_read_bank(configuration, &rules, &error), PIM_BAD_INPUT); /* below tRFC */
    set(configuration, "dram.trefi_ns", 7000, true);
    ck_assert_int_eq(pim_cost_read_bank(configuration, &rules, &error), PIM_OK);
    ck_assert_uint_eq(rules.timing.trefi, 2333); /* 7 us at 333.333 MHz, rounded down */
    pim_configuration_destroy(configuration);
}
END_TEST

/* Reads the lines into a configuration "slow.cfg", and that as nodes. */
static enum pim_status read_slow(const char *lines, struct pim_estimate_hardware *machine,
                                 struct pim_error *error)
{
    const struct pim_machine_network network = {.fixed = 0};
    struct pim_configuration *configuration;
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, error), PIM_OK);
    enum pim_status status =
        pim_configuration_read_text(configuration, "slow.cfg", lines, strlen(lines), error);
    if (status == PIM_OK)
        status = pim_configuration_complete(configuration, error);
    if (status == PIM_OK)
        status = pim_machine_nodes_read(configuration, &network, machine, error);
    pim_configuration_destroy(configuration);
    return status;
}

#define ARRAY(kind) "array = { kind = \"" kind "\"; width = 2; height = 2; };\n"
#define CLOCK                                                                                                \
    "clock.memory_khz: dram.trefi_ns = 3904 are 3 cycles of clock.memory_khz = 1000, which leave no time"

static const struct {
    const char *lines, *refusal; /* NULL: is taken */
} slow_clocks[] = {
    /* only nodes have banks */
    {ARRAY("core") "clock = { memory_khz = 1000; };\n", NULL},
    {ARRAY("channel") "clock = { memory_khz = 1000; };\n", NULL},
    {ARRAY("tile") "clock = { memory_khz = 1; };\ndram = { trefi_ns = 1.0; };\n", NULL},
    /* at what was set, with what would be right: each is tried below */
    {ARRAY("node") "clock = { memory_khz = 1000; };\n", "slow.cfg:2: " CLOCK},
    {ARRAY("node") "clock = { memory_khz = 1000; };\n", "as of dram.trefi_ns = 13000, or a faster clock"},
    {ARRAY("node") "clock = { memory_khz = 1000; };\ndram = { trefi_ns = 13000.0; };\n", NULL},
    {ARRAY("node") "clock = { memory_khz = 1000; };\ndram = { trefi_ns = 12999.999; };\n",
     "slow.cfg:3: dram.trefi_ns: dram.trefi_ns = 12999.999 are 12 cycles"},
    {ARRAY("node") "clock = { memory_khz = 1000; };\ndram = { refresh = false; };\n", NULL},
    {ARRAY("node") "clock = { memory_khz = 333333; };\ndram = { trefi_ns = 1.0; };\n",
     "at least 119 cycles are needed (the sum of dram.trfc and the other times), as of dram.trefi_ns = "
     "357.001"},
    {ARRAY("node") "clock = { memory_khz = 333333; };\ndram = { trefi_ns = 357.001; };\n", NULL},
    {ARRAY("node") "clock = { memory_khz = 333333; };\ndram = { trefi_ns = 357.0; };\n", "are 118 cycles"},
    {ARRAY("node") "clock = { memory_khz = 333333; };\ndram = { trefi = 118; };\n",
     "slow.cfg:3: dram.trefi: 118 cycles leave no time for an access between refreshes: at least 119 are"},
    {ARRAY("node") "clock = { memory_khz = 333333; };\ndram = { trefi = 119; };\n", NULL},
    /* a second in ns is the longest: then in cycles, as far as they are allowed */
    {ARRAY("node") "clock = { memory_khz = 1; };\ndram = { trfc = 2000; };\n",
     "as of dram.trefi = 2012, or a"},
    {ARRAY("node") "clock = { memory_khz = 1; };\ndram = { trfc = 2000; trefi = 2011; };\n", "at least 2012"},
    {ARRAY("node") "clock = { memory_khz = 1; };\ndram = { trfc = 2000; trefi = 2012; };\n", NULL},
    {ARRAY("node") "clock = { memory_khz = 1; };\ndram = { trfc = 988; };\n",
     "dram.trefi_ns = 1000000000, or a"},
    {ARRAY("node") "clock = { memory_khz = 1; };\ndram = { trfc = 988; trefi_ns = 1000000000.0; };\n", NULL},
    {ARRAY("node") "dram = { interleaved_banks = 2; row_bytes = 1048576; column_bytes = 1; tccd = 1000; };\n",
     "but allowed are up to 2^30: shorter times, or rows of fewer columns, or dram.refresh = false"},
    /* a refresh that was set behind interval and clock is what is refused, and names what is allowed */
    {ARRAY("node") "dram = { trfc = 3900; };\n", "slow.cfg:2: dram.trfc: a refresh of 3900 cycles of "
                                                 "clock.memory_khz = 400000 leaves no time for an access "
                                                 "until the next one, 1561 cycles behind it (dram.trefi_ns): "
                                                 "at most dram.trfc = 1492 is allowed, or give at "
                                                 "least dram.trefi = 3969, or"},
    {ARRAY("node") "dram = { trfc = 1493; };\n", "slow.cfg:2: dram.trfc: a refresh of 1493 cycles"},
    {ARRAY("node") "dram = { trfc = 1492; };\n", NULL},
    {ARRAY("node") "dram = { trfc = 3900; trefi = 3969; };\n", NULL},
    {ARRAY("node") "dram = { trfc = 3900; trefi = 3968; };\n", "slow.cfg:2: dram.trefi: 3968 cycles leave"},
    {ARRAY("node") "dram = { trfc_ns = 3900.0; };\n", "at most dram.trfc_ns = 3730 is allowed"},
    {ARRAY("node") "dram = { trfc_ns = 3730.001; };\n", "slow.cfg:2: dram.trfc_ns: a refresh of 1493 cycles"},
    {ARRAY("node") "dram = { trfc_ns = 3730.0; };\n", NULL},
    {ARRAY("node") "clock = { memory_khz = 333333; };\ndram = { trfc_ns = 3900.0; };\n",
     "slow.cfg:2: clock.memory_khz: dram.trefi_ns = 3904 are 1301 cycles"},
    /* no refresh would be short enough */
    {ARRAY("node") "dram = { trfc = 3900; tcl = 1600; };\n",
     "default: clock.memory_khz: dram.trefi_ns = 3904"},
    /* 10^10 do not fit into 32 bits */
    {ARRAY("node") "clock = { memory_khz = 10000000; };\ndram = { trefi_ns = 1000000000.0; };\n",
     "dram.trefi_ns = 1000000000 are 10000000000 cycles of clock.memory_khz = 10000000: allowed are up to "
     "1073741824"},
};

START_TEST(slow_memory_clocks)
{
    struct pim_estimate_hardware machine;
    struct pim_error error = {PIM_OK, ""};
    const enum pim_status status = read_slow(slow_clocks[_i].lines, &machine, &error);
    ck_assert_msg(status == (slow_clocks[_i].refusal ? PIM_BAD_INPUT : PIM_OK), "%s", error.text);
    if (slow_clocks[_i].refusal)
        ck_assert_msg(strstr(error.text, slow_clocks[_i].refusal) != NULL, "%s", error.text);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("estimates");
    TCase *cases = tcase_create("hardware");
    tcase_add_test(cases, bounds_hold);
    tcase_add_loop_test(cases, slower_parts_are_not_faster, 0, SLOWER);
    tcase_add_test(cases, slow_columns_hide_rows);
    tcase_add_test(cases, long_links);
    tcase_add_test(cases, rings_pass_on_from_the_interface);
    tcase_add_test(cases, bank_times_in_cycles);
    tcase_add_loop_test(cases, slow_memory_clocks, 0, (int)(sizeof slow_clocks / sizeof slow_clocks[0]));
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}
