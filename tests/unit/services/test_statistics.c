#include "sim/csv.h"
#include "sim/statistics.h"
#include "tests/unit/services/services.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A small registry with every kind, empty ones, values owned and elsewhere. */
struct sample {
    struct pim_statistics *statistics;
    uint64_t flits;
    double energy;
};

static void make_sample(struct sample *sample)
{
    sample->statistics = pim_statistics_create();
    sample->flits = 41;
    sample->energy = 0.1;
    uint64_t *cycles = pim_statistics_counter(sample->statistics, "cycles", "cycles", "length of the run");
    pim_statistics_counter_at(sample->statistics, &sample->flits, "noc.flits", "flits",
                              "flits, \"head\" included");
    struct pim_histogram *latency = pim_statistics_histogram(
        sample->statistics, "noc.packet_latency", "cycles", "first flit in to last flit out", 8, 1 << 20);
    struct pim_average *queue =
        pim_statistics_average(sample->statistics, "dram.queue", "requests", "requests that wait");
    pim_statistics_real_at(sample->statistics, &sample->energy, "energy.noc", "pJ", "energy of the network");
    double *unknown = pim_statistics_real(sample->statistics, "energy.acu", "pJ", "energy of the ACU");
    (void)pim_statistics_histogram(sample->statistics, "noc.hops", "hops", "links on the way", 4, 64);
    *cycles = 1234567;
    sample->flits++;
    for (uint64_t value = 1; value <= 100; value++)
        pim_histogram_add(latency, value);
    pim_average_set(queue, 100, 3);
    *unknown = (double)NAN;
    pim_statistics_advance(sample->statistics, 200);
}

