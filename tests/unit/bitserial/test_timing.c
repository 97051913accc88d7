/* Cycles: closed forms, the stepped channel, the shortcut, the checker, moves. */
#include "models/bitserial/operation.h"
#include "models/bitserial/transfer.h"
#include "models/dram/check/command_check.h"
#include "models/dram/standard/schema.h"
#include "sim/random.h"
#include "tests/unit/bitserial/stepped_channel.h"
#include "tests/unit/bitserial/suites.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 7, ROOM = 40000 };

static void configure(struct pim_dram_configuration *configuration, const char *preset, const char *set)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *values;
    ck_assert(pim_configuration_create(&pim_dram_schema, &values, &error) == PIM_OK);
    ck_assert(pim_dram_preset_read(values, preset, &error) == PIM_OK);
    ck_assert_msg(!set || pim_configuration_set(values, set, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_dram_configure(values, configuration, &error) == PIM_OK, "%s", error.text);
    pim_configuration_destroy(values);
}

static struct pim_bitserial_request request_of(enum pim_bitserial_kind kind, uint32_t bits, uint32_t banks)
{
    struct pim_bitserial_request request = {
        .operation = {.kind = kind, .bits = bits, .result_bits = 2 * bits, .width = 8},
        .banks = banks,
        .channels = 1,
        .repeat = 1};
    pim_bitserial_place(&request.operation);
    return request;
}

static struct pim_bitserial_cost cost_of(const struct pim_dram_configuration *configuration,
                                         const struct pim_bitserial_request *request)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_bitserial_cost cost;
    ck_assert_msg(pim_bitserial_run(&configuration->specification, &configuration->energy, request, &cost,
                                    &error) == PIM_OK,
                  "%s", error.text);
    return cost;
}

/* A bank alone: AAPs x (tAA + tRAS + tRP) = 49 cycles, or 74 without a second row decoder. */
START_TEST(one_bank)
{
    static const struct {
        const char *set;
        uint64_t aap;
    } memories[] = {{NULL, 49}, {"dram.activate_cycles=1", 49}, {"dram.taa=29", 74}};
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++) {
        struct pim_dram_configuration configuration;
        configure(&configuration, "fast_overlapim", memories[i].set);
        ck_assert_uint_eq(pim_dram_aap_cycles(&configuration.specification), memories[i].aap);
        for (uint32_t bits = 1; bits <= 32; bits++) {
            struct pim_bitserial_request request = request_of(PIM_BITSERIAL_OPERATION_ADD, bits, 1);
            struct pim_bitserial_cost cost = cost_of(&configuration, &request);
            ck_assert_uint_eq(cost.timing.cycles, (4 * bits + 1) * memories[i].aap);
            ck_assert_uint_eq(cost.closed_form_cycles, cost.timing.cycles);
            ck_assert_uint_eq(cost.paper_cycles, cost.timing.cycles);
            ck_assert_uint_eq(cost.commands[PIM_DRAM_ACT], 4 * bits + 1);
            ck_assert_uint_eq(cost.commands[PIM_DRAM_ACT2], 4 * bits + 1);
            request = request_of(PIM_BITSERIAL_OPERATION_MULTIPLY, bits, 1);
            cost = cost_of(&configuration, &request);
            ck_assert_uint_eq(cost.timing.cycles, cost.closed_form_cycles);
            ck_assert_uint_eq(cost.paper_aaps, (uint64_t)bits * (4 * bits + 1));
        }
    }
}
END_TEST

/* Fig. 6 gives 196 cycles: what one more bit of an addition costs. */
START_TEST(figure_six)
{
    struct pim_dram_configuration configuration;
    configure(&configuration, "fast_overlapim", NULL);
    struct pim_bitserial_request request = request_of(PIM_BITSERIAL_OPERATION_ADD, 15, 1);
    uint64_t fifteen = cost_of(&configuration, &request).timing.cycles;
    request = request_of(PIM_BITSERIAL_OPERATION_ADD, 16, 1);
    ck_assert_uint_eq(cost_of(&configuration, &request).timing.cycles - fifteen, 196);
}
END_TEST

