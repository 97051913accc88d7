#include "tools/tune/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "pimsim-tune-";
enum { SUFFIX = 6, TRIALS = 16 };

static const char *parent_of(void)
{
    const char *parent = getenv("TMPDIR");
    return parent && *parent ? parent : "/tmp";
}

static int open_folder(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes the files of a folder, and nothing below it. */
static void clear(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    if (!directory && copy >= 0)
        (void)close(copy);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(folder, entry->d_name, 0); /* hidden ones too: outputs that were not finished */
    if (directory)
        (void)closedir(directory);
}

static bool is_own_name(const char *name)
{
    return strncmp(name, prefix, sizeof prefix - 1) == 0 && strlen(name) == sizeof prefix - 1 + SUFFIX;
}

/* Removes what killed processes of this user left: folders that nobody holds. */
static void remove_left(const char *path)
{
    DIR *parent = opendir(path);
    for (const struct dirent *entry; parent && (entry = readdir(parent));) {
        struct stat status;
        if (!is_own_name(entry->d_name))
            continue;
        int folder = open_folder(dirfd(parent), entry->d_name);
        if (folder < 0)
            continue;
        if (fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
            flock(folder, LOCK_EX | LOCK_NB) == 0) {
            clear(folder);
            (void)unlinkat(dirfd(parent), entry->d_name, AT_REMOVEDIR);
        }
        (void)close(folder);
    }
    if (parent)
        (void)closedir(parent);
}

/* False when somebody removed the folder before it was held. Where a file system knows no such locks nobody
 * can remove it, for the same reason. */
static bool hold(struct pim_tune_folder *folder)
{
    struct stat held, there;
    folder->lock = open_folder(AT_FDCWD, folder->path);
    if (folder->lock >= 0)
        (void)flock(folder->lock, LOCK_EX);
    if (folder->lock >= 0 && fstat(folder->lock, &held) == 0 && stat(folder->path, &there) == 0 &&
        held.st_ino == there.st_ino && held.st_dev == there.st_dev)
        return true;
    if (folder->lock >= 0)
        (void)close(folder->lock);
    return false;
}

enum pim_status pim_tune_folder_initialize(struct pim_tune_folder *folder, struct pim_error *error)
{
    const char *parent = parent_of();
    remove_left(parent);
    for (int trial = 0; trial < TRIALS; trial++) {
        int length = snprintf(folder->path, sizeof folder->path, "%s/%sXXXXXX", parent, prefix);
        if (length < 0 || (size_t)length >= sizeof folder->path || !mkdtemp(folder->path))
            break;
        if (hold(folder))
            return PIM_OK;
        (void)rmdir(folder->path);
    }
    folder->path[0] = '\0';
    return pim_fail(error, PIM_IO, "%.200s: %s: traces need a folder there (TMPDIR)", parent,
                    strerror(errno));
}

void pim_tune_folder_terminate(struct pim_tune_folder *folder)
{
    if (folder->path[0] == '\0')
        return;
    clear(folder->lock);
    (void)rmdir(folder->path);
    (void)close(folder->lock);
    folder->path[0] = '\0';
}
