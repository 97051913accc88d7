/*
 * A DRAM standard as data: organisation, commands, parameters, and the table of constraints that the
 * scheduler (channel.h) works from. (The checker, command_check.h, has its own.)
 *
 * The channel is a tree: channel > pseudo-channel > rank > stack identifier > bank group > bank. Commands of
 * a channel share its command bus; pseudo-channels have a data bus each; ranks share the data bus of their
 * pseudo-channel. Ranks are numbered through all pseudo-channels of a channel (pseudo-channel x ranks +
 * rank), bank groups through all stack identifiers of a rank.
 *
 * A constraint says: after command `previous`, command `next` in the scope must be at least `cycles` later.
 * Rules: Ramulator 2.1 (commit c5b1c3a), with the rank switch from reading to writing as in DRAMsim3 (commit
 * 2981759) and the constraints of per-bank refresh that JESD235 has and Ramulator 2.1 lacks; they stand in
 * configs/dram/constraints (rows.h), the commands in configs/dram/commands (commands.h).
 */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_SPECIFICATION_H
#define PIMSIM_MODELS_DRAM_STANDARD_SPECIFICATION_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of commands, of which a standard has one each or none (commands.h): X(enumerator, name in the
 * built-in standards). */
#define PIM_DRAM_COMMAND_MAP(X)                                                                              \
    X(ACT, "ACT")   /* opens a row */                                                                        \
    X(PRE, "PRE")   /* closes a bank */                                                                      \
    X(PREA, "PREA") /* closes all banks of a rank */                                                         \
    X(RD, "RD")     /* reads a column of the open row */                                                     \
    X(WR, "WR")     /* writes a column of the open row */                                                    \
    X(RDA, "RDA")   /* the same, and then closes the bank by itself */                                       \
    X(WRA, "WRA")                                                                                            \
    X(REF, "REF")     /* refreshes a rank, all of whose banks are closed */                                  \
    X(REFPB, "REFpb") /* refreshes one closed bank */                                                        \
    X(REFSB, "REFsb") /* refreshes the closed banks of one number in all bank groups of a rank */            \
    X(ACT2, "ACT2") /* opens further rows of an open bank, which take the data of the open one (tAA > 0) */  \
    X(ACT_SECOND, "ACT-2") /* the second half of ACT, where ACT is ACTIVATE-1 (tAAD > 0) */                  \
    X(CAS_RD, "CAS_RD")    /* starts the write clock for the RD behind it */                                 \
    X(CAS_WR, "CAS_WR")

enum pim_dram_command {
#define X(name, text) PIM_DRAM_##name,
    PIM_DRAM_COMMAND_MAP(X)
#undef X
        PIM_DRAM_COMMANDS
};

/*
 * Timing parameters in cycles of the memory clock: X(enumerator, key, fallback, text). Names are JEDEC's.
 * tRTW and tCS are the empty data cycles between read and write data, and between data of different ranks.
 */
