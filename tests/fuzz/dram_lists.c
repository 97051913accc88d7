/*
 * Any bytes as a file of `pimsim dram`: a log for --check-commands when they begin with "cycle,command", else
 * a list for --requests. What is refused must have a message. A list that is taken is served, all of it, with
 * commands in which the checker finds nothing; a log that is taken has as many commands as lines.
 */
#include "tools/command/dram_run.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

static void try_log(const struct pim_dram_configuration *configuration, const char *path)
{
    for (unsigned format = 0; format < 2; format++) {
        struct pim_error error = {PIM_OK, ""};
        uint64_t violations = 0;
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        if (!out)
            abort();
        enum pim_status status = dram_check_file(configuration, path, 3, format, out, &violations, &error);
        (void)fclose(out);
        require(status == PIM_OK || error.text[0] != '\0', "a log refused without a message", &error);
        require(status != PIM_OK || length > 0, "a log without a result", &error);
        free(text);
    }
}

static void try_list(const struct pim_dram_configuration *configuration, const char *path)
{
    struct pim_error error = {PIM_OK, ""};
    struct dram_list list;
    if (dram_list_read(&list, path, configuration, &error) != PIM_OK) {
        require(error.text[0] != '\0' && list.items == NULL, "a list refused without a message", &error);
        return;
    }
    /* Every request and every refresh costs time: short lists over a short time alone. */
    uint64_t bytes = 0, last = list.count > 0 ? list.items[list.count - 1].cycle : 0;
    for (size_t i = 0; i < list.count; i++)
        bytes += list.items[i].bytes;
    struct dram_run run = {0};
    if (list.count < 1000 && bytes < 100000 && last < 100000000) {
        require(dram_run_execute(&run, configuration, &list, true, true, &error) == PIM_OK, "run", &error);
        require(run.violations == 0, "the checker found violations", &error);
        for (size_t i = 0; i < list.count; i++)
            require(run.results[i].completed >= run.arrived[i] && run.arrived[i] >= list.items[i].cycle,
                    "a request out of time", &error);
    }
    dram_run_terminate(&run);
    dram_list_terminate(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char log[] = "cycle,command";
    char path[64];
    struct pim_dram_configuration configuration;
    FILE *file = tmpfile();
    if (!file || (size > 0 && fwrite(data, 1, size, file) != size) || fflush(file) != 0)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    configure(&configuration);
    if (size >= sizeof log - 1 && memcmp(data, log, sizeof log - 1) == 0)
        try_log(&configuration, path);
    else
        try_list(&configuration, path);
    (void)fclose(file);
    return 0;
}
