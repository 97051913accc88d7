#include "models/system/hardware/needs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODE = PIM_NODE_KEY,
    CORE = PIM_CORE_KEY,
    CHANNEL = PIM_CHANNEL_KEY,
    TILE = PIM_TILE_KEY,
    ANY = 15, /* and of a network alone */
    REPLAY = PIM_TO_REPLAY,
    MAP = PIM_TO_MAP,
    BOTH = PIM_TO_REPLAY | PIM_TO_MAP,
    ALL = PIM_TO_ANY
};

/*
 * The values of a choice or a boolean that meet the need, with bars between them; "": an empty text; "*": a
 * text or a list that is not; ">0", ">1": a number above. NULL: none does, a replay never looks.
 */
struct pim_hardware_need {
    const char *beginning; /* of paths */
    unsigned kinds;
    unsigned purposes;
    const char *key; /* with bars between them: one that meets it is enough */
    const char *values;
    const char *beside; /* paths with this beginning that need nothing, with bars between them, or NULL */
};

#define FLIT "noc.fidelity", "flit", NULL
#define STANDARD_NONE "dram.standard", "", NULL
#define CHIPS "chips.width|chips.height", ">1", NULL
#define GLOBAL_PORT "global_memory.standard", "", NULL
#define SEVERAL_CLASSES "noc.classes", "*", NULL
#define ADAPTIVE "tile.routing", "adaptive", NULL
#define ADAPTIVE_OR_TABLE "tile.routing", "adaptive|table", NULL /* tables are those of an adaptive run */
#define SAF "tile.switching", "saf", NULL
#define NOT_IDEAL "tile.ideal", "false", NULL
#define COMMANDS "levels.costs", "commands", NULL
#define FIGURE "levels.costs", "figure", NULL
#define MAPPERS NULL, NULL, NULL
#define AREA_OF_ROUTERS "noc.virtual_channels|noc.buffer_flits|noc.flit_bits"
#define FORM_OF_NETWORK                                                                                      \
    "noc.flit_bits|noc.fidelity|noc.topology|noc.concentration|noc.depth|noc.width|noc.height"
#define TIMES_OF_ROUTERS                                                                                     \
    "noc.routing_delay|noc.vc_allocation_delay|noc.switch_allocation_delay|noc.switch_traversal_delay|"      \
    "noc.link_latency"

