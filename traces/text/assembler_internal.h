/* What the files of the assembler share. */
#ifndef PIMSIM_TRACES_TEXT_ASSEMBLER_INTERNAL_H
#define PIMSIM_TRACES_TEXT_ASSEMBLER_INTERNAL_H

#include "traces/file/sections.h"
#include "traces/file/writer.h"
#include "traces/text/lexer.h"
#include "traces/text/text.h"
#include "traces/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIM_ASSEMBLER_BLOCK = PIM_REPEAT_LENGTH + 1, PIM_ASSEMBLER_NAMES_MOST = 24, PIM_ASSEMBLER_TEXTS = 4 };

/* A text of the description, joined from its pieces. */
struct pim_assembler_text {
    char *bytes;
    size_t length;
};

struct pim_assembler {
    struct pim_lexer lexer;
    const char *path;
    struct pim_trace_writer *writer; /* NULL until the description is complete */
    struct pim_trace_description description;
    struct pim_assembler_text text[PIM_ASSEMBLER_TEXTS]; /* family, network, mapping, configuration */
    bool versioned;
    uint32_t phases;
    uint32_t with_equations; /* up to the last phase that has some */
    uint32_t unit;           /* PIM_ALL_UNITS: none yet */
    bool in_router;
    uint32_t router, entries, entry_capacity;
    struct pim_trace_behaviour *entry;
    unsigned depth; /* open repeat blocks */
    uint32_t open[PIM_REPEAT_DEPTH];
    uint32_t held; /* instructions of the outermost open block */
    struct pim_instruction block[PIM_ASSEMBLER_BLOCK];
    unsigned block_line[PIM_ASSEMBLER_BLOCK];
};

/* --- tokens (assembler_tokens.c) --- */

enum pim_status pim_assembler_next(struct pim_assembler *self, struct pim_error *error);

/* Refuses the token that is there: `wanted` says what would be right. */
enum pim_status pim_assembler_unexpected(const struct pim_assembler *self, const char *wanted,
                                         struct pim_error *error);

/* Refuses a word that is none of `names`, and tells the nearest, if there is one. */
enum pim_status pim_assembler_unknown(const struct pim_assembler *self, const char *what,
                                      const char *const *names, size_t count, struct pim_error *error);

bool pim_assembler_is_mark(const struct pim_assembler *self, char mark);
enum pim_status pim_assembler_need_end(const struct pim_assembler *self, struct pim_error *error);
enum pim_status pim_assembler_take_mark(struct pim_assembler *self, char mark, struct pim_error *error);
/* A number from 0 to `most`. */
enum pim_status pim_assembler_take_number(struct pim_assembler *self, uint64_t most, uint64_t *value,
                                          struct pim_error *error);

/* Puts "name:line:1: " in front of a message that came from below. */
enum pim_status pim_assembler_fail_at_line(const struct pim_assembler *self, unsigned line,
                                           struct pim_error *error);

/* --- directives (assembler_directives.c) --- */

/* The description is over: starts the trace. */
enum pim_status pim_assembler_start_writer(struct pim_assembler *self, struct pim_error *error);
/* The behaviour table that is read, if there is one, is over. */
enum pim_status pim_assembler_end_router(struct pim_assembler *self, struct pim_error *error);
/* A line that begins with a point. */
enum pim_status pim_assembler_take_directive(struct pim_assembler *self, struct pim_error *error);

#endif
