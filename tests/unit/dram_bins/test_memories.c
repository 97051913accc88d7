/* Memories of a speed bin and a density: each runs, is what its names say, and is the preset of the same
 * figures where there is one. */
#include "tests/unit/dram_bins/bins.h"
#include "tests/unit/dram_channel/stepped/controller.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"
#include "tools/command/dram/list.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bins_memory(size_t bin, size_t density, struct bin_memory *memory)
{
    const struct pim_dram_preset_list *bins = &pim_dram_preset_lists[PIM_DRAM_BIN],
                                      *densities = &pim_dram_preset_lists[PIM_DRAM_DENSITY];
    *memory = (struct bin_memory){.bin = bins->items[bin].name, .density = densities->items[density].name};
    (void)snprintf(memory->standard, sizeof memory->standard, "%.*s", (int)strcspn(memory->bin, "_"),
                   memory->bin);
    const char *rest = pim_dram_part_of(&densities->items[density], memory->standard);
    if (!rest)
        return false;
    const char *width = strstr(rest, "_x");
    memory->gigabits = (uint32_t)strtoul(rest, NULL, 10);
    memory->width = width ? (uint32_t)strtoul(width + 2, NULL, 10) : 0;
    memory->rate = (uint32_t)strtoul(memory->bin + strlen(memory->standard) + 1, NULL, 10);
    (void)snprintf(memory->name, sizeof memory->name, "%s_%s", memory->bin, rest);
    return true;
}

enum { COUNT = 2000 };

/* Accesses anywhere: no command breaks a rule, no refresh is late, and no energy is told of a device without
 * currents. */
static void run(const char *name, const struct pim_dram_configuration *configuration,
                struct pim_random *random)
{
    struct access list[COUNT];
    struct outcome outcome;
    struct pim_dram_energy energy;
    struct pim_error error = {PIM_OK, ""};
    const uint32_t access = configuration->specification.organization.access_bytes;
    for (size_t i = 0; i < COUNT; i++)
        list[i] =
            (struct access){i, pim_random_below(random, configuration->mapping.capacity / access) * access,
                            pim_random_below(random, 3) == 0};
    serve(&outcome, configuration, list, COUNT, true);
    outcome_check(&outcome, configuration, name);
    pim_dram_energy_compute(&configuration->specification, &configuration->energy, &outcome.counters,
                            outcome.cycles, &energy);
    ck_assert_msg(isnan(energy.total), "%s has an energy", name);
    ck_assert_msg(pim_dram_counters_judge(&outcome.counters, &error) == PIM_OK, "%s: %s", name, error.text);
    outcome_free(&outcome);
}

/* Other refreshes than those of a rank behind one another; settings that a standard does not have are refused
 * of all of its memories. */
static const char *const refreshes[][4] = {
    {"dram.refresh_mode=per_bank", "dram.page=closed"},
    {"dram.refresh_mode=per_bank", "dram.maintenance=rank"},
    {"dram.refresh_mode=same_bank", "dram.maintenance=rank", "energy.model=none"},
    {"dram.maintenance=rank", "dram.refresh_postpone=8", "dram.page=timeout"},
};
enum { REFRESHES = sizeof refreshes / sizeof refreshes[0] };

START_TEST(every_memory_runs)
{
    const size_t bin = (size_t)PIM_CASE(_i);
    struct pim_dram_configuration configuration;
    struct pim_random random;
    struct pim_error error;
    struct bin_memory memory;
    unsigned taken = 0;
    pim_random_initialize(&random, 40 + bin);
    for (size_t density = 0; density < pim_dram_preset_lists[PIM_DRAM_DENSITY].count; density++) {
        if (!bins_memory(bin, density, &memory))
            continue;
        configure(&configuration, memory.name, NULL);
        run(memory.name, &configuration, &random);
        const size_t other = (bin + density) % REFRESHES;
        if (try_configure(&configuration, memory.name, refreshes[other], &error) != PIM_OK)
            continue;
        run(memory.name, &configuration, &random);
        taken++;
    }
    ck_assert_uint_gt(taken, 0);
}
END_TEST

