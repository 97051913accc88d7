/* Tiles by hand: when steps start, what is accounted, what is refused, who waits for what. */
#include "models/noc/noc.h"
#include "tests/unit/tile/suites.h"
#include "tests/unit/tile/support.h"
#include "traces/check/check.h"

#include <check.h>
#include <string.h>

#define NS UINT64_C(1000000) /* ticks */

/* Two packets of 800 bits, 100 ns over the one link at 8 Gb/s, made every 50 ns; the first step takes
 * both, 7 ns each of two. */
static const char *const two_packets =
    ".unit 0\nphase_begin 0\ntile_output edge=0 peer=1 bits=800 packets=2\n"
    "repeat 2 {\ntile_step time=50000000 macs=3 arrays=2\n}\nphase_end 0\n"
    ".unit 1\nphase_begin 1\ntile_input edge=0 peer=0 bits=800 packets=2\n"
    "tile_take packets=2 free=1\ntile_vector time=7000000\n"
    "tile_take free=1\ntile_vector time=7000000\nphase_end 1\n";

START_TEST(steps_wait_for_their_packets)
{
    struct tile_run run = {.until = 0};
    run_text(&run, two_packets);
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    /* 50 to 150, 150 to 250: one packet of an edge at a time; then two steps */
    ck_assert_uint_eq(run.result.end, 264 * NS);
    ck_assert_uint_eq(run.result.cycles, 264);
    ck_assert_uint_eq(run.result.actions.macs, 6);
    ck_assert_uint_eq(run.result.actions.crossbar_mvms, 4);
    ck_assert_uint_eq(run.result.actions.noc_bit_hops, 1600);
    ck_assert_uint_eq(run.result.bytes_sent, 200);
    ck_assert_uint_eq(run.result.bytes_received, 200);
    const struct pim_unit_result *source = &run.result.units[0], *sink = &run.result.units[1];
    ck_assert_uint_eq(source->busy[PIM_CLASS_PE], 100 * NS);
    ck_assert_uint_eq(source->busy[PIM_CLASS_NOC], 200 * NS);
    ck_assert_uint_eq(source->share[PIM_SHARE_WAITING], 14 * NS);
    ck_assert_uint_eq(sink->busy[PIM_CLASS_ACU], 14 * NS);
    ck_assert_uint_eq(sink->wait[PIM_ENGINE_VECTOR][PIM_WAIT_NETWORK], 250 * NS);
    const struct pim_phase_result *phase = run.system->phases;
    ck_assert_uint_eq(phase[0].end, 100 * NS);
    ck_assert_uint_eq(phase[1].end, 264 * NS);
    ck_assert_uint_eq(phase[0].actions.noc_bit_hops, 1600); /* also of the one that left after its end */
    ck_assert_uint_eq(phase[0].noc_contention, 0);
    ck_assert_uint_eq(run.result.link_count, 1);
    ck_assert_uint_eq(run.result.links[0].busy_cycles, 200);
    end_tiles(&run);
}
END_TEST

/* The output buffer holds one packet: the second step waits until the first packet has left, which is
 * noticed at the next time point. */
START_TEST(full_buffers_hold_steps_up)
{
    struct tile_run run = {.settings = {"tile.output_buffer_bits=800", "tile.input_buffer_bits=1600"}};
    run_text(&run, ".unit 0\nphase_begin 0\ntile_output edge=0 peer=1 bits=800 packets=3\n"
                   "repeat 3 {\ntile_step time=50000000\n}\nphase_end 0\n"
                   ".unit 1\nphase_begin 1\ntile_input edge=0 peer=0 bits=800 packets=3\n"
                   "repeat 3 {\ntile_take packets=1 free=1\ntile_vector time=7000000\n}\nphase_end 1\n");
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    /* The first packet leaves at 50; the next time point is 150, when it is there: step 2 from 150 to
     * 200. The second leaves at 200, and 300 is the next one: step 3 to 350, its packet to 450, and the
     * last step. */
    ck_assert_uint_eq(run.result.units[0].wait[PIM_ENGINE_MATRIX][PIM_WAIT_BUFFER], 200 * NS);
    ck_assert_uint_eq(run.result.end, 457 * NS);
    end_tiles(&run);
}
END_TEST

