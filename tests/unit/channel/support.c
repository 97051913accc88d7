#include "tests/unit/channel/support.h"

#include "models/channel/channel_internal.h"

static uint64_t sequence(const struct pim_instruction *instruction)
{
    const char *bytes = (const char *)instruction - offsetof(struct pim_channel_slot, instruction);
    return ((const struct pim_channel_slot *)(const void *)bytes)->sequence;
}

const struct run_family run_family = {.file = "configs/hardware/fast-overlapim-hbm2.cfg",
                                      .sequence = sequence};
