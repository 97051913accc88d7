#include "tools/tune/space.h"

#include "mappers/learn/elementary.h"
#include "models/system/schema.h"
#include "tools/sweep/specification/axis.h"
#include "tools/systems/area.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1024, STEP_KIB = 8, PORT_MOST = 65536, STEP_TRIALS = 1000 };

static const struct {
    const char *key;
    uint32_t unit;
} dimensions[] = {
#define X(name, key, unit) {key, unit},
    PIM_TUNE_DIMENSION_MAP(X)
#undef X
};

/* Values of the base that stand for the banks of one node, and grow with them. */
static const char *const grows_with_banks[] = {"noc.flit_bits", "dram.arbitration_bytes",
                                               "network_interface.packet_bytes", "acu.elements_per_cycle"};

/* --- values --- */

static void add_value(struct pim_tune_space *space, enum pim_tune_dimension dimension, uint32_t value,
                      uint32_t least, uint32_t most)
{
    if (value >= least && value <= most && space->count[dimension] < PIM_TUNE_VALUES_MOST)
        space->value[dimension][space->count[dimension]++] = value;
}

static void add_powers(struct pim_tune_space *space, enum pim_tune_dimension dimension, uint32_t least,
                       uint32_t most)
{
    for (uint32_t value = 1; value <= most; value *= 2)
        add_value(space, dimension, value, least, most);
}

static void add_sizes(struct pim_tune_space *space, enum pim_tune_dimension dimension, uint32_t least,
                      uint32_t most)
{
    for (uint32_t value = 1; value < STEP_KIB; value *= 2)
        add_value(space, dimension, value, least, most);
    for (uint32_t value = STEP_KIB; value <= most; value += STEP_KIB)
        add_value(space, dimension, value, least, most);
}

static void scale_features(struct pim_tune_space *space)
{
    for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++) {
        double first = pim_logarithm(space->value[d][0]);
        double range = pim_logarithm(space->value[d][space->count[d] - 1]) - first;
        for (uint16_t i = 0; i < space->count[d]; i++)
            space->feature[d][i] = range > 0 ? (pim_logarithm(space->value[d][i]) - first) / range : 0;
    }
}

static enum pim_status fill(struct pim_tune_space *space, const struct pim_tune_bounds *bounds,
                            struct pim_error *error)
{
    static const char *const names[] = {"nodes of a side", "nodes of a side", "PEs of a side",
                                        "PEs of a side",   "KiB of a buffer", "KiB of a buffer",
                                        "KiB of a buffer"};
    uint32_t side = bounds->node_most < PIM_TUNE_BANK_SIDE ? bounds->node_most : PIM_TUNE_BANK_SIDE;
    for (int d = PIM_TUNE_HEIGHT; d <= PIM_TUNE_WIDTH; d++)
        add_powers(space, (enum pim_tune_dimension)d, bounds->node_least, side);
    for (int d = PIM_TUNE_ROWS; d <= PIM_TUNE_COLUMNS; d++)
        add_powers(space, (enum pim_tune_dimension)d, bounds->pe_least, bounds->pe_most);
    for (int d = PIM_TUNE_INPUT; d <= PIM_TUNE_OUTPUT; d++)
        add_sizes(space, (enum pim_tune_dimension)d, bounds->buffer_least, bounds->buffer_most);
    for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++)
        if (space->count[d] == 0)
            return pim_fail(error, PIM_BAD_INPUT, "the bounds leave no number of %s", names[d]);
    uint32_t most = space->value[PIM_TUNE_HEIGHT][space->count[PIM_TUNE_HEIGHT] - 1];
    if (PIM_TUNE_BANKS / (most * most) > PIM_TUNE_NODE_BANKS_MOST)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " x %" PRIu32 " nodes at most: a node would have more than %d banks", most,
                        most, PIM_TUNE_NODE_BANKS_MOST);
    scale_features(space);
    return PIM_OK;
}

