#include "mappers/nest/space.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    bool spatial;
    uint8_t level;
} slots[PIM_SLOTS] = {
#define X(name, text, spatial, level) {text, spatial, level},
    PIM_SLOT_MAP(X)
#undef X
};

const char *pim_slot_name(unsigned slot)
{
    return slot < PIM_SLOTS ? slots[slot].name : NULL;
}

void pim_mapping_space_initialize(struct pim_mapping_space *space, const struct pim_workload *workload,
                                  uint32_t channels, uint32_t banks, uint32_t columns, uint64_t data_spaces)
{
    memset(space, 0, sizeof *space);
    space->workload = *workload;
    space->instances[PIM_SLOT_CHANNELS] = channels;
    space->instances[PIM_SLOT_BANKS] = banks;
    space->instances[PIM_SLOT_COLUMNS] = columns;
    space->data_spaces = data_spaces;
}

void pim_mapping_space_by_rows(struct pim_mapping_space *space)
{
    static const uint8_t order[PIM_DIMENSIONS] = {PIM_N, PIM_P, PIM_Q, PIM_K, PIM_C, PIM_R, PIM_S};
    static const unsigned temporal[] = {PIM_SLOT_OUTER, PIM_SLOT_STEPS};
    static const unsigned spatial[] = {PIM_SLOT_CHANNELS, PIM_SLOT_BANKS, PIM_SLOT_COLUMNS};
    static const unsigned rows[] = {PIM_N, PIM_P};
    for (unsigned i = 0; i < 2; i++) {
        if (!space->ordered[temporal[i]])
            memcpy(space->order[temporal[i]], order, sizeof order);
        space->ordered[temporal[i]] = true;
    }
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 2; j++) {
            uint32_t *factor = &space->factor[spatial[i]][rows[j]];
            *factor = *factor > 0 ? *factor : 1;
        }
    }
}

static bool is_reduced(unsigned dimension)
{
    return dimension == PIM_C || dimension == PIM_R || dimension == PIM_S;
}

/* Columns that `groups` groups of `lanes` columns take, whose sums are trees: a power of two each. */
static uint64_t tree_columns(uint64_t groups, uint64_t lanes)
{
    uint64_t each = 1;
    while (each < lanes)
        each *= 2;
    return groups * each;
}

/* Pinned factors of columns: groups that are not reduced, and lanes of a group. */
static void pinned_columns(const struct pim_mapping_space *space, uint64_t *groups, uint64_t *lanes)
{
    *groups = *lanes = 1;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        if (space->factor[PIM_SLOT_COLUMNS][d] > 0)
            *(is_reduced(d) ? lanes : groups) *= space->factor[PIM_SLOT_COLUMNS][d];
}

static enum pim_status check_columns(const struct pim_mapping_space *space, struct pim_error *error)
{
    uint64_t groups, lanes;
    pinned_columns(space, &groups, &lanes);
    uint64_t columns = tree_columns(groups, lanes);
    if (columns <= space->instances[PIM_SLOT_COLUMNS])
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "columns: %" PRIu64 " groups of %" PRIu64 " columns that are summed take %" PRIu64
                    " (a tree needs a power of two), there are %" PRIu32,
                    groups, lanes, columns, space->instances[PIM_SLOT_COLUMNS]);
}

enum pim_status pim_mapping_space_check(const struct pim_mapping_space *space, struct pim_error *error)
{
    for (unsigned slot = 0; slot < PIM_SLOTS; slot++) {
        uint64_t product = 1;
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
            product *= space->factor[slot][d] > 0 && product <= UINT32_MAX ? space->factor[slot][d] : 1;
        if (slots[slot].spatial && product > space->instances[slot])
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: factors of %" PRIu64 " are asked for, there are %" PRIu32, slots[slot].name,
                            product, space->instances[slot]);
    }
    if (check_columns(space, error) != PIM_OK)
        return error->status;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        uint64_t product = 1, size = space->workload.size[d];
        for (unsigned slot = 0; slot < PIM_SLOTS; slot++) {
            uint64_t factor = space->factor[slot][d];
            if (factor > 0 && product <= size && (factor - 1) * product >= size)
                return pim_fail(error, PIM_BAD_INPUT,
                                "%s %s=%" PRIu64 ": with the factors further in more than %s has, %" PRIu64,
                                slots[slot].name, pim_dimension_name(d), factor, pim_dimension_name(d), size);
            product *= factor > 0 ? factor : 1;
        }
    }
    return PIM_OK;
}

struct draw {
    const struct pim_mapping_space *space;
    struct pim_random *random;
    uint32_t factor[PIM_SLOTS][PIM_DIMENSIONS];
    uint32_t rest[PIM_DIMENSIONS]; /* tiles that no slot has yet */
};

static void shuffled(struct pim_random *random, uint8_t order[PIM_DIMENSIONS])
{
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        order[d] = (uint8_t)d;
    pim_random_shuffle(random, order, PIM_DIMENSIONS, sizeof *order);
}

