/*
 * Local memories of cores; see local.h.
 *
 * A map with a bit for each byte says what the program of the unit has written so far. Hardware lets an
 * instruction wait for earlier ones that touch the same bytes, so what program order shows here holds for
 * every timing.
 */
#include "traces/check/local.h"

#include "traces/check/arrays.h"
#include "traces/check/instruction.h"
#include "traces/local.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, FIRST_WORDS = 1024, ELEMENT_BYTES = 2 };

/* Bytes that were written: bit b of word w is byte 64 w + b. */
struct map {
    uint64_t *word;
    uint64_t words;
    uint64_t end; /* behind the last byte that was written */
};

struct core {
    const struct pim_trace *trace;
    const struct pim_check_limits *limits;
    struct pim_check_result *result;
    struct map map;
    uint32_t unit;
    const struct pim_trace_array_group *group;
    uint32_t groups;
    struct pim_check_arrays arrays;
};

/* --- the map --- */

/* Room for bytes below `end`. False when memory is out. */
static bool map_reach(struct map *map, uint64_t end)
{
    uint64_t needed = (end + WORD - 1) / WORD, words = map->words ? map->words : FIRST_WORDS;
    if (needed <= map->words)
        return true;
    while (words < needed)
        words *= 2;
    uint64_t *larger = realloc(map->word, words * sizeof *larger);
    if (!larger)
        return false;
    memset(larger + map->words, 0, (words - map->words) * sizeof *larger);
    map->word = larger;
    map->words = words;
    return true;
}

static void map_clear(struct map *map)
{
    if (map->word)
        memset(map->word, 0, (map->end + WORD - 1) / WORD * sizeof *map->word);
    map->end = 0;
}

/* The bits of the word of byte `first` that stand for bytes from `first` to before `end`. */
static uint64_t mask_of(uint64_t first, uint64_t end)
{
    uint64_t mask = UINT64_MAX << (first % WORD);
    uint64_t left = first / WORD * WORD + WORD;
    return end < left ? mask & (UINT64_MAX >> (left - end)) : mask;
}

static void map_write(struct map *map, uint64_t first, uint64_t end)
{
    if (end > map->end)
        map->end = end;
    for (; first < end; first = (first / WORD + 1) * WORD)
        map->word[first / WORD] |= mask_of(first, end);
}

/* The first byte of first to end - 1 that was not written; `end` when all were. */
static uint64_t map_missing(const struct map *map, uint64_t first, uint64_t end)
{
    for (; first < end; first = (first / WORD + 1) * WORD) {
        if (first >= map->end)
            return first;
        uint64_t mask = mask_of(first, end), missing = mask & ~map->word[first / WORD];
        if (missing == 0)
            continue;
        uint64_t byte = first / WORD * WORD;
        for (; (missing & 1) == 0; missing >>= 1)
            byte++;
        return byte;
    }
    return end;
}

/* --- one instruction --- */

/* An mvm: its group, and the vectors of the group. */
static enum pim_status check_group(struct core *core, const struct pim_instruction *instruction,
                                   struct pim_error *error)
{
    const uint32_t number = instruction->u.mvm.group;
    if (number >= core->groups)
        return pim_fail(error, PIM_BAD_INPUT,
                        "there is no array group %" PRIu32 ": the unit has %" PRIu32 " (.array_group)",
                        number, core->groups);
    const struct pim_trace_array_group *group = &core->group[number];
    const uint64_t inputs = group->rows, outputs = (uint64_t)group->folds * group->columns;
    if (instruction->u.mvm.windows != 1)
        return pim_fail(error, PIM_BAD_INPUT, "windows is %" PRIu32 ": an mvm of a core has 1",
                        instruction->u.mvm.windows);
    if (instruction->u.mvm.input_bytes != inputs * ELEMENT_BYTES ||
        instruction->u.mvm.output_bytes != outputs * ELEMENT_BYTES)
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 " (layer %" PRIu32 ") has %" PRIu64 " inputs and %" PRIu64
                        " outputs of %d bytes: input_bytes is %" PRIu64 " and output_bytes %" PRIu64
                        ", not %" PRIu32 " and %" PRIu32,
                        number, group->layer, inputs, outputs, ELEMENT_BYTES, inputs * ELEMENT_BYTES,
                        outputs * ELEMENT_BYTES, instruction->u.mvm.input_bytes,
                        instruction->u.mvm.output_bytes);
    core->result->counts.crossbar_macs =
        pim_add_saturating(core->result->counts.crossbar_macs, pim_group_macs(group));
    return pim_check_arrays_multiply(&core->arrays, number, error);
}

