/* One unit: when instructions start and end, by hand from the rules of docs/models/node.md with the
 * quantities of support.h. */
#include "tests/unit/node/suites.h"
#include "tests/unit/node/support.h"

#define PHASE ".phase 0 \"work\" cycles=0\n.unit 0\nphase_begin 0\n"

START_TEST(a_single_load_lasts_activate_columns_and_latency)
{
    /* At the port in cycle 0; ACT 1; RD 9, 10, 11, 12; data of RD 12 in 21. */
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, PHASE "load input address=0 bytes=64\nphase_end 0\n");
    STARTS(&run, 0, 1, 0);
    ENDS(&run, 0, 1, 21);
    ck_assert_uint_eq(run.result.cycles, 21);
    ck_assert_uint_eq(run.result.time_ps, 52500);
    ck_assert_uint_eq(run.result.units[0].buffer_high_water[PIM_BUFFER_INPUT], 64);
    clean(&run);
}
END_TEST

START_TEST(a_chain_is_the_sum_of_its_parts)
{
    /* RD 9 to 16, data 25; the second load follows without a bubble: at the port in 16, RD 17 to 20, data 29.
     * Product 29 + 24 = 53; copy 53 + 16 + 16 = 85; store at the port in 85: WR 86 to 93, data 98. */
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, PHASE "load input address=0 bytes=128\n"
                            "load weight address=128 bytes=64\n"
                            "matrix m=16 n=8 k=8 after=1,2 open_output release_input release_weight\n"
                            "vector copy rows=16 elements=8 bits=8 release=512 after=1\n"
                            "store none address=0 bytes=128 after=1\n"
                            "phase_end 0\n");
    ENDS(&run, 0, 1, 25);
    STARTS(&run, 0, 2, 0); /* as soon as the port has taken the load before it, which is in the same cycle */
    ENDS(&run, 0, 2, 29);
    STARTS(&run, 0, 3, 29);
    ENDS(&run, 0, 3, 53);
    ENDS(&run, 0, 4, 85);
    STARTS(&run, 0, 5, 85);
    ENDS(&run, 0, 5, 98);
    ck_assert_uint_eq(run.result.cycles, 98);
    clean(&run);
}
END_TEST

/* Two tiles of 128 bytes, one product each. */
#define TWO_TILES                                                                                            \
    PHASE "load input address=0 bytes=128\n"                                                                 \
          "matrix m=16 n=8 k=8 after=1 release_input\n"                                                      \
          "load input address=128 bytes=128\n"                                                               \
          "matrix m=16 n=8 k=8 after=1 release_input\n"                                                      \
          "phase_end 0\n"

START_TEST(a_double_buffer_overlaps_load_and_product)
{
    /* Loads end in 25 and (RD 17 to 24) in 33, under the first product: 25 to 49, then 49 to 73. */
    struct run run = {.width = 1, .height = 1, .settings = {"buffers.input_bytes=256"}};
    replay_well(&run, TWO_TILES);
    ENDS(&run, 0, 3, 33);
    STARTS(&run, 0, 4, 49);
    ENDS(&run, 0, 4, 73);
    ck_assert_uint_eq(run.result.units[0].buffer_high_water[PIM_BUFFER_INPUT], 256);
    clean(&run);
}
END_TEST

START_TEST(a_single_buffer_makes_the_load_wait_for_space)
{
    /* The second load starts when the first product gives the space back, in 49: RD 50 to 57, data 66;
     * product 66 to 90. */
    struct run run = {.width = 1, .height = 1, .settings = {"buffers.input_bytes=255"}};
    replay_well(&run, TWO_TILES);
    STARTS(&run, 0, 3, 49);
    ENDS(&run, 0, 3, 66);
    ENDS(&run, 0, 4, 90);
    const struct pim_unit_result *unit = &run.result.units[0];
    /* The memory engine is busy 0 to 25 and 49 to 66 and waits for space between; the array waits for both
     * loads. */
    ck_assert_uint_eq(unit->wait[PIM_ENGINE_MEMORY][PIM_WAIT_BUFFER], 24);
    ck_assert_uint_eq(unit->busy[PIM_CLASS_DRAM], 42);
    ck_assert_uint_eq(unit->stall[PIM_CLASS_DRAM], 24);
    ck_assert_uint_eq(unit->idle[PIM_CLASS_DRAM], 24);
    ck_assert_uint_eq(unit->wait[PIM_ENGINE_MATRIX][PIM_WAIT_MEMORY], 25 + 17);
    ck_assert_uint_eq(unit->busy[PIM_CLASS_PE], 48);
    ck_assert_uint_eq(unit->share[PIM_SHARE_MATRIX], 48);
    ck_assert_uint_eq(unit->share[PIM_SHARE_MEMORY], 42);
    ck_assert_uint_eq(unit->share[PIM_SHARE_WAITING], 0);
    clean(&run);
}
END_TEST

