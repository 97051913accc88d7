#include "mappers/overlapim/analysis/case/case.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void pim_case_terminate(struct pim_case *kase)
{
    for (uint32_t i = 0; i < kase->layers; i++)
        pim_overlap_layer_terminate(&kase->layer[i]);
    free(kase->layer);
    memset(kase, 0, sizeof *kase);
}

enum pim_status pim_case_parse(const char *name, const char *text, size_t length, struct pim_case *kase,
                               struct pim_error *error)
{
    size_t first = 0;
    while (first < length && memchr(" \t\r\n", text[first], 4))
        first++;
    return first < length && text[first] == '{' ? pim_case_parse_json(name, text, length, kase, error)
                                                : pim_case_parse_text(name, text, length, kase, error);
}

static enum pim_status read_all(const char *path, FILE *file, char **text, size_t *length,
                                struct pim_error *error)
{
    *text = malloc(PIM_CASE_BYTES);
    if (!*text)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", path);
    *length = fread(*text, 1, PIM_CASE_BYTES, file);
    if (ferror(file))
        return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    return *length < PIM_CASE_BYTES
               ? PIM_OK
               : pim_fail(error, PIM_BAD_INPUT, "%s: larger than %d bytes", path, PIM_CASE_BYTES);
}

enum pim_status pim_case_read(const char *path, struct pim_case *kase, struct pim_error *error)
{
    bool input = strcmp(path, "-") == 0;
    FILE *file = input ? stdin : fopen(path, "rb");
    memset(kase, 0, sizeof *kase);
    if (!file)
        return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    char *text = NULL;
    size_t length = 0;
    enum pim_status status = read_all(path, file, &text, &length, error);
    if (!input)
        (void)fclose(file);
    if (status == PIM_OK)
        status = pim_case_parse(input ? "standard input" : path, text, length, kase, error);
    free(text);
    return status;
}
