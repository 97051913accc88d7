#include "tests/unit/system/key_walk.h"

#include "sim/output/json.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *key_verdict_fault(enum key_verdict verdict)
{
    static const char *const faults[] = {
        [KEY_REFUSED] = NULL,
        [KEY_WRONGLY_REFUSED] = "refused by name, and in a file it is not the same",
        [KEY_NEVER_TAKEN] = "refused by name, and in a file with every value",
        [KEY_CHANGES] = NULL,
        [KEY_LIMITED] = "refused, but not by name",
        [KEY_NOTHING] = "taken, and nothing changes"};
    return faults[verdict];
}

static bool is_excepted(const struct key_exception *exceptions, size_t count, const char *key,
                        const char *machine)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || (key_is_of(key, exceptions[i].key) &&
                          strncmp(machine, exceptions[i].machines, strlen(exceptions[i].machines)) == 0);
    return found;
}

enum { IN_FILES = 2 };

/*
 * What is refused in a file too, by the name of its group, does not look as if it had been tried; but a clock
 * without a use has no wrong value. All values of clocks, a few of others.
 */
enum key_verdict key_check_refused(const struct key_trial *trial, const struct pim_key *key)
{
    const bool clock = key_is_of(key->path, "clock.");
    char values[KEY_VALUES][KEY_VALUE], group[KEY_VALUE];
    const size_t count = key_values_of(key, values);
    (void)snprintf(group, sizeof group, "%.*s", (int)strcspn(key->path, "."), key->path);
    enum key_verdict verdict = KEY_REFUSED;
    size_t same = 0;
    for (size_t i = 0; i < count && verdict == KEY_REFUSED && (clock || same < IN_FILES); i++) {
        struct key_outcome outcome = trial->in_file(trial->machine, values[i]);
        if (outcome.results
                ? !(clock ? key_results_are_near : key_results_are_same)(outcome.results, trial->base)
            : clock ? !trial->clocks_are_read
                    : !strstr(outcome.message, group))
            verdict = KEY_WRONGLY_REFUSED;
        same += outcome.results ? 1 : 0;
        free(outcome.results);
    }
    const bool never = is_excepted(trial->never, trial->never_count, key->path, trial->name);
    return verdict == KEY_REFUSED && same == 0 && !never ? KEY_NEVER_TAKEN : verdict;
}

/* Every value, until one shows that the key counts. */
enum key_verdict key_check_taken(const struct key_trial *trial, const struct pim_key *key)
{
    char values[KEY_VALUES][KEY_VALUE];
    const size_t count = key_values_of(key, values);
    if (is_excepted(trial->silent, trial->silent_count, key->path, trial->name))
        return KEY_REFUSED;
    enum key_verdict verdict = KEY_NOTHING;
    for (size_t i = 0; i < count && verdict != KEY_CHANGES; i++) {
        struct key_outcome outcome = trial->given(trial->machine, values[i]);
        if (!outcome.results)
            verdict = KEY_LIMITED;
        else if (strcmp(outcome.results, trial->base) != 0)
            verdict = KEY_CHANGES;
        free(outcome.results);
    }
    return verdict;
}

char *key_results_of(struct pimsim_simulation *simulation, const uint64_t *estimate)
{
    const char *text = NULL;
    char message[KEY_MESSAGE];
    json_t *document = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pimsim_results(simulation, &text, message, sizeof message), PIMSIM_OK);
    ck_assert_int_eq(pim_json_parse("results", text, strlen(text), &document, &error), PIM_OK);
    ck_assert_int_eq(json_object_del(document, "inputs"), 0);
    ck_assert_int_eq(json_object_del(document, "simulator"), 0);
    if (estimate)
        ck_assert_int_eq(json_object_set_new(document, "estimate", json_integer((json_int_t)*estimate)), 0);
    char *results = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(document);
    ck_assert_ptr_nonnull(results);
    return results;
}