static enum pim_status check_base(struct pim_tune_space *space, struct pim_error *error)
{
    const struct pim_configuration *base = space->base;
    struct pim_area areas[PIM_AREA_READINGS];
    if (pim_configuration_integer(base, "dram.interleaved_banks") != 1)
        return pim_configuration_fail(base, error, "dram.interleaved_banks",
                                      "1: the tuner divides single banks");
    if (pim_area_read(base, PIM_TUNE_OPERAND_BITS, &space->area, areas, error) != PIM_OK)
        return error->status;
    space->base_banks = space->area.banks;
    if ((uint64_t)space->area.nodes * space->area.banks != PIM_TUNE_BANKS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the hardware has %" PRIu32 " nodes of %" PRIu32
                        " banks: the tuner divides a DRAM of %d banks",
                        space->area.nodes, space->area.banks, PIM_TUNE_BANKS);
    if (pim_configuration_integer(base, "noc.concentration") != 1)
        return pim_configuration_fail(base, error, "noc.concentration",
                                      "1: the tuner gives each node a router");
    for (size_t i = 0; i < sizeof grows_with_banks / sizeof grows_with_banks[0]; i++)
        if (pim_configuration_integer(base, grows_with_banks[i]) % space->base_banks != 0)
            return pim_configuration_fail(base, error, grows_with_banks[i],
                                          "no multiple of the %" PRIu32
                                          " banks of a node, with which the tuner lets it grow",
                                          space->base_banks);
    return PIM_OK;
}

enum pim_status pim_tune_space_initialize(struct pim_tune_space *space, struct pim_configuration *base,
                                          const struct pim_tune_bounds *bounds, enum pim_area_reading reading,
                                          struct pim_error *error)
{
    *space = (struct pim_tune_space){.base = base, .reading = reading};
    space->base_text = pim_configuration_write(base, false);
    if (!space->base_text)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the configuration");
    return check_base(space, error) == PIM_OK ? fill(space, bounds, error) : error->status;
}

void pim_tune_space_terminate(struct pim_tune_space *space)
{
    pim_configuration_destroy(space->base);
    free(space->base_text);
    *space = (struct pim_tune_space){.base = NULL};
}

/* --- architectures --- */

uint32_t pim_tune_value(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture,
                        enum pim_tune_dimension dimension)
{
    return space->value[dimension][architecture->at[dimension]];
}

const char *pim_tune_key(enum pim_tune_dimension dimension)
{
    return dimensions[dimension].key;
}

uint64_t pim_tune_setting(const struct pim_tune_space *space,
                          const struct pim_tune_architecture *architecture, enum pim_tune_dimension dimension)
{
    const uint64_t value = pim_tune_value(space, architecture, dimension);
    return dimensions[dimension].unit > 0 ? value * dimensions[dimension].unit : value;
}

bool pim_tune_index(const struct pim_tune_space *space, enum pim_tune_dimension dimension, uint32_t value,
                    uint16_t *index)
{
    for (*index = 0; *index < space->count[dimension]; (*index)++)
        if (space->value[dimension][*index] == value)
            return true;
    return false;
}

uint32_t pim_tune_banks(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture)
{
    return PIM_TUNE_BANKS / (pim_tune_value(space, architecture, PIM_TUNE_HEIGHT) *
                             pim_tune_value(space, architecture, PIM_TUNE_WIDTH));
}

void pim_tune_random(const struct pim_tune_space *space, struct pim_random *random,
                     struct pim_tune_architecture *architecture)
{
    do {
        for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++)
            architecture->at[d] = (uint16_t)pim_random_below(random, space->count[d]);
    } while (pim_tune_banks(space, architecture) > PIM_TUNE_NODE_BANKS_MOST);
}

void pim_tune_step(const struct pim_tune_space *space, struct pim_random *random,
                   struct pim_tune_architecture *architecture)
{
    bool moved = false;
    for (int trial = 0; trial < STEP_TRIALS && !moved; trial++) { /* a space of one value has no step */
        struct pim_tune_architecture next = *architecture;
        uint64_t d = pim_random_below(random, PIM_TUNE_DIMENSIONS), size = 1 + pim_random_below(random, 2);
        bool up = pim_random_below(random, 2) == 0;
        if (up ? next.at[d] + size >= space->count[d] : next.at[d] < size)
            continue;
        next.at[d] = (uint16_t)(up ? next.at[d] + size : next.at[d] - size);
        moved = pim_tune_banks(space, &next) <= PIM_TUNE_NODE_BANKS_MOST;
        if (moved)
            *architecture = next;
    }
}

void pim_tune_features(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture,
                       double *features)
{
    for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++)
        features[d] = space->feature[d][architecture->at[d]];
}

static struct pim_area_system system_of(const struct pim_tune_space *space,
                                        const struct pim_tune_architecture *architecture)
{
    struct pim_area_system system = space->area;
    system.nodes = pim_tune_value(space, architecture, PIM_TUNE_HEIGHT) *
                   pim_tune_value(space, architecture, PIM_TUNE_WIDTH);
    system.banks = pim_tune_banks(space, architecture);
    system.pe_rows = pim_tune_value(space, architecture, PIM_TUNE_ROWS);
    system.pe_columns = pim_tune_value(space, architecture, PIM_TUNE_COLUMNS);
    system.input_bytes = (uint64_t)KIB * pim_tune_value(space, architecture, PIM_TUNE_INPUT);
    system.weight_bytes = (uint64_t)KIB * pim_tune_value(space, architecture, PIM_TUNE_WEIGHT);
    system.output_bytes = (uint64_t)KIB * pim_tune_value(space, architecture, PIM_TUNE_OUTPUT);
    system.flit_bits = space->area.flit_bits / space->base_banks * system.banks;
    return system;
}