static const struct pim_hardware_need needs[] = {
    /* Who has routers. The rules of pimsim_nn count flits and hops, whatever joins the cores; programs for
     * them are made by the times of routers, as of any mesh. */
    {"noc.", TILE, ALL, "tile.switching", "wormhole", AREA_OF_ROUTERS},
    {"noc.", TILE, BOTH, "tile.switching", "wormhole", NULL},
    {"noc.", CORE, ALL, "interconnect.kind|core.timing", "mesh|pimsim_nn", NULL},
    {"noc.", CORE, REPLAY, "core.timing", "pimsim", FORM_OF_NETWORK},
    {"noc.", CORE, MAP, "core.timing", "pimsim", FORM_OF_NETWORK "|" TIMES_OF_ROUTERS},
    {"noc.", CORE, ALL, "interconnect.kind", "mesh", "noc.flit_bits"},
    {"energy.noc_", CORE, ALL, "interconnect.kind", "mesh", NULL},
    {"energy.noc_", CORE, ALL, "core.timing", "pimsim", NULL},

    {"clock.network_khz", TILE, ALL, "tile.switching", "wormhole", NULL},
    {"clock.network_khz", CORE, ALL, "interconnect.kind", "mesh", NULL},
    {"clock.network_khz", CORE, REPLAY, "core.timing", "pimsim", NULL},
    {"clock.memory_khz", CORE, ALL, "global_memory.standard", "*", NULL},
    {"clock.memory_khz", CHANNEL, ALL, COMMANDS},

    {"noc.depth", ANY, ALL, "noc.topology", "mesh|torus", NULL},
    {"noc.radix", ANY, ALL, "noc.topology",
     "fat_tree|quad_tree|butterfly|flattened_butterfly|concentrated_mesh|dragonfly", NULL},
    {"noc.levels", ANY, ALL, "noc.topology", "fat_tree|quad_tree|butterfly", NULL},
    {"noc.network_file", ANY, ALL, "noc.topology", "file", NULL},
    {"noc.latency_by_length", ANY, ALL, "noc.topology", "flattened_butterfly|concentrated_mesh", NULL},
    {"noc.global_link_latency", ANY, ALL, "noc.topology", "dragonfly", NULL},
    {"noc.torus_partition", ANY, ALL, "noc.topology", "torus", NULL},
    {"noc.torus_partition", ANY, ALL, "noc.routing", "xy|yx", NULL},
    {"noc.routing_draws", ANY, ALL, "noc.topology", "torus|dragonfly", NULL},
    {"noc.routing_seed", ANY, ALL, "noc.routing|noc.topology", "o1turn|valiant|romm|torus|dragonfly|fat_tree",
     NULL},
    {"noc.routing_seed", ANY, ALL, "noc.routing", "xy|yx|o1turn|valiant|romm|minimal_adaptive|minimal", NULL},
    {"noc.route_table", ANY, ALL, "noc.routing", "table", NULL},
    {"noc.class_first", ANY, ALL, SEVERAL_CLASSES},
    {"noc.urgent_classes", ANY, ALL, SEVERAL_CLASSES},
    {"noc.vc_arbiter_groups", ANY, ALL, "noc.vc_arbiter", "tree", NULL},
    {"noc.switch_arbiter_groups", ANY, ALL, "noc.switch_arbiter", "tree", NULL},
    {"noc.allocator_iterations", ANY, ALL, "noc.vc_allocator|noc.switch_allocator", "islip", NULL},
    {"noc.vc_allocator_iterations", ANY, ALL, "noc.vc_allocator", "islip", NULL},
    {"noc.switch_allocator_iterations", ANY, ALL, "noc.switch_allocator", "islip", NULL},
    {"noc.output_buffer_flits", ANY, ALL, "noc.output_speedup", ">1", NULL},
    {"noc.virtual_channels", ANY, REPLAY, FLIT},
    {"noc.buffer_flits", ANY, REPLAY, FLIT},
    {"noc.credit_delay", ANY, REPLAY, FLIT},
    {"noc.hold_switch_for_packet", ANY, REPLAY, FLIT},
    {"noc.wait_for_tail_credit", ANY, REPLAY, FLIT},
    {"noc.vc_a", ANY, REPLAY, "noc.fidelity", "flit", "noc.vc_allocation_delay"},
    {"noc.switch_a", ANY, REPLAY, "noc.fidelity", "flit", "noc.switch_allocation_delay"},
    {"noc.allocator_iterations", ANY, REPLAY, FLIT},
    {"noc.input_speedup", ANY, REPLAY, FLIT},
    {"noc.may_deadlock", ANY, REPLAY, FLIT},
    {"noc.step_every_cycle", ANY, REPLAY, FLIT},
    {"noc.classes", ANY, REPLAY, FLIT},

    {"pe.fold", NODE, ALL, "pe.style", "output_stationary|weight_stationary|input_stationary", NULL},
    {"pe.weight_load", NODE, ALL, "pe.style", "vector_mac", NULL},
    {"pe.double_buffered", NODE, ALL, "pe.style", "vector_mac|weight_stationary|input_stationary", NULL},

    {"dram.standard_values", NODE, ALL, "dram.standard", "*", NULL},
    {"dram.nodes", NODE, ALL, "dram.standard", "*", NULL},
    {"dram.accesses", NODE, ALL, "dram.standard", "*", NULL},
    {"dram.interleaved_banks", NODE, BOTH, STANDARD_NONE},
    {"dram.rows", NODE, ALL, STANDARD_NONE},
    {"dram.column_bytes", NODE, ALL, STANDARD_NONE},
    {"dram.burst_cycles", NODE, ALL, STANDARD_NONE},
    {"dram.t", NODE, ALL, STANDARD_NONE},
    {"dram.refresh", NODE, ALL, STANDARD_NONE},
    {"dram.page", NODE, ALL, STANDARD_NONE},
    {"dram.trrd", NODE, ALL, "dram.interleaved_banks", ">1", NULL},
    {"dram.trfc", NODE, ALL, "dram.refresh", "true", NULL},
    {"dram.trefi", NODE, ALL, "dram.refresh", "true", NULL},
    {"energy.dram_", NODE, ALL, STANDARD_NONE},

    {"chips.link_", CORE, ALL, CHIPS},
    {"chips.connection", CORE, ALL, CHIPS},
    {"energy.link_mw_per_chip", CORE, ALL, CHIPS},
    {"energy.chip_link_pj_per_bit", CORE, ALL, CHIPS},
    {"core.issue", CORE, REPLAY, "core.timing", "pimsim", NULL},
    {"core.communication", CORE, REPLAY, "core.timing", "pimsim", NULL},
    {"core.receive_bytes", CORE, ALL, "core.communication", "asynchronous", NULL},
    {"core.receive_bytes", CORE, ALL, "core.timing", "pimsim", NULL},
    {"interconnect.packet_bytes", CORE, REPLAY, "core.timing", "pimsim", NULL},
    {"interconnect.bytes_per_cycle", CORE, ALL, "interconnect.kind", "bus|shared_memory", NULL},
    {"interconnect.bytes_per_cycle", CORE, REPLAY, "core.timing", "pimsim", NULL},
    {"energy.interconnect_pj_per_bit", CORE, ALL, "interconnect.kind", "bus|shared_memory", NULL},
    {"energy.interconnect_pj_per_bit", CORE, ALL, "core.timing", "pimsim", NULL},
    {"energy.interconnect_pj_per_flit", CORE, ALL, "core.timing", "pimsim_nn", NULL},
    {"quirks.", CORE, ALL, "core.timing", "pimsim_nn", NULL},
    {"global_memory.bytes_per_cycle", CORE, ALL, GLOBAL_PORT},
    {"global_memory.read_cycles", CORE, ALL, GLOBAL_PORT},
    {"global_memory.write_cycles", CORE, ALL, GLOBAL_PORT},
    {"global_memory.pipelined", CORE, ALL, GLOBAL_PORT},
    {"energy.global_pj_per_bit", CORE, ALL, GLOBAL_PORT},
    {"global_memory.standard_values", CORE, ALL, "global_memory.standard", "*", NULL},
    {"energy.crossbar_dac_mw", CORE, ALL, "crossbar.dac_cycles", ">0", NULL},
    {"energy.crossbar_read_mw", CORE, ALL, "crossbar.read_ns", ">0", NULL},
    {"energy.crossbar_write_pj", CORE, ALL, "crossbar.write_row_ns", ">0", NULL},
    {"energy.crossbar_sample_hold_mw", CORE, ALL, "crossbar.sample_hold_cycles", ">0", NULL},
    {"energy.crossbar_adc_mw", CORE, ALL, "crossbar.adc_cycles", ">0", NULL},
    {"energy.crossbar_shift_add_mw", CORE, ALL, "crossbar.shift_add_cycles", ">0", NULL},
    {"energy.crossbar_input_buffer_mw", CORE, ALL, "crossbar.input_buffer_cycles", ">0", NULL},
    {"energy.crossbar_output_buffer_mw", CORE, ALL, "crossbar.output_buffer_cycles", ">0", NULL},

    {"levels.step_ps", CHANNEL, ALL, "levels.costs", "steps", NULL},
    {"levels.add_cycles", CHANNEL, ALL, FIGURE},
    {"levels.multiply_cycles", CHANNEL, ALL, FIGURE},
    {"levels.aap_cycles", CHANNEL, ALL, FIGURE},
    {"levels.aap_busy_cycles", CHANNEL, ALL, COMMANDS},
    {"levels.refresh_", CHANNEL, ALL, COMMANDS},
    {"levels.row_overhead_cycles", CHANNEL, ALL, COMMANDS},
    {"levels.aap_busy_cycles", CHANNEL, REPLAY, MAPPERS},
    {"levels.refresh_", CHANNEL, REPLAY, MAPPERS},
    {"levels.row_overhead_cycles", CHANNEL, REPLAY, MAPPERS},
    {"levels.word_bits", CHANNEL, REPLAY, MAPPERS},
    {"levels.memory_values", CHANNEL, ALL, "levels.memory", "*", NULL},
    {"energy.dram_activate_pj", CHANNEL, ALL, "levels.memory", "*", NULL},
    {"energy.crossbar_step_pj", CHANNEL, ALL, "levels.memory", "", NULL},

    {"tile.half_duplex", TILE, ALL, SAF},
    {"tile.router_", TILE, ALL, SAF},
    {"tile.router_packets", TILE, ALL, NOT_IDEAL},
    {"tile.arbiter", TILE, ALL, NOT_IDEAL},
    {"tile.detour", TILE, REPLAY, ADAPTIVE},
    {"tile.detour", TILE, ALL & ~REPLAY, ADAPTIVE_OR_TABLE},
    {"tile.tie_break", TILE, REPLAY, ADAPTIVE},
    {"tile.tie_break", TILE, ALL & ~REPLAY, ADAPTIVE_OR_TABLE},
    {"tile.link_gbps", TILE, ALL, "tile.switching", "path_hold|saf", NULL},
    {"tile.routing", TILE, ALL, "tile.switching", "path_hold|saf", NULL},
    {"tile.ideal", TILE, ALL, "tile.switching", "path_hold|saf", NULL},
    {"tile.crossbar_", TILE, REPLAY, MAPPERS},
    {"tile.rows_of_crossbars", TILE, REPLAY, MAPPERS},
    {"tile.columns_of_crossbars", TILE, REPLAY, MAPPERS},
    {"tile.activation_bits", TILE, REPLAY, MAPPERS},
};
enum { NEEDS = sizeof needs / sizeof needs[0] };

