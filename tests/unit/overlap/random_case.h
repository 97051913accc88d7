/*
 * Random small pairs of layers for the overlap analysis, and an oracle that runs every iteration of both
 * nests, element by element, without strides, digits or tails.
 */
#ifndef PIMSIM_TESTS_UNIT_OVERLAP_RANDOM_CASE_H
#define PIMSIM_TESTS_UNIT_OVERLAP_RANDOM_CASE_H

#include "mappers/overlapim/analysis/case/case.h"
#include "sim/random.h"

/* What the oracle finds of a data space. */
struct oracle_space {
    uint64_t step, bank, ready;
    int64_t ready_step; /* -1: nothing is needed */
};

struct oracle {
    uint64_t count; /* data spaces that exist, by step, then bank */
    struct oracle_space *space;
    uint64_t producer_end, lockstep, per_bank, transformed; /* of the pair */
};

/* Fills a case of two layers whose iterations can be gone through; the caller terminates it. */
void random_pair(struct pim_random *random, struct pim_case *kase);

/* A random nest of a workload, with imperfect factors when `imperfect`. */
void random_nest(struct pim_random *random, const struct pim_workload *workload, bool imperfect,
                 struct pim_nest *nest);

void oracle_run(const struct pim_case *kase, struct oracle *oracle);
void oracle_terminate(struct oracle *oracle);

/* Fails the test at the first difference between the analysis and the oracle. */
void check_pair(const struct pim_case *kase, uint64_t number);

#endif