START_TEST(order_and_lookup)
{
    static const char *const names[] = {
        "cycles", "noc.flits", "noc.packet_latency", "dram.queue", "energy.noc", "energy.acu", "noc.hops"};
    struct sample sample;
    make_sample(&sample);
    ck_assert_uint_eq(pim_statistics_count(sample.statistics), 7);
    for (size_t i = 0; i < 7; i++) {
        const struct pim_statistic *statistic = pim_statistics_get(sample.statistics, i);
        ck_assert_str_eq(statistic->name, names[i]);
        ck_assert_ptr_eq(pim_statistics_find(sample.statistics, names[i]), statistic);
    }
    const struct pim_statistic *flits = pim_statistics_find(sample.statistics, "noc.flits");
    ck_assert_int_eq(flits->kind, PIM_STATISTIC_COUNTER);
    ck_assert_str_eq(flits->unit, "flits");
    ck_assert_uint_eq(*flits->value.counter, 42);
    static const char *const absent[] = {"noc", "noc.flit", "noc.flits.", "", "energy", "zzz"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        ck_assert_ptr_null(pim_statistics_find(sample.statistics, absent[i]));
    pim_statistics_destroy(sample.statistics);
}
END_TEST

START_TEST(text_output)
{
    static const char expected[] =
        "cycles                     1234567 # length of the run [cycles]\n"
        "noc.flits                       42 # flits, \"head\" included [flits]\n"
        "noc.packet_latency.count       100 # first flit in to last flit out [1]\n"
        "noc.packet_latency.sum        5050 # first flit in to last flit out [cycles]\n"
        "noc.packet_latency.minimum       1 # first flit in to last flit out [cycles]\n"
        "noc.packet_latency.maximum     100 # first flit in to last flit out [cycles]\n"
        "noc.packet_latency.mean       50.5 # first flit in to last flit out [cycles]\n"
        "noc.packet_latency.p50          50 # first flit in to last flit out [cycles]\n"
        "noc.packet_latency.p95          95 # first flit in to last flit out [cycles]\n"
        "noc.packet_latency.p99          99 # first flit in to last flit out [cycles]\n"
        "dram.queue.mean                1.5 # requests that wait [requests]\n"
        "dram.queue.maximum               3 # requests that wait [requests]\n"
        "energy.noc                     0.1 # energy of the network [pJ]\n"
        "energy.acu                     n/a # energy of the ACU [pJ]\n"
        "noc.hops.count                   0 # links on the way [1]\n"
        "noc.hops.sum                     0 # links on the way [hops]\n"
        "noc.hops.minimum               n/a # links on the way [hops]\n"
        "noc.hops.maximum               n/a # links on the way [hops]\n"
        "noc.hops.mean                  n/a # links on the way [hops]\n"
        "noc.hops.p50                   n/a # links on the way [hops]\n"
        "noc.hops.p95                   n/a # links on the way [hops]\n"
        "noc.hops.p99                   n/a # links on the way [hops]\n";
    struct sample sample;
    make_sample(&sample);
    FILE *file = tmpfile();
    pim_statistics_write_text(sample.statistics, file);
    char *text = stream_text(file);
    ck_assert_str_eq(text, expected);
    free(text);
    pim_statistics_destroy(sample.statistics);
}
END_TEST

/* Read back by the reader: the names are those of the text form, quotes survive, what has no value is empty.
 */
START_TEST(csv_output)
{
    static const char *const header[] = {"name", "value", "unit", "description"};
    struct sample sample;
    struct pim_error error = {0};
    struct pim_csv_reader *reader;
    make_sample(&sample);
    FILE *file = tmpfile();
    pim_statistics_write_csv(sample.statistics, file);
    rewind(file);
    ck_assert_int_eq(pim_csv_open_stream(&reader, file, "statistics", header, 4, &error), PIM_OK);
    unsigned rows = 0, found = 0;
    for (;;) {
        bool more;
        ck_assert_int_eq(pim_csv_next(reader, &more, &error), PIM_OK);
        if (!more)
            break;
        rows++;
        const char *name = pim_csv_text(reader, 0), *value = pim_csv_text(reader, 1);
        if (strcmp(name, "noc.flits") == 0) {
            ck_assert_str_eq(value, "42");
            ck_assert_str_eq(pim_csv_text(reader, 3), "flits, \"head\" included");
            found++;
        } else if (strcmp(name, "energy.noc") == 0) {
            ck_assert_str_eq(value, "0.10000000000000001");
            ck_assert_str_eq(pim_csv_text(reader, 2), "pJ");
            found++;
        } else if (strcmp(name, "energy.acu") == 0 || strcmp(name, "noc.hops.p99") == 0) {
            ck_assert_str_eq(value, "");
            found++;
        }
    }
    ck_assert_uint_eq(rows, 22);
    ck_assert_uint_eq(found, 4);
    pim_csv_close(reader);
    ck_assert_int_eq(fclose(file), 0);
    pim_statistics_destroy(sample.statistics);
}
END_TEST

static char *json_text(struct pim_json *json)
{
    struct pim_error error = {0};
    FILE *file = tmpfile();
    ck_assert_msg(pim_json_write(json, file, &error) == PIM_OK, "%s", error.text);
    pim_json_destroy(json);
    return stream_text(file);
}

/* Groups stand where their first member was registered; noc.hops joins noc. */
START_TEST(json_output)
{
    static const char expected[] = "{\n"
                                   "  \"cycles\": 1234567,\n"
                                   "  \"noc\": {\n"
                                   "    \"flits\": 42,\n"
                                   "    \"packet_latency\": {\n"
                                   "      \"count\": 100,\n"
                                   "      \"sum\": 5050,\n"
                                   "      \"minimum\": 1,\n"
                                   "      \"maximum\": 100,\n"
                                   "      \"mean\": 50.5,\n"
                                   "      \"p50\": 50,\n"
                                   "      \"p95\": 95,\n"
                                   "      \"p99\": 99\n"
                                   "    },\n"
                                   "    \"hops\": {\n"
                                   "      \"count\": 0,\n"
                                   "      \"sum\": 0,\n"
                                   "      \"minimum\": null,\n"
                                   "      \"maximum\": null,\n"
                                   "      \"mean\": null,\n"
                                   "      \"p50\": null,\n"
                                   "      \"p95\": null,\n"
                                   "      \"p99\": null\n"
                                   "    }\n"
                                   "  },\n"
                                   "  \"dram\": {\n"
                                   "    \"queue\": {\n"
                                   "      \"mean\": 1.5,\n"
                                   "      \"maximum\": 3\n"
                                   "    }\n"
                                   "  },\n"
                                   "  \"energy\": {\n"
                                   "    \"noc\": 0.10000000000000001,\n"
                                   "    \"acu\": null\n"
                                   "  }\n"
                                   "}\n";
    struct sample sample;
    make_sample(&sample);
    struct pim_json *json = pim_json_create();
    pim_statistics_write_json(sample.statistics, json);
    char *text = json_text(json);
    ck_assert_str_eq(text, expected);
    free(text);
    json = pim_json_create();
    pim_statistics_describe_json(sample.statistics, json);
    const json_t *latency = json_object_get(json_object_get(pim_json_root(json), "noc"), "packet_latency");
    ck_assert_str_eq(json_string_value(json_object_get(latency, "kind")), "histogram");
    ck_assert_str_eq(json_string_value(json_object_get(latency, "unit")), "cycles");
    ck_assert_str_eq(json_string_value(json_object_get(latency, "description")),
                     "first flit in to last flit out");
    pim_json_destroy(json);
    pim_statistics_destroy(sample.statistics);
}
END_TEST

/* A counter that JSON cannot hold exactly is an error that names it. */
START_TEST(json_overflow)
{
    struct pim_error error = {0};
    struct pim_statistics *statistics = pim_statistics_create();
    *pim_statistics_counter(statistics, "noc.link.bits", "bits", "bits sent") = UINT64_C(1) << 63;
    struct pim_json *json = pim_json_create();
    pim_statistics_write_json(statistics, json);
    expect_failure(pim_json_write(json, stdout, &error), PIM_BAD_INPUT, &error,
                   "noc.link.bits: 9223372036854775808");
    pim_json_destroy(json);
    pim_statistics_destroy(statistics);
}
END_TEST

/* Thousands of names: addresses stay valid while the registry grows, and all are found. */
START_TEST(many_names)
{
    enum { UNITS = 700, EACH = 4 };
    struct pim_statistics *statistics = pim_statistics_create();
    uint64_t *counters[UNITS * EACH];
    char name[64];
    for (unsigned i = 0; i < UNITS * EACH; i++) {
        (void)snprintf(name, sizeof name, "units.u%u.engine_%u.busy", i / EACH, i % EACH);
        counters[i] = pim_statistics_counter(statistics, name, "cycles", "busy");
        *counters[i] = i;
    }
    for (unsigned i = 0; i < UNITS * EACH; i++) {
        (void)snprintf(name, sizeof name, "units.u%u.engine_%u.busy", i / EACH, i % EACH);
        const struct pim_statistic *found = pim_statistics_find(statistics, name);
        ck_assert_ptr_nonnull(found);
        ck_assert_ptr_eq(found->value.counter, counters[i]);
        ck_assert_uint_eq(*counters[i], i);
        ck_assert_ptr_eq(pim_statistics_get(statistics, i), found);
    }
    struct pim_json *json = pim_json_create();
    pim_statistics_write_json(statistics, json);
    const json_t *units = json_object_get(pim_json_root(json), "units");
    ck_assert_uint_eq(json_object_size(units), UNITS);
    ck_assert_uint_eq(json_object_size(json_object_get(units, "u699")), EACH);
    pim_json_destroy(json);
    pim_statistics_destroy(statistics);
}
END_TEST

/* Pairs of names of which the second must end the process. */
static const char *const refused[][2] = {{"noc.flits", "noc.flits"},
                                         {"noc.flits", "noc.flits.head"},
                                         {"noc.flits.head", "noc.flits"},
                                         {"a", ""},
                                         {"a", ".b"},
                                         {"a", "b."},
                                         {"a", "b..c"},
                                         {"a", "B"},
                                         {"a", "b c"},
                                         {"x", "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a"}};

START_TEST(names_are_refused)
{
    struct pim_statistics *statistics = pim_statistics_create();
    (void)pim_statistics_counter(statistics, refused[_i][0], "1", "first");
    (void)pim_statistics_counter(statistics, refused[_i][1], "1", "second");
}
END_TEST

/* The neighbours of refused names are fine. */
START_TEST(names_are_taken)
{
    static const char *const names[] = {"noc.flits",  "noc.flit", "noc.flits_head",
                                        "noc2.flits", "flits",    "0._.9"};
    struct pim_statistics *statistics = pim_statistics_create();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)pim_statistics_counter(statistics, names[i], "1", "taken");
    ck_assert_uint_eq(pim_statistics_count(statistics), 6);
    pim_statistics_destroy(statistics);
}
END_TEST

Suite *statistics_suite(void)
{
    Suite *suite = suite_create("statistics");
    TCase *statistics = tcase_create("statistics");
    tcase_set_timeout(statistics, 60);
    tcase_add_test(statistics, order_and_lookup);
    tcase_add_test(statistics, text_output);
    tcase_add_test(statistics, csv_output);
    tcase_add_test(statistics, json_output);
    tcase_add_test(statistics, json_overflow);
    tcase_add_test(statistics, many_names);
    tcase_add_loop_test_raise_signal(statistics, names_are_refused, SIGABRT, 0,
                                     sizeof refused / sizeof refused[0]);
    tcase_add_test(statistics, names_are_taken);
    suite_add_tcase(suite, statistics);
    return suite;
}
