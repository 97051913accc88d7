/*
 * The streaming cursor; see reader.h.
 *
 * A chunk is read, held against its checksum, decompressed and checked instruction by instruction before any
 * of it is handed out. Then it is handed out in runs: stretches that need no look. A run ends before a
 * REPEAT, before a memory instruction with a step (which is copied and advanced), at the end of the innermost
 * repeat block and at the end of the chunk.
 */
#include "traces/file/reader_internal.h"
#include "traces/validate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct block {
    uint32_t start, end; /* its body in the chunk */
    uint32_t count, iteration;
};

struct cursor {
    struct pim_trace_cursor hot; /* first: a pim_trace_cursor is the start of a cursor */
    const struct pim_trace *trace;
    const struct pim_trace_unit *unit;
    struct pim_instruction *chunk;
    uint16_t *special; /* for each instruction of the chunk: the next one, itself included, that ends a run;
                          or `count` */
    uint32_t count;    /* instructions in the chunk */
    uint32_t number;   /* chunks read */
    uint64_t offset;   /* of the next chunk in the file */
    uint64_t chunk_start; /* stored index of chunk[0] */
    uint64_t executed;    /* instructions handed out before the run that starts at run_start */
    const struct pim_instruction *run_start;
    bool expanded;
    uint32_t depth;
    struct block block[PIM_REPEAT_DEPTH];
    struct pim_program_state state; /* at the end of the chunk */
    XXH64_state_t hash;             /* of the instructions up to there */
    struct pim_instruction stepped; /* the copy that is handed out */
};

static struct cursor *whole(struct pim_trace_cursor *cursor)
{
    union {
        struct pim_trace_cursor *hot;
        struct cursor *whole;
    } pointer = {.hot = cursor};
    return pointer.whole;
}

static const struct cursor *whole_const(const struct pim_trace_cursor *cursor)
{
    union {
        const struct pim_trace_cursor *hot;
        const struct cursor *whole;
    } pointer = {.hot = cursor};
    return pointer.whole;
}

static enum pim_status create(const struct pim_trace *trace, uint32_t unit, bool expanded,
                              struct pim_trace_cursor **created, struct pim_error *error)
{
    *created = NULL;
    assert(unit < trace->description.units);
    uint64_t instructions = trace->unit[unit].instructions;
    size_t capacity = instructions < PIM_TRACE_CHUNK ? (size_t)instructions + 1 : PIM_TRACE_CHUNK;
    struct cursor *cursor = calloc(1, sizeof *cursor);
    struct pim_instruction *chunk = malloc(capacity * sizeof *chunk);
    uint16_t *special = malloc(capacity * sizeof *special);
    if (!cursor || !chunk || !special) {
        free(cursor);
        free(chunk);
        free(special);
        return pim_fail(error, PIM_NO_MEMORY,
                        "%s: unit %" PRIu32 ": out of memory for a chunk of the program", trace->name, unit);
    }
    cursor->trace = trace;
    cursor->unit = &trace->unit[unit];
    cursor->chunk = chunk;
    cursor->special = special;
    cursor->expanded = expanded;
    cursor->offset = cursor->unit->offset;
    cursor->hot.next = cursor->hot.stop = cursor->run_start = chunk;
    cursor->state = pim_program_start(unit, trace->description.units, trace->phases);
    (void)XXH64_reset(&cursor->hash, 0);
    *created = &cursor->hot;
    return PIM_OK;
}

enum pim_status pim_trace_cursor_create(const struct pim_trace *trace, uint32_t unit,
                                        struct pim_trace_cursor **cursor, struct pim_error *error)
{
    return create(trace, unit, true, cursor, error);
}

enum pim_status pim_trace_cursor_create_stored(const struct pim_trace *trace, uint32_t unit,
                                               struct pim_trace_cursor **cursor, struct pim_error *error)
{
    return create(trace, unit, false, cursor, error);
}

void pim_trace_cursor_destroy(struct pim_trace_cursor *cursor)
{
    if (!cursor)
        return;
    struct cursor *self = whole(cursor);
    free(self->chunk);
    free(self->special);
    free(self);
}

uint64_t pim_trace_cursor_executed(const struct pim_trace_cursor *cursor)
{
    const struct cursor *self = whole_const(cursor);
    return self->executed + (uint64_t)(cursor->next - self->run_start);
}

uint64_t pim_trace_cursor_stored(const struct pim_trace_cursor *cursor)
{
    const struct cursor *self = whole_const(cursor);
    return cursor->next == self->chunk ? self->chunk_start
                                       : self->chunk_start + (uint64_t)(cursor->next - self->chunk) - 1;
}

