/*
 * Exchanges over the top-left nodes of the branches: gather, transfer, scatter. Whole programs on numbers, in
 * one round and in many; which node sends what to which; the bytes of every message kind; refusals; and the
 * joins of exchanges of both kinds.
 */
#include "mappers/allspark/interaction/interaction.h"
#include "mappers/allspark/redistribution/redistribute.h"
#include "tests/unit/allspark/scenario.h"
#include "traces/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const enum small_network networks[] = {
    SMALL_SWIN,      SMALL_PADDED, SMALL_SHIFTED,   SMALL_TWINS, SMALL_ODD_TWINS,
    SMALL_CUT_TWINS, SMALL_CSWIN,  SMALL_ODD_CSWIN, SMALL_FOCAL, SMALL_NEAR_FOCAL};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

static struct pim_allspark_options gathered(struct pim_allspark_options options)
{
    options.exchange = PIM_ALLSPARK_GATHER;
    return options;
}

/* False when the scheme does not fit the network; everything else must map, and compute it. */
static bool attempt(enum small_network which, const struct pim_estimate_hardware *hardware,
                    const struct pim_allspark_options *options)
{
    struct scenario scenario;
    struct pim_error error = {0};
    if (!scenario_make(&scenario, small_network(which), hardware, options, &error)) {
        ck_assert_msg(strstr(error.text, "does not fit") != NULL, "%s: %s", small_network_names[which],
                      error.text);
        return false;
    }
    scenario_prove(&scenario);
    scenario_end(&scenario);
    return true;
}

/* --- on numbers --- */

START_TEST(gathered_features_compute_the_network)
{
    const int which = PIM_CASE(_i);
    static const struct {
        uint32_t width, height, u, v, ring, batch;
    } cases[] = {{4, 4, 1, 1, 0, 1}, {4, 4, 3, 2, 0, 1}, {4, 4, 2, 1, 4, 1}, {5, 3, 2, 1, 0, 1},
                 {3, 5, 2, 3, 0, 1}, {2, 2, 2, 2, 0, 2}, {2, 7, 2, 1, 6, 3}};
    uint32_t proven = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pim_estimate_hardware hardware = small_hardware(cases[i].width, cases[i].height);
        struct pim_allspark_options options = gathered(partition(cases[i].u, cases[i].v, cases[i].ring));
        options.batch = cases[i].batch;
        proven += attempt(networks[which], &hardware, &options);
    }
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    const struct pim_allspark_options best = gathered(fixed(PIM_ALLSPARK_AUTOMATIC, 0));
    ck_assert(attempt(networks[which], &hardware, &best));
    ck_assert_uint_ge(proven, 5);
}
END_TEST

/* Global attention in branches, whose keys all others need; layers with partitions of their own. */
START_TEST(gathered_keys_of_all_compute_the_network)
{
    static const struct {
        uint32_t width, height, first, second, batch;
        struct pim_allspark_layers list[2][2];
    } cases[] = {{4, 4, 2, 4, 1, {{{.u = 4, .v = 2}}, {{.u = 2, .v = 2}}}},
                 {5, 3, 3, 3, 2, {{{.u = 5, .v = 1}}, {{.u = 3, .v = 2, .layers = 1}, {.u = 1, .v = 3}}}},
                 {2, 2, 9, 6, 1, {{{.u = 2, .v = 1, .layers = 2}, {.u = 1, .v = 1}}, {{.u = 2, .v = 2}}}}};
    const struct pim_estimate_hardware hardware = small_hardware(cases[_i].width, cases[_i].height);
    struct pim_allspark_options options = {.scheme = PIM_ALLSPARK_EXPLICIT,
                                           .explicit_count = 4,
                                           .chunks = 1,
                                           .batch = cases[_i].batch,
                                           .exchange = PIM_ALLSPARK_GATHER,
                                           .branches = {0, cases[_i].first, 0, cases[_i].second}};
    for (uint32_t s = 0; s < 4; s++)
        for (uint32_t i = 0; i < 2 && (s % 2 == 0 ? i == 0 : cases[_i].list[s / 2][i].u > 0); i++)
            options.list[s][options.lists[s]++] =
                s % 2 == 0 ? (struct pim_allspark_layers){.u = 2, .v = 2} : cases[_i].list[s / 2][i];
    ck_assert(attempt(SMALL_CUT_TWINS, &hardware, &options));
}
END_TEST

/* --- every exchange of a plan --- */

