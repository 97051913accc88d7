/*
 * Any bytes as a configuration text, or, after "--set ", as an assignment. What is accepted must be written,
 * read back and give the same hash; what is refused must have a message.
 */
#include "sim/configuration/configuration.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct pim_key keys[] = {
    {"name", PIM_KEY_TEXT, "\"unnamed\"", 0, 0, NULL, "", ""},
    {"noc.width", PIM_KEY_INTEGER, "4", 1, 64, NULL, "nodes", ""},
    {"noc.routing", PIM_KEY_CHOICE, "xy", 0, 0, "xy|yx|o1turn", "", ""},
    {"dram.rows", PIM_KEY_INTEGER, "8192", -9007199254740992.0, 9007199254740992.0, NULL, "rows", ""},
    {"dram.refresh", PIM_KEY_BOOLEAN, "true", 0, 0, NULL, "", ""},
    {"dram.timing.trcd_ns", PIM_KEY_REAL, "18", -1e308, 1e308, NULL, "ns", ""},
    {"depths", PIM_KEY_INTEGER_LIST, "[2, 2, 6, 2]", 0, 9007199254740992.0, NULL, "blocks", ""},
};
static const struct pim_schema schema = {
    .name = "fuzz", .text = "", .keys = keys, .count = sizeof keys / sizeof keys[0]};

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

static struct pim_configuration *make(void)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration = NULL;
    require(pim_configuration_create(&schema, &configuration, &error) == PIM_OK, "create", &error);
    return configuration;
}

static enum pim_status take(struct pim_configuration *configuration, const uint8_t *data, size_t size,
                            struct pim_error *error)
{
    static const char prefix[] = "--set ";
    size_t skip = sizeof prefix - 1;
    if (size < skip || memcmp(data, prefix, skip) != 0)
        return pim_configuration_read_text(configuration, "fuzz.cfg", (const char *)data, size, error);
    char *assignment = strndup((const char *)data + skip, size - skip);
    require(assignment != NULL, "out of memory", error);
    enum pim_status status = pim_configuration_set(configuration, assignment, error);
    free(assignment);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *first = make();
    enum pim_status status = take(first, data, size, &error);
    if (status != PIM_OK) {
        require(error.status == status && error.text[0] != '\0', "refused without a message", &error);
        pim_configuration_destroy(first);
        return 0;
    }
    struct pim_configuration *second = make();
    for (int origins = 0; origins < 2; origins++) {
        char *text = pim_configuration_write(first, origins != 0);
        require(text != NULL, "write", &error);
        status = pim_configuration_read_text(second, "written.cfg", text, strlen(text), &error);
        require(status == PIM_OK, "the canonical text is refused", &error);
        require(pim_configuration_hash(first) == pim_configuration_hash(second),
                "another hash after reading back", &error);
        free(text);
    }
    pim_configuration_destroy(second);
    pim_configuration_destroy(first);
    return 0;
}
