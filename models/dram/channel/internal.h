/*
 * What the parts of a channel share: rules.c (the compiled table), channel.c (requests in and out),
 * plan.c (which command comes next), issue.c (what a command does), stream.c (many
 * column commands at once), low_power.c (what LPDDR5 adds), maintenance.c (refresh and page
 * policy).
 *
 * The earliest cycle of a command at a bank is the maximum of three numbers: of the bank, of its group and of
 * its rank. Constraints of wider scope are pushed into all ranks they reach when a command issues.
 */
#ifndef PIMSIM_MODELS_DRAM_CHANNEL_INTERNAL_H
#define PIMSIM_MODELS_DRAM_CHANNEL_INTERNAL_H

#include "models/dram/channel/channel.h"

/* Commands that are always ready together: RD and RDA, WR and WRA. */
enum class {
    CLASS_READ,
    CLASS_WRITE,
    CLASS_ACT,
    CLASS_PRE,
    CLASS_PREA,
    CLASS_REF,
    CLASS_REFPB,
    CLASS_REFSB,
    CLASSES
};

enum {
    NO_ENTRY = -1,
    EFFECTS_MAX = 48,  /* of one command */
    FILTER_SIZE = 256, /* counting filter over the addresses of waiting writes */
    AGE_BITS = 40,
    /* Of a cache. What a command needs of a bank, its group and its rank begins on a line of its own: with
       many private banks the time goes by the lines that miss. */
    LINE_BYTES = 64
};
#define NEVER UINT64_MAX
#define NO_ROW UINT32_MAX

enum reach {
    REACH_BANK,
    REACH_GROUP,
    REACH_STACK,
    REACH_OTHER_STACK,
    REACH_RANK,
    REACH_PSEUDO_CHANNEL,
    REACH_CHANNEL,
    REACHES
};

struct effect {
    uint32_t next; /* enum class */
    uint32_t cycles;
};

/* What a command forbids: effects on its own bank and group, on the groups of its stack identifier and of
 * the others of its rank (where there are several), on its rank, on the other ranks of its pseudo-channel,
 * and on the ranks of other pseudo-channels; list[begin[r]] to list[begin[r + 1] - 1] is for reach r. */
struct effects {
    uint32_t begin[REACHES + 1];
    struct effect list[EFFECTS_MAX];
};

struct pim_dram_rules {
    struct pim_dram_specification specification;
    struct pim_dram_policy policy;
    struct pim_dram_constraint_table constraints;
    struct effects effects[PIM_DRAM_COMMANDS];
    uint32_t four_activates; /* tFAW */
    uint32_t read_latency, write_latency;
    uint32_t column_step[2];          /* RD -> RD, WR -> WR of one bank */
    uint32_t read_close, write_close; /* RDA, WRA -> its automatic precharge, */
    uint32_t activate_close;          /* which is not before ACT + this */
    uint32_t precharge[CLASSES];      /* from an automatic precharge to what needs an idle bank; else 0 */
    /* Between due refreshes of all ranks (or of a bank of each); staggered: between those of one rank and the
     * next. */
    uint32_t refresh_interval;
    /* From ACT to a refresh of other banks, where that is longer than to the next ACT: such refreshes that go
     * on by themselves would wait as long as rows are opened. Else 0. */
    uint32_t refresh_behind_act;
    /* Independent maintenance that could wait for ever behind requests, by rows of the configuration's own:
     * while there is any, no waiting request is looked at. */
    bool fenced;
    uint32_t refresh_turns; /* so many of them until each rank has had one: 1, or the ranks */
    uint32_t refresh_banks; /* next_bank counts so far: 1, the banks of a rank, or of a group */
    uint32_t ranks, banks_per_rank, banks_per_group, groups_per_stack, groups_per_rank, ranks_per_pseudo;
    uint32_t sections;        /* of the channel's banks */
    uint32_t half;            /* 1 with half clocks, whose odd cycles are the rising edges; else 0 */
    uint32_t rising[CLASSES]; /* the same for commands that issue at rising edges alone; 0 for others */
    bool low_power;           /* ACT in two halves, or a write clock (low_power.c) */
    bool plain;               /* open pages and not low_power: nothing to look at before a plan */
    bool replans;             /* an arrival throws the plan away */
};

