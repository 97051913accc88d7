/* Optimal string alignment distance by three rolling rows of the usual table. */
#include "sim/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 255 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t pim_edit_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    size_t m = strnlen(a, LONGEST), n = strnlen(b, LONGEST);
    for (size_t j = 0; j <= n; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= m; i++) {
        char x = lower(a[i - 1]);
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            char y = lower(b[j - 1]);
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[n];
}

bool pim_is_near(const char *wanted, const char *name, size_t *edits)
{
    const size_t m = strnlen(wanted, LONGEST), n = strnlen(name, LONGEST);
    *edits = pim_edit_distance(wanted, name);
    return 3 * *edits <= (m > n ? m : n);
}

bool pim_nearest_offer(struct pim_nearest *nearest, const char *name)
{
    size_t edits;
    if (!pim_is_near(nearest->wanted, name, &edits) || (nearest->name && edits >= nearest->edits))
        return false;
    nearest->name = name;
    nearest->edits = edits;
    return true;
}

bool pim_nearest_offer_copy(struct pim_nearest *nearest, const char *name, char *kept, size_t size)
{
    if (!pim_nearest_offer(nearest, name))
        return false;
    (void)snprintf(kept, size, "%s", name);
    nearest->name = kept;
    return true;
}
