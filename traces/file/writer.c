/*
 * The trace writer; see writer.h.
 *
 * Programs arrive interleaved. Each unit fills a chunk of its own; a full one is compressed and put at the
 * end of the spool, an unnamed file. finish() lays the file out (writer_finish.c). A chunk is also closed
 * early when the repeat block that is about to begin would not fit into what is left of it.
 */
#include "traces/file/writer_internal.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPRESSION_LEVEL = 3, FIRST_CAPACITY = 32, SPOOL_BUFFER = 1 << 18 };

enum pim_status pim_writer_no_memory(const struct pim_trace_writer *writer, struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory while the trace is written", writer->path);
}

enum pim_status pim_writer_spool_failed(const struct pim_trace_writer *writer, struct pim_error *error)
{
    return pim_fail(error, PIM_IO, "%s: the temporary file beside it failed: %s", writer->path,
                    strerror(errno));
}

/* Room for one more element of `size` bytes; doubles. False when memory is out. */
static bool grow(void **array, uint32_t used, uint32_t *capacity, size_t size)
{
    if (used < *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    void *larger = realloc(*array, wanted * size);
    if (!larger)
        return false;
    *array = larger;
    *capacity = wanted;
    return true;
}

/* An unnamed file in the folder of `path`, where there is room for what will be written under `path`. */
static FILE *open_spool(const char *path)
{
    static const char suffix[] = ".spool-XXXXXX";
    size_t length = strlen(path);
    char *name = malloc(length + sizeof suffix);
    if (!name)
        return NULL;
    memcpy(name, path, length);
    memcpy(name + length, suffix, sizeof suffix);
    if (strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0) {
        free(name);
        return tmpfile();
    }
    int descriptor = mkstemp(name);
    FILE *file = NULL;
    if (descriptor >= 0) {
        (void)unlink(name);
        file = fdopen(descriptor, "w+b");
        if (!file)
            (void)close(descriptor);
    }
    free(name);
    if (file)
        (void)setvbuf(file, NULL, _IOFBF, SPOOL_BUFFER);
    return file;
}

static char *copy_text(const char *text)
{
    return strdup(text ? text : "");
}

static enum pim_status copy_description(struct pim_trace_writer *writer,
                                        const struct pim_trace_description *description,
                                        struct pim_error *error)
{
    writer->description = *description;
    writer->description.family = copy_text(description->family);
    writer->description.network = copy_text(description->network);
    writer->description.mapping = copy_text(description->mapping);
    writer->description.configuration = copy_text(description->configuration);
    if (!writer->description.family || !writer->description.network || !writer->description.mapping ||
        !writer->description.configuration)
        return pim_writer_no_memory(writer, error);
    if (pim_description_check(&writer->description, error) != PIM_OK)
        return pim_fail_in(error, "%s: description", writer->path);
    return PIM_OK;
}

static enum pim_status open_files(struct pim_trace_writer *writer, const char *path, struct pim_error *error)
{
    enum pim_status status = pim_output_open(&writer->output, path, error);
    if (status != PIM_OK)
        return status;
    writer->spool = open_spool(path);
    return writer->spool ? PIM_OK : pim_writer_spool_failed(writer, error);
}

enum pim_status pim_trace_writer_create(const char *path, const struct pim_trace_description *description,
                                        struct pim_trace_writer **created, struct pim_error *error)
{
    *created = NULL;
    struct pim_trace_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory while the trace is written", path);
    writer->path = strdup(path);
    writer->compressor = ZSTD_createCCtx();
    enum pim_status status = PIM_OK;
    if (!writer->path || !writer->compressor)
        status = pim_fail(error, PIM_NO_MEMORY, "%s: out of memory while the trace is written", path);
    if (status == PIM_OK)
        status = copy_description(writer, description, error);
    if (status == PIM_OK) {
        writer->program = calloc(description->units, sizeof *writer->program);
        if (!writer->program)
            status = pim_writer_no_memory(writer, error);
    }
    if (status == PIM_OK)
        status = open_files(writer, path, error);
    if (status != PIM_OK)
        pim_trace_writer_abandon(writer);
    else
        *created = writer;
    return status;
}

uint32_t pim_trace_writer_phase(struct pim_trace_writer *writer, const struct pim_trace_phase *phase)
{
    struct pim_error *failed = &writer->failed;
    if (failed->status != PIM_OK)
        return UINT32_MAX;
    const char *name = phase->name ? phase->name : "";
    if (pim_name_check(name, strlen(name), "name", failed) != PIM_OK) {
        (void)pim_fail_in(failed, "%s: phase %" PRIu32, writer->path, writer->phases);
        return UINT32_MAX;
    }
    if (writer->phases == PIM_TRACE_PHASES) {
        (void)pim_fail(failed, PIM_BAD_INPUT, "%s: more than %d phases", writer->path, PIM_TRACE_PHASES);
        return UINT32_MAX;
    }
    void *array = writer->phase;
    bool room = grow(&array, writer->phases, &writer->phase_capacity, sizeof *writer->phase);
    writer->phase = array;
    char *copy = room ? strdup(name) : NULL;
    if (!copy) {
        (void)pim_writer_no_memory(writer, failed);
        return UINT32_MAX;
    }
    writer->phase[writer->phases] = *phase;
    writer->phase[writer->phases].name = copy;
    return writer->phases++;
}

void pim_trace_writer_set_estimate(struct pim_trace_writer *writer, uint32_t id,
                                   const struct pim_trace_phase *phase)
{
    assert(id < writer->phases || writer->failed.status != PIM_OK);
    if (id >= writer->phases)
        return;
    writer->phase[id].estimate_cycles = phase->estimate_cycles;
    memcpy(writer->phase[id].estimate_parts, phase->estimate_parts, sizeof phase->estimate_parts);
}

void pim_trace_writer_set_equations(struct pim_trace_writer *writer, uint32_t id,
                                    const struct pim_trace_phase *phase)
{
    assert(id < writer->phases || writer->failed.status != PIM_OK);
    if (id >= writer->phases)
        return;
    writer->phase[id].has_equations = true;
    memcpy(writer->phase[id].equation_terms, phase->equation_terms, sizeof phase->equation_terms);
}

void pim_trace_writer_set_counts(struct pim_trace_writer *writer, uint64_t macs, uint64_t padding_macs,
                                 uint64_t weight_bytes)
{
    writer->description.macs = macs;
    writer->description.padding_macs = padding_macs;
    writer->description.weight_bytes = weight_bytes;
}

enum pim_status pim_writer_flush(struct pim_trace_writer *writer, struct pim_stored_program *program,
                                 struct pim_error *error)
{
    if (program->used == 0)
        return PIM_OK;
    size_t plain = program->used * sizeof *program->buffer;
    void *array = program->chunk;
    bool room = grow(&array, program->chunks, &program->chunk_capacity, sizeof *program->chunk);
    program->chunk = array;
    if (!room || program->chunks == INT32_MAX)
        return pim_writer_no_memory(writer, error);
    size_t stored = ZSTD_compressCCtx(writer->compressor, writer->frame + PIM_CHUNK_SIZE,
                                      PIM_CHUNK_STORED_MOST, program->buffer, plain, COMPRESSION_LEVEL);
    if (ZSTD_isError(stored))
        return pim_fail(error, PIM_NO_MEMORY, "%s: zstd: %s", writer->path, ZSTD_getErrorName(stored));
    uint32_t bytes = PIM_CHUNK_SIZE + (uint32_t)stored;
    pim_put_u32(writer->frame + PIM_CHUNK_UNIT, program->state.unit);
    pim_put_u32(writer->frame + PIM_CHUNK_NUMBER, program->chunks);
    pim_put_u32(writer->frame + PIM_CHUNK_INSTRUCTIONS, program->used);
    pim_put_u32(writer->frame + PIM_CHUNK_STORED, (uint32_t)stored);
    pim_put_u64(writer->frame + PIM_CHUNK_CHECKSUM,
                pim_hash_bytes(writer->frame + PIM_CHUNK_UNIT, bytes - PIM_CHUNK_UNIT));
    if (fwrite(writer->frame, 1, bytes, writer->spool) != bytes)
        return pim_writer_spool_failed(writer, error);
    program->chunk[program->chunks++] = (struct pim_stored_chunk){.offset = writer->spooled, .bytes = bytes};
    writer->spooled += bytes;
    program->bytes += bytes;
    pim_hash_update(&program->hash, program->buffer, plain);
    program->used = 0;
    return PIM_OK;
}

static PIM_NOINLINE enum pim_status enlarge(struct pim_trace_writer *writer,
                                            struct pim_stored_program *program, struct pim_error *error)
{
    void *array = program->buffer;
    bool room = grow(&array, program->used, &program->capacity, sizeof *program->buffer);
    program->buffer = array;
    return room ? PIM_OK : pim_writer_no_memory(writer, error);
}

static PIM_NOINLINE void start_program(const struct pim_trace_writer *writer,
                                       struct pim_stored_program *program, uint32_t unit)
{
    program->state = pim_program_start(unit, writer->description.units, 0);
    (void)XXH64_reset(&program->hash, 0);
}

enum pim_status pim_trace_writer_append(struct pim_trace_writer *writer, uint32_t unit,
                                        const struct pim_instruction *instruction, struct pim_error *error)
{
    if (PIM_UNLIKELY(writer->failed.status != PIM_OK)) {
        *error = writer->failed;
        return error->status;
    }
    if (PIM_UNLIKELY(unit >= writer->description.units))
        return pim_fail(error, PIM_BAD_INPUT, "%s: unit is %" PRIu32 ": the trace has units 0 to %" PRIu32,
                        writer->path, unit, writer->description.units - 1);
    struct pim_stored_program *program = &writer->program[unit];
    if (PIM_UNLIKELY(program->state.units == 0))
        start_program(writer, program, unit);
    program->state.phases = writer->phases;
    bool outermost = program->state.depth == 0;
    uint64_t index = program->state.stored;
    if (PIM_UNLIKELY(pim_program_add(&program->state, instruction, error) != PIM_OK))
        return pim_fail_in(error, "%s: unit %" PRIu32 " instruction %" PRIu64, writer->path, unit, index);
    uint32_t needed =
        instruction->opcode == PIM_OP_REPEAT && outermost ? 1 + instruction->u.control.length : 1;
    if (PIM_UNLIKELY(program->used + needed > PIM_TRACE_CHUNK)) {
        enum pim_status status = pim_writer_flush(writer, program, error);
        if (status != PIM_OK)
            return status;
    }
    if (PIM_UNLIKELY(program->used == program->capacity)) {
        enum pim_status status = enlarge(writer, program, error);
        if (status != PIM_OK)
            return status;
    }
    program->buffer[program->used++] = *instruction;
    return PIM_OK;
}

uint64_t pim_trace_writer_instructions(const struct pim_trace_writer *writer, uint32_t unit)
{
    return writer->program[unit].state.stored;
}

uint64_t pim_trace_writer_fetches(const struct pim_trace_writer *writer, uint32_t unit)
{
    return writer->program[unit].state.fetches;
}

enum pim_status pim_trace_writer_behaviour(struct pim_trace_writer *writer, uint32_t router,
                                           const struct pim_trace_behaviour *entries, uint32_t count,
                                           struct pim_error *error)
{
    if (router >= PIM_TRACE_ROUTERS)
        return pim_fail(error, PIM_BAD_INPUT, "%s: router is %" PRIu32 ": allowed are 0 to %d", writer->path,
                        router, PIM_TRACE_ROUTERS - 1);
    if (count > PIM_TRACE_BEHAVIOURS - writer->behaviours)
        return pim_fail(error, PIM_BAD_INPUT, "%s: more than %d entries in behaviour tables", writer->path,
                        PIM_TRACE_BEHAVIOURS);
    for (uint32_t i = 0; i < count; i++)
        if (pim_behaviour_check(&entries[i], error) != PIM_OK)
            return pim_fail_in(error, "%s: behaviour table of router %" PRIu32 " entry %" PRIu32,
                               writer->path, router, i);
    uint32_t place = writer->tables;
    while (place > 0 && writer->table[place - 1].router >= router)
        place--;
    if (place < writer->tables && writer->table[place].router == router)
        return pim_fail(error, PIM_BAD_INPUT, "%s: router %" PRIu32 " has a behaviour table already",
                        writer->path, router);
    void *array = writer->table;
    bool room = grow(&array, writer->tables, &writer->table_capacity, sizeof *writer->table);
    writer->table = array;
    struct pim_trace_behaviour *copy = room ? malloc(((size_t)count + 1) * sizeof *copy) : NULL;
    if (!copy)
        return pim_writer_no_memory(writer, error);
    if (count > 0)
        memcpy(copy, entries, count * sizeof *copy);
    memmove(writer->table + place + 1, writer->table + place,
            (writer->tables - place) * sizeof *writer->table);
    writer->table[place] = (struct pim_behaviour_table){.router = router, .count = count, .entries = copy};
    writer->tables++;
    writer->behaviours += count;
    return PIM_OK;
}

enum pim_status pim_trace_writer_array_group(struct pim_trace_writer *writer, uint32_t unit,
                                             const struct pim_trace_array_group *group,
                                             struct pim_error *error)
{
    if (unit >= writer->description.units)
        return pim_fail(error, PIM_BAD_INPUT, "%s: unit is %" PRIu32 ": the trace has units 0 to %" PRIu32,
                        writer->path, unit, writer->description.units - 1);
    if (!writer->groups)
        writer->groups = calloc(writer->description.units, sizeof *writer->groups);
    if (!writer->groups)
        return pim_writer_no_memory(writer, error);
    struct pim_array_group_list *list = &writer->groups[unit];
    const struct pim_trace_array_group *before = list->count ? &list->group[list->count - 1] : NULL;
    if (pim_array_group_check(group, error) != PIM_OK ||
        pim_array_group_follows(before, group, error) != PIM_OK)
        return pim_fail_in(error, "%s: unit %" PRIu32 " array group %" PRIu32, writer->path, unit,
                           list->count);
    if (writer->group_count == PIM_TRACE_ARRAY_GROUPS)
        return pim_fail(error, PIM_BAD_INPUT, "%s: more than %d array groups", writer->path,
                        PIM_TRACE_ARRAY_GROUPS);
    void *array = list->group;
    bool room = grow(&array, list->count, &list->capacity, sizeof *list->group);
    list->group = array;
    if (!room)
        return pim_writer_no_memory(writer, error);
    list->group[list->count++] = *group;
    writer->group_count++;
    return PIM_OK;
}

static void free_text(const char *text)
{
    union {
        const char *read;
        char *owned;
    } pointer = {.read = text};
    free(pointer.owned);
}

void pim_trace_writer_abandon(struct pim_trace_writer *writer)
{
    if (!writer)
        return;
    pim_output_abandon(writer->output);
    if (writer->spool)
        (void)fclose(writer->spool);
    (void)ZSTD_freeCCtx(writer->compressor);
    for (uint32_t i = 0; i < writer->phases; i++)
        free_text(writer->phase[i].name);
    for (uint32_t i = 0; i < writer->tables; i++)
        free(writer->table[i].entries);
    for (uint32_t unit = 0; writer->groups && unit < writer->description.units; unit++)
        free(writer->groups[unit].group);
    for (uint32_t unit = 0; writer->program && unit < writer->description.units; unit++) {
        free(writer->program[unit].buffer);
        free(writer->program[unit].chunk);
    }
    free_text(writer->description.family);
    free_text(writer->description.network);
    free_text(writer->description.mapping);
    free_text(writer->description.configuration);
    free(writer->phase);
    free(writer->table);
    free(writer->groups);
    free(writer->program);
    free(writer->path);
    free(writer);
}