/* A memory of every bin, with each of the settings above:
 * the controller that is stepped cycle by cycle issues the same commands. */
START_TEST(every_bin_is_stepped)
{
    enum { STEPPED = 100 };
    const size_t bin = (size_t)PIM_CASE(_i), all = pim_dram_preset_lists[PIM_DRAM_DENSITY].count;
    struct pim_dram_configuration configuration;
    struct pim_random random;
    struct pim_error error;
    struct bin_memory memory;
    struct outcome fast, slow;
    unsigned taken = 0;
    size_t density = bin * 5 % all;
    while (!bins_memory(bin, density, &memory))
        density = (density + 1) % all;
    pim_random_initialize(&random, 80 + bin);
    for (size_t setting = 0; setting < REFRESHES; setting++) {
        if (try_configure(&configuration, memory.name, refreshes[setting], &error) != PIM_OK)
            continue;
        configuration.specification.organization.channels = 1;
        struct access *list = random_list(&random, &configuration, STEPPED, setting % 2 ? 2 : 0.05);
        serve(&fast, &configuration, list, STEPPED, true);
        stepped_serve(&slow, &configuration, list, STEPPED);
        ck_assert_uint_le(slow.record_count, fast.record_count);
        for (size_t i = 0; i < slow.record_count; i++)
            ck_assert_msg(fast.records[i].cycle == slow.records[i].cycle &&
                              fast.records[i].command == slow.records[i].command &&
                              fast.records[i].bank == slow.records[i].bank,
                          "%s, %s: command %zu", memory.name, refreshes[setting][0], i);
        ck_assert_mem_eq(fast.completed, slow.completed, STEPPED * sizeof *fast.completed);
        outcome_free(&fast);
        outcome_free(&slow);
        free(list);
        taken++;
    }
    ck_assert_uint_gt(taken, 0);
}
END_TEST

/* REFsb of DDR5 is of its fine mode: each bank every tREFI / 2, whether the rate is said or not. */
START_TEST(same_bank_as_the_standard)
{
    static const char *const settings[][3] = {{"dram.refresh_mode=same_bank"},
                                              {"dram.refresh_mode=same_bank", "dram.refresh_rate=2"}};
    struct pim_dram_configuration ranks, banks;
    struct bin_memory memory;
    unsigned tried = 0;
    for (size_t bin = 0; bin < pim_dram_preset_lists[PIM_DRAM_BIN].count; bin++)
        for (size_t density = 0; density < pim_dram_preset_lists[PIM_DRAM_DENSITY].count; density++) {
            if (!bins_memory(bin, density, &memory) || strcmp(memory.standard, "ddr5") != 0)
                continue;
            configure(&ranks, memory.name, NULL);
            for (unsigned i = 0; i < 2; i++) {
                configure(&banks, memory.name, settings[i]);
                ck_assert_uint_eq(pim_dram_bank_refresh_interval(&banks.specification),
                                  ranks.specification.parameter[PIM_DRAM_T_REFI] / 2 /
                                      ranks.specification.organization.banks);
            }
            tried++;
        }
    ck_assert_uint_gt(tried, 0);
}
END_TEST

static void ignore(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    (void)context, (void)request, (void)first_command, (void)completed;
}

/* The density of which a memory of the bin is taken; its configuration with these settings. */
static void configure_bin(size_t bin, const char *const *settings, struct bin_memory *memory,
                          struct pim_dram_configuration *configuration)
{
    const size_t all = pim_dram_preset_lists[PIM_DRAM_DENSITY].count;
    size_t density = bin * 7 % all;
    while (!bins_memory(bin, density, memory))
        density = (density + 1) % all;
    configure(configuration, memory->name, settings);
}

