/* What the tests of the general network share: tagged runs, links, files. */
#ifndef PIMSIM_TESTS_UNIT_NOC_GENERAL_SUPPORT_H
#define PIMSIM_TESTS_UNIT_NOC_GENERAL_SUPPORT_H

#include "tests/unit/noc/cases.h"

struct links {
    struct pim_noc_link_use *link;
    size_t count;
};

struct task_total {
    uint32_t task;
    uint64_t flits;
};

/* What may be said beside configuration and list; all of it may be left out (0). */
struct run_options {
    const struct pim_noc_tag *tags; /* of the packets */
    const struct task_total *tasks;
    size_t task_count;
    unsigned check_period; /* steps between two checks of the invariants */
    uint64_t window;       /* of the fast mesh: struct noc_crowd; 0: as it is by default */
    struct links *links;   /* filled in; the caller frees links->link */
    struct links *ends;    /* the same of terminals: for each node from it, then to it */
    uint64_t *evaluations; /* of routers */
};

/* Runs a list to its end, as list_run(). */
void run(const struct pim_noc_configuration *configuration, struct list *list, struct run_options options);

/* Every link has passed the same flits, and was blocked in as many cycles. */
void expect_same_links(const struct links *expected, const struct links *found, const char *what);

/* Whether the network is on the general routers, and these are evaluated by sets. */
bool evaluated_by_sets(const struct pim_noc_configuration *configuration);

/* An 8 x 8 mesh of general routers with 8 virtual channels of 8 flits. */
struct pim_noc_configuration general_mesh(void);

/* Writes text to a new file; its name goes to `path`. The caller removes it. */
void write_file(char path[PIM_NOC_PATH_LIMIT], const char *text);

/* Packets of few flits, and now and then a worm, at any rate from hardly any to more than fit. */
struct list random_list(struct pim_random *random, uint32_t nodes);

#endif
