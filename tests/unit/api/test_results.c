/* What a run gives: figures that can be counted by hand, and what options change. */
#include "tests/unit/api/support.h"

#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs a trace and returns the results as a document. */
static json_t *run(const char *path, const struct pimsim_options *options)
{
    char message[2048] = "x";
    struct pimsim_simulation *simulation = NULL;
    EXPECT_STATUS(pimsim_create(&simulation, path, options, message, sizeof message), PIMSIM_OK);
    ck_assert_str_eq(message, "");
    message[0] = 'x';
    EXPECT_STATUS(pimsim_run(simulation, message, sizeof message), PIMSIM_OK);
    ck_assert_str_eq(message, "");
    json_t *results = results_of(simulation);
    pimsim_destroy(simulation);
    return results;
}

START_TEST(test_work_is_counted)
{
    char path[PATH_SIZE];
    json_t *results = run(trace_of(path, "trace.bin", (struct shape){.no_configuration = false}), NULL);
    ck_assert(json_is_true(json_object_get(results, "complete")));
    ck_assert_int_eq(integer_at(results, "work.macs"), TRACE_MACS);
    ck_assert_int_eq(integer_at(results, "work.network_macs"), TRACE_MACS);
    ck_assert_int_eq(integer_at(results, "work.bytes_sent"), MESSAGE_BYTES);
    ck_assert_int_eq(integer_at(results, "work.bytes_received"), MESSAGE_BYTES);
    /* fetched: two phase marks a phase and unit, five instructions a tile, a send and a receive */
    ck_assert_int_eq(integer_at(results, "work.instructions"), 6 + 5 * TILES + 2);
    ck_assert_double_eq(real_at(results, "energy_pj.pe"), 0.5 * TRACE_MACS);
    ck_assert_int_gt(integer_at(results, "cycles"), TRACE_MACS / 64);
    /* 400 MHz, the default clock: 2.5 ns a cycle */
    ck_assert_double_eq(real_at(results, "time_ns"), 2.5 * (double)integer_at(results, "cycles"));
    /* static power of two nodes: 1 mW x 1 ns = 1 pJ */
    ck_assert_double_eq(real_at(results, "energy_pj.static"), 2.0 * real_at(results, "time_ns"));
    ck_assert_int_eq(integer_at(results, "phases.0.estimate_cycles"), 700);
    ck_assert_uint_eq(json_array_size(json_object_get(results, "units")), 2);
    ck_assert_double_ge(real_at(results, "simulator.cpu_seconds"), 0);
    ck_assert_int_gt(integer_at(results, "simulator.peak_memory_bytes"), 100000);
    json_decref(results);
}
END_TEST

static json_int_t sum_of(json_t *figures)
{
    const char *key;
    json_t *figure;
    json_int_t sum = 0;
    json_object_foreach(figures, key, figure) sum += json_integer_value(figure);
    return sum;
}

/* What each class of engines did, the shares of each unit, and what engines waited for: whole cycles that add
 * up, with clocks of which none divides another. */
START_TEST(test_parts_add_up_with_any_clocks)
{
    static const char *const clocks[][2] = {
        {"clock.memory_khz=333333", "clock.network_khz=400000"},
        {"clock.memory_khz=1200000", "clock.network_khz=700001"},
        {"clock.memory_khz=150000", "clock.network_khz=350000"},
    };
    static const char *const classes[] = {"pe", "acu", "dram", "noc"},
                             *const engines[] = {"matrix", "vector", "memory"}; /* each alone in its class */
    char path[PATH_SIZE];
    struct pimsim_options options = no_options();
    options.overrides = clocks[_i];
    options.override_count = 2;
    json_t *results = run(trace_of(path, "trace.bin", (struct shape){.no_configuration = false}), &options);
    const json_int_t cycles = integer_at(results, "cycles");
    for (size_t i = 0; i < 2; i++) {
        const json_t *unit = json_array_get(json_object_get(results, "units"), i);
        json_t *busy = json_object_get(unit, "busy_cycles"), *stall = json_object_get(unit, "stall_cycles"),
               *idle = json_object_get(unit, "idle_cycles"), *causes = json_object_get(unit, "stall_causes");
        for (size_t class = 0; class < 4; class ++)
            ck_assert_int_eq(integer_at(busy, classes[class]) + integer_at(stall, classes[class]) +
                                 integer_at(idle, classes[class]),
                             cycles);
        ck_assert_int_eq(sum_of(json_object_get(unit, "cycles_by")), cycles);
        for (size_t engine = 0; engine < 3; engine++)
            ck_assert_int_eq(sum_of(json_object_get(causes, engines[engine])),
                             integer_at(stall, classes[engine]));
    }
    json_decref(results);
}
END_TEST

