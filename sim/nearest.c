/* Optimal string alignment distance by three rolling rows of the usual table. */
#include "sim/nearest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

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

enum pim_nearness pim_nearness_of(const char *wanted, const char *name, size_t *edits)
{
    enum { SHORT = 3 };
    const size_t m = strnlen(wanted, LONGEST), n = strnlen(name, LONGEST), longer = m > n ? m : n;
    *edits = pim_edit_distance(wanted, name);
    if (*edits == 0 || (longer > SHORT && 3 * *edits <= longer))
        return PIM_NEAR;
    const bool begins = m > 0 && strncasecmp(wanted, name, m) == 0;
    return begins || (*edits == 1 && longer <= SHORT && least(m, n) > 1) ? PIM_NEAR_ALONE : PIM_FAR;
}

/* A second one that is near alone leaves none of them. */
static bool offer_alone(struct pim_nearest *nearest, const char *name)
{
    if (nearest->near || nearest->several || (nearest->name && strcmp(nearest->name, name) == 0))
        return false;
    nearest->several = nearest->name != NULL;
    nearest->name = nearest->several ? NULL : name;
    return !nearest->several;
}

bool pim_nearest_offer(struct pim_nearest *nearest, const char *name)
{
    size_t edits;
    const enum pim_nearness nearness = pim_nearness_of(nearest->wanted, name, &edits);
    if (nearness != PIM_NEAR)
        return nearness == PIM_NEAR_ALONE && offer_alone(nearest, name);
    if (nearest->near && edits >= nearest->edits)
        return false;
    nearest->near = true;
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
