#include "models/system/configure.h"

#include "models/cost/read.h"
#include "models/system/schema.h"
#include "models/system/used.h"
#include "traces/file/hardware.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Step 1, the trace's own configuration. */
static enum pim_status read_carried(const struct pim_trace *trace, const char *name, bool others,
                                    struct pim_configuration *configuration, struct pim_error *error)
{
    const char *text = pim_trace_hardware(trace);
    if (text[0] == '\0' && !others)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: the trace carries no hardware configuration: name a hardware file", name);
    if (pim_configuration_read_text(configuration, name, text, strlen(text), error) != PIM_OK)
        return pim_fail_in(error, "the configuration that the trace carries");
    return PIM_OK;
}

static enum pim_status read_sources(const struct pim_trace *trace, const char *name,
                                    const struct pim_hardware_sources *sources,
                                    struct pim_configuration *configuration, struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    if (sources->file_count == 0)
        status = read_carried(trace, name, sources->set_count > 0, configuration, error);
    for (size_t i = 0; status == PIM_OK && i < sources->file_count; i++)
        status = pim_configuration_read_file(configuration, sources->files[i], error);
    for (size_t i = 0; status == PIM_OK && i < sources->set_count; i++)
        status = pim_configuration_set(configuration, sources->sets[i], error);
    if (status == PIM_OK && sources->fidelity) {
        char set[64];
        (void)snprintf(set, sizeof set, "noc.fidelity=%s", sources->fidelity);
        status = pim_configuration_set(configuration, set, error);
    }
    return status == PIM_OK ? pim_configuration_complete(configuration, error) : status;
}

/* Nothing that is set does nothing. */
static enum pim_status check_sets(const struct pim_hardware_sources *sources,
                                  const struct pim_configuration *configuration, struct pim_error *error)
{
    static const char *const fidelity = "noc.fidelity";
    if (sources->purpose == 0)
        return PIM_OK;
    const enum pim_status status =
        pim_hardware_accept_sets(configuration, sources->purpose, sources->sets, sources->set_count, error);
    return status == PIM_OK && sources->fidelity
               ? pim_hardware_accept_sets(configuration, sources->purpose, &fidelity, 1, error)
               : status;
}

static uint32_t sum_bytes(const struct pim_configuration *configuration)
{
    return (pim_configuration_count(configuration, "pe.accumulator_bits") + 7) / 8;
}

/* Programs of nodes say in bytes which partial sums they give back: sums of another width would stay in the
 * output buffer, or be fewer than are given back. */
static enum pim_status check_sums(const struct pim_trace *trace, const char *name,
                                  const struct pim_configuration *configuration, struct pim_error *error)
{
    static const char *const key = "pe.accumulator_bits";
    struct pim_configuration *made = NULL;
    if (pim_trace_hardware(trace)[0] == '\0' || !pim_hardware_uses(configuration, PIM_TO_REPLAY, key))
        return PIM_OK;
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, &made, error);
    if (status == PIM_OK)
        status = read_carried(trace, name, false, made, error);
    if (status == PIM_OK && sum_bytes(made) != sum_bytes(configuration))
        status = pim_configuration_fail(
            configuration, error, key,
            "%" PRIu32 " bits, the trace is made for %" PRIu32
            ": its programs give back partial sums of %" PRIu32 " bytes: map again, or set that",
            pim_configuration_count(configuration, key), pim_configuration_count(made, key), sum_bytes(made));
    pim_configuration_destroy(made);
    return status;
}

enum pim_status pim_configure_replay(const struct pim_trace *trace, const char *name,
                                     const struct pim_hardware_sources *sources,
                                     struct pim_configuration **configuration, struct pim_hardware *hardware,
                                     struct pim_error *error)
{
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, configuration, error);
    if (status != PIM_OK)
        return status;
    status = read_sources(trace, name, sources, *configuration, error);
    if (status == PIM_OK)
        status = check_sets(sources, *configuration, error);
    if (status == PIM_OK)
        status = check_sums(trace, name, *configuration, error);
    if (status == PIM_OK && sources->purpose == PIM_TO_MAP)
        status = pim_cost_check_mapped(*configuration, error);
    if (status == PIM_OK)
        status = pim_hardware_read(*configuration, hardware, error);
    if (status != PIM_OK) {
        pim_configuration_destroy(*configuration);
        *configuration = NULL;
    }
    return status;
}

