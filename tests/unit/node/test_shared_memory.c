/* Nodes on channels of a DRAM standard: the private bank as a channel with one bank, the order of hand-over,
 * and what holds for any run. */
#include "tests/unit/node/suites.h"
#include "tests/unit/node/support.h"

#include "models/dram/memory.h"
#include "models/node/node_internal.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "tests/unit/node/programs.h"
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PHASE ".phase 0 \"work\" cycles=0\n.unit 0\nphase_begin 0\n"
#define ONE_BANK "dram.standard=pimbank_400", "dram.accesses=1"
#define NO_REFRESH "dram.standard_values=\"dram = { refresh = false; };\""

START_TEST(a_load_lasts_as_long_as_from_a_bank)
{
    struct run run = {.width = 1, .height = 1, .settings = {ONE_BANK, NO_REFRESH}};
    replay_well(&run,
                PHASE "load input address=0 bytes=64\nload input address=100000 bytes=40\nphase_end 0\n");
    STARTS(&run, 0, 1, 0);
    ENDS(&run, 0, 1, 21);
    struct run bank = {.width = 1, .height = 1};
    replay_well(&bank,
                PHASE "load input address=0 bytes=64\nload input address=100000 bytes=40\nphase_end 0\n");
    ENDS(&run, 0, 2, bank.seen[0][2].end);
    ck_assert_uint_eq(run.result.dram.row_conflicts, 1);
    clean(&bank);
    clean(&run);
}
END_TEST

static void compare_counters(const struct pim_bank_counters *a, const struct pim_bank_counters *b)
{
#define SAME(member) ck_assert_uint_eq(a->member, b->member)
    SAME(row_hits);
    SAME(row_misses);
    SAME(row_conflicts);
    SAME(activates);
    SAME(precharges);
    SAME(refreshes);
    SAME(reads);
    SAME(writes);
    SAME(bytes_read);
    SAME(bytes_written);
    SAME(data_cycles);
#undef SAME
}

/* Random programs: every instruction starts and ends as with private banks, every counter is the same. */
START_TEST(a_channel_of_one_bank_is_a_private_bank)
{
    const char *const refresh = _i % 2 ? "dram.refresh=true" : "dram.refresh=false";
    const char *const part = _i % 3 ? "dram.arbitration_bytes=1024" : "dram.arbitration_bytes=48";
    struct run bank = {.settings = {refresh, part, "network_interface.packet_bytes=256"}};
    random_program(&bank, 5000 + (uint64_t)_i);
    finish_run(&bank);
    ck_assert_msg(bank.status == PIM_OK, "%s", bank.error.text);

    struct run channel = bank;
    channel.settings[3] = "dram.standard=pimbank_400";
    channel.settings[4] = "dram.accesses=1";
    channel.settings[5] = _i % 2 ? NULL : NO_REFRESH;
    make_from(&channel, bank.trace);
    finish_run(&channel);
    ck_assert_msg(channel.status == PIM_OK, "%s", channel.error.text);
    check_invariants(&channel);
    ck_assert_uint_eq(channel.result.cycles, bank.result.cycles);
    for (unsigned unit = 0; unit < RUN_UNITS; unit++)
        for (unsigned i = 0; i < RUN_INSTRUCTIONS; i++) {
            ck_assert_uint_eq(channel.seen[unit][i].start, bank.seen[unit][i].start);
            ck_assert_uint_eq(channel.seen[unit][i].end, bank.seen[unit][i].end);
        }
    compare_counters(&channel.result.dram, &bank.result.dram);
    channel.trace = NULL;
    clean(&channel);
    clean(&bank);
}
END_TEST

static void note(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    uint64_t *ends = context;
    (void)first_command;
    ends[request] = completed > ends[request] ? completed : ends[request];
}

/*
 * Loads of two nodes that begin together, on the channels of DDR4 and of HBM2: accesses come to the
 * controller in turn, one of each node in a cycle of a channel, and a load ends with its last data.
 * Expected by handing the same accesses to the memory of `pimsim dram`.
 */
