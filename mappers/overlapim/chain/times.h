/*
 * The times of a mapped network: row by row, with the messages that its programs send.
 *
 * A row takes what it waits for producer by producer, moves what has come to its rows, computes, and sends.
 * Banks either compute, are read for a message, or are written: so a message takes its sender as long as its
 * rows are read, and its receiver from its first row on until the last has come and is written; one that has
 * come early is written while the layer waits for another, else just before its row. Links, and the bus
 * between stacks, carry one message after the other. A unit sends in the order of its program, each message
 * when its receiver takes it: one to a layer whose channels are not free yet holds up those behind it.
 *
 * What this leaves out: receives are taken to be posted as soon as a layer has its channels, in windows of
 * any length (rows that move nothing have two under way and post further ones behind them); layers are gone
 * through in the order of the network, so that the bus carries what is sent to earlier ones first, and what a
 * link carries to later ones does not hold up a row behind.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CHAIN_TIMES_H
#define PIMSIM_MAPPERS_OVERLAPIM_CHAIN_TIMES_H

#include "mappers/overlapim/chain/chain.h"

/* Ends of the chain and of its layers, from its messages and intakes; no further than the first layer that
 * ends at `limit` or later. */
enum pim_status pim_times_run(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *mappings, bool transformed, bool ends,
                              uint64_t limit, struct pim_chain *chain, struct pim_error *error);

#endif