/* Bytes per cycle of a stream that leaves no pause, and of reads or of writes alone. */
static double bandwidth(const struct pim_dram_configuration *configuration, enum dram_pattern pattern,
                        bool reads)
{
    const struct pim_dram_organization *o = &configuration->specification.organization;
    struct pim_error error = {PIM_OK, ""};
    struct dram_list list;
    const struct dram_stream stream = {.pattern = pattern,
                                       .count = UINT64_C(10000) * o->pseudo_channels,
                                       .reads = reads,
                                       .rate = 1e6,
                                       .seed = 1};
    ck_assert(dram_list_generate(&list, &stream, configuration, &error) == PIM_OK);
    uint64_t *arrived = malloc(list.count * sizeof *arrived);
    const struct pim_dram_sink sink = {NULL, ignore, NULL};
    struct pim_dram_memory *served = pim_dram_memory_create(
        &configuration->specification, &configuration->policy, &configuration->mapping, &sink);
    ck_assert(served && arrived);
    ck_assert_uint_eq(pim_dram_memory_serve(served, list.items, list.count, 0, arrived), list.count);
    const double cycles = (double)pim_dram_memory_finish(served);
    const double bytes = (double)list.count * o->access_bytes;
    pim_dram_memory_destroy(served);
    dram_list_terminate(&list);
    free(arrived);
    return bytes / cycles;
}

static double after_refresh(const struct pim_dram_configuration *configuration)
{
    const uint32_t *parameter = configuration->specification.parameter;
    return 1 - (double)parameter[PIM_DRAM_T_RFC] / parameter[PIM_DRAM_T_REFI];
}

/* Reads, and writes, in all bank groups in turn: the rate of the bin times the width of the bus, less
 * refreshes. */
START_TEST(bandwidth_is_the_rate)
{
    static const char *const alone[] = {"dram.maintenance=rank", NULL}; /* no channel waits for the other's */
    struct pim_dram_configuration configuration;
    struct bin_memory memory;
    configure_bin((size_t)PIM_CASE(_i), alone, &memory, &configuration);
    const double cycle = configuration.specification.clock_ps * 1e-12;
    const double rate = (double)memory.rate * 1e6 * bins_bus_bits(memory.standard) / 8;
    for (unsigned reads = 0; reads < 2; reads++) {
        const double share =
            bandwidth(&configuration, DRAM_INTERLEAVED, reads) / cycle / rate / after_refresh(&configuration);
        ck_assert_msg(share > 0.95 && share < 1.01, "%s, %s: %.4f of its rate", memory.name,
                      reads ? "reads" : "writes", share);
    }
}
END_TEST

/* Consecutive addresses lie in a row of one bank: a burst every tCCD_L, or tCCD_L_WR, less refreshes, and
 * more where the next row is in another bank group and in the queue already; with bank groups in turn the
 * rate of the bus. */
START_TEST(sequential_is_the_step)
{
    static const char *const mappings[][3] = {
        {"dram.pseudo_channels=1"},
        {"dram.pseudo_channels=1", "dram.mapping=row bank stack rank column group pseudo channel"}};
    struct pim_dram_configuration configuration;
    struct bin_memory memory;
    for (unsigned i = 0; i < 4; i++) {
        const bool reads = i % 2;
        configure_bin((size_t)PIM_CASE(_i), mappings[i / 2], &memory, &configuration);
        const uint32_t *parameter = configuration.specification.parameter;
        const double step = i / 2   ? parameter[PIM_DRAM_T_CCD_S]
                            : reads ? parameter[PIM_DRAM_T_CCD_L]
                                    : parameter[PIM_DRAM_T_CCD_L_WR];
        const double most =
            configuration.specification.organization.access_bytes * after_refresh(&configuration);
        const double bytes = bandwidth(&configuration, DRAM_SEQUENTIAL, reads);
        ck_assert_msg(bytes > 0.95 * most / step && bytes < 1.01 * most / parameter[PIM_DRAM_T_CCD_S],
                      "%s, %s: %.4f of a burst every %g cycles", memory.name, reads ? "reads" : "writes",
                      bytes / most * step, step);
    }
}
END_TEST

