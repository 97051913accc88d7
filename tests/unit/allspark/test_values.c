/*
 * The check of values itself (mappers/allspark/check): programs that are broken in one instruction are
 * refused, wherever that stands, and so are those of another network. That right ones pass is in
 * test_dataflow.c.
 */
#include "mappers/allspark/check/check_values.h"
#include "tests/unit/allspark/scenario.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum breakage {
    LOAD_ADDRESS,
    STORE_ADDRESS,
    SEND_ADDRESS,
    RECEIVE_ADDRESS,
    SEND_PEER,
    SEND_TAG,
    NO_ACCUMULATION,
    OTHER_FUNCTION,
    NO_OPERAND,
    LOADS_EXCHANGED,
    NO_RELEASE,
    BREAKAGES
};

static const char *const names[BREAKAGES] = {
    "address of a load", "address of a store", "address of a send", "address of a receive",
    "peer of a send",    "tag of a send",      "accumulation",      "function of a vector",
    "operand",           "order of loads",     "bytes given back"};

static bool is(const struct pim_instruction *instruction, enum pim_opcode opcode)
{
    return instruction->opcode == opcode;
}

/* Whether an instruction can be broken this way so that values must be wrong. */
static bool applies(enum breakage breakage, const struct pim_instruction *now,
                    const struct pim_instruction *next)
{
    switch (breakage) {
    case LOAD_ADDRESS:
        return is(now, PIM_OP_LOAD);
    case STORE_ADDRESS:
        return is(now, PIM_OP_STORE);
    case SEND_ADDRESS:
    case SEND_PEER:
    case SEND_TAG:
        return is(now, PIM_OP_SEND);
    case RECEIVE_ADDRESS:
        return is(now, PIM_OP_RECEIVE);
    case NO_ACCUMULATION:
        return is(now, PIM_OP_MATRIX) && (now->detail & PIM_MATRIX_ACCUMULATE);
    case OTHER_FUNCTION:
        return is(now, PIM_OP_VECTOR) && (now->detail == PIM_VECTOR_GELU || now->detail == PIM_VECTOR_ADD ||
                                          (now->detail == PIM_VECTOR_SOFTMAX && now->u.vector.elements > 1));
    case NO_OPERAND:
        return (is(now, PIM_OP_STORE) || is(now, PIM_OP_VECTOR)) && now->dependency[0] > 0;
    case LOADS_EXCHANGED:
        return is(now, PIM_OP_LOAD) && next && is(next, PIM_OP_LOAD) && now->detail == next->detail &&
               now->u.memory.bytes == next->u.memory.bytes && now->u.memory.count == next->u.memory.count &&
               now->u.memory.address != next->u.memory.address;
    case NO_RELEASE:
        return is(now, PIM_OP_VECTOR) && now->u.vector.release > 0;
    case BREAKAGES:
        break;
    }
    return false;
}

static void break_it(enum breakage breakage, struct pim_instruction *now, uint32_t unit, uint32_t units)
{
    switch (breakage) {
    case LOAD_ADDRESS:
    case STORE_ADDRESS:
        now->u.memory.address++;
        break;
    case SEND_ADDRESS:
    case RECEIVE_ADDRESS:
        now->u.network.address++;
        break;
    case SEND_PEER:
        do
            now->u.network.peer = (now->u.network.peer + 1) % units;
        while (now->u.network.peer == unit);
        break;
    case SEND_TAG:
        now->u.network.tag ^= 1;
        break;
    case NO_ACCUMULATION:
        now->detail &= (uint8_t)~PIM_MATRIX_ACCUMULATE;
        break;
    case OTHER_FUNCTION:
        now->detail = PIM_VECTOR_COPY;
        break;
    case NO_OPERAND:
        now->dependency[0] = 0;
        break;
    case NO_RELEASE:
        now->u.vector.release = 0;
        break;
    case LOADS_EXCHANGED:
    case BREAKAGES:
        break;
    }
}

/* Where to break: the `skip`-th instruction, over all units, that can be broken so; *done: it was. */
struct place {
    enum breakage breakage;
    uint64_t skip;
    bool done;
    uint32_t unit;
    uint64_t index;
};

