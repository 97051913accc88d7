/*
 * What the tuner minimises: the sum over networks of energy^a latency^b (arXiv 2305.19041, equation 1),
 * energy in mJ, latency in ms.
 *
 *     goal   := factor { "*" factor }
 *     factor := ("energy" | "latency") [ "^" number ]      0 to 8; without: 1
 *
 * Blanks may stand between all of these. Each quantity stands at most once; one that is missing has the
 * exponent 0, and not both have it.
 */
#ifndef PIMSIM_TOOLS_TUNE_GOAL_H
#define PIMSIM_TOOLS_TUNE_GOAL_H

#include "sim/status.h"

#include <stddef.h>

enum { PIM_TUNE_EXPONENT_MOST = 8, PIM_TUNE_GOAL_MOST = 256 };

struct pim_tune_goal {
    double energy, latency; /* exponents */
};

/* PIM_BAD_INPUT: what was expected, and at which character. */
enum pim_status pim_tune_goal_parse(const char *text, struct pim_tune_goal *goal, struct pim_error *error);

/* energy^a latency^b. */
double pim_tune_cost(const struct pim_tune_goal *goal, double energy_pj, double time_ns);

#endif
