/* Slicing by dynamic programming; see slicing.h. */
#include "mappers/place/slicing.h"

#include <inttypes.h>
#include <stdlib.h>

/* The best slicing of a rectangle for a set: its worst region, and the cut that makes it. */
struct entry {
    uint64_t work;
    uint32_t cells; /* 0: impossible, or not yet known */
    uint32_t parts; /* of the first rectangle */
    uint8_t cut;    /* its rows or columns; 0: a region */
    uint8_t regions;
    bool rows, known;
};

struct run {
    uint32_t sets, regions, side_h, side_w;
    struct entry *entry; /* [((h * side_w + w) * sets + set) * regions + k - 1] */
    uint64_t *work_of;   /* of each set */
};

static uint32_t count_bits(uint32_t set)
{
    uint32_t count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

/* a < b as fractions; an entry without cells is infinite. */
static bool below(const struct entry *a, const struct entry *b)
{
    if (a->cells == 0)
        return false;
    return b->cells == 0 || a->work * b->cells < b->work * a->cells;
}

static const struct entry *solve(struct run *run, uint32_t h, uint32_t w, uint32_t set, uint32_t k);

/* Tries one cut for all divisions of the set and of the regions. */
static void try_cut(struct run *run, uint32_t h, uint32_t w, bool rows, uint32_t cut, uint32_t set,
                    uint32_t k, struct entry *best)
{
    for (uint32_t part = (set - 1) & set; part > 0; part = (part - 1) & set)
        for (uint32_t i = 1; i < k; i++) {
            const struct entry *a = solve(run, rows ? cut : h, rows ? w : cut, part, i);
            if (!below(a, best))
                continue;
            const struct entry *b = solve(run, rows ? h - cut : h, rows ? w : w - cut, set & ~part, k - i);
            const struct entry *worse = below(a, b) ? b : a;
            if (below(worse, best)) {
                best->work = worse->work;
                best->cells = worse->cells;
                best->parts = part;
                best->cut = (uint8_t)cut;
                best->regions = (uint8_t)i;
                best->rows = rows;
            }
        }
}

static const struct entry *solve(struct run *run, uint32_t h, uint32_t w, uint32_t set, uint32_t k)
{
    struct entry *entry =
        &run->entry[(((size_t)h * run->side_w + w) * run->sets + set) * run->regions + k - 1];
    if (entry->known)
        return entry;
    entry->known = true;
    if (k > count_bits(set) || k > h * w)
        return entry;
    if (k == 1) {
        entry->work = run->work_of[set];
        entry->cells = h * w;
        return entry;
    }
    struct entry best = {.known = true};
    for (uint32_t cut = 1; cut < h; cut++)
        try_cut(run, h, w, true, cut, set, k, &best);
    for (uint32_t cut = 1; cut < w; cut++)
        try_cut(run, h, w, false, cut, set, k, &best);
    *entry = best;
    return entry;
}

static void read_back(struct run *run, struct pim_slicing_region at, uint32_t k, struct pim_slicing *slicing)
{
    const struct entry *entry = solve(run, at.height, at.width, at.parts, k);
    if (k == 1) {
        slicing->region[slicing->regions++] = at;
        return;
    }
    struct pim_slicing_region first = at, second = at;
    first.parts = entry->parts;
    second.parts = at.parts & ~entry->parts;
    if (entry->rows) {
        first.height = entry->cut;
        second.height = at.height - entry->cut;
        second.y = at.y + entry->cut;
    } else {
        first.width = entry->cut;
        second.width = at.width - entry->cut;
        second.x = at.x + entry->cut;
    }
    read_back(run, first, entry->regions, slicing);
    read_back(run, second, k - entry->regions, slicing);
}

static enum pim_status check(const struct pim_grid *grid, const uint64_t *works, uint32_t parts,
                             uint32_t regions, struct pim_error *error)
{
    uint64_t all = 0;
    if (parts < 1 || parts > PIM_SLICING_PARTS || regions < 1 || regions > parts)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " regions for %" PRIu32
                        " parts: 1 to %d parts, and a part for each region",
                        regions, parts, PIM_SLICING_PARTS);
    if (grid->width < 1 || grid->height < 1 || grid->width > PIM_SLICING_SIDE ||
        grid->height > PIM_SLICING_SIDE || regions > pim_grid_cells(grid))
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " regions on a grid of %" PRIu32 " x %" PRIu32 ": sides of 1 to %d, and a "
                        "cell for each region",
                        regions, grid->width, grid->height, PIM_SLICING_SIDE);
    for (uint32_t i = 0; i < parts; i++) {
        all = works[i] > UINT64_C(1) << 40 ? UINT64_MAX : all + works[i];
        if (all > UINT64_C(1) << 40)
            return pim_fail(error, PIM_BAD_INPUT, "part %" PRIu32 ": the works add up to more than 2^40", i);
    }
    return PIM_OK;
}

enum pim_status pim_slice(const struct pim_grid *grid, const uint64_t *works, uint32_t parts,
                          uint32_t regions, struct pim_slicing *slicing, struct pim_error *error)
{
    *slicing = (struct pim_slicing){0};
    if (check(grid, works, parts, regions, error) != PIM_OK)
        return error->status;
    struct run run = {
        .sets = 1U << parts, .regions = regions, .side_h = grid->height + 1, .side_w = grid->width + 1};
    run.entry = calloc((size_t)run.side_h * run.side_w * run.sets * regions, sizeof *run.entry);
    run.work_of = calloc(run.sets, sizeof *run.work_of);
    bool enough = run.entry && run.work_of;
    for (uint32_t set = 1; enough && set < run.sets; set++)
        for (uint32_t i = 0; i < parts; i++)
            run.work_of[set] += set >> i & 1 ? works[i] : 0;
    if (enough) {
        const struct entry *best = solve(&run, grid->height, grid->width, run.sets - 1, regions);
        slicing->work = best->work;
        slicing->cells = best->cells;
        read_back(&run, (struct pim_slicing_region){0, 0, grid->width, grid->height, run.sets - 1}, regions,
                  slicing);
    }
    free(run.entry);
    free(run.work_of);
    return enough ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "no memory to slice a grid");
}