/* Worms: packets of 800 bits are 100 flits of 8 bits; the second enters behind the first. */
START_TEST(worms_take_what_an_empty_network_takes)
{
    struct tile_run run = {.settings = {"tile.switching=wormhole"}};
    run_text(&run, ".unit 0\nphase_begin 0\ntile_output edge=0 peer=1 bits=800 packets=1\n"
                   "tile_step time=50000000\nphase_end 0\n"
                   ".unit 1\nphase_begin 1\ntile_input edge=0 peer=0 bits=800 packets=1\n"
                   "tile_take packets=1 free=1\ntile_vector time=7000000\nphase_end 1\n");
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    uint64_t latency = pim_noc_zero_load_latency(&run.system->hardware.noc, 0, 1, 100);
    /* made at 50, created in the next cycle, injected one later; cycles are 1 ns */
    ck_assert_uint_ge(run.result.end, (50 + latency + 7) * NS);
    ck_assert_uint_le(run.result.end, (50 + latency + 7 + 2) * NS);
    ck_assert_uint_eq(run.result.noc.flits_delivered, 100);
    ck_assert_uint_eq(run.result.actions.noc_bit_hops, 800);
    end_tiles(&run);
}
END_TEST

/* Runs that are stopped account for the time up to then. */
START_TEST(a_run_may_be_stopped)
{
    struct tile_run run = {.until = 120};
    run_text(&run, two_packets);
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    ck_assert(!run.result.complete);
    ck_assert_uint_eq(run.result.end, 120 * NS);
    ck_assert_uint_eq(run.result.units[1].wait[PIM_ENGINE_VECTOR][PIM_WAIT_NETWORK], 120 * NS);
    end_tiles(&run);
}
END_TEST

/* The tile at the end needs the first of three packets of 100 ns alone; the run is over while the second is
 * on its way, and what is accounted of the link is what it was held until then. */
START_TEST(packets_nobody_needs_are_not_accounted_beyond_the_end)
{
    static const char *const switchings[] = {"tile.switching=path_hold", "tile.switching=saf"};
    for (size_t i = 0; i < 2; i++) {
        struct tile_run run = {.settings = {switchings[i]}};
        run_text(&run, ".unit 0\nphase_begin 0\ntile_output edge=0 peer=1 bits=800 packets=3\n"
                       "repeat 3 {\ntile_step time=20000000\n}\nphase_end 0\n"
                       ".unit 1\nphase_begin 1\ntile_input edge=0 peer=0 bits=800 packets=3\n"
                       "tile_take packets=1 free=1\ntile_vector time=7000000\nphase_end 1\n");
        ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
        ck_assert_uint_eq(run.result.end, 127 * NS);
        ck_assert_uint_eq(run.result.noc.packets_delivered, 3); /* they do arrive */
        ck_assert_uint_eq(run.result.links[0].busy_cycles, 107);
        ck_assert_uint_eq(run.result.links[0].flits, 2);
        const struct pim_tiles *tiles = pim_system_tiles(run.system);
        ck_assert_double_eq_tol(pim_tiles_summary(tiles, run.result.end).utilization_maximum, 107.0 / 127,
                                1e-12);
        end_tiles(&run);
    }
}
END_TEST

#define SOURCE ".unit 0\nphase_begin 0\ntile_output edge=0 peer=1 bits=800 packets=2\n"
#define SINK ".unit 1\nphase_begin 1\ntile_input edge=0 peer=0 bits=800 packets=2\n"
#define TWO_STEPS "repeat 2 {\ntile_step time=1\n}\nphase_end 0\n"

