/* Random programs of four channels against the stepped reference: every start and every end; and bounds
 * that no run beats, whatever goes on at the same time. */
#include "tests/unit/channel/reference.h"
#include "tests/unit/channel/suites.h"
#include "tests/unit/channel/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t draw(uint64_t *state, uint32_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % bound;
}

static void draw_banks(struct pim_instruction *instruction, uint64_t *state)
{
    uint32_t first = draw(state, 8), stride = 1 + draw(state, 3), most = (7 - first) / stride + 1;
    instruction->u.row_compute.first_bank = (uint16_t)first;
    instruction->u.row_compute.bank_stride = (uint16_t)stride;
    instruction->u.row_compute.banks = (uint16_t)(1 + draw(state, most));
}

static struct pim_instruction draw_local(uint64_t *state)
{
    struct pim_instruction one = {0};
    switch (draw(state, 4)) {
    case 0:
        one.opcode = PIM_OP_ROW_TRANSPOSE;
        one.u.row_compute.bits = (uint8_t)(1 + draw(state, 4));
        one.u.row_compute.result = 500;
        one.u.row_compute.count = 1 + draw(state, 2);
        draw_banks(&one, state);
        return one;
    case 1:
        one.opcode = PIM_OP_ROW_MOVE;
        one.u.row_move.rows = 1 + draw(state, 3);
        one.u.row_move.result = 100;
        draw_banks(&one, state);
        if (draw(state, 2) == 0)
            return one;
        one.detail = PIM_REACH_BANK; /* the lower banks to the upper ones */
        one.u.row_move.first_bank = (uint16_t)draw(state, 2);
        one.u.row_move.banks = (uint16_t)(1 + draw(state, 2));
        one.u.row_move.bank_stride = 1;
        one.u.row_move.to_bank = (uint16_t)(4 + draw(state, 2));
        return one;
    default:
        one.opcode = PIM_OP_ROW_COMPUTE;
        one.detail = (uint8_t)draw(state, PIM_ROW_OPERATIONS);
        one.u.row_compute.bits = (uint8_t)(1 + draw(state, 3));
        one.u.row_compute.second = one.detail == PIM_ROW_COPY ? 0 : 100;
        one.u.row_compute.result = 200;
        one.u.row_compute.count = 1 + draw(state, 3);
        if (one.detail == PIM_ROW_MULTIPLY)
            one.u.row_compute.size = (uint8_t)(one.u.row_compute.bits + draw(state, 2));
        if (one.detail == PIM_ROW_REDUCE)
            one.u.row_compute.size = (uint8_t)(1 + draw(state, 2));
        draw_banks(&one, state);
        return one;
    }
}

static void add_dependencies(struct pim_instruction *one, uint32_t before, uint64_t *state)
{
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++)
        if (before > 0 && draw(state, 4) == 0)
            one->dependency[i] = (uint16_t)(1 + draw(state, before < 6 ? before : 6));
}

/* Both ends of a message; sends and receives are appended in one order for all, so that no program waits
 * for ever. */
static void add_message(struct reference *r, uint64_t *state)
{
    uint32_t from = draw(state, 4), to = (from + 1 + draw(state, 3)) % 4;
    bool between = from / 2 != to / 2;
    struct pim_instruction one = {.opcode = PIM_OP_ROW_SEND,
                                  .detail = between ? PIM_REACH_STACK : PIM_REACH_CHANNEL};
    one.u.row_message.peer = to;
    one.u.row_message.tag = draw(state, 2);
    one.u.row_message.rows = 1 + draw(state, 3);
    draw_banks(&one, state);
    uint32_t rows = one.u.row_message.rows * one.u.row_message.banks;
    struct reference_channel *channel = &r->channel[from];
    channel->list[channel->count++].instruction = one;
    one.opcode = PIM_OP_ROW_RECEIVE;
    one.u.row_message.peer = from;
    one.u.row_message.rows = rows;
    one.u.row_message.banks = one.u.row_message.bank_stride = 1;
    one.u.row_message.first_bank = (uint16_t)draw(state, 8);
    channel = &r->channel[to];
    channel->list[channel->count++].instruction = one;
}

