/*
 * Exponential and logarithm whose bits are the same on every machine: only additions, multiplications and
 * divisions of IEEE 754 double precision in a fixed order (functions of <math.h> differ in their last bits
 * from library to library). Both are within 2 units in the last place.
 */
#ifndef PIMSIM_MAPPERS_LEARN_ELEMENTARY_H
#define PIMSIM_MAPPERS_LEARN_ELEMENTARY_H

/* e^x: 0 for minus infinity and whatever underflows, infinity for whatever overflows, NaN for NaN. Results
 * below the normal range lose bits, as in every implementation. */
double pim_exponential(double x);

/* The natural logarithm: NaN below 0 and for NaN, minus infinity at 0. */
double pim_logarithm(double x);

#endif