/* Presets whose figures are a bin and a density, and all in which they differ. */
static const struct {
    const char *preset, *composed, *differs;
} twins[] = {
    {"ddr3_1600k", "ddr3_1600k_4gb_x8", ""},
    /* Ramulator's 360 ns and its tREFI rounded up. */
    {"ddr4_2400r", "ddr4_2400r_8gb_x8", "trfc = 433; trefi = 9364;"},
    {"ddr4_3200", "ddr4_3200aa_8gb_x8", "mapping = \"row bank rank column group pseudo channel\";"},
    /* Ramulator's tFAW and tCCD_L_WR; the others count for REFsb and shorter refreshes alone. */
    {"ddr5_4800an", "ddr5_4800an_16gb_x8",
     "tfaw = 48; tccd_l_write = 48; trfc_bank = 160; trrefd = 8; trefpb_refpb = 0; trfc_fine = 0; "
     "refresh_rate = \"1\";"},
    {"lpddr4_3200", "lpddr4_3200_4gb_x16", ""},
    /* The interval of REFpb is Ramulator's. */
    {"lpddr5_6400", "lpddr5_6400_16gb_x16", "trefi_bank = 391; refresh_mode = \"all_bank\";"},
    {"gddr6_14000", "gddr6_14000_8gb_x16", ""},
    /* Ramulator's organisation and interval of REFpb. */
    {"hbm1_2000", "hbm1_2000_4gb", "banks = 2; rows = 32768; trefi_bank = 488; refresh_mode = \"all_bank\";"},
    {"hbm2_2000", "hbm2_2000_8gb",
     "channels = 8; trcd_write = 14; mapping = \"row bank rank column group pseudo channel\";"},
    /* One pseudo-channel and its queues, half clocks of 312.5 ps, and the interval of REFpb. */
    {"hbm3_6400", "hbm3_6400_4gb",
     "pseudo_channels = 1; read_queue = 32; write_queue = 32; trfc = 832; trfc_bank = 640; trefi_bank = 780; "
     "refresh_mode = \"all_bank\";"},
};

/* A memory with values of a file behind it. */
static void configure_behind(struct pim_dram_configuration *configuration, const char *name,
                             const char *values)
{
    struct pim_configuration *read;
    struct pim_error error = {PIM_OK, ""};
    char text[256];
    (void)snprintf(text, sizeof text, "dram = { %s };", values);
    ck_assert(pim_configuration_create(&pim_dram_schema, &read, &error) == PIM_OK);
    ck_assert(pim_dram_preset_read(read, name, &error) == PIM_OK);
    ck_assert_msg(pim_configuration_read_text(read, "text", text, strlen(text), &error) == PIM_OK &&
                      pim_dram_configure(read, configuration, &error) == PIM_OK,
                  "%s: %s", name, error.text);
    pim_configuration_destroy(read);
}

START_TEST(composed_is_the_preset)
{
    struct pim_dram_configuration preset, composed;
    struct outcome a, b;
    struct pim_random random;
    configure(&preset, twins[_i].preset, NULL);
    configure_behind(&composed, twins[_i].composed, twins[_i].differs);
    const struct pim_dram_specification *p = &preset.specification, *c = &composed.specification;
    for (unsigned i = 1; i < PIM_DRAM_PARAMETERS; i++)
        ck_assert_msg(p->parameter[i] == c->parameter[i], "%s: %s is %" PRIu32 ", of %s %" PRIu32,
                      twins[_i].preset, pim_dram_parameter_key((enum pim_dram_parameter)i), p->parameter[i],
                      twins[_i].composed, c->parameter[i]);
    ck_assert_mem_eq(&p->organization, &c->organization, sizeof p->organization);
    ck_assert_uint_eq(p->clock_ps, c->clock_ps);
    pim_random_initialize(&random, 7);
    struct access *list = random_list(&random, &preset, 2000, 0.1);
    serve(&a, &preset, list, 2000, false);
    serve(&b, &composed, list, 2000, false);
    ck_assert_mem_eq(a.completed, b.completed, 2000 * sizeof *a.completed);
    ck_assert_uint_eq(a.cycles, b.cycles);
    outcome_free(&a);
    outcome_free(&b);
    free(list);
}
END_TEST

