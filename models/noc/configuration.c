/* Defaults, checks, and what follows from a configuration alone: distances and zero-load latencies. */
#include "models/noc/general/match.h"
#include "models/noc/general/setup.h"
#include "sim/integer.h"

#include <assert.h>
#include <string.h>

void pim_noc_configuration_initialize(struct pim_noc_configuration *configuration)
{
    *configuration = (struct pim_noc_configuration){
        .width = 8,
        .height = 8,
        .virtual_channels = 16,
        .buffer_flits = 8,
        .routing_delay = 1,
        .vc_allocation_delay = 1,
        .switch_allocation_delay = 1,
        .switch_traversal_delay = 1,
        .link_latency = 1,
        .vc_allocator = PIM_NOC_ISLIP,
        .switch_allocator = PIM_NOC_ISLIP,
        .allocator_iterations = 1,
        .input_speedup = 1,
        .flit_bits = 64,
        .fidelity = PIM_NOC_FLIT,
        .concentration = 1,
        .depth = 1,
        .radix = 2,
        .levels = 2,
        .global_latency = 100,
        .vc_arbiter = PIM_NOC_SAME_ARBITER,
        .switch_arbiter = PIM_NOC_SAME_ARBITER,
        .output_speedup = 1,
    };
}

uint32_t pim_noc_columns(const struct pim_noc_configuration *configuration)
{
    return configuration->width * configuration->concentration;
}

uint32_t pim_noc_nodes(const struct pim_noc_configuration *configuration)
{
    return pim_noc_columns(configuration) * configuration->height;
}

bool pim_noc_slower_than_flits(struct pim_noc_bits bits, uint32_t flit_bits)
{
    return bits.numerator != 0 && (uint64_t)flit_bits * bits.denominator > bits.numerator;
}

/* The first key that a plain mesh does not know, or NULL. */
static const char *beyond_plain(const struct pim_noc_configuration *configuration)
{
    const struct {
        const char *key;
        bool needed;
    } reasons[] = {
        {"topology", configuration->topology != PIM_NOC_MESH},
        {"concentration", configuration->concentration != 1},
        {"depth", configuration->depth != 1},
        {"routing", configuration->routing != PIM_NOC_XY},
        {"links", configuration->link_list[0] != '\0'},
        {"express_links", configuration->express_list[0] != '\0'},
        {"link_bits_per_cycle",
         pim_noc_slower_than_flits(configuration->link_bits, configuration->flit_bits)},
        {"terminal_bits_per_cycle",
         pim_noc_slower_than_flits(configuration->terminal_bits, configuration->flit_bits)},
        {"vc_allocator", configuration->vc_allocator > PIM_NOC_SEPARABLE_INPUT_FIRST},
        {"switch_allocator", configuration->switch_allocator > PIM_NOC_SEPARABLE_INPUT_FIRST},
        {"arbiter", configuration->arbiter != PIM_NOC_ROUND_ROBIN},
        {"vc_arbiter", configuration->vc_arbiter != PIM_NOC_SAME_ARBITER},
        {"switch_arbiter", configuration->switch_arbiter != PIM_NOC_SAME_ARBITER},
        {"priority", configuration->priority != PIM_NOC_NO_PRIORITY},
        {"output_speedup", configuration->output_speedup != 1},
        {"classes", configuration->classes > 1 || configuration->message_classes},
        {"general", configuration->general},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].needed)
            return reasons[i].key;
    return NULL;
}

/* Whether a packet has one way, known when it is sent, and grid links alone. */
static bool has_one_way(const struct pim_noc_configuration *configuration)
{
    switch (configuration->routing) {
    case PIM_NOC_XY:
    case PIM_NOC_YX:
    case PIM_NOC_O1TURN:
    case PIM_NOC_VALIANT:
    case PIM_NOC_ROMM:
    case PIM_NOC_TABLE:
        return configuration->topology <= PIM_NOC_TORUS;
    case PIM_NOC_WEST_FIRST:
    case PIM_NOC_ODD_EVEN:
    case PIM_NOC_MINIMAL_ADAPTIVE:
    case PIM_NOC_MINIMAL:
    case PIM_NOC_D_MOD_K:
    case PIM_NOC_ROUTINGS:
    default:
        return false;
    }
}

