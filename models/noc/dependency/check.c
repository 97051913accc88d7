/* The verdict on a routing in words, and the smaller network that stands for a large one. */
#include "models/noc/dependency/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_CHANNELS = 24, SMALL_SIDE = 12 };

struct text {
    char bytes[1600];
    size_t used;
};

PIM_PRINTF(2, 3) static void append(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->bytes + text->used, sizeof text->bytes - text->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        text->used += (size_t)length < sizeof text->bytes - text->used ? (size_t)length
                                                                       : sizeof text->bytes - text->used - 1;
}

static void append_channel(struct text *text, const struct pim_noc_topology *topology,
                           struct pim_noc_channel channel)
{
    const struct pim_noc_link *link = &topology->link[channel.link];
    append(text, "link %" PRIu32 "->%" PRIu32 " vc %" PRIu32, link->from, link->to, channel.vc);
}

/* What a user can change. */
static void append_remedy(struct text *text, const struct pim_noc_routing *routing)
{
    bool two =
        routing->kind == PIM_NOC_VALIANT || routing->kind == PIM_NOC_ROMM || routing->kind == PIM_NOC_O1TURN;
    uint32_t needed = routing->kind == PIM_NOC_MINIMAL_ADAPTIVE ? routing->datelines + 1
                      : two                                     ? 2 * routing->datelines
                                                                : routing->datelines;
    uint32_t least = routing->class[0].count;
    for (uint32_t c = 1; c < routing->classes; c++)
        least = routing->class[c].count < least ? routing->class[c].count : least;
    if (routing->topology->way)
        append(text, "more virtual channels do not help: noc.may_deadlock = true runs it nevertheless");
    else if (routing->kind == PIM_NOC_TABLE)
        append(text, "change the table so that no such cycle is left");
    else if (least < needed)
        append(text, "%s needs %" PRIu32 " virtual channels%s on this topology",
               pim_noc_routing_name((unsigned)routing->kind), needed,
               routing->classes > 1 ? " in every class of traffic" : "");
    else
        append(text, "give the classes of traffic disjoint virtual channels");
}

static enum pim_status refuse(const struct pim_noc_routing *routing, const struct pim_noc_channel *cycle,
                              uint32_t count, const struct pim_noc_topology *asked, struct pim_error *error)
{
    const struct pim_noc_topology *topology = routing->topology;
    struct text text = {.used = 0};
    uint32_t shown = count < SHOWN_CHANNELS ? count : SHOWN_CHANNELS;
    for (uint32_t i = 0; i < shown; i++) {
        append_channel(&text, topology, cycle[i]);
        append(&text, " waits for ");
    }
    if (shown < count)
        append(&text, "... (%" PRIu32 " more) waits for ", count - shown);
    append_channel(&text, topology, cycle[0]);
    append(&text, "; ");
    append_remedy(&text, routing);
    char stand_in[64] = "";
    if (asked != topology)
        (void)snprintf(stand_in, sizeof stand_in, ", as on one of %" PRIu32 " x %" PRIu32, topology->width,
                       topology->height);
    return pim_fail(error, PIM_BAD_INPUT,
                    "routing %s can deadlock on a %" PRIu32 " x %" PRIu32 " %s with %" PRIu32
                    " virtual channel%s%s: %s",
                    pim_noc_routing_name((unsigned)routing->kind), asked->width, asked->height,
                    pim_noc_topology_name((unsigned)asked->kind), routing->virtual_channels,
                    routing->virtual_channels == 1 ? "" : "s", stand_in, text.bytes);
}

/* `asked`: the network that the user asked about; the routing's own, or one that it stands for. */
static enum pim_status judge(const struct pim_noc_routing *routing, const struct pim_noc_topology *asked,
                             struct pim_error *error)
{
    struct pim_noc_channel cycle[SHOWN_CHANNELS];
    uint32_t count;
    if (pim_noc_dependency_cycle(routing, cycle, SHOWN_CHANNELS, &count, error) != PIM_OK)
        return error->status;
    return count ? refuse(routing, cycle, count, asked, error) : PIM_OK;
}

/* A side of the network that stands for a larger one: as odd or even as it is. */
static uint32_t small_side(uint32_t side, uint32_t most)
{
    return side <= most ? side : most + side % 2;
}

/* The same routing on a smaller network without express links: the same turns, rings and virtual channels. */
static enum pim_status judge_small(const struct pim_noc_routing *routing, struct pim_error *error)
{
    struct pim_noc_topology_configuration shape;
    pim_noc_topology_configuration_initialize(&shape);
    shape.kind = routing->topology->kind;
    const struct pim_noc_topology *large = routing->topology;
    uint32_t most = large->dimensions > 2 ? SMALL_SIDE / 3 : SMALL_SIDE;
    shape.width = small_side(large->side[0], most);
    shape.depth = large->dimensions > 2 ? small_side(large->side[2], most) : 1;
    shape.height = small_side(large->side[1], most) * shape.depth;
    struct pim_noc_routing_configuration configuration = {.kind = routing->kind,
                                                          .virtual_channels = routing->virtual_channels,
                                                          .classes = routing->classes,
                                                          .seed = routing->seed,
                                                          .partition = routing->partition};
    memcpy(configuration.class, routing->class, sizeof configuration.class);
    struct pim_noc_topology *topology;
    struct pim_noc_routing *small;
    if (pim_noc_topology_create(&shape, &topology, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_noc_routing_create(&configuration, topology, &small, error);
    if (status == PIM_OK) {
        status = judge(small, routing->topology, error);
        pim_noc_routing_destroy(small);
    }
    pim_noc_topology_destroy(topology);
    return status;
}

enum pim_status pim_noc_dependency_check(const struct pim_noc_routing *routing, struct pim_error *error)
{
    bool large = routing->topology->routers > PIM_NOC_DEPENDENCY_ROUTERS && routing->kind != PIM_NOC_TABLE &&
                 !routing->topology->way;
    return large ? judge_small(routing, error) : judge(routing, routing->topology, error);
}
