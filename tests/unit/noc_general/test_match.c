/*
 * Allocators and arbiters on request matrices: small cases worked out by hand, and properties of random ones.
 */
#include "tests/unit/noc_general/suites.h"
#include "tests/unit/noc_general/support.h"

#include "models/noc/general/match.h"

#include <string.h>

enum { MOST = 12 };

/* A matching of its own, without a network around it. */
struct bench {
    struct pim_noc noc;
    struct noc_general general;
    struct general_matching matching;
    struct general_request requests[MOST * MOST];
    struct general_packet packets[MOST * MOST];
    struct general_task tasks[8];
    uint16_t accept[MOST], grant[MOST], following[MOST * MOST], diagonal;
    uint64_t input_stamps[MOST * MOST], output_stamps[MOST * MOST];
};

static void start(struct bench *bench, enum pim_noc_allocator allocator, enum pim_noc_arbiter arbiter,
                  unsigned inputs, unsigned outputs)
{
    memset(bench, 0, sizeof *bench);
    bench->noc.configuration.arbiter = arbiter;
    bench->noc.general = &bench->general;
    bench->general.packets = bench->packets;
    bench->general.tasks = bench->tasks;
    bench->general.task_capacity = 8;
    bench->general.scratch.following = bench->following;
    bench->matching = (struct general_matching){
        .noc = &bench->noc,
        .requests = bench->requests,
        .allocator = allocator,
        .arbiter = {arbiter, 1},
        .iterations = 1,
        .inputs = inputs,
        .outputs = outputs,
        .diagonal = &bench->diagonal,
        .accept = bench->accept,
        .grant = bench->grant,
        .accept_stride = 1,
        .grant_stride = 1,
    };
    if (arbiter == PIM_NOC_MATRIX) {
        bench->matching.input_stamps = bench->input_stamps;
        bench->matching.output_stamps = bench->output_stamps;
    }
    for (uint32_t i = 0; i < MOST * MOST; i++)
        bench->packets[i] = (struct general_packet){.number = i, .task = PIM_NOC_NO_TASK};
}

static void ask(struct bench *bench, unsigned input, unsigned output)
{
    bench->requests[bench->matching.count++] = (struct general_request){
        .input = (uint16_t)input, .output = (uint16_t)output, .packet = input, .urgency = 1};
}

static void match(struct bench *bench)
{
    bench->matching.now++;
    pim_noc_general_match(&bench->matching);
}

static void forget(struct bench *bench)
{
    bench->matching.count = 0;
}

/* The output that an input got, or -1. */
static int got(const struct bench *bench, unsigned input)
{
    int output = -1;
    for (unsigned i = 0; i < bench->matching.count; i++)
        if (bench->requests[i].granted && bench->requests[i].input == input)
            output = bench->requests[i].output;
    return output;
}

static const enum pim_noc_allocator allocators[] = {PIM_NOC_ISLIP, PIM_NOC_SEPARABLE_INPUT_FIRST,
                                                    PIM_NOC_SEPARABLE_OUTPUT_FIRST, PIM_NOC_WAVEFRONT,
                                                    PIM_NOC_ROUND_ROBIN_WAVEFRONT};

/* Inputs 0 and 1 both ask for outputs 0 and 1. Separable input-first with fresh pointers: both pick output 0,
 * which takes input 0; output-first: both outputs pick input 0, which takes output 0. Then the pointers have
 * moved: input 0 prefers output 1, output 0 prefers input 1. */
START_TEST(separable_by_hand)
{
    for (unsigned mirror = 0; mirror < 2; mirror++) {
        struct bench bench;
        start(&bench, mirror ? PIM_NOC_SEPARABLE_OUTPUT_FIRST : PIM_NOC_SEPARABLE_INPUT_FIRST,
              PIM_NOC_ROUND_ROBIN, 2, 2);
        for (unsigned cycle = 0; cycle < 4; cycle++) {
            forget(&bench);
            for (unsigned i = 0; i < 4; i++)
                ask(&bench, i / 2, i % 2);
            match(&bench);
            /* cycle 0: one match, 0-0. Then input-first: 0 picks output 1, 1 picks output 0: both;
             * output-first: output 0 picks input 1, output 1 picks input 0: both. Then 0-0 and 1-1, and so
             * on. */
            ck_assert_int_eq(got(&bench, 0), cycle % 2);
            ck_assert_int_eq(got(&bench, 1), cycle == 0 ? -1 : 1 - (int)(cycle % 2));
        }
    }
}
END_TEST