bool pim_noc_configuration_is_routed(const struct pim_noc_configuration *configuration)
{
    bool plain = configuration->topology == PIM_NOC_MESH && configuration->routing == PIM_NOC_XY &&
                 !configuration->message_classes;
    if (plain || configuration->fidelity != PIM_NOC_FLIT || configuration->may_deadlock ||
        !has_one_way(configuration))
        return false;
    struct pim_noc_configuration straight = *configuration;
    straight.topology = PIM_NOC_MESH;
    straight.routing = PIM_NOC_XY;
    if (straight.message_classes && !straight.urgent_classes) { /* they are virtual channels, no more */
        straight.message_classes = false;
        straight.classes = 0;
    }
    return beyond_plain(&straight) == NULL;
}

bool pim_noc_configuration_is_general(const struct pim_noc_configuration *configuration)
{
    return configuration->fidelity == PIM_NOC_FLIT && beyond_plain(configuration) != NULL &&
           !pim_noc_configuration_is_routed(configuration);
}

#define ALLOCATOR_NAMES                                                                                      \
    "islip, separable_input_first, separable_output_first, wavefront and round_robin_wavefront"
#define ARBITER_NAMES "round_robin, matrix, fixed_priority, age and workload_balance"

static enum pim_status check_ranges(const struct pim_noc_configuration *configuration,
                                    struct pim_error *error)
{
    const struct {
        const char *name;
        uint32_t value, minimum, maximum;
    } ranges[] = {
        {"width", configuration->width, 1, PIM_NOC_SIDE_LIMIT},
        {"height", configuration->height, 1, PIM_NOC_SIDE_LIMIT},
        {"virtual_channels", configuration->virtual_channels, 1, PIM_NOC_VC_LIMIT},
        {"buffer_flits", configuration->buffer_flits, 1, PIM_NOC_BUFFER_LIMIT},
        {"routing_delay", configuration->routing_delay, 0, PIM_NOC_DELAY_LIMIT},
        {"vc_allocation_delay", configuration->vc_allocation_delay, 1, PIM_NOC_DELAY_LIMIT},
        {"switch_allocation_delay", configuration->switch_allocation_delay, 1, PIM_NOC_DELAY_LIMIT},
        {"switch_traversal_delay", configuration->switch_traversal_delay, 1, PIM_NOC_DELAY_LIMIT},
        {"link_latency", configuration->link_latency, 1, PIM_NOC_DELAY_LIMIT},
        {"credit_delay", configuration->credit_delay, 0, PIM_NOC_DELAY_LIMIT},
        {"allocator_iterations", configuration->allocator_iterations, 1, PIM_NOC_ITERATION_LIMIT},
        {"input_speedup", configuration->input_speedup, 1, PIM_NOC_SPEEDUP_LIMIT},
        {"flit_bits", configuration->flit_bits, 1, 65536},
        {"concentration", configuration->concentration, 1, PIM_NOC_CONCENTRATION_LIMIT},
        {"depth", configuration->depth, 1, PIM_NOC_SIDE_LIMIT},
        {"radix", configuration->radix, 2, PIM_NOC_RADIX_LIMIT},
        {"levels", configuration->levels, 1, PIM_NOC_LEVEL_LIMIT},
        {"global_link_latency", configuration->global_latency, 1, PIM_NOC_LINK_LATENCY_LIMIT},
        {"output_speedup", configuration->output_speedup, 1, PIM_NOC_SPEEDUP_LIMIT},
        {"output_buffer_flits", configuration->output_buffer_flits, 0, PIM_NOC_BUFFER_LIMIT},
        {"vc_allocator_iterations", configuration->vc_iterations, 0, PIM_NOC_ITERATION_LIMIT},
        {"switch_allocator_iterations", configuration->switch_iterations, 0, PIM_NOC_ITERATION_LIMIT},
        {"classes", configuration->classes, 0, PIM_NOC_CLASS_LIMIT},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].value < ranges[i].minimum || ranges[i].value > ranges[i].maximum)
            return pim_fail(error, PIM_BAD_INPUT, "noc.%s is %u: allowed are %u to %u", ranges[i].name,
                            ranges[i].value, ranges[i].minimum, ranges[i].maximum);
    return PIM_OK;
}

