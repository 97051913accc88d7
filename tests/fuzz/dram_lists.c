/*
 * Any bytes as a file of `pimsim dram`: as a log for --check-commands and as a list for --requests, in every
 * format that is read. What is refused must have a message. A list that is taken is served, all of it, with
 * commands in which the checker finds nothing; a log that is taken has a result.
 */
#include "tools/command/dram/run.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

/* Pseudo-channels, two command buses and short queues, so that short lists meet many rules. */
static void configure(struct pim_dram_configuration *configuration)
{
    static const char *const sets[] = {"dram.channels=2", "dram.write_high=2", "dram.write_low=0",
                                       "dram.write_queue=4", "dram.read_queue=3"};
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *values;
    enum pim_status status = pim_configuration_create(&pim_dram_schema, &values, &error);
    if (status == PIM_OK)
        status = pim_dram_preset_read(values, "hbm2_2000", &error);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0] && status == PIM_OK; i++)
        status = pim_configuration_set(values, sets[i], &error);
    if (status == PIM_OK)
        status = pim_dram_configure(values, configuration, &error);
    require(status == PIM_OK, "configuration", &error);
    pim_configuration_destroy(values);
}

static void try_log(const struct pim_dram_configuration *configuration, const char *path,
                    enum dram_log_format log_format)
{
    for (unsigned format = 0; format < 2; format++) {
        struct pim_error error = {PIM_OK, ""};
        uint64_t violations = 0;
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        if (!out)
            abort();
        enum pim_status status =
            dram_check_file(configuration, path, log_format, 3, format, out, &violations, &error);
        (void)fclose(out);
        require(status == PIM_OK || error.text[0] != '\0', "a log refused without a message", &error);
        require(status != PIM_OK || length > 0, "a log without a result", &error);
        free(text);
    }
}

/* Requests of a run come back in their order, and in time. */
struct expected {
    const struct dram_list *list;
    uint64_t next;
};

static void expect(void *context, const struct dram_served *served)
{
    struct expected *expected = context;
    const struct pim_error none = {PIM_OK, ""};
    const struct pim_dram_request *request = &expected->list->items[expected->next];
    require(served->number == expected->next && served->request->address == request->address &&
                served->completed >= served->arrived && served->arrived >= request->cycle,
            "a request out of order or time", &none);
    expected->next++;
}

/* The whole list of a source; false: refused. */
static bool take(struct dram_list *list, const struct pim_dram_configuration *configuration, const char *path,
                 enum dram_list_format format)
{
    enum { MOST = 100000 };
    struct pim_error error = {PIM_OK, ""};
    struct dram_source *source;
    *list = (struct dram_list){malloc(MOST * sizeof *list->items), 0};
    if (!list->items)
        abort();
    enum pim_status status = dram_source_open(&source, path, format, configuration, &error);
    if (status == PIM_OK)
        status = dram_source_next(source, list->items, MOST, &list->count, &error);
    dram_source_close(source);
    require(status == PIM_OK || error.text[0] != '\0', "a list refused without a message", &error);
    return status == PIM_OK;
}

static void try_list(const struct pim_dram_configuration *configuration, const char *path,
                     enum dram_list_format format)
{
    struct dram_list list;
    if (!take(&list, configuration, path, format)) {
        dram_list_terminate(&list);
        return;
    }
    /* Every request and every refresh costs time: short lists over a short time alone. */
    uint64_t bytes = 0, last = list.count > 0 ? list.items[list.count - 1].cycle : 0;
    for (size_t i = 0; i < list.count; i++)
        bytes += list.items[i].bytes;
    if (list.count < 1000 && bytes < 100000 && last < 100000000) {
        struct pim_error error = {PIM_OK, ""};
        struct dram_run run = {0};
        struct expected expected = {&list, 0};
        struct dram_source *source;
        const struct dram_run_outputs outputs = {&expected, expect, NULL, DRAM_LOG_CSV, true, NULL};
        require(dram_source_items(&source, &list, &error) == PIM_OK &&
                    dram_run_execute(&run, configuration, source, &outputs, &error) == PIM_OK,
                "run", &error);
        require(run.violations == 0, "the checker found violations", &error);
        require(expected.next == list.count && run.requests == list.count, "requests are missing", &error);
        dram_source_close(source);
    }
    dram_list_terminate(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct pim_dram_configuration configuration;
    FILE *file = tmpfile();
    if (!file || (size > 0 && fwrite(data, 1, size, file) != size) || fflush(file) != 0)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    configure(&configuration);
    static const enum dram_log_format logs[] = {DRAM_LOG_CSV, DRAM_LOG_RAMULATOR, DRAM_LOG_DRAMSIM3};
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++)
        try_log(&configuration, path, logs[i]);
    for (unsigned format = DRAM_LIST_CSV; format <= DRAM_LIST_DRAMSIM3; format++)
        try_list(&configuration, path, (enum dram_list_format)format);
    (void)fclose(file);
    return 0;
}