/* Requests 0-0, 0-1, 1-0, 2-0. Output-first: output 0 picks input 0, output 1 picks input 0, which takes
 * output 0; the others get nothing although 1-0 and 0-1 would fit together. */
START_TEST(output_first_by_hand)
{
    struct bench bench;
    start(&bench, PIM_NOC_SEPARABLE_OUTPUT_FIRST, PIM_NOC_ROUND_ROBIN, 3, 3);
    for (unsigned cycle = 0; cycle < 2; cycle++) {
        forget(&bench);
        ask(&bench, 0, 0);
        ask(&bench, 0, 1);
        ask(&bench, 1, 0);
        ask(&bench, 2, 0);
        match(&bench);
        if (cycle == 0) {
            ck_assert_int_eq(got(&bench, 0), 0);
            ck_assert_int_eq(got(&bench, 1), -1);
            ck_assert_uint_eq(bench.grant[0], 1);
            ck_assert_uint_eq(bench.grant[1], 0); /* lost at the input: stays */
            ck_assert_uint_eq(bench.accept[0], 1);
        } else { /* output 0 now picks input 1, output 1 input 0 */
            ck_assert_int_eq(got(&bench, 0), 1);
            ck_assert_int_eq(got(&bench, 1), 0);
        }
        ck_assert_int_eq(got(&bench, 2), -1);
    }
}
END_TEST

/* All of 3 x 3: the diagonal of cycle c holds the pairs whose sum is c modulo 3; all three are granted. */
START_TEST(wavefront_by_hand)
{
    struct bench bench;
    start(&bench, PIM_NOC_WAVEFRONT, PIM_NOC_ROUND_ROBIN, 3, 3);
    for (unsigned cycle = 0; cycle < 7; cycle++) {
        forget(&bench);
        for (unsigned i = 0; i < 9; i++)
            ask(&bench, i / 3, i % 3);
        match(&bench);
        for (unsigned input = 0; input < 3; input++)
            ck_assert_int_eq(got(&bench, input), (int)((cycle + 3 - input) % 3));
    }
    /* 0-0 lies on diagonal 0, 0-1 and 1-0 on diagonal 1: diagonal 0 first takes 0-0 alone, diagonal 1 first
     * takes both of the others */
    for (unsigned diagonal = 0; diagonal < 2; diagonal++) {
        forget(&bench);
        bench.diagonal = (uint16_t)diagonal;
        ask(&bench, 0, 0);
        ask(&bench, 0, 1);
        ask(&bench, 1, 0);
        match(&bench);
        ck_assert_int_eq(got(&bench, 0), (int)diagonal);
        ck_assert_int_eq(got(&bench, 1), diagonal ? 0 : -1);
    }
}
END_TEST

static unsigned ask_at_random(struct bench *bench, struct pim_random *random, unsigned inputs,
                              unsigned outputs)
{
    uint32_t one_in = pick(random, 1, 5);
    forget(bench);
    for (unsigned i = 0; i < inputs; i++)
        for (unsigned k = 0; k < outputs; k++)
            if (chance(random, one_in)) {
                ask(bench, i, k);
                bench->requests[bench->matching.count - 1].urgency = (uint8_t)pick(random, 0, 3);
            }
    return bench->matching.count;
}

