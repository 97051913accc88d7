/* The checker on programs of cores: local memories, array groups, and who waits for whom because of them. */
#include "tests/unit/traces/suites.h"
#include "tests/unit/traces/support.h"
#include "traces/check/check.h"
#include "traces/local.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 1\n.family \"t\"\n.array width=4 height=1\n.phase 0 \"a\"\n"
#define BEGIN(unit) ".unit " #unit "\nphase_begin 0\n"
#define END "phase_end 0\n"
#define GROUPS                                                                                               \
    ".unit 0\n.array_group layer=3 rows=4 columns=2\n"                                                       \
    ".array_group layer=5 arrays=2 rows=2 columns=3 folds=2 fold_stride=2\n"

static const struct pim_check_limits limits = {
    .kind = PIM_CHECK_CORES, .local_bytes = 1000, .global_bytes = 5000, .window = 8};

static enum pim_status check_with(const char *text, const struct pim_check_limits *used,
                                  struct pim_check_result *result, struct pim_error *error)
{
    struct pim_trace *trace = trace_of(text);
    *error = (struct pim_error){PIM_OK, ""};
    enum pim_status status = pim_trace_check(trace, used, result, error);
    pim_trace_close(trace);
    return status;
}

START_TEST(a_right_program_completes)
{
    struct pim_error error;
    struct pim_check_result result;
    static const char text[] = HEAD GROUPS
        "phase_begin 0\n"
        "local_load address=4000 local=0 bytes=4 count=2 stride=996\n"
        "mvm group=0 input_address=0 input_bytes=8 output_address=8 output_bytes=4\n"
        "mvm group=1 input_address=8 input_bytes=4 output_address=12 output_bytes=12\n"
        "local_write destination=24 bytes=2 count=3 stride=4 value=7\n"
        "local_copy destination=26 source=24 bytes=2 count=3 destination_stride=4 source_stride=4\n"
        "repeat 10 {\n"
        "local_vector add elements=6 destination=24 source=12 second=24\n"
        "}\n"
        "send peer=1 tag=2 address=24 bytes=12\n"
        "local_store address=0 local=8 bytes=16\n" END BEGIN(
            1) "receive peer=0 tag=2 address=988 bytes=12\n"
               "local_vector relu elements=3 destination=0 source=988 bits=32\n" END;
    for (int in_order = 0; in_order < 2; in_order++) {
        struct pim_check_limits used = limits;
        used.in_order = in_order;
        EXPECT_OK(check_with(text, &used, &result, &error));
        ck_assert_int_eq(result.kind, PIM_CHECK_CORES);
        ck_assert_uint_eq(result.counts.crossbar_macs, 4 * 2 + 2 * 2 * 3);
        ck_assert_uint_eq(result.local_bytes, 1000);
        ck_assert_uint_eq(result.local_unit, 1);
        ck_assert_uint_eq(result.global_bytes, 5000);
        ck_assert_uint_eq(result.messages, 1);
        ck_assert_uint_eq(result.counts.local_elements, 63);
        ck_assert_uint_eq(result.counts.local_loaded_bytes, 8);
        ck_assert_uint_eq(result.counts.local_stored_bytes, 16);
    }
    /* without hardware: nothing bounds the memories, and the instructions say that it is for cores */
    EXPECT_OK(check_with(text, &(struct pim_check_limits){.window = 0}, &result, &error));
    ck_assert_int_eq(result.kind, PIM_CHECK_CORES);
}
END_TEST

