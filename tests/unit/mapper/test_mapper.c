/* What all mappers have in common: tables of options that hold together, and plans that say what their traces
 * are. */
#include "mappers/mappers.h"
#include "mappers/search/problem.h"
#include "models/system/schema.h"
#include "tests/unit/test_main.h"
#include "tools/library/map.h"
#include "traces/file/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- options --- */

struct values {
    uint64_t given;
    bool flag;
    const char *text;
    unsigned choice;
    uint64_t count;
    double real;
};

static const struct pim_option rows[] = {
    PIM_FLAG_ROW("flag", struct values, flag, "A flag"),
    PIM_TEXT_ROW("text", struct values, text, "TEXT", "A text"),
    PIM_CHOICE_ROW("choice", struct values, choice, "NAME", "first|second", "A choice"),
    PIM_COUNT_ROW("count", struct values, count, "NUMBER", 1, 9, "A number"),
    PIM_REAL_ROW("real", struct values, real, "NUMBER", 0.5, 2, "A real number"),
};
static const struct values defaults = {.count = 1, .real = 1};
static const struct pim_option_table table = {rows, sizeof rows / sizeof rows[0], sizeof(struct values),
                                              &defaults};

START_TEST(options_are_set)
{
    static const char *const texts[] = {"flag", "text=a=b", "choice=second", "co=9", "r=0.5"};
    struct values values = defaults;
    struct pim_error error;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_assert_msg(pim_option_assign(&table, "any", texts[i], &values, &error) == PIM_OK, "%s: %s",
                      texts[i], error.text);
    ck_assert(values.flag);
    ck_assert_str_eq(values.text, "a=b");
    ck_assert_uint_eq(values.choice, 1);
    ck_assert_uint_eq(values.count, 9);
    ck_assert_double_eq(values.real, 0.5);
}
END_TEST

START_TEST(options_are_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"cuont=2", "--cuont: mapper any has no such option; the nearest is --count"},
        {"c=2", "has no such option"}, /* choice or count */
        {"", "has no such option"},
        {"flag=1", "--flag: takes no value, found 1"},
        {"count", "--count: needs a value: NUMBER"},
        {"count=10", "--count: found 10, allowed is an integer from 1 to 9"},
        {"count=-1", "--count: found -1"},
        {"choice=secnd", "--choice: found secnd, allowed is first|second; the nearest is second"},
        {"real=nan", "--real: found nan"},
        {"a-name-of-more-characters-than-any-option-of-any-mapper-will-ever-have=1", "of such a length"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct values values = defaults;
        struct pim_error error;
        ck_assert_int_eq(pim_option_assign(&table, "any", cases[i].text, &values, &error), PIM_USAGE);
        ck_assert_msg(strstr(error.text, cases[i].message) != NULL, "%s: %s", cases[i].text, error.text);
    }
}
END_TEST

