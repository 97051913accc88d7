#include "mappers/overlapim/chain/bus.h"

#include "sim/integer.h"

#include <stdlib.h>
#include <string.h>

void pim_bus_terminate(struct pim_bus *bus)
{
    free(bus->taken);
    memset(bus, 0, sizeof *bus);
}

/* The first interval that ends at `time` or later. */
static uint64_t place_of(const struct pim_bus *bus, uint64_t time)
{
    uint64_t low = 0, high = bus->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (bus->taken[middle].to < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum pim_status make_room(struct pim_bus *bus, struct pim_error *error)
{
    if (bus->count < bus->room)
        return PIM_OK;
    const uint64_t room = bus->room > 0 ? 2 * bus->room : 64;
    struct pim_bus_taken *taken = realloc(bus->taken, room * sizeof *taken);
    if (!taken)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the bus between stacks");
    bus->taken = taken;
    bus->room = room;
    return PIM_OK;
}

enum pim_status pim_bus_serve(struct pim_bus *bus, uint64_t from, uint64_t cycles, uint64_t *end,
                              struct pim_error *error)
{
    *end = from;
    if (cycles == 0)
        return PIM_OK;
    if (make_room(bus, error) != PIM_OK)
        return error->status;
    const uint64_t first = place_of(bus, from);
    uint64_t next = first, now = from, begin = from;
    while (next < bus->count && (bus->taken[next].from <= now || bus->taken[next].from - now < cycles)) {
        const struct pim_bus_taken *taken = &bus->taken[next++];
        begin = pim_smaller(begin, taken->from);
        cycles -= taken->from > now ? taken->from - now : 0;
        now = pim_larger(now, taken->to);
    }
    now += cycles;
    /* the intervals from `first` to `next` - 1 and what was free between them are one now */
    memmove(&bus->taken[first + 1], &bus->taken[next], (bus->count - next) * sizeof *bus->taken);
    bus->count = bus->count - (next - first) + 1;
    bus->taken[first] = (struct pim_bus_taken){begin, now};
    *end = now;
    return PIM_OK;
}