static void copy_unit(const struct pim_trace *trace, uint32_t unit, struct place *place,
                      struct pim_trace_writer *writer)
{
    struct pim_error error = {0};
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *next;
    ck_assert(pim_trace_cursor_create(trace, unit, &cursor, &error) == PIM_OK);
    ck_assert(pim_trace_cursor_next(cursor, &next, &error) == PIM_OK);
    for (uint64_t index = 0; next; index++) {
        struct pim_instruction now = *next, other = {0};
        ck_assert(pim_trace_cursor_next(cursor, &next, &error) == PIM_OK);
        bool broken = !place->done && applies(place->breakage, &now, next) && place->skip-- == 0;
        if (broken) {
            place->done = true;
            place->unit = unit;
            place->index = index;
            break_it(place->breakage, &now, unit, pim_trace_description(trace)->units);
        }
        if (broken && place->breakage == LOADS_EXCHANGED) {
            other = now;
            now = *next;
            memcpy(now.dependency, other.dependency, sizeof now.dependency);
            memcpy(other.dependency, next->dependency, sizeof now.dependency);
            ck_assert(pim_trace_writer_append(writer, unit, &now, &error) == PIM_OK);
            ck_assert(pim_trace_cursor_next(cursor, &next, &error) == PIM_OK);
            now = other;
        }
        ck_assert_msg(pim_trace_writer_append(writer, unit, &now, &error) == PIM_OK, "%s", error.text);
    }
    pim_trace_cursor_destroy(cursor);
}

/* A copy of the trace that is broken in one place; NULL: there is no such place any more. */
static struct pim_trace *broken_copy(const struct pim_trace *trace, struct place *place)
{
    struct pim_error error = {0};
    struct pim_trace_writer *writer;
    struct pim_trace *copy = NULL;
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/pimsim-allspark-broken-%ld.bin", (long)getpid());
    ck_assert(pim_trace_writer_create(path, pim_trace_description(trace), &writer, &error) == PIM_OK);
    for (uint32_t i = 0; i < pim_trace_phases(trace); i++)
        (void)pim_trace_writer_phase(writer, pim_trace_phase(trace, i));
    for (uint32_t unit = 0; unit < pim_trace_description(trace)->units; unit++)
        copy_unit(trace, unit, place, writer);
    ck_assert_msg(pim_trace_writer_finish(writer, &error) == PIM_OK, "%s", error.text);
    if (place->done)
        ck_assert_msg(pim_trace_open(path, &copy, &error) == PIM_OK, "%s", error.text);
    (void)unlink(path);
    return copy;
}

/* Breaks places of a trace, one at a time, as far apart as makes some `tries` of each kind. */
static void break_all(const struct scenario *scenario, uint64_t tries, bool zeros)
{
    for (enum breakage breakage = 0; breakage < BREAKAGES; breakage++) {
        uint64_t places = 0, tried = 0, found = 0;
        struct place all = {.breakage = breakage, .skip = UINT64_MAX};
        ck_assert_ptr_null(broken_copy(scenario->trace, &all));
        places = UINT64_MAX - all.skip;
        for (uint64_t i = 0; i < places; i += 1 + places / tries, tried++) {
            struct place place = {.breakage = breakage, .skip = i};
            struct pim_trace *broken = broken_copy(scenario->trace, &place);
            struct pim_error error = {0};
            struct pim_allspark_check check;
            ck_assert_ptr_nonnull(broken);
            enum pim_status status = pim_allspark_check_values(&scenario->plan, broken, NULL, &check, &error);
            /* Of zeros beyond the border it does not matter which are loaded. */
            ck_assert_msg(status == PIM_BAD_INPUT || status == PIM_DEADLOCK ||
                              (zeros && (breakage == LOAD_ADDRESS || breakage == LOADS_EXCHANGED)),
                          "%s: not found: %s of instruction %" PRIu64 " of unit %" PRIu32, scenario->name,
                          names[breakage], place.index, place.unit);
            ck_assert(status == PIM_OK || error.text[0] != '\0');
            found += status != PIM_OK;
            pim_trace_close(broken);
        }
        ck_assert_msg(found > 0 || tried == 0, "%s: never found: %s", scenario->name, names[breakage]);
        ck_assert_msg(tried > 0 || breakage == LOADS_EXCHANGED, "%s: nothing to break: %s", scenario->name,
                      names[breakage]);
    }
}

