/* Names of the values of an enumeration, from its map X(name, text). */
#ifndef PIMSIM_SIM_NAMES_H
#define PIMSIM_SIM_NAMES_H

#include <stddef.h>

#define PIM_NAMES_TEXT(name, text) text,

/* Defines `const char *function(unsigned value)`: the text of a value; NULL outside. */
#define PIM_NAMES(function, map)                                                                             \
    const char *function(unsigned value)                                                                     \
    {                                                                                                        \
        static const char *const names[] = {map(PIM_NAMES_TEXT)};                                            \
        return value < sizeof names / sizeof names[0] ? names[value] : NULL;                                 \
    }

#endif