/* Eight banks: 16 activations in a round take four windows of tFAW. Without the limits they are held by the
 * command bus alone (ACT and ACT2 of two cycles, PRE of one: 40 cycles in the 49 of an AAP), which costs one.
 */
START_TEST(round_robin)
{
    struct pim_dram_configuration configuration;
    configure(&configuration, "fast_overlapim", NULL);
    struct pim_bitserial_request request = request_of(PIM_BITSERIAL_OPERATION_COPY, 1, 8);
    uint64_t cycles[2];
    for (unsigned limited = 0; limited < 2; limited++) {
        for (unsigned i = 0; i < 2; i++) {
            request.repeat = 1000 + 1000 * i;
            cycles[i] = cost_of(&configuration, &request).timing.cycles;
        }
        ck_assert_uint_eq(cycles[1] - cycles[0], 1000 * (limited == 0 ? 64 : 50));
        pim_bitserial_ignore_activation_limits(&configuration.specification);
    }
}
END_TEST

struct records {
    struct pim_dram_record *list;
    size_t count;
};

static void keep(void *context, const struct pim_dram_record *record)
{
    struct records *records = context;
    ck_assert_uint_lt(records->count, ROOM);
    records->list[records->count++] = *record;
}

/* A specification whose distances are random, but not impossible. */
static struct pim_dram_specification random_specification(struct pim_random *random)
{
    struct pim_dram_configuration configuration;
    configure(&configuration, "fast_overlapim", NULL);
    struct pim_dram_specification s = configuration.specification;
    uint32_t *p = s.parameter;
    s.split_command_bus = pim_random_below(random, 2);
    s.organization.channels = 1;
    s.organization.ranks = 1U << pim_random_below(random, 2);
    s.organization.pseudo_channels = 1U << pim_random_below(random, 2);
    s.organization.bank_groups = 1U << pim_random_below(random, 3);
    s.organization.banks = 1U << pim_random_below(random, 3);
    s.organization.columns = 4;
    p[PIM_DRAM_T_ACT_CYCLES] = (uint32_t)pim_random_between(random, 1, 3);
    p[PIM_DRAM_T_AA] = (uint32_t)pim_random_between(random, 1, 12);
    p[PIM_DRAM_T_RP] = (uint32_t)pim_random_between(random, 3, 12);
    p[PIM_DRAM_T_RAS] = (uint32_t)pim_random_between(random, 8, 20);
    p[PIM_DRAM_T_RC] = p[PIM_DRAM_T_RAS] + (uint32_t)pim_random_below(random, 20);
    p[PIM_DRAM_T_RCDRD] = p[PIM_DRAM_T_RCDWR] = (uint32_t)pim_random_between(random, 3, 8);
    p[PIM_DRAM_T_RRD_S] = (uint32_t)pim_random_below(random, 5);
    p[PIM_DRAM_T_RRD_L] = p[PIM_DRAM_T_RRD_S] + (uint32_t)pim_random_below(random, 5);
    p[PIM_DRAM_T_FAW] = (uint32_t)pim_random_below(random, 40);
    p[PIM_DRAM_T_PPD] = (uint32_t)pim_random_below(random, 4);
    p[PIM_DRAM_T_REFI] = 400;
    p[PIM_DRAM_T_RFC] = (uint32_t)pim_random_between(random, 10, 60);
    return s;
}

