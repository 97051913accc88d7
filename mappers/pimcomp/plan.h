/* A mapping of `pimsim map pimcomp`, and how it is printed. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_PLAN_H
#define PIMSIM_MAPPERS_PIMCOMP_PLAN_H

#include "mappers/pimcomp/check/check_values.h"
#include "mappers/pimcomp/closed_loop.h"
#include "mappers/pimcomp/layout/genetic.h"
#include "mappers/pimcomp/representation/pimcomp.h"
#include "mappers/pimcomp/schedule/schedule.h"
#include "mappers/pimcomp/segments/segments.h"

#include <stdio.h>

struct pim_core_plan {
    struct pim_core_architecture architecture;
    struct pim_core_network network;
    struct pim_core_partition partition;
    struct pim_core_layout layout;
    struct pim_core_mapping mapping;
    struct pim_core_segments
        segments; /* count 0: the network fits; else the above are those of all of them */
    struct pim_core_memory_map map;
    struct pim_core_schedule_report report;
    const char *mode, *method, *baseline; /* as asked for */
    const char *taken;                    /* the layout of the program */
    bool nothing_kept;                    /* no maps stay on chip, by option or by choice */
    uint64_t macs;  /* of the network for one sample; partition.macs: with zeros that are stored */
    uint64_t batch; /* samples; 0: one saturated round, or low latency */
    uint64_t estimate_cycles, estimate_parts[PIM_ESTIMATE_PARTS];
    double partition_seconds, layout_seconds, profile_seconds, schedule_seconds;
    bool searched; /* by the genetic algorithm */
    struct pim_core_search_result search;
    struct pim_core_profile profile; /* count 0: not asked for */
    struct pim_core_ranking ranking; /* most 0: not asked for */
    bool checked;                    /* --check-values */
    struct pim_core_check_result check;
};

void pim_core_plan_print(const struct pim_core_plan *plan, FILE *file);
enum pim_status pim_core_plan_write_json(const struct pim_core_plan *plan, FILE *file,
                                         struct pim_error *error);

#endif