/* The length of the first of the words between bars, and the words behind it into `rest`, or NULL. */
static size_t first_word(const char *words, const char **rest)
{
    const size_t length = strcspn(words, "|");
    *rest = words[length] == '|' ? words + length + 1 : NULL;
    return length;
}

/* Whether one of the words between bars is, or is the beginning of, `text`. NULL: there are none. */
static bool among(const char *words, const char *text, bool whole)
{
    for (const char *rest; words; words = rest) {
        const size_t length = first_word(words, &rest);
        if (length > 0 && strncmp(words, text, length) == 0 && (!whole || text[length] == '\0'))
            return true;
    }
    return false;
}

static bool is_of(const struct pim_hardware_need *need, const char *path)
{
    return strncmp(path, need->beginning, strlen(need->beginning)) == 0 && !among(need->beside, path, true);
}

static const struct pim_key *key_of(const struct pim_configuration *configuration, const char *path)
{
    const struct pim_schema *schema = pim_configuration_schema(configuration);
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->keys[i].path, path) == 0)
            return &schema->keys[i];
    return NULL;
}

enum { VALUE = 64 };

static bool meets(const struct pim_configuration *configuration, const char *path, const char *values)
{
    char text[VALUE], bare[VALUE];
    pim_configuration_show(configuration, path, text, sizeof text);
    if (values[0] == '>')
        return strtod(text, NULL) > strtod(values + 1, NULL);
    if (values[0] == '*' || values[0] == '\0')
        return (strcmp(text, "\"\"") != 0 && strcmp(text, "[]") != 0) == (values[0] == '*');
    (void)snprintf(bare, sizeof bare, "%.*s", (int)strcspn(text + (text[0] == '"'), "\""),
                   text + (text[0] == '"'));
    return among(values, bare, true);
}

