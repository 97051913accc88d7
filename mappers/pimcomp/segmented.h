/* Layouts of segments (segments/segments.h): each as a network of its own. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_SEGMENTED_H
#define PIMSIM_MAPPERS_PIMCOMP_SEGMENTED_H

#include "mappers/pimcomp/closed_loop.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/segments/segments.h"

/* Samples of a batch that nobody gave: writing is shared by so many. */
enum { PIM_CORE_SEGMENT_SAMPLES = 8 };

/* The same layout for all segments; PIM_BAD_INPUT where there is none. */
enum pim_status pim_core_segmented_rule(const struct pim_core_segment_problem *problem,
                                        pim_core_layout_rule *rule, const char *name, struct pim_arena *arena,
                                        struct pim_core_segments *segments, struct pim_error *error);

/* Searches each segment by itself from its rule of thumb on, and takes what is the fastest with all samples:
 * of the rule and the `timed` best layouts of the search, by the timing of their schedules and what writing
 * takes; `timed` 0: by the closed forms. `search->seconds` are of all segments: what one leaves, the others
 * have. `result` counts over all of them. */
enum pim_status pim_core_segmented_search(const struct pim_core_segment_problem *problem,
                                          const struct pim_core_search_options *search,
                                          const struct pim_core_profile_options *profiling, uint32_t timed,
                                          struct pim_arena *arena, struct pim_core_segments *segments,
                                          struct pim_core_search_result *result, struct pim_error *error);

#endif
