/*
 * See race.h. Between two neighbouring cuts every byte is accessed alike: a cell. A cell remembers its
 * last store and who loaded it since, the latest time of each unit; that is enough, since a store that is in
 * order with these comes after everything that they come after.
 */
#include "traces/check/race.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CUTS_MOST = 1 << 24, UNITS_MOST = 4096, FIRST_CUTS = 1 << 12, FIRST_READS = 1 << 10 };
#define NOBODY UINT32_MAX

struct access {
    uint32_t unit, joins; /* of the unit before it */
    uint64_t stored;
};

struct read {
    struct access access;
    uint32_t next; /* of the cell, or free; NOBODY: none */
};

struct cell {
    struct access store; /* the last one; unit NOBODY: none */
    uint32_t reads;      /* since then */
};

struct pim_check_race {
    uint32_t units;
    uint64_t *cut; /* sorted; cell i goes from cut i to cut i + 1 */
    uint32_t cuts;
    struct cell *cell;
    struct read *read;
    uint32_t reads, read_capacity, free_read;
    uint32_t *clock;   /* [unit][of unit]: what it knows to be behind */
    uint32_t *arrived; /* the same, with messages that it received since its last join */
};

/* --- cuts --- */

/* A set of addresses: open addressing, an empty place is UINT64_MAX. */
struct cuts {
    uint64_t *place;
    uint64_t capacity, count;
    bool stores; /* there is a store */
};

static bool allocate(struct cuts *cuts, uint64_t capacity)
{
    cuts->place = malloc(capacity * sizeof *cuts->place);
    cuts->capacity = capacity;
    cuts->count = 0;
    if (cuts->place)
        memset(cuts->place, 0xff, capacity * sizeof *cuts->place);
    return cuts->place != NULL;
}

static void insert(struct cuts *cuts, uint64_t address)
{
    uint64_t at = ((address * 0x9E3779B97F4A7C15u) >> 20) & (cuts->capacity - 1);
    while (cuts->place[at] != UINT64_MAX && cuts->place[at] != address)
        at = (at + 1) & (cuts->capacity - 1);
    cuts->count += cuts->place[at] != address;
    cuts->place[at] = address;
}

static bool add(struct cuts *cuts, uint64_t address)
{
    if (2 * cuts->count >= cuts->capacity) {
        struct cuts old = *cuts;
        if (!allocate(cuts, 2 * old.capacity)) {
            *cuts = old;
            return false;
        }
        for (uint64_t i = 0; i < old.capacity; i++)
            if (old.place[i] != UINT64_MAX)
                insert(cuts, old.place[i]);
        free(old.place);
    }
    insert(cuts, address);
    return true;
}

static bool is_global(const struct pim_instruction *instruction)
{
    return instruction->opcode == PIM_OP_LOCAL_LOAD || instruction->opcode == PIM_OP_LOCAL_STORE;
}

/* Piece `i` of a load or store; pim_check_local has refused what ends beyond the addresses. */
static uint64_t piece_of(const struct pim_instruction *instruction, uint64_t i)
{
    return instruction->u.transfer.address + i * instruction->u.transfer.stride;
}

