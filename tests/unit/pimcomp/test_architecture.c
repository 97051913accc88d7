/* The hardware as the mapper sees it, held against the hardware as the simulator sees it. */
#include "mappers/machine/core_times.h"
#include "models/cost/crossbar.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "sim/random.h"
#include "tests/unit/pimcomp/cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct pim_machine_network way = {.fixed = 2, .per_router = 5};

static struct pim_configuration *read_configuration(const char *name)
{
    struct pim_configuration *configuration;
    struct pim_error error;
    char relative[96], path[512];
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, &error), PIM_OK);
    (void)snprintf(relative, sizeof relative, "configs/hardware/%s.cfg", name);
    ck_assert_msg(pim_configuration_read_file(configuration, pimsim_source_path(path, sizeof path, relative),
                                              &error) == PIM_OK,
                  "%s", error.text);
    return configuration;
}

static void set(struct pim_configuration *configuration, const char *assignment)
{
    struct pim_error error;
    ck_assert_msg(pim_configuration_set(configuration, assignment, &error) == PIM_OK, "%s", error.text);
}

/* Table V of the paper: chips x cores, crossbars, capacity in MB of 16-bit weights. */
START_TEST(presets_have_the_capacities_of_table_v)
{
    static const struct {
        const char *name;
        uint32_t cores, chip_cores, arrays, rows, columns;
        uint64_t megabytes;
    } presets[] = {{"pimcomp-arch-a", 168, 168, 96, 128, 16, 63},
                   {"pimcomp-arch-b", 138, 138, 128, 128, 16, 69},
                   {"pimcomp-arch-c", 64, 4, 8, 512, 128, 64}};
    for (unsigned i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        struct pim_configuration *configuration = read_configuration(presets[i].name);
        struct pim_core_architecture a;
        struct pim_error error;
        ck_assert_msg(pim_core_architecture_read(configuration, &way, &a, &error) == PIM_OK, "%s",
                      error.text);
        ck_assert_uint_eq(a.cores, presets[i].cores);
        ck_assert_uint_eq(a.chip_width * a.chip_height, presets[i].chip_cores);
        ck_assert_uint_eq(a.arrays, presets[i].arrays);
        ck_assert_uint_eq(a.array_rows, presets[i].rows);
        ck_assert_uint_eq(a.array_columns, presets[i].columns);
        uint64_t bytes = (uint64_t)a.cores * a.arrays * a.array_rows * a.array_columns * 2;
        ck_assert_uint_eq(bytes >> 20, presets[i].megabytes);
        ck_assert_uint_eq(bytes & ((1u << 20) - 1), 0);
        pim_configuration_destroy(configuration);
    }
}
END_TEST

/* Random crossbars: cycles and logical arrays of mapper and simulator agree. */
START_TEST(crossbars_are_those_of_the_model)
{
    static const struct {
        const char *key;
        uint32_t least, most;
    } keys[] = {{"count_x", 8, 20},
                {"count_y", 4, 20},
                {"rows", 16, 300},
                {"columns", 64, 300},
                {"cell_bits", 1, 5},
                {"weight_bits", 4, 16},
                {"input_bits", 1, 20},
                {"dac_bits", 1, 4},
                {"dac_count", 1, 300},
                {"dac_cycles", 0, 3},
                {"read_ns", 1, 120},
                {"sample_hold_cycles", 0, 3},
                {"adc_count", 1, 40},
                {"adc_cycles", 0, 20},
                {"shift_add_cycles", 0, 3},
                {"input_buffer_cycles", 0, 3},
                {"output_buffer_cycles", 0, 3}};
    struct pim_configuration *configuration = read_configuration("pimcomp-arch-a");
    struct pim_random random;
    struct pim_error error;
    pim_random_initialize(&random, 911);
    for (unsigned n = 0; n < 300; n++) {
        char text[96];
        struct pim_core_architecture a;
        struct pim_hardware hardware;
        struct pim_crossbar_cost cost;
        for (unsigned k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            (void)snprintf(text, sizeof text, "crossbar.%s=%" PRIu64, keys[k].key,
                           pim_random_between(&random, keys[k].least, keys[k].most));
            set(configuration, text);
        }
        set(configuration, n & 1 ? "crossbar.pipelined=true" : "crossbar.pipelined=false");
        set(configuration, n & 2 ? "crossbar.floor_division=true" : "crossbar.floor_division=false");
        set(configuration, n & 4 ? "crossbar.sign=offset" : "crossbar.sign=differential");
        set(configuration, n & 8 ? "crossbar.weight_slicing=columns" : "crossbar.weight_slicing=arrays");
        ck_assert_msg(pim_hardware_read(configuration, &hardware, &error) == PIM_OK, "%s", error.text);
        ck_assert_msg(pim_core_architecture_read(configuration, &way, &a, &error) == PIM_OK, "%s",
                      error.text);
        pim_crossbar_cost_of(&hardware.cores.crossbar, &cost);
        ck_assert_msg(a.mvm_cycles == cost.mvm_cycles, "case %u of seed 911: %" PRIu64 " and %" PRIu64, n,
                      a.mvm_cycles, cost.mvm_cycles);
        ck_assert_uint_eq(a.arrays, cost.logical_arrays);
        ck_assert_uint_eq(a.array_rows, cost.logical_rows);
        ck_assert_uint_eq(a.array_columns, cost.logical_columns);
    }
    pim_configuration_destroy(configuration);
}
END_TEST