/* The sequencer's log and its shortcut against the channel stepped cycle by cycle. */
START_TEST(stepped_channel)
{
    struct pim_random random;
    pim_random_initialize(&random, SEED + (uint64_t)_i);
    struct pim_error error = {PIM_OK, ""};
    struct pim_dram_specification s = random_specification(&random);
    ck_assert_msg(pim_dram_check_specification(&s, PIM_DRAM_ALL_BANKS, false, &error) == PIM_OK, "%s",
                  error.text);
    uint32_t most = pim_dram_ranks(&s.organization) * pim_dram_banks_per_rank(&s.organization);
    static const enum pim_bitserial_kind kinds[] = {
        PIM_BITSERIAL_OPERATION_ADD, PIM_BITSERIAL_OPERATION_TRANSPOSE, PIM_BITSERIAL_OPERATION_REDUCE};
    struct pim_bitserial_request request =
        request_of(kinds[_i % 3], (uint32_t)pim_random_between(&random, 1, 4),
                   (uint32_t)pim_random_between(&random, 1, most < 8 ? most : 8));
    request.refresh = pim_random_below(&random, 2);
    struct pim_dram_record *oracle = malloc(ROOM * sizeof *oracle);
    struct records records = {malloc(ROOM * sizeof *records.list), 0};
    ck_assert(oracle && records.list);
    struct pim_dram_energy_parameters energy = {.model = PIM_DRAM_ENERGY_NONE};
    struct pim_bitserial_cost logged, fast;
    ck_assert(pim_bitserial_run(&s, &energy, &request, &fast, &error) == PIM_OK);
    request.log = keep;
    request.context = &records;
    ck_assert(pim_bitserial_run(&s, &energy, &request, &logged, &error) == PIM_OK);
    ck_assert_uint_eq(logged.timing.cycles, fast.timing.cycles);
    ck_assert(isnan(logged.energy.total));
    struct pim_bitserial_bank_shape shape = pim_bitserial_shape(&s);
    struct pim_bitserial_program program = {0};
    ck_assert(pim_bitserial_compile(&program, &request.operation, &shape, &error) == PIM_OK);
    struct stepped_bank banks[8];
    for (uint32_t i = 0; i < request.banks; i++)
        banks[i] = (struct stepped_bank){pim_bitserial_bank_in_turn(&s.organization, i), &program};
    size_t count = stepped_channel_run(&s, request.refresh, banks, request.banks, oracle, ROOM);
    ck_assert_uint_eq(count, records.count);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(
            oracle[i].cycle == records.list[i].cycle && oracle[i].command == records.list[i].command &&
                oracle[i].bank == records.list[i].bank,
            "seed %d + %d, command %zu: %s at %" PRIu64 " in bank %u, stepped %s at %" PRIu64 " in bank %u",
            SEED, _i, i, pim_dram_command_text((enum pim_dram_command)records.list[i].command),
            records.list[i].cycle, records.list[i].bank,
            pim_dram_command_text((enum pim_dram_command)oracle[i].command), oracle[i].cycle, oracle[i].bank);
    pim_bitserial_program_terminate(&program);
    free(records.list);
    free(oracle);
}
END_TEST

/* The shortcut gives the cycles and counts of the way from command to command. */
START_TEST(shortcut)
{
    struct pim_random random;
    pim_random_initialize(&random, SEED * 1000 + (uint64_t)_i);
    struct pim_error error = {PIM_OK, ""};
    struct pim_dram_specification s = random_specification(&random);
    s.parameter[PIM_DRAM_T_REFI] = (uint32_t)pim_random_between(&random, 400, 4000);
    uint32_t most = pim_dram_ranks(&s.organization) * pim_dram_banks_per_rank(&s.organization);
    struct pim_bitserial_request request = request_of(
        (enum pim_bitserial_kind)pim_random_below(&random, PIM_BITSERIAL_OPERATIONS),
        (uint32_t)pim_random_between(&random, 1, 8), (uint32_t)pim_random_between(&random, 1, most));
    request.repeat = pim_random_between(&random, 1, 30);
    request.refresh = pim_random_below(&random, 2);
    struct pim_dram_energy_parameters energy = {.model = PIM_DRAM_ENERGY_NONE};
    struct pim_bitserial_cost fast, slow;
    ck_assert(pim_bitserial_run(&s, &energy, &request, &fast, &error) == PIM_OK);
    request.stepped = true;
    ck_assert(pim_bitserial_run(&s, &energy, &request, &slow, &error) == PIM_OK);
    ck_assert_msg(fast.timing.cycles == slow.timing.cycles, "seed %d, case %d: %" PRIu64 " and %" PRIu64,
                  SEED, _i, fast.timing.cycles, slow.timing.cycles);
    ck_assert_mem_eq(fast.commands, slow.commands, sizeof fast.commands);
    ck_assert_uint_eq(fast.timing.steps, slow.timing.steps);
    ck_assert_uint_eq(fast.timing.last_data, slow.timing.last_data);
    ck_assert_uint_le(fast.timing.issued, slow.timing.issued);
}
END_TEST

