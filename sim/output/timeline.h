/*
 * A timeline that opens in Perfetto (ui.perfetto.dev): tracks in a tree, slices on them, counters.
 *
 * The file is a Perfetto protobuf trace, written by hand. Only fields of the public, stable part of
 * google/perfetto's protos/perfetto/trace are used: TracePacket, TrackDescriptor, ProcessDescriptor,
 * CounterDescriptor, TrackEvent (flow ids: arrows), InternedData (names are stored once).
 *
 * Invariants:
 *  1. The file appears whole or not at all (sim/output/output.h).
 *  2. It is never larger than `maximum_bytes`. What would exceed it is left out, counted, and the file says
 *     so: its last event, an instant on a track of its own, is "truncated: N events left out, limit B bytes".
 *  3. Slices of one track nest or do not overlap. Where two share a begin or an end, the outer or earlier one
 *     is put first.
 */
#ifndef PIMSIM_SIM_OUTPUT_TIMELINE_H
#define PIMSIM_SIM_OUTPUT_TIMELINE_H

#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

struct pim_timeline;

/* The least `maximum_bytes`. */
enum { PIM_TIMELINE_LEAST_BYTES = 4096, PIM_TIMELINE_DETAIL_BYTES = 160 };

/*
 * Opens `path` ("-" is standard output). `title` names the process under which all tracks stand. PIM_IO, or
 * PIM_BAD_INPUT for a limit below PIM_TIMELINE_LEAST_BYTES. `*timeline` is NULL after a failure.
 */
enum pim_status pim_timeline_create(struct pim_timeline **timeline, const char *path, const char *title,
                                    uint64_t maximum_bytes, struct pim_error *error);

/* A track below `parent` (0: at the top); siblings are shown in the order they were made. Returns its id,
 * never 0. */
uint32_t pim_timeline_track(struct pim_timeline *timeline, uint32_t parent, const char *name);

/* A track that shows a number over time, with the name of its unit ("flits"). */
uint32_t pim_timeline_counter(struct pim_timeline *timeline, uint32_t parent, const char *name,
                              const char *unit);

/* Something that took from `begin_ns` to `end_ns` >= begin_ns. Times of one track may come in any order that
 * keeps invariant 3. */
void pim_timeline_slice(struct pim_timeline *timeline, uint32_t track, uint64_t begin_ns, uint64_t end_ns,
                        const char *name);

/* What a slice has beyond its name. */
struct pim_timeline_extra {
    /* A text that the viewer shows beside the slice, under the name `key`: at most PIM_TIMELINE_DETAIL_BYTES
     * of it. NULL: none. */
    const char *key, *detail;
    /* An arrow leads from the beginning of the slice that it leaves to the end of the one where the same
     * number arrives. 0: none. */
    uint64_t leaves, arrives;
};
void pim_timeline_detailed_slice(struct pim_timeline *timeline, uint32_t track, uint64_t begin_ns,
                                 uint64_t end_ns, const char *name, const struct pim_timeline_extra *extra);

/* Something that happened at one moment. */
void pim_timeline_instant(struct pim_timeline *timeline, uint32_t track, uint64_t time_ns, const char *name);

/* The number of a counter track from `time_ns` on. */
void pim_timeline_count(struct pim_timeline *timeline, uint32_t counter, uint64_t time_ns, int64_t value);

/* Events left out so far because of the limit; 0 means complete. A caller may stop early when it is not 0. */
uint64_t pim_timeline_left_out(const struct pim_timeline *timeline);

/* Commits the file and frees the timeline in every case. `left_out` may be NULL. */
enum pim_status pim_timeline_close(struct pim_timeline *timeline, uint64_t *left_out,
                                   struct pim_error *error);

/* Removes the file and frees the timeline, which may be NULL. */
void pim_timeline_abandon(struct pim_timeline *timeline);

#endif
