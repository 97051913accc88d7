/*
 * Rows of models/system/results.def, and of the figures of families, as members of the object `json`. To be
 * included before them, by who makes JSON of them.
 */
#ifndef PIMSIM_MODELS_SYSTEM_REPORT_JSON_ROWS_H
#define PIMSIM_MODELS_SYSTEM_REPORT_JSON_ROWS_H

#include "sim/output/json.h"

#define OBJECT(page, key) pim_json_begin_object(json, key);
#define OBJECT_END pim_json_end(json);
#define COUNT(page, key, unit, definition, value) pim_json_put_count(json, key, value);
#define REAL(page, key, unit, definition, value) pim_json_put_real(json, key, value);
#define TEXT(page, key, unit, definition, value) pim_json_put_text(json, key, value);
#define MAYBE_COUNT(page, key, unit, definition, condition, value)                                           \
    if (condition)                                                                                           \
        pim_json_put_count(json, key, value);                                                                \
    else                                                                                                     \
        pim_json_put_null(json, key);
#define MAYBE_REAL(page, key, unit, definition, condition, value)                                            \
    if (condition)                                                                                           \
        pim_json_put_real(json, key, value);                                                                 \
    else                                                                                                     \
        pim_json_put_null(json, key);

#endif