static enum pim_status check_choices(const struct pim_noc_configuration *configuration,
                                     struct pim_error *error)
{
    const struct {
        const char *name, *allowed;
        unsigned value, choices;
    } choices[] = {
        {"vc_allocator", ALLOCATOR_NAMES, configuration->vc_allocator, PIM_NOC_ALLOCATORS},
        {"switch_allocator", ALLOCATOR_NAMES, configuration->switch_allocator, PIM_NOC_ALLOCATORS},
        {"fidelity", "ideal, analytic and flit", configuration->fidelity, PIM_NOC_FIDELITIES},
        {"topology",
         "mesh, torus, fat_tree, quad_tree, butterfly, flattened_butterfly, concentrated_mesh, dragonfly and "
         "file",
         configuration->topology, PIM_NOC_TOPOLOGIES},
        {"routing",
         "xy, yx, o1turn, west_first, odd_even, minimal_adaptive, valiant, romm, table, minimal and d_mod_k",
         configuration->routing, PIM_NOC_ROUTINGS},
        {"arbiter", ARBITER_NAMES, configuration->arbiter, PIM_NOC_TREE},
        {"vc_arbiter", ARBITER_NAMES ", tree", configuration->vc_arbiter, PIM_NOC_ARBITERS + 1},
        {"switch_arbiter", ARBITER_NAMES ", tree", configuration->switch_arbiter, PIM_NOC_ARBITERS + 1},
        {"priority", "none, age, network_age, local_age, hop_count, queue_length and sequence",
         configuration->priority, PIM_NOC_PRIORITIES},
        {"torus_partition", "dateline, coordinate and balanced", configuration->partition,
         PIM_NOC_PARTITIONS},
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (choices[i].value >= choices[i].choices)
            return pim_fail(error, PIM_BAD_INPUT, "noc.%s is unknown: allowed are %s", choices[i].name,
                            choices[i].allowed);
    return PIM_OK;
}

static enum pim_status check_classes(const struct pim_noc_configuration *configuration,
                                     struct pim_error *error)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < configuration->classes; i++) {
        if (configuration->class_channels[i] == 0)
            return pim_fail(error, PIM_BAD_INPUT,
                            "noc.classes: class %u has 0 virtual channels: it must have at least 1", i);
        sum += configuration->class_channels[i];
    }
    if (configuration->message_classes) /* the routing checks their ranges */
        return PIM_OK;
    if (configuration->classes && sum != configuration->virtual_channels)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.classes: the classes have %llu virtual channels together: they must have all of "
                        "noc.virtual_channels, which is %u",
                        (unsigned long long)sum, configuration->virtual_channels);
    return PIM_OK;
}

/* The estimates know links narrower than a flit too. */
static bool only_narrow_links(const struct pim_noc_configuration *configuration)
{
    struct pim_noc_configuration wide = *configuration;
    wide.link_bits.numerator = wide.terminal_bits.numerator = 0;
    return beyond_plain(&wide) == NULL;
}

/* The arbiters inside one allocator, over `ports` x `each` candidates at most. */
static enum pim_status check_own_arbiter(const char *which, enum pim_noc_arbiter arbiter, uint32_t groups,
                                         enum pim_noc_allocator allocator, struct pim_error *error)
{
    bool separable =
        allocator == PIM_NOC_SEPARABLE_INPUT_FIRST || allocator == PIM_NOC_SEPARABLE_OUTPUT_FIRST;
    if (arbiter != PIM_NOC_SAME_ARBITER && !separable)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "noc.%s_arbiter: only separable_input_first and separable_output_first have arbiters: "
            "noc.%s_allocator must be one of them, or noc.%s_arbiter \"same\"",
            which, which, which);
    if ((arbiter == PIM_NOC_TREE) != (groups > 0))
        return pim_fail(
            error, PIM_BAD_INPUT,
            "noc.%s_arbiter_groups is %u: it must be 1 or more with noc.%s_arbiter = \"tree\", and "
            "0 with all others",
            which, groups, which);
    return PIM_OK;
}