static const struct {
    const char *programs, *run, *check; /* what the messages contain */
    enum pim_status run_status, check_status;
} bad[] = {
    {SOURCE TWO_STEPS, "edge 0: no program begins with its tile_input", "edge 0 has no tile_input",
     PIM_BAD_INPUT, PIM_BAD_INPUT},
    {SOURCE TWO_STEPS ".unit 1\nphase_begin 1\ntile_input edge=0 peer=0 bits=799 packets=2\n"
                      "tile_vector time=1\nphase_end 1\n",
     "takes 2 of 799", "takes 2 of 799", PIM_BAD_INPUT, PIM_BAD_INPUT},
    {SOURCE TWO_STEPS SINK "tile_take packets=3\ntile_vector time=1\nphase_end 1\n",
     "3 packets waited for and 0 freed so far, of 2", "waits for 3 packets and frees 0", PIM_BAD_INPUT,
     PIM_BAD_INPUT},
    {SOURCE TWO_STEPS SINK "tile_take packets=1 free=2\ntile_vector time=1\nphase_end 1\n",
     "1 packets waited for and 2 freed", "waits for 1 packets and frees 2", PIM_BAD_INPUT, PIM_BAD_INPUT},
    {SOURCE TWO_STEPS SINK "tile_take input=1 packets=1\ntile_vector time=1\nphase_end 1\n",
     "inputs 1 to 1: the tile has 1", "inputs 1 to 1, and has 1", PIM_BAD_INPUT, PIM_BAD_INPUT},
    {SOURCE TWO_STEPS SINK "tile_vector time=1\ntile_input edge=0 peer=0 bits=800 packets=2\nphase_end 1\n",
     "edges are declared at the head", "edges are declared at the head", PIM_BAD_INPUT, PIM_BAD_INPUT},
    {SOURCE "repeat 3 {\ntile_step time=1\n}\nphase_end 0\n" SINK "tile_vector time=1\nphase_end 1\n",
     "more steps than the 2 packets", "it has 3 steps, and declares 2 packets for tile 1", PIM_BAD_INPUT,
     PIM_BAD_INPUT},
    {SOURCE "load input address=0 bytes=8\nphase_end 0\n" SINK "tile_vector time=1\nphase_end 1\n",
     "no engine for it: that of array.kind = \"node\"", "load is an instruction of nodes: tiles",
     PIM_BAD_INPUT, PIM_BAD_INPUT},
    {SOURCE "tile_step time=1\nphase_end 0\n" SINK
            "tile_take packets=2 free=2\ntile_vector time=1\nphase_end 1\n",
     "tile 1, step 0: waits for 2 packets of tile 0, 1 have come", "tile 0: it has 1 steps, and declares 2",
     PIM_DEADLOCK, PIM_BAD_INPUT},
    {SOURCE "tile_output edge=1 peer=1 bits=8 packets=2\n" TWO_STEPS SINK
            "tile_input edge=1 peer=0 bits=8 packets=2\ntile_vector time=1\nphase_end 1\n",
     "two edges from node 0 to node 1", "two edges from tile 0 to tile 1", PIM_BAD_INPUT, PIM_BAD_INPUT},
};
enum { BAD = sizeof bad / sizeof bad[0] };

START_TEST(bad_programs_are_refused)
{
    struct tile_run run = {.until = 0};
    struct pim_check_result result;
    struct pim_error error = {.status = PIM_OK};
    const struct pim_check_limits limits = {.kind = PIM_CHECK_TILES};
    run_text(&run, bad[_i].programs);
    ck_assert_int_eq(run.status, bad[_i].run_status);
    ck_assert_msg(strstr(run.error.text, bad[_i].run) != NULL, "%s", run.error.text);
    ck_assert_int_eq(pim_trace_check(run.trace, &limits, &result, &error), bad[_i].check_status);
    ck_assert_msg(strstr(error.text, bad[_i].check) != NULL, "%s", error.text);
    end_tiles(&run);
}
END_TEST