START_TEST(a_product_that_opens_its_output_waits_for_space)
{
    /* The first product (0 to 24) takes all 512 bytes; the copy gives them back in 24 + 32 = 56. */
    struct run run = {.width = 1, .height = 1, .settings = {"buffers.output_bytes=512"}};
    replay_well(&run, PHASE "matrix m=16 n=8 k=8 open_output\n"
                            "vector copy rows=16 elements=8 bits=8 release=512 after=1\n"
                            "matrix m=16 n=8 k=8 open_output\n"
                            "vector copy rows=16 elements=8 bits=8 release=512 after=1\n"
                            "phase_end 0\n");
    ENDS(&run, 0, 1, 24);
    STARTS(&run, 0, 3, 56);
    ck_assert_uint_eq(run.result.units[0].wait[PIM_ENGINE_MATRIX][PIM_WAIT_BUFFER], 56 - 24);
    ck_assert_uint_eq(run.result.cycles, 56 + 24 + 32);
    clean(&run);
}
END_TEST

#define ISSUE                                                                                                \
    PHASE "load input address=0 bytes=128\n"                                                                 \
          "matrix m=16 n=8 k=8 after=1 release_input\n"                                                      \
          "vector copy rows=16 elements=8 bits=8\n"                                                          \
          "phase_end 0\n"

START_TEST(out_of_order_engines_pass_each_other)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, ISSUE);
    STARTS(&run, 0, 3, 0);
    ENDS(&run, 0, 3, 32);
    ck_assert_uint_eq(run.result.cycles, 49);
    clean(&run);
}
END_TEST

START_TEST(in_order_issue_holds_what_comes_later)
{
    struct run run = {.width = 1, .height = 1, .settings = {"unit.issue=in_order"}};
    replay_well(&run, ISSUE);
    STARTS(&run, 0, 2, 25);
    STARTS(&run, 0, 3, 25); /* in the tick in which the product before it starts */
    ENDS(&run, 0, 3, 57);
    ck_assert_uint_eq(run.result.units[0].wait[PIM_ENGINE_VECTOR][PIM_WAIT_ISSUE], 25);
    ck_assert_uint_eq(run.result.cycles, 57);
    clean(&run);
}
END_TEST

START_TEST(the_window_bounds_what_is_in_flight)
{
    /* Four in flight: the copy is the fifth of the phase behind three products and a load, so it is fetched
     * in 21, when the load, the oldest, is complete. */
    struct run run = {.width = 1, .height = 1, .settings = {"unit.window=4"}};
    replay_well(&run, PHASE "load none address=0 bytes=64\n"
                            "matrix m=16 n=8 k=8\nmatrix m=16 n=8 k=8\nmatrix m=16 n=8 k=8\n"
                            "vector copy rows=16 elements=8 bits=8\n"
                            "phase_end 0\n");
    STARTS(&run, 0, 5, 21);
    clean(&run);
}
END_TEST

START_TEST(a_join_waits_for_everything_before_it)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, PHASE "matrix m=16 n=8 k=8\njoin\nload none address=0 bytes=64\nphase_end 0\n");
    STARTS(&run, 0, 3, 24); /* the join counts as number 2 */
    ENDS(&run, 0, 3, 24 + 21);
    clean(&run);
}
END_TEST

START_TEST(a_slower_logic_clock_waits_for_its_edges)
{
    /* Logic at half the rate: the product starts on the edge at 30 and takes 24 x 2, the copy 32 x 2; store:
     * WR 143 to 150, data 155. */
    struct run run = {.width = 1, .height = 1, .settings = {"clock.logic_khz=200000"}};
    replay_well(&run, PHASE "load input address=0 bytes=128\n"
                            "load weight address=128 bytes=64\n"
                            "matrix m=16 n=8 k=8 after=1,2 open_output release_input release_weight\n"
                            "vector copy rows=16 elements=8 bits=8 release=512 after=1\n"
                            "store none address=0 bytes=128 after=1\n"
                            "phase_end 0\n");
    ENDS(&run, 0, 2, 29);
    STARTS(&run, 0, 3, 30);
    ENDS(&run, 0, 3, 78);
    ENDS(&run, 0, 4, 142);
    ENDS(&run, 0, 5, 155);
    ck_assert_uint_eq(run.result.cycles, 78); /* 77.5 rounded up */
    ck_assert_uint_eq(run.result.time_ps, 387500);
    clean(&run);
}
END_TEST