/* Takes the first of the words between bars off them; false: there is none. */
static bool take_word(const char **words, char text[VALUE])
{
    if (!*words)
        return false;
    const char *begin = *words;
    const size_t length = first_word(begin, words);
    (void)snprintf(text, VALUE, "%.*s", (int)length, begin);
    return true;
}

static bool is_met(const struct pim_hardware_need *need, const struct pim_configuration *configuration)
{
    char key[VALUE];
    for (const char *keys = need->key; take_word(&keys, key);)
        if (meets(configuration, key, need->values))
            return true;
    return false;
}

const struct pim_hardware_need *pim_need_unmet(const struct pim_configuration *configuration, unsigned kinds,
                                               enum pim_key_purpose purpose, const char *path)
{
    for (size_t i = 0; i < NEEDS; i++)
        if ((kinds == 0 ? needs[i].kinds == ANY : (needs[i].kinds & kinds) != 0) &&
            (needs[i].purposes & (unsigned)purpose) == (unsigned)purpose && is_of(&needs[i], path) &&
            !is_met(&needs[i], configuration))
            return &needs[i];
    return NULL;
}

bool pim_need_names(const char *key, const char *path, unsigned purposes)
{
    for (size_t i = 0; i < NEEDS; i++)
        if ((needs[i].purposes & purposes) != 0 && is_of(&needs[i], path) && among(needs[i].key, key, true))
            return true;
    return false;
}