static enum pim_status cut_unit(const struct pim_trace *trace, uint32_t unit, struct cuts *cuts,
                                struct pim_error *error)
{
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction;
    enum pim_status status = pim_trace_cursor_create(trace, unit, &cursor, error);
    while (status == PIM_OK && cuts->count <= CUTS_MOST) {
        status = pim_trace_cursor_next(cursor, &instruction, error);
        if (status != PIM_OK || !instruction)
            break;
        if (!is_global(instruction))
            continue;
        cuts->stores = cuts->stores || instruction->opcode == PIM_OP_LOCAL_STORE;
        for (uint64_t i = 0; i < instruction->u.transfer.count && cuts->count <= CUTS_MOST; i++) {
            uint64_t address = piece_of(instruction, i);
            if (!add(cuts, address) || !add(cuts, address + instruction->u.transfer.bytes)) {
                status = pim_fail(error, PIM_NO_MEMORY, "out of memory while a trace is checked for races");
                break;
            }
        }
    }
    pim_trace_cursor_destroy(cursor);
    return status;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* --- create --- */

static struct pim_check_race *make(uint32_t units, struct cuts *cuts)
{
    struct pim_check_race *race = calloc(1, sizeof *race);
    if (!race)
        return NULL;
    race->units = units;
    race->free_read = NOBODY;
    race->cut = malloc((cuts->count + 1) * sizeof *race->cut);
    race->cell = malloc((cuts->count + 1) * sizeof *race->cell);
    race->clock = calloc((size_t)units * units, sizeof *race->clock);
    race->arrived = calloc((size_t)units * units, sizeof *race->arrived);
    if (!race->cut || !race->cell || !race->clock || !race->arrived) {
        pim_check_race_destroy(race);
        return NULL;
    }
    for (uint64_t i = 0; i < cuts->capacity; i++)
        if (cuts->place[i] != UINT64_MAX)
            race->cut[race->cuts++] = cuts->place[i];
    qsort(race->cut, race->cuts, sizeof *race->cut, compare);
    for (uint32_t i = 0; i < race->cuts; i++)
        race->cell[i] = (struct cell){.store = {.unit = NOBODY}, .reads = NOBODY};
    return race;
}

enum pim_status pim_check_race_create(const struct pim_trace *trace, struct pim_check_race **race,
                                      struct pim_error *error)
{
    uint32_t units = pim_trace_description(trace)->units;
    struct cuts cuts = {.stores = false};
    *race = NULL;
    if (units > UNITS_MOST)
        return PIM_OK;
    enum pim_status status =
        allocate(&cuts, FIRST_CUTS)
            ? PIM_OK
            : pim_fail(error, PIM_NO_MEMORY, "out of memory while a trace is checked for races");
    for (uint32_t unit = 0; unit < units && status == PIM_OK; unit++)
        status = cut_unit(trace, unit, &cuts, error);
    if (status == PIM_OK && cuts.stores && cuts.count <= CUTS_MOST) {
        *race = make(units, &cuts);
        if (!*race)
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory while a trace is checked for races");
    }
    free(cuts.place);
    return status;
}

void pim_check_race_destroy(struct pim_check_race *race)
{
    if (!race)
        return;
    free(race->cut);
    free(race->cell);
    free(race->read);
    free(race->clock);
    free(race->arrived);
    free(race);
}

/* --- order --- */

static uint32_t *row(uint32_t *clock, const struct pim_check_race *race, uint32_t unit)
{
    return clock + (size_t)unit * race->units;
}

void pim_check_race_join(struct pim_check_race *race, uint32_t unit)
{
    uint32_t *arrived = row(race->arrived, race, unit);
    arrived[unit]++;
    memcpy(row(race->clock, race, unit), arrived, race->units * sizeof *arrived);
}

void pim_check_race_message(struct pim_check_race *race, uint32_t source, uint32_t destination)
{
    const uint32_t *from = row(race->clock, race, source);
    uint32_t *to = row(race->arrived, race, destination);
    for (uint32_t i = 0; i < race->units; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static bool is_behind(struct pim_check_race *race, uint32_t unit, const struct access *access)
{
    return row(race->clock, race, unit)[access->unit] > access->joins;
}

/* --- accesses --- */

static enum pim_status refuse(const struct pim_check_race *race, uint32_t cell, const struct access *other,
                              const char *kind, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT,
                    "it touches byte 0x%" PRIx64 " of the global memory, as unit %" PRIu32
                    " instruction %" PRIu64
                    " (%s) does, and nothing orders the two: a join behind the first, "
                    "then a message, and a join before the second must (docs/trace-format.md)",
                    race->cut[cell], other->unit, other->stored, kind);
}

static enum pim_status load_cell(struct pim_check_race *race, uint32_t index, const struct access *access,
                                 struct pim_error *error)
{
    struct cell *cell = &race->cell[index];
    if (cell->store.unit != NOBODY && !is_behind(race, access->unit, &cell->store))
        return refuse(race, index, &cell->store, "local_store", error);
    for (uint32_t i = cell->reads; i != NOBODY; i = race->read[i].next) {
        if (race->read[i].access.unit == access->unit) {
            race->read[i].access = *access;
            return PIM_OK;
        }
    }
    uint32_t place = race->free_read;
    if (place != NOBODY) {
        race->free_read = race->read[place].next;
    } else {
        if (race->reads == race->read_capacity) {
            uint32_t capacity = race->read_capacity ? 2 * race->read_capacity : FIRST_READS;
            struct read *grown =
                capacity > race->read_capacity ? realloc(race->read, (size_t)capacity * sizeof *grown) : NULL;
            if (!grown)
                return pim_fail(error, PIM_NO_MEMORY, "out of memory while a trace is checked for races");
            race->read = grown;
            race->read_capacity = capacity;
        }
        place = race->reads++;
    }
    race->read[place] = (struct read){.access = *access, .next = cell->reads};
    cell->reads = place;
    return PIM_OK;
}

static enum pim_status store_cell(struct pim_check_race *race, uint32_t index, const struct access *access,
                                  struct pim_error *error)
{
    struct cell *cell = &race->cell[index];
    const struct access *before = &cell->store;
    if (before->unit != NOBODY && before->unit != access->unit && !is_behind(race, access->unit, before))
        return refuse(race, index, before, "local_store", error);
    while (cell->reads != NOBODY) {
        uint32_t place = cell->reads;
        before = &race->read[place].access;
        if (before->unit != access->unit && !is_behind(race, access->unit, before))
            return refuse(race, index, before, "local_load", error);
        cell->reads = race->read[place].next;
        race->read[place].next = race->free_read;
        race->free_read = place;
    }
    cell->store = *access;
    return PIM_OK;
}

static uint32_t cell_at(const struct pim_check_race *race, uint64_t address)
{
    uint32_t low = 0, high = race->cuts - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (race->cut[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum pim_status pim_check_race_access(struct pim_check_race *race, uint32_t unit,
                                      const struct pim_instruction *instruction, uint64_t stored,
                                      struct pim_error *error)
{
    const struct access access = {
        .unit = unit, .joins = row(race->clock, race, unit)[unit], .stored = stored};
    if (!is_global(instruction))
        return PIM_OK;
    for (uint64_t i = 0; i < instruction->u.transfer.count; i++) {
        uint64_t address = piece_of(instruction, i), end = address + instruction->u.transfer.bytes;
        for (uint32_t cell = cell_at(race, address); race->cut[cell] < end; cell++) {
            enum pim_status status = instruction->opcode == PIM_OP_LOCAL_LOAD
                                         ? load_cell(race, cell, &access, error)
                                         : store_cell(race, cell, &access, error);
            if (status != PIM_OK)
                return status;
        }
    }
    return PIM_OK;
}