/* A divisor of `value` that is at most `most`, drawn among those near a random number. */
static uint32_t divisor(struct pim_random *random, uint32_t value, uint32_t most)
{
    uint32_t limit = value < most ? value : most;
    uint32_t factor = (uint32_t)pim_random_between(random, 1, limit);
    while (value % factor != 0)
        factor--;
    return factor;
}

static void give(struct draw *draw, unsigned slot, unsigned d, uint32_t factor)
{
    draw->factor[slot][d] *= factor;
    draw->rest[d] = draw->rest[d] / factor + (draw->rest[d] % factor != 0);
}

/* A free factor: as many as fit, any number, a divisor, or one. */
static uint32_t choose(struct draw *draw, uint32_t rest, uint32_t room)
{
    uint32_t most = rest < room ? rest : room;
    if (most <= 1)
        return 1;
    switch (pim_random_below(draw->random, 6)) {
    case 0:
    case 1:
        return most;
    case 2:
        return (uint32_t)pim_random_between(draw->random, 1, most);
    case 3:
    case 4:
        return divisor(draw->random, rest, most);
    default:
        return 1;
    }
}

static void fill(struct draw *draw, unsigned slot, uint32_t room, unsigned allowed)
{
    uint8_t order[PIM_DIMENSIONS];
    const uint32_t *pinned = draw->space->factor[slot];
    shuffled(draw->random, order);
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        room /= pinned[d] > 0 ? pinned[d] : 1;
    for (unsigned i = 0; i < PIM_DIMENSIONS; i++) {
        unsigned d = order[i];
        uint32_t factor = pinned[d] > 0 || !(allowed >> d & 1) ? 1 : choose(draw, draw->rest[d], room);
        give(draw, slot, d, factor);
        room /= factor;
    }
}

/* The same for columns, where lanes of a group that is summed count as the next power of two. */
static void fill_columns(struct draw *draw)
{
    const uint64_t columns = draw->space->instances[PIM_SLOT_COLUMNS];
    const uint32_t *pinned = draw->space->factor[PIM_SLOT_COLUMNS];
    uint8_t order[PIM_DIMENSIONS];
    uint64_t groups, lanes;
    shuffled(draw->random, order);
    pinned_columns(draw->space, &groups, &lanes);
    for (unsigned i = 0; i < PIM_DIMENSIONS; i++) {
        unsigned d = order[i];
        uint64_t room = columns / tree_columns(groups, lanes);
        for (uint64_t wide = 1; is_reduced(d) && wide * groups <= columns; wide *= 2)
            room = wide / lanes;
        uint32_t factor = pinned[d] > 0 ? 1 : choose(draw, draw->rest[d], (uint32_t)room);
        give(draw, PIM_SLOT_COLUMNS, d, factor);
        *(is_reduced(d) ? &lanes : &groups) *= factor;
    }
}

/* Whether pinned factors of spatial slots are no more than there are instances. */
static bool pins_fit(const struct pim_mapping_space *space)
{
    uint64_t groups, lanes;
    for (unsigned slot = PIM_SLOT_CHANNELS; slot <= PIM_SLOT_BANKS; slot++) {
        uint64_t product = 1;
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
            product *= space->factor[slot][d] > 0 && product <= UINT32_MAX ? space->factor[slot][d] : 1;
        if (product > space->instances[slot])
            return false;
    }
    pinned_columns(space, &groups, &lanes);
    return tree_columns(groups, lanes) <= space->instances[PIM_SLOT_COLUMNS];
}

/* Pinned factors are taken before any free one. */
static bool take_pins(struct draw *draw)
{
    if (!pins_fit(draw->space))
        return false;
    for (unsigned slot = 0; slot < PIM_SLOTS; slot++) {
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
            uint32_t pinned = draw->space->factor[slot][d];
            draw->factor[slot][d] = 1;
            if (pinned > draw->rest[d])
                return false;
            if (pinned > 0)
                give(draw, slot, d, pinned);
        }
    }
    return true;
}

/* Whether the tiles that are left, times what is pinned in time and the banks, are few enough. */
static bool few(const struct draw *draw)
{
    uint64_t spaces = 1;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        const uint64_t factors[] = {draw->factor[PIM_SLOT_BANKS][d], draw->factor[PIM_SLOT_CHANNELS][d],
                                    draw->space->factor[PIM_SLOT_STEPS][d],
                                    draw->space->factor[PIM_SLOT_OUTER][d], draw->rest[d]};
        for (unsigned i = 0; i < sizeof factors / sizeof factors[0]; i++) {
            if (factors[i] > 0 && spaces > draw->space->data_spaces / factors[i])
                return false;
            spaces *= factors[i] > 0 ? factors[i] : 1;
        }
    }
    return true;
}

