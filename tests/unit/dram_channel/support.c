#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void data_path(char *buffer, size_t size, const char *name)
{
    char relative[256];
    ck_assert_int_lt(snprintf(relative, sizeof relative, "tests/data/dram/%s", name), (int)sizeof relative);
    (void)pimsim_source_path(buffer, size, relative);
}

enum pim_status try_configure(struct pim_dram_configuration *configuration, const char *preset,
                              const char *const *settings, struct pim_error *error)
{
    struct pim_configuration *values = NULL;
    *error = (struct pim_error){PIM_OK, ""};
    enum pim_status status = pim_configuration_create(&pim_dram_schema, &values, error);
    if (status == PIM_OK)
        status = pim_dram_preset_read(values, preset, error);
    for (; status == PIM_OK && settings && *settings; settings++)
        status = pim_configuration_set(values, *settings, error);
    if (status == PIM_OK)
        status = pim_dram_configure(values, configuration, error);
    pim_configuration_destroy(values);
    return status;
}

void configure(struct pim_dram_configuration *configuration, const char *preset, const char *const *settings)
{
    struct pim_error error;
    ck_assert_msg(try_configure(configuration, preset, settings, &error) == PIM_OK, "%s: %s", preset,
                  error.text);
}

static void served(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    struct outcome *outcome = context;
    ck_assert_uint_lt(request, outcome->count);
    ck_assert_msg(outcome->completed[request] == UINT64_MAX, "request %llu was served twice",
                  (unsigned long long)request);
    outcome->first_command[request] = first_command;
    outcome->completed[request] = completed;
}

static void command(void *context, const struct pim_dram_record *record)
{
    struct outcome *outcome = context;
    if (outcome->record_count == outcome->record_room) {
        outcome->record_room = outcome->record_room ? 2 * outcome->record_room : 1024;
        outcome->records = realloc(outcome->records, outcome->record_room * sizeof *outcome->records);
        ck_assert_ptr_nonnull(outcome->records);
    }
    outcome->records[outcome->record_count++] = *record;
}

void serve(struct outcome *outcome, const struct pim_dram_configuration *configuration,
           const struct access *list, size_t count, bool log)
{
    *outcome = (struct outcome){.count = count};
    outcome->arrived = malloc((count + 1) * sizeof *outcome->arrived);
    outcome->first_command = malloc((count + 1) * sizeof *outcome->first_command);
    outcome->completed = malloc((count + 1) * sizeof *outcome->completed);
    ck_assert(outcome->arrived && outcome->first_command && outcome->completed);
    const struct pim_dram_sink sink = {outcome, served, log ? command : NULL};
    struct pim_dram_memory *memory = pim_dram_memory_create(
        &configuration->specification, &configuration->policy, &configuration->mapping, &sink);
    ck_assert_ptr_nonnull(memory);
    for (size_t i = 0; i < count; i++)
        outcome->completed[i] = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        outcome->arrived[i] =
            pim_dram_memory_request(memory, list[i].cycle, list[i].address, list[i].write, i);
    outcome->cycles = pim_dram_memory_finish(memory);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(outcome->completed[i] != UINT64_MAX, "request %zu was never served", i);
    pim_dram_memory_counters(memory, outcome->cycles, &outcome->counters);
    pim_dram_memory_destroy(memory);
}

void outcome_free(struct outcome *outcome)
{
    free(outcome->arrived);
    free(outcome->first_command);
    free(outcome->completed);
    free(outcome->records);
    *outcome = (struct outcome){0};
}