/* Requests of one direction that wait for one bank, oldest first. hit and other are kept while the bank is
 * open. */
struct waiting {
    int16_t first, last;
    int16_t hit;                            /* the oldest that needs the open row */
    int16_t other;                          /* the oldest that needs another row */
    uint64_t first_age, hit_age, other_age; /* where there is one */
};

struct bank {
    _Alignas(LINE_BYTES) uint64_t ready[CLASSES];
    struct waiting waiting[2]; /* reads, writes */
    struct section *section;   /* whose sets have it */
    uint32_t row;              /* NO_ROW: closed */
    uint32_t accesses;         /* of the open row */
    uint64_t used;             /* cycle of the last ACT, RD or WR */
    uint64_t opened;           /* cycle of the last ACT */
    uint64_t active_age;       /* where there is one: */
    int16_t active;            /* request whose row was opened and that was not served yet */
    uint8_t active_class;      /* CLASS_READ or CLASS_WRITE */
    uint8_t rank, group;       /* in the channel */
    bool closing;              /* the page policy has asked for its PRE */
};

/* Sets of the banks of a section: bank SECTION_BANKS x section + i is bit i. */
enum { SECTION_BANKS = 64, SECTIONS_MAX = PIM_DRAM_BANKS_MAX / SECTION_BANKS };
struct section {
    uint64_t open, active;
    uint64_t waiting[2]; /* banks with waiting reads, writes */
    uint64_t hit[2];     /* open ones with a hit among them, */
    uint64_t other[2];   /* with a request for another row */
    struct bank *banks;  /* bit 0 stands for the first of them */
};

struct node {
    _Alignas(LINE_BYTES) uint64_t ready[CLASSES];
};

struct rank {
    _Alignas(LINE_BYTES) uint64_t ready[CLASSES];
    uint64_t activates[4]; /* the last four, a ring */
    uint32_t activate;     /* next place in the ring */
    uint32_t open;         /* open banks */
    uint32_t pending;      /* requests for this rank that are not served */
    int32_t owed;          /* due refreshes not yet done; below 0: done ahead of their time */
    uint32_t next_bank;    /* of per-bank refresh */
    bool queued;           /* a refresh stands in the maintenance queue */
    /* Cycles with an open row or a refresh, as a union of intervals: [since, until) is the last one. */
    uint64_t since, until, latest_end, active_cycles;
    uint32_t holders; /* what keeps the interval open */
};

struct entry {
    uint64_t age; /* requests of a channel are numbered as they arrive, below 1 << AGE_BITS */
    uint64_t first_command;
    uint64_t request;
    uint32_t column;
    uint8_t bank;
    bool write;
};

/* What a walk along the list of a bank looks at, apart from entries: it touches few lines of the cache. */
struct link {
    uint32_t row;
    int16_t next, previous; /* in the bank's list */
};

enum maintenance_kind { MAINTAIN_REFRESH, MAINTAIN_REFRESH_BANK, MAINTAIN_REFRESH_SAME, MAINTAIN_CLOSE };

struct maintenance {
    uint8_t kind, rank, bank;
};

enum choice_kind { CHOOSE_NOTHING, CHOOSE_COLUMN, CHOOSE_ROW, CHOOSE_MAINTENANCE, CHOOSE_LOW_POWER };

/* A command that the rules would issue at `time`. */
struct choice {
    uint64_t time;
    uint64_t age;
    int16_t entry;   /* of MAINTENANCE: its place in the queue */
    uint8_t kind;    /* enum choice_kind */
    uint8_t command; /* enum pim_dram_command; COLUMN: RD or WR */
    uint8_t bank;    /* of MAINTENANCE, else the entry's */
};

