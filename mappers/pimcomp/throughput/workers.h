/* Jobs of matrix layers in a round: workers, their memory, their inputs, and the stages of a step. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_WORKERS_H
#define PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_WORKERS_H

#include "mappers/pimcomp/throughput/state.h"

/* Jobs, workers, replicas (throughput/jobs.c); their buffers (throughput/plan.c). */
enum pim_status pim_round_make_jobs(struct pim_round_schedule *schedule);
enum pim_status pim_round_plan_memory(struct pim_round_schedule *schedule);
/* Bytes that a core leaves for its shared area if it can; all layers have been dealt. */
uint64_t pim_round_area_wanted(const struct pim_round_schedule *schedule);

/* Where a worker reads (throughput/input.c). Numbers of input rows ([0]) or columns ([1]), see there:
 * from one output row (column) to the next, and from the first to behind the last of `taps` kernel rows
 * (columns). */
uint32_t pim_round_step(const struct pim_round_window *w, int axis);
uint32_t pim_round_span(const struct pim_round_window *w, int axis, uint32_t taps);
/* Can a window be loaded straight into its canonical order? */
bool pim_round_loads_windows(const struct pim_round_worker *worker);
void pim_round_input_reset(struct pim_round_worker *worker);
/* Gives the buffers of a worker addresses from `base` on and returns their end. */
uint64_t pim_round_input_place(struct pim_round_worker *worker, uint64_t base);
/* Brings what replica `replica` needs for `window` into local memory. */
void pim_round_input_load(struct pim_round_worker *worker, struct pim_round_replica *replica, uint32_t window,
                          uint32_t sample);
/* Address from which a group of the replica reads in this step. */
uint64_t pim_round_input_address(const struct pim_round_worker *worker,
                                 const struct pim_round_replica *replica, uint32_t canonical_row);

/* Stages of a step of a job (throughput/matrix.c), for sample `sample`: of a worker, then of the home.
 * */
void pim_round_worker_load(struct pim_round_worker *worker, uint32_t sample);
void pim_round_worker_mvm(struct pim_round_worker *worker);
void pim_round_worker_add(struct pim_round_worker *worker);
void pim_round_job_bias(struct pim_round_job *job);
void pim_round_job_collect(struct pim_round_job *job);
void pim_round_job_finish(struct pim_round_job *job, uint32_t sample);
/* Is the present step the last of a batch? */
bool pim_round_batch_ends(const struct pim_round_job *job);
/* Replicas of the job that have something to do in this step are busy. */
bool pim_round_is_busy(const struct pim_round_job *job, const struct pim_round_replica *replica);
uint32_t pim_round_turn(const struct pim_round_worker *worker);

/* The layer's folds, and what its replicas work on. */
void pim_round_find_folds(struct pim_round_layer *layer);
/* Inputs and output rows of a job, `before` of `total` replicas being before its own. */
enum pim_status pim_round_fold_job(struct pim_round_job *job, uint32_t before, uint32_t total);
/* Bytes of the home's output rows. */
uint64_t pim_round_fold_bytes(const struct pim_round_job *job);
/* Stages: rows that others contribute to are begun with the job; after each step its sums are added to their
 * rows and complete rows stored; the rest is stored when all jobs of the layer are complete. */
void pim_round_fold_begin(struct pim_round_job *job);
void pim_round_fold_collect(struct pim_round_job *job);
void pim_round_fold_finish(struct pim_round_job *job, uint32_t sample);
void pim_round_fold_close(struct pim_round_layer *layer, uint32_t sample);

/* Marks the cores that work on a layer. */
void pim_round_mark_cores(const struct pim_round_layer *layer, bool *marked);

#endif
