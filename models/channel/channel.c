/* The array of channels: life cycle, and what they wait for. */
#include "models/channel/channel_internal.h"

#include "models/bitserial/operation.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static enum pim_status initialize_channel(struct pim_channels *channels, uint32_t id, struct pim_error *error)
{
    struct pim_channel *channel = pim_channel_at(channels, id);
    const uint32_t window = channels->configuration.window;
    if (pim_unit_initialize(&channels->units, id, window, error) != PIM_OK)
        return error->status;
    channel->channels = channels;
    channel->mask = window - 1;
    channel->slots = calloc(window, sizeof *channel->slots);
    channel->posted = calloc(window, sizeof(struct pim_channel_slot *));
    channel->holder = calloc(channels->configuration.memory.banks, sizeof(struct pim_channel_slot *));
    if (!channel->slots || !channel->posted || !channel->holder)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for channel %" PRIu32 " of %" PRIu32, id,
                        channels->units.count);
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
        channel->queue[engine].sequence = channel->unit.rings + (size_t)engine * window;
    for (uint32_t i = 0; i < window; i++)
        channel->slots[i].channel = channel;
    pim_channel_look(channel);
    return PIM_OK;
}

enum pim_status pim_channels_initialize(struct pim_channels *channels, struct pim_kernel *kernel,
                                        const struct pim_channels_configuration *configuration,
                                        const struct pim_trace *trace, struct pim_error *error)
{
    assert(configuration->window > 0 && (configuration->window & (configuration->window - 1)) == 0);
    assert(configuration->period > 0 && configuration->memory.columns % 8 == 0);
    *channels = (struct pim_channels){.configuration = *configuration};
    if (pim_units_initialize(&channels->units, &pim_channel_family, kernel, trace, sizeof(struct pim_channel),
                             error) != PIM_OK ||
        pim_channel_costs_create(&configuration->memory, &channels->costs, error) != PIM_OK)
        return error->status;
    channels->looking = calloc((size_t)channels->units.count + 1, sizeof *channels->looking);
    if (!channels->looking)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " channels",
                        channels->units.count);
    channels->units.window = configuration->window;
    channels->units.period = configuration->period;
    for (uint32_t id = 0; id < channels->units.count; id++)
        if (initialize_channel(channels, id, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

static void terminate(struct pim_units *units)
{
    struct pim_channels *channels = (struct pim_channels *)units;
    for (uint32_t id = 0; units->first && id < units->count; id++) {
        struct pim_channel *channel = pim_channel_at(channels, id);
        free(channel->slots);
        free(channel->posted);
        free(channel->holder);
    }
    free(channels->looking);
    pim_channel_costs_destroy(channels->costs);
    pim_units_terminate(units);
}

/* --- deadlock report --- */

static void report_head(const struct pim_channel *channel, unsigned engine, struct pim_idle_report *report)
{
    const struct pim_channel_queue *queue = &channel->queue[engine];
    if (queue->head == queue->tail)
        return;
    const struct pim_channel_slot *slot =
        pim_channel_slot_of(channel, queue->sequence[queue->head & channel->mask]);
    const struct pim_channel_slot *other = pim_channel_blocker(channel, slot);
    char cause[128] = "its engine";
    if (!other)
        other = pim_channel_holder(channel, slot);
    if (other) {
        (void)snprintf(cause, sizeof cause, "instruction %" PRIu64 " (%s)", other->sequence,
                       pim_opcode_name(other->instruction.opcode));
    } else if (engine == PIM_ENGINE_SEND) {
        uint32_t peer = slot->instruction.u.row_message.peer;
        (void)snprintf(cause, sizeof cause, "channel %" PRIu32 " to reach its receive%s", peer,
                       pim_units_at(channel->unit.units, peer)->finished ? ": that channel has finished"
                                                                         : "");
    }
    pim_unit_report_head(&channel->unit, slot->sequence, &slot->instruction, cause, report);
}

static void describe(struct pim_unit *unit, struct pim_idle_report *report)
{
    const struct pim_channel *channel = (struct pim_channel *)unit;
    for (uint32_t i = 0; i < channel->posted_count; i++) {
        const struct pim_channel_slot *slot = channel->posted[i];
        uint32_t peer = slot->instruction.u.row_message.peer;
        if (!slot->met)
            pim_idle_report_line(report,
                                 "channel %" PRIu32 ", instruction %" PRIu64
                                 ": row_receive waits for channel %" PRIu32 " to send tag %" PRIu32 "%s",
                                 unit->id, slot->sequence, peer, slot->instruction.u.row_message.tag,
                                 pim_units_at(unit->units, peer)->finished ? ": that channel has finished"
                                                                           : "");
    }
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
        report_head(channel, engine, report);
}

static void no_packet(void *context, uint64_t packet, uint32_t source)
{
    (void)context, (void)packet, (void)source;
    assert(false && "channels have links of their own");
}

static void no_delivery(void *context, const struct pim_noc_delivery *delivery)
{
    (void)context, (void)delivery;
    assert(false && "channels have links of their own");
}

const struct pim_unit_family pim_channel_family = {
    .noun = "channel",
    .noc = {.injected = no_packet, .delivered = no_delivery},
    .describe = describe,
    .terminate = terminate,
};