/* Banks with programs and repetitions of their own, and data that come late: whether something is skipped. */
static bool mixture_skips(int number)
{
    enum { BANKS = 4 };
    struct pim_random random;
    pim_random_initialize(&random, SEED * 2000 + (uint64_t)number);
    struct pim_error error = {PIM_OK, ""};
    struct pim_dram_specification s = random_specification(&random);
    s.organization.bank_groups = s.organization.banks = 2;
    s.parameter[PIM_DRAM_T_CL] = (uint32_t)pim_random_between(&random, 5, 80);
    const struct pim_bitserial_bank_shape shape = pim_bitserial_shape(&s);
    struct pim_bitserial_program programs[2] = {{0}, {0}};
    struct pim_bitserial_work work[BANKS];
    uint32_t slots = 0;
    for (unsigned i = 0; i < 2; i++) {
        const struct pim_bitserial_request request =
            request_of((enum pim_bitserial_kind)pim_random_between(&random, PIM_BITSERIAL_OPERATION_TRANSPOSE,
                                                                   PIM_BITSERIAL_OPERATION_REDUCE),
                       (uint32_t)pim_random_between(&random, 1, 3), BANKS);
        ck_assert(pim_bitserial_compile(&programs[i], &request.operation, &shape, &error) == PIM_OK);
    }
    for (unsigned i = 0; i < BANKS; i++) {
        const struct pim_bitserial_program *program = &programs[pim_random_below(&random, 2)];
        work[i] = (struct pim_bitserial_work){pim_bitserial_bank_in_turn(&s.organization, i), program,
                                              pim_random_below(&random, 200), slots};
        slots += program->slots;
    }
    struct pim_bitserial_schedule schedule = {
        .specification = &s, .work = work, .work_count = BANKS, .slots = slots};
    schedule.refresh = pim_random_below(&random, 4) == 0;
    struct pim_bitserial_timing fast, slow;
    ck_assert(pim_bitserial_sequence(&schedule, &fast, &error) == PIM_OK);
    schedule.stepped = true;
    ck_assert(pim_bitserial_sequence(&schedule, &slow, &error) == PIM_OK);
    ck_assert_msg(fast.cycles == slow.cycles && fast.last_data == slow.last_data,
                  "seed %d, case %d: %" PRIu64 " and %" PRIu64, SEED, number, fast.cycles, slow.cycles);
    ck_assert_mem_eq(fast.commands, slow.commands, sizeof fast.commands);
    ck_assert_uint_eq(fast.steps, slow.steps);
    for (unsigned i = 0; i < 2; i++)
        pim_bitserial_program_terminate(&programs[i]);
    ck_assert_uint_le(fast.issued, slow.issued);
    return fast.issued < slow.issued;
}

START_TEST(shortcut_of_mixtures)
{
    enum { CASES = 60 };
    int skips = 0;
    for (int number = 0; number < CASES; number++)
        skips += mixture_skips(number);
    ck_assert_msg(skips > CASES / 4, "%d of %d", skips, (int)CASES); /* 35 by gcc's order of arguments */
}
END_TEST

