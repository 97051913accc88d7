#include "tests/unit/search/suites.h"

#include <stdlib.h>

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, search_points_suite());
    srunner_add_suite(runner, search_exact_suite());
    srunner_add_suite(runner, search_methods_suite());
}

FILE *open_data(const char *name)
{
    char relative[128], path[1024];
    (void)snprintf(relative, sizeof relative, "tests/data/search/%s", name);
    FILE *file = fopen(pimsim_source_path(path, sizeof path, relative), "r");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    return file;
}

bool next_word(FILE *file, char word[64])
{
    return fscanf(file, "%63s", word) == 1;
}

double next_real(FILE *file)
{
    char word[64], *end;
    ck_assert(next_word(file, word));
    double value = strtod(word, &end);
    ck_assert_msg(*end == '\0', "%s is no number", word);
    return value;
}

uint64_t next_count(FILE *file)
{
    char word[64], *end;
    ck_assert(next_word(file, word));
    uint64_t value = strtoull(word, &end, 10);
    ck_assert_msg(*end == '\0', "%s is no number", word);
    return value;
}
