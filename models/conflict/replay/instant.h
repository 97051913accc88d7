/*
 * Instants and spans of the task-graph replay, as unsigned integers that the kernel can order.
 *
 * Step times are decimal nanoseconds (282.37534965454546) and transfers last bits over Gb/s, so no clock
 * divides them all. There are two arithmetics, each in integers alone:
 *
 *   PIM_CONFLICT_ROUNDED  An instant is a 53-bit significand with an exponent, packed so that the integers
 *                         are ordered as the instants are; a sum is rounded to the nearest, ties to even. It
 *                         gives what binary64 gives, with its consequence: two ends that would coincide can
 *                         be an ulp apart, and then they are two time points. The authors' figures contain
 *                         that, and some of them move by a percent without it.
 *   PIM_CONFLICT_EXACT    An instant counts femtoseconds; sums are exact, a run lasts at most 2 hours. It
 *                         is the time of `pimsim run`, whose ticks are femtoseconds there (models/tile).
 *
 * Invariants:
 *  1. 0 is the instant 0 and the span 0.
 *  2. Every instant is at most PIM_TIME_LAST.
 *  3. Instants of one replay are compared with one another only.
 */
#ifndef PIMSIM_MODELS_CONFLICT_REPLAY_INSTANT_H
#define PIMSIM_MODELS_CONFLICT_REPLAY_INSTANT_H

#include "sim/kernel/kernel.h"

enum pim_conflict_arithmetic { PIM_CONFLICT_ROUNDED, PIM_CONFLICT_EXACT };

/* Femtoseconds in a nanosecond. */
#define PIM_CONFLICT_FS UINT64_C(1000000)

/* The largest span that can be converted, ns. */
#define PIM_CONFLICT_NS_MAXIMUM 1e12

/* A span or instant of `ns` nanoseconds, 0 <= ns <= 10^24 (asserted): the same figure when rounded, the
 * nearest tick when exact (PIM_TIME_NEVER when there is none). */
pim_time pim_conflict_instant(enum pim_conflict_arithmetic arithmetic, double ns);

/* instant + span, PIM_TIME_NEVER when that is beyond PIM_TIME_LAST. Both operands may change places. */
pim_time pim_conflict_after(enum pim_conflict_arithmetic arithmetic, pim_time instant, pim_time span);

/* The instant in nanoseconds, for reports: the same figure when rounded, the nearest binary64 when exact. */
double pim_conflict_ns(enum pim_conflict_arithmetic arithmetic, pim_time instant);

/* The instant in units of 2^-20 ns, rounded down: differences of it are sums of waiting that need no
 * exactness. */
uint64_t pim_conflict_fixed(enum pim_conflict_arithmetic arithmetic, pim_time instant);

#endif
