#include "tests/unit/dram/draw.h"

#include "sim/random.h"

uint32_t below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(pim_splitmix64(state) % bound);
}

uint32_t between(uint64_t *state, uint32_t least, uint32_t most)
{
    return least + below(state, most - least + 1);
}

struct pim_burst random_burst(uint64_t *state, uint64_t capacity, uint32_t part)
{
    struct pim_burst burst = {.write = below(state, 3) == 0, .count = 1};
    burst.bytes = between(state, 1, capacity < 600 ? (uint32_t)capacity : 600);
    if (below(state, 3) != 0) {
        burst.bytes = (burst.bytes + part - 1) / part;
        burst.stride = burst.bytes + below(state, below(state, 2) ? 48 : 3000);
        burst.count = between(state, 1, 40);
    }
    while (burst.count > 1 && (uint64_t)(burst.count - 1) * burst.stride + burst.bytes > capacity)
        burst.count--;
    uint64_t length =
        burst.count > 1 ? (uint64_t)(burst.count - 1) * burst.stride + burst.bytes : burst.bytes;
    burst.address = pim_splitmix64(state) % (capacity - length + 1);
    if (below(state, 2))
        burst.address %= 100;
    return burst;
}
