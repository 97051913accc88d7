/* A mapper with its options in words, as behind `pimsim map`: "allspark --partition head". */
#ifndef PIMSIM_TOOLS_LIBRARY_WORDS_H
#define PIMSIM_TOOLS_LIBRARY_WORDS_H

#include "mappers/mapper.h"

struct pim_map_words {
    const struct pim_mapper *mapper;
    void *options;           /* of the mapper; texts lie in `text` */
    const char **sets;       /* of --set */
    const char **dimensions; /* of --dim */
    size_t set_count, dimension_count;
    char *text;
};

/*
 * Words are separated by blanks. Options of the mapper, --set and --dim are taken; --quiet and --format
 * change nothing here; all others are refused, and those that do nothing beside others. PIM_USAGE,
 * PIM_NO_MEMORY. To be terminated after success.
 */
enum pim_status pim_map_words_parse(const char *text, struct pim_map_words *words, struct pim_error *error);
void pim_map_words_terminate(struct pim_map_words *words);

/* Whether the mapper with these options can start its search from plans (--start-from), and is not told
 * to. */
bool pim_map_words_starts(const struct pim_map_words *words);

/* The hash of the files that options of the mapper name, as a text, "" when there are none: what a mapping
 * depends on beside its words. PIM_IO, PIM_BAD_INPUT, PIM_NO_MEMORY. */
enum { PIM_MAP_FILES_BYTES = 17 };
enum pim_status pim_map_words_files(const struct pim_map_words *words, char text[PIM_MAP_FILES_BYTES],
                                    struct pim_error *error);

#endif