#define PIM_DRAM_TIME_MAP(X)                                                                                 \
    X(CL, "tcl", "16", "RD to its first data.")                                                              \
    X(CWL, "tcwl", "12", "WR to its first data.")                                                            \
    X(RCDRD, "trcd_read", "16", "ACT to RD.")                                                                \
    X(RCDWR, "trcd_write", "16", "ACT to WR.")                                                               \
    X(RP, "trp", "16", "PRE to ACT or REF.")                                                                 \
    X(RPAB, "trp_all", "0", "PREA to ACT or REF; 0: trp.")                                                   \
    X(RAS, "tras", "39", "ACT to PRE.")                                                                      \
    X(RC, "trc", "55", "ACT to ACT of the same bank.")                                                       \
    X(CCD_S, "tccd_s", "4", "RD to RD and WR to WR, other bank group.")                                      \
    X(CCD_L, "tccd_l", "6", "RD to RD and WR to WR, same bank group.")                                       \
    X(CCD_L_WR, "tccd_l_write", "0", "WR to WR, same bank group (DDR5: tCCD_L_WR); 0: tccd_l.")              \
    X(CCD_R, "tccd_r", "0",                                                                                  \
      "With stack_ids above 1: RD to RD of another stack identifier (HBM3: tCCDR); 0: tccd_s.")              \
    X(RRD_S, "trrd_s", "4", "ACT to ACT, other bank group.")                                                 \
    X(RRD_L, "trrd_l", "6", "ACT to ACT, other bank of the same bank group.")                                \
    X(FAW, "tfaw", "26", "A fifth ACT of a rank is at least this far behind the first of the last four.")    \
    X(WTR_S, "twtr_s", "3", "End of write data to RD, other bank group.")                                    \
    X(WTR_L, "twtr_l", "9", "End of write data to RD, same bank group.")                                     \
    X(WR_PRE, "twr", "18", "End of write data to PRE.")                                                      \
    X(RTP, "trtp", "9", "RD to PRE.")                                                                        \
    X(RTW, "trtw", "2", "Empty cycles between read data and write data.")                                    \
    X(CS, "tcs", "2", "Empty cycles between data of different ranks.")                                       \
    X(PPD, "tppd", "0", "PRE to PRE (LPDDR4).")                                                              \
    X(RFC, "trfc", "433", "REF to ACT or REF.")                                                              \
    X(RFC_FINE, "trfc_fine", "0", "With refresh_rate above 1: trfc of its shorter refreshes.")               \
    X(RFCPB, "trfc_bank", "160", "REFpb (REFsb) to ACT or REFpb of the same bank.")                          \
    X(RREFD, "trrefd", "8", "REFpb (REFsb) to ACT or REFpb of another bank.")                                \
    X(REFPB_REFPB, "trefpb_refpb", "0", "REFpb to REFpb of another bank (LPDDR: tpbR2pbR); 0: trrefd.")      \
    X(REFI, "trefi", "9364", "Due refreshes of a rank are this far apart.")                                  \
    X(REFIPB, "trefi_bank", "0",                                                                             \
      "Due REFpb (REFsb) of a rank are this far apart; 0: trefi / their number. "                            \
      "One set before same_bank counts as 0.")

#define PIM_DRAM_CLOCK_TIME_MAP(X)                                                                           \
    X(AAD, "taad", "0",                                                                                      \
      "ACT is ACTIVATE-1, and its ACT-2 follows at most this much later (LPDDR5: tAAD); 0: one command.")    \
    X(WCKPST, "twckpst", "0",                                                                                \
      "The write clock runs on for so long behind the data of a column command (LPDDR5: tWCKPST).")          \
    X(AA, "taa", "0", "ACT to ACT2, the second activation of a bank that computes; 0: there is none.")

/* PIM_DRAM_TIME_MAP and PIM_DRAM_CLOCK_TIME_MAP are times, and may be given in ns, too. */
#define PIM_DRAM_PARAMETER_MAP(X)                                                                            \
    X(B, "burst_cycles", "4", "Cycles that the data of one column access hold the data bus (BL/2).")         \
    PIM_DRAM_TIME_MAP(X)                                                                                     \
    X(ACT_CYCLES, "activate_cycles", "1", "Cycles that ACT holds its command bus.")                          \
    X(COLUMN_CYCLES, "column_cycles", "1", "Cycles that RD and WR hold their command bus (DDR5: 2).")        \
    PIM_DRAM_CLOCK_TIME_MAP(X)

enum pim_dram_parameter {
    PIM_DRAM_NO_PARAMETER,
#define X(name, key, fallback, text) PIM_DRAM_T_##name,
    PIM_DRAM_PARAMETER_MAP(X)
#undef X
        PIM_DRAM_PARAMETERS
};

enum {
    PIM_DRAM_CYCLES_MAX = 1 << 20, /* of a timing parameter */
    PIM_DRAM_REFRESH_INTERVAL_MAX = 1 << 30,
    PIM_DRAM_NS_MAX = 1000000000, /* of a time in ns */
    PIM_DRAM_BANKS_MAX = 256,     /* of one channel: their numbers are bytes */
    PIM_DRAM_RANKS_MAX = 16,      /* of one channel */
    PIM_DRAM_STACKS_MAX = 4,      /* stack identifiers of a rank */
    PIM_DRAM_CHANNELS_MAX = 4096,
    PIM_DRAM_ROWS_MAX = 120,
    PIM_DRAM_CONSTRAINTS_MAX = 512, /* rows by how long their commands hold the bus, and the bus itself */
    PIM_DRAM_NAME_MOST = 16,        /* of a command */
    PIM_DRAM_COMMAND_CYCLES_MAX = 16,
    PIM_DRAM_TERMS_MAX = 6,    /* of a distance */
    PIM_DRAM_TIMINGS_MAX = 32, /* names of an architect's own */
    PIM_DRAM_TAKEN_MAX = 16    /* built-in rows that a configuration takes out */
};