/* A flit's way through the empty mesh is that of the simulator, whatever routers and clocks are. */
START_TEST(ways_are_those_of_the_model)
{
    static const char *const sets[] = {"noc.link_latency=1", "noc.link_latency=9", "noc.routing_delay=4",
                                       "clock.network_khz=640000", "clock.network_khz=2000000"};
    for (unsigned i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        struct pim_configuration *configuration = read_configuration("pimcomp-arch-a");
        struct pim_core_architecture a;
        struct pim_hardware hardware;
        struct pim_error error;
        set(configuration, sets[i]);
        ck_assert_msg(pim_hardware_read(configuration, &hardware, &error) == PIM_OK, "%s", error.text);
        const struct pim_zero_load *zero_load = &hardware.cores.zero_load;
        const struct pim_machine_network network = {.fixed = (int64_t)zero_load->fixed,
                                                    .per_router = zero_load->per_router};
        ck_assert(pim_core_architecture_read(configuration, &network, &a, &error) == PIM_OK);
        for (uint64_t routers = 1; routers < 20; routers++) {
            uint64_t ticks = (zero_load->fixed + routers * zero_load->per_router) * zero_load->period;
            uint64_t cycles = pim_divide_up(ticks, hardware.cores.logic_period);
            ck_assert_msg(pim_time_way(&a, routers) == cycles, "%s: %" PRIu64 " routers, %" PRIu64 " cycles",
                          sets[i], routers, cycles);
        }
        pim_configuration_destroy(configuration);
    }
}
END_TEST

static void expect_refusal(const char *assignment, const char *key, const char *reason)
{
    struct pim_configuration *configuration = read_configuration("pimcomp-arch-a");
    struct pim_core_architecture a;
    struct pim_error error;
    set(configuration, assignment);
    ck_assert_int_eq(pim_core_architecture_read(configuration, &way, &a, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, key) && strstr(error.text, reason), "%s", error.text);
    pim_configuration_destroy(configuration);
}

START_TEST(refusals_name_the_key)
{
    expect_refusal("array.kind=node", "array.kind", "no cores");
    expect_refusal("chips.width=5", "chips.width", "does not divide");
    expect_refusal("chips.height=5", "chips.height", "does not divide");
    expect_refusal("crossbar.columns=7", "crossbar.columns", "8 columns");
    expect_refusal("crossbar.management_arrays=97", "crossbar.management_arrays", "96 logical arrays");
}
END_TEST

Suite *architecture_suite(void)
{
    Suite *suite = suite_create("architecture");
    TCase *t = tcase_create("architecture");
    tcase_add_test(t, presets_have_the_capacities_of_table_v);
    tcase_add_test(t, crossbars_are_those_of_the_model);
    tcase_add_test(t, ways_are_those_of_the_model);
    tcase_add_test(t, refusals_name_the_key);
    suite_add_tcase(suite, t);
    return suite;
}