/* The end of a transfer in the global memory, if it is one. */
static enum pim_status check_global(const struct core *core, const struct pim_instruction *instruction,
                                    struct pim_error *error)
{
    const uint64_t end = pim_global_end(instruction);
    if (core->limits->global_bytes != 0 && end > core->limits->global_bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "it ends at address %" PRIu64 ": the global memory has %" PRIu64 " bytes, %" PRIu64
                        " are missing",
                        end, core->limits->global_bytes, end - core->limits->global_bytes);
    if (end > core->result->global_bytes)
        core->result->global_bytes = end;
    return PIM_OK;
}

/* One part of an instruction lies in the local memory, and there is room in the map. */
static enum pim_status check_end(struct core *core, const struct pim_local_pieces *pieces, const char *name,
                                 struct pim_error *error)
{
    const uint64_t end = pim_local_end(pieces), capacity = core->limits->local_bytes;
    if (capacity != 0 && end > capacity)
        return pim_fail(error, PIM_BAD_INPUT,
                        "its %s ends at byte %" PRIu64 " of the local memory, which has %" PRIu64
                        " bytes: %" PRIu64 " are missing",
                        name, end, capacity, end - capacity);
    if (end > UINT32_MAX)
        return pim_fail(error, PIM_BAD_INPUT, "its %s ends at %" PRIu64 ": a local memory ends below 2^32",
                        name, end);
    if (!map_reach(&core->map, end))
        return pim_fail(error, PIM_NO_MEMORY,
                        "out of memory for a map of a local memory of %" PRIu64 " bytes", end);
    if (pieces->bytes > 0 && end > core->result->local_bytes) {
        core->result->local_bytes = end;
        core->result->local_unit = core->unit;
    }
    return PIM_OK;
}

static enum pim_status check_read(const struct core *core, const struct pim_local_pieces *pieces,
                                  const char *name, struct pim_error *error)
{
    for (uint64_t i = 0; i < pieces->count && pieces->bytes > 0; i++) {
        const uint64_t first = pieces->address + i * pieces->stride, end = first + pieces->bytes;
        const uint64_t missing = map_missing(&core->map, first, end);
        if (missing != end)
            return pim_fail(error, PIM_BAD_INPUT,
                            "its %s reads byte %" PRIu64 " (0x%" PRIx64
                            ") of the local memory, which nothing before it in the program has written",
                            name, missing, missing);
    }
    return PIM_OK;
}

/* Source and destination are the same bytes in the same order, or have none in common: else the result would
 * depend on the order in which an engine works. */
static enum pim_status check_overlap(const struct pim_local_pieces *source,
                                     const struct pim_local_pieces *destination, const char *name,
                                     struct pim_error *error)
{
    bool same = source->address == destination->address && source->bytes == destination->bytes &&
                source->count == destination->count && source->stride == destination->stride;
    if (source->bytes == 0 || destination->bytes == 0 || same || !pim_local_share_bytes(source, destination))
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "its %s, bytes %" PRIu64 " to %" PRIu64
                    " of the local memory, overlaps in part with what "
                    "it writes, bytes %" PRIu64 " to %" PRIu64,
                    name, source->address, pim_local_end(source) - 1, destination->address,
                    pim_local_end(destination) - 1);
}

