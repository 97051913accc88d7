#include "tools/sweep/slurm.h"

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
