/* What the two files of the sequencer share. */
#ifndef PIMSIM_MODELS_BITSERIAL_SEQUENCER_INTERNAL_H
#define PIMSIM_MODELS_BITSERIAL_SEQUENCER_INTERNAL_H

#include "models/bitserial/sequencer.h"

#define FAR_AWAY INT64_MAX
#define LONG_AGO (-(INT64_C(1) << 40)) /* farther than any distance */
#define CYCLES_MAX (INT64_C(1) << 62)

enum { KEPT_ACTIVATES = 4, RULES_MAX = 192 };

/* One distance: `cycles` after the last `previous` at the node of a scope. */
struct distance {
    enum pim_dram_scope scope;
    enum pim_dram_command previous;
    int64_t cycles;
};

/* What limits one command. */
struct limits {
    uint32_t count;
    struct distance list[RULES_MAX];
    int64_t four_activates; /* tFAW; 0: none */
};

struct place {
    uint32_t bank, group, rank, pseudo; /* nodes */
};

/* Steps of a program that cost the same, one after another. */
struct run {
    struct pim_bitserial_step step; /* the first of them */
    size_t first;                   /* its index */
    uint64_t count;
};

struct worker {
    const struct pim_bitserial_program *program;
    struct run *runs; /* shared by workers of one program */
    bool owner;       /* of runs */
    size_t run_count;
    size_t run;      /* present */
    uint64_t done;   /* steps of the present run */
    uint64_t factor; /* repetitions of the only run */
    uint64_t left;   /* repetitions of the program after this one */
    uint64_t steps;  /* done in all */
    uint32_t phase;  /* commands of the present step that were issued */
    uint32_t first_slot;
    struct place place;
    int64_t closed; /* cycle of the last PRE */
};

struct sequencer {
    const struct pim_bitserial_schedule *schedule;
    const uint32_t *parameter;
    struct limits limits[PIM_DRAM_COMMANDS];
    int64_t horizon; /* the longest distance */
    uint32_t nodes, ranks, banks_per_rank;
    uint32_t first_node[PIM_DRAM_SCOPE_CHANNEL + 1];
    int64_t (*last)[PIM_DRAM_COMMANDS];   /* by node; LONG_AGO: never */
    int64_t (*activates)[KEPT_ACTIVATES]; /* by rank, newest first */
    int64_t row_bus, column_bus;          /* the first free cycle */
    int64_t *slot_ready;                  /* FAR_AWAY: not yet */
    int64_t *due;                         /* by rank: the next refresh */
    uint32_t *open;                       /* by rank: banks inside a step */
    struct worker *workers;
    uint32_t worker_count, working;
    int64_t now;
    struct pim_bitserial_timing timing;
    struct shortcut
        *shortcut;     /* three: inside of a refresh interval, over several, of programs; NULL: none */
    size_t state_size; /* numbers of a state, but of slots */
    bool refreshed;    /* since the last look */
};

/* A state to compare with: relative cycles, cut off at the horizon. */
struct shortcut {
    int64_t *saved, *present; /* size_of numbers each */
    bool valid;
    int64_t now;                      /* of the saved state */
    uint64_t done, left, first_steps; /* of the first worker then */
    uint64_t patience, age;           /* states to look at before another is saved, and those looked at */
    uint64_t commands[PIM_DRAM_COMMANDS];
    uint64_t steps;
};

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline bool is_finished(const struct worker *worker)
{
    return worker->run == worker->run_count;
}

/* Steps of the present run of a worker. */
static inline uint64_t run_length(const struct worker *worker)
{
    return worker->runs[worker->run].count * worker->factor;
}

/* sequencer_fast.c: to be called when the first worker has begun a step. */
enum pim_status pim_bitserial_shortcut_create(struct sequencer *s, struct pim_error *error);
void pim_bitserial_shortcut_destroy(struct sequencer *s);
void pim_bitserial_shortcut_try(struct sequencer *s);

#endif
