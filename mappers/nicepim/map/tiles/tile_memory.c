#include "mappers/nicepim/map/tiles/tile_memory.h"

#include <stdlib.h>
#include <string.h>

/* A prime. A product that finds the place of another one takes it. */
enum { PLACES = 65521 };

struct tile_memory {
    struct known {
        struct tile_product product;
        struct nice_weights weights;
        bool fits;
        struct tiling tiling;
    } * places[PLACES]; /* as far as they are filled: most searches need few of them */
};

struct tile_memory *tile_memory_create(void)
{
    return calloc(1, sizeof(struct tile_memory));
}

void tile_memory_destroy(struct tile_memory *memory)
{
    for (size_t i = 0; memory && i < PLACES; i++)
        free(memory->places[i]);
    free(memory);
}

bool tile_recall(struct tile_memory *memory, const struct pim_estimate_hardware *hardware,
                 const struct tile_product *product, const struct nice_weights *weights,
                 struct tiling *tiling)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof *product / sizeof(uint32_t); i++) {
        uint32_t word;
        memcpy(&word, (const char *)product + i * sizeof word, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    struct known **place = &memory->places[(hash ^ weights->cycles) % PLACES], *known = *place;
    if (!known && !(*place = known = calloc(1, sizeof *known))) /* it can do without */
        return tile_choose(hardware, product, weights, tiling);
    if (known->weights.cycles != weights->cycles || known->weights.energy != weights->energy ||
        memcmp(&known->product, product, sizeof *product) != 0) {
        known->product = *product;
        known->weights = *weights;
        known->fits = tile_choose(hardware, product, weights, &known->tiling);
    }
    if (known->fits)
        *tiling = known->tiling;
    return known->fits;
}