static const struct {
    const char *preset, *clock, *values;
    uint64_t share; /* bytes of a node */
    uint32_t first, second;
    unsigned nodes; /* that share */
} pairs[] = {
    {"dram.standard=ddr4_2400r", "clock.memory_khz=1200000", "", UINT64_C(1) << 32, 1024, 640, 2},
    {"dram.standard=ddr4_2400r", "clock.memory_khz=1200000",
     "dram = { scheduler = \\\"frfcfs_row_hit\\\"; };", UINT64_C(1) << 32, 4096, 4096, 2},
    {"dram.standard=hbm1_2000", "clock.memory_khz=1000000", "", UINT64_C(1) << 28, 96, 2048, 2},
    /* Shares that no power of two is, rounded down to rows; of three and of seven there are two nodes. */
    {"dram.standard=ddr4_2400r", "clock.memory_khz=1200000", "", (UINT64_C(1) << 33) / 3 / 8192 * 8192, 5000,
     9001, 3},
    {"dram.standard=ddr3_1600k_1gb_x16", "clock.memory_khz=800000", "", (UINT64_C(1) << 29) / 7 / 8192 * 8192,
     100000, 33, 7},
    /* One bank, for which both wait, over several refreshes. */
    {"dram.standard=ddr4_2400r", "clock.memory_khz=1200000", "dram = { bank_groups = 1; banks = 1; };",
     UINT64_C(1) << 28, 60000, 30000, 2},
    /* Refreshes of banks in ranks of their own; of the banks of one number; stack identifiers. */
    {"dram.standard=lpddr4_3200", "clock.memory_khz=1600000",
     "dram = { ranks = 2; refresh_mode = \\\"per_bank\\\"; maintenance = \\\"rank\\\"; };", UINT64_C(1) << 29,
     70001, 40000, 2},
    {"dram.standard=ddr5_4800an_16gb_x8", "clock.memory_khz=2400000",
     "dram = { refresh_mode = \\\"same_bank\\\"; page = \\\"closed\\\"; };", UINT64_C(1) << 32, 50000, 50063,
     2},
    {"dram.standard=hbm3_6400_8gb_8hi", "clock.memory_khz=3200000", "dram = { pseudo_channels = 1; };",
     UINT64_C(1) << 28, 90000, 20001, 2},
};

START_TEST(nodes_take_turns)
{
    char values[160], nodes[32], program[512];
    (void)snprintf(values, sizeof values, "dram.standard_values=\"%s\"", pairs[_i].values);
    (void)snprintf(nodes, sizeof nodes, "dram.nodes=%u", pairs[_i].nodes);
    struct run run = {.width = 2,
                      .height = 1,
                      .settings = {pairs[_i].preset, pairs[_i].clock, values, nodes,
                                   "dram.arbitration_bytes=1048576", "clock.logic_khz=1000000",
                                   "clock.network_khz=1000000"}};
    (void)snprintf(program, sizeof program,
                   ".phase 0 \"work\" cycles=0\n.unit 0\nphase_begin 0\nload none address=0 bytes=%u\n"
                   "phase_end 0\n.unit 1\nphase_begin 0\nload none address=0 bytes=%u\nphase_end 0\n",
                   pairs[_i].first, pairs[_i].second);
    replay_well(&run, program);

    const struct pim_node_configuration *node = &run.system->hardware.node;
    const struct pim_dram_configuration *dram = &node->channels.dram;
    const uint32_t access = dram->specification.organization.access_bytes;
    ck_assert_uint_eq(node->bank.capacity_bytes, pairs[_i].share);
    uint64_t ends[2] = {0, 0};
    const struct pim_dram_sink sink = {ends, note, NULL};
    struct pim_dram_memory *memory =
        pim_dram_memory_create(&dram->specification, &dram->policy, &dram->mapping, &sink);
    ck_assert_ptr_nonnull(memory);
    for (uint64_t i = 0; i * access < pairs[_i].first || i * access < pairs[_i].second; i++) {
        if (i * access < pairs[_i].first)
            (void)pim_dram_memory_request(memory, 0, i * access, false, 0);
        if (i * access < pairs[_i].second)
            (void)pim_dram_memory_request(memory, 0, pairs[_i].share + i * access, false, 1);
    }
    (void)pim_dram_memory_finish(memory);
    pim_dram_memory_destroy(memory);
    const pim_time period = node->memory_period;
    ENDS(&run, 0, 1, ends[0] * period);
    ENDS(&run, 1, 1, ends[1] * period);
    ck_assert_uint_eq(run.result.dram.row_hits + run.result.dram.row_misses + run.result.dram.row_conflicts,
                      run.result.dram.reads);
    clean(&run);
}
END_TEST

