/*
 * Cases of the overlap analysis: two layers, or a chain, with everything that decides when they end. Read
 * from JSON (the format of the golden cases) or from a mapping, which is text; written as a mapping.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_CASE_CASE_H
#define PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_CASE_CASE_H

#include "mappers/overlapim/analysis/overlap.h"

#include <jansson.h>
#include <stdio.h>

enum { PIM_CASE_LAYERS = 1024, PIM_CASE_LINKS = 256, PIM_CASE_BYTES = 1 << 26 };

struct pim_case {
    char name[PIM_NEST_NAME];
    bool chain; /* JSON: "layers" instead of "producer" and "consumer" */
    uint32_t layers;
    struct pim_overlap_layer *layer; /* checked, with strides; each reads from those before it */
};

void pim_case_terminate(struct pim_case *kase);

/* From a file: JSON when its first character that is no blank is '{', a mapping otherwise. "-" is standard
 * input. PIM_BAD_INPUT names file, place and what would be right. */
enum pim_status pim_case_read(const char *path, struct pim_case *kase, struct pim_error *error);

/* The same from memory; `name` is for messages. */
enum pim_status pim_case_parse(const char *name, const char *text, size_t length, struct pim_case *kase,
                               struct pim_error *error);
enum pim_status pim_case_parse_json(const char *name, const char *text, size_t length, struct pim_case *kase,
                                    struct pim_error *error);
enum pim_status pim_case_parse_text(const char *name, const char *text, size_t length, struct pim_case *kase,
                                    struct pim_error *error);

/* Writes the layers as a mapping that pim_case_parse_text reads back. */
void pim_case_write(const struct pim_overlap_layer *layers, uint32_t count, FILE *file);

struct pim_case_options {
    bool exhaustive; /* ready times by comparison of all data spaces */
    bool summary;    /* no lists of data spaces, steps and rows */
    bool json;
};

/*
 * Analyses the case and prints steps, ready times and latencies: of a pair under the names producer_steps,
 * ..., transformed_rows; of a chain middle_end, last_ready, sequential, lockstep; of more layers a list by
 * layer. Nothing is printed when it fails.
 */
enum pim_status pim_case_report(const struct pim_case *kase, const struct pim_case_options *options,
                                FILE *file, struct pim_error *error);

#endif
