/*
 * The one way JSON is written and read: a thin layer over jansson.
 *
 * The writer builds the document and keeps the first error, so that callers check once, at the end.
 * Invariants:
 *  1. Keys stand in the order they were put; a key that stands twice in an object is an error.
 *  2. Integers are exact: up to 2^63 - 1; above is an error, never a rounded real.
 *  3. Reals have 17 significant digits, so reading them back gives the same bits. NaN means "not modelled"
 *     and is written as null; infinity is an error.
 *  4. Text is UTF-8; bytes that are not are replaced by U+FFFD.
 * The same calls give the same bytes on every machine.
 */
#ifndef PIMSIM_SIM_OUTPUT_JSON_H
#define PIMSIM_SIM_OUTPUT_JSON_H

#include "sim/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pim_json;

/* A document whose root is an object, which is open. NULL only when memory is out. */
struct pim_json *pim_json_create(void);
void pim_json_destroy(struct pim_json *json);

/*
 * Puts a value into the innermost open object or array: in an object `key` is its name, in an array it must
 * be NULL. begin_* opens a new innermost one, pim_json_end closes it. Nesting is at most 64 deep.
 */
void pim_json_begin_object(struct pim_json *json, const char *key);
void pim_json_begin_array(struct pim_json *json, const char *key);
void pim_json_end(struct pim_json *json);
void pim_json_put_count(struct pim_json *json, const char *key, uint64_t value);
void pim_json_put_integer(struct pim_json *json, const char *key, int64_t value);
void pim_json_put_real(struct pim_json *json, const char *key, double value);
void pim_json_put_text(struct pim_json *json, const char *key, const char *text);
void pim_json_put_boolean(struct pim_json *json, const char *key, bool value);
void pim_json_put_null(struct pim_json *json, const char *key);
/* Takes over a jansson value (NULL counts as memory that ran out). */
void pim_json_put_value(struct pim_json *json, const char *key, json_t *value);

/* The root, borrowed; for looking values up. */
const json_t *pim_json_root(const struct pim_json *json);

/* Writes the document, indented by 2, with a final newline. Fails with the first error of the puts, which
 * names the place
 * ("noc.links[3].flits"), or with PIM_IO. All objects and arrays must be closed. */
enum pim_status pim_json_write(const struct pim_json *json, FILE *file, struct pim_error *error);

/*
 * Reads a document that is an object or an array. Errors: "<name>:<line>:<column>: <reason>". Doubled keys,
 * trailing text, integers beyond 63 bits and a sign, zero bytes and invalid UTF-8 are refused. The caller
 * owns `*value` (json_decref), which is NULL after a failure.
 */
enum pim_status pim_json_parse(const char *name, const char *text, size_t length, json_t **value,
                               struct pim_error *error);

/* The same from a file of at most `maximum_bytes` bytes ("-" is standard input). */
enum pim_status pim_json_read(const char *path, size_t maximum_bytes, json_t **value,
                              struct pim_error *error);

#endif