/* Programs of unit 0; each is wrong in one thing. */
#define FILL "local_write destination=0 bytes=1000 count=1\n"
static const char *const refused[][3] = {
    /* too large */
    {"local_write destination=990 bytes=11 count=1\n", "unit 0 instruction 1 (local_write",
     "its destination ends at byte 1001 of the local memory, which has 1000 bytes: 1 are missing"},
    {"local_load address=0 local=0 bytes=500 count=3 stride=500\n", "destination ends at byte 1500",
     "500 are missing"},
    {"receive peer=1 address=4611686018427387000 bytes=8\n", "its payload ends at", "are missing"},
    {FILL "mvm group=0 input_address=0 input_bytes=8 output_address=998 output_bytes=4\n",
     "unit 0 instruction 2 (mvm group=0", ") of layer 3: its output ends at byte 1002"},
    {FILL "mvm group=0 input_address=993 input_bytes=8 output_address=0 output_bytes=4\n",
     "its input ends at byte 1001", "1 are missing"},
    {FILL "local_vector add elements=1 destination=0 source=0 second=999\n", "its second source ends", ""},
    {"local_load address=4999 local=0 bytes=2\n", "it ends at address 5001",
     "the global memory has 5000 bytes, 1 are missing"},
    {FILL "local_store address=4000 local=0 bytes=2 count=2 stride=999\n", "it ends at address 5001", ""},
    /* read before it is written */
    {"local_vector relu elements=1 destination=0 source=2\n", "its source reads byte 2 (0x2)",
     "nothing before it in the program has written"},
    {"local_write destination=64 bytes=65\nsend peer=1 address=64 bytes=66\n",
     "its payload reads byte 129 (0x81)", ""},
    {"local_write destination=0 bytes=3\nlocal_store address=0 local=0 bytes=2 count=2 stride=2\n",
     "its source reads byte 3", ""},
    {"local_write destination=0 bytes=1 count=100 stride=2\nlocal_store address=0 local=128 bytes=2\n",
     "its source reads byte 129", ""},
    {"local_write destination=0 bytes=20\n"
     "local_copy destination=100 source=0 bytes=4 count=3 destination_stride=5 source_stride=9\n",
     "its source reads byte 20", ""},
    {"local_write destination=0 bytes=4\nlocal_copy destination=100 source=0 bytes=2 count=2 "
     "destination_stride=3\nlocal_store address=0 local=100 bytes=5\n",
     "its source reads byte 102", ""},
    {"local_write destination=0 bytes=2\nlocal_vector add elements=1 destination=0 source=0 second=2\n",
     "its second source reads byte 2", ""},
    {"local_write destination=0 bytes=6\n"
     "mvm group=0 input_address=0 input_bytes=8 output_address=8 output_bytes=4\n",
     "of layer 3: its input reads byte 6", ""},
    /* the second iteration would be right, the first is not */
    {"repeat 2 {\nlocal_store address=0 local=0 bytes=1\nlocal_write destination=0 bytes=1\n}\n",
     "unit 0 instruction 2, fetch 1", "reads byte 0"},
    /* groups */
    {FILL "mvm group=2 input_address=0 input_bytes=8 output_address=8 output_bytes=4\n",
     "there is no array group 2: the unit has 2", ""},
    {FILL "mvm group=0 input_address=0 input_bytes=6 output_address=8 output_bytes=4\n",
     "array group 0 (layer 3) has 4 inputs and 2 outputs of 2 bytes: input_bytes is 8 and output_bytes "
     "4, "
     "not 6 and 4",
     ""},
    {FILL "mvm group=1 input_address=0 input_bytes=4 output_address=8 output_bytes=6\n",
     "array group 1 (layer 5) has 2 inputs and 6 outputs", ""},
    {FILL "mvm group=0 windows=2 input_address=0 input_bytes=8 output_address=8 output_bytes=4\n",
     "windows is 2", ""},
    /* overlap */
    {FILL "mvm group=0 input_address=0 input_bytes=8 output_address=7 output_bytes=4\n",
     "its input, bytes 0 to 7 of the local memory, overlaps in part", "bytes 7 to 10"},
    {FILL "local_copy destination=3 source=0 bytes=4\n", "its source, bytes 0 to 3", "bytes 3 to 6"},
    {FILL "local_copy destination=2 source=0 bytes=2 count=3 destination_stride=4 source_stride=3\n",
     "overlaps in part", ""},
    {FILL "local_vector add elements=4 destination=10 source=100 second=17\n", "its second source, bytes 17",
     ""},
    /* instructions of nodes */
    {"load none address=0 bytes=1\n", "load is an instruction of nodes", "no trace mixes both"},
    {"vector relu rows=1 elements=1\n", "vector is an instruction of nodes", ""},
    {"matrix m=1 n=1 k=1\n", "matrix is an instruction of nodes", ""},
    {"bit_serial add bits=1 rows=1\n", "bit_serial is an instruction of nodes", ""},
    {"row_compute add bits=1 source=0 result=2\n", "row_compute is an instruction of channels", "cores"},
    {"row_move column source=0 result=2 rows=1\n", "row_move is an instruction of channels", ""},
};

START_TEST(wrong_programs_are_refused)
{
    struct pim_error error;
    struct pim_check_result result;
    for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char text[1024];
        (void)snprintf(text, sizeof text, HEAD GROUPS "phase_begin 0\n%s" END, refused[i][0]);
        EXPECT(check_with(text, &limits, &result, &error), PIM_BAD_INPUT);
        EXPECT_TEXT(refused[i][1]);
        EXPECT_TEXT(refused[i][2]);
    }
}
END_TEST