/* What a channel of low power has under way besides. */
struct low_power {
    struct choice forced;   /* RD or WR behind the CAS of the cycle before; kind NOTHING: none */
    uint64_t clock_end;     /* the write clock runs in the cycles before this one */
    uint64_t deadline;      /* last cycle for the ACT-2 */
    int16_t half_activated; /* the request whose ACT waits for its ACT-2; NO_ENTRY */
};

struct pim_dram_channel {
    _Alignas(LINE_BYTES) const struct pim_dram_rules *rules;
    /* Behind the channel in the same block of memory, in the sizes that the organisation needs: many private
     * banks must fit the cache. */
    struct bank *banks;
    struct node *groups;
    struct rank *ranks;
    struct entry *entries;
    struct link *links; /* one for each entry */
    int16_t *free_entries;
    struct maintenance *maintenance;
    struct pim_dram_sink sink;
    /* The plan: on one bus `column` holds the next command of any kind, and `row` nothing. */
    struct choice column, row;
    uint64_t column_floor, row_floor; /* earliest cycle that is not over for that bus */
    uint64_t refresh_due;             /* next time at which ranks owe a refresh more; NEVER */
    uint64_t close_time;              /* next cycle in which maintenance is to be queued; NEVER */
    bool planned;
    bool write_mode;
    uint32_t held; /* while a plan is made: ranks in which no row is opened before a refresh */
    bool owing;    /* a rank may owe a refresh that is not queued, or may have one ahead of its time */
    uint32_t waiting_count[2];
    uint32_t maintenance_first, maintenance_count;
    uint32_t free_count;
    uint64_t last_completion;
    uint64_t end; /* while a run is stopped: activity behind it does not count; else NEVER */
    uint64_t next_age;
    uint32_t index;
    uint32_t refresh_rank;     /* staggered: the next to owe one */
    uint32_t maintenance_mask; /* size of the queue - 1, a power of two above ranks + banks */
    struct pim_dram_counters counters;
    struct low_power low_power;
    struct section section[SECTIONS_MAX];
    uint16_t filter[FILTER_SIZE];
};

/* The place of a bank in the sets of its section. */
static inline uint64_t section_bit(uint32_t bank)
{
    return UINT64_C(1) << bank % SECTION_BANKS;
}

/* Was the row of any bank opened for a request that is not served? `sections` are those of the channel. */
static inline bool any_active(const struct pim_dram_channel *channel, uint32_t sections)
{
    uint64_t any = channel->section[0].active;
    for (uint32_t i = 1; i < sections; i++)
        any |= channel->section[i].active;
    return any != 0;
}

