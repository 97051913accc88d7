/* A search under way: what tune.c and define.c share. */
#ifndef PIMSIM_TOOLS_TUNE_TUNING_H
#define PIMSIM_TOOLS_TUNE_TUNING_H

#include "sim/output/progress.h"
#include "tools/tune/constraints.h"
#include "tools/tune/folder.h"
#include "tools/tune/request.h"

struct pim_tuning {
    const struct pim_tune_request *request;
    struct pim_tune_constraints constraints;
    struct pim_tune_space space;
    struct pim_tune_subject subject;
    struct pim_tune_strategy *strategy;
    struct pim_sweep sweep;
    struct pim_store *store;
    struct pim_tune_outcome *outcomes; /* of all iterations */
    struct pim_tune_evaluation *evaluations;
    uint64_t written; /* iterations before this one are in the store */
    uint64_t now;     /* added by this call */
    unsigned inner;   /* threads that share the networks of an architecture */
    struct pim_tune_best best;
    struct pim_progress progress;
    double started; /* seconds */
    char host[256];
    struct pim_tune_folder folder; /* of traces */
};

/*
 * Reads and checks all that the request names, in this order: goal, mapper, networks, constraints; makes the
 * strategy, the sweep with its identity, and room for the outcomes.
 */
enum pim_status pim_tuning_define(struct pim_tuning *tuning, struct pim_error *error);

enum pim_status pim_tuning_no_memory(struct pim_error *error);

#endif
