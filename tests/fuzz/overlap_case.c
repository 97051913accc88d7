/*
 * Any bytes as a case of the overlap analysis, JSON or a mapping. What is refused must have a message; what
 * is accepted is analysed, by comparison of all data spaces as well when it is small, and printed as a
 * mapping that must be read back.
 */
#include "mappers/overlapim/analysis/case/case.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

/* Data spaces that are gone through: at most a few thousand. */
static bool is_small(const struct pim_case *kase)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < kase->layers; i++) {
        const struct pim_strides *strides = &kase->layer[i].strides;
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
            total += kase->layer[i].workload.size[d];
        total += strides->steps * strides->banks;
        if (total > 3000)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_case kase, again;
    enum pim_status status = pim_case_parse("fuzz", (const char *)data, size, &kase, &error);
    if (status != PIM_OK) {
        require(kase.layer == NULL && error.text[0] != '\0', "refused without a message", &error);
        return 0;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    require(file != NULL, "open_memstream", &error);
    if (is_small(&kase)) {
        const struct pim_case_options options = {.exhaustive = true, .json = true};
        status = pim_case_report(&kase, &options, file, &error);
        require(status == PIM_OK || (status != PIM_INTERNAL && error.text[0] != '\0'), "analysis", &error);
        rewind(file);
    }
    bool named = kase.chain && data[0] != '{'; /* names of JSON layers may hold blanks */
    if (named) {
        pim_case_write(kase.layer, kase.layers, file);
        (void)fclose(file);
        status = pim_case_parse_text("again", text, length, &again, &error);
        require(status == PIM_OK && again.layers == kase.layers, "not read back", &error);
        pim_case_terminate(&again);
    } else
        (void)fclose(file);
    free(text);
    pim_case_terminate(&kase);
    return 0;
}