/* Programs that read and write are repeated whole. */
START_TEST(shortcut_of_programs)
{
    static const enum pim_bitserial_kind kinds[] = {PIM_BITSERIAL_OPERATION_TRANSPOSE,
                                                    PIM_BITSERIAL_OPERATION_REDUCE};
    struct pim_dram_configuration configuration;
    configure(&configuration, "fast_overlapim", NULL);
    struct pim_bitserial_request request = request_of(kinds[_i / 8], 4, (uint32_t)_i % 8 + 1);
    request.repeat = 60;
    struct pim_bitserial_cost fast = cost_of(&configuration, &request);
    request.stepped = true;
    struct pim_bitserial_cost slow = cost_of(&configuration, &request);
    ck_assert_uint_eq(fast.timing.cycles, slow.timing.cycles);
    ck_assert_uint_eq(fast.timing.last_data, slow.timing.last_data);
    ck_assert_mem_eq(fast.commands, slow.commands, sizeof fast.commands);
    ck_assert_msg(fast.timing.issued < slow.timing.issued / 3, "%" PRIu64 " of %" PRIu64, fast.timing.issued,
                  slow.timing.issued);
}
END_TEST

/* The same over many refreshes, whose periods are longer. */
START_TEST(shortcut_over_refreshes)
{
    struct pim_dram_configuration configuration;
    configure(&configuration, "fast_overlapim", NULL);
    struct pim_bitserial_request request = request_of(PIM_BITSERIAL_OPERATION_COPY, 1, (uint32_t)_i);
    request.refresh = true;
    request.repeat = 12345;
    struct pim_bitserial_cost fast = cost_of(&configuration, &request);
    request.stepped = true;
    struct pim_bitserial_cost slow = cost_of(&configuration, &request);
    ck_assert_uint_eq(fast.timing.cycles, slow.timing.cycles);
    ck_assert_mem_eq(fast.commands, slow.commands, sizeof fast.commands);
    ck_assert_msg(fast.timing.issued < slow.timing.issued / 3, "%" PRIu64 " of %" PRIu64, fast.timing.issued,
                  slow.timing.issued);
}
END_TEST

/* A year of additions costs no more than a few. */
START_TEST(long_runs)
{
    struct pim_dram_configuration configuration;
    configure(&configuration, "fast_overlapim", NULL);
    struct pim_bitserial_request request = request_of(PIM_BITSERIAL_OPERATION_ADD, 16, 8);
    request.repeat = UINT64_C(1) << 40;
    struct pim_bitserial_cost cost = cost_of(&configuration, &request);
    ck_assert_uint_lt(cost.timing.issued, 2000);
    ck_assert_uint_eq(cost.commands[PIM_DRAM_ACT], 8 * 65 * request.repeat);
    ck_assert_uint_gt(cost.timing.cycles, 64 * 65 * (request.repeat - 1));
    ck_assert_uint_lt(cost.timing.cycles, 64 * 65 * (request.repeat + 1));
    /* With refresh too: a REF every 3900 cycles, whose 260 and a little more are lost. */
    request.refresh = true;
    request.repeat = UINT64_C(1) << 30;
    cost = cost_of(&configuration, &request);
    ck_assert_uint_lt(cost.timing.issued, 400000);
    ck_assert_uint_eq(cost.commands[PIM_DRAM_ACT2], 8 * 65 * request.repeat);
    uint64_t due = cost.timing.cycles / 3900;
    ck_assert(cost.commands[PIM_DRAM_REF] == due || cost.commands[PIM_DRAM_REF] + 1 == due);
    ck_assert_uint_gt(cost.timing.cycles, 64 * 65 * request.repeat / (3900 - 260) * 3900);
}
END_TEST

struct checked {
    struct pim_dram_check *check;
    const struct pim_dram_specification *specification;
    uint64_t commands[PIM_DRAM_COMMANDS];
    struct pim_dram_record *kept; /* for logs of two channels, which come one after the other */
    size_t count;
};

