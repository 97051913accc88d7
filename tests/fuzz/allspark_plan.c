/*
 * Any bytes as a plan for `map allspark --plan`, or, after "--partition ", as that option. What is refused
 * must have a message; what is taken must be within the limits that the mapper relies on.
 */
#include "mappers/allspark/plan/file.h"

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

static void check_options(const struct pim_allspark_options *options, const struct pim_error *error)
{
    require(options->scheme == PIM_ALLSPARK_EXPLICIT, "no explicit plan", error);
    require(options->explicit_count >= 1 && options->explicit_count <= PIM_STAGES, "number of stages", error);
    for (uint32_t i = 0; i < options->explicit_count; i++) {
        require(options->lists[i] >= 1 && options->lists[i] <= PIM_PARTITIONS, "number of partitions", error);
        for (uint32_t j = 0; j < options->lists[i]; j++)
            require(options->list[i][j].chunks <= PIM_CHUNKS, "chunks", error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char prefix[] = "--partition ";
    struct pim_allspark_options options = {.ring = 0};
    struct pim_error error = {PIM_OK, ""};
    struct pim_plan_file file = {.path = NULL};
    size_t skip = sizeof prefix - 1;
    char *text = NULL;
    enum pim_status status;
    if (size >= skip && memcmp(data, prefix, skip) == 0) {
        text = strndup((const char *)data + skip, size - skip);
        if (!text)
            return 0;
        status = pim_plan_parse(text, &options, &error);
    } else
        status = pim_plan_read_text(&file, "plan.json", (const char *)data, size, &options, &error);
    if (status == PIM_OK)
        check_options(&options, &error);
    else
        require(error.status == status && error.text[0] != '\0', "refused without a message", &error);
    if (file.root)
        require(pim_plan_label(&file) != NULL, "no label", &error);
    pim_plan_close(&file);
    free(text);
    return 0;
}
