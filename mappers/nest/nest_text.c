#include "mappers/nest/nest_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pim_nest_write(const struct pim_nest *nest, unsigned indent, FILE *file)
{
    unsigned level = 0;
    for (uint32_t i = 0; i < nest->loops; i++) {
        const struct pim_nest_loop *loop = &nest->loop[i];
        if (i == nest->cut)
            fprintf(file, "%*scut\n", (int)indent, "");
        if (loop->level != level)
            fprintf(file, "%*slevel %u\n", (int)indent, "", loop->level);
        level = loop->level;
        fprintf(file, "%*s%s %s in [0:%" PRIu32 ")\n", (int)(indent + 2 * (i < 20 ? i : 20)), "",
                loop->spatial ? "parallel_for" : "for", pim_dimension_name(loop->dimension), loop->count);
    }
    if (nest->cut == nest->loops)
        fprintf(file, "%*scut\n", (int)indent, "");
}

/* "P in [0:4)": dimension and count. */
static bool take_loop(const char *text, unsigned *dimension, uint64_t *count)
{
    char name[2] = {text[0], '\0'};
    char *end = NULL;
    *dimension = text[0] ? pim_dimension_find(name) : PIM_DIMENSIONS;
    if (*dimension == PIM_DIMENSIONS || strncmp(text + 1, " in [0:", 7) != 0 || text[8] < '0' ||
        text[8] > '9')
        return false;
    *count = strtoull(text + 8, &end, 10);
    return strcmp(end, ")") == 0 && *count >= 1 && *count <= PIM_NEST_EXTENT;
}

/* The words behind `word` and a blank; NULL when the line does not begin with it. */
static const char *behind(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

enum pim_status pim_nest_take_line(struct pim_nest_reader *reader, struct pim_nest *nest, const char *line,
                                   bool *taken, struct pim_error *error)
{
    line += strspn(line, " \t");
    const char *temporal = behind(line, "for"), *spatial = behind(line, "parallel_for");
    const char *level = behind(line, "level");
    *taken = temporal || spatial || level || strcmp(line, "cut") == 0;
    if (!*taken)
        return PIM_OK;
    if (level) {
        char *end = NULL;
        unsigned long value = strtoul(level, &end, 10);
        if (level[0] < '0' || level[0] > '9' || *end || value > 255)
            return pim_fail(error, PIM_BAD_INPUT, "level %.20s: must be 0 to 255", level);
        reader->level = (uint8_t)value;
        return PIM_OK;
    }
    if (!temporal && !spatial) {
        if (reader->cut)
            return pim_fail(error, PIM_BAD_INPUT, "cut: a nest has one");
        reader->cut = true;
        nest->cut = nest->loops;
        return PIM_OK;
    }
    unsigned dimension;
    uint64_t count = 0;
    if (!take_loop(temporal ? temporal : spatial, &dimension, &count))
        return pim_fail(error, PIM_BAD_INPUT, "\"%.40s\": must be \"for D in [0:n)\", D one of N K C P Q R S",
                        line);
    if (nest->loops == PIM_NEST_LOOPS)
        return pim_fail(error, PIM_BAD_INPUT, "a nest has at most %d loops", PIM_NEST_LOOPS);
    nest->loop[nest->loops++] = (struct pim_nest_loop){.dimension = (uint8_t)dimension,
                                                       .spatial = spatial != NULL,
                                                       .level = reader->level,
                                                       .count = (uint32_t)count};
    return PIM_OK;
}

void pim_nest_take_end(const struct pim_nest_reader *reader, struct pim_nest *nest)
{
    if (!reader->cut)
        nest->cut = nest->loops;
}
