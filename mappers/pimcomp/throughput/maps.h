/* Where the maps of a high-throughput schedule lie: in global memory, and on chip. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_MAPS_H
#define PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_MAPS_H

#include "mappers/pimcomp/throughput/state.h"

/* Places in global memory, and the sources by them (throughput/places.c). */
enum pim_status pim_round_place_maps(struct pim_round_schedule *schedule);
/* Takes the maps that stay on chip out of global memory. */
enum pim_status pim_round_place_others(struct pim_round_schedule *schedule);

/* Chooses them, after a plan without any. */
enum pim_status pim_round_choose_residents(struct pim_round_schedule *schedule);
/* Then no map stays. */
void pim_round_forget_residents(struct pim_round_schedule *schedule);
/* Does the output of the layer stay on chip? */
bool pim_round_is_resident(const struct pim_round_schedule *schedule, uint32_t index);
/* Gives what a core holds addresses from `base` on. */
void pim_round_place_residents(struct pim_round_schedule *schedule, uint32_t core, uint64_t base);
/* Address of channel `channel` of pixel `pixel`, of a run in global memory; the channel is of the run. */
uint64_t pim_round_address(const struct pim_round_run *run, uint32_t sample, uint64_t pixel,
                           uint32_t channel);
/* Brings `bytes` of `count` pixels, from channel `channel` of the source on, back to back to `local`: pixels
 * `pixel`, `pixel` + apart, ... of the map, from wherever it lies. */
void pim_round_fetch(struct pim_round_schedule *schedule, uint32_t core, uint64_t local,
                     const struct pim_round_run *run, uint32_t sample, uint64_t pixel, uint32_t channel,
                     uint64_t bytes, uint64_t count, uint64_t apart);
/* The reverse for what a layer makes: `bytes` of pixels `pixel`, `pixel` + 1, ... from channel
 * `channel` on, which lie back to back at `local`. */
void pim_round_put(const struct pim_round_layer *layer, uint32_t core, uint64_t local, uint32_t sample,
                   uint64_t pixel, uint32_t channel, uint64_t bytes, uint64_t count);
/* A single round: are there slots that rounds before it would have written? And writes them. */
bool pim_round_needs_fill(const struct pim_round_schedule *schedule);
void pim_round_fill(struct pim_round_schedule *schedule);
/* Does the layer read maps of its own group from global memory? */
bool pim_round_needs_barrier(const struct pim_round_schedule *schedule, uint32_t index);

#endif
