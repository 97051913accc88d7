/*
 * How DDAM cuts a network into parts that work as a pipeline, each on a region of its own (Wang et al., ACM
 * TODAES 28(3), 2023, as NicePIM describes it in section VIII-D): parts are runs of products in the order of
 * the graph, and the slowest of them takes as little as possible.
 *
 * Regions are rectangles: the array falls into bands of whole columns, a band into slices of whole rows, and
 * parts follow each other down one band and up the next. Sides of regions are of a short list of lengths.
 * Among these divisions the one whose slowest part takes least is found by dynamic programming; of equal ones
 * one with a small sum.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_DDAM_DIVIDE_H
#define PIMSIM_MAPPERS_NICEPIM_DDAM_DIVIDE_H

#include "mappers/nicepim/map/plan.h"

/* Fills decisions and parts of a plan. PIM_BAD_INPUT when weights do not fit however the network is cut. */
enum pim_status ddam_divide(struct nice_plan *plan, struct pim_error *error);

#endif