typedef void visit_exchange(const struct pim_allspark_plan *plan, const struct pim_exchange *exchange,
                            void *context);

static void each_exchange(const struct pim_allspark_plan *plan, visit_exchange *visit, void *context)
{
    struct pim_error error = {0};
    struct pim_emitter emitter = {.plan = plan, .error = &error, .status = PIM_OK};
    for (emitter.index = 0; emitter.index < plan->stages; emitter.index++) {
        struct pim_interaction interaction;
        struct pim_neighbours neighbours;
        emitter.stage = &plan->stage[emitter.index];
        pim_interaction_make(&emitter, &interaction);
        pim_neighbours_make(&emitter, &neighbours);
        ck_assert_msg(emitter.status == PIM_OK, "%s", error.text);
        for (unsigned back = 0; back < 2; back++)
            if (interaction.exchange[back].units > 0)
                visit(plan, &interaction.exchange[back], context);
        for (uint32_t i = 0; i < neighbours.layers; i++)
            visit(plan, &neighbours.layer[i].exchange, context);
        pim_interaction_terminate(&interaction);
        pim_neighbours_terminate(&neighbours);
    }
}

/* Bytes of each kind that an exchange needs, from the bytes that it moves, one by one: what leaves a node is
   gathered once, a branch gets it once, and so does a node. */
struct flow {
    uint32_t region, to; /* a node, and who gets it */
    uint64_t from;
};

static int compare_flows(const void *left, const void *right)
{
    const struct flow *a = left, *b = right;
    if (a->region != b->region)
        return a->region < b->region ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static uint64_t count_distinct(struct flow *flow, size_t count)
{
    uint64_t distinct = 0;
    qsort(flow, count, sizeof *flow, compare_flows);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || compare_flows(&flow[i - 1], &flow[i]) != 0;
    return distinct;
}

static uint64_t bytes_needed(const struct pim_exchange *exchange, enum pim_message kind)
{
    size_t bytes = 0, count = 0;
    for (uint32_t i = 0; i < exchange->move_count; i++)
        bytes += exchange->moves[i].bytes;
    struct flow *flow = calloc(bytes + 1, sizeof *flow);
    ck_assert_ptr_nonnull(flow);
    for (uint32_t i = 0; i < exchange->move_count; i++) {
        const struct pim_move *move = &exchange->moves[i];
        const struct pim_region *from = &exchange->region[move->from_region],
                                *to = &exchange->region[move->to_region];
        const struct pim_region *here = &exchange->region[from->root], *there = &exchange->region[to->root];
        bool local = from->unit == to->unit;
        bool passes = kind == PIM_MESSAGE_GATHER     ? from != here
                      : kind == PIM_MESSAGE_TRANSFER ? here->unit != there->unit
                                                     : to != there;
        uint32_t receiver = kind == PIM_MESSAGE_GATHER     ? 0
                            : kind == PIM_MESSAGE_TRANSFER ? to->root
                                                           : move->to_region;
        for (uint32_t b = 0; b < move->bytes && passes && !local; b++)
            flow[count++] = (struct flow){move->from_region, receiver, move->from + b};
    }
    uint64_t distinct = count_distinct(flow, count);
    free(flow);
    return distinct;
}

/* --- messages --- */

static void check_messages(const struct pim_allspark_plan *plan, const struct pim_exchange *exchange,
                           void *context)
{
    const struct pim_transport *relay = &exchange->transport;
    uint64_t sent[PIM_MESSAGES] = {0}, *seen = context;
    (void)plan;
    ck_assert_uint_eq(relay->steps % 3, 2); /* rounds of three steps, packed before and unpacked behind */
    for (uint32_t i = 0; i < relay->message_count; i++) {
        const struct pim_transport_message *message = &relay->messages[i];
        sent[message->kind] += message->bytes;
        ck_assert_uint_ne(message->from_unit, message->to_unit);
        ck_assert_uint_eq(message->step % 3, message->kind % 3);
        bool from_root = false, to_root = false;
        for (uint32_t region = 0; region < exchange->regions; region++) {
            from_root = from_root || (exchange->region[region].root == region &&
                                      exchange->region[region].unit == message->from_unit);
            to_root = to_root || (exchange->region[region].root == region &&
                                  exchange->region[region].unit == message->to_unit);
        }
        ck_assert(message->kind == PIM_MESSAGE_GATHER || from_root);
        ck_assert(message->kind == PIM_MESSAGE_SCATTER || to_root);
    }
    for (enum pim_message kind = PIM_MESSAGE_GATHER; kind <= PIM_MESSAGE_SCATTER; kind++) {
        ck_assert_uint_eq(sent[kind], bytes_needed(exchange, kind));
        seen[kind] += sent[kind];
    }
}

/* Every byte goes once to the top-left node, once to each branch and once to each node that needs it; and the
   trace has these bytes under these names. */
START_TEST(bytes_of_each_kind_are_those_needed)
{
    const int which = PIM_CASE(_i);
    static const uint32_t shapes[][2] = {{1, 1}, {2, 2}, {3, 1}, {2, 3}};
    uint64_t all[PIM_MESSAGES] = {0};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct scenario scenario;
        struct pim_error error = {0};
        const struct pim_estimate_hardware hardware = small_hardware(4, 4);
        const struct pim_allspark_options options = gathered(partition(shapes[i][0], shapes[i][1], 0));
        if (!scenario_make(&scenario, small_network(networks[which]), &hardware, &options, &error))
            continue;
        uint64_t once[PIM_MESSAGES] = {0}, sent[PIM_MESSAGES] = {0}, received[PIM_MESSAGES] = {0};
        each_exchange(&scenario.plan, check_messages, once);
        for (uint32_t unit = 0; unit < 16; unit++) {
            struct pim_trace_counts counts;
            ck_assert(pim_counts_of_unit(scenario.trace, unit, &counts, &error) == PIM_OK);
            for (unsigned kind = 0; kind < PIM_MESSAGES; kind++) {
                sent[kind] += counts.sent_by_kind[kind];
                received[kind] += counts.received_by_kind[kind];
            }
        }
        for (unsigned kind = PIM_MESSAGE_GATHER; kind < PIM_MESSAGES; kind++) {
            ck_assert_uint_eq(sent[kind], received[kind]);
            ck_assert(once[kind] > 0 || sent[kind] == 0); /* in one or more blocks, or in none */
            all[kind] += sent[kind];
        }
        scenario_end(&scenario);
    }
    ck_assert(all[PIM_MESSAGE_GATHER] > 0 && all[PIM_MESSAGE_TRANSFER] > 0 && all[PIM_MESSAGE_SCATTER] > 0);
}
END_TEST

