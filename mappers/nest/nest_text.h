/*
 * Nests as text, a loop a line, as they are read and as they are printed:
 *
 *     level 1
 *     parallel_for K in [0:2)
 *       for P in [0:4)
 *     cut
 *         for Q in [0:4)
 *
 * Indentation is for the eye. `level` names the level of memory of the loops behind it.
 */
#ifndef PIMSIM_MAPPERS_NEST_NEST_TEXT_H
#define PIMSIM_MAPPERS_NEST_NEST_TEXT_H

#include "mappers/nest/nest.h"

#include <stdio.h>

/* Writes a nest, its first line indented by `indent` blanks. */
void pim_nest_write(const struct pim_nest *nest, unsigned indent, FILE *file);

/* What a line of a nest changes; all zero before the first. */
struct pim_nest_reader {
    uint8_t level;
    bool cut; /* the line "cut" was there */
};

/*
 * Takes a line that is a part of a nest; *taken says whether it was one. PIM_BAD_INPUT says what is wrong
 * with a line that begins like one. `line` has no newline.
 */
enum pim_status pim_nest_take_line(struct pim_nest_reader *reader, struct pim_nest *nest, const char *line,
                                   bool *taken, struct pim_error *error);

/* Without a line "cut" all loops are before it. */
void pim_nest_take_end(const struct pim_nest_reader *reader, struct pim_nest *nest);

#endif
