/*
 * Layers that hand over when they have ended, for plans whose units would wait for each other (mapper.c
 * proves it of every trace that is written).
 *
 * Layers are numbered in the order of the network; as many as there are places have channels of their own at
 * the same time: a block. Row by row goes what a layer with one producer takes from it in the same block;
 * that is a forest, whose leaves wait for nobody. All else is handed over at the producer's end, in one order
 * on all units: by the block of the producer, within a block before what goes to others, then by producer,
 * consumer, sender and receiver. So of all messages that are not done the first has both its units waiting
 * for it, and nothing waits in a circle.
 *
 * A unit whose layer ends before the consumer begins takes what is for that consumer when it is the message's
 * turn, in the program of the layer that it works then.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_EMIT_ENDS_H
#define PIMSIM_MAPPERS_OVERLAPIM_EMIT_ENDS_H

#include "mappers/overlapim/emit/emission.h"

/* What a channel receives before a layer's first row, and what it sends and receives behind the last one. */
enum pim_status pim_emission_begin(struct pim_emission_program *program);
enum pim_status pim_emission_end(struct pim_emission_program *program);

#endif