void random_settings(struct settings *settings, struct pim_random *random)
{
    static const char *const schedulers[] = {"frfcfs", "frfcfs", "frfcfs_row_hit", "fcfs"};
    static const char *const pages[] = {"open", "open", "closed", "timeout"};
    static const unsigned queues[] = {32, 32, 1, 3, 8, 64};
    size_t n = 0;
#define SET(...) (void)snprintf(settings->text[n++], sizeof settings->text[0], __VA_ARGS__)
    SET("dram.scheduler=%s", schedulers[pim_random_below(random, 4)]);
    const char *page = pages[pim_random_below(random, 4)];
    unsigned cap = (unsigned)pim_random_below(random, 5),
             timeout = (unsigned)pim_random_between(random, 1, 300);
    SET("dram.page=%s", page);
    if (strcmp(page, "closed") == 0)
        SET("dram.page_cap=%u", cap);
    if (strcmp(page, "timeout") == 0)
        SET("dram.page_timeout=%u", timeout);
    SET("dram.row_hit_cap=%u", (unsigned)pim_random_below(random, 3) * 4);
    SET("dram.read_queue=%u", queues[pim_random_below(random, 6)]);
    unsigned writes = queues[pim_random_below(random, 6)];
    SET("dram.write_queue=%u", writes);
    SET("dram.refresh_postpone=%u", pim_random_below(random, 2) ? 0 : (unsigned)pim_random_below(random, 9));
    /* Marks of the write queue, in half of the cases: from 1 and 0 to as many as there are. */
    unsigned high = pim_random_below(random, 2) ? 0 : (unsigned)pim_random_between(random, 1, writes);
    SET("dram.write_high=%u", high);
    SET("dram.write_low=%d", high ? (int)pim_random_below(random, high + 1) - 1 : -1);
#undef SET
    for (size_t i = 0; i < n; i++)
        settings->list[i] = settings->text[i];
    settings->list[n] = NULL;
}

struct access *random_list(struct pim_random *random, const struct pim_dram_configuration *configuration,
                           size_t count, double rate)
{
    struct access *list = malloc((count + 1) * sizeof *list);
    ck_assert_ptr_nonnull(list);
    uint32_t access = configuration->specification.organization.access_bytes;
    uint64_t places = configuration->mapping.capacity / access;
    uint64_t near = pim_random_threshold(0.1 + 0.8 * pim_random_unit(random));
    uint64_t repeat = pim_random_threshold(0.02), same_bank = pim_random_threshold(pim_random_unit(random));
    uint64_t write = pim_random_threshold(pim_random_below(random, 4) == 0 ? 0.9 : 0.35);
    uint64_t address = 0;
    double time = 0;
    for (size_t i = 0; i < count; i++) {
        struct pim_dram_location location = pim_dram_locate(&configuration->mapping, address);
        if (i > 8 && pim_random_chance(random, repeat)) {
            address = list[i - 1 - pim_random_below(random, 8)].address;
        } else if (pim_random_chance(random, near)) {
            location.column = (location.column + 1) % configuration->specification.organization.columns;
            address = pim_dram_address(&configuration->mapping, &location);
        } else if (pim_random_chance(random, same_bank)) {
            location.row = (uint32_t)pim_random_below(random, configuration->specification.organization.rows);
            address = pim_dram_address(&configuration->mapping, &location);
        } else {
            address = pim_random_below(random, places) * access;
        }
        time += pim_random_below(random, 400) == 0 ? 3000 * pim_random_unit(random)
                                                   : pim_random_unit(random) / rate;
        list[i] = (struct access){(uint64_t)time, address, pim_random_chance(random, write)};
    }
    return list;
}

static void found(void *context, const struct pim_dram_violation *violation)
{
    ck_abort_msg("%s: command %" PRIu64 ", %s to bank %d in %" PRIu64 ": %s (%s)",
                 *(const char *const *)context, violation->number,
                 pim_dram_command_text(violation->command.command), (int)violation->command.bank,
                 violation->command.cycle, violation->rule,
                 violation->constraint ? violation->constraint->text : "no distance");
}

void outcome_check(const struct outcome *outcome, const struct pim_dram_configuration *configuration,
                   const char *what)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_dram_check *check =
        pim_dram_check_create(&configuration->specification, &configuration->policy, found, &what);
    ck_assert_ptr_nonnull(check);
    for (size_t i = 0; i < outcome->record_count; i++) {
        const struct pim_dram_logged logged =
            pim_dram_logged_record(&configuration->specification, &outcome->records[i]);
        ck_assert(pim_dram_check_command(check, &logged, &error) == PIM_OK);
    }
    ck_assert(pim_dram_check_end(check, &error) == PIM_OK);
    pim_dram_check_destroy(check);
}