/* What does not make a memory is refused with what there is. */
static const struct {
    const char *name, *message;
} refused[] = {
    {"ddr4_2933y", "; behind the speed bin ddr4_2933y a density of ddr4 follows: 2gb_x4, "},
    {"hbm3_6400_8gb_x4",
     "no preset 'hbm3_6400_8gb_x4'; the nearest is hbm3_6400_8gb_8hi; `pimsim dram --list-presets` "
     "shows all; behind the speed bin hbm3_6400 a density of hbm3 follows: 4gb, 4gb_8hi, "},
    {"ddr4_2933y_ddr5_16gb_x8", "behind the speed bin ddr4_2933y a density of ddr4 follows: 2gb_x4, "},
    {"gddr6_14000_1350mv", "behind the speed bin gddr6_14000_1350mv a density of gddr6 follows: 8gb_x8, "},
    {"ddr4_2933y_16gb_x4_", "the nearest is ddr4_2933y_16gb_x4; "},
    {"DDR4_2933Y_16Gb_x4", "the nearest is ddr4_2933y_16gb_x4; "},
    {"ddr4-2933y-16gb-x4", "the nearest is ddr4_2933y_16gb_x4; "},
    {"lpddr5_5500_16gb_x16", "the nearest is lpddr5_6400_16gb_x16; `pimsim dram --list-presets` shows all; "
                             "speed bins of lpddr5, with a "
                             "density behind them: 6400"},
    {"ddr4_16gb_x4", "speed bins of ddr4, with a density behind them: 1600j, "},
    {"ddr9_3200_8gb_x8", "no preset 'ddr9_3200_8gb_x8'; the nearest is "},
    {"ddr4", "no preset 'ddr4'; `pimsim dram --list-presets` shows all; speed bins of ddr4, "},
    {"", "no preset ''; `pimsim dram --list-presets` shows all"},
};

START_TEST(what_is_no_memory)
{
    struct pim_dram_configuration configuration;
    struct pim_error error;
    ck_assert(try_configure(&configuration, refused[_i].name, NULL, &error) == PIM_USAGE);
    ck_assert_msg(strstr(error.text, refused[_i].message), "%s", error.text);
}
END_TEST

/* The name of the whole stands in results, and a value tells the file that it is from. */
START_TEST(values_tell_their_file)
{
    struct pim_configuration *values;
    struct pim_error error = {PIM_OK, ""};
    ck_assert(pim_configuration_create(&pim_dram_schema, &values, &error) == PIM_OK);
    ck_assert(pim_dram_preset_read(values, "ddr4_2933y_16gb_x16", &error) == PIM_OK);
    ck_assert_str_eq(pim_configuration_text(values, "name"), "ddr4_2933y_16gb_x16");
    char *text = pim_configuration_write(values, true);
    ck_assert_ptr_nonnull(text);
    static const char *const origins[] = {
        "standards/ddr4:", "bins/ddr4_2933y:", "densities/ddr4_16gb_x16:", "pages/ddr4_2933_x16:"};
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++)
        ck_assert_msg(strstr(text, origins[i]), "%s in\n%s", origins[i], text);
    free(text);
    pim_configuration_destroy(values);
}
END_TEST

static Suite *suite_dram_memories(void)
{
    Suite *suite = suite_create("dram_memories");
    TCase *cases = tcase_create("bins");
    const size_t bins = pim_dram_preset_lists[PIM_DRAM_BIN].count;
    tcase_add_loop_test(cases, every_memory_runs, 0, PIM_CASES(bins));
    tcase_add_loop_test(cases, every_bin_is_stepped, 0, PIM_CASES(bins));
    tcase_add_test(cases, same_bank_as_the_standard);
    tcase_add_loop_test(cases, bandwidth_is_the_rate, 0, PIM_CASES(bins));
    tcase_add_loop_test(cases, sequential_is_the_step, 0, PIM_CASES(bins));
    tcase_add_loop_test(cases, composed_is_the_preset, 0, sizeof twins / sizeof twins[0]);
    tcase_add_loop_test(cases, what_is_no_memory, 0, sizeof refused / sizeof refused[0]);
    tcase_add_test(cases, values_tell_their_file);
    suite_add_tcase(suite, cases);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, suite_dram_memories());
    srunner_add_suite(runner, suite_dram_values());
}
