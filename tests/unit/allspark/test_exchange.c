/* The orders of tokens between which features go, alone; test_dataflow.c proves the programs. */
#include "mappers/allspark/redistribution/redistribute.h"
#include "tests/unit/allspark/scenario.h"

#include <stdlib.h>

/* Every token is taken once; there and back is where it was; what stays in its window keeps its place, and
   comes from where the shift says. */
START_TEST(shifted_windows_are_a_permutation)
{
    static const struct {
        uint32_t rows, columns, window, shift;
    } cases[] = {{4, 4, 7, 3}, {2, 2, 7, 3}, {3, 5, 4, 2}, {1, 3, 5, 2}, {9, 2, 3, 1}, {2, 2, 2, 1}};
    uint32_t rows = cases[_i].rows, columns = cases[_i].columns, w = cases[_i].window, s = cases[_i].shift;
    uint32_t tokens = w * w, count = rows * columns * tokens;
    uint32_t *there = pim_shifted_windows(rows, columns, w, s, false),
             *back = pim_shifted_windows(rows, columns, w, s, true);
    bool *taken = calloc(count, sizeof *taken);
    ck_assert(there && back && taken);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_lt(there[i], count);
        ck_assert(!taken[there[i]]);
        taken[there[i]] = true;
        ck_assert_uint_eq(back[there[i]], i);
        uint32_t branch = i / tokens, from = there[i];
        if (i % tokens / w >= s && i % tokens % w >= s)
            ck_assert_uint_eq(from, i);
        /* somewhere inside of the shifted window */
        uint32_t y = from / tokens / columns * w + from % tokens / w,
                 x = from / tokens % columns * w + from % tokens % w;
        ck_assert_uint_lt((y + rows * w - branch / columns * w - s) % (rows * w), w);
        ck_assert_uint_lt((x + columns * w - branch % columns * w - s) % (columns * w), w);
    }
    free(there);
    free(back);
    free(taken);
}
END_TEST

/* Tokens of a key follow each other; windows that reach beyond the map take what is at its other end. */
START_TEST(windows_and_the_map)
{
    static const struct {
        uint32_t height, width, window, reduction;
    } cases[] = {{14, 14, 7, 2}, {13, 13, 3, 4}, {8, 6, 4, 3}, {5, 5, 5, 1}};
    uint32_t height = cases[_i].height, width = cases[_i].width, w = cases[_i].window,
             r = cases[_i].reduction;
    uint32_t columns = (width + w - 1) / w, padded = (height + w - 1) / w * columns * w * w;
    uint32_t *map = pim_windows_to_map(height, width, w, r, false),
             *windows = pim_windows_to_map(height, width, w, r, true), real = 0;
    ck_assert(map && windows);
    for (uint32_t i = 0; i < height * width; i++)
        ck_assert_uint_eq(windows[map[i]], i);
    for (uint32_t i = 0; i < padded; i++) {
        ck_assert_uint_lt(windows[i], height * width);
        uint32_t y = i / (w * w) / columns * w + i % (w * w) / w, x = i / (w * w) % columns * w + i % w;
        uint32_t other = map[windows[i]];
        ck_assert_uint_eq(other / (w * w) / columns * w + other % (w * w) / w, y % height);
        ck_assert_uint_eq(other / (w * w) % columns * w + other % w, x % width);
        real += y < height && x < width;
    }
    ck_assert_uint_eq(real, height * width);
    for (uint32_t key = 0; key < height / r * (width / r); key++)
        for (uint32_t i = 0; i < r * r; i++) {
            uint32_t at = map[key * r * r + i];
            uint32_t y = at / (w * w) / columns * w + at % (w * w) / w,
                     x = at / (w * w) % columns * w + at % w;
            ck_assert_uint_eq(y / r * (width / r) + x / r, key);
        }
    free(map);
    free(windows);
}
END_TEST

/* --- list timing --- */

/* Round figures: a read of 64 bytes keeps the port for 22 cycles, a write for 30; data come 10 later. */
static struct pim_estimate_hardware line_of(uint32_t width)
{
    return (struct pim_estimate_hardware){.width = width,
                                          .height = 1,
                                          .logic_khz = 1000,
                                          .network_khz = 1000,
                                          .memory_khz = 1000,
                                          .port_bytes = 16,
                                          .column_cycles = 1,
                                          .row_bytes = 1024,
                                          .read_row_cycles = 18,
                                          .write_row_cycles = 26,
                                          .latency_cycles = 10,
                                          .flit_bytes = 8,
                                          .network.per_router = 5,
                                          .network.fixed = 2,
                                          .packet_bytes = 2048,
                                          .send_packets = 2,
                                          .receive_packets = 4,
                                          .posted_receives = 4,
                                          .buffer_flits = 8};
}

