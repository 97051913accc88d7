/*
 * The page of `pimsim report`: a template that is bundled when pimsim is built (tools/report/build.mjs), and
 * the results that are inserted into it as JSON.
 */
#ifndef PIMSIM_TOOLS_REPORT_PAGE_H
#define PIMSIM_TOOLS_REPORT_PAGE_H

#include "sim/status.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* What stands before and behind the results. A build without node or its packages has no page: head is NULL,
 * and `missing` says why and what to do. */
struct pim_page_template {
    const unsigned char *head, *tail;
    size_t head_bytes, tail_bytes;
    const char *missing;
};
extern const struct pim_page_template pim_page_template;

/* PIM_BAD_INPUT, with the reason, when there is no page in this build. */
enum pim_status pim_page_check_template(struct pim_error *error);

/*
 * Writes the page with `results` (an object, see results.h) to `file`. Everything in it is data: "<" of
 * texts is written as an escape of JSON, so that no name of a result can end the element that holds it. Reals
 * have 12 significant digits. Failures of the file itself are left to the output (pim_output_commit).
 */
enum pim_status pim_page_write(const json_t *results, FILE *file, struct pim_error *error);

#endif
