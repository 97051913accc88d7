/* realpath, flock and O_TMPFILE, which the C library shows on demand. */
#define _GNU_SOURCE 1 /* NOLINT(bugprone-reserved-identifier) */

#include "sim/output/output.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEMPORARY_NAMES = 10000, LEFT_SECONDS = 60 };

struct pim_output {
    FILE *file;      /* NULL: finished */
    char *path;      /* as given */
    char *final;     /* where the file goes; NULL when written directly */
    char *folder;    /* of the final file */
    char *temporary; /* the name before the final one; NULL when written directly, "" while it has none */
};

/* Frees the output, not the files. */
static void release(struct pim_output *output)
{
    free(output->path);
    free(output->final);
    free(output->folder);
    free(output->temporary);
    free(output);
}

static enum pim_status no_memory(const char *path, struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "%s: no memory to open it", path);
}

/* Whether a name is one of a temporary file, as open_temporary() makes them. */
static bool is_temporary(const char *name)
{
    static const char begin[] = ".pimsim-", end[] = ".tmp";
    size_t length = strlen(name);
    return length > sizeof begin + sizeof end && strncmp(name, begin, sizeof begin - 1) == 0 &&
           strcmp(name + length - (sizeof end - 1), end) == 0;
}

/*
 * Removes temporary files that killed processes have left in the folder. Who writes one holds a lock on it:
 * one that can be locked has no owner. The minute covers the moment between making and locking.
 */
static void sweep_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct stat state;
        if (!is_temporary(entry->d_name))
            continue;
        int file = openat(dirfd(directory), entry->d_name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        if (file < 0)
            continue;
        if (fstat(file, &state) == 0 && S_ISREG(state.st_mode) &&
            time(NULL) - state.st_mtime > LEFT_SECONDS && flock(file, LOCK_EX | LOCK_NB) == 0)
            (void)unlinkat(dirfd(directory), entry->d_name, 0);
        (void)close(file);
    }
    (void)closedir(directory);
}

static size_t temporary_size(const struct pim_output *output)
{
    return strlen(output->folder) + 64;
}

/* Tries temporary names until `make` takes one; false when it fails otherwise. The name is empty then. */
static bool find_name(struct pim_output *output, bool (*make)(const char *name, int *descriptor),
                      int *descriptor)
{
    const size_t size = temporary_size(output);
    for (int attempt = 0; attempt < TEMPORARY_NAMES; attempt++) {
        (void)snprintf(output->temporary, size, "%s/.pimsim-%ld-%d.tmp", output->folder, (long)getpid(),
                       attempt);
        if (make(output->temporary, descriptor))
            return true;
        if (errno != EEXIST)
            break;
    }
    output->temporary[0] = '\0';
    return false;
}

static bool make_file(const char *name, int *descriptor)
{
    *descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *descriptor >= 0;
}