/* Every allocator and arbiter gives a matching; a wavefront's and many iterations of islip are maximal. */
START_TEST(matchings)
{
    struct pim_random random;
    pim_random_initialize(&random, 500 + (uint64_t)_i);
    enum pim_noc_allocator allocator = allocators[_i % 4];
    unsigned inputs = pick(&random, 1, MOST), outputs = pick(&random, 1, MOST);
    struct bench bench;
    start(&bench, allocator,
          allocator == PIM_NOC_WAVEFRONT ? PIM_NOC_ROUND_ROBIN : (enum pim_noc_arbiter)(_i / 4 % 5), inputs,
          outputs);
    bench.matching.iterations = MOST;
    bool maximal = allocator == PIM_NOC_WAVEFRONT || allocator == PIM_NOC_ISLIP;
    for (unsigned cycle = 0; cycle < 50; cycle++) {
        if (ask_at_random(&bench, &random, inputs, outputs) == 0)
            continue;
        match(&bench);
        unsigned by_input[MOST] = {0}, by_output[MOST] = {0};
        for (unsigned i = 0; i < bench.matching.count; i++) {
            by_input[bench.requests[i].input] += bench.requests[i].granted;
            by_output[bench.requests[i].output] += bench.requests[i].granted;
        }
        for (unsigned i = 0; i < bench.matching.count; i++) {
            unsigned input = by_input[bench.requests[i].input], output = by_output[bench.requests[i].output];
            if (input > 1 || output > 1 || (maximal && input + output == 0))
                ck_abort_msg("case %d, cycle %u: input and output of request %u have %u and %u grants", _i,
                             cycle, i, input, output);
        }
    }
}
END_TEST

/* Separable output-first is separable input-first of the transposed matrix. */
START_TEST(mirror_images)
{
    struct pim_random random;
    pim_random_initialize(&random, 900 + (uint64_t)_i);
    unsigned inputs = pick(&random, 1, MOST), outputs = pick(&random, 1, MOST);
    enum pim_noc_arbiter arbiter = _i % 2 ? PIM_NOC_MATRIX : PIM_NOC_ROUND_ROBIN;
    struct bench first, second;
    start(&first, PIM_NOC_SEPARABLE_INPUT_FIRST, arbiter, inputs, outputs);
    start(&second, PIM_NOC_SEPARABLE_OUTPUT_FIRST, arbiter, outputs, inputs);
    for (unsigned cycle = 0; cycle < 50; cycle++) {
        if (ask_at_random(&first, &random, inputs, outputs) == 0)
            continue;
        forget(&second);
        for (unsigned i = 0; i < first.matching.count; i++) {
            ask(&second, first.requests[i].output, first.requests[i].input);
            second.requests[i].urgency = first.requests[i].urgency;
        }
        match(&first);
        match(&second);
        for (unsigned i = 0; i < first.matching.count; i++)
            ck_assert_int_eq(first.requests[i].granted, second.requests[i].granted);
    }
}
END_TEST

/* Under full load every pair of input and output gets its turn once in n cycles, after the pointers have
 * spread. */
START_TEST(fairness)
{
    enum { SIZE = 5, ROUNDS = 20 };
    struct bench bench;
    start(&bench, allocators[_i], PIM_NOC_ROUND_ROBIN, SIZE, SIZE);
    unsigned turns[SIZE][SIZE] = {{0}};
    for (unsigned cycle = 0; cycle < SIZE * (ROUNDS + 4); cycle++) {
        forget(&bench);
        for (unsigned i = 0; i < SIZE * SIZE; i++)
            ask(&bench, i / SIZE, i % SIZE);
        match(&bench);
        for (unsigned i = 0; cycle >= 4 * SIZE && i < SIZE * SIZE; i++)
            turns[i / SIZE][i % SIZE] += bench.requests[i].granted;
    }
    for (unsigned i = 0; i < SIZE * SIZE; i++)
        ck_assert_uint_eq(turns[i / SIZE][i % SIZE], ROUNDS);
}
END_TEST

static unsigned winner_of(struct bench *bench, const unsigned *inputs, unsigned count)
{
    forget(bench);
    for (unsigned i = 0; i < count; i++)
        ask(bench, inputs[i], 0);
    match(bench);
    for (unsigned i = 0; i < count; i++)
        if (bench->requests[i].granted)
            return bench->requests[i].input;
    return UINT32_MAX;
}

/* One output: 0, 1, 2 ask; then 2 alone twice; then all. Round robin continues behind the last one served;
 * the matrix arbiter takes the one that waited longest, at first the last one; fixed priority always the
 * first. */