START_TEST(a_slower_memory_clock_counts_its_own_cycles)
{
    /* Memory at half the rate: tRCD 18 ns is 4 cycles, tCL 20 ns is 4: ACT 1, RD 5 to 8, data 8 + 4 + 1 = 13
     * cycles of 2 ticks. A load that comes after a product of 25 ticks reaches the port on the edge at 26. */
    struct run run = {
        .width = 1, .height = 1, .settings = {"clock.memory_khz=200000", "pe.pipeline_depth=9"}};
    replay_well(&run, PHASE
                "load none address=0 bytes=64\nphase_end 0\n"
                "phase_begin 0\nmatrix m=16 n=8 k=8\nload none address=0 bytes=16 after=1\nphase_end 0\n");
    ENDS(&run, 0, 1, 26);
    STARTS(&run, 0, 5, 26 + 25);
    /* Reached in cycle 26: the row is open, RD 27, data 32. */
    ENDS(&run, 0, 5, 64);
    clean(&run);
}
END_TEST

#define ONE_ROW_TWICE PHASE "load none address=0 bytes=64\nload none address=64 bytes=64\nphase_end 0\n"

START_TEST(an_open_row_is_used_again)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, ONE_ROW_TWICE);
    ENDS(&run, 0, 2, 25); /* RD 13 to 16 */
    ck_assert_uint_eq(run.result.dram.activates, 1);
    ck_assert_uint_eq(run.result.dram.row_hits, 7);
    clean(&run);
}
END_TEST

START_TEST(a_closed_page_opens_its_row_again)
{
    /* RD 9 to 12; automatic precharge in max(ACT 1 + 16, RD 12 + 3) = 17, so ACT in max(17 + 8, 1 + 24) = 25,
     * RD 33 to 36. */
    struct run run = {.width = 1, .height = 1, .settings = {"dram.page=closed"}};
    replay_well(&run, ONE_ROW_TWICE);
    ENDS(&run, 0, 2, 45);
    ck_assert_uint_eq(run.result.dram.activates, 2);
    clean(&run);
}
END_TEST

START_TEST(another_row_is_a_conflict)
{
    /* PRE in max(17, 12 + 3) = 17: one cycle after the second load reaches the port it is 13, so 17; ACT 25,
     * RD 33 to 36. */
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, PHASE "load none address=0 bytes=64\nload none address=1024 bytes=64\nphase_end 0\n");
    ENDS(&run, 0, 2, 45);
    ck_assert_uint_eq(run.result.dram.row_conflicts, 1);
    clean(&run);
}
END_TEST

START_TEST(a_refresh_comes_between)
{
    /* Refresh due in 200. Load at the port in 198: ACT 199, RD 207 (the access the row was opened for); PRE
     * 215, REF 223, ACT 295, RD 303, 304, 305, data 314. */
    struct run run = {.width = 1, .height = 1, .settings = {"dram.refresh=true", "dram.trefi_ns=500"}};
    replay_well(
        &run,
        PHASE "vector copy rows=1 elements=1456 bits=8\nload none address=0 bytes=64 after=1\nphase_end 0\n");
    STARTS(&run, 0, 2, 198);
    ENDS(&run, 0, 2, 314);
    ck_assert_uint_eq(run.result.dram.refreshes, 1);
    ck_assert_uint_eq(run.result.dram.activates, 2);
    ck_assert_uint_eq(run.result.dram.precharges, 1);
    clean(&run);
}
END_TEST

START_TEST(refreshes_of_idle_time_are_made_up_for)
{
    struct run run = {.width = 1, .height = 1, .settings = {"dram.refresh=true", "dram.trefi_ns=500"}};
    replay_well(&run, PHASE "vector copy rows=1 elements=8000 bits=8\nphase_end 0\n");
    ck_assert_uint_eq(run.result.cycles, 1016);
    ck_assert_uint_eq(run.result.dram.refreshes, 5); /* due in 200, 400, ... 1000 */
    clean(&run);
}
END_TEST