/* --- the hardware of the estimates --- */

enum { VALUE_BYTES = 64 };

/* A value as a text; "not set" when it has none. */
static void value_text(const struct pim_configuration *configuration, const struct pim_key *key,
                       char text[static VALUE_BYTES])
{
    const int64_t *items;
    (void)snprintf(text, VALUE_BYTES, "not set");
    if (!pim_configuration_holds(configuration, key->path))
        return;
    switch (key->type) {
    case PIM_KEY_INTEGER:
        (void)snprintf(text, VALUE_BYTES, "%" PRId64, pim_configuration_integer(configuration, key->path));
        return;
    case PIM_KEY_REAL:
        (void)snprintf(text, VALUE_BYTES, "%.15g", pim_configuration_real(configuration, key->path));
        return;
    case PIM_KEY_BOOLEAN:
        (void)snprintf(text, VALUE_BYTES, "%s",
                       pim_configuration_boolean(configuration, key->path) ? "true" : "false");
        return;
    case PIM_KEY_CHOICE:
        (void)pim_key_choice(key, pim_configuration_choice(configuration, key->path), text, VALUE_BYTES);
        return;
    case PIM_KEY_TEXT:
        (void)snprintf(text, VALUE_BYTES, "%.60s", pim_configuration_text(configuration, key->path));
        return;
    case PIM_KEY_INTEGER_LIST:
        (void)snprintf(text, VALUE_BYTES, "a list of %zu",
                       pim_configuration_list(configuration, key->path, &items));
        return;
    }
}

static bool same_value(const struct pim_configuration *a, const struct pim_configuration *b,
                       const struct pim_key *key)
{
    char one[VALUE_BYTES], two[VALUE_BYTES];
    if (key->type == PIM_KEY_INTEGER_LIST) {
        const int64_t *first, *second;
        size_t count = pim_configuration_list(a, key->path, &first);
        return count == pim_configuration_list(b, key->path, &second) &&
               (count == 0 || memcmp(first, second, count * sizeof *first) == 0);
    }
    if (key->type == PIM_KEY_TEXT)
        return strcmp(pim_configuration_text(a, key->path), pim_configuration_text(b, key->path)) == 0;
    value_text(a, key, one);
    value_text(b, key, two);
    return strcmp(one, two) == 0;
}

static bool matters(const struct pim_key *key)
{
    return strcmp(key->path, "name") != 0 && strncmp(key->path, "energy.", 7) != 0 &&
           strcmp(key->path, "noc.fidelity") != 0 && strcmp(key->path, "noc.step_every_cycle") != 0;
}

static void list_differences(const struct pim_configuration *made, const struct pim_configuration *here,
                             size_t size, char *text)
{
    size_t at = 0;
    for (size_t i = 0; i < pim_hardware_schema.count; i++) {
        const struct pim_key *key = &pim_hardware_schema.keys[i];
        char one[VALUE_BYTES], two[VALUE_BYTES];
        if (!matters(key) || same_value(made, here, key))
            continue;
        value_text(made, key, one);
        value_text(here, key, two);
        int length = snprintf(text + at, size - at, "%s%s %s, here %s", at ? "; " : "", key->path, one, two);
        at += (size_t)length < size - at ? (size_t)length : size - at - 1;
    }
}

enum pim_status pim_configure_differences(const struct pim_trace *trace,
                                          const struct pim_configuration *configuration, char *text,
                                          size_t size, struct pim_error *error)
{
    struct pim_configuration *made = NULL;
    text[0] = '\0';
    if (!pim_trace_is_estimated(trace))
        return PIM_OK;
    if (pim_trace_hardware(trace)[0] == '\0') {
        (void)snprintf(text, size, "the trace does not say for which");
        return PIM_OK;
    }
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, &made, error);
    if (status == PIM_OK)
        status = read_carried(trace, "the trace", false, made, error);
    if (status == PIM_OK)
        list_differences(made, configuration, size, text);
    pim_configuration_destroy(made);
    return status;
}
