/* The insides of a channel, shared by the files of this folder. Rules: channel.h. */
#ifndef PIMSIM_MODELS_CHANNEL_CHANNEL_INTERNAL_H
#define PIMSIM_MODELS_CHANNEL_CHANNEL_INTERNAL_H

#include "models/channel/channel.h"
#include "models/unit/unit.h"

struct pim_channel;

/* An instruction in flight. */
struct pim_channel_slot {
    struct pim_instruction instruction;
    struct pim_channel *channel;
    uint64_t sequence; /* in executed order of the unit */
    uint64_t started;  /* cycle */
    bool done;
    bool met;      /* receive: its send has started */
    bool arrived;  /* receive: its first row is there */
    bool writing;  /* receive: and is being written */
    uint64_t last; /* receive: cycle in which the last row is there */
};

struct pim_channel_queue {
    uint64_t *sequence; /* ring */
    uint32_t head, tail;
    uint32_t in_flight; /* at work; receives: being written */
};

struct pim_channel {
    struct pim_unit unit; /* first */
    struct pim_channels *channels;
    struct pim_channel_slot *slots;
    uint32_t mask; /* of rings */
    struct pim_channel_queue queue[PIM_ENGINE_CONTROL];
    const struct pim_channel_slot **holder; /* of each bank; NULL: free */
    struct pim_channel_slot **posted;       /* receives that have started and are not complete, in order */
    uint32_t posted_count;
    uint64_t rows_free, data_free, link_in_free, link_out_free; /* cycles */
};

static inline struct pim_channel *pim_channel_at(const struct pim_channels *channels, uint32_t id)
{
    return (struct pim_channel *)channels->units.first + id;
}

static inline struct pim_channel_slot *pim_channel_slot_of(const struct pim_channel *channel,
                                                           uint64_t sequence)
{
    return &channel->slots[sequence & channel->mask];
}

#define pim_channel_fail(channel, slot, ...)                                                                 \
    pim_unit_fail_at(&(channel)->unit, (slot)->sequence, (slot)->instruction.opcode, __VA_ARGS__)

/* engines.c */
/* Looks, once all ends of this tick are known, at what can be fetched and started. */
void pim_channel_look(struct pim_channel *channel);
/* The first dependency of an instruction that is not complete, or NULL. */
const struct pim_channel_slot *pim_channel_blocker(const struct pim_channel *channel,
                                                   const struct pim_channel_slot *slot);
/* Whose banks an instruction waits for, or NULL. */
const struct pim_channel_slot *pim_channel_holder(const struct pim_channel *channel,
                                                  const struct pim_channel_slot *slot);

#endif
