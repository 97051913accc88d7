/* Slurm: the script of a job array whose tasks work on a submission (tools/sweep/specification/task.h), and
 * handing it in. */
#ifndef PIMSIM_TOOLS_SWEEP_SLURM_H
#define PIMSIM_TOOLS_SWEEP_SLURM_H

#include "sim/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pim_slurm_job {
    const char *folder;         /* of the submission; logs go there */
    const char *working_folder; /* in which the command runs */
    /* "pimsim", "sweep", options and argument, without the task; quoted for the shell when written */
    const char *const *words;
    size_t word_count;
    uint64_t tasks;
    unsigned threads;           /* processors of a task */
    const char *partition;      /* NULL: the default one */
    const char *const *options; /* more options of sbatch, "--time=1:00:00" */
    size_t option_count;
};

void pim_slurm_write(const struct pim_slurm_job *job, FILE *file);

/* Hands the script to sbatch; *answer is what it said (the number of the job), to be freed. PIM_IO: there is
 * no sbatch, or it refused, with its message. */
enum pim_status pim_slurm_submit(const char *script, char **answer, struct pim_error *error);

/* Notes the number of a job in the folder of its submission, for pim_slurm_look(). */
enum pim_status pim_slurm_note(const char *folder, const char *job, struct pim_error *error);

/* Tasks of the jobs of all submissions of `results` that have not ended, as squeue counts them; `unknown`:
 * jobs that it does not tell of because it is not there or does not answer. */
struct pim_slurm_state {
    uint64_t running, waiting, unknown;
};
enum pim_status pim_slurm_look(const char *results, struct pim_slurm_state *state, struct pim_error *error);

#endif