/* In place, side by side, interleaved: no byte is read and written but at the same place. */
/* Weights are there before an mvm uses them, and go when another set comes. */
START_TEST(weights_are_written_before_they_are_used)
{
    struct pim_error error;
    struct pim_check_result result;
#define SETS                                                                                                 \
    ".unit 0\n.array_group rows=2 columns=2\n.array_group rows=2 columns=2 set=1\n"                          \
    ".array_group rows=2 columns=2 set=1\n.array_group rows=2 columns=2 set=2\n"
#define CELLS(group, row, rows, bytes)                                                                       \
    "array_write group=" #group " row=" #row " rows=" #rows " source=0 bytes=" #bytes "\n"
#define USE(group) "mvm group=" #group " input_address=0 input_bytes=4 output_address=8 output_bytes=4\n"
    static const char *const wrong[][2] = {
        {USE(1), "array group 1 is of set 1, and the arrays hold none that was written"},
        {CELLS(1, 0, 1, 4) USE(1), "array group 1 has 2 rows, of which 1 are written"},
        {CELLS(1, 1, 1, 4), "row 1 is written, and 0 comes next"},
        {CELLS(1, 0, 2, 4), "rows 0 to 1 are not 4 bytes of it"},
        {CELLS(1, 0, 3, 12), "rows 0 to 2 are not 12 bytes"},
        {CELLS(0, 0, 2, 8), "holds its weights from the beginning"},
        {CELLS(4, 0, 2, 8), "there is no array group 4: the unit has 4"},
        {CELLS(1, 0, 2, 8) CELLS(3, 0, 2, 8), "a join must stand before the first array_write of a set"},
        {CELLS(1, 0, 2, 8) USE(1) "join\n" CELLS(3, 0, 2, 8) USE(1), "and the arrays hold another one"},
        {CELLS(1, 0, 2, 8) "join\n" CELLS(3, 0, 2, 8) "join\n" CELLS(2, 0, 2, 8) USE(1), "of which 0 are"},
    };
    static const char right[] = CELLS(1, 0, 1, 4) USE(0) CELLS(2, 0, 2, 8) CELLS(1, 1, 1, 4) USE(1)
        USE(2) "join\n" CELLS(3, 0, 2, 8) USE(3) USE(0) "join\n" CELLS(1, 0, 2, 8) USE(1);
    char text[2048];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof text, "%s%s", HEAD SETS "phase_begin 0\n" FILL, wrong[i][0]);
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s", END);
        EXPECT(check_with(text, &limits, &result, &error), PIM_BAD_INPUT);
        EXPECT_TEXT(wrong[i][1]);
    }
    (void)snprintf(text, sizeof text, "%s%s%s", HEAD SETS "phase_begin 0\n" FILL, right, END);
    EXPECT_OK(check_with(text, &limits, &result, &error));
    ck_assert_uint_eq(result.counts.array_written_bytes, 4 + 8 + 4 + 8 + 8);
}
END_TEST

START_TEST(what_does_not_overlap)
{
    struct pim_error error;
    struct pim_check_result result;
    static const char *const right[] = {
        "mvm group=0 input_address=0 input_bytes=8 output_address=8 output_bytes=4\n",
        "mvm group=0 input_address=4 input_bytes=8 output_address=0 output_bytes=4\n",
        "local_copy destination=2 source=0 bytes=2 count=5 destination_stride=4 source_stride=4\n",
        "local_copy destination=4 source=4 bytes=2 count=5 destination_stride=4 source_stride=4\n",
        /* one piece, five times */
        "local_copy destination=2 source=0 bytes=2 count=5 destination_stride=2\n",
        "local_vector add elements=4 destination=10 source=10 second=10\n",
        "local_vector add elements=4 destination=10 source=2 second=18\n",
        "local_vector normalize elements=500 destination=0 source=0\n",
        "local_copy destination=0 source=999 bytes=1 count=100 destination_stride=1\n",
    };
    for (unsigned i = 0; i < sizeof right / sizeof right[0]; i++) {
        char text[1024];
        (void)snprintf(text, sizeof text, HEAD GROUPS "phase_begin 0\n" FILL "%s" END, right[i]);
        EXPECT_OK(check_with(text, &limits, &result, &error));
    }
}
END_TEST

