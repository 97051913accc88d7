/*
 * The results that a report shows, read and checked, as the one JSON document that is put into the page:
 *
 *     {"pimsim": VERSION, "results": [ENTRY...]}
 *     ENTRY: {"kind": "run" | "validate" | "sweep", "name": the path as given, "result": ...}
 *
 * run       the JSON of `pimsim run --stats FILE --format json`; beside it "hardware", what the page needs
 *           of its configuration, or null and "hardware_error" when that cannot be read
 * validate  the JSON of `pimsim validate --format json`
 * sweep     made of an SQLite file of `pimsim sweep`:
 *           {"pimsim", "name", "total": points of the sweep,
 *            "axes": [[key...]...], keys in one list vary together,
 *            "statistics": [name...],
 *            "points": [{"id", "trace", "network", "mapper", "repeat", "status", "error",
 *                        "settings": [of all axes, in order],
 *                        "values": [of all statistics, in order; null where there is none]}...]}
 *           of systems (docs/systems.md) also "rule", a text, and
 *            "systems": [{"name", "title", "throughput", "bits", "technology", "area", and its terms
 *                        (tools/systems/terms.h)}...]; each point then has the name of its "system"
 *
 * Invariant: what the page reads without looking is here and of the right type; a file that lacks it is
 * refused with file and place. Members that are not known pass through.
 */
#ifndef PIMSIM_TOOLS_REPORT_RESULTS_H
#define PIMSIM_TOOLS_REPORT_RESULTS_H

#include "sim/status.h"

#include <jansson.h>

enum { PIM_PAGE_FILE_BYTES = 1 << 30, PIM_PAGE_SWEEP_POINTS = 20000 };

/* An empty document; NULL: memory is out. The caller owns it (json_decref). */
json_t *pim_page_create(void);

/* Reads a file of one of the three kinds, told apart by their content, and adds its entry. PIM_BAD_INPUT:
 * it is none, or damaged, or a sweep of more than PIM_PAGE_SWEEP_POINTS points; PIM_IO; PIM_NO_MEMORY. The
 * document is unchanged after a failure. */
enum pim_status pim_page_add_file(json_t *report, const char *path, struct pim_error *error);

/* The same for a JSON result that was parsed already; `value` is taken over in any case. */
enum pim_status pim_page_add_json(json_t *report, const char *name, json_t *value, struct pim_error *error);

/* Adds an entry; `result` is taken over in any case, NULL counts as memory that ran out. */
enum pim_status pim_page_add_entry(json_t *report, const char *kind, const char *name, json_t *result,
                                   json_t **entry, struct pim_error *error);

/* The result of a sweep in an SQLite file, in the form above. The caller owns *result. */
enum pim_status pim_page_read_sweep(const char *path, json_t **result, struct pim_error *error);

#endif