static enum pim_status check_arbiters(const struct pim_noc_configuration *configuration,
                                      struct pim_error *error)
{
    if (configuration->arbiter != PIM_NOC_ROUND_ROBIN &&
        (pim_noc_general_is_wavefront(configuration->vc_allocator) ||
         pim_noc_general_is_wavefront(configuration->switch_allocator)))
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.arbiter: the allocator wavefront has no arbiters: noc.arbiter must be "
                        "round_robin, or noc.vc_allocator and noc.switch_allocator another one");
    if (check_own_arbiter("vc", configuration->vc_arbiter, configuration->vc_groups,
                          configuration->vc_allocator, error) != PIM_OK ||
        check_own_arbiter("switch", configuration->switch_arbiter, configuration->switch_groups,
                          configuration->switch_allocator, error) != PIM_OK)
        return error->status;
    if (configuration->output_buffer_flits &&
        (configuration->output_speedup == 1 || configuration->switch_traversal_delay != 1 ||
         pim_noc_slower_than_flits(configuration->link_bits, configuration->flit_bits) ||
         pim_noc_slower_than_flits(configuration->terminal_bits, configuration->flit_bits)))
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.output_buffer_flits is %u: it needs noc.output_speedup above 1, "
                        "noc.switch_traversal_delay 1 and links of a flit per cycle",
                        configuration->output_buffer_flits);
    return PIM_OK;
}

enum pim_status pim_noc_configuration_check_fields(const struct pim_noc_configuration *configuration,
                                                   struct pim_error *error)
{
    if (check_ranges(configuration, error) != PIM_OK || check_choices(configuration, error) != PIM_OK ||
        check_classes(configuration, error) != PIM_OK)
        return error->status;
    if (configuration->virtual_channels % configuration->input_speedup != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.input_speedup is %u: it must divide noc.virtual_channels, which is %u",
                        configuration->input_speedup, configuration->virtual_channels);
    if (configuration->speculative &&
        configuration->vc_allocation_delay > configuration->switch_allocation_delay)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.vc_allocation_delay is %u: with noc.speculative it must not exceed "
                        "noc.switch_allocation_delay, which "
                        "is %u",
                        configuration->vc_allocation_delay, configuration->switch_allocation_delay);
    if (check_arbiters(configuration, error) != PIM_OK)
        return error->status;
    if (configuration->routing == PIM_NOC_TABLE && configuration->route_table[0] == '\0')
        return pim_fail(error, PIM_BAD_INPUT, "noc.routing is table: noc.route_table must name its file");
    if (configuration->topology == PIM_NOC_FILE && configuration->network_file[0] == '\0')
        return pim_fail(error, PIM_BAD_INPUT, "noc.topology is file: noc.network_file must name the file");
    if (configuration->topology != PIM_NOC_FILE && configuration->network_file[0] != '\0')
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.network_file goes with noc.topology = \"file\", and with no other");
    if (pim_noc_nodes(configuration) > PIM_NOC_NODE_LIMIT)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.concentration is %u: %u x %u routers have %u nodes, allowed are %u",
                        configuration->concentration, configuration->width, configuration->height,
                        pim_noc_nodes(configuration), (unsigned)PIM_NOC_NODE_LIMIT);
    const char *key = beyond_plain(configuration);
    if (configuration->fidelity != PIM_NOC_FLIT && key && !only_narrow_links(configuration))
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.fidelity is %s, which knows plain meshes alone: noc.%s asks for more; use flit",
                        configuration->fidelity == PIM_NOC_IDEAL ? "ideal" : "analytic", key);
    return PIM_OK;
}

enum pim_status pim_noc_configuration_check(const struct pim_noc_configuration *configuration,
                                            struct pim_error *error)
{
    if (pim_noc_configuration_check_fields(configuration, error) != PIM_OK)
        return error->status;
    if (!pim_noc_configuration_is_general(configuration) && !pim_noc_configuration_is_routed(configuration))
        return PIM_OK;
    struct pim_noc_topology *topology;
    struct pim_noc_routing *routing;
    enum pim_status status = pim_noc_general_plan(configuration, &topology, &routing, error);
    pim_noc_routing_destroy(routing);
    pim_noc_topology_destroy(topology);
    return status;
}

/* Between two columns, or rows, of `count`. */
static uint32_t grid_distance(const struct pim_noc_configuration *configuration, uint32_t a, uint32_t b,
                              uint32_t count)
{
    uint32_t straight = pim_difference(a, b);
    return configuration->topology == PIM_NOC_TORUS && count - straight < straight ? count - straight
                                                                                   : straight;
}

uint32_t pim_noc_hops(const struct pim_noc_configuration *configuration, uint32_t source,
                      uint32_t destination)
{
    uint32_t width = configuration->width, depth = configuration->depth, rows = configuration->height / depth;
    source /= configuration->concentration;
    destination /= configuration->concentration;
    uint32_t from = source / width, to = destination / width;
    return 1 + grid_distance(configuration, source % width, destination % width, width) +
           grid_distance(configuration, from % rows, to % rows, rows) +
           grid_distance(configuration, from / rows, to / rows, depth);
}

