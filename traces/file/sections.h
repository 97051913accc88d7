/*
 * The small sections of a trace file as bytes: description, phases, behaviour tables, array groups,
 * equations; and the content hash.
 * For writer and reader.
 *
 * A decoder takes bytes that passed their checksum but may still have been made by an enemy: every length is
 * held against what is left, and what it allocates is at most a small multiple of the section.
 */
#ifndef PIMSIM_TRACES_FILE_SECTIONS_H
#define PIMSIM_TRACES_FILE_SECTIONS_H

#include "sim/status.h"
#include "traces/file/format.h"
#include "traces/file/hash.h"
#include "traces/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pim_behaviour_table {
    uint32_t router, count;
    struct pim_trace_behaviour *entries;
};

/* The array groups of one unit while a trace is written. */
struct pim_array_group_list {
    struct pim_trace_array_group *group;
    uint32_t count, capacity;
};

/* Those of all units as they are read: unit u has group[first[u]] to group[first[u + 1] - 1]. Both are NULL
 * when there are none. */
struct pim_array_groups {
    uint32_t *first;
    struct pim_trace_array_group *group;
};

/* Checks of what a section may hold; messages without the place. A name has no control characters, a text
 * only tab, new line and carriage return; both have no zero byte. Texts must not be NULL. */
enum pim_status pim_description_check(const struct pim_trace_description *description,
                                      struct pim_error *error);
enum pim_status pim_name_check(const char *name, size_t length, const char *what, struct pim_error *error);
enum pim_status pim_behaviour_check(const struct pim_trace_behaviour *entry, struct pim_error *error);
enum pim_status pim_array_group_check(const struct pim_trace_array_group *group, struct pim_error *error);
/* Whether `group` may stand behind `before` (NULL: it is the first of its unit). */
enum pim_status pim_array_group_follows(const struct pim_trace_array_group *before,
                                        const struct pim_trace_array_group *group, struct pim_error *error);

/* Section bytes, owned by the caller (free); NULL when memory is out. `tables` are sorted by router. */
uint8_t *pim_description_encode(const struct pim_trace_description *description, uint64_t *bytes);
uint8_t *pim_phases_encode(const struct pim_trace_phase *phase, uint32_t phases, uint64_t *bytes);
uint8_t *pim_behaviours_encode(const struct pim_behaviour_table *table, uint32_t tables, uint64_t *bytes);
uint8_t *pim_array_groups_encode(const struct pim_array_group_list *list, uint32_t units, uint64_t *bytes);

bool pim_equations_exist(const struct pim_trace_phase *phase, uint32_t phases);
uint8_t *pim_equations_encode(const struct pim_trace_phase *phase, uint32_t phases, uint64_t *bytes);

/* The way back. Texts and names point into *storage, one block that the caller frees together with *phase or
 * *table (the entries of the tables lie in *storage). Messages name the byte within the section. After a
 * failure nothing is left to free. */
enum pim_status pim_description_decode(const uint8_t *data, size_t bytes,
                                       struct pim_trace_description *description, char **storage,
                                       struct pim_error *error);
enum pim_status pim_phases_decode(const uint8_t *data, size_t bytes, struct pim_trace_phase **phase,
                                  uint32_t *phases, char **storage, struct pim_error *error);
enum pim_status pim_behaviours_decode(const uint8_t *data, size_t bytes, struct pim_behaviour_table **table,
                                      uint32_t *tables, struct pim_trace_behaviour **storage,
                                      struct pim_error *error);

/* The array groups of a trace of `units` units; freed by pim_array_groups_free, which also takes what holds
 * nothing. */
enum pim_status pim_array_groups_decode(const uint8_t *data, size_t bytes, uint32_t units,
                                        struct pim_array_groups *groups, struct pim_error *error);
void pim_array_groups_free(struct pim_array_groups *groups);

/* Sets the equations of phases that have none yet. */
enum pim_status pim_equations_decode(const uint8_t *data, size_t bytes, struct pim_trace_phase *phase,
                                     uint32_t phases, struct pim_error *error);

/*
 * The content hash: XXH64 over, for each section in the order of the file, its type and number of bytes as
 * u64 and its bytes. Of UNITS only instructions and hash of each unit count (16 bytes a unit), of PROGRAMS
 * nothing, of EQUATIONS, which say nothing of what is executed, and unknown sections nothing: it does not
 * depend on how the programs are cut into chunks and compressed.
 */
struct pim_content_hash {
    XXH64_state_t state;
};

void pim_content_start(struct pim_content_hash *content);
void pim_content_add(struct pim_content_hash *content, uint32_t type, const uint8_t *data, uint64_t bytes);
uint64_t pim_content_end(const struct pim_content_hash *content);

#endif
