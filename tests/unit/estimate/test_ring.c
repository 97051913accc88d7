/* A cyclic dataflow against a walk over its packets, flits and columns. */
#include "tests/unit/estimate/machine.h"
#include "tests/unit/estimate/suites.h"

#include "sim/random.h"

#include <inttypes.h>
#include <stdio.h>

static const uint64_t seed = UINT64_C(0x72696e67);

static uint64_t to_logic(const struct pim_estimate_hardware *hardware, uint64_t cycles, uint64_t khz)
{
    return (cycles * hardware->logic_khz + khz - 1) / khz;
}

/* Columns of some bytes, one by one. */
static uint64_t walk_columns(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    uint64_t columns = 0;
    for (uint64_t at = 0; at < bytes; at += hardware->port_bytes)
        columns++;
    return columns;
}

static uint64_t walk_pieces(uint64_t bytes, uint64_t piece)
{
    uint64_t pieces = 0;
    for (uint64_t at = 0; at < bytes; at += piece)
        pieces++;
    return pieces;
}

/* Rows of the same bytes, the one that begins in the middle of a row included; no more than columns. */
static uint64_t walk_rows(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    uint64_t rows = 1 + walk_pieces(bytes, hardware->row_bytes), columns = walk_columns(hardware, bytes);
    return rows < columns ? rows : columns;
}

static uint64_t scaled(uint64_t a, uint64_t b, uint64_t c)
{
    return (a * b + c - 1) / c;
}

/* Memory cycles of bytes of a piece of a ring whose pieces fill `among` bytes. */
static uint64_t walk_piece(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t among,
                           bool write)
{
    uint64_t opening = write ? hardware->write_row_cycles : hardware->read_row_cycles;
    uint64_t rows = walk_rows(hardware, bytes) * opening;
    if (among < hardware->row_bytes) /* so often it lies within one row */
        rows = scaled(rows, among, hardware->row_bytes);
    return walk_columns(hardware, bytes) * hardware->column_cycles + rows;
}