uint32_t pim_noc_router_delay(const struct pim_noc_configuration *configuration)
{
    uint32_t vc = configuration->vc_allocation_delay, grant = configuration->switch_allocation_delay;
    uint32_t allocation = !configuration->speculative ? vc + grant : vc > grant ? vc : grant;
    return configuration->routing_delay + allocation + configuration->switch_traversal_delay;
}

uint64_t pim_noc_passage(const struct pim_noc_configuration *configuration, struct pim_noc_bits bits,
                         uint64_t flits)
{
    if (!pim_noc_slower_than_flits(bits, configuration->flit_bits))
        return flits;
    return pim_scale_up(flits, (uint64_t)configuration->flit_bits * bits.denominator, bits.numerator);
}

uint64_t pim_noc_credit_loop(const struct pim_noc_configuration *configuration)
{
    return (uint64_t)configuration->switch_allocation_delay + configuration->switch_traversal_delay +
           2 * (uint64_t)configuration->link_latency + 1 + configuration->credit_delay;
}

/* What the last link takes, or a slower one before it less what the head loses in the last router and the
 * tail does not. */
uint64_t pim_noc_tail_distance(const struct pim_noc_configuration *configuration, uint32_t hops,
                               uint64_t flits)
{
    struct pim_noc_bits link = configuration->link_bits, terminal = configuration->terminal_bits;
    uint64_t lost = pim_noc_router_delay(configuration) - configuration->switch_allocation_delay -
                    configuration->switch_traversal_delay;
    uint64_t last =
        pim_noc_passage(configuration, terminal, flits) - pim_noc_passage(configuration, terminal, 1);
    uint64_t before = pim_noc_passage(configuration, link, flits) - pim_noc_passage(configuration, link, 1);
    return hops > 1 && before > last + lost ? before - lost : last;
}

uint64_t pim_noc_zero_load_latency(const struct pim_noc_configuration *configuration, uint32_t source,
                                   uint32_t destination, uint64_t flits)
{
    uint32_t hops = pim_noc_hops(configuration, source, destination);
    uint64_t delay = pim_noc_router_delay(configuration);
    uint64_t link = pim_noc_passage(configuration, configuration->link_bits, 1);
    uint64_t terminal = pim_noc_passage(configuration, configuration->terminal_bits, 1);
    return NOC_INJECTION + (uint64_t)(hops - 1) * (delay + configuration->link_latency + link - 1) + delay +
           1 + 2 * (terminal - 1) + pim_noc_tail_distance(configuration, hops, flits);
}

/* The neighbour of `at` in a row or column of `count`, or UINT32_MAX. */
static uint32_t step(const struct pim_noc_configuration *configuration, uint32_t at, uint32_t count, bool up)
{
    if (up ? at + 1 < count : at > 0)
        return up ? at + 1 : at - 1;
    bool wraps = configuration->topology == PIM_NOC_TORUS && count > 2;
    return !wraps ? UINT32_MAX : up ? 0 : count - 1;
}

uint32_t pim_noc_neighbour(const struct pim_noc_configuration *configuration, uint32_t node,
                           enum pim_noc_direction direction)
{
    uint32_t width = configuration->width, x = node % width, y = node / width, rows, layer;
    if (configuration->topology > PIM_NOC_TORUS && direction < PIM_NOC_EJECT)
        return UINT32_MAX;
    switch (direction) {
    case PIM_NOC_EAST:
    case PIM_NOC_WEST:
        x = step(configuration, x, width, direction == PIM_NOC_EAST);
        return x == UINT32_MAX ? UINT32_MAX : x + y * width;
    case PIM_NOC_SOUTH:
    case PIM_NOC_NORTH:
        rows = configuration->height / configuration->depth;
        layer = y / rows;
        y = step(configuration, y % rows, rows, direction == PIM_NOC_SOUTH);
        return y == UINT32_MAX ? UINT32_MAX : x + (y + layer * rows) * width;
    case PIM_NOC_EJECT:
    case PIM_NOC_INJECT:
        return node;
    case PIM_NOC_EXPRESS:
        break;
    }
    return UINT32_MAX;
}
