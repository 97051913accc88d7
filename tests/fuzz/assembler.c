/*
 * Any bytes as the text of a trace. What is accepted must open, disassemble, and assemble again to the very
 * same file; what is refused must have a message and leave no file.
 */
#include "traces/file/reader.h"
#include "traces/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

static enum pim_status assemble(const void *text, size_t size, const char *path, struct pim_error *error)
{
    char *copy = malloc(size + 1);
    require(copy != NULL, "no memory", error);
    memcpy(copy, text, size);
    copy[size] = '\0';
    FILE *file = size > 0 ? fmemopen(copy, size, "r") : fopen("/dev/null", "r");
    require(file != NULL, "no memory", error);
    enum pim_status status = pim_trace_assemble("text", file, path, error);
    (void)fclose(file);
    free(copy);
    return status;
}

/* The text of a trace file; the caller frees it. */
static char *dump(const char *path, size_t *length, uint64_t *hash)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace;
    char *text = NULL;
    require(pim_trace_open(path, &trace, &error) == PIM_OK, "the assembled trace is refused", &error);
    FILE *file = open_memstream(&text, length);
    require(file != NULL, "no memory", &error);
    require(pim_trace_disassemble(trace, PIM_ALL_UNITS, file, &error) == PIM_OK,
            "an accepted trace has no text", &error);
    (void)fclose(file);
    *hash = pim_trace_hash(trace);
    pim_trace_close(trace);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    char path[64];
    if (size > 1 << 16)
        return 0;
    (void)snprintf(path, sizeof path, "/tmp/pimsim-fuzz-%ld", (long)getpid());
    if (assemble(data, size, path, &error) != PIM_OK) {
        require(error.text[0] != '\0', "refused without a message", &error);
        require(access(path, F_OK) != 0, "a file although the text was refused", &error);
        return 0;
    }
    size_t length = 0, again_length = 0;
    uint64_t hash = 0, again_hash = 0;
    char *text = dump(path, &length, &hash);
    require(assemble(text, length, path, &error) == PIM_OK, "the text of a trace is refused", &error);
    char *again = dump(path, &again_length, &again_hash);
    require(hash == again_hash && length == again_length && memcmp(text, again, length) == 0,
            "another text after a round trip", &error);
    free(text);
    free(again);
    (void)unlink(path);
    return 0;
}
