/* Presets by name. Their figures stand in configs/dram, with what is assumed; sources in
 * docs/models/dram.md and docs/models/dram-presets.md. */
#include "models/dram/standard/presets.h"

#include "sim/nearest.h"

#include <stdio.h>
#include <string.h>

size_t pim_dram_preset_count(void)
{
    return pim_dram_preset_lists[PIM_DRAM_WHOLE].count;
}

const struct pim_dram_preset *pim_dram_preset(size_t index)
{
    return &pim_dram_preset_lists[PIM_DRAM_WHOLE].items[index];
}

const char *pim_dram_part_of(const struct pim_dram_preset *part, const char *standard)
{
    const size_t length = strlen(standard);
    return strncmp(part->name, standard, length) == 0 && part->name[length] == '_' ? part->name + length + 1
                                                                                   : NULL;
}

static const struct pim_dram_preset *find(enum pim_dram_preset_kind kind, const char *name)
{
    const struct pim_dram_preset_list *list = &pim_dram_preset_lists[kind];
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return &list->items[i];
    return NULL;
}

/* The standard that a name begins with, up to its first '_'; or NULL. */
static const struct pim_dram_preset *find_standard(const char *name)
{
    char standard[32];
    (void)snprintf(standard, sizeof standard, "%.*s", (int)strcspn(name, "_"), name);
    return find(PIM_DRAM_STANDARD, standard);
}

/* The longest bin that a name is, or begins with before a '_'; if asked for, one whose density there is. */
static const struct pim_dram_preset *find_bin(const char *name, const char *standard, bool with_density)
{
    const struct pim_dram_preset_list *bins = &pim_dram_preset_lists[PIM_DRAM_BIN];
    const struct pim_dram_preset *longest = NULL;
    for (size_t i = 0; i < bins->count; i++) {
        const struct pim_dram_preset *bin = &bins->items[i];
        const size_t length = strlen(bin->name);
        char density[64];
        if (strncmp(name, bin->name, length) != 0 || (name[length] != '_' && name[length] != '\0'))
            continue;
        (void)snprintf(density, sizeof density, "%s%s", standard, name + length);
        if ((!with_density || find(PIM_DRAM_DENSITY, density)) &&
            (!longest || length > strlen(longest->name)))
            longest = bin;
    }
    return longest;
}

/* What a page of the density's width (its last word) changes at the rate of the bin (its digits), or NULL. */
static const struct pim_dram_preset *find_page(const char *standard, const char *bin, const char *density)
{
    char name[64];
    const char *speed = bin + strlen(standard) + 1;
    (void)snprintf(name, sizeof name, "%s_%.*s%s", standard, (int)strspn(speed, "0123456789"), speed,
                   strrchr(density, '_'));
    return find(PIM_DRAM_PAGE, name);
}

static enum pim_status read_part(struct pim_configuration *values, const char *folder,
                                 const struct pim_dram_preset *part, struct pim_error *error)
{
    char place[96];
    (void)snprintf(place, sizeof place, "%s%s", folder, part->name);
    return pim_configuration_read_text(values, place, part->text, strlen(part->text), error);
}

/* The memory of a bin and a density that there are. */
static enum pim_status read_composed(struct pim_configuration *values, const char *name,
                                     const struct pim_dram_preset *standard,
                                     const struct pim_dram_preset *bin, struct pim_error *error)
{
    char density_name[64], own[128];
    (void)snprintf(density_name, sizeof density_name, "%s%s", standard->name, name + strlen(bin->name));
    const struct pim_dram_preset *density = find(PIM_DRAM_DENSITY, density_name),
                                 *page = find_page(standard->name, bin->name, density_name);
    /* Densities say how many devices there are; no currents are known yet. */
    (void)snprintf(own, sizeof own, "name = \"%s\"; energy = { model = \"none\"; };", name);
    enum pim_status status = read_part(values, "standards/", standard, error);
    if (status == PIM_OK)
        status = read_part(values, "bins/", bin, error);
    if (status == PIM_OK)
        status = read_part(values, "densities/", density, error);
    if (status == PIM_OK && page)
        status = read_part(values, "pages/", page, error);
    return status == PIM_OK ? pim_configuration_read_text(values, name, own, strlen(own), error) : status;
}

/* Writes the parts of a standard behind a text: "1600j, 1600k". */
static void write_parts(char *text, size_t size, enum pim_dram_preset_kind kind, const char *standard)
{
    const struct pim_dram_preset_list *list = &pim_dram_preset_lists[kind];
    size_t length = strlen(text);
    const char *between = "";
    for (size_t i = 0; i < list->count && length < size; i++) {
        const char *part = pim_dram_part_of(&list->items[i], standard);
        if (!part)
            continue;
        const int written = snprintf(text + length, size - length, "%s%s", between, part);
        length += written > 0 ? (size_t)written : 0;
        between = ", ";
    }
}

/* The preset, or bin and density, that a name may mean, kept in `found`. */
static struct pim_nearest find_nearest(const char *name, char found[64])
{
    const struct pim_dram_preset_list *bins = &pim_dram_preset_lists[PIM_DRAM_BIN],
                                      *densities = &pim_dram_preset_lists[PIM_DRAM_DENSITY];
    struct pim_nearest nearest = {.wanted = name};
    char composed[64];
    for (size_t i = 0; i < pim_dram_preset_count(); i++)
        (void)pim_nearest_offer(&nearest, pim_dram_preset(i)->name);
    for (size_t bin = 0; bin < bins->count; bin++) {
        const struct pim_dram_preset *standard = find_standard(bins->items[bin].name);
        for (size_t i = 0; i < densities->count; i++) {
            const char *density = pim_dram_part_of(&densities->items[i], standard->name);
            if (!density)
                continue;
            (void)snprintf(composed, sizeof composed, "%s_%s", bins->items[bin].name, density);
            (void)pim_nearest_offer_copy(&nearest, composed, found, 64);
        }
    }
    return nearest;
}

static enum pim_status refuse(const char *name, struct pim_error *error)
{
    const struct pim_dram_preset *standard = find_standard(name),
                                 *bin = standard ? find_bin(name, standard->name, false) : NULL;
    char found[64], parts[1024] = "";
    const struct pim_nearest nearest = find_nearest(name, found);
    if (bin)
        (void)snprintf(parts, sizeof parts, "; behind the speed bin %s a density of %s follows: ", bin->name,
                       standard->name);
    else if (standard)
        (void)snprintf(parts, sizeof parts,
                       "; speed bins of %s, with a density behind them: ", standard->name);
    if (standard)
        write_parts(parts, sizeof parts, bin ? PIM_DRAM_DENSITY : PIM_DRAM_BIN, standard->name);
    return pim_fail(error, PIM_USAGE, "no preset '%.60s'%s%s; `pimsim dram --list-presets` shows all%s", name,
                    PIM_NEAREST(nearest, "; the nearest is "), parts);
}

enum pim_status pim_dram_preset_read(struct pim_configuration *values, const char *name,
                                     struct pim_error *error)
{
    const struct pim_dram_preset *whole = find(PIM_DRAM_WHOLE, name), *standard = find_standard(name),
                                 *bin = standard ? find_bin(name, standard->name, true) : NULL;
    if (whole)
        return read_part(values, "", whole, error);
    return bin ? read_composed(values, name, standard, bin, error) : refuse(name, error);
}