/* --- rounds --- */

static void count_rounds(const struct pim_allspark_plan *plan, const struct pim_exchange *exchange,
                         void *context)
{
    uint32_t *most = context;
    uint32_t rounds = (exchange->transport.steps - 2) / 3;
    *most = rounds > *most ? rounds : *most;
    ck_assert_uint_le(exchange->end, plan->workspace_base + plan->workspace_bytes);
    ck_assert_uint_le(exchange->end, plan->hardware.memory_bytes);
}

/* Bytes of a node that a plan needs without top-left nodes. */
static uint64_t least_memory(enum small_network which, const struct pim_allspark_options *options,
                             const struct pim_estimate_hardware *hardware)
{
    struct pim_network *network = small_network(which);
    struct pim_allspark_options direct = *options;
    struct pim_allspark_plan plan;
    struct pim_error error = {0};
    direct.exchange = PIM_ALLSPARK_DIRECT;
    ck_assert_msg(pim_allspark_plan(network, hardware, &direct, &plan, &error) == PIM_OK, "%s", error.text);
    uint64_t bytes = plan.weight_bytes + plan.workspace_bytes;
    pim_allspark_plan_terminate(&plan);
    pim_network_destroy(network);
    return bytes;
}

/* Where the memory of the node is nearly full the exchange goes in rounds, and computes the same. */
START_TEST(full_nodes_gather_in_rounds)
{
    const int which = PIM_CASE(_i);
    static const struct {
        enum small_network network;
        uint32_t width, height, u, v, batch;
        bool rounds;
    } cases[] = {{SMALL_SHIFTED, 3, 3, 3, 2, 1, false},   {SMALL_CUT_TWINS, 4, 2, 2, 2, 1, false},
                 {SMALL_FOCAL, 2, 2, 2, 2, 2, true},      {SMALL_FOCAL, 4, 4, 3, 1, 1, true},
                 {SMALL_ODD_CSWIN, 4, 4, 2, 2, 1, false}, {SMALL_NEAR_FOCAL, 4, 4, 1, 2, 2, true},
                 {SMALL_ODD_TWINS, 4, 2, 2, 2, 1, false}};
    struct pim_estimate_hardware hardware = small_hardware(cases[which].width, cases[which].height);
    struct pim_allspark_options options = gathered(partition(cases[which].u, cases[which].v, 0));
    options.batch = cases[which].batch;
    uint64_t least = least_memory(cases[which].network, &options, &hardware);
    uint32_t most = 0;
    for (uint64_t more = 0; more <= 512; more += 128) {
        struct scenario scenario;
        struct pim_error error = {0};
        hardware.memory_bytes = least + more;
        if (!scenario_make(&scenario, small_network(cases[which].network), &hardware, &options, &error)) {
            ck_assert_msg(strstr(error.text, "no room to gather") != NULL, "%s", error.text);
            continue;
        }
        each_exchange(&scenario.plan, count_rounds, &most);
        scenario_prove(&scenario);
        scenario_end(&scenario);
    }
    ck_assert_uint_ge(most, cases[which].rounds ? 2 : 1);
}
END_TEST