/* Header of the next chunk in `bytes`; *instructions and *stored are within bounds afterwards. */
static enum pim_status check_chunk_header(const struct cursor *cursor, const uint8_t *bytes,
                                          uint32_t *instructions, uint32_t *stored, struct pim_error *error)
{
    uint64_t end = cursor->unit->offset + cursor->unit->bytes;
    uint64_t left = cursor->unit->instructions - cursor->state.stored;
    uint32_t unit = pim_get_u32(bytes + PIM_CHUNK_UNIT), number = pim_get_u32(bytes + PIM_CHUNK_NUMBER);
    *instructions = pim_get_u32(bytes + PIM_CHUNK_INSTRUCTIONS);
    *stored = pim_get_u32(bytes + PIM_CHUNK_STORED);
    if (*stored > PIM_CHUNK_STORED_MOST || *stored > end - cursor->offset - PIM_CHUNK_SIZE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "its frame has %" PRIu32 " bytes: at most %d are allowed and %" PRIu64
                        " are left to the unit",
                        *stored, PIM_CHUNK_STORED_MOST, end - cursor->offset - PIM_CHUNK_SIZE);
    if (unit != cursor->state.unit || number != cursor->number)
        return pim_fail(error, PIM_BAD_INPUT, "it says that it is chunk %" PRIu32 " of unit %" PRIu32, number,
                        unit);
    if (*instructions == 0 || *instructions > PIM_TRACE_CHUNK || *instructions > left)
        return pim_fail(error, PIM_BAD_INPUT,
                        "it says that it holds %" PRIu32 " instructions: at most %d are allowed and %" PRIu64
                        " are left to the unit",
                        *instructions, PIM_TRACE_CHUNK, left);
    return PIM_OK;
}

/* Reads the next chunk into cursor->chunk as it stands in the file. */
static enum pim_status read_chunk(struct cursor *cursor, struct pim_scratch *scratch, uint32_t *instructions,
                                  uint32_t *stored, struct pim_error *error)
{
    if (cursor->unit->offset + cursor->unit->bytes - cursor->offset < PIM_CHUNK_SIZE)
        return pim_fail(error, PIM_BAD_INPUT, "there is no room for its header");
    uint8_t *bytes = scratch->bytes;
    enum pim_status status = pim_trace_read(cursor->trace, cursor->offset, bytes, PIM_CHUNK_SIZE, error);
    if (status == PIM_OK)
        status = check_chunk_header(cursor, bytes, instructions, stored, error);
    if (status == PIM_OK)
        status = pim_trace_read(cursor->trace, cursor->offset + PIM_CHUNK_SIZE, bytes + PIM_CHUNK_SIZE,
                                *stored, error);
    if (status != PIM_OK)
        return status;
    if (pim_hash_bytes(bytes + PIM_CHUNK_UNIT, PIM_CHUNK_SIZE - PIM_CHUNK_UNIT + *stored) !=
        pim_get_u64(bytes))
        return pim_fail(error, PIM_BAD_INPUT, "its bytes are damaged (the checksum is wrong)");
    size_t plain = *instructions * sizeof *cursor->chunk;
    size_t made =
        ZSTD_decompressDCtx(scratch->decompressor, cursor->chunk, plain, bytes + PIM_CHUNK_SIZE, *stored);
    if (ZSTD_isError(made))
        return pim_fail(error, PIM_BAD_INPUT, "zstd: %s", ZSTD_getErrorName(made));
    if (made != plain)
        return pim_fail(error, PIM_BAD_INPUT, "its frame holds %zu bytes, %" PRIu32 " instructions take %zu",
                        made, *instructions, plain);
    return PIM_OK;
}

/* Checks the instructions of the chunk one after the other; on success `state` is the state behind them. */
static enum pim_status check_chunk(const struct cursor *cursor, struct pim_program_state *state,
                                   uint32_t instructions, struct pim_error *error)
{
    enum pim_status status = pim_program_add_several(state, cursor->chunk, instructions, error);
    if (status != PIM_OK)
        return status;
    if (state->depth > 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "instruction %" PRIu64 ": a repeat block crosses the end of the chunk",
                        state->stored);
    return PIM_OK;
}

/* Blocks lie within their chunk, and steps within blocks. */
static bool holds_repeat(const struct cursor *cursor)
{
    for (uint32_t i = 0; i < cursor->count; i++)
        if (cursor->chunk[i].opcode == PIM_OP_REPEAT)
            return true;
    return false;
}

static void mark_specials(struct cursor *cursor)
{
    uint32_t special = cursor->count;
    if (!cursor->expanded || !holds_repeat(cursor)) {
        for (uint32_t i = 0; i < cursor->count; i++)
            cursor->special[i] = (uint16_t)special;
        return;
    }
    for (uint32_t i = cursor->count; i-- > 0;) {
        const struct pim_instruction *instruction = &cursor->chunk[i];
        bool memory = instruction->opcode == PIM_OP_LOAD || instruction->opcode == PIM_OP_STORE;
        if (instruction->opcode == PIM_OP_REPEAT || (memory && instruction->u.memory.step != 0))
            special = i;
        cursor->special[i] = (uint16_t)special;
    }
}

