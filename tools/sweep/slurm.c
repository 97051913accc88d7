#include "tools/sweep/slurm.h"

#include "sim/output/output.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* One word for a shell, whatever is in it. */
static void write_word(const char *word, FILE *file)
{
    (void)fputc('\'', file);
    for (; *word; word++) {
        if (*word == '\'')
            (void)fputs("'\\''", file);
        else
            (void)fputc(*word, file);
    }
    (void)fputc('\'', file);
}

void pim_slurm_write(const struct pim_slurm_job *job, FILE *file)
{
    (void)fprintf(file, "#!/bin/bash\n#SBATCH --job-name=pimsim-sweep\n#SBATCH --array=0-%" PRIu64 "\n",
                  job->tasks - 1);
    (void)fprintf(file, "#SBATCH --cpus-per-task=%u\n#SBATCH --requeue\n#SBATCH --open-mode=append\n",
                  job->threads);
    (void)fprintf(file, "#SBATCH --output=\"%s/slurm-%%a.log\"\n", job->folder);
    if (job->partition)
        (void)fprintf(file, "#SBATCH --partition=%s\n", job->partition);
    for (size_t i = 0; i < job->option_count; i++)
        (void)fprintf(file, "#SBATCH %s\n", job->options[i]);
    (void)fprintf(file, "cd ");
    write_word(job->working_folder, file);
    (void)fprintf(file, " || exit 1\nexec");
    for (size_t i = 0; i < job->word_count; i++) {
        (void)fputc(' ', file);
        write_word(job->words[i], file);
        if (i == 1) /* behind "pimsim sweep": options end before the last word */
            (void)fprintf(file, " --task=\"$SLURM_ARRAY_TASK_ID\"");
    }
    (void)fputc('\n', file);
}

enum pim_status pim_slurm_submit(const char *script, char **answer, struct pim_error *error)
{
    char text[2048] = "", command[8192];
    size_t size = 0;
    FILE *file = fmemopen(command, sizeof command, "w");
    *answer = NULL;
    if (!file)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a submission");
    (void)fputs("sbatch --parsable ", file);
    write_word(script, file);
    (void)fputs(" 2>&1", file);
    if (fclose(file) != 0 || strlen(script) > sizeof command / 5)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s...: the path is too long", script);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return pim_fail(error, PIM_IO, "sbatch: %s", strerror(errno));
    size = fread(text, 1, sizeof text - 1, pipe);
    while (size > 0 && text[size - 1] == '\n')
        size--;
    text[size] = '\0';
    int status = pclose(pipe);
    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return pim_fail(error, PIM_IO, "sbatch: %s", *text ? text : "failed without a message");
    *answer = strdup(text);
    return *answer ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for a submission");
}

/* --- jobs that were handed in --- */

enum { PATH_BYTES = 4096, JOB_BYTES = 32 };

enum pim_status pim_slurm_note(const char *folder, const char *job, struct pim_error *error)
{
    char path[PATH_BYTES];
    struct pim_output *output;
    if (snprintf(path, sizeof path, "%s/job", folder) >= PATH_BYTES)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s...: the path is too long", folder);
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    (void)fprintf(pim_output_file(output), "%s\n", job);
    return pim_output_commit(output, error);
}

/* The number of the job of a submission; "" when there is none. Behind a ; is the name of a cluster. */
static void read_job(const char *folder, const char *name, char job[JOB_BYTES])
{
    char path[PATH_BYTES];
    size_t length = 0;
    job[0] = '\0';
    FILE *file =
        snprintf(path, sizeof path, "%s/%s/job", folder, name) < PATH_BYTES ? fopen(path, "r") : NULL;
    if (!file)
        return;
    for (int c; length + 1 < JOB_BYTES && (c = fgetc(file)) != EOF && isdigit(c);)
        job[length++] = (char)c;
    job[length] = '\0';
    (void)fclose(file);
}

/* Asks squeue for the tasks of a job: a line for each, with its state. */
static void ask(const char *job, struct pim_slurm_state *state)
{
    char command[128], line[64];
    (void)snprintf(command, sizeof command, "squeue --noheader --array --format=%%T --jobs=%s 2> /dev/null",
                   job);
    FILE *pipe = popen(command, "r");
    uint64_t running = 0, waiting = 0;
    while (pipe && fgets(line, sizeof line, pipe)) {
        running += strncmp(line, "RUNNING", 7) == 0 || strncmp(line, "COMPLETING", 10) == 0;
        waiting += strncmp(line, "PENDING", 7) == 0 || strncmp(line, "CONFIGURING", 11) == 0 ||
                   strncmp(line, "REQUEUE", 7) == 0 || strncmp(line, "SUSPENDED", 9) == 0;
    }
    int status = pipe ? pclose(pipe) : -1;
    /* squeue fails too for a job that it has forgotten: then it has said "slurm_load_jobs error". Only
     * a command that is not there, or no answer of the daemon, leaves the question open. */
    if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        state->unknown++;
    state->running += running;
    state->waiting += waiting;
}

enum pim_status pim_slurm_look(const char *results, struct pim_slurm_state *state, struct pim_error *error)
{
    char tasks[PATH_BYTES];
    *state = (struct pim_slurm_state){.running = 0};
    if (snprintf(tasks, sizeof tasks, "%s.tasks", results) >= PATH_BYTES)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s...: the path is too long", results);
    DIR *directory = opendir(tasks);
    if (!directory)
        return PIM_OK;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char job[JOB_BYTES];
        if (entry->d_name[0] == '.')
            continue;
        read_job(tasks, entry->d_name, job);
        if (job[0])
            ask(job, state);
    }
    (void)closedir(directory);
    return PIM_OK;
}
