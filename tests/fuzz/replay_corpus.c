/*
 * Runs a fuzz target on each file of a folder once, without libFuzzer: the corpus is a regression test of
 * every build. Fails when a file cannot be read and when the folder holds none.
 */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns 0 when the file was read and tried. */
static int try_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        goto unreadable;
    long size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
        goto unreadable;
    /* of exactly the file's size, so that a sanitizer sees the first byte read beyond it */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size) {
        free(data);
        goto unreadable;
    }
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 0;

unreadable:
    perror(path);
    if (file != NULL)
        (void)fclose(file);
    return 1;
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
        return 2;
    }
    DIR *folder = opendir(arguments[1]);
    if (folder == NULL) {
        perror(arguments[1]);
        return 1;
    }
    int tried = 0;
    int failed = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[PATH_MAX];
        if (entry->d_name[0] == '.')
            continue;
        int length = snprintf(path, sizeof path, "%s/%s", arguments[1], entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path) {
            fprintf(stderr, "%s: path too long\n", entry->d_name);
            failed++;
            continue;
        }
        failed += try_file(path);
        tried++;
    }
    (void)closedir(folder);
    printf("%d files tried, %d unreadable\n", tried, failed);
    return tried > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