/* What one unit writes says nothing about another's memory. */
START_TEST(memories_are_apart)
{
    struct pim_error error;
    struct pim_check_result result;
    EXPECT(check_with(HEAD BEGIN(0) FILL END BEGIN(2) "local_store address=0 local=10 bytes=1\n" END, &limits,
                      &result, &error),
           PIM_BAD_INPUT);
    EXPECT_TEXT("unit 2 instruction 1 (local_store");
    EXPECT_TEXT("reads byte 10");
    /* a map that grows keeps what it had, and is empty again for the next unit */
    EXPECT(check_with(HEAD BEGIN(0) "local_write destination=5 bytes=1\nlocal_write destination=0x10000000 "
                                    "bytes=3\nlocal_store address=0 local=5 bytes=1\n"
                                    "local_store address=0 local=0x10000000 bytes=3\n" END BEGIN(
                                        1) "local_store address=0 local=0x10000000 bytes=1\n" END,
                      &(struct pim_check_limits){.window = 0}, &result, &error),
           PIM_BAD_INPUT);
    EXPECT_TEXT("unit 1 instruction 1 (local_store");
}
END_TEST

/* Loads and stores of the global memory that nothing orders, and the same with what orders them. */
START_TEST(races_over_the_global_memory)
{
    struct pim_error error;
    struct pim_check_result result;
#define STORE "local_store address=64 local=0 bytes=32\n"
#define LOAD "local_load address=80 local=500 bytes=8 count=2 stride=200\n"
#define TO(unit) "send peer=" #unit " tag=0 address=0 bytes=4\n"
#define FROM(unit) "receive peer=" #unit " tag=0 address=900 bytes=4\n"
    static const char *const wrong[][2] = {
        {BEGIN(0) FILL STORE END BEGIN(1) LOAD END, "byte 0x50 of the global memory"},
        {BEGIN(1) FILL STORE END BEGIN(0) LOAD END, "byte 0x50 of the global memory"},
        /* no join behind the store; none before the load; joins of the wrong core; the message too early */
        {BEGIN(0) FILL STORE TO(1) END BEGIN(1) FROM(0) "join\n" LOAD END, "(local_store)"},
        {BEGIN(0) FILL STORE "join\n" TO(1) END BEGIN(1) FROM(0) LOAD END, "nothing orders the two"},
        {BEGIN(0) FILL STORE "join\n" TO(2) END BEGIN(1) "join\n" LOAD END BEGIN(2) FROM(0) "join\n" END,
         "nothing orders the two"},
        {BEGIN(0) FILL TO(1) STORE "join\n" END BEGIN(1) FROM(0) "join\n" LOAD END, "nothing orders the two"},
        /* two stores; a store that does not wait for the load; a core behind its own store; by way of another
         * core that does not join */
        {BEGIN(0) FILL STORE END BEGIN(1) FILL STORE END, "(local_store)"},
        {BEGIN(0) LOAD "join\n" FILL TO(1) END BEGIN(1) FILL FROM(0) STORE "join\n" END, "(local_load)"},
        {BEGIN(0) FILL STORE LOAD END, "unit 0 instruction 2 (local_store)"},
        {BEGIN(0) FILL STORE "join\n" TO(1) END BEGIN(1) FILL FROM(0) TO(2) END BEGIN(2)
             FROM(1) "join\n" LOAD END,
         "nothing orders the two"}};
    static const char *const right[] = {
        BEGIN(0) FILL STORE "join\n" TO(1) END BEGIN(1) FROM(0) "join\n" LOAD END,
        BEGIN(0) FILL STORE "join\n" TO(1) END BEGIN(1) FILL FROM(0) "join\n" TO(2) END BEGIN(2)
            FROM(1) "join\n" LOAD END,
        BEGIN(0) FILL STORE "join\n" LOAD "join\n" STORE END,
        BEGIN(0) FILL LOAD STORE STORE END,
        BEGIN(0) LOAD "join\n" FILL TO(1) END BEGIN(1) FILL FROM(0) "join\n" STORE END,
        BEGIN(0)
            FILL STORE END BEGIN(1) "local_load address=32 local=500 bytes=32\n" END, /* beside each other */
        BEGIN(0) LOAD END BEGIN(1) LOAD END};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[2048];
        (void)snprintf(text, sizeof text, "%s%s", HEAD, wrong[i][0]);
        EXPECT(check_with(text, &limits, &result, &error), PIM_BAD_INPUT);
        EXPECT_TEXT(wrong[i][1]);
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        char text[2048];
        (void)snprintf(text, sizeof text, "%s%s", HEAD, right[i]);
        ck_assert_msg(check_with(text, &limits, &result, &error) == PIM_OK, "%zu: %s", i, error.text);
    }
}
END_TEST