START_TEST(a_repeat_steps_its_address_and_looks_back_over_iterations)
{
    /* Each load waits for the product of the iteration before it (1 fetch back; in the first iteration that
     * is the join): load 21, product 24, then RD one cycle after the start since the row stays open: 4
     * columns and 9 of latency, 13. */
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, PHASE "join\nrepeat 3 {\n"
                            "  load none address=0 bytes=64 step=64 after=1\n"
                            "  matrix m=16 n=8 k=8 after=1\n"
                            "}\nphase_end 0\n");
    ENDS(&run, 0, 2, 21);
    ENDS(&run, 0, 3, 45);
    ENDS(&run, 0, 4, 45 + 13);
    ENDS(&run, 0, 5, 58 + 24);
    ENDS(&run, 0, 6, 82 + 13);
    ENDS(&run, 0, 7, 95 + 24);
    ck_assert_uint_eq(run.result.dram.reads, 12);
    ck_assert_uint_eq(run.result.dram.activates, 1);
    ck_assert_uint_eq(run.result.instructions, 9);
    clean(&run);
}
END_TEST

START_TEST(long_pieces_are_cut_at_rows_and_columns)
{
    /* 200 bytes from address 8 are the columns 0 to 12: 13 accesses however the port cuts, here after at most
     * 64 bytes. */
    struct run run = {.width = 1, .height = 1, .settings = {"dram.arbitration_bytes=64"}};
    replay_well(&run, PHASE "load none address=8 bytes=200\nphase_end 0\n");
    ck_assert_uint_eq(run.result.dram.reads, 13);
    ENDS(&run, 0, 1, 9 + 12 + 9);
    clean(&run);
    /* Pieces without gaps are one piece. */
    replay_well(&run, PHASE "load none address=8 bytes=20 stride=20 count=10\nphase_end 0\n");
    ck_assert_uint_eq(run.result.dram.reads, 13);
    clean(&run);
    /* A port that may move less than a column at a time has to access it again. */
    run.settings[0] = "dram.arbitration_bytes=8";
    replay_well(&run, PHASE "load none address=0 bytes=32\nphase_end 0\n");
    ck_assert_uint_eq(run.result.dram.reads, 4);
    clean(&run);
}
END_TEST

START_TEST(clients_of_the_port_take_turns)
{
    /* Unit 0 loads 1024 bytes of one row and has to send 64 of them: the read of the send waits for one part
     * of 256 bytes (16 columns), not for the whole load. First part: ACT 1, RD 9 to 24. The announcement
     * comes in 13, so the send is at the port in 24: RD 25 to 28, data 37. */
    struct run run = {.width = 2, .height = 1, .settings = {"dram.arbitration_bytes=256"}};
    replay_well(&run, ".phase 0 \"work\" cycles=0\n"
                      ".unit 0\nphase_begin 0\nload none address=0 bytes=1024\nsend peer=1 tag=0 address=0 "
                      "bytes=64\nphase_end 0\n"
                      ".unit 1\nphase_begin 0\nreceive peer=0 tag=0 address=0 bytes=64\nphase_end 0\n");
    STARTS(&run, 0, 2, 13);
    ENDS(&run, 0, 2, 45);             /* 8 flits leave in 38 to 45 */
    ENDS(&run, 0, 1, 9 + 63 + 4 + 9); /* 4 columns later than alone */
    clean(&run);
}
END_TEST

Suite *timing_suite(void)
{
    Suite *suite = suite_create("timing");
    TCase *tests = tcase_create("one unit");
    tcase_add_test(tests, a_single_load_lasts_activate_columns_and_latency);
    tcase_add_test(tests, a_chain_is_the_sum_of_its_parts);
    tcase_add_test(tests, a_double_buffer_overlaps_load_and_product);
    tcase_add_test(tests, a_single_buffer_makes_the_load_wait_for_space);
    tcase_add_test(tests, a_product_that_opens_its_output_waits_for_space);
    tcase_add_test(tests, out_of_order_engines_pass_each_other);
    tcase_add_test(tests, in_order_issue_holds_what_comes_later);
    tcase_add_test(tests, the_window_bounds_what_is_in_flight);
    tcase_add_test(tests, a_join_waits_for_everything_before_it);
    tcase_add_test(tests, a_slower_logic_clock_waits_for_its_edges);
    tcase_add_test(tests, a_slower_memory_clock_counts_its_own_cycles);
    tcase_add_test(tests, an_open_row_is_used_again);
    tcase_add_test(tests, a_closed_page_opens_its_row_again);
    tcase_add_test(tests, another_row_is_a_conflict);
    tcase_add_test(tests, a_refresh_comes_between);
    tcase_add_test(tests, refreshes_of_idle_time_are_made_up_for);
    tcase_add_test(tests, a_repeat_steps_its_address_and_looks_back_over_iterations);
    tcase_add_test(tests, long_pieces_are_cut_at_rows_and_columns);
    tcase_add_test(tests, clients_of_the_port_take_turns);
    suite_add_tcase(suite, tests);
    return suite;
}