static enum pim_status next_chunk_with(struct cursor *cursor, struct pim_scratch *scratch,
                                       struct pim_error *error)
{
    uint32_t instructions = 0, stored = 0;
    struct pim_program_state state = cursor->state;
    enum pim_status status = read_chunk(cursor, scratch, &instructions, &stored, error);
    if (status == PIM_OK)
        status = check_chunk(cursor, &state, instructions, error);
    if (status != PIM_OK)
        return status;
    pim_hash_update(&cursor->hash, cursor->chunk, instructions * sizeof *cursor->chunk);
    cursor->chunk_start = cursor->state.stored;
    cursor->state = state;
    cursor->count = instructions;
    cursor->number++;
    cursor->offset += PIM_CHUNK_SIZE + stored;
    mark_specials(cursor);
    return PIM_OK;
}

/* The chunk after the one that is used up. On failure the cursor stands before it still: nothing but
 * cursor->chunk has changed. */
static enum pim_status next_chunk(struct cursor *cursor, struct pim_error *error)
{
    struct pim_scratch *scratch = pim_scratch_take(cursor->trace);
    if (!scratch)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for decompression");
    enum pim_status status = next_chunk_with(cursor, scratch, error);
    pim_scratch_give(cursor->trace, scratch);
    return status;
}

/* All chunks were read: what they hold must be what the table of units says. */
static enum pim_status check_end(const struct cursor *cursor, struct pim_error *error)
{
    if (cursor->offset != cursor->unit->offset + cursor->unit->bytes ||
        cursor->state.stored != cursor->unit->instructions)
        return pim_fail(error, PIM_BAD_INPUT,
                        "its chunks hold %" PRIu64 " instructions in %" PRIu64
                        " bytes, the table of units says %" PRIu64 " in %" PRIu64,
                        cursor->state.stored, cursor->offset - cursor->unit->offset,
                        cursor->unit->instructions, cursor->unit->bytes);
    if (XXH64_digest(&cursor->hash) != cursor->unit->hash)
        return pim_fail(error, PIM_BAD_INPUT,
                        "its instructions do not have the hash that the table of units says");
    return pim_program_end(&cursor->state, error);
}

/* Leaves the repeat blocks that end at `position`, or goes back to the start of one that has iterations left.
 */
static uint32_t close_blocks(struct cursor *cursor, uint32_t position)
{
    while (cursor->depth > 0) {
        struct block *block = &cursor->block[cursor->depth - 1];
        if (position != block->end)
            break;
        if (++block->iteration < block->count)
            return block->start;
        cursor->depth--;
    }
    return position;
}

/* Hands out the instruction at `position`, which is not a REPEAT to be expanded, and sets the run behind it.
 */
static const struct pim_instruction *hand_out(struct cursor *cursor, uint32_t position)
{
    const struct pim_instruction *instruction = &cursor->chunk[position];
    cursor->run_start = instruction;
    cursor->hot.next = instruction + 1;
    uint32_t stop = cursor->special[position];
    if (stop == position) { /* a memory instruction with a step */
        const struct block *block = &cursor->block[cursor->depth - 1];
        cursor->hot.stop = cursor->hot.next;
        cursor->stepped = *instruction;
        /* wraps for negative steps as it should; pim_program_add has checked that the true sum is in range */
        cursor->stepped.u.memory.address +=
            (uint64_t)((int64_t)instruction->u.memory.step * (int64_t)block->iteration);
        return &cursor->stepped;
    }
    if (cursor->depth > 0 && cursor->block[cursor->depth - 1].end < stop)
        stop = cursor->block[cursor->depth - 1].end;
    cursor->hot.stop = cursor->chunk + stop;
    return instruction;
}

enum pim_status pim_trace_cursor_advance(struct pim_trace_cursor *hot,
                                         const struct pim_instruction **instruction, struct pim_error *error)
{
    struct cursor *cursor = whole(hot);
    *instruction = NULL;
    cursor->executed += (uint64_t)(hot->next - cursor->run_start);
    cursor->run_start = hot->next;
    uint32_t position = close_blocks(cursor, (uint32_t)(hot->next - cursor->chunk));
    if (position == cursor->count) {
        bool end = cursor->number == cursor->unit->chunks;
        enum pim_status status = end ? check_end(cursor, error) : next_chunk(cursor, error);
        if (status != PIM_OK && end)
            return pim_fail_in(error, "%s: unit %" PRIu32, cursor->trace->name, cursor->state.unit);
        if (status != PIM_OK)
            return pim_fail_in(error, "%s: unit %" PRIu32 " chunk %" PRIu32 " at byte %" PRIu64,
                               cursor->trace->name, cursor->state.unit, cursor->number, cursor->offset);
        if (end)
            return PIM_OK;
        position = 0;
    }
    while (cursor->expanded && cursor->chunk[position].opcode == PIM_OP_REPEAT) {
        const struct pim_instruction *repeat = &cursor->chunk[position++];
        cursor->block[cursor->depth++] = (struct block){
            .start = position, .end = position + repeat->u.control.length, .count = repeat->u.control.count};
    }
    *instruction = hand_out(cursor, position);
    return PIM_OK;
}