/* Refreshes that were postponed are made when the run ends, as by the memory of `pimsim dram`. */
START_TEST(postponed_refreshes_are_counted)
{
    struct run run = {.width = 1,
                      .height = 1,
                      .settings = {"dram.standard=ddr4_2400r", "clock.memory_khz=1200000",
                                   "dram.standard_values=\"dram = { refresh_postpone = 8; };\""}};
    replay_well(&run, PHASE "load none address=0 bytes=3000000\nphase_end 0\n");
    const struct pim_node_configuration *node = &run.system->hardware.node;
    const struct pim_dram_configuration *dram = &node->channels.dram;
    uint64_t end = 0;
    const struct pim_dram_sink sink = {&end, note, NULL};
    struct pim_dram_memory *memory =
        pim_dram_memory_create(&dram->specification, &dram->policy, &dram->mapping, &sink);
    ck_assert_ptr_nonnull(memory);
    for (uint64_t address = 0; address < 3000000; address += 64)
        (void)pim_dram_memory_request(memory, 0, address, false, 0);
    (void)pim_dram_memory_finish(memory);
    struct pim_dram_counters counters;
    pim_dram_memory_counters(memory, end, &counters);
    pim_dram_memory_destroy(memory);
    const uint64_t due = end / dram->specification.parameter[PIM_DRAM_T_REFI];
    ck_assert_uint_gt(due, 10);
    ck_assert_uint_eq(counters.commands[PIM_DRAM_REF], due);
    ck_assert_uint_eq(run.result.dram.refreshes, due);
    clean(&run);
}
END_TEST

/* A bound that does not hold, as by a mistake of pim_dram_refresh_check: `pimsim run` ends with an error. */
START_TEST(late_refreshes_refuse_the_run)
{
    struct run run = {
        .width = 1, .height = 1, .settings = {"dram.standard=ddr4_2400r", "clock.memory_khz=1200000"}};
    make(&run, PHASE "load none address=0 bytes=100000\nphase_end 0\n");
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    struct pim_hardware hardware = run.system->hardware;
    uint32_t *parameter = hardware.node.channels.dram.specification.parameter;
    parameter[PIM_DRAM_T_REFI] = parameter[PIM_DRAM_T_RFC] / 2;
    pim_system_destroy(run.system);
    const struct pim_system_options options = {.until_cycle = PIM_UNTIL_END, .quiet = true};
    run.status = pim_system_create(&hardware, run.trace, &options, &run.system, &run.error);
    finish_run(&run);
    ck_assert_int_eq(run.status, PIM_BAD_INPUT);
    ck_assert_msg(strstr(run.error.text, "refreshes of the DRAM were not done when the next one"), "%s",
                  run.error.text);
    clean(&run);
}
END_TEST

/* A read of the memory port that is asked for at a tick of its own, and when its last data came. */
struct late_read {
    struct pim_node *node;
    enum pim_port_client client;
    struct pim_burst burst;
    uint64_t end;
};

static void note_end(struct pim_kernel *kernel, void *context)
{
    ((struct late_read *)context)->end = pim_kernel_now(kernel);
}

static void submit_late(struct pim_kernel *kernel, void *context)
{
    struct late_read *read = context;
    (void)kernel;
    pim_port_submit(read->node, read->client, &read->burst, note_end, read);
}

/*
 * A part is an access, one is handed over in a cycle, and any number of them may be under way. A second
 * client that asks `_i` + 1 cycles after the first takes its turn in that very cycle: the port chooses
 * when it is free, not a cycle before. Expected by handing the accesses in that order to the memory of
 * `pimsim dram`.
 */