struct pim_dram_organization {
    uint32_t channels;        /* independent of one another; all counts but rows are powers of two */
    uint32_t pseudo_channels; /* of a channel */
    uint32_t ranks;           /* of a pseudo-channel */
    uint32_t stack_ids;       /* of a rank: a part of its bank groups each */
    uint32_t bank_groups;     /* of a rank, in all stack identifiers */
    uint32_t banks;           /* of a bank group */
    uint32_t rows;            /* of a bank */
    uint32_t columns;         /* of a row: column accesses */
    uint32_t access_bytes;    /* moved by a column access */
};

enum pim_dram_scope {
    PIM_DRAM_SCOPE_BANK,           /* same bank */
    PIM_DRAM_SCOPE_GROUP,          /* same bank group, same bank included */
    PIM_DRAM_SCOPE_STACK,          /* same stack identifier of the rank */
    PIM_DRAM_SCOPE_OTHER_STACK,    /* another stack identifier of the same rank */
    PIM_DRAM_SCOPE_RANK,           /* same rank */
    PIM_DRAM_SCOPE_OTHER_RANK,     /* other rank of the same pseudo-channel */
    PIM_DRAM_SCOPE_PSEUDO_CHANNEL, /* same pseudo-channel, any rank */
    PIM_DRAM_SCOPE_CHANNEL
};

/* A part of a distance: a parameter, or without one a number of cycles. */
struct pim_dram_term {
    uint32_t cycles;
    uint8_t parameter; /* enum pim_dram_parameter */
    bool minus;
};

/* A constraint before its evaluation, as rows.h reads it. `previous` and `next` are sets of commands
 * (bit 1 << command). */
struct pim_dram_row {
    enum pim_dram_scope scope;
    uint32_t previous, next;
    struct pim_dram_term term[PIM_DRAM_TERMS_MAX];
    uint8_t terms, window;
    bool own;      /* of the configuration, not of the built-in standards */
    char text[48]; /* the distance as it was written, cut to this */
};

/* A command of a standard. */
struct pim_dram_command_row {
    char name[PIM_DRAM_NAME_MOST + 1];
    struct pim_dram_term cycles; /* that it holds its command bus */
    bool exists;
    bool either_edge; /* half_clock: issues at falling edges, too */
    bool own;         /* of the configuration, not of the built-in standards */
};

struct pim_dram_timing {
    char name[33];
    uint32_t cycles;
};

struct pim_dram_specification {
    struct pim_dram_organization organization;
    uint32_t clock_ps;      /* period of the memory clock */
    bool split_command_bus; /* HBM: in each cycle one column command and one row command */
    /* HBM3: a cycle is half a clock. Commands issue at the rising edge, which is in odd cycles; those of
     * either_edge (PRE and PREA) in any. */
    bool half_clock;
    /* LPDDR5: RD and WR need the write clock, which CAS starts; it runs until tWCKPST behind their data. */
    bool write_clock;
    uint32_t parameter[PIM_DRAM_PARAMETERS];
    /* By dram.refresh_rate: REFs are so many times as often, trefi is divided by it (0: 1). */
    uint32_t refresh_rate;
    unsigned timings, rows, taken;
    bool standard; /* the built-in rows are among them, but for those that were taken out */
    struct pim_dram_command_row command[PIM_DRAM_COMMANDS];
    struct pim_dram_timing timing[PIM_DRAM_TIMINGS_MAX];
    struct pim_dram_row row[PIM_DRAM_ROWS_MAX];
    struct pim_dram_row taken_row[PIM_DRAM_TAKEN_MAX]; /* built-in ones that the configuration took out */
};

/* `previous` and `next` are sets of commands (bit 1 << command). REFsb is a command to each of its banks and
 * their groups: what holds for one of them holds for it. With window w > 1 the distance
 * counts from the w-th last `previous` in the scope. */
struct pim_dram_constraint {
    enum pim_dram_scope scope;
    uint32_t previous, next;
    uint32_t cycles;
    uint32_t window;
    const char *text; /* "tcwl + burst_cycles + twtr_l"; of the specification, or of the checker */
};

struct pim_dram_constraint_table {
    size_t count;
    struct pim_dram_constraint row[PIM_DRAM_CONSTRAINTS_MAX];
};

/* What the built-in standards call a command. */
const char *pim_dram_command_text(enum pim_dram_command command);
/* The command that they call so; PIM_DRAM_COMMANDS when there is none. */
enum pim_dram_command pim_dram_command_parse(const char *text);
/* Cycles that a command holds its bus. */
uint32_t pim_dram_command_cycles(const struct pim_dram_specification *specification,
                                 enum pim_dram_command command);
