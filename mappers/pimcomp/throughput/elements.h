/* Pooling, element and MOVE layers of a round: tiles of cores, and the work on them. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_ELEMENTS_H
#define PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_ELEMENTS_H

#include "mappers/pimcomp/throughput/state.h"

/* Channels [channel, channel + channels) of output pixels [pixel, pixel + pixels), or, of a pooling, of
 * `rows` rows of `pixels`, the whole width, from there on. */
struct pim_round_piece_of_map {
    uint64_t pixel;
    uint32_t pixels, rows;
    uint32_t channel, channels;
};

/* A core at work on such a layer, for a sample. */
struct pim_round_work {
    struct pim_round_schedule *schedule;
    struct pim_core_emitter *emitter;
    const struct pim_core_layer *layer;
    const struct pim_round_layer *round;
    uint32_t core, sample;
};

enum pim_status pim_round_make_tiles(struct pim_round_schedule *schedule);
/* Their ranges of channels anew, when the runs of sources are. */
enum pim_status pim_round_cut_sources(struct pim_round_schedule *schedule);
/* Does the shared area of every core suffice for its tiles? */
bool pim_round_tiles_fit(const struct pim_round_schedule *schedule);
/* Does the layer work on whole pixels? */
bool pim_round_normalizes(const struct pim_core_layer *layer);
/* Least bytes of the shared area with which a core can work on the layer. */
uint64_t pim_round_vector_least(const struct pim_round_layer *layer);
/* Passes that the longest tile of a layer takes, about. */
uint32_t pim_round_vector_passes(const struct pim_round_layer *layer);
/* Some pixels of a tile; returns the bytes of local memory that they took, 0 when nothing is left. */
uint64_t pim_round_vector_chunk(const struct pim_round_layer *layer, struct pim_round_tile *tile,
                                uint32_t sample);
/* The fused activations on a piece at `local`, and its store. */
void pim_round_vector_store(const struct pim_round_work *work, const struct pim_round_piece_of_map *piece,
                            uint64_t local);

/* Next place in the shared area of the core, of *room bytes. */
uint64_t pim_round_take_turn(const struct pim_round_work *work, uint64_t *room);

/* MOVE layers (throughput/move.c): their copies, once the maps have places; some pixels of a tile, as
 * pim_round_vector_chunk(). */
enum pim_status pim_round_prepare_moves(struct pim_round_schedule *schedule);
uint64_t pim_round_move_chunk(const struct pim_round_work *work, struct pim_round_tile *tile);

/* Pooling (throughput/pooling.c): bytes for `rows` rows of `pixels`, and the work on them with the
 * buffers from `base` on; the channels of the piece lie in one run of the source. */
uint64_t pim_round_pooling_bytes(const struct pim_core_layer *layer, uint32_t pixels, uint32_t rows,
                                 uint32_t channels);
void pim_round_pooling_piece(const struct pim_round_work *work, const struct pim_round_piece_of_map *piece,
                             uint64_t base);

#endif