/* Whether the key may have the value: a choice has those of its own, others any. */
static bool may_be(const struct pim_key *key, const char *value)
{
    char choice[VALUE];
    for (unsigned i = 0; key->type == PIM_KEY_CHOICE && pim_key_choice(key, i, choice, sizeof choice); i++)
        if (strcmp(choice, value) == 0)
            return true;
    return key->type != PIM_KEY_CHOICE;
}

/* 'key "a", "b" or "c"': those of the values that the key may have. */
static void describe_values(const struct pim_key *key, const char *values, char *text, size_t size)
{
    const char *quote = key->type == PIM_KEY_CHOICE ? "\"" : "";
    char own[VALUE][VALUE];
    size_t count = 0, at = (size_t)snprintf(text, size, "%s", key->path);
    while (count < VALUE && take_word(&values, own[count]))
        count += may_be(key, own[count]);
    for (size_t i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s%s%s",
                               i == 0          ? " "
                               : i + 1 < count ? ", "
                                               : " or ",
                               quote, own[i], quote);
}

/* The keys with what they would have to be, and what they are here. */
static void describe_keys(const struct pim_hardware_need *need, const struct pim_configuration *configuration,
                          char wanted[PIM_NEED_TEXT], char here[PIM_NEED_TEXT])
{
    const bool several = strchr(need->key, '|') != NULL;
    char key[VALUE], value[VALUE], part[PIM_NEED_TEXT] = "";
    size_t at = 0, end = 0;
    for (const char *keys = need->key; at < PIM_NEED_TEXT && end < PIM_NEED_TEXT && take_word(&keys, key);) {
        if (strchr("*>", need->values[0])) /* "" as well */
            (void)snprintf(part, sizeof part, "%s", key);
        else
            describe_values(key_of(configuration, key), need->values, part, sizeof part);
        pim_configuration_show(configuration, key, value, sizeof value);
        at += (size_t)snprintf(wanted + at, PIM_NEED_TEXT - at, "%s%s", at > 0 ? ", or " : "", part);
        end += (size_t)snprintf(here + end, PIM_NEED_TEXT - end, "%s%s",
                                end > 0   ? " and "
                                : several ? "which are "
                                          : "which is ",
                                value);
    }
}

void pim_need_describe(const struct pim_hardware_need *need, const struct pim_configuration *configuration,
                       enum pim_key_purpose purpose, char text[PIM_NEED_TEXT])
{
    char wanted[PIM_NEED_TEXT], here[PIM_NEED_TEXT], instead[80] = "";
    if (!need->key) {
        (void)snprintf(text, PIM_NEED_TEXT, "is for mappers, and a trace is mapped already");
        return;
    }
    const bool above = need->values[0] == '>', without = need->values[0] == '\0';
    describe_keys(need, configuration, wanted, here);
    const bool standard = strstr(need->key, ".standard") != NULL;
    /* of a standard; which keys it has instead would be of no use */
    if (purpose == PIM_TO_MAP && standard)
        (void)snprintf(instead, sizeof instead, " and which mappers do not take");
    else if (without && standard)
        (void)snprintf(instead, sizeof instead, " and has values of its own (%.40s_values)", wanted);
    (void)snprintf(text, PIM_NEED_TEXT, "counts %s %.160s%s%s alone, %.130s here%s",
                   without ? "without" : "with", wanted, above ? " above " : "",
                   above ? need->values + 1 : "", here, instead);
}