static struct pim_transport_message message(uint32_t from, uint32_t to, uint64_t bytes)
{
    return (struct pim_transport_message){.from_unit = from, .to_unit = to, .bytes = bytes};
}

/* Announcement 12, read 22 + 10, three links 7 + 5, eight flits, write 30 + 10. */
START_TEST(a_message_by_hand)
{
    const struct pim_estimate_hardware hardware = line_of(2);
    const struct pim_transport_message transfer = message(0, 1, 64);
    uint64_t start[2] = {0, 0}, end[2];
    ck_assert(pim_transport_time_messages(&hardware, &transfer, 1, start, end));
    ck_assert_uint_eq(end[0], 12 + 22 + 10 + 8);
    ck_assert_uint_eq(end[1], 12 + 22 + 10 + 7 + 5 + 8 + 30 + 10);
    start[1] = 100; /* a receiver that is late holds up its sender */
    ck_assert(pim_transport_time_messages(&hardware, &transfer, 1, start, end));
    ck_assert_uint_eq(end[0], 152);
    ck_assert_uint_eq(end[1], 204);
    start[0] = 200; /* a late sender: nothing is asked for before it begins */
    start[1] = 0;
    ck_assert(pim_transport_time_messages(&hardware, &transfer, 1, start, end));
    ck_assert_uint_eq(end[0], 200 + 22 + 10 + 8);
}
END_TEST

/* Unit 1 reads from cycle 63 on, and writes what has come in 64: one after the other, or 16 bytes at
   a time, each in a row that it opens anew: 19 cycles for a read, 27 for a write. */
START_TEST(turns_shorter_than_a_row_by_hand)
{
    struct pim_estimate_hardware hardware = line_of(3);
    const struct pim_transport_message both[] = {message(0, 1, 64), message(1, 2, 64)};
    const uint64_t start[3] = {0, 0, 51};
    uint64_t end[3];
    ck_assert(pim_transport_time_messages(&hardware, both, 2, start, end));
    ck_assert_uint_eq(end[1], 63 + 22 + 30 + 10);
    ck_assert_uint_eq(end[2], 63 + 22 + 10 + 7 + 5 + 8 + 30 + 10);
    hardware.turn_bytes = 16;
    ck_assert(pim_transport_time_messages(&hardware, both, 2, start, end));
    ck_assert_uint_eq(end[1], 63 + 4 * (19 + 27) + 10);
    ck_assert_uint_eq(end[2], 63 + 3 * (19 + 27) + 19 + 10 + 7 + 5 + 8 + 30 + 10);
    ck_assert(pim_transport_time_messages(&hardware, both, 1, start, end)); /* alone: a row for all turns */
    ck_assert_uint_eq(end[1], 12 + 22 + 10 + 7 + 5 + 8 + 30 + 10);
}
END_TEST

/* Two flits pass one after the other, the next two five cycles after they began: eight in 17. A link is kept
   for eight cycles: another sender's come in between; the same sender's come behind them. */
START_TEST(shallow_buffers_hold_up_a_packet_by_hand)
{
    struct pim_estimate_hardware hardware = line_of(3);
    const struct pim_transport_message from_one[] = {message(0, 2, 64), message(0, 2, 64)},
                                       from_two[] = {message(0, 2, 64), message(1, 2, 64)};
    const uint64_t start[3] = {0};
    uint64_t end[3];
    hardware.read_row_cycles = hardware.write_row_cycles = 0; /* 64 bytes keep the port for four cycles */
    hardware.network.worm_cycles = 5;
    hardware.network.worm_flits = 2;
    ck_assert(pim_transport_time_messages(&hardware, from_two, 1, start, end));
    ck_assert_uint_eq(end[2], 17 + 4 + 10 + 7 + 5 + 5 + 17 + 4 + 10);
    ck_assert(pim_transport_time_messages(&hardware, from_two, 2, start, end));
    ck_assert_uint_eq(end[1], 12 + 4 + 10 + 17);
    ck_assert_uint_eq(end[2], 17 + 4 + 10 + 7 + 5 + 5 + 17 + 4 + 10); /* as if alone */
    ck_assert(pim_transport_time_messages(&hardware, from_one, 2, start, end));
    ck_assert_uint_eq(end[2], 17 + 4 + 10 + 17 + 7 + 5 + 5 + 17 + 4 + 10);
}
END_TEST

