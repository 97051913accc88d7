/*
 * Exponential, logarithm and sine whose bits are the same on every machine: only additions, multiplications
 * and divisions of IEEE 754 double precision in a fixed order (functions of <math.h> differ in their last
 * bits from library to library). Exponential and logarithm are within 2 units in the last place.
 */
#ifndef PIMSIM_MAPPERS_LEARN_ELEMENTARY_H
#define PIMSIM_MAPPERS_LEARN_ELEMENTARY_H

#include <stdint.h>

/* e^x: 0 for minus infinity and whatever underflows, infinity for whatever overflows, NaN for NaN. Results
 * below the normal range lose bits, as in every implementation. */
double pim_exponential(double x);

/* The natural logarithm: NaN below 0 and for NaN, minus infinity at 0. */
double pim_logarithm(double x);

/* sin(2 pi part / whole), within 4e-16; part below whole, whole not 0. The symmetries are exact: the sines of
 * 1/8 and 3/8 of a turn are the same bits, that of 1/2 is 0. */
double pim_sine_of_turn(uint32_t part, uint32_t whole);

#endif
