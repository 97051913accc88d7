/* The synthetic traffic of pimsim noc: its classes from the texts of the options, and its total rate. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_CLASSES_H
#define PIMSIM_TOOLS_COMMAND_NOC_CLASSES_H

#include "models/traffic/traffic.h"
#include "tools/command/options.h"

#define NOC_PATTERNS                                                                                         \
    "uniform|transpose|bit-complement|bit-reverse|shuffle|tornado|neighbor|hotspot|asymmetric"

/* All traffic of a measurement. */
struct noc_traffic_set {
    struct pim_traffic_class classes[PIM_TRAFFIC_CLASSES];
    uint32_t class_count;
    struct pim_traffic_flow *flows; /* of a matrix, owned */
    uint32_t flow_count;
    struct pim_traffic_class flow_class; /* sizes and bursts of the flows */
};

/* What the options say; texts may be NULL. */
struct noc_traffic_texts {
    unsigned pattern; /* of --traffic, PIM_PATTERNS: none */
    bool in_packets;  /* rates */
    const char *sizes, *on_off, *hotspots, *matrix;
    const struct text_list *classes; /* of --class */
};

/*
 * Reads them. The class of --traffic has rate 1, to be scaled. The n-th --class uses class n of the network,
 * if that has several, or what it says. PIM_USAGE or PIM_BAD_INPUT with what would be right. Terminate the
 * set.
 */
enum pim_status noc_traffic_set_make(const struct noc_traffic_texts *texts,
                                     const struct pim_noc_configuration *noc, struct noc_traffic_set *set,
                                     struct pim_error *error);
void noc_traffic_set_terminate(struct noc_traffic_set *set);

/* Multiplies all rates so that their sum is `rate` flits, or packets, per node and cycle. */
void noc_traffic_set_scale(struct noc_traffic_set *set, uint32_t nodes, double rate, bool in_packets);

#endif