/* Gives an open file its first name. */
static bool make_link(const char *name, int *descriptor)
{
    char open_file[64];
    (void)snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", *descriptor);
    return linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* A file that has no name until it is finished, so that a process that is killed leaves none; -1 where the
 * system has no such files or cannot name them later, which a first one tells. */
static int open_nameless(struct pim_output *output)
{
#ifdef O_TMPFILE
    int trial = open(output->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (trial < 0)
        return -1;
    bool can = find_name(output, make_link, &trial);
    if (can)
        (void)unlink(output->temporary);
    (void)close(trial);
    output->temporary[0] = '\0';
    return can ? open(output->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
#else
    (void)output;
    return -1;
#endif
}

static void remove_temporary(const struct pim_output *output)
{
    if (output->temporary && output->temporary[0] != '\0')
        (void)unlink(output->temporary);
}

/* Opens the temporary file in the folder of output->final. */
static enum pim_status open_temporary(struct pim_output *output, const struct stat *old,
                                      struct pim_error *error)
{
    char *scratch = strdup(output->final); /* dirname writes into its argument */
    output->folder = scratch ? strdup(dirname(scratch)) : NULL;
    free(scratch);
    output->temporary = output->folder ? calloc(1, temporary_size(output)) : NULL;
    if (!output->temporary)
        return no_memory(output->path, error);
    sweep_folder(output->folder);
    int descriptor = open_nameless(output);
    if (descriptor < 0 && !find_name(output, make_file, &descriptor))
        return pim_fail(error, PIM_IO, "%s: a file cannot be made in folder %s: %s", output->path,
                        output->folder, strerror(errno));
    (void)flock(descriptor, LOCK_EX | LOCK_NB); /* so that nobody sweeps it away */
    /* The new file takes over the permissions of the one it replaces; where that is refused, those of a new
     * file stand. */
    if (old)
        (void)!fchmod(descriptor, old->st_mode & 0777);
    output->file = fdopen(descriptor, "wb");
    if (output->file)
        return PIM_OK;
    enum pim_status status =
        pim_fail(error, PIM_IO, "%s: cannot be opened: %s", output->path, strerror(errno));
    (void)close(descriptor);
    remove_temporary(output);
    return status;
}

static enum pim_status open_path(struct pim_output *output, struct pim_error *error)
{
    const char *path = output->path;
    struct stat found;
    bool exists = stat(path, &found) == 0;
    if (!exists && errno != ENOENT)
        return pim_fail(error, PIM_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (exists && S_ISDIR(found.st_mode))
        return pim_fail(error, PIM_IO, "%s: is a folder: the name of a file is needed", path);
    if (exists && !S_ISREG(found.st_mode)) {
        output->file = fopen(path, "wb");
        return output->file ? PIM_OK
                            : pim_fail(error, PIM_IO, "%s: cannot be opened: %s", path, strerror(errno));
    }
    if (exists) {
        if (access(path, W_OK) != 0)
            return pim_fail(error, PIM_IO, "%s: cannot be written: %s", path, strerror(errno));
        output->final = realpath(path, NULL);
        if (!output->final)
            return pim_fail(error, PIM_IO, "%s: cannot be resolved: %s", path, strerror(errno));
        return open_temporary(output, &found, error);
    }
    if (lstat(path, &found) == 0)
        return pim_fail(error, PIM_IO, "%s: is a symbolic link that leads nowhere", path);
    if (path[0] == '\0' || path[strlen(path) - 1] == '/')
        return pim_fail(error, PIM_IO, "'%s': the name of a file is needed", path);
    output->final = strdup(path);
    if (!output->final)
        return no_memory(path, error);
    return open_temporary(output, NULL, error);
}

enum pim_status pim_output_open(struct pim_output **output, const char *path, struct pim_error *error)
{
    *output = NULL;
    struct pim_output *opened = calloc(1, sizeof *opened);
    if (!opened)
        return no_memory(path, error);
    enum pim_status status = PIM_OK;
    bool standard = strcmp(path, "-") == 0;
    opened->path = strdup(standard ? "standard output" : path);
    if (!opened->path)
        status = no_memory(path, error);
    else if (standard)
        opened->file = stdout;
    else
        status = open_path(opened, error);
    if (status == PIM_OK)
        *output = opened;
    else
        release(opened);
    return status;
}

FILE *pim_output_file(const struct pim_output *output)
{
    return output->file;
}

const char *pim_output_name(const struct pim_output *output)
{
    return output->path;
}

static enum pim_status fail_in_place(const struct pim_output *output, int reason, struct pim_error *error)
{
    return pim_fail(error, PIM_IO, "%s: cannot be put in its place: %s", output->path, strerror(reason));
}

enum pim_status pim_output_finish(struct pim_output *output, struct pim_error *error)
{
    if (!output->file)
        return PIM_OK;
    errno = 0;
    bool failed_before =
        ferror(output->file) != 0; /* the reason of an earlier write is not kept by the C library */
    bool flushed = fflush(output->file) == 0;
    int reason = errno;
    if (flushed && output->temporary && fsync(fileno(output->file)) != 0 && errno != EINVAL &&
        errno != ENOTSUP) {
        flushed = false;
        reason = errno;
    }
    const bool whole = flushed && !failed_before, nameless = output->temporary && !output->temporary[0];
    int descriptor = fileno(output->file), no_name = 0;
    if (whole && nameless && !find_name(output, make_link, &descriptor))
        no_name = errno;
    if (output->file == stdout) {
        clearerr(stdout);
    } else if (fclose(output->file) != 0 && flushed) {
        flushed = false;
        reason = errno;
    }
    output->file = NULL;
    if (no_name)
        return fail_in_place(output, no_name, error);
    if (flushed && !failed_before)
        return PIM_OK;
    return pim_fail(error, PIM_IO, "%s: writing failed: %s", output->path,
                    reason ? strerror(reason) : "a write was cut short");
}

/* So that the new name survives a crash of the machine; not every file system can, and the content is safe
 * already. */
static void synchronize_folder(const char *folder)
{
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        (void)close(descriptor);
    }
}

enum pim_status pim_output_commit(struct pim_output *output, struct pim_error *error)
{
    enum pim_status status = pim_output_finish(output, error);
    if (output->temporary) {
        if (status == PIM_OK && rename(output->temporary, output->final) != 0)
            status = fail_in_place(output, errno, error);
        if (status == PIM_OK)
            synchronize_folder(output->folder);
        else
            remove_temporary(output);
    }
    release(output);
    return status;
}

void pim_output_blame(const struct pim_output *output, struct pim_error *error)
{
    if (error->status == PIM_IO && ferror(output->file))
        (void)pim_fail_in(error, "%s", output->path);
}

void pim_output_abandon(struct pim_output *output)
{
    if (!output)
        return;
    if (output->file && output->file != stdout)
        (void)fclose(output->file);
    remove_temporary(output);
    release(output);
}

void pim_format_real(char buffer[PIM_REAL_CHARACTERS], double value, int digits)
{
    assert(digits >= 1 && digits <= 17);
    (void)snprintf(buffer, PIM_REAL_CHARACTERS, "%.*g", digits, value);
    const char *point = localeconv()->decimal_point;
    char *place = strcmp(point, ".") == 0 ? NULL : strstr(buffer, point);
    if (place) {
        size_t length = strlen(point);
        *place = '.';
        memmove(place + 1, place + length, strlen(place + length) + 1);
    }
}

const char *pim_format_share(char buffer[PIM_REAL_CHARACTERS], double part, double whole)
{
    if (whole > 0)
        (void)snprintf(buffer, PIM_REAL_CHARACTERS, "%.1f %%", 100 * part / whole);
    else
        (void)snprintf(buffer, PIM_REAL_CHARACTERS, "-");
    return buffer;
}

void pim_format_energy(char buffer[PIM_REAL_CHARACTERS], double picojoules)
{
    static const char *const units[] = {"pJ", "nJ", "uJ", "mJ", "J"};
    const unsigned last = sizeof units / sizeof units[0] - 1;
    const double rounds_up = 999.95; /* to a thousand, with one decimal */
    double value = picojoules;
    unsigned unit = 0;
    for (; unit < last && value >= rounds_up; unit++)
        value /= 1000;
    if (value < 1 && unit == 0)
        (void)snprintf(buffer, PIM_REAL_CHARACTERS, "%.4g %s", value, units[unit]);
    else
        (void)snprintf(buffer, PIM_REAL_CHARACTERS, "%.*f %s",
                       value < 9.9995      ? 3
                       : value < 99.995    ? 2
                       : value < rounds_up ? 1
                                           : 0,
                       value, units[unit]);
}

void pim_format_cpu_seconds(char buffer[PIM_REAL_CHARACTERS], double seconds)
{
    const double least = 0.005; /* is 0.01 with two decimals */
    if (seconds < least)
        (void)snprintf(buffer, PIM_REAL_CHARACTERS, "less than 0.01 CPU s");
    else
        (void)snprintf(buffer, PIM_REAL_CHARACTERS, "%.2f CPU s", seconds);
}