/* Who collects gets one piece after another by its own link, in the logic's cycles. */
START_TEST(pieces_are_collected_by_the_clock_of_the_network)
{
    struct pim_estimate_hardware hardware = line_of(2);
    hardware.network_khz = 250;
    const uint64_t one = pim_transport_collect(&hardware, 64, 1);
    ck_assert_uint_eq(pim_transport_collect(&hardware, 64, 4) - one, 3 * 4 * (64 / 8 + 1));
}
END_TEST

/* With one receive open the second message is announced when the first is written, and a sender whose first
   receiver is late does not begin with its second. */
START_TEST(receives_and_sends_in_order)
{
    struct pim_estimate_hardware hardware = line_of(3);
    const struct pim_transport_message gets[] = {message(0, 1, 64), message(2, 1, 64)},
                                       gives[] = {message(0, 1, 64), message(0, 2, 64)};
    uint64_t start[3] = {0, 0, 0}, end[3];
    hardware.posted_receives = 1;
    ck_assert(pim_transport_time_messages(&hardware, gets, 2, start, end));
    ck_assert_uint_eq(end[1], 208);
    hardware.posted_receives = 2; /* both packets are there in 64; the port writes one after the other */
    ck_assert(pim_transport_time_messages(&hardware, gets, 2, start, end));
    ck_assert_uint_eq(end[1], 104 + 30);
    start[1] = 1000;
    ck_assert(pim_transport_time_messages(&hardware, gives, 2, start, end));
    ck_assert_uint_gt(end[2], 1012);
}
END_TEST

/* A unit knows what stands within its window behind the oldest send or receive that is not complete. */
START_TEST(windows_of_units_hold_messages_back)
{
    struct pim_estimate_hardware hardware = line_of(3);
    const struct pim_transport_message gets[] = {message(0, 1, 64), message(2, 1, 64)},
                                       both[] = {message(0, 1, 64), message(2, 0, 64)};
    const uint64_t start[3] = {0, 0, 0};
    uint64_t end[3];
    hardware.window = 1; /* as with one receive open */
    ck_assert(pim_transport_time_messages(&hardware, gets, 2, start, end));
    ck_assert_uint_eq(end[1], 208);
    hardware.window = 2;
    ck_assert(pim_transport_time_messages(&hardware, gets, 2, start, end));
    ck_assert_uint_eq(end[1], 104 + 30);
    /* announcement 17, read 32, four links 17, eight flits, write 40; behind the send, which takes 52 */
    ck_assert(pim_transport_time_messages(&hardware, both, 2, start, end));
    ck_assert_uint_eq(end[0], 17 + 32 + 17 + 8 + 40);
    hardware.window = 1;
    ck_assert(pim_transport_time_messages(&hardware, both, 2, start, end));
    ck_assert_uint_eq(end[0], 52 + 17 + 32 + 17 + 8 + 40);
}
END_TEST

/* Shifted windows of nodes that come at the same time, whenever that is, take what the estimate alone says.
   Of those that come earlier than one of them it is less, and what lies before the last that comes is not in
   it. */
START_TEST(units_come_to_an_exchange_at_times_of_their_own)
{
    enum { UNITS = 16, LATE = 100000 };
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    const struct pim_allspark_options options = partition(2, 1, 0);
    struct scenario scenario;
    struct pim_exchange exchange;
    struct pim_error error = {0};
    uint64_t time[UNITS + 1], alone = 0, first = 0;
    ck_assert(scenario_make(&scenario, small_network(SMALL_SHIFTED), &hardware, &options, &error));
    const struct pim_allspark_stage *stage = &scenario.plan.stage[0];
    uint32_t *from = pim_shifted_windows(3, 3, 5, 2, false);
    ck_assert_ptr_nonnull(from);
    ck_assert(pim_exchange_make(&scenario.plan, stage, stage, from, &exchange, &error) == PIM_OK);
    ck_assert(pim_exchange_direct(&scenario.plan, &exchange, &error) == PIM_OK);
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        alone += exchange.estimate[part];
    for (int late = -1; late < UNITS; late++) {
        uint64_t cycles = 0, last = 0;
        for (unsigned unit = 0; unit < UNITS; unit++)
            time[unit] = late < 0 || unit == (unsigned)late ? LATE : 0;
        ck_assert(pim_exchange_estimate_from(&hardware, &exchange, time));
        for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
            cycles += exchange.estimate[part];
        for (unsigned unit = 0; unit < UNITS; unit++)
            last = time[unit] > last ? time[unit] : last;
        ck_assert_uint_eq(last, LATE + cycles);
        if (late < 0)
            ck_assert_uint_eq(cycles, alone);
        ck_assert_uint_le(cycles, alone);
        first += cycles < alone;
    }
    ck_assert_uint_gt(first, 0);
    free(from);
    pim_exchange_terminate(&exchange);
    scenario_end(&scenario);
}
END_TEST