/* --- joins --- */

/* Whether phase `id` is one between branches. */
static bool of_exchange(const struct pim_trace *trace, uint32_t id)
{
    static const char *const steps[] = {"shift",      "unshift",      "hand_over",
                                        "to_stripes", "from_stripes", "neighbours"};
    const char *name = pim_trace_phase(trace, id)->name, *step = strrchr(name, '/');
    for (size_t i = 0; step && i < sizeof steps / sizeof steps[0]; i++)
        if (strcmp(step + 1, steps[i]) == 0)
            return true;
    return false;
}

/* Holds the joins of a unit in its exchanges beside the steps that they divide; returns how many have a step
   beside them in which the unit has nothing to do. */
static uint32_t check_joins(const struct pim_trace *trace, uint32_t unit, bool direct)
{
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction;
    struct pim_error error = {0};
    uint32_t idle = 0, joins = 0;
    bool inside = false, worked = false;
    ck_assert(pim_trace_cursor_create(trace, unit, &cursor, &error) == PIM_OK);
    while (pim_trace_cursor_next(cursor, &instruction, &error) == PIM_OK && instruction) {
        bool ends = inside && instruction->opcode == PIM_OP_PHASE_END;
        if (instruction->opcode == PIM_OP_PHASE_BEGIN) {
            inside = of_exchange(trace, instruction->u.control.phase);
            joins = 0;
        } else if (inside && !ends && instruction->opcode != PIM_OP_JOIN) {
            worked = true;
            continue;
        } else if (inside) {
            idle += !worked;
            joins += !ends;
            ck_assert(direct || worked);
        }
        if (ends && direct)
            ck_assert_uint_eq(joins, 2); /* packed, sent, unpacked */
        inside = inside && !ends;
        worked = false;
    }
    ck_assert_msg(error.status == PIM_OK, "%s", error.text);
    pim_trace_cursor_destroy(cursor);
    return idle;
}

/* From node to node all units of an exchange join between all three steps. Over top-left nodes a unit joins
   between two in which it has work: there are rounds in which most have none. */
START_TEST(units_join_between_the_steps_of_an_exchange)
{
    const bool direct = _i == 1;
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    uint32_t idle = 0;
    for (size_t i = 0; i < NETWORKS; i++) {
        struct scenario scenario;
        struct pim_error error = {0};
        struct pim_allspark_options options = partition(2, 1, 0);
        if (!direct)
            options = gathered(options);
        ck_assert_msg(scenario_make(&scenario, small_network(networks[i]), &hardware, &options, &error),
                      "%s: %s", small_network_names[networks[i]], error.text);
        for (uint32_t unit = 0; unit < 16; unit++)
            idle += check_joins(scenario.trace, unit, direct);
        scenario_end(&scenario);
    }
    ck_assert(direct == (idle > 0)); /* else both kinds of exchanges would join alike */
}
END_TEST

Suite *relay_suite(void)
{
    Suite *suite = suite_create("relay");
    TCase *tests = tcase_create("relay");
    tcase_add_loop_test(tests, gathered_features_compute_the_network, 0, PIM_CASES(NETWORKS));
    tcase_add_loop_test(tests, gathered_keys_of_all_compute_the_network, 0, 3);
    tcase_add_loop_test(tests, bytes_of_each_kind_are_those_needed, 0, PIM_CASES(NETWORKS));
    tcase_add_loop_test(tests, full_nodes_gather_in_rounds, 0, PIM_CASES(7));
    tcase_add_loop_test(tests, units_join_between_the_steps_of_an_exchange, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