START_TEST(a_late_client_takes_the_turn_of_its_cycle)
{
    enum { LONG = 24, SHORT = 3 };
    const uint64_t late = (uint64_t)_i + 1, far = 65536;
    struct run run = {.width = 1,
                      .height = 1,
                      .settings = {"dram.standard=ddr4_2400r", "clock.memory_khz=1200000", "dram.nodes=1",
                                   NO_REFRESH, "dram.arbitration_bytes=64", "clock.logic_khz=1200000",
                                   "clock.network_khz=1200000"}};
    make(&run, PHASE "phase_end 0\n");
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    const struct pim_node_configuration *configuration = &run.system->hardware.node;
    const struct pim_dram_configuration *dram = &configuration->channels.dram;
    const uint32_t access = dram->specification.organization.access_bytes;
    const pim_time period = configuration->memory_period;
    ck_assert_uint_eq(access, 64);
    struct pim_node *node = pim_node_at(pim_system_nodes(run.system), 0);
    struct late_read reads[] = {
        {node, PIM_PORT_MEMORY, {.address = 0, .bytes = LONG * access, .count = 1}, 0},
        {node, PIM_PORT_RECEIVE, {.address = far, .bytes = SHORT * access, .count = 1}, 0}};
    struct pim_kernel *kernel = node->array->units.kernel;
    pim_kernel_schedule(kernel, 0, PIM_PHASE_MEMORY, submit_late, &reads[0]);
    pim_kernel_schedule(kernel, late * period, PIM_PHASE_MEMORY, submit_late, &reads[1]);
    finish_run(&run);
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);

    uint64_t ends[2] = {0, 0}, cycle = 0;
    const struct pim_dram_sink sink = {ends, note, NULL};
    struct pim_dram_memory *memory =
        pim_dram_memory_create(&dram->specification, &dram->policy, &dram->mapping, &sink);
    ck_assert_ptr_nonnull(memory);
    for (uint64_t first = 0, second = 0; first < LONG; cycle++) {
        const bool turn = cycle >= late && second < SHORT && (cycle - late) % 2 == 0;
        const uint64_t address = turn ? far + second++ * access : first++ * access;
        ck_assert_uint_eq(pim_dram_memory_request(memory, cycle, address, false, turn), cycle);
    }
    (void)pim_dram_memory_finish(memory);
    pim_dram_memory_destroy(memory);
    ck_assert_uint_eq(reads[0].end, ends[0] * period);
    ck_assert_uint_eq(reads[1].end, ends[1] * period);
    clean(&run);
}
END_TEST

/* Random programs on channels that nodes share: they run to their end, with every invariant; bytes are
 * those of private banks, and every access was a hit, a miss or a conflict, or met a waiting write. */
static const char *const shared[][4] = {
    {"dram.standard=ddr4_2400r", "clock.memory_khz=1200000", "dram.nodes=16", NULL},
    {"dram.standard=hbm3_6400_4gb_8hi", "clock.memory_khz=3200000", "dram.nodes=4", "dram.accesses=3"},
    {"dram.standard=lpddr5_6400", "clock.memory_khz=800000", "dram.nodes=3", NULL},
    {"dram.standard=hbm2_2000", "clock.memory_khz=1000000", "dram.nodes=16", NULL},
};

START_TEST(shared_channels_keep_every_invariant)
{
    const char *const *settings = shared[_i % 4];
    struct run run = {.settings = {"network_interface.packet_bytes=256", settings[0], settings[1],
                                   settings[2], settings[3]}};
    random_program(&run, 6000 + (uint64_t)_i);
    finish_run(&run);
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    ck_assert(run.result.complete);
    check_invariants(&run);
    const struct pim_bank_counters *dram = &run.result.dram;
    const struct pim_dram_counters *channels = &pim_system_nodes(run.system)->channel_counters;
    ck_assert_uint_eq(dram->row_hits + dram->row_misses + dram->row_conflicts + channels->forwarded_reads +
                          channels->absorbed_writes,
                      dram->reads + dram->writes);
    ck_assert_uint_ge(dram->bytes_read, run.result.bytes_loaded);
    struct pim_dram_counters rows = {0};
    pim_shared_memories_rows(run.system->units, &rows);
    ck_assert_uint_eq(rows.row_hits, channels->row_hits);
    ck_assert_uint_eq(rows.row_misses, channels->row_misses);
    ck_assert_uint_eq(rows.row_conflicts, channels->row_conflicts);
    char *first = json_of(&run);
    struct run again = run;
    make_from(&again, run.trace);
    finish_run(&again);
    char *second = json_of(&again);
    ck_assert_str_eq(first, second);
    ck_assert_ptr_nonnull(strstr(first, "\"row_cycles\": null"));
    free(first);
    free(second);
    again.trace = NULL;
    clean(&again);
    clean(&run);
}
END_TEST

