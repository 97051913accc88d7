#include "models/unit/shared_channels.h"

#include <assert.h>
#include <stdlib.h>

static struct pim_kernel *kernel_of(const struct pim_shared_channels *channels)
{
    return channels->owner.unit->units->kernel;
}

void pim_shared_channels_wake(struct pim_shared_channels *channels, uint64_t cycle)
{
    const pim_time period = channels->owner.period;
    if (!pim_unit_in_time(channels->owner.unit, 0, cycle, period) ||
        pim_event_time(&channels->event) <= cycle * period)
        return;
    (void)pim_event_cancel(kernel_of(channels), &channels->event);
    pim_event_schedule_at(kernel_of(channels), &channels->event, cycle * period, PIM_PHASE_UNIT);
}

static void served(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    struct pim_shared_channel *channel = context;
    const struct pim_shared_channels *all = channel->all;
    (void)first_command;
    if (all->closed)
        return;
    assert(channel->waiting > 0);
    channel->waiting--;
    all->owner.served(all->owner.context, request, completed);
}

void pim_shared_channels_advance(struct pim_shared_channels *channels, uint64_t cycle)
{
    for (uint32_t i = 0; i < channels->count; i++)
        if (channels->channel[i].wake <= cycle)
            pim_dram_channel_advance(channels->channel[i].channel, cycle);
}

void pim_shared_channels_sleep(struct pim_shared_channels *channels, uint64_t next)
{
    for (uint32_t i = 0; i < channels->count; i++) {
        struct pim_shared_channel *channel = &channels->channel[i];
        channel->wake = channel->waiting > 0 ? pim_dram_channel_next(channel->channel) : UINT64_MAX;
        next = channel->wake < next ? channel->wake : next;
    }
    if (next < UINT64_MAX)
        pim_shared_channels_wake(channels, next);
}

void pim_shared_channels_count(const struct pim_shared_channels *channels, uint64_t cycle,
                               struct pim_dram_counters *sum)
{
    for (uint32_t i = 0; i < channels->count; i++) {
        struct pim_dram_counters one;
        pim_dram_channel_counters(channels->channel[i].channel, cycle, &one);
        pim_dram_counters_add(sum, &one);
    }
}

void pim_shared_channels_close(struct pim_shared_channels *channels, uint64_t cycle,
                               struct pim_dram_counters *sum)
{
    channels->closed = true;
    for (uint32_t i = 0; i < channels->count; i++) {
        const struct pim_shared_channel *channel = &channels->channel[i];
        pim_dram_channel_advance(channel->channel, cycle);
        /* A run that was cut short is counted as it stands: what waits in it would go on. */
        if (channel->waiting == 0)
            pim_dram_channel_stop(channel->channel, cycle);
    }
    pim_shared_channels_count(channels, cycle, sum);
    struct pim_error error = {PIM_OK, ""};
    if (pim_dram_counters_judge(sum, &error) != PIM_OK)
        pim_unit_fail(channels->owner.unit, "%s", error.text);
}

/* --- life cycle --- */

void pim_shared_channels_destroy(struct pim_shared_channels *channels)
{
    for (uint32_t i = 0; channels && i < channels->count; i++)
        pim_dram_channel_destroy(channels->channel[i].channel);
    free(channels);
}

struct pim_shared_channels *pim_shared_channels_create(const struct pim_shared_channels_owner *owner,
                                                       const struct pim_dram_rules *rules)
{
    const uint32_t count = owner->dram->specification.organization.channels;
    struct pim_shared_channels *channels = calloc(1, sizeof *channels + count * sizeof channels->channel[0]);
    if (!channels)
        return NULL;
    channels->owner = *owner;
    channels->count = count;
    pim_event_initialize(&channels->event, owner->work, channels);
    for (uint32_t i = 0; i < count; i++) {
        struct pim_shared_channel *channel = &channels->channel[i];
        const struct pim_dram_sink sink = {channel, served, NULL};
        channel->all = channels;
        channel->wake = UINT64_MAX;
        channel->channel = pim_dram_channel_create(rules, i, &sink);
        if (!channel->channel) {
            pim_shared_channels_destroy(channels);
            return NULL;
        }
    }
    return channels;
}