/* The step needs two packets at once, and one fits: the run and the check both say so. */
START_TEST(small_buffers_are_a_deadlock)
{
    struct tile_run run = {.settings = {"tile.input_buffer_bits=800"}};
    struct pim_check_result result;
    struct pim_error error = {.status = PIM_OK};
    struct pim_check_limits limits = {.kind = PIM_CHECK_TILES, .tile_input_bits = 800};
    run_text(&run, two_packets);
    ck_assert_int_eq(run.status, PIM_DEADLOCK);
    ck_assert_msg(strstr(run.error.text, "tile 1, step 0: waits for 2 packets of tile 0, 1 have come") !=
                      NULL,
                  "%s", run.error.text);
    ck_assert_msg(strstr(run.error.text, "its part of the destination's input buffer is full (1 packets)") !=
                      NULL,
                  "%s", run.error.text);
    ck_assert_int_eq(pim_trace_check(run.trace, &limits, &result, &error), PIM_DEADLOCK);
    ck_assert_msg(strstr(error.text, "tile 1, step 0: waits for 2 packets of tile 0") != NULL, "%s",
                  error.text);
    limits.tile_input_bits = 1600;
    ck_assert_int_eq(pim_trace_check(run.trace, &limits, &result, &error), PIM_OK);
    ck_assert_uint_eq(result.messages, 2);
    ck_assert_uint_eq(result.counts.sent_bytes, 200);
    ck_assert_uint_eq(result.counts.received_bytes, 200);
    end_tiles(&run);
}
END_TEST

START_TEST(bad_hardware_is_refused)
{
    static const char *const cases[][3] = {
        {"tile.switching=saf", "tile.routing=adaptive", "plans whole paths"},
        {"tile.switching=wormhole", "tile.routing=yx", NULL},
        {"tile.switching=wormhole", "tile.routing=adaptive", "alone has it"},
        {"tile.switching=wormhole", "tile.arbiter=fifo", "fixed and balance are allowed"},
        {"tile.switching=wormhole", "tile.ideal=true", "have an ideal run"},
        {"clock.logic_khz=700000", "tile.ideal=false", "no whole number of femtoseconds"},
        {"tile.routing=table", "tile.ideal=false", "behaviour tables of family conflict"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tile_run run = {.settings = {cases[i][0], cases[i][1]}};
        run_text(&run, two_packets);
        ck_assert_int_eq(run.status, cases[i][2] ? PIM_BAD_INPUT : PIM_OK);
        ck_assert_msg(!cases[i][2] || strstr(run.error.text, cases[i][2]) != NULL, "%s", run.error.text);
        end_tiles(&run);
    }
}
END_TEST

/* Two tiles: no time beyond a quarter of the last tick, neither of a step nor of the second of two. */
START_TEST(times_that_cannot_be_counted_are_refused)
{
    static const struct {
        const char *programs;
        bool good;
    } cases[] = {
        {".unit 0\nphase_begin 0\ntile_step time=576460752303423487\nphase_end 0\n", true}, /* 2^59 - 1 */
        {".unit 0\nphase_begin 0\ntile_step time=576460752303423488\nphase_end 0\n", false},
        {".unit 0\nphase_begin 0\ntile_vector time=1\ntile_vector time=576460752303423487\nphase_end 0\n",
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tile_run run = {.until = 0};
        run_text(&run, cases[i].programs);
        ck_assert_msg(run.status == (cases[i].good ? PIM_OK : PIM_BAD_INPUT), "case %zu: %s", i,
                      run.error.text);
        ck_assert_msg(cases[i].good || strstr(run.error.text, "tile 0: the run goes on after tick "
                                                              "576460752303423487, beyond which times cannot "
                                                              "be counted") != NULL,
                      "case %zu: %s", i, run.error.text);
        end_tiles(&run);
    }
}
END_TEST

Suite *tile_units_suite(void)
{
    Suite *suite = suite_create("tile_units");
    TCase *cases = tcase_create("by hand");
    tcase_add_test(cases, steps_wait_for_their_packets);
    tcase_add_test(cases, full_buffers_hold_steps_up);
    tcase_add_test(cases, worms_take_what_an_empty_network_takes);
    tcase_add_test(cases, a_run_may_be_stopped);
    tcase_add_test(cases, packets_nobody_needs_are_not_accounted_beyond_the_end);
    tcase_add_loop_test(cases, bad_programs_are_refused, 0, BAD);
    tcase_add_test(cases, small_buffers_are_a_deadlock);
    tcase_add_test(cases, bad_hardware_is_refused);
    tcase_add_test(cases, times_that_cannot_be_counted_are_refused);
    suite_add_tcase(suite, cases);
    return suite;
}