/* The energy is that of the standard's figures, for the whole run alone. */
START_TEST(energy_is_of_the_standard)
{
    struct run run = {.width = 1,
                      .height = 1,
                      .settings = {"dram.standard=hbm2_pim_act1", "clock.memory_khz=1000000",
                                   "energy.dram_pj_per_bit=7", NO_REFRESH}};
    char *text;
    replay_well(&run, PHASE "load input address=0 bytes=4096\nphase_end 0\n");
    /* 4 rows of 1 KiB; (2.68 + 0.80) pJ/bit, 909 pJ for a row. */
    ck_assert_uint_eq(run.result.dram.activates, 4);
    ck_assert_double_eq_tol(run.result.memory_energy.modelled, 4 * 909 + 8 * 4096 * 3.48, 1e-6);
    /* What the standard has no figures for is missing in each total, and said. */
    ck_assert(isnan(run.result.energy.dram) && isnan(run.result.energy.total));
    text = json_of(&run);
    ck_assert_ptr_nonnull(strstr(text, "\"total\": \"no energy.refresh_pj, energy.background_mw in this "
                                       "configuration: give them to have the total\""));
    ck_assert_ptr_nonnull(strstr(text, "\"background\": \"no energy.background_mw"));
    free(text);
    clean(&run);
    struct run whole = {
        .width = 1,
        .height = 1,
        .settings = {"dram.standard=hbm2_pim_act1", "clock.memory_khz=1000000",
                     "dram.standard_values=\"dram = { refresh = false; }; energy = { refresh_pj = 1.0; "
                     "background_mw = 2.0; };\""}};
    replay_well(&whole, PHASE "load input address=0 bytes=4096\nphase_end 0\n");
    ck_assert_double_eq_tol(whole.result.energy.dram,
                            4 * 909 + 8 * 4096 * 3.48 + whole.result.memory_energy.background, 1e-6);
    ck_assert(whole.result.memory_energy.background > 0);
    ck_assert(whole.result.energy.total >= whole.result.energy.dram);
    text = json_of(&whole);
    ck_assert_ptr_null(strstr(text, "in this configuration: give"));
    free(text);
    clean(&whole);
    struct run silent = {.width = 1,
                         .height = 1,
                         .settings = {"dram.standard=pimbank_400", "energy.dram_pj_per_bit=7",
                                      "dram.standard_values=\"energy = { model = \\\"none\\\"; };\""}};
    replay_well(&silent, PHASE "load input address=0 bytes=4096\nphase_end 0\n");
    ck_assert(isnan(silent.result.energy.dram));
    clean(&silent);
}
END_TEST

static const struct {
    const char *settings[3];
    const char *part;
} refused[] = {
    {{"dram.standard=ddr9"}, "no preset 'ddr9'"},
    {{"dram.standard=ddr4_2400r"}, "give 1200000"},
    {{"dram.standard=ddr5_4800an"}, "a cycle of dram.standard lasts 416 ps: give 2400000,"},
    {{"dram.standard=gddr6_14000"}, "a cycle of dram.standard lasts 570 ps: give 1750000,"},
    {{"dram.nodes=4"}, "is empty"},
    {{"dram.accesses=4"}, "is empty"},
    {{"dram.standard=pimbank_400", "dram.standard_values=\"dram = { tras = 40; };\""}, "dram.tras"},
    {{"dram.standard=pimbank_400", "dram.nodes=65536"}, "less than a row"},
    {{"dram.standard=pimbank_400", "array.kind=core"}, "is for nodes"},
};

START_TEST(what_makes_no_sense_is_refused)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *values;
    struct pim_hardware hardware;
    ck_assert(pim_configuration_create(&pim_hardware_schema, &values, &error) == PIM_OK);
    ck_assert(pim_configuration_set(values, "array.width=1", &error) == PIM_OK);
    ck_assert(pim_configuration_set(values, "array.height=1", &error) == PIM_OK);
    for (unsigned i = 0; i < 3 && refused[_i].settings[i]; i++)
        ck_assert(pim_configuration_set(values, refused[_i].settings[i], &error) == PIM_OK);
    ck_assert(pim_hardware_read(values, &hardware, &error) == PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, refused[_i].part), "%s", error.text);
    pim_configuration_destroy(values);
}
END_TEST

Suite *shared_memory_suite(void)
{
    Suite *suite = suite_create("shared_memory");
    TCase *tests = tcase_create("channels");
    tcase_add_test(tests, a_load_lasts_as_long_as_from_a_bank);
    tcase_add_test(tests, postponed_refreshes_are_counted);
    tcase_add_test(tests, late_refreshes_refuse_the_run);
    tcase_add_loop_test(tests, nodes_take_turns, 0, sizeof pairs / sizeof pairs[0]);
    tcase_add_loop_test(tests, a_late_client_takes_the_turn_of_its_cycle, 0, 16);
    tcase_add_loop_test(tests, shared_channels_keep_every_invariant, 0, PIM_CASES(16));
    tcase_add_test(tests, energy_is_of_the_standard);
    tcase_add_loop_test(tests, what_makes_no_sense_is_refused, 0, sizeof refused / sizeof refused[0]);
    tcase_add_loop_test(tests, a_channel_of_one_bank_is_a_private_bank, 0, PIM_CASES(30));
    suite_add_tcase(suite, tests);
    return suite;
}
