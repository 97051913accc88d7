/*
 * Channels of a DRAM standard with their controllers (models/dram/channel) that clients share: nodes of a
 * shared memory, chips before a global memory.
 *
 *  1. A client hands over one access in a cycle of the memory clock; a channel accepts one in a cycle, behind
 *     the commands of that cycle. An access whose queue is full waits.
 *  2. Clients have their turns round robin: whoever had an access accepted goes behind the others.
 *
 * A channel is worked on only while an access waits in it.
 */
#ifndef PIMSIM_MODELS_UNIT_SHARED_CHANNELS_H
#define PIMSIM_MODELS_UNIT_SHARED_CHANNELS_H

#include "models/dram/memory.h"
#include "models/dram/standard/schema.h"
#include "models/unit/unit.h"
#include "sim/integer.h"

/* What became of the turn of a client. */
enum pim_handed {
    PIM_HANDED_NOTHING, /* it has none, or the queue is full: a command comes before the next attempt */
    PIM_HANDED_LATER,   /* not in this cycle */
    PIM_HANDED_LAST,    /* accepted, and it has no further access for now */
    PIM_HANDED_ONE      /* accepted */
};

struct pim_shared_channels_owner {
    struct pim_unit *unit; /* that fails when times cannot be counted */
    const struct pim_dram_configuration *dram;
    pim_time period; /* of the memory clock */
    uint32_t clients;
    void *context;
    pim_handler *work; /* in phase UNIT of a cycle; its context are the channels: pim_shared_channels_work */
    /* The data of an access are complete with the end of cycle `completed`. */
    void (*served)(void *context, uint64_t request, uint64_t completed);
};

struct pim_shared_channel {
    struct pim_shared_channels *all;
    struct pim_dram_channel *channel;
    uint64_t wake;     /* cycle of its next command; UINT64_MAX while nothing waits */
    uint64_t accepted; /* cycle of the last access, and 1 */
    uint32_t waiting;  /* accesses whose column command has not issued */
};

struct pim_shared_channels {
    struct pim_shared_channels_owner owner;
    struct pim_event event;
    uint32_t turn; /* client that is asked first */
    bool closed;   /* the run is over: nothing is told any more */
    uint32_t count;
    struct pim_shared_channel channel[];
};

/* The rules are those of the owner's standard, and outlive the channels. NULL: memory is out. */
struct pim_shared_channels *pim_shared_channels_create(const struct pim_shared_channels_owner *owner,
                                                       const struct pim_dram_rules *rules);
void pim_shared_channels_destroy(struct pim_shared_channels *channels);

/* The cycle of the memory clock, rounded up to the next edge. */
static inline uint64_t pim_shared_channels_cycle(const struct pim_shared_channels *channels)
{
    return pim_divide_up(pim_kernel_now(channels->owner.unit->units->kernel), channels->owner.period);
}

/* Clients are asked in `cycle`, unless they are asked earlier. */
void pim_shared_channels_wake(struct pim_shared_channels *channels, uint64_t cycle);

/* The commands of this cycle, before any access; and what is left to do behind all of them. `next`: the next
 * cycle in which a client is asked, or UINT64_MAX. */
void pim_shared_channels_advance(struct pim_shared_channels *channels, uint64_t cycle);
void pim_shared_channels_sleep(struct pim_shared_channels *channels, uint64_t next);

/* Offers the access at `address`; *handed is the client's: the cycle of its last access, and 1. What a
 * waiting write answers is served at once, before this returns. */
static inline enum pim_handed pim_shared_channels_offer(struct pim_shared_channels *channels, uint64_t cycle,
                                                        uint64_t *handed, uint64_t address, bool write,
                                                        uint64_t request)
{
    if (*handed == cycle + 1) /* a cycle may be worked on in parts */
        return PIM_HANDED_LATER;
    const struct pim_dram_location location = pim_dram_locate(&channels->owner.dram->mapping, address);
    struct pim_shared_channel *channel = &channels->channel[location.channel];
    if (channel->accepted == cycle + 1)
        return PIM_HANDED_LATER;
    channel->waiting++; /* before, because it may be served at once */
    if (!pim_dram_channel_offer(channel->channel, cycle, &location, write, request)) {
        channel->waiting--;
        return PIM_HANDED_NOTHING;
    }
    channel->accepted = *handed = cycle + 1;
    return PIM_HANDED_ONE;
}

/* A cycle: its commands, then one access of each client. `hand_over`, expanded here, hands over the next
 * access of a client by pim_shared_channels_offer. */
static PIM_ALWAYS_INLINE void
pim_shared_channels_work(struct pim_shared_channels *channels,
                         enum pim_handed (*hand_over)(void *context, uint32_t client, uint64_t cycle))
{
    const uint32_t clients = channels->owner.clients, turn = channels->turn;
    const uint64_t cycle = pim_shared_channels_cycle(channels);
    uint64_t next = UINT64_MAX;
    pim_shared_channels_advance(channels, cycle);
    for (uint32_t i = 0; i < clients; i++) {
        const uint32_t client = (turn + i) % clients;
        const enum pim_handed handed = hand_over(channels->owner.context, client, cycle);
        if (handed == PIM_HANDED_ONE || handed == PIM_HANDED_LATER)
            next = cycle + 1;
        if (handed >= PIM_HANDED_LAST)
            channels->turn = (client + 1) % clients;
    }
    pim_shared_channels_sleep(channels, next);
}

/* Adds what all channels have counted up to `cycle`. */
void pim_shared_channels_count(const struct pim_shared_channels *channels, uint64_t cycle,
                               struct pim_dram_counters *sum);

/* The run is over: executes all channels up to `cycle`, and where nothing waits the maintenance that was
 * asked for by then, postponed refreshes too; tells nothing of it, and adds what they counted. */
void pim_shared_channels_close(struct pim_shared_channels *channels, uint64_t cycle,
                               struct pim_dram_counters *sum);

#endif