START_TEST(test_results_stay_the_same_text)
{
    char path[PATH_SIZE], message[256] = "";
    const char *first = NULL, *second = NULL;
    struct pimsim_simulation *simulation = NULL;
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    EXPECT_STATUS(pimsim_create(&simulation, path, NULL, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_run(simulation, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_results(simulation, &first, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_results(simulation, &second, NULL, 0), PIMSIM_OK);
    ck_assert_str_eq(first, second);
    pimsim_destroy(simulation);
}
END_TEST

START_TEST(test_overrides_apply_in_order)
{
    char path[PATH_SIZE];
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    const char *narrow[] = {"noc.flit_bits=8"};
    const char *wide[] = {"noc.flit_bits=8", "noc.flit_bits=64"};
    struct pimsim_options options = no_options();
    json_t *plain = run(path, NULL);
    options.overrides = narrow;
    options.override_count = 1;
    json_t *slow = run(path, &options);
    ck_assert_int_gt(integer_at(slow, "cycles"), integer_at(plain, "cycles"));
    ck_assert_int_gt(integer_at(slow, "noc.flits"), 4 * integer_at(plain, "noc.flits"));
    options.overrides = wide; /* the later wins, and 64 is the default: everything as without */
    options.override_count = 2;
    json_t *same = run(path, &options);
    char *plain_text = comparable(plain), *same_text = comparable(same), *slow_text = comparable(slow);
    ck_assert_str_eq(plain_text, same_text);
    ck_assert_str_ne(plain_text, slow_text);
    free(plain_text);
    free(same_text);
    free(slow_text);
    json_decref(plain);
    json_decref(same);
    json_decref(slow);
}
END_TEST

START_TEST(test_hardware_file_replaces_the_carried_configuration)
{
    static const char text[] = "array = { width = 2; height = 1; }; energy = { mac_pj = 4.0; };";
    char path[PATH_SIZE], file[PATH_SIZE];
    struct pimsim_options options = no_options();
    options.hardware_path = file_of(file, "hardware.cfg", text, sizeof text - 1);
    json_t *results = run(trace_of(path, "trace.bin", (struct shape){.no_configuration = true}), &options);
    ck_assert_double_eq(real_at(results, "energy_pj.pe"), 4.0 * TRACE_MACS);
    ck_assert(json_is_null(json_object_get(json_object_get(results, "energy_pj"), "static"))); /* no figure */
    json_decref(results);
}
END_TEST

START_TEST(test_fidelity_is_applied_after_overrides)
{
    char path[PATH_SIZE];
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    const char *analytic[] = {"noc.fidelity=analytic"};
    const char *ideal[] = {"noc.fidelity=ideal"};
    struct pimsim_options chosen = no_options(), overridden = no_options(), both = no_options();
    chosen.noc = PIMSIM_NOC_IDEAL;
    overridden.overrides = ideal;
    both.overrides = analytic;
    both.noc = PIMSIM_NOC_IDEAL;
    overridden.override_count = both.override_count = 1;
    char *first = replay(path, &chosen), *second = replay(path, &overridden), *third = replay(path, &both);
    char *flit = replay(path, NULL);
    ck_assert_str_eq(first, second); /* the hash of the configuration included */
    ck_assert_str_eq(first, third);
    ck_assert_str_ne(first, flit);
    free(first);
    free(second);
    free(third);
    free(flit);
}
END_TEST

START_TEST(test_a_run_stops_at_its_cycle)
{
    char path[PATH_SIZE];
    struct pimsim_options options = no_options();
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    options.until_cycle = 100;
    json_t *results = run(path, &options);
    ck_assert(json_is_false(json_object_get(results, "complete")));
    ck_assert_int_le(integer_at(results, "cycles"), 100);
    ck_assert_int_lt(integer_at(results, "work.macs"), TRACE_MACS);
    json_decref(results);
    options.until_cycle = UINT64_MAX; /* later than any time there is */
    char *late = replay(path, &options), *whole = replay(path, NULL);
    ck_assert_str_eq(late, whole);
    free(late);
    free(whole);
}
END_TEST

/* Fails the test unless the page describes every key below `value`: "| `units[].busy_cycles.pe` |". */
static void expect_described(json_t *value, const char *path, const char *page)
{
    char inner[512];
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach(value, key, member)
        {
            bool cause = strcmp(path, "units[].stall_causes") == 0;
            bool leaf = strcmp(path, "units[].stall_causes.ENGINE") == 0;
            (void)snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "",
                           cause  ? "ENGINE"
                           : leaf ? "CAUSE"
                                  : key);
            expect_described(member, inner, page);
        }
    } else if (json_is_array(value)) {
        ck_assert_msg(json_array_size(value) > 0, "%s is empty", path);
        (void)snprintf(inner, sizeof inner, "%s[]", path);
        expect_described(json_array_get(value, 0), inner, page);
    } else {
        (void)snprintf(inner, sizeof inner, "| `%s` |", path);
        ck_assert_msg(strstr(page, inner) != NULL, "docs/reference/run-json.md does not describe %s", path);
    }
}

/* Keys are a contract: each has its definition in the reference. */
START_TEST(test_every_key_is_described)
{
    static char page[65536];
    char path[PATH_SIZE];
    FILE *file = fopen(pimsim_source_path(path, sizeof path, "docs/reference/run-json.md"), "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_uint_gt(size, 1000);
    ck_assert_uint_lt(size, sizeof page - 1);
    json_t *results = run(trace_of(path, "trace.bin", (struct shape){.no_configuration = false}), NULL);
    expect_described(results, "", page);
    json_decref(results);
}
END_TEST

Suite *results_suite(void)
{
    Suite *suite = suite_create("api_results");
    TCase *tests = tcase_create("api_results");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_work_is_counted);
    tcase_add_loop_test(tests, test_parts_add_up_with_any_clocks, 0, 3);
    tcase_add_test(tests, test_results_stay_the_same_text);
    tcase_add_test(tests, test_overrides_apply_in_order);
    tcase_add_test(tests, test_hardware_file_replaces_the_carried_configuration);
    tcase_add_test(tests, test_fidelity_is_applied_after_overrides);
    tcase_add_test(tests, test_a_run_stops_at_its_cycle);
    tcase_add_test(tests, test_every_key_is_described);
    suite_add_tcase(suite, tests);
    return suite;
}
