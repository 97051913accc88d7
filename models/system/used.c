#include "models/system/used.h"

#include <stdio.h>
#include <string.h>

enum { NODE = 1, CORE = 2, CHANNEL = 4, TILE = 8, KINDS = 4 };

static const char *const kind_names[KINDS] = {"node", "core", "channel", "tile"}; /* as in the schema */

/* The first row whose text a key begins with; keys without a row are for all. */
static const struct {
    const char *beginning;
    unsigned kinds;
} rows[] = {
    {"acu.", NODE},
    {"buffers.", NODE},
    {"chips.", CORE},
    {"core.", CORE},
    {"crossbar.", CORE},
    {"dram.", NODE},
    {"energy.acu_", NODE},
    {"energy.crossbar_step_pj", CHANNEL},
    {"energy.dram_", NODE | CHANNEL},
    {"energy.interconnect_pj_per_bit", CORE | CHANNEL},
    {"energy.mac_pj", NODE | TILE},
    {"energy.noc_", NODE | CORE | TILE},
    {"energy.sram_", NODE},
    {"energy.static_mw_per_node", NODE | CHANNEL | TILE},
    {"energy.", CORE},
    {"global_memory.", CORE},
    {"interconnect.", CORE},
    {"levels.", CHANNEL},
    {"network_interface.", NODE},
    {"noc.", NODE | CORE | TILE},
    {"pe.", NODE},
    {"quirks.", CORE},
    {"tile.", TILE},
    {"unit.issue", NODE},
    {"unit.", NODE | CHANNEL | TILE},
};

static unsigned users_of(const char *path)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(path, rows[i].beginning, strlen(rows[i].beginning)) == 0)
            return rows[i].kinds;
    return (1U << KINDS) - 1;
}

/* Which keys decide, beside array.kind, whether its units have the routers of noc.*: the value that has. */
static const struct {
    unsigned kind;
    const char *key;
    unsigned value;
    const char *text;
} routers[] = {{CORE, "interconnect.kind", 0, "mesh"}, {TILE, "tile.switching", 2, "wormhole"}};

/* The row that says that there are no routers; -1: there are, or the times of cores are worked out as
 * PIMSIM-NN does, which counts flits whatever joins the cores (models/core/quirks.c). */
static int without_routers(const struct pim_configuration *configuration, unsigned kind)
{
    if (1U << kind == CORE && pim_configuration_choice(configuration, "core.timing") == 1)
        return -1;
    for (size_t i = 0; i < sizeof routers / sizeof routers[0]; i++)
        if (routers[i].kind == 1U << kind &&
            pim_configuration_choice(configuration, routers[i].key) != routers[i].value)
            return (int)i;
    return -1;
}

static bool of_routers(const char *path)
{
    return strncmp(path, "noc.", strlen("noc.")) == 0;
}

bool pim_hardware_decides(const char *key, const char *path)
{
    bool decides = strcmp(key, "core.timing") == 0;
    for (size_t i = 0; i < sizeof routers / sizeof routers[0]; i++)
        decides = decides || strcmp(key, routers[i].key) == 0;
    return strcmp(key, "array.kind") == 0 || (decides && of_routers(path));
}

bool pim_hardware_uses(const struct pim_configuration *configuration, const char *path)
{
    const unsigned kind = pim_configuration_choice(configuration, "array.kind");
    return (users_of(path) >> kind & 1U) != 0 &&
           !(of_routers(path) && without_routers(configuration, kind) >= 0);
}

enum pim_status pim_hardware_refuse_key(const struct pim_configuration *configuration, const char *path,
                                        struct pim_error *error)
{
    const unsigned users = users_of(path), kind = pim_configuration_choice(configuration, "array.kind");
    char names[64] = "";
    size_t at = 0;
    if ((users >> kind & 1U) != 0) {
        const size_t row = (size_t)without_routers(configuration, kind);
        return pim_fail(error, PIM_BAD_INPUT,
                        "%.200s: describes routers, and without %s \"%s\" there are none: it would change "
                        "nothing",
                        path, routers[row].key, routers[row].text);
    }
    for (unsigned i = 0; i < KINDS; i++)
        if ((users >> i & 1U) != 0)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s\"%s\"", at > 0 ? " or " : "",
                                   kind_names[i]);
    return pim_fail(error, PIM_BAD_INPUT,
                    "%.200s: describes hardware with array.kind %s, this has \"%s\": it would change nothing",
                    path, names, kind_names[kind]);
}

void pim_hardware_key_of_set(const char *set, char *path, size_t size)
{
    set += strspn(set, " \t");
    (void)snprintf(path, size, "%.*s", (int)strcspn(set, "= \t"), set);
}

enum pim_status pim_hardware_accept_sets(const struct pim_configuration *configuration,
                                         const char *const *sets, size_t count, struct pim_error *error)
{
    for (size_t i = 0; i < count; i++) {
        char path[256];
        pim_hardware_key_of_set(sets[i], path, sizeof path);
        if (!pim_hardware_uses(configuration, path))
            return pim_hardware_refuse_key(configuration, path, error);
    }
    return PIM_OK;
}
