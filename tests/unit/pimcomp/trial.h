/*
 * One network on one accelerator: what the tests of both schedules do before they look at the trace. Memory
 * is the trial's, from trial_begin() to trial_end().
 */
#ifndef PIMSIM_TESTS_UNIT_PIMCOMP_TRIAL_H
#define PIMSIM_TESTS_UNIT_PIMCOMP_TRIAL_H

#include "mappers/pimcomp/schedule/schedule.h"
#include "sim/random.h"
#include "tests/unit/pimcomp/values/forms.h"
#include "traces/file/reader.h"

enum { CORES_MOST = 9 };

struct trial {
    enum pim_core_mode mode;
    struct net net;
    struct pim_core_architecture architecture;
    struct pim_core_network network;
    struct pim_core_partition partition;
    struct pim_core_layout layout;
    struct pim_core_mapping mapping;
    struct pim_core_schedule_options options;
    struct pim_core_schedule_report report;
    struct pim_core_memory_map map;
    struct pim_trace *trace; /* NULL: refused */
    struct pim_error error;
    uint64_t seed; /* 0: not a random trial */
    char path[96];
};

/* A number from `first` to `last`, both included. */
uint32_t trial_draw(struct pim_random *random, uint32_t first, uint32_t last);

/* An empty network and six cores in order. */
void trial_begin(struct trial *t, enum pim_core_mode mode);
void trial_end(struct trial *t);

/* Lowers and partitions the network; `forced` as in pim_core_partition_make(). */
void trial_lower(struct trial *t, enum pim_unfolding forced);

/* At most `replicas` of each layer, every group on a core of its own drawing or all together; false when one
 * replica of each does not fit. */
bool trial_lay_out(struct trial *t, struct pim_random *random, uint32_t replicas);

/* Emits the trace; t->trace stays NULL when the schedule refuses. */
enum pim_status trial_emit(struct trial *t);

/* Up to nine cores with arrays of any size, in order or not, synchronous or not. */
void trial_draw_hardware(struct trial *t, struct pim_random *random);

/* Convolutions with a residual, pooling and a linear layer. */
void trial_small_net(struct net *net);

/* What the programs of the trace do. */
struct trial_seen {
    uint64_t by_opcode[PIM_OPCODES];
    uint64_t loaded, stored, sent;
    uint16_t *stores; /* of each element of the global memory */
};
void trial_look(struct trial *t, struct trial_seen *seen);

/* The trace completes, with as many messages as the report says; its numbers are right. */
void trial_check(struct trial *t);
void trial_check_values(struct trial *t, uint32_t samples, uint64_t seed);

#endif