/* An option is given, be it with the value that it has by default; one that failed is not. */
START_TEST(options_know_whether_they_are_given)
{
    static const struct {
        const char *texts[2], *message; /* NULL: none is refused */
    } cases[] = {
        {{"count=1"}, "--count is for --flag"},
        {{"flag", "re=1"}, "--real does nothing"},
        {{"choice=first", "text=count"}, NULL},
        {{"count=0"}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct values values = defaults;
        struct pim_error error = {.status = PIM_OK};
        for (size_t j = 0; j < 2 && cases[i].texts[j]; j++)
            (void)pim_option_assign(&table, "any", cases[i].texts[j], &values, &error);
        const struct pim_option_refusal refusals[] = {{!values.flag, "count real", "is for --flag"},
                                                      {false, "text choice", "never"},
                                                      {values.flag, "count real", "does nothing"}};
        error = (struct pim_error){.status = PIM_OK};
        ck_assert_int_eq(pim_option_refuse(&table, &values, refusals, 3, &error),
                         cases[i].message ? PIM_USAGE : PIM_OK);
        ck_assert_msg(!cases[i].message || strcmp(error.text, cases[i].message) == 0, "%s", error.text);
    }
}
END_TEST

static size_t width(enum pim_option_kind kind)
{
    static const size_t bytes[] = {[PIM_OPTION_FLAG] = sizeof(bool),
                                   [PIM_OPTION_TEXT] = sizeof(const char *),
                                   [PIM_OPTION_CHOICE] = sizeof(unsigned),
                                   [PIM_OPTION_COUNT] = sizeof(uint64_t),
                                   [PIM_OPTION_REAL] = sizeof(double)};
    return bytes[kind];
}

/* A row names a member that no other row has, behind or in the search, has a name of its own and says what it
 * takes. */
START_TEST(tables_hold_together)
{
    const struct pim_mapper *mapper;
    size_t mappers = 0;
    for (; (mapper = pim_mapper_at(mappers)) != NULL; mappers++) {
        const struct pim_option_table *t = &mapper->options;
        ck_assert(mapper->name && mapper->summary && mapper->description && mapper->plan &&
                  mapper->estimate && mapper->describe && mapper->emit && mapper->terminate &&
                  mapper->print && mapper->write_json);
        ck_assert((mapper->checks != NULL) == (mapper->check != NULL));
        ck_assert_uint_ge(t->size, sizeof(struct pim_mapper_search));
        ck_assert_uint_le(t->count, PIM_OPTIONS_MOST);
        ck_assert_uint_eq(*(const uint64_t *)t->defaults, 0);
        for (size_t i = 0; i < t->count; i++) {
            const struct pim_option *row = &t->rows[i];
            ck_assert_msg(row->offset >= sizeof(uint64_t) && row->offset + width(row->kind) <= t->size,
                          "%s --%s", mapper->name, row->name);
            ck_assert_msg(row->help && (row->kind == PIM_OPTION_FLAG) == !row->argument, "%s --%s",
                          mapper->name, row->name);
            ck_assert_msg(row->choices ? row->kind == PIM_OPTION_CHOICE || row->kind == PIM_OPTION_TEXT
                                       : row->kind != PIM_OPTION_CHOICE,
                          "%s --%s", mapper->name, row->name);
            if (strcmp(row->name, "threads") == 0)
                ck_assert_uint_eq(row->maximum, PIM_SEARCH_THREADS);
            for (size_t j = 0; j < i; j++) {
                ck_assert_str_ne(row->name, t->rows[j].name);
                ck_assert_msg(row->offset >= t->rows[j].offset + width(t->rows[j].kind) ||
                                  t->rows[j].offset >= row->offset + width(row->kind),
                              "%s: --%s and --%s set one member", mapper->name, row->name, t->rows[j].name);
            }
        }
    }
    ck_assert_uint_ge(mappers, 2);
    struct pim_error error;
    ck_assert_int_eq(pim_mapper_find("pimcom", &mapper, &error), PIM_USAGE);
    ck_assert_str_eq(error.text, "there is no mapper pimcom; the nearest is pimcomp");
}
END_TEST

/* --- plans --- */

static const struct sample {
    const char *mapper, *hardware, *sets[3], *network, *network_set;
    const char *options[4];
} samples[] = {
    {"allspark",
     "allspark-16x16",
     {"array.width=4", "array.height=4", NULL},
     "vit-t",
     "network.image=64",
     {"partition=P"}},
    {"allspark",
     "allspark-16x16",
     {"array.width=4", "array.height=4", NULL},
     "vit-t",
     "network.image=64",
     {"batch=2", "exchange=gather"}},
    {"pimcomp",
     "pimcomp-arch-a",
     {NULL},
     "vgg8",
     "network.image=16",
     {"mode=ll", "layout=balance", "check-values"}},
    {"pimcomp",
     "pimcomp-arch-b",
     {NULL},
     "vgg8",
     "network.image=16",
     {"layout=balance", "batch=2", "no-keeping"}},
    {"nicepim", "nicepim-4x4", {NULL}, "vgg8", "network.image=16", {"threads=2"}},
    {"overlapim", "fast-overlapim-hbm2", {NULL}, "vgg8", "network.image=32", {"budget=20", "threads=2"}},
    {"conflict", "noc-conflict-16x16", {NULL}, "vgg8", "network.image=32", {"mapping=snake"}},
};

struct run {
    struct pim_configuration *configuration;
    void *options;
    struct pim_map_request request;
    char network[512];
};

static void begin(struct run *run, const struct sample *sample, const char *output)
{
    struct pim_error error;
    char path[512], name[96];
    (void)snprintf(name, sizeof name, "configs/hardware/%s.cfg", sample->hardware);
    pimsim_source_path(path, sizeof path, name);
    *run = (struct run){.request = {.output = output, .network = run->network, .network_set_count = 1}};
    run->request.network_sets = &sample->network_set;
    ck_assert_int_eq(pim_mapper_find(sample->mapper, &run->request.mapper, &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &run->configuration, &error), PIM_OK);
    ck_assert_msg(pim_configuration_read_file(run->configuration, path, &error) == PIM_OK, "%s", error.text);
    for (unsigned i = 0; sample->sets[i]; i++)
        ck_assert_int_eq(pim_configuration_set(run->configuration, sample->sets[i], &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_complete(run->configuration, &error), PIM_OK);
    run->request.configuration = run->configuration;
    (void)snprintf(name, sizeof name, "configs/networks/%s.cfg", sample->network);
    pimsim_source_path(run->network, sizeof run->network, name);
    run->options = pim_mapper_options(run->request.mapper);
    run->request.options = run->options;
    for (unsigned i = 0; i < 4 && sample->options[i]; i++)
        ck_assert_msg(pim_option_assign(&run->request.mapper->options, sample->mapper, sample->options[i],
                                        run->options, &error) == PIM_OK,
                      "%s", error.text);
}

static void end(struct run *run)
{
    free(run->options);
    pim_configuration_destroy(run->configuration);
}

/* The plan as it is printed, without the lines that tell how long it took; the caller frees it. */
static char *text_of(struct pim_map *map)
{
    char *text = NULL, *line = NULL;
    size_t size = 0, room = 0;
    struct pim_error error;
    FILE *whole = tmpfile(), *out = open_memstream(&text, &size);
    ck_assert(whole && out);
    ck_assert_int_eq(pim_map_write_json(map, whole, &error), PIM_OK);
    ck_assert_int_eq(pim_map_print(map, whole, &error), PIM_OK);
    rewind(whole);
    bool seconds = false;
    while (getline(&line, &room, whole) > 0) {
        seconds = seconds || strstr(line, "compile_seconds");
        if (!seconds && !strstr(line, "solve_seconds") && !strstr(line, " s, ") && !strstr(line, " in "))
            (void)fputs(line, out);
        seconds = seconds && !strchr(line, '}');
    }
    free(line);
    (void)fclose(whole);
    (void)fclose(out);
    return text;
}

START_TEST(every_mapper_has_a_sample)
{
    const struct pim_mapper *mapper;
    for (size_t i = 0; (mapper = pim_mapper_at(i)) != NULL; i++) {
        bool found = false;
        for (size_t j = 0; j < sizeof samples / sizeof samples[0]; j++)
            found = found || strcmp(samples[j].mapper, mapper->name) == 0;
        ck_assert_msg(found, "%s", mapper->name);
    }
}
END_TEST

/* With a trace or without one, a plan is the same, its estimate is that of the trace, and a trace made twice
 * is one trace. */
START_TEST(plans_and_traces_agree)
{
    const struct sample *sample = &samples[_i];
    char paths[2][64], *first = NULL;
    uint64_t hashes[2] = {0, 0};
    for (unsigned round = 0; round < 3; round++) {
        struct run run;
        struct pim_map *map;
        struct pim_error error;
        struct pim_mapper_estimate estimate;
        bool writes = round < 2;
        if (writes)
            (void)snprintf(paths[round], sizeof paths[round], "test_mapper_%d_%u_%ld.bin", _i, round,
                           (long)getpid());
        begin(&run, sample, writes ? paths[round] : NULL);
        ck_assert_msg(pim_map_create(&run.request, &map, &error) == PIM_OK, "%s", error.text);
        ck_assert_int_eq(pim_map_estimate(map, &estimate, &error), PIM_OK);
        char *text = text_of(map);
        if (round > 0)
            ck_assert_str_eq(text, first);
        else
            first = text;
        if (round > 0)
            free(text);
        if (writes) {
            struct pim_trace *trace;
            uint64_t cycles = 0;
            ck_assert_msg(pim_trace_open(paths[round], &trace, &error) == PIM_OK, "%s", error.text);
            hashes[round] = pim_trace_hash(trace);
            for (uint32_t i = 0; i < pim_trace_phases(trace); i++)
                cycles += pim_trace_phase(trace, i)->estimate_cycles;
            ck_assert_uint_eq(cycles, estimate.cycles);
            pim_trace_close(trace);
            (void)unlink(paths[round]);
        }
        pim_map_destroy(map);
        end(&run);
    }
    free(first);
    ck_assert_uint_eq(hashes[0], hashes[1]);
}
END_TEST

/* A mapping that is refused leaves neither a trace nor a plan. */
START_TEST(refused_mappings_leave_nothing)
{
    struct sample sample = samples[2];
    struct run run;
    struct pim_map *map;
    struct pim_error error;
    static const char *const keep[] = {"keep-pixels"};
    sample.sets[0] = "core.local_memory_bytes=256";
    sample.sets[1] = NULL;
    begin(&run, &sample, "test_mapper_refused.bin");
    ck_assert_int_eq(pim_map_create(&run.request, &map, &error), PIM_BAD_INPUT);
    ck_assert_ptr_null(map);
    ck_assert_int_ne(access("test_mapper_refused.bin", F_OK), 0);
    ck_assert_int_eq(pim_option_assign(&run.request.mapper->options, "pimcomp", keep[0], run.options, &error),
                     PIM_OK);
    ck_assert_int_eq(pim_map_create(&run.request, &map, &error), PIM_USAGE);
    ck_assert_ptr_null(map);
    end(&run);
}
END_TEST

/* A mapper that foresees nothing tells another job by its plan. */
START_TEST(other_jobs_are_refused)
{
    for (unsigned i = 0; i < 4; i++) {
        const bool foresees = (i & 1) == 0, other = i >= 2;
        struct run run;
        struct pim_map *map = NULL;
        struct pim_error error;
        begin(&run, &samples[2], "test_mapper_job.bin");
        ck_assert_msg(pim_map_create(&run.request, &map, &error) == PIM_OK, "%s", error.text);
        pim_map_destroy(map);
        struct pim_trace *trace;
        ck_assert_msg(pim_trace_open("test_mapper_job.bin", &trace, &error) == PIM_OK, "%s", error.text);
        struct pim_trace_description job = *pim_trace_description(trace);
        struct pim_mapper mapper = *run.request.mapper;
        if (!foresees)
            mapper.foresee = NULL;
        if (other)
            job.network = "another";
        run.request.mapper = &mapper;
        run.request.job = &job;
        run.request.output = "test_mapper_job_again.bin";
        ck_assert_msg(pim_map_create(&run.request, &map, &error) == (other ? PIM_USAGE : PIM_OK), "%u: %s", i,
                      error.text);
        if (other)
            ck_assert_msg(strstr(error.text, "the trace is of another ("), "%s", error.text);
        pim_map_destroy(map);
        pim_trace_close(trace);
        (void)unlink("test_mapper_job.bin");
        (void)unlink("test_mapper_job_again.bin");
        end(&run);
    }
}
END_TEST

/* --- ends --- */

/* Who stops a search: at once, or as soon as its limit of one second is over. */
struct stopper {
    bool late;
    unsigned asked;
};

static bool stop(void *context)
{
    struct stopper *stopper = context;
    const double begin = pim_search_seconds();
    const struct timespec moment = {0, 10000000};
    const bool first = stopper->asked++ == 0;
    while (stopper->late && first && pim_search_seconds() - begin < 1.05) /* s */
        (void)nanosleep(&moment, NULL);
    return !stopper->late || !first;
}

static const struct sample searched[] = {
    {"allspark",
     "allspark-16x16",
     {"array.width=8", "array.height=8", NULL},
     "swin-t",
     "network.image=224",
     {NULL}},
    {"nicepim", "nicepim-4x4", {NULL}, "vgg8", "network.image=16", {"threads=1"}},
    {"pimcomp", "pimcomp-arch-a", {NULL}, "vgg8", "network.image=16", {"threads=1"}},
    {"pimcomp", "pimcomp-arch-a", {NULL}, "vgg8", "network.image=16", {"threads=1", "budget=1"}},
    {"overlapim", "fast-overlapim-hbm2", {NULL}, "vgg8", "network.image=32", {"threads=1", "budget=100000"}}};

enum { SEARCHED = sizeof searched / sizeof searched[0] };

/* Of a time limit and a stop the one that came first is told. */
START_TEST(the_first_cause_of_an_end_is_told)
{
    static const char *const causes[] = {"interrupt", "time limit"};
    static const char key[] = "\"ended_early\": \"";
    struct stopper stopper = {.late = _i >= SEARCHED};
    struct run run;
    struct pim_map *map;
    struct pim_error error;
    begin(&run, &searched[_i % SEARCHED], NULL);
    struct pim_mapper_search *search = run.options;
    search->seconds = stopper.late ? 1 : 3600;
    search->stop = stop;
    search->context = &stopper;
    ck_assert_msg(pim_map_create(&run.request, &map, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_gt(stopper.asked, 0);
    char *text = text_of(map);
    char *cause = strstr(text, key);
    ck_assert_ptr_nonnull(cause);
    cause += strlen(key);
    cause[strcspn(cause, "\"")] = '\0';
    ck_assert_str_eq(cause, causes[stopper.late]);
    free(text);
    pim_map_destroy(map);
    end(&run);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("mapper");
    TCase *cases = tcase_create("interface");
    tcase_add_test(cases, options_are_set);
    tcase_add_test(cases, options_are_refused);
    tcase_add_test(cases, options_know_whether_they_are_given);
    tcase_add_test(cases, tables_hold_together);
    tcase_add_test(cases, every_mapper_has_a_sample);
    tcase_add_loop_test(cases, plans_and_traces_agree, 0, (int)(sizeof samples / sizeof samples[0]));
    tcase_add_test(cases, refused_mappings_leave_nothing);
    tcase_add_test(cases, other_jobs_are_refused);
    tcase_add_loop_test(cases, the_first_cause_of_an_end_is_told, 0, 2 * SEARCHED);
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}