/* What is left is done in time: inside, until few enough data spaces are left; then in steps. */
static bool place_rest(struct draw *draw)
{
    while (!few(draw)) {
        unsigned candidates[PIM_DIMENSIONS], count = 0;
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
            if (draw->rest[d] > 1 && draw->space->factor[PIM_SLOT_INSIDE][d] == 0)
                candidates[count++] = d;
        }
        if (count == 0)
            return false;
        unsigned d = candidates[pim_random_below(draw->random, count)];
        uint32_t factor = 2;
        while (factor < draw->rest[d] && factor < 13 && draw->rest[d] % factor != 0)
            factor++;
        give(draw, PIM_SLOT_INSIDE, d, draw->rest[d] % factor == 0 ? factor : 2);
    }
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        uint32_t outer = draw->space->factor[PIM_SLOT_OUTER][d],
                 steps = draw->space->factor[PIM_SLOT_STEPS][d];
        if (outer > 0 && steps > 0 && draw->rest[d] > 1)
            return false;
        unsigned slot = steps > 0 ? PIM_SLOT_OUTER : PIM_SLOT_STEPS;
        uint32_t inner =
            outer > 0 || steps > 0 ? draw->rest[d] : divisor(draw->random, draw->rest[d], draw->rest[d]);
        uint32_t rest = draw->rest[d];
        give(draw, slot, d, inner);
        give(draw, PIM_SLOT_OUTER, d, rest / inner);
    }
    return true;
}

static void add_loops(const struct draw *draw, unsigned slot, struct pim_nest *nest)
{
    uint8_t order[PIM_DIMENSIONS];
    shuffled(draw->random, order);
    const uint8_t *used = draw->space->ordered[slot] ? draw->space->order[slot] : order;
    for (unsigned i = 0; i < PIM_DIMENSIONS; i++) {
        uint32_t count = draw->factor[slot][used[i]];
        if (count > 1)
            nest->loop[nest->loops++] = (struct pim_nest_loop){.dimension = used[i],
                                                               .spatial = slots[slot].spatial,
                                                               .level = slots[slot].level,
                                                               .count = count};
    }
}

/* Two temporal loops over one dimension may leave steps without work when a factor does not divide: then the
 * outer one is made one with the inner. */
static void regularize(struct draw *draw)
{
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        uint64_t step = (uint64_t)draw->factor[PIM_SLOT_INSIDE][d] * draw->factor[PIM_SLOT_COLUMNS][d];
        uint64_t outer = step * draw->factor[PIM_SLOT_STEPS][d] * draw->factor[PIM_SLOT_BANKS][d] *
                         draw->factor[PIM_SLOT_CHANNELS][d];
        uint64_t last =
            (draw->factor[PIM_SLOT_OUTER][d] - 1) * outer + (draw->factor[PIM_SLOT_STEPS][d] - 1) * step;
        if (last < draw->space->workload.size[d])
            continue;
        draw->factor[PIM_SLOT_STEPS][d] *= draw->factor[PIM_SLOT_OUTER][d];
        draw->factor[PIM_SLOT_OUTER][d] = 1;
    }
}

/* Factors that were drawn one after another may cover more than the dimension: from the inside out, none has
 * iterations that never exist. False when a pinned one had. */
static bool trim(struct draw *draw)
{
    static const unsigned order[] = {PIM_SLOT_INSIDE, PIM_SLOT_COLUMNS,  PIM_SLOT_STEPS,
                                     PIM_SLOT_BANKS,  PIM_SLOT_CHANNELS, PIM_SLOT_OUTER};
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        uint64_t tile = 1, size = draw->space->workload.size[d];
        for (unsigned i = 0; i < PIM_SLOTS; i++) {
            uint64_t most = (size + tile - 1) / tile;
            uint32_t *factor = &draw->factor[order[i]][d];
            if (*factor > most && draw->space->factor[order[i]][d] > 0)
                return false;
            *factor = *factor > most ? (uint32_t)most : *factor;
            tile *= *factor;
        }
    }
    return true;
}

bool pim_mapping_space_sample(const struct pim_mapping_space *space, struct pim_random *random,
                              struct pim_nest *nest)
{
    const unsigned all = (1U << PIM_DIMENSIONS) - 1;
    struct draw draw = {.space = space, .random = random};
    memcpy(draw.rest, space->workload.size, sizeof draw.rest);
    memset(nest, 0, sizeof *nest);
    if (!take_pins(&draw))
        return false;
    fill_columns(&draw);
    fill(&draw, PIM_SLOT_BANKS, space->instances[PIM_SLOT_BANKS], all);
    fill(&draw, PIM_SLOT_CHANNELS, space->instances[PIM_SLOT_CHANNELS], all);
    fill(&draw, PIM_SLOT_INSIDE, UINT32_MAX, all);
    if (!place_rest(&draw))
        return false;
    if (!trim(&draw))
        return false;
    regularize(&draw);
    if (!trim(&draw))
        return false;
    for (unsigned slot = 0; slot < PIM_SLOTS; slot++) {
        if (slot == PIM_SLOT_COLUMNS)
            nest->cut = nest->loops;
        add_loops(&draw, slot, nest);
    }
    return true;
}