START_TEST(arbiters_by_hand)
{
    const struct {
        enum pim_noc_arbiter arbiter;
        unsigned winners[7];
    } cases[] = {
        {PIM_NOC_ROUND_ROBIN, {0, 1, 2, 2, 0, 1, 2}},
        {PIM_NOC_MATRIX, {2, 1, 2, 2, 0, 1, 2}},
        {PIM_NOC_FIXED_PRIORITY, {0, 0, 2, 2, 0, 0, 0}},
        {PIM_NOC_AGE, {0, 0, 2, 2, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench bench;
        start(&bench, PIM_NOC_SEPARABLE_INPUT_FIRST, cases[i].arbiter, 3, 1);
        for (unsigned cycle = 0; cycle < 7; cycle++) {
            const unsigned all[] = {0, 1, 2}, last[] = {2};
            bool alone = cycle == 2 || cycle == 3;
            unsigned winner = winner_of(&bench, alone ? last : all, alone ? 1 : 3);
            ck_assert_uint_eq(winner, cases[i].winners[cycle]);
        }
    }
    /* where the two differ: 1 and 2 were served after 0, so 0 has waited longest although 2 is next in turn
     * */
    const unsigned one[] = {1}, zero_two[] = {0, 2}, zero[] = {0}, two[] = {2};
    for (unsigned i = 0; i < 2; i++) {
        struct bench bench;
        start(&bench, PIM_NOC_ISLIP, i ? PIM_NOC_MATRIX : PIM_NOC_ROUND_ROBIN, 3, 1);
        (void)winner_of(&bench, zero, 1);
        (void)winner_of(&bench, two, 1);
        (void)winner_of(&bench, one, 1);
        ck_assert_uint_eq(winner_of(&bench, zero_two, 2), i ? 0 : 2);
    }
    /* age asks for the packet, not for the port */
    struct bench bench;
    start(&bench, PIM_NOC_SEPARABLE_OUTPUT_FIRST, PIM_NOC_AGE, 3, 1);
    bench.packets[0].number = 100;
    const unsigned all[] = {0, 1, 2};
    ck_assert_uint_eq(winner_of(&bench, all, 3), 1);
}
END_TEST

/* A tree over six candidates in two groups: the groups take turns, and inside a group its candidates. A plain
 * round robin would serve 0, 1, 2. */
START_TEST(tree_by_hand)
{
    struct bench bench;
    start(&bench, PIM_NOC_SEPARABLE_INPUT_FIRST, PIM_NOC_TREE, 6, 6);
    bench.matching.arbiter.groups = 2;
    bench.matching.input_stamps = bench.input_stamps;
    bench.matching.output_stamps = bench.output_stamps;
    static const unsigned all[] = {0, 1, 2, 3, 4, 5}, winners[] = {0, 3, 1, 4, 2, 5, 0};
    for (unsigned cycle = 0; cycle < 7; cycle++)
        ck_assert_uint_eq(winner_of(&bench, all, 6), winners[cycle]);
    static const unsigned first[] = {0, 1}; /* the group whose turn it is does not ask */
    ck_assert_uint_eq(winner_of(&bench, first, 2), 1);
    ck_assert_uint_eq(winner_of(&bench, all, 6), 3);
}
END_TEST

/* A greater priority goes before the arbiter under every allocator but islip, and urgency before it; a
 * wavefront takes one level after the other. */
START_TEST(priorities)
{
    for (unsigned a = 0; a < 5; a++)
        for (unsigned urgent = 0; urgent < 2; urgent++) {
            struct bench bench;
            start(&bench, allocators[a], PIM_NOC_ROUND_ROBIN, 3, 1);
            for (unsigned i = 0; i < 3; i++)
                ask(&bench, i, 0);
            bench.requests[0].priority = -1;
            bench.requests[2].priority = 7;
            bench.requests[1].urgency = urgent ? 3 : 1;
            match(&bench);
            unsigned expected = urgent ? 1 : allocators[a] == PIM_NOC_ISLIP ? 0 : 2;
            ck_assert(bench.requests[expected].granted);
        }
}
END_TEST

/* The diagonal of a round-robin wavefront moves behind the first one on which something is granted. */
START_TEST(round_robin_wavefront)
{
    struct bench bench;
    start(&bench, PIM_NOC_ROUND_ROBIN_WAVEFRONT, PIM_NOC_ROUND_ROBIN, 4, 4);
    ask(&bench, 1, 1); /* on diagonal 2 */
    ask(&bench, 1, 2); /* on diagonal 3 */
    match(&bench);
    ck_assert_int_eq(got(&bench, 1), 1);
    ck_assert_uint_eq(bench.diagonal, 3);
    forget(&bench);
    ask(&bench, 1, 1);
    ask(&bench, 1, 2);
    match(&bench);
    ck_assert_int_eq(got(&bench, 1), 2);
    ck_assert_uint_eq(bench.diagonal, 0);
}
END_TEST

/* total / transferred, compared exactly; ties by task, then age. */
START_TEST(workload_balance)
{
    const struct {
        struct general_task first, second;
        unsigned winner;
    } cases[] = {
        {{100, 50}, {30, 10}, 1}, /* 2 against 3 */
        {{300, 10}, {30, 10}, 0}, /* 30 against 3 */
        {{5, 0}, {1000, 1}, 0},   /* nothing transferred yet */
        {{20, 10}, {40, 20}, 0},  /* equal: the lower task */
        {{UINT64_MAX, UINT64_MAX - 1}, {UINT64_MAX, UINT64_MAX}, 0},
        {{UINT64_MAX, UINT64_MAX}, {UINT64_MAX, UINT64_MAX - 1}, 1},
        {{(UINT64_C(1) << 60) + 1, 3}, {(UINT64_C(1) << 60) + 2, 3}, 1}, /* equal as floating point */
    };
    const unsigned both[] = {0, 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned a = 0; a < 3; a++) {
            struct bench bench;
            start(&bench, allocators[a], PIM_NOC_WORKLOAD_BALANCE, 2, 1);
            bench.tasks[2] = cases[i].first;
            bench.tasks[5] = cases[i].second;
            bench.packets[0].task = 2;
            bench.packets[1].task = 5;
            ck_assert_uint_eq(winner_of(&bench, both, 2), cases[i].winner);
        }
    struct bench bench;
    start(&bench, PIM_NOC_ISLIP, PIM_NOC_WORKLOAD_BALANCE, 2, 1);
    bench.packets[0] = (struct general_packet){.task = 3, .number = 9};
    bench.packets[1] = (struct general_packet){.task = 3, .number = 4};
    bench.tasks[3] = (struct general_task){10, 5};
    ck_assert_uint_eq(winner_of(&bench, both, 2), 1); /* the same task: the older packet */
}
END_TEST

/* The more urgent class goes first under every allocator; a speculative request loses against another one,
 * but islip does not ask for that. */
START_TEST(urgency)
{
    for (unsigned a = 0; a < 4; a++)
        for (unsigned speculative = 0; speculative < 2; speculative++) {
            struct bench bench;
            start(&bench, allocators[a], PIM_NOC_ROUND_ROBIN, 2, 1);
            ask(&bench, 0, 0);
            ask(&bench, 1, 0);
            bench.requests[0].urgency = speculative ? 0 : 1;
            bench.requests[1].urgency = speculative ? 1 : 3;
            match(&bench);
            bool ignored = speculative && allocators[a] == PIM_NOC_ISLIP;
            ck_assert_int_eq(bench.requests[1].granted, !ignored);
            ck_assert_int_eq(bench.requests[0].granted, ignored);
        }
}
END_TEST

Suite *match_suite(void)
{
    Suite *suite = suite_create("noc_general_match");
    TCase *tests = tcase_create("matchings");
    tcase_add_test(tests, separable_by_hand);
    tcase_add_test(tests, output_first_by_hand);
    tcase_add_test(tests, wavefront_by_hand);
    tcase_add_loop_test(tests, matchings, 0, PIM_CASES(40));
    tcase_add_loop_test(tests, mirror_images, 0, 20);
    tcase_add_loop_test(tests, fairness, 0, 4);
    tcase_add_test(tests, arbiters_by_hand);
    tcase_add_test(tests, tree_by_hand);
    tcase_add_test(tests, priorities);
    tcase_add_test(tests, round_robin_wavefront);
    tcase_add_test(tests, workload_balance);
    tcase_add_test(tests, urgency);
    suite_add_tcase(suite, tests);
    return suite;
}
