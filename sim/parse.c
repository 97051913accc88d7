#include "sim/parse.h"

#include "sim/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum pim_status pim_parse_unsigned(const char *name, const char *text, uint64_t minimum, uint64_t maximum,
                                   uint64_t *value, struct pim_error *error)
{
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? text + 2 : text;
    bool good = *digits != '\0' &&
                digits[strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789")] == '\0';
    errno = 0;
    unsigned long long number = good ? strtoull(digits, NULL, hexadecimal ? 16 : 10) : 0;
    if (!good || errno != 0 || number < minimum || number > maximum)
        return pim_fail(error, PIM_USAGE, "%s: found %.60s, allowed is an integer from %llu to %llu", name,
                        *text ? text : "nothing", (unsigned long long)minimum, (unsigned long long)maximum);
    *value = number;
    return PIM_OK;
}

enum pim_status pim_parse_real(const char *name, const char *text, double minimum, double maximum,
                               double *value, struct pim_error *error)
{
    char *end = NULL;
    bool good = *text != '\0' && text[strspn(text, "0123456789.eE+-")] == '\0';
    double number = good ? strtod(text, &end) : 0;
    if (!good || *end != '\0' || !isfinite(number) || number < minimum || number > maximum)
        return pim_fail(error, PIM_USAGE, "%s: found %.60s, allowed is a number from %g to %g", name,
                        *text ? text : "nothing", minimum, maximum);
    *value = number;
    return PIM_OK;
}

enum pim_status pim_parse_choice(const char *name, const char *text, const char *choices, unsigned *index,
                                 struct pim_error *error)
{
    struct pim_nearest nearest = {.wanted = text};
    char kept[64];
    unsigned i = 0;
    for (const char *choice = choices; choice; i++) {
        char word[64];
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(choice, "|"), choice);
        if (strcmp(word, text) == 0) {
            *index = i;
            return PIM_OK;
        }
        (void)pim_nearest_offer_copy(&nearest, word, kept, sizeof kept);
        choice = strchr(choice, '|');
        choice = choice ? choice + 1 : NULL;
    }
    return pim_fail(error, PIM_USAGE, "%s: found %.60s, allowed is %s%s%s", name, *text ? text : "nothing",
                    choices, PIM_NEAREST(nearest, "; the nearest is "));
}