static void look(void *context, const struct pim_dram_record *record)
{
    struct checked *checked = context;
    struct pim_error error = {PIM_OK, ""};
    struct pim_dram_logged logged = pim_dram_logged_record(checked->specification, record);
    checked->commands[record->command]++;
    ck_assert(pim_dram_check_command(checked->check, &logged, &error) == PIM_OK);
}

static void complain(void *context, const struct pim_dram_violation *violation)
{
    (void)context;
    ck_abort_msg("%s %s in cycle %" PRIu64, pim_dram_command_text(violation->command.command),
                 violation->constraint ? violation->constraint->text : violation->rule,
                 violation->command.cycle);
}

/* Every operation on every number of banks passes the independent checker, refresh included. */
START_TEST(checker)
{
    static const char *const presets[] = {"fast_overlapim", "hbm2_2000", "ddr4_2400r"};
    for (unsigned kind = 0; kind < PIM_BITSERIAL_OPERATIONS; kind++)
        for (unsigned variant = 0; variant < 4; variant++) {
            struct pim_dram_configuration configuration;
            configure(&configuration, presets[_i], _i > 0 ? "dram.taa=8" : NULL);
            configuration.policy.refresh = variant & 1;
            if (variant & 2)
                pim_bitserial_ignore_activation_limits(&configuration.specification);
            struct checked checked = {.specification = &configuration.specification};
            checked.check = pim_dram_check_create(&configuration.specification, &configuration.policy,
                                                  complain, &checked);
            ck_assert_ptr_nonnull(checked.check);
            struct pim_bitserial_request request =
                request_of((enum pim_bitserial_kind)kind, 5, 1 + 7 * variant / 3);
            request.refresh = configuration.policy.refresh;
            request.repeat = kind == PIM_BITSERIAL_OPERATION_COPY       ? 150
                             : kind < PIM_BITSERIAL_OPERATION_TRANSPOSE ? 12
                                                                        : 3;
            request.log = look;
            request.context = &checked;
            struct pim_bitserial_cost cost = cost_of(&configuration, &request);
            ck_assert_mem_eq(checked.commands, cost.timing.commands, sizeof checked.commands);
            ck_assert(!request.refresh || cost.commands[PIM_DRAM_REF] > 0);
            pim_dram_check_destroy(checked.check);
        }
}
END_TEST

static void keep_and_copy(void *context, const struct pim_dram_record *record)
{
    struct checked *checked = context;
    checked->commands[record->command]++;
    ck_assert_uint_lt(checked->count, ROOM);
    checked->kept[checked->count++] = *record;
}

static int by_cycle(const void *left, const void *right)
{
    const struct pim_dram_record *a = left, *b = right;
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle ? -1 : 1;
    return (int)a->channel - (int)b->channel;
}

