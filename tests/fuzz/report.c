/*
 * Any bytes as a JSON result of `pimsim report`. What is refused must have a message and leave the report as
 * it was; what is taken must stand in it.
 */
#include "sim/output/json.h"
#include "tools/report/results.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    json_t *value, *report = pim_page_create();
    if (!report || pim_json_parse("fuzz", (const char *)data, size, &value, &error) != PIM_OK) {
        json_decref(report);
        return 0;
    }
    enum pim_status status = pim_page_add_json(report, "fuzz", value, &error);
    size_t entries = json_array_size(json_object_get(report, "results"));
    if (status == PIM_OK ? entries != 1 : entries != 0 || error.text[0] == '\0') {
        fprintf(stderr, "status %d, %zu entries: %s\n", (int)status, entries, error.text);
        abort();
    }
    json_decref(report);
    return 0;
}