static enum pim_status check_access(struct core *core, const struct pim_instruction *instruction,
                                    struct pim_error *error)
{
    struct pim_local_access access;
    pim_local_access_of(instruction, &access);
    enum pim_status status =
        check_end(core, &access.write, pim_local_part_name(instruction->opcode, PIM_LOCAL_READS), error);
    for (int i = 0; i < PIM_LOCAL_READS && status == PIM_OK; i++) {
        const char *name = pim_local_part_name(instruction->opcode, (unsigned)i);
        status = check_end(core, &access.read[i], name, error);
        if (status == PIM_OK)
            status = check_read(core, &access.read[i], name, error);
        if (status == PIM_OK)
            status = check_overlap(&access.read[i], &access.write, name, error);
    }
    for (uint64_t i = 0; i < access.write.count && access.write.bytes > 0 && status == PIM_OK; i++) {
        const uint64_t first = access.write.address + i * access.write.stride;
        map_write(&core->map, first, first + access.write.bytes);
    }
    return status;
}

static enum pim_status check_instruction(struct core *core, const struct pim_instruction *instruction,
                                         struct pim_error *error)
{
    enum pim_status status = pim_check_kind_of(instruction, PIM_CHECK_CORES, error);
    if (status == PIM_OK && instruction->opcode == PIM_OP_MVM)
        status = check_group(core, instruction, error);
    if (status == PIM_OK && instruction->opcode == PIM_OP_ARRAY_WRITE)
        status = pim_check_arrays_write(&core->arrays, instruction, error);
    if (status == PIM_OK && pim_opcode_engine(instruction->opcode) == PIM_ENGINE_CONTROL)
        pim_check_arrays_wait(&core->arrays);
    if (status == PIM_OK)
        status = check_global(core, instruction, error);
    if (status == PIM_OK)
        status = check_access(core, instruction, error);
    return status;
}

/* Puts the place in front of a message, with the layer of an mvm. */
static enum pim_status fail_at(const struct core *core, const struct pim_trace_cursor *cursor,
                               const struct pim_instruction *instruction, struct pim_error *error)
{
    char place[256], layer[48] = "";
    if (instruction->opcode == PIM_OP_MVM && instruction->u.mvm.group < core->groups)
        (void)snprintf(layer, sizeof layer, " of layer %" PRIu32,
                       core->group[instruction->u.mvm.group].layer);
    return pim_fail_in(error, "%s%s",
                       pim_check_place(core->unit, pim_trace_cursor_stored(cursor),
                                       pim_trace_cursor_executed(cursor) - 1, instruction, place,
                                       sizeof place),
                       layer);
}

static enum pim_status check_unit(struct core *core, struct pim_error *error)
{
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction;
    enum pim_status status = pim_trace_cursor_create(core->trace, core->unit, &cursor, error);
    core->group = pim_trace_array_groups(core->trace, core->unit, &core->groups);
    map_clear(&core->map);
    if (status == PIM_OK)
        status = pim_check_arrays_begin(&core->arrays, core->group, core->groups, error);
    while (status == PIM_OK) {
        status = pim_trace_cursor_next(cursor, &instruction, error);
        if (status != PIM_OK || !instruction)
            break;
        status = check_instruction(core, instruction, error);
        if (status == PIM_BAD_INPUT)
            (void)fail_at(core, cursor, instruction, error);
    }
    pim_trace_cursor_destroy(cursor);
    return status;
}

enum pim_status pim_check_local(const struct pim_trace *trace, const struct pim_check_limits *limits,
                                struct pim_check_result *result, struct pim_error *error)
{
    struct core core = {.trace = trace, .limits = limits, .result = result};
    enum pim_status status = PIM_OK;
    for (; core.unit < pim_trace_description(trace)->units && status == PIM_OK; core.unit++)
        status = check_unit(&core, error);
    free(core.map.word);
    free(core.arrays.written);
    return status;
}