static void draw_programs(struct reference *r, uint64_t *state)
{
    uint32_t messages = draw(state, 8);
    for (uint32_t i = 0; i < 20; i++) {
        if (draw(state, 20) < messages) {
            add_message(r, state);
            continue;
        }
        struct reference_channel *channel = &r->channel[draw(state, 4)];
        struct pim_instruction one = draw_local(state);
        add_dependencies(&one, (uint32_t)channel->count, state);
        channel->list[channel->count++].instruction = one;
    }
}

/* Nothing ends before the commands, links and the bus allow. */
static void check_bounds(const struct run *run, const struct reference *r)
{
    const struct pim_channel_memory *memory = &r->configuration.memory;
    uint64_t bus = 0;
    for (int id = 0; id < r->channels; id++) {
        uint64_t rows = 0, data = 0, out = 0, last = 0;
        for (int i = 0; i < r->channel[id].count; i++) {
            const struct reference_instruction *one = &r->channel[id].list[i];
            rows += one->cost.activates * memory->specification.parameter[PIM_DRAM_T_FAW] / 4;
            data += one->cost.data_cycles;
            last = one->end > last ? one->end : last;
            if (one->instruction.opcode != PIM_OP_ROW_SEND)
                continue;
            uint64_t bytes = (uint64_t)one->instruction.u.row_message.rows *
                             one->instruction.u.row_message.banks * (memory->columns / 8);
            out += bytes / memory->link_bytes;
            bus += one->instruction.detail == PIM_REACH_STACK ? bytes / memory->bus_bytes : 0;
        }
        ck_assert_uint_ge(last, out);
        ck_assert_uint_ge(last, data);
        if (memory->commands)
            ck_assert_uint_ge(last, rows);
    }
    ck_assert_uint_ge(run->result.cycles, bus);
}

static void compare(uint64_t seed, const char *costs, const char *bus)
{
    uint64_t state = seed;
    struct run run = {.width = 2, .height = 2, .settings = {costs, bus}};
    static struct reference r;
    struct program programs[REFERENCE_CHANNELS];
    static struct pim_instruction lists[REFERENCE_CHANNELS][REFERENCE_INSTRUCTIONS];
    r = (struct reference){.channels = REFERENCE_CHANNELS};
    draw_programs(&r, &state);
    for (int id = 0; id < r.channels; id++) {
        for (int i = 0; i < r.channel[id].count; i++)
            lists[id][i] = r.channel[id].list[i].instruction;
        programs[id] = (struct program){lists[id], (uint32_t)r.channel[id].count};
    }
    replay_programs(&run, programs, 0);
    ck_assert_msg(run.status == PIM_OK, "seed %llu: %s", (unsigned long long)seed, run.error.text);
    check_invariants(&run);
    r.configuration = run.system->hardware.channels;
    ck_assert(reference_run(&r));
    for (int id = 0; id < r.channels; id++)
        for (int i = 0; i < r.channel[id].count; i++) {
            const struct reference_instruction *one = &r.channel[id].list[i];
            ck_assert_msg(
                run.seen[id][i].start == one->start && run.seen[id][i].end == one->end,
                "seed %llu, channel %d, instruction %d (%s): %llu to %llu, by the reference %llu to %llu",
                (unsigned long long)seed, id, i, pim_opcode_name(one->instruction.opcode),
                (unsigned long long)run.seen[id][i].start, (unsigned long long)run.seen[id][i].end,
                (unsigned long long)one->start, (unsigned long long)one->end);
        }
    check_bounds(&run, &r);
    clean(&run);
}

START_TEST(random_programs_with_the_figures_costs)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        compare(seed, "levels.costs=figure", seed % 2 ? "levels.bus_bytes=256" : "levels.bus_bytes=8");
}
END_TEST

START_TEST(random_programs_with_commands)
{
    for (uint64_t seed = 1; seed <= 40; seed++)
        compare(seed, "levels.costs=commands", seed % 2 ? "levels.bus_bytes=256" : "levels.bus_bytes=8");
}
END_TEST

Suite *channel_property_suite(void)
{
    Suite *suite = suite_create("channel_property");
    TCase *tests = tcase_create("property");
    tcase_add_test(tests, random_programs_with_the_figures_costs);
    tcase_add_test(tests, random_programs_with_commands);
    suite_add_tcase(suite, tests);
    return suite;
}
