/* What exchanges are estimated at, and which cuts leave groups of channels whole. */
#include "mappers/nicepim/map/flow.h"
#include "mappers/nicepim/map/program/messages.h"
#include "tests/unit/nicepim/suites.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 4, HEIGHT = 3 };

/* The hop, the clock of the network and the receives that a node has open vary. */
static const struct {
    uint32_t hop, posted;
    uint64_t network_khz;
} variants[] = {{3, 4, 400000}, {3, 1, 200000}, {7, 2, 800000}, {5, 3, 300000}};

static struct pim_estimate_hardware hardware_of(int variant)
{
    return (struct pim_estimate_hardware){.width = WIDTH,
                                          .height = HEIGHT,
                                          .logic_khz = 400000,
                                          .network_khz = variants[variant].network_khz,
                                          .memory_khz = 400000,
                                          .memory_bytes = 1 << 20,
                                          .window = 4,
                                          .port_bytes = 16,
                                          .row_bytes = 1024,
                                          .column_cycles = 1,
                                          .latency_cycles = 11,
                                          .read_row_cycles = 5,
                                          .write_row_cycles = 7,
                                          .flit_bytes = 8,
                                          .network.per_router = variants[variant].hop,
                                          .packet_bytes = 1024,
                                          .receive_packets = 1,
                                          .posted_receives = variants[variant].posted,
                                          .banks = 1};
}

/* Network cycles, rounded up to those of the logic. */
static uint64_t logic(const struct pim_estimate_hardware *hardware, uint64_t cycles)
{
    return (cycles * hardware->logic_khz + hardware->network_khz - 1) / hardware->network_khz;
}

/* Reading a packet of so many bytes before it is sent, and writing it: columns of 16 bytes, and a row is
 * opened for each. */
static uint64_t ends_of(uint64_t bytes)
{
    uint64_t columns = (bytes + 15) / 16;
    return 2 * 11 + (columns + 5) + (columns + 7);
}

/* Routers from one node to another, both counted, step by step. */
static uint64_t routers(uint32_t from, uint32_t to)
{
    uint64_t count = 1;
    for (uint32_t x = from % WIDTH; x != to % WIDTH; x = x < to % WIDTH ? x + 1 : x - 1)
        count++;
    for (uint32_t y = from / WIDTH; y != to / WIDTH; y = y < to / WIDTH ? y + 1 : y - 1)
        count++;
    return count;
}

static uint64_t exchange(const struct pim_estimate_hardware *hardware, const struct program_message *messages,
                         size_t count)
{
    struct pim_error error = {0};
    struct program program;
    struct program_message copy[64];
    const struct nice_plan plan = {.hardware = hardware};
    ck_assert_uint_le(count, sizeof copy / sizeof copy[0]);
    memcpy(copy, messages, count * sizeof *messages);
    ck_assert(program_initialize(&program, &plan, NULL, &error));
    program.rough = true;
    program_exchange(&program, copy, count);
    uint64_t cycles = program_section(&program);
    ck_assert_msg(program.status == PIM_OK, "%s", error.text);
    program_terminate(&program);
    return cycles;
}

/* Many short messages to one node: it announces each, and only a few at a time. */
START_TEST(short_messages_wait_for_round_trips)
{
    const struct pim_estimate_hardware hardware = hardware_of(_i);
    struct program_message messages[3 * WIDTH * HEIGHT];
    size_t count = 0;
    uint64_t trips = 0;
    for (uint32_t i = 0; i < 2 * WIDTH * HEIGHT; i++) {
        uint32_t from = i % (WIDTH * HEIGHT), to = 5;
        uint64_t bytes = 1 + i, flits = (bytes + 7) / 8;
        if (from == to)
            continue;
        messages[count++] = (struct program_message){
            .from = from, .to = to, .bytes = bytes, .source = 0, .target = 4096, .after = PROGRAM_NOTHING};
        trips += 2 * logic(&hardware, routers(from, to) * variants[_i].hop) + logic(&hardware, flits) +
                 ends_of(bytes);
    }
    uint64_t expected = (trips + variants[_i].posted - 1) / variants[_i].posted;
    ck_assert_uint_eq(exchange(&hardware, messages, count), expected);
    /* Another node that waits as well does so at the same time. */
    messages[count++] =
        (struct program_message){.from = 5, .to = 0, .bytes = 8, .target = 4096, .after = PROGRAM_NOTHING};
    ck_assert_uint_eq(exchange(&hardware, messages, count), expected);
}
END_TEST

/* A long one: its flits over the busiest link. */
START_TEST(long_messages_wait_for_links)
{
    const struct pim_estimate_hardware hardware = hardware_of(_i);
    const struct program_message messages[] = {
        {.from = 0, .to = 2, .bytes = 40000, .target = 65536, .after = PROGRAM_NOTHING},
        {.from = 1, .to = 3, .bytes = 40000, .target = 65536, .after = PROGRAM_NOTHING},
        {.from = 4, .to = 8, .bytes = 30000, .target = 65536, .after = PROGRAM_NOTHING}};
    uint64_t ends = ends_of(1024) + logic(&hardware, (uint64_t)(WIDTH + HEIGHT) * variants[_i].hop);
    struct pim_estimate_hardware many = hardware;
    many.posted_receives = 64;
    ck_assert_uint_eq(exchange(&many, messages, 3), logic(&hardware, 2 * 40000 / 8) + ends); /* link 1 to 2 */
    ck_assert_uint_eq(exchange(&many, &messages[2], 1), logic(&hardware, 30000 / 8) + ends);
    ck_assert_uint_eq(exchange(&many, messages, 0), 0);
}
END_TEST

/* Every part, channel by channel. */
static bool parts_are_whole(uint32_t channels, uint32_t groups, uint32_t parts)
{
    uint32_t own = channels / groups;
    for (uint32_t i = 0; i < parts; i++) {
        struct pim_span span = pim_span_of(channels, parts, i);
        uint32_t touched = 0, whole = 0;
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t here = 0;
            for (uint32_t c = span.from; c < span.to; c++)
                here += c / own == g;
            touched += here > 0;
            whole += here == own;
        }
        if (touched > 1 && whole < touched)
            return false;
    }
    return true;
}

START_TEST(parts_have_whole_groups)
{
    unsigned seen[2] = {0};
    for (uint32_t channels = 1; channels <= 36; channels++) {
        for (uint32_t groups = 1; groups <= channels; groups++) {
            if (channels % groups != 0)
                continue;
            const struct flow_operation operation = {.dimension = {1, channels, 1, 1}, .groups = groups};
            for (uint32_t parts = 1; parts <= channels + 2; parts++) {
                bool whole = groups == 1 || parts_are_whole(channels, groups, parts);
                ck_assert_msg(flow_groups_are_whole(&operation, parts) == whole,
                              "%u channels in %u groups, %u parts", (unsigned)channels, (unsigned)groups,
                              (unsigned)parts);
                seen[whole]++;
            }
        }
    }
    ck_assert(seen[0] > 200 && seen[1] > 200);
}
END_TEST

Suite *nicepim_exchange_suite(void)
{
    Suite *suite = suite_create("exchange");
    TCase *tests = tcase_create("exchange");
    const int count = (int)(sizeof variants / sizeof variants[0]);
    tcase_add_loop_test(tests, short_messages_wait_for_round_trips, 0, count);
    tcase_add_loop_test(tests, long_messages_wait_for_links, 0, count);
    tcase_add_test(tests, parts_have_whole_groups);
    suite_add_tcase(suite, tests);
    return suite;
}