/* Moves of every reach: legal commands, no row written before it is there, energy of both sides. */
START_TEST(moves)
{
    struct pim_error error = {PIM_OK, ""};
    for (unsigned pairs = 1; pairs <= 4; pairs += 3) {
        struct pim_dram_configuration configuration;
        configure(&configuration, "fast_overlapim", "dram.refresh=false");
        struct checked checked = {.specification = &configuration.specification};
        checked.kept = malloc(ROOM * sizeof *checked.kept);
        checked.check =
            pim_dram_check_create(&configuration.specification, &configuration.policy, complain, &checked);
        ck_assert(checked.check && checked.kept);
        struct pim_bitserial_transfer transfer = {.reach = (enum pim_bitserial_reach)_i,
                                                  .rows = 16,
                                                  .pairs = pairs,
                                                  .link_bytes = 16,
                                                  .bus_bytes = 256,
                                                  .log = keep_and_copy,
                                                  .context = &checked};
        struct pim_bitserial_transfer_cost cost;
        ck_assert_msg(pim_bitserial_move(&configuration.specification, &configuration.energy, &transfer,
                                         &cost, &error) == PIM_OK,
                      "%s", error.text);
        qsort(checked.kept, checked.count, sizeof *checked.kept, by_cycle);
        uint64_t last_read = 0, last_write = 0;
        memset(checked.commands, 0, sizeof checked.commands);
        for (size_t i = 0; i < checked.count; i++) {
            look(&checked, &checked.kept[i]);
            if (checked.kept[i].command == PIM_DRAM_RD)
                last_read = checked.kept[i].cycle;
            if (checked.kept[i].command == PIM_DRAM_WR)
                last_write = checked.kept[i].cycle;
        }
        /* The last row of 32 accesses is written behind its last data (tCL 16, B 2, tCWL 4). */
        ck_assert_uint_ge(last_write, last_read + 16 + 2 - 4 + 31 * (uint64_t)4);
        ck_assert_uint_eq(cost.bytes, 16 * 1024 * (uint64_t)pairs);
        ck_assert_uint_eq(cost.commands[PIM_DRAM_RD], 16 * 32 * (uint64_t)pairs);
        ck_assert_uint_eq(cost.commands[PIM_DRAM_WR], 16 * 32 * (uint64_t)pairs);
        double bits = 8.0 * (double)cost.bytes;
        ck_assert_double_eq_tol(cost.energy.read, bits * 2.68, 1e-6 * bits);
        ck_assert_double_eq_tol(cost.energy.io, 2 * bits * 0.80, 1e-6 * bits);
        ck_assert(isnan(cost.energy.refresh));
        pim_dram_check_destroy(checked.check);
        free(checked.kept);
    }
}
END_TEST

/* The bus between stacks: 128 moves at once wait for it, one does not. */
START_TEST(the_bus_is_shared)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_dram_configuration configuration;
    configure(&configuration, "fast_overlapim", "dram.refresh=false");
    struct pim_bitserial_transfer transfer = {
        .reach = PIM_BITSERIAL_REACH_STACK, .rows = 64, .pairs = 1, .link_bytes = 16, .bus_bytes = 256};
    struct pim_bitserial_transfer_cost one, many, channel;
    ck_assert(pim_bitserial_move(&configuration.specification, &configuration.energy, &transfer, &one,
                                 &error) == PIM_OK);
    transfer.pairs = 32;
    transfer.bus_bytes = 64; /* 128 channels of four stacks share 256 */
    ck_assert(pim_bitserial_move(&configuration.specification, &configuration.energy, &transfer, &many,
                                 &error) == PIM_OK);
    ck_assert_uint_ge(many.cycles, 64 * 32 * 1024 / 64);
    ck_assert_uint_lt(many.cycles, 64 * 32 * 1024 / 64 + 500);
    transfer.reach = PIM_BITSERIAL_REACH_CHANNEL;
    transfer.pairs = 1;
    ck_assert(pim_bitserial_move(&configuration.specification, &configuration.energy, &transfer, &channel,
                                 &error) == PIM_OK);
    ck_assert_uint_eq(channel.cycles, one.cycles); /* both as slow as the bank */
}
END_TEST

Suite *suite_bitserial_timing(void)
{
    Suite *suite = suite_create("bitserial_timing");
    TCase *cases = tcase_create("cycles");
    tcase_add_test(cases, one_bank);
    tcase_add_test(cases, figure_six);
    tcase_add_test(cases, round_robin);
    tcase_add_loop_test(cases, stepped_channel, 0, PIM_CASES(30));
    tcase_add_loop_test(cases, shortcut, 0, PIM_DRAWS(100));
    tcase_add_test(cases, shortcut_of_mixtures);
    tcase_add_loop_test(cases, shortcut_of_programs, 0, 16);
    tcase_add_loop_test(cases, shortcut_over_refreshes, 1, 9);
    tcase_add_test(cases, long_runs);
    tcase_add_loop_test(cases, checker, 0, 3);
    tcase_add_loop_test(cases, moves, 0, PIM_BITSERIAL_REACHES);
    tcase_add_test(cases, the_bus_is_shared);
    suite_add_tcase(suite, cases);
    return suite;
}