static const struct {
    enum small_network network;
    uint32_t u, v, ring, chunks, batch;
    enum pim_allspark_prefetch prefetch;
    enum pim_allspark_exchange exchange;
    bool zeros;
} cases[] = {{SMALL_SWIN, 2, 2, 4, 1, 1, PIM_PREFETCH_OFF, PIM_ALLSPARK_DIRECT, false},
             {SMALL_SHIFTED, 2, 2, 2, 2, 1, PIM_PREFETCH_ON, PIM_ALLSPARK_GATHER, false},
             {SMALL_VIT, 3, 2, 3, 1, 2, PIM_PREFETCH_OFF, PIM_ALLSPARK_DIRECT, false},
             {SMALL_PVT, 2, 3, 2, 1, 1, PIM_PREFETCH_OFF, PIM_ALLSPARK_DIRECT, false},
             {SMALL_TWINS, 2, 2, 2, 1, 1, PIM_PREFETCH_ON, PIM_ALLSPARK_DIRECT, true},
             {SMALL_CSWIN, 2, 2, 2, 1, 1, PIM_PREFETCH_OFF, PIM_ALLSPARK_GATHER, true},
             {SMALL_FOCAL, 2, 2, 2, 1, 1, PIM_PREFETCH_OFF, PIM_ALLSPARK_DIRECT, true}};

enum { CASES = sizeof cases / sizeof cases[0] };

START_TEST(broken_programs_are_refused)
{
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    struct pim_allspark_options options = partition(cases[_i].u, cases[_i].v, cases[_i].ring);
    struct scenario scenario;
    struct pim_error error = {0};
    options.chunks = cases[_i].chunks;
    options.batch = cases[_i].batch;
    options.prefetch = cases[_i].prefetch;
    options.exchange = cases[_i].exchange;
    ck_assert_msg(scenario_make(&scenario, small_network(cases[_i].network), &hardware, &options, &error),
                  "%s", error.text);
    scenario_prove(&scenario);
    break_all(&scenario, PIM_CASES(8), cases[_i].zeros);
    scenario_end(&scenario);
}
END_TEST

static void expect_refused(const struct scenario *scenario, const char *what)
{
    struct pim_error error = {0};
    struct pim_allspark_check check;
    enum pim_status status =
        pim_allspark_check_values(&scenario->plan, scenario->trace, NULL, &check, &error);
    ck_assert_msg(status == PIM_BAD_INPUT, "%s: not found: %s", scenario->name, what);
}

/* What plan and programs have alike, and the network or the buffers of the hardware have otherwise. */
START_TEST(plans_of_another_network_are_refused)
{
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    const struct pim_allspark_options options = partition(2, 2, 2);
    struct scenario scenario;
    struct pim_error error = {0};
    ck_assert_msg(scenario_make(&scenario, small_network(SMALL_TWINS), &hardware, &options, &error), "%s",
                  error.text);
    scenario_prove(&scenario);
    struct pim_transformer *network = scenario.network->transformer;
    struct pim_transformer_block *block = &network->block[0];
    const struct pim_transformer_block right = *block;
    block->hidden_channels /= 2;
    expect_refused(&scenario, "hidden channels");
    *block = right;
    block->attention[0].heads *= 2;
    block->attention[0].head_channels /= 2;
    expect_refused(&scenario, "heads");
    *block = right;
    network->stage[0].blocks--;
    expect_refused(&scenario, "blocks");
    network->stage[0].blocks++;
    scenario.plan.hardware.weight_bytes /= 2; /* other tiles, so another order of the weights */
    expect_refused(&scenario, "tiles");
    scenario.plan.hardware.weight_bytes *= 2;
    scenario_prove(&scenario);
    scenario_end(&scenario);
}
END_TEST

Suite *values_suite(void)
{
    Suite *suite = suite_create("values");
    TCase *tests = tcase_create("values");
    tcase_add_loop_test(tests, broken_programs_are_refused, 0, CASES);
    tcase_add_test(tests, plans_of_another_network_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
