#include "tools/tune/constraints.h"

#include <stdlib.h>
#include <string.h>

static const struct pim_key keys[] = {
    PIM_KEY_OF_TEXT("hardware", NULL,
                    "Hardware file that says what architectures leave open; a path relative to this file."),
    PIM_KEY_OF_REAL("area.budget_mm2", "48", 0.001, 1e6, "mm2",
                    "What PE arrays and buffers of all nodes may take."),
    PIM_KEY_OF_CHOICE("area.reading", "mid", "low|mid|high", "Reading of the area model."),
    PIM_KEY_OF_INTEGER("nodes.least", "2", 1, 16, "nodes", "Least nodes along a side of the array."),
    PIM_KEY_OF_INTEGER("nodes.most", "16", 1, 16, "nodes", "Most nodes along a side of the array."),
    PIM_KEY_OF_INTEGER("pe.least", "1", 1, 256, "PEs", "Least PEs along a side of the PE array."),
    PIM_KEY_OF_INTEGER("pe.most", "256", 1, 256, "PEs", "Most PEs along a side of the PE array."),
    PIM_KEY_OF_INTEGER("buffers.least_kib", "1", 1, 2048, "KiB", "Least size of each buffer."),
    PIM_KEY_OF_INTEGER("buffers.most_kib", "2048", 1, 2048, "KiB", "Most size of each buffer."),
};

const struct pim_schema pim_tune_schema = {
    .name = "tune",
    .text = "What `pimsim tune` may choose from.",
    .keys = keys,
    .count = sizeof keys / sizeof keys[0],
};

/* `name` as the file at `path` means it. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = name[0] != '/' && slash ? (size_t)(slash - path) + 1 : 0, length = strlen(name);
    char *made = malloc(folder + length + 1);
    if (made) {
        memcpy(made, path, folder);
        memcpy(made + folder, name, length + 1);
    }
    return made;
}

static enum pim_status take(const struct pim_configuration *configuration, const char *path,
                            struct pim_tune_constraints *constraints, struct pim_error *error)
{
    struct pim_tune_bounds *bounds = &constraints->bounds;
    constraints->hardware = beside(path, pim_configuration_text(configuration, "hardware"));
    if (!constraints->hardware)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the constraints");
    constraints->budget = pim_configuration_real(configuration, "area.budget_mm2");
    constraints->reading = (enum pim_area_reading)pim_configuration_choice(configuration, "area.reading");
    *bounds =
        (struct pim_tune_bounds){.node_least = pim_configuration_count(configuration, "nodes.least"),
                                 .node_most = pim_configuration_count(configuration, "nodes.most"),
                                 .pe_least = pim_configuration_count(configuration, "pe.least"),
                                 .pe_most = pim_configuration_count(configuration, "pe.most"),
                                 .buffer_least = pim_configuration_count(configuration, "buffers.least_kib"),
                                 .buffer_most = pim_configuration_count(configuration, "buffers.most_kib")};
    const char *wrong = bounds->node_least > bounds->node_most       ? "nodes.least"
                        : bounds->pe_least > bounds->pe_most         ? "pe.least"
                        : bounds->buffer_least > bounds->buffer_most ? "buffers.least_kib"
                                                                     : NULL;
    return wrong ? pim_configuration_fail(configuration, error, wrong, "more than the most") : PIM_OK;
}

enum pim_status pim_tune_constraints_read(const char *path, struct pim_tune_constraints *constraints,
                                          struct pim_error *error)
{
    struct pim_configuration *configuration;
    *constraints = (struct pim_tune_constraints){.hardware = NULL};
    if (pim_configuration_create(&pim_tune_schema, &configuration, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_configuration_read_file(configuration, path, error);
    if (status == PIM_OK)
        status = pim_configuration_complete(configuration, error);
    if (status == PIM_OK)
        status = take(configuration, path, constraints, error);
    pim_configuration_destroy(configuration);
    return status;
}

void pim_tune_constraints_terminate(struct pim_tune_constraints *constraints)
{
    free(constraints->hardware);
    constraints->hardware = NULL;
}

enum pim_status pim_tune_constraints_check(const struct pim_tune_constraints *constraints,
                                           const struct pim_tune_space *space, struct pim_error *error)
{
    struct pim_tune_architecture smallest;
    struct pim_area area;
    char text[128];
    pim_tune_smallest(space, &smallest);
    pim_tune_area(space, &smallest, &area);
    if (area.engines <= constraints->budget)
        return PIM_OK;
    pim_tune_describe(space, &smallest, text, sizeof text);
    return pim_fail(
        error, PIM_BAD_INPUT,
        "no architecture keeps to area.budget_mm2 = %g: the smallest, %s, takes %.4g mm2, %.4g too "
        "much",
        constraints->budget, text, area.engines, area.engines - constraints->budget);
}
