/*
 * The axes of a sweep: keys of the configuration and the values they take.
 *
 * Values are written one by one or as ranges:
 *
 *     16,32,64      three values
 *     10:20:5       10, 15, 20: from, to, step; the end belongs to the range when a step hits it
 *     1:30:log8     eight values from 1 to 30 with equal ratios; for an integer key rounded to integers, of
 *                   which equal ones count once
 *
 * Invariants
 * 1. Every value is one that its key allows, in the one spelling that equal values share. The values of a key
 *    differ from each other.
 * 2. The same text gives the same values on every machine: points of ranges are rounded to 12 significant
 *    digits, those of logarithmic ranges to 6, far above the last bits in which machines may differ.
 */
#ifndef PIMSIM_TOOLS_SWEEP_SPECIFICATION_AXIS_H
#define PIMSIM_TOOLS_SWEEP_SPECIFICATION_AXIS_H

#include "sim/configuration/configuration.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIM_SWEEP_VALUES_MOST = 100000 }; /* of one key */

enum pim_sweep_kind { PIM_SWEEP_NOTHING, PIM_SWEEP_INTEGER, PIM_SWEEP_REAL, PIM_SWEEP_TEXT };

struct pim_sweep_value {
    enum pim_sweep_kind kind;
    int64_t integer;
    double real;
    char *text; /* as pim_configuration_set() takes it behind "key="; owned */
};

/* One key and its values. All zero is an empty one. */
struct pim_sweep_key {
    char *name;      /* "noc.flit_bits"; owned */
    bool of_network; /* a key of pim_network_schema, else of pim_hardware_schema */
    const struct pim_key *key;
    struct pim_sweep_value *values;
    size_t count, capacity;
    struct pim_configuration *scratch; /* between begin and end: checks the values */
    bool zipped; /* values may stand twice, as long as combinations do not (pim_sweep_axis_check) */
};

/* Keys that vary together: value i of one goes with value i of the others. Most axes have one key. */
struct pim_sweep_axis {
    struct pim_sweep_key *keys;
    size_t key_count;
    size_t count; /* values of each key */
};

/* The schema that a key of this name belongs to: that of networks for "network.*", else that of hardware. */
const struct pim_schema *pim_sweep_schema(const char *name);

/*
 * begin, add for each value or range, end. PIM_BAD_INPUT: an unknown key (with the nearest one), a value that
 * the key does not allow, a value that stands twice (unless it is zipped), no value at all, more than
 * PIM_SWEEP_VALUES_MOST. After a failure the key is good for pim_sweep_key_terminate only, which is needed in
 * every case.
 */
enum pim_status pim_sweep_key_begin(struct pim_sweep_key *key, const char *name, struct pim_error *error);
enum pim_status pim_sweep_key_add(struct pim_sweep_key *key, const char *item, struct pim_error *error);
enum pim_status pim_sweep_key_end(struct pim_sweep_key *key, struct pim_error *error);
void pim_sweep_key_terminate(struct pim_sweep_key *key);

/* Adds every item of a comma-separated text; commas within [brackets] separate nothing. */
enum pim_status pim_sweep_key_add_list(struct pim_sweep_key *key, const char *items, struct pim_error *error);

/* PIM_BAD_INPUT: a combination of values that stands twice. All keys have axis->count values. */
enum pim_status pim_sweep_axis_check(const struct pim_sweep_axis *axis, struct pim_error *error);

void pim_sweep_axis_terminate(struct pim_sweep_axis *axis);

/* The shortest decimal text that reads back to `real`; a point in every locale. */
void pim_sweep_format_real(char *buffer, size_t size, double real);

/* Takes "command line: ", which pim_configuration_set() puts before its messages, off the message. */
void pim_sweep_strip_origin(struct pim_error *error);

#endif