static uint64_t refreshed(const struct pim_estimate_hardware *hardware, uint64_t cycles)
{
    return hardware->refresh_interval ? scaled(cycles, hardware->refresh_interval,
                                               hardware->refresh_interval - hardware->refresh_cycles)
                                      : cycles;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t above(uint64_t value, uint64_t part)
{
    return value > part ? value - part : 0;
}

/* Logic cycles of a way with so many cycles of the memory and so many bytes over a link. */
static uint64_t walk_way(const struct pim_estimate_hardware *hardware, uint64_t memory, uint64_t bytes)
{
    uint64_t flits = 0;
    for (uint64_t at = 0; at < bytes; at += hardware->flit_bytes)
        flits++;
    return to_logic(hardware, refreshed(hardware, memory), hardware->memory_khz) +
           to_logic(hardware, flits, hardware->network_khz);
}

/* Logic cycles of one round, without the flight: packet by packet. */
static uint64_t walk_round(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t among)
{
    uint64_t packets = 0, first = 0, last = 0, port = 0, rows = 0, columns = 0;
    uint64_t run = hardware->turn_bytes && hardware->turn_bytes < hardware->row_bytes ? hardware->turn_bytes
                                                                                      : hardware->row_bytes;
    for (uint64_t left = bytes; left > 0; left -= last) {
        last = left < hardware->packet_bytes ? left : hardware->packet_bytes;
        first = packets++ == 0 ? last : first;
        rows += run < hardware->row_bytes ? walk_pieces(last, run) : 1;
        columns += walk_columns(hardware, last);
    }
    rows += walk_pieces(bytes, hardware->row_bytes); /* each end of a row, which some packet reaches over */
    rows = rows < columns ? rows : columns;
    port = 2 * columns * hardware->column_cycles +
           rows * (hardware->read_row_cycles + (uint64_t)hardware->write_row_cycles) +
           (columns - rows < packets ? columns - rows : packets) * hardware->turn_cycles;
    uint64_t read = walk_piece(hardware, first, among, false),
             write = walk_piece(hardware, last, among, true), latency = hardware->latency_cycles;
    uint64_t longest = walk_way(hardware, latency + read + write, bytes);
    longest =
        larger(longest, walk_way(hardware, latency + read + walk_piece(hardware, bytes, among, true), first));
    longest = larger(longest,
                     walk_way(hardware, latency + walk_piece(hardware, bytes, among, false) + write, last));
    return packets > 1 ? larger(longest, walk_way(hardware, port, 0)) : longest;
}

/* Network cycles of the heads: one announcement to the neighbour farthest away, and for each round's piece a
 * neighbour, but once the way over the whole line. */
static uint64_t walk_flight(const struct pim_estimate_hardware *hardware, unsigned nodes)
{
    uint64_t whole = (uint64_t)hardware->network.fixed, cycles = 0;
    for (unsigned router = 0; router < nodes; router++)
        whole += hardware->network.per_router;
    cycles += whole;
    for (unsigned round = 1; round < nodes; round++)
        cycles += round == 1 ? whole : (uint64_t)hardware->network.fixed + 2 * hardware->network.per_router;
    return cycles;
}

static void check_ring(const struct pim_estimate_hardware *hardware, uint64_t bytes, unsigned nodes)
{
    uint64_t expected = to_logic(hardware, walk_flight(hardware, nodes), hardware->network_khz) +
                        (nodes - 1) * walk_round(hardware, bytes, nodes * bytes);
    uint64_t estimate = pim_estimate_ring(hardware, bytes, nodes);
    ck_assert_msg(estimate == expected, "%u nodes, %" PRIu64 " bytes: estimated %" PRIu64 ", walked %" PRIu64,
                  nodes, bytes, estimate, expected);
}

/* Wide ports make the network the slower side, where the first and the last packet count; narrow links and
 * several clocks the others. */
static const char *const variants[][3] = {
    {"dram.banks=8", "noc.flit_bits=32", "dram.arbitration_bytes=1024"},
    {"dram.banks=1", "noc.flit_bits=64", "dram.arbitration_bytes=256"},
    {"dram.banks=2", "clock.network_khz=250000", "dram.refresh=false"},
    {"dram.banks=1", "noc.flit_bits=64", "network_interface.packet_bytes=64"},
    {"dram.banks=2", "network_interface.packet_bytes=100", "dram.arbitration_bytes=48"},
};

START_TEST(rings_take_what_their_packets_take)
{
    struct machine machine;
    struct pim_random random;
    pim_random_initialize(&random, seed + (uint64_t)_i);
    machine_read(&machine, "allspark-16x16", variants[_i], 3);
    uint64_t packet = machine.estimate.packet_bytes;
    for (unsigned nodes = 2; nodes <= 16; nodes++) {
        for (uint64_t packets = 1; packets <= 3; packets++) { /* whole packets, and a byte on both sides */
            check_ring(&machine.estimate, packets * packet - 1, nodes);
            check_ring(&machine.estimate, packets * packet, nodes);
            check_ring(&machine.estimate, packets * packet + 1, nodes);
        }
        for (int i = 0; i < 20; i++)
            check_ring(&machine.estimate, pim_random_between(&random, 1, 40 * packet), nodes);
    }
    ck_assert_uint_eq(pim_estimate_ring(&machine.estimate, 0, 16), 0);
    ck_assert_uint_eq(pim_estimate_ring(&machine.estimate, 4096, 1), 0);
}
END_TEST

/* Rows that a node opens in a round, at most. */
struct openings {
    uint64_t reads, writes;
};

/* Accesses that open a row of `row` bytes, of `banks` that take turns. */
static uint64_t walk_bytes(uint64_t *open, uint64_t banks, uint64_t row, uint64_t begin, uint64_t bytes)
{
    uint64_t opened = 0;
    for (uint64_t at = begin; at < begin + bytes; at++) {
        opened += open[at / row % banks] != at / row;
        open[at / row % banks] = at / row;
    }
    return opened;
}

/* One node of a ring, round by round: it reads the piece that it wrote in the round before, and writes the
 * one before that in memory. */
static void walk_node(const struct pim_estimate_hardware *hardware, uint64_t base, uint64_t bytes,
                      unsigned nodes, unsigned node, struct openings *most)
{
    uint64_t open[4] = {0};
    for (unsigned round = 0; round + 1 < nodes; round++) {
        uint64_t piece = (node + nodes - round) % nodes, next = (piece + nodes - 1) % nodes;
        uint64_t read = walk_bytes(open, hardware->interleaved, hardware->row_bytes, base + piece * bytes,
                                   bytes),
                 written =
                     walk_bytes(open, hardware->interleaved, hardware->row_bytes, base + next * bytes, bytes);
        if (round == 0 || next > piece)
            continue; /* its own piece, and the jump to the last one */
        most->reads = larger(most->reads, read);
        most->writes = larger(most->writes, written);
    }
}

/* With two banks and more: rows on both sides of an end are open together, so no read opens one, and a write
 * that alone which comes next. */
START_TEST(rings_stay_in_open_rows_of_interleaved_banks)
{
    static const char *const banks[] = {"dram.interleaved_banks=2", "dram.interleaved_banks=4"};
    enum { NODES = 9, SIZES = 40 };
    struct machine machine;
    struct pim_random random;
    pim_random_initialize(&random, seed);
    machine_read(&machine, "allspark-16x16", &banks[_i], 1);
    const struct pim_estimate_hardware *hardware = &machine.estimate;
    uint64_t end = (hardware->interleaved - 1) * hardware->row_bytes;
    for (unsigned size = 0; size < SIZES; size++) {
        uint64_t bytes = size == 0 ? end : pim_random_between(&random, hardware->row_bytes / NODES + 1, end);
        struct openings most = {0};
        for (unsigned base = 0; base < 4; base++)
            for (unsigned node = 0; node < NODES; node++)
                walk_node(hardware, pim_random_between(&random, 1, 8 * hardware->row_bytes), bytes, NODES,
                          node, &most);
        ck_assert_uint_eq(most.reads, 0);
        ck_assert_uint_ge(most.writes, 1);
        if (bytes > hardware->packet_bytes)
            continue;
        uint64_t columns = walk_columns(hardware, bytes) * hardware->column_cycles,
                 opening = larger(hardware->write_row_cycles, above(hardware->bank_cycles, columns)),
                 memory = hardware->latency_cycles + 2 * columns + opening;
        uint64_t expected = to_logic(hardware, walk_flight(hardware, NODES), hardware->network_khz) +
                            (NODES - 1) * walk_way(hardware, memory, bytes);
        ck_assert_uint_eq(pim_estimate_ring(hardware, bytes, NODES), expected);
    }
}
END_TEST

/* The memory port while a ring goes on: both sides of all packets, each in a row of its own and those it
 * reaches. */
START_TEST(rings_take_the_port_for_all_their_packets)
{
    struct machine machine;
    machine_read(&machine, "allspark-16x16", NULL, 0);
    const struct pim_estimate_hardware *hardware = &machine.estimate;
    for (uint64_t bytes = 1; bytes < 3 * hardware->packet_bytes; bytes += 97)
        for (unsigned nodes = 2; nodes <= 16; nodes += 7) {
            uint64_t packets = 0, columns = 0;
            for (uint64_t left = bytes, packet; left > 0; left -= packet, packets++) {
                packet = left < hardware->packet_bytes ? left : hardware->packet_bytes;
                columns += walk_columns(hardware, packet);
            }
            uint64_t rounds = nodes - 1, rows = rounds * packets + rounds * bytes / hardware->row_bytes;
            rows = rows < rounds * columns ? rows : rounds * columns;
            uint64_t cycles = 2 * rounds * columns * hardware->column_cycles +
                              rows * (hardware->read_row_cycles + (uint64_t)hardware->write_row_cycles) +
                              rounds * packets * hardware->turn_cycles;
            ck_assert_uint_eq(pim_estimate_ring_port(hardware, bytes, nodes),
                              to_logic(hardware, refreshed(hardware, cycles), hardware->memory_khz));
        }
    ck_assert_uint_eq(pim_estimate_ring_port(hardware, 0, 16), 0);
    ck_assert_uint_eq(pim_estimate_ring_port(hardware, 4096, 1), 0);
}
END_TEST

/* Cycles of the network's clock are longer than those of the logic when it is slower. */
START_TEST(links_and_hops_are_of_the_clock_of_the_network)
{
    static const char *const clocks[] = {"clock.network_khz=400000", "clock.network_khz=250000",
                                         "clock.network_khz=800000"};
    struct machine machine;
    machine_read(&machine, "allspark-16x16", &clocks[_i], 1);
    const struct pim_estimate_hardware *hardware = &machine.estimate;
    ck_assert_uint_gt(hardware->network.per_router, 0);
    for (uint64_t n = 0; n <= 40; n++) {
        uint64_t hops = 0, flits = 0;
        for (uint64_t i = 0; i < n; i++)
            hops += hardware->network.per_router;
        for (uint64_t at = 0; at < n; at += hardware->flit_bytes)
            flits++;
        ck_assert_uint_eq(pim_estimate_network(hardware, n), to_logic(hardware, n, hardware->network_khz));
        ck_assert_uint_eq(pim_estimate_hops(hardware, n), to_logic(hardware, hops, hardware->network_khz));
        ck_assert_uint_eq(pim_estimate_link(hardware, n), to_logic(hardware, flits, hardware->network_khz));
        /* on a link on which a flit takes 2.5 cycles; its head takes three */
        struct pim_estimate_hardware narrow = *hardware;
        narrow.network.flit_cycles = 5;
        narrow.network.flit_cycles_by = 2;
        const uint64_t held = (5 * flits + 1) / 2;
        ck_assert_uint_eq(pim_estimate_link(&narrow, n), to_logic(hardware, held, hardware->network_khz));
        if (n > 0)
            ck_assert_uint_eq(pim_estimate_tail(&narrow, n),
                              to_logic(hardware, held - 3 + 1, hardware->network_khz));
        /* buffers of two flits whose credits are back after five cycles: others pass in between */
        struct pim_estimate_hardware shallow = *hardware;
        shallow.network.worm_cycles = 5;
        shallow.network.worm_flits = 2;
        ck_assert_uint_eq(pim_estimate_link(&shallow, n), pim_estimate_link(hardware, n));
        uint64_t worm = 0; /* when the last flit has passed */
        for (uint64_t flit = 0; flit < flits; flit++)
            worm = flit / 2 * 5 + flit % 2 + 1;
        ck_assert_uint_eq(pim_estimate_worm(&shallow, n), to_logic(hardware, worm, hardware->network_khz));
        narrow.network.worm_cycles = 12; /* both: two flits take five of these */
        narrow.network.worm_flits = 2;
        worm = 0;
        for (uint64_t flit = 0; flit < flits; flit++)
            worm = flit / 2 * 12 + (flit % 2 == 0 ? 3 : 5);
        ck_assert_uint_eq(pim_estimate_worm(&narrow, n), to_logic(hardware, worm, hardware->network_khz));
        narrow.network.worm_flits = 0;
        ck_assert_uint_eq(pim_estimate_worm(&narrow, n), pim_estimate_link(&narrow, n));
        ck_assert_uint_eq(pim_estimate_worm(hardware, n), pim_estimate_link(hardware, n));
    }
}
END_TEST

Suite *estimate_ring_suite(void)
{
    Suite *suite = suite_create("ring");
    TCase *cases = tcase_create("ring");
    printf("estimate ring: seed 0x%" PRIx64 "\n", seed);
    tcase_add_loop_test(cases, rings_take_what_their_packets_take, 0,
                        (int)(sizeof variants / sizeof variants[0]));
    tcase_add_loop_test(cases, rings_stay_in_open_rows_of_interleaved_banks, 0, 2);
    tcase_add_test(cases, rings_take_the_port_for_all_their_packets);
    tcase_add_loop_test(cases, links_and_hops_are_of_the_clock_of_the_network, 0, 3);
    suite_add_tcase(suite, cases);
    return suite;
}