/* The commands of a standard (bit 1 << command), ACT2 only with second activations (tAA above 0). */
uint32_t pim_dram_commands(const struct pim_dram_specification *specification);
const char *pim_dram_scope_text(enum pim_dram_scope scope);
/* The key of a parameter ("trcd_read"). */
const char *pim_dram_parameter_key(enum pim_dram_parameter parameter);

static inline bool pim_dram_is_column(enum pim_dram_command command)
{
    return command >= PIM_DRAM_RD && command <= PIM_DRAM_WRA;
}

static inline uint32_t pim_dram_ranks(const struct pim_dram_organization *organization)
{
    return organization->pseudo_channels * organization->ranks;
}

/* The bank groups of a stack identifier. */
static inline uint32_t pim_dram_groups_per_stack(const struct pim_dram_organization *organization)
{
    return organization->bank_groups / organization->stack_ids;
}

static inline uint32_t pim_dram_banks_per_rank(const struct pim_dram_organization *organization)
{
    return organization->bank_groups * organization->banks;
}

/* Cycles from RD or WR to the end of its data. */
static inline uint64_t pim_dram_read_latency(const struct pim_dram_specification *specification)
{
    return (uint64_t)specification->parameter[PIM_DRAM_T_CL] + specification->parameter[PIM_DRAM_T_B];
}
static inline uint64_t pim_dram_write_latency(const struct pim_dram_specification *specification)
{
    return (uint64_t)specification->parameter[PIM_DRAM_T_CWL] + specification->parameter[PIM_DRAM_T_B];
}

/* The distance of per-bank refreshes of a rank: the parameter, or tREFI / banks (same_bank:
 * pim_dram_configure has filled the parameter in). */
uint32_t pim_dram_bank_refresh_interval(const struct pim_dram_specification *specification);

/* Into a message about refreshes that are too close: what is needed of dram.KEY, in ns as far as dram.KEY_ns
 * may be so long, or that nothing so long is allowed; and the longest refresh (dram.trfc, or dram.trfc_fine
 * by refresh_rate) that would do, in cycles, unless that is 0. `cycles` are of the interval of a REF: of
 * dram.trefi it takes refresh_rate times as many. */
enum { PIM_DRAM_INTERVAL_TEXT = 128 };
void pim_dram_interval_text(char text[PIM_DRAM_INTERVAL_TEXT],
                            const struct pim_dram_specification *specification, const char *key,
                            uint64_t cycles, uint64_t longest);

/* Clock cycles of one AAP that meets no other bank: tAA + tRAS + tRP, with what a two-cycle ACT changes
 * (docs/models/bitserial.md). */
uint64_t pim_dram_aap_cycles(const struct pim_dram_specification *specification);

/* The most clock cycles of a step of a bank that computes, an AAP or a row that is written: a refresh waits
 * for its end. */
uint64_t pim_dram_computing_step(const struct pim_dram_specification *specification);

/* Bytes of all channels. */
uint64_t pim_dram_capacity(const struct pim_dram_organization *organization);

enum pim_dram_refreshing {
    PIM_DRAM_NOT_REFRESHED,
    PIM_DRAM_ALL_BANKS,
    PIM_DRAM_PER_BANK,
    PIM_DRAM_SAME_BANK
};

/* Refuses impossible organisations and timings (tRAS > tRC, tCCD_L < tCCD_S, ...); the message names the key
 * and what would be right. With refresh the rules of tREFI hold as well: refreshes that are due must be done
 * before the next ones are, and ranks wait for one another unless they are `independent`. */
enum pim_status pim_dram_check_specification(const struct pim_dram_specification *specification,
                                             enum pim_dram_refreshing refreshing, bool independent,
                                             struct pim_error *error);

/* Evaluates the rows: a row whose commands hold the bus for different times becomes several; those that
 * constrain nothing (0 cycles or less), and commands that the standard does not have, are left out. */
void pim_dram_constraints(const struct pim_dram_specification *specification,
                          struct pim_dram_constraint_table *table);

/* The most that a row asks for between the first cycles of two of its commands; how many constraints all rows
 * become, at most. */
int64_t pim_dram_longest_distance(const struct pim_dram_specification *specification,
                                  const struct pim_dram_row *row);
unsigned pim_dram_count_constraints(const struct pim_dram_specification *specification);

/* Adds the rows of the configuration's own alone. */
void pim_dram_own_constraints(const struct pim_dram_specification *specification,
                              struct pim_dram_constraint_table *table);

#endif
