/*
 * How two series of numbers agree: linear, by rank, by pairs. All are NaN when a series is constant or has
 * fewer than two numbers.
 */
#ifndef PIMSIM_MAPPERS_LEARN_CORRELATION_H
#define PIMSIM_MAPPERS_LEARN_CORRELATION_H

#include "sim/status.h"

#include <stddef.h>

/* Pearson's correlation, from deviations of the mean (two passes). */
double pim_correlation(size_t count, const double *x, const double *y);

/* Ranks from 1, the average where numbers are equal. */
enum pim_status pim_ranks(size_t count, const double *values, double *ranks, struct pim_error *error);

/* Spearman's: Pearson's of the ranks. */
enum pim_status pim_rank_correlation(size_t count, const double *x, const double *y, double *correlation,
                                     struct pim_error *error);

/* Kendall's tau-b, by all pairs: a time of count^2. */
double pim_pair_correlation(size_t count, const double *x, const double *y);

/* Mean and standard deviation of the population (divided by count); standardised = (x - mean) / deviation, 0
 * where the deviation is 0. `standardised` may be NULL or `values` itself. */
void pim_standardise(size_t count, const double *values, double *mean, double *deviation,
                     double *standardised);

#endif