START_TEST(nodes_and_cores_do_not_mix)
{
    struct pim_error error;
    struct pim_check_result result;
    struct pim_check_limits any = {.window = 0}, nodes = {.kind = PIM_CHECK_NODES};
    static const char mixed[] =
        HEAD BEGIN(0) "load none address=0 bytes=1\n" END BEGIN(1) "local_write destination=0 bytes=1\n" END;
    static const char neutral[] =
        HEAD BEGIN(0) "send peer=1 address=0 bytes=1\n" END BEGIN(1) "receive peer=0 address=0 bytes=1\n" END;
    EXPECT(check_with(mixed, &any, &result, &error), PIM_BAD_INPUT);
    EXPECT_TEXT(
        "unit 1 instruction 1 (local_write destination=0x0 bytes=1): local_write is an instruction of "
        "cores");
    EXPECT(check_with(mixed, &limits, &result, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("unit 0 instruction 1");
    EXPECT(check_with(HEAD GROUPS "phase_begin 0\nmvm group=0 input_bytes=8 output_bytes=4\n" END, &nodes,
                      &result, &error),
           PIM_BAD_INPUT);
    EXPECT_TEXT("mvm is an instruction of cores with crossbars: nodes (array.kind) do not execute it");
    /* messages alone: on nodes memory is there, on cores it must have been written */
    EXPECT_OK(check_with(neutral, &any, &result, &error));
    ck_assert_int_eq(result.kind, PIM_CHECK_NODES);
    EXPECT(check_with(neutral, &limits, &result, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("its payload reads byte 0");
}
END_TEST

/* Two cores that pass on what they receive: no dependency, but the same bytes. */
START_TEST(hazards_make_circles)
{
    struct pim_error error;
    struct pim_check_result result;
    char text[1024];
    static const char ring[] = HEAD BEGIN(0) FILL "receive peer=1 address=%d bytes=8\nsend peer=1 address=%d "
                                                  "bytes=8\n" END BEGIN(1) FILL
        "receive peer=0 address=100 bytes=8\nsend peer=0 address=100 bytes=8\n" END;
    (void)snprintf(text, sizeof text, ring, 20, 27); /* one byte in common */
    EXPECT(check_with(text, &limits, &result, &error), PIM_DEADLOCK);
    EXPECT_TEXT("circle of 4");
    EXPECT_TEXT("waits for instruction 2, which uses the same bytes of the local memory");
    (void)snprintf(text, sizeof text, ring, 20, 28); /* none */
    EXPECT_OK(check_with(text, &limits, &result, &error));
    struct pim_check_limits in_order = limits;
    in_order.in_order = true;
    EXPECT(check_with(text, &in_order, &result, &error), PIM_DEADLOCK);
    EXPECT_TEXT("may not start before instruction 2 is complete (in-order issue)");
    struct pim_check_limits narrow = limits;
    narrow.window = 1;
    EXPECT(check_with(text, &narrow, &result, &error), PIM_DEADLOCK);
    EXPECT_TEXT("the window of 1 instructions is full");
    /* through something between them: the copy reads what comes, the send what the copy writes */
    EXPECT(check_with(HEAD BEGIN(0) FILL
                      "receive peer=1 address=0 bytes=8\nlocal_copy destination=50 source=0 "
                      "bytes=8\nsend peer=1 address=50 bytes=8\n" END BEGIN(1) FILL
                      "receive peer=0 address=0 bytes=8\nlocal_copy destination=50 source=0 bytes=8\n"
                      "send peer=0 address=50 bytes=8\n" END,
                      &limits, &result, &error),
           PIM_DEADLOCK);
    EXPECT_TEXT("circle of 6");
    /* two that only read the same bytes do not wait for each other */
    EXPECT_OK(check_with(HEAD BEGIN(0) FILL "send peer=1 tag=1 address=0 bytes=8\nlocal_copy destination=50 "
                                            "source=0 bytes=8\n"
                                            "receive peer=1 address=50 bytes=8\n" END BEGIN(1) FILL
                         "send peer=0 address=0 bytes=8\nreceive peer=0 tag=1 address=0 bytes=8\n" END,
                         &limits, &result, &error));
}
END_TEST

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 16) % below;
}

enum { BYTES = 512 };

static struct pim_local_pieces draw_pieces(uint64_t *state, bool apart)
{
    struct pim_local_pieces pieces = {.bytes = 1 + draw(state, 5), .count = 1 + draw(state, 8)};
    pieces.stride = (apart ? pieces.bytes : 0) + draw(state, 12);
    if (pieces.count == 1)
        pieces.stride = 0;
    pieces.address = draw(state, 100);
    return pieces;
}

START_TEST(shared_bytes_against_a_plain_list)
{
    static const uint64_t seed = 20240820;
    uint64_t state = seed;
    unsigned shared = 0;
    printf("seed %" PRIu64 "\n", seed);
    for (int round = 0; round < 20000; round++) {
        bool in_a[BYTES] = {false}, both = false;
        const struct pim_local_pieces a = draw_pieces(&state, false), b = draw_pieces(&state, true);
        for (uint64_t i = 0; i < a.count; i++)
            for (uint64_t j = 0; j < a.bytes; j++)
                in_a[a.address + i * a.stride + j] = true;
        for (uint64_t i = 0; i < b.count; i++)
            for (uint64_t j = 0; j < b.bytes; j++)
                both = both || in_a[b.address + i * b.stride + j];
        ck_assert_msg(pim_local_share_bytes(&a, &b) == both, "round %d", round);
        shared += both;
    }
    ck_assert_uint_gt(shared, 2000);
    ck_assert_uint_lt(shared, 18000);
}
END_TEST

/* Random copies and writes: the checker stops at the instruction at which a plain list of bytes does. */
START_TEST(written_bytes_against_a_plain_list)
{
    static const uint64_t seed = 20240821;
    uint64_t state = seed;
    unsigned wrong = 0, right = 0;
    printf("seed %" PRIu64 "\n", seed);
    for (int round = 0; round < 150; round++) {
        bool written[BYTES] = {false};
        char text[8192], expected[64] = "";
        int used = snprintf(text, sizeof text, HEAD BEGIN(0));
        for (unsigned i = 1; i <= 40; i++) {
            const struct pim_local_pieces to = draw_pieces(&state, true);
            if (i < 6 || draw(&state, 20) > 0) {
                used += snprintf(text + used, sizeof text - (size_t)used,
                                 "local_write destination=%" PRIu64 " bytes=%" PRIu64 " count=%" PRIu64
                                 " stride=%" PRIu64 "\n",
                                 to.address, to.bytes, to.count, to.stride);
                for (uint64_t j = 0; j < to.count * to.bytes; j++)
                    written[to.address + j / to.bytes * to.stride + j % to.bytes] = true;
                continue;
            }
            const uint64_t first = draw(&state, 100), bytes = 1 + draw(&state, 10);
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "local_store address=0 local=%" PRIu64 " bytes=%" PRIu64 "\n", first, bytes);
            for (uint64_t j = 0; j < bytes && expected[0] == '\0'; j++)
                if (!written[first + j])
                    (void)snprintf(expected, sizeof expected, "its source reads byte %" PRIu64 " ",
                                   first + j);
        }
        (void)snprintf(text + used, sizeof text - (size_t)used, END);
        struct pim_error error;
        struct pim_check_result result;
        EXPECT(check_with(text, &limits, &result, &error), expected[0] ? PIM_BAD_INPUT : PIM_OK);
        EXPECT_TEXT(expected);
        wrong += expected[0] != '\0';
        right += expected[0] == '\0';
    }
    printf("%u wrong, %u right\n", wrong, right);
    ck_assert_uint_gt(wrong, 20);
    ck_assert_uint_gt(right, 20);
}
END_TEST

Suite *local_suite(void)
{
    Suite *suite = suite_create("local");
    TCase *tests = tcase_create("local");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_right_program_completes);
    tcase_add_test(tests, wrong_programs_are_refused);
    tcase_add_test(tests, weights_are_written_before_they_are_used);
    tcase_add_test(tests, what_does_not_overlap);
    tcase_add_test(tests, memories_are_apart);
    tcase_add_test(tests, nodes_and_cores_do_not_mix);
    tcase_add_test(tests, hazards_make_circles);
    tcase_add_test(tests, races_over_the_global_memory);
    tcase_add_test(tests, shared_bytes_against_a_plain_list);
    tcase_add_test(tests, written_bytes_against_a_plain_list);
    suite_add_tcase(suite, tests);
    return suite;
}
