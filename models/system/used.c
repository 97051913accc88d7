#include "models/system/used.h"

#include "models/system/schema.h"
#include "models/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { NODE = PIM_NODE_KEY, CORE = PIM_CORE_KEY, CHANNEL = PIM_CHANNEL_KEY, TILE = PIM_TILE_KEY };

/* The first row whose text a key begins with; keys without a row are for all. */
static const struct {
    const char *beginning;
    unsigned kinds;
} rows[] = {
    {"acu.", NODE},
    {"buffers.", NODE},
    {"chips.", CORE},
    {"clock.memory_khz", NODE | CORE | CHANNEL},
    {"clock.network_khz", NODE | CORE | TILE},
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
    {"unit.", NODE | CHANNEL},
};

/* What areas are made of: a key that begins with none of these says nothing of them. Of units of other kinds
 * there are no areas at all, which is not the fault of a key. */
static const struct {
    const char *beginning;
    unsigned kinds;
} measured[] = {
    {"array.", NODE | TILE},
    {"buffers.", NODE},
    {"dram.banks", NODE},
    {"dram.interleaved_banks", NODE},
    {"dram.standard", NODE},
    {"noc.buffer_flits", NODE | TILE},
    {"noc.concentration", NODE | TILE},
    {"noc.depth", NODE | TILE},
    {"noc.express_links", NODE | TILE},
    {"noc.flit_bits", NODE | TILE},
    {"noc.input_speedup", NODE | TILE},
    {"noc.output_speedup", NODE | TILE},
    {"noc.topology", NODE | TILE},
    {"noc.virtual_channels", NODE | TILE},
    {"pe.accumulator_bits", NODE},
    {"pe.columns", NODE},
    {"pe.rows", NODE},
    {"tile.input_buffer_bits", TILE},
    {"tile.output_buffer_bits", TILE},
};

/* Changes no area: tiles without routers of flits are given those that they could have. It decides which keys
 * of routers count, and is taken beside one of these. */
static const char *const decides_areas = "tile.switching";

static bool is_measured(unsigned kind, const char *path)
{
    if ((kind & (NODE | TILE)) == 0)
        return true;
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++)
        if ((measured[i].kinds & kind) != 0 &&
            strncmp(path, measured[i].beginning, strlen(measured[i].beginning)) == 0)
            return true;
    return false;
}

static unsigned users_of(const char *path)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(path, rows[i].beginning, strlen(rows[i].beginning)) == 0)
            return rows[i].kinds;
    return (1U << PIM_UNIT_KINDS) - 1;
}

/* The kind of units, as one of users_of; 0: a network alone. */
static unsigned kind_of(const struct pim_configuration *configuration)
{
    if (pim_configuration_schema(configuration) != &pim_hardware_schema)
        return 0;
    return 1U << pim_configuration_choice(configuration, "array.kind");
}

bool pim_hardware_decides(const char *key, const char *path)
{
    return strcmp(key, "array.kind") == 0 || pim_need_names(key, path, PIM_TO_ANY);
}

bool pim_hardware_uses(const struct pim_configuration *configuration, enum pim_key_purpose purpose,
                       const char *path)
{
    const unsigned kind = kind_of(configuration);
    return (kind == 0 || (users_of(path) & kind) != 0) &&
           !pim_need_unmet(configuration, kind, purpose, path) &&
           (purpose != PIM_TO_MEASURE || is_measured(kind, path));
}

const char *pim_hardware_clock(const struct pim_configuration *configuration, const char *path)
{
    return pim_hardware_uses(configuration, PIM_TO_REPLAY, path) ? path : "clock.logic_khz";
}

enum pim_status pim_hardware_refuse_key(const struct pim_configuration *configuration,
                                        enum pim_key_purpose purpose, const char *path,
                                        struct pim_error *error)
{
    const unsigned users = users_of(path), kind = kind_of(configuration);
    char names[PIM_UNIT_KINDS_TEXT], needs[PIM_NEED_TEXT];
    if (kind == 0 || (users & kind) != 0) {
        if (purpose == PIM_TO_MEASURE && strcmp(path, decides_areas) == 0)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%.200s: areas do not depend on it, only which keys of routers count: set it "
                            "beside one of these, as noc.concentration",
                            path);
        if (purpose == PIM_TO_MEASURE && !is_measured(kind, path))
            return pim_fail(error, PIM_BAD_INPUT,
                            "%.200s: areas do not depend on it: it would change nothing", path);
        const struct pim_hardware_need *need = pim_need_unmet(configuration, kind, purpose, path);
        pim_need_describe(need, configuration, purpose, needs);
        return pim_fail(error, PIM_BAD_INPUT, "%.200s: %s: it would change nothing", path, needs);
    }
    pim_unit_kinds_text(users, names);
    return pim_fail(error, PIM_BAD_INPUT,
                    "%.200s: describes hardware with array.kind %s, this has \"%s\": it would change nothing",
                    path, names, pim_unit_kind_name(pim_configuration_choice(configuration, "array.kind")));
}

void pim_hardware_key_of_set(const char *set, char *path, size_t size)
{
    set += strspn(set, " \t");
    (void)snprintf(path, size, "%.*s", (int)strcspn(set, "= \t"), set);
}

/* Whether the key is one that decides which keys of an area count, and one of those is set, too. */
static bool decides_beside(const struct pim_configuration *configuration, enum pim_key_purpose purpose,
                           const char *key, const char *const *sets, size_t count)
{
    const unsigned kind = kind_of(configuration);
    if (purpose != PIM_TO_MEASURE || strcmp(key, decides_areas) != 0 || (users_of(key) & kind) == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        char path[256];
        pim_hardware_key_of_set(sets[i], path, sizeof path);
        if (is_measured(kind, path) && pim_need_names(key, path, PIM_TO_MEASURE))
            return true;
    }
    return false;
}

enum pim_status pim_hardware_accept_sets(const struct pim_configuration *configuration,
                                         enum pim_key_purpose purpose, const char *const *sets, size_t count,
                                         struct pim_error *error)
{
    for (size_t i = 0; i < count; i++) {
        char path[256];
        pim_hardware_key_of_set(sets[i], path, sizeof path);
        if (!pim_hardware_uses(configuration, purpose, path) &&
            !decides_beside(configuration, purpose, path, sets, count))
            return pim_hardware_refuse_key(configuration, purpose, path, error);
    }
    return PIM_OK;
}