void pim_tune_area(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture,
                   struct pim_area *area)
{
    const struct pim_area_system system = system_of(space, architecture);
    pim_area_of(space->reading, &system, area);
}

/* --- configurations --- */

static enum pim_status set_count(struct pim_configuration *configuration, const char *key, uint64_t value,
                                 struct pim_error *error)
{
    char set[128];
    (void)snprintf(set, sizeof set, "%s=%" PRIu64, key, value);
    return pim_configuration_set(configuration, set, error);
}

static enum pim_status set_node(const struct pim_tune_space *space, const struct pim_area_system *system,
                                struct pim_configuration *configuration, struct pim_error *error)
{
    uint64_t operand = PIM_TUNE_OPERAND_BITS / 8, sum = system->sum_bits / 8;
    uint64_t weights = operand * system->pe_rows * system->pe_columns;
    char text[64], set[128];
    enum pim_status status = set_count(configuration, "dram.banks", system->banks, error);
    for (size_t i = 0; status == PIM_OK && i < sizeof grows_with_banks / sizeof grows_with_banks[0]; i++) {
        uint64_t value = (uint64_t)pim_configuration_integer(space->base, grows_with_banks[i]);
        status =
            set_count(configuration, grows_with_banks[i], value / space->base_banks * system->banks, error);
    }
    if (status == PIM_OK)
        status = set_count(configuration, "pe.input_port_bytes", operand * system->pe_rows, error);
    if (status == PIM_OK) /* the widest that a configuration has: 256 x 256 PEs would take twice as much */
        status = set_count(configuration, "pe.weight_port_bytes", weights < PORT_MOST ? weights : PORT_MOST,
                           error);
    if (status == PIM_OK)
        status = set_count(configuration, "pe.output_port_bytes", 2 * sum * system->pe_columns, error);
    pim_sweep_format_real(text, sizeof text, pim_area_buffer_pj_per_bit(system));
    (void)snprintf(set, sizeof set, "energy.sram_pj_per_bit=%s", text);
    return status == PIM_OK ? pim_configuration_set(configuration, set, error) : status;
}

enum pim_status pim_tune_configure(const struct pim_tune_space *space,
                                   const struct pim_tune_architecture *architecture,
                                   struct pim_configuration **configuration, struct pim_error *error)
{
    const struct pim_area_system system = system_of(space, architecture);
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, configuration, error);
    if (status == PIM_OK)
        status = pim_configuration_read_text(*configuration, "base configuration", space->base_text,
                                             strlen(space->base_text), error);
    for (int d = 0; status == PIM_OK && d < PIM_TUNE_DIMENSIONS; d++) {
        const enum pim_tune_dimension dimension = (enum pim_tune_dimension)d;
        status = set_count(*configuration, pim_tune_key(dimension),
                           pim_tune_setting(space, architecture, dimension), error);
    }
    if (status == PIM_OK)
        status = set_node(space, &system, *configuration, error);
    if (status == PIM_OK)
        status = pim_configuration_complete(*configuration, error);
    if (status != PIM_OK) {
        pim_configuration_destroy(*configuration);
        *configuration = NULL;
    }
    return status;
}

void pim_tune_smallest(const struct pim_tune_space *space, struct pim_tune_architecture *architecture)
{
    *architecture = (struct pim_tune_architecture){{0}};
    while (pim_tune_banks(space, architecture) > PIM_TUNE_NODE_BANKS_MOST)
        architecture
            ->at[architecture->at[PIM_TUNE_HEIGHT] <= architecture->at[PIM_TUNE_WIDTH] ? PIM_TUNE_HEIGHT
                                                                                       : PIM_TUNE_WIDTH]++;
}

void pim_tune_describe(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture,
                       char *text, size_t size)
{
    uint32_t value[PIM_TUNE_DIMENSIONS];
    for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++)
        value[d] = pim_tune_value(space, architecture, (enum pim_tune_dimension)d);
    (void)snprintf(text, size,
                   "%" PRIu32 " x %" PRIu32 " nodes of %" PRIu32 " x %" PRIu32 " PEs with %" PRIu32
                   ", %" PRIu32 ", %" PRIu32 " KiB",
                   value[0], value[1], value[2], value[3], value[4], value[5], value[6]);
}