/* Counts a request in `counter` when it has caused no command before. */
static inline void first_command(struct entry *entry, uint64_t cycle, uint64_t *counter)
{
    if (entry->first_command == NEVER) {
        entry->first_command = cycle;
        ++*counter;
    }
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Cycles before `end` with an open row or a refresh. */
static inline uint64_t rank_active_cycles(const struct rank *rank, uint64_t end)
{
    const uint64_t until = rank->until < end ? rank->until : end;
    return rank->active_cycles + (until > rank->since ? until - rank->since : 0);
}

/* The earliest cycle of a command at a bank as far as constraints go. */
static inline uint64_t bank_ready(const struct pim_dram_channel *channel, const struct bank *bank,
                                  unsigned next)
{
    return later(bank->ready[next],
                 later(channel->groups[bank->group].ready[next], channel->ranks[bank->rank].ready[next]));
}

static inline unsigned filter_index(uint32_t bank, uint32_t row, uint32_t column)
{
    return (bank * 67 + row * 31 + column) & (FILTER_SIZE - 1);
}

/* channel.c: does a waiting write hold the data of this location? */
bool write_waits(const struct pim_dram_channel *channel, const struct pim_dram_location *location);

/* plan.c */
bool write_mode_changes(const struct pim_dram_channel *channel);

/* plan.c: fills column, row and close_time. */
void channel_plan(struct pim_dram_channel *channel);
/* Takes a request that has just been put into the waiting lists into a valid plan. */
void channel_plan_arrival(struct pim_dram_channel *channel, int16_t entry);

/* issue.c: issues what was chosen. */
void channel_issue(struct pim_dram_channel *channel, const struct choice *choice);
/* Puts an entry at the end of its bank's list, or takes it out. */
void waiting_add(struct pim_dram_channel *channel, int16_t entry);
void waiting_remove(struct pim_dram_channel *channel, int16_t entry);
/* Commands of a stream (stream.c) act like the last of them. */
void forbid_later(struct pim_dram_channel *channel, enum pim_dram_command command, struct bank *bank,
                  uint64_t cycle);
/* Tells the sink of a command. */
void record(const struct pim_dram_channel *channel, uint64_t cycle, enum pim_dram_command command,
            uint32_t bank, uint32_t row, uint32_t column);
/* Finds hit and other among the waiting requests (at least one) of a bank whose row is open; one of the
 * two is the first. */
void waiting_sort(struct pim_dram_channel *channel, struct waiting *waiting, unsigned write, unsigned bank,
                  uint32_t row);
/* Gives the requests that are there the ages from 0 on, in the same order. */
void waiting_renumber(struct pim_dram_channel *channel);

/* low_power.c: fills the plan with what goes before everything else in the cycle `floor`, or says
 * false. */
bool low_power_goes_first(struct pim_dram_channel *channel, uint64_t floor);
/* Puts CAS in the place of a planned column command, or an ACT-2 before what is planned. */
void low_power_completes(struct pim_dram_channel *channel, uint64_t floor);
void low_power_issue(struct pim_dram_channel *channel, const struct choice *choice);
/* A column command whose data end in `completed`. */
void low_power_column(struct pim_dram_channel *channel, uint64_t completed);
/* May column commands from `next` on follow one another without a CAS? */
bool low_power_streams(const struct pim_dram_channel *channel, bool write, uint64_t next);

/* Was a CAS issued for this bank, whose column command comes next? */
static inline bool low_power_uses(const struct pim_dram_channel *channel, const struct bank *bank)
{
    const struct choice *forced = &channel->low_power.forced;
    return forced->kind != CHOOSE_NOTHING && &channel->banks[channel->entries[forced->entry].bank] == bank;
}

/* maintenance.c */
void maintenance_refresh_due(struct pim_dram_channel *channel);
/* Skips due refreshes up to `until` that would do nothing but be counted. */
void maintenance_skip_idle(struct pim_dram_channel *channel, uint64_t until);
/* Queues the owed refreshes that may not wait any longer, or need not. */
void maintenance_queue_owed(struct pim_dram_channel *channel);
/* Fills close_time at the start of a plan for `floor`. */
void maintenance_begin(struct pim_dram_channel *channel, bool cycle_begins, uint64_t floor);
/* The next maintenance command, at `floor` or later: of the head of the queue, or of the entry that comes
 * first when they are independent. Its time is NEVER when it has to wait for a request. */
struct choice maintenance_choice(const struct pim_dram_channel *channel, uint64_t floor);
/* The banks of a section whose requests independent maintenance keeps away. */
uint64_t maintenance_banks(const struct pim_dram_channel *channel, uint32_t section);
/* Would an ACT for a bank in `cycle` keep away a refresh of its rank that waits for nothing else? */
bool maintenance_holds(const struct pim_dram_channel *channel, const struct bank *bank, uint64_t cycle);
/* Tells that what maintenance_choice said was issued. */
void maintenance_issued(struct pim_dram_channel *channel, const struct choice *choice);

/* The entry at a place of the queue, the head at 0. */
static inline struct maintenance *maintenance_at(const struct pim_dram_channel *channel, uint32_t place)
{
    return &channel->maintenance[(channel->maintenance_first + place) & channel->maintenance_mask];
}

#endif