/* Over a unit in between, which sends on what has come; what it copies meanwhile takes its own time. */
START_TEST(steps_follow_each_other)
{
    enum { STEPS = 2, THERE = 104, ON = 92 }; /* 104: as a_message_by_hand; on: 2 has announced before */
    struct pim_estimate_hardware hardware = line_of(3);
    hardware.access_cycles = 7;
    for (uint32_t bytes = 0; bytes <= 6400; bytes += 3200) {
        struct pim_exchange exchange = {.units = 3, .transport = {.units = 3, .steps = STEPS}};
        struct pim_transport *transport = &exchange.transport;
        for (uint32_t step = 0; step < STEPS; step++) {
            struct pim_transport_message sent = message(step, step + 1, 64);
            const struct pim_transport_copy copy = {
                .unit = 1, .step = step, .from = 0, .to = 8192, .bytes = bytes};
            sent.step = step;
            ck_assert(pim_transport_add_message(transport, &sent));
            ck_assert(bytes == 0 || pim_transport_add_copy(transport, &copy, false));
        }
        pim_transport_sort(transport);
        ck_assert(pim_transport_end(transport));
        ck_assert(pim_exchange_estimate(&hardware, &exchange));
        uint64_t copied = bytes == 0 ? 0
                                     : pim_estimate_stream(&hardware, bytes, false) +
                                           pim_estimate_stream(&hardware, bytes, true) +
                                           pim_estimate_access(&hardware);
        uint64_t memory = exchange.estimate[PIM_ESTIMATE_MEMORY],
                 all = memory + exchange.estimate[PIM_ESTIMATE_TRANSFER];
        ck_assert_uint_eq(all, copied > THERE ? 2 * copied : THERE + ON);
        ck_assert_uint_eq(memory, copied > THERE ? 2 * copied : 0);
        pim_exchange_terminate(&exchange);
    }
}
END_TEST

/* Two senders, one link behind both: it passes one packet after another, and no bound is beaten. */
START_TEST(links_are_shared)
{
    const struct pim_estimate_hardware hardware = line_of(4);
    const struct pim_transport_message both[] = {message(0, 2, 800), message(1, 3, 800)};
    const uint64_t start[4] = {0, 0, 0, 0};
    uint64_t end[4], alone[4], other[4];
    ck_assert(pim_transport_time_messages(&hardware, both, 2, start, end));
    ck_assert(pim_transport_time_messages(&hardware, both, 1, start, alone));
    ck_assert(pim_transport_time_messages(&hardware, both + 1, 1, start, other));
    ck_assert_uint_eq(other[3], alone[2]);
    /* 0 asks one hop later than 1 and its head has one more hop to the link that both use: ten behind */
    ck_assert_uint_eq(end[3], other[3]);
    ck_assert_uint_eq(end[2], alone[2] + 100 - 5);
}
END_TEST

Suite *exchange_suite(void)
{
    Suite *suite = suite_create("exchange");
    TCase *tests = tcase_create("exchange");
    tcase_add_loop_test(tests, shifted_windows_are_a_permutation, 0, 6);
    tcase_add_loop_test(tests, windows_and_the_map, 0, 4);
    tcase_add_test(tests, a_message_by_hand);
    tcase_add_test(tests, turns_shorter_than_a_row_by_hand);
    tcase_add_test(tests, shallow_buffers_hold_up_a_packet_by_hand);
    tcase_add_test(tests, pieces_are_collected_by_the_clock_of_the_network);
    tcase_add_test(tests, receives_and_sends_in_order);
    tcase_add_test(tests, windows_of_units_hold_messages_back);
    tcase_add_test(tests, units_come_to_an_exchange_at_times_of_their_own);
    tcase_add_test(tests, steps_follow_each_other);
    tcase_add_test(tests, links_are_shared);
    suite_add_tcase(suite, tests);
    return suite;
}
