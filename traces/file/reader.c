/*
 * Opening a trace: header, section table, the small sections; see reader.h. Programs are left to cursor.c.
 *
 * Order of belief: magic, version, checksum of the header; size of the file; section table; each section's
 * checksum; its content.
 */
#include "traces/file/reader.h"

#include "traces/file/hardware.h"
#include "traces/file/reader_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct section {
    uint32_t type, flags;
    uint64_t offset, bytes, checksum;
};

/* The file while it is being opened. */
struct opening {
    struct pim_trace *trace;
    struct section section[PIM_SECTIONS_MOST];
    uint32_t sections;
    uint64_t content; /* hash the header states */
    struct pim_content_hash hash;
    bool seen[PIM_SECTION_TYPES];
};

static const char *section_name(uint32_t type)
{
    static const char *const names[PIM_SECTION_TYPES] = {"",      "description", "phases",       "behaviours",
                                                         "units", "programs",    "array groups", "equations"};
    return type < PIM_SECTION_TYPES ? names[type] : "of unknown type";
}

enum pim_status pim_trace_read(const struct pim_trace *trace, uint64_t offset, void *to, size_t bytes,
                               struct pim_error *error)
{
    assert(offset <= trace->file_bytes && bytes <= trace->file_bytes - offset);
    if (trace->memory) {
        memcpy(to, trace->memory + offset, bytes);
        return PIM_OK;
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(trace->descriptor, (uint8_t *)to + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pim_fail(error, PIM_IO, "at byte %" PRIu64 ": %s", offset + done, strerror(errno));
        if (got == 0)
            return pim_fail(error, PIM_IO, "at byte %" PRIu64 ": the file became shorter while it was read",
                            offset + done);
        done += (size_t)got;
    }
    return PIM_OK;
}

struct pim_scratch *pim_scratch_take(const struct pim_trace *trace)
{
    for (int i = 0; i < PIM_SCRATCHES; i++) {
        struct pim_scratch *scratch = atomic_exchange(&trace->pool->place[i], NULL);
        if (scratch)
            return scratch;
    }
    struct pim_scratch *scratch = malloc(sizeof *scratch);
    if (scratch) {
        scratch->decompressor = ZSTD_createDCtx();
        if (!scratch->decompressor) {
            free(scratch);
            return NULL;
        }
    }
    return scratch;
}

static void free_scratch(struct pim_scratch *scratch)
{
    if (scratch) {
        (void)ZSTD_freeDCtx(scratch->decompressor);
        free(scratch);
    }
}

void pim_scratch_give(const struct pim_trace *trace, struct pim_scratch *scratch)
{
    for (int i = 0; i < PIM_SCRATCHES && scratch; i++)
        scratch = atomic_exchange(&trace->pool->place[i], scratch);
    free_scratch(scratch);
}

/* Magic and version first: they say whether the rest is laid out as we know it. */
static enum pim_status check_header(struct opening *opening, const uint8_t *header, struct pim_error *error)
{
    if (!pim_format_begins(header + PIM_HEADER_MAGIC, PIM_FORMAT_MAGIC_BYTES))
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 0: not a pimsim trace (the first 8 bytes are not its mark)");
    uint32_t version = pim_get_u32(header + PIM_HEADER_VERSION);
    if (version > PIM_FORMAT_VERSION)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 8: format version %" PRIu32 " is newer than %d, which this pimsim reads",
                        version, PIM_FORMAT_VERSION);
    if (version == 0)
        return pim_fail(error, PIM_BAD_INPUT, "at byte 8: there is no format version 0");
    if (pim_hash_bytes(header, PIM_HEADER_CHECKSUM) != pim_get_u64(header + PIM_HEADER_CHECKSUM))
        return pim_fail(error, PIM_BAD_INPUT, "at byte 0: the header is damaged (its checksum is wrong)");
    if (pim_get_u32(header + PIM_HEADER_BYTES) != PIM_HEADER_SIZE ||
        pim_get_u32(header + PIM_HEADER_INSTRUCTION) != sizeof(struct pim_instruction) ||
        pim_get_u64(header + PIM_HEADER_RESERVED) != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 12: sizes of header and instruction are %" PRIu32 " and %" PRIu32
                        ", not 64 and 32, or a "
                        "reserved word is not 0",
                        pim_get_u32(header + PIM_HEADER_BYTES), pim_get_u32(header + PIM_HEADER_INSTRUCTION));
    uint64_t stated = pim_get_u64(header + PIM_HEADER_FILE_BYTES);
    if (stated > opening->trace->file_bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %" PRIu64 ": the file is truncated: %" PRIu64 " of %" PRIu64
                        " bytes are there",
                        opening->trace->file_bytes, opening->trace->file_bytes, stated);
    if (stated < opening->trace->file_bytes)
        return pim_fail(error, PIM_BAD_INPUT, "at byte %" PRIu64 ": bytes behind the end of the trace",
                        stated);
    opening->sections = pim_get_u32(header + PIM_HEADER_SECTIONS);
    opening->content = pim_get_u64(header + PIM_HEADER_CONTENT);
    if (opening->sections == 0 || opening->sections > PIM_SECTIONS_MOST ||
        opening->sections > (stated - PIM_HEADER_SIZE) / PIM_SECTION_SIZE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 20: %" PRIu32 " sections: allowed are 1 to %d, and they must fit the file",
                        opening->sections, PIM_SECTIONS_MOST);
    return PIM_OK;
}

/* Known sections stand in the order of their types, each once, all the required ones; unknown ones only when
 * they are optional. */
static enum pim_status check_section_types(struct opening *opening, struct pim_error *error)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < opening->sections; i++) {
        const struct section *section = &opening->section[i];
        uint64_t place = PIM_HEADER_SIZE + (uint64_t)i * PIM_SECTION_SIZE;
        if (section->flags & ~(uint32_t)PIM_SECTION_REQUIRED)
            return pim_fail(error, PIM_BAD_INPUT,
                            "at byte %" PRIu64 ": section %" PRIu32 " has unknown flags %" PRIu32, place + 4,
                            i, section->flags);
        if (section->type == 0 || section->type >= PIM_SECTION_TYPES) {
            if (section->flags & PIM_SECTION_REQUIRED)
                return pim_fail(error, PIM_BAD_INPUT,
                                "at byte %" PRIu64 ": section type %" PRIu32
                                " is needed to understand the trace, but this pimsim "
                                "does not know it",
                                place, section->type);
            continue;
        }
        if (section->type <= last)
            return pim_fail(error, PIM_BAD_INPUT, "at byte %" PRIu64 ": section %s stands twice or behind %s",
                            place, section_name(section->type), section_name(last));
        last = section->type;
        opening->seen[section->type] = true;
    }
    for (uint32_t type = 1; type < PIM_SECTION_TYPES; type++)
        if (!opening->seen[type] && type != PIM_SECTION_BEHAVIOURS && type != PIM_SECTION_ARRAY_GROUPS &&
            type != PIM_SECTION_EQUATIONS)
            return pim_fail(error, PIM_BAD_INPUT, "at byte %d: section %s is missing", PIM_HEADER_SIZE,
                            section_name(type));
    return PIM_OK;
}

static enum pim_status read_table(struct opening *opening, uint64_t checksum, struct pim_error *error)
{
    uint8_t table[PIM_SECTIONS_MOST * PIM_SECTION_SIZE];
    size_t size = (size_t)opening->sections * PIM_SECTION_SIZE;
    enum pim_status status = pim_trace_read(opening->trace, PIM_HEADER_SIZE, table, size, error);
    if (status != PIM_OK)
        return status;
    if (pim_hash_bytes(table, size) != checksum)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %d: the section table is damaged (its checksum is wrong)", PIM_HEADER_SIZE);
    uint64_t offset = PIM_HEADER_SIZE + size;
    for (uint32_t i = 0; i < opening->sections; i++) {
        const uint8_t *entry = table + (size_t)i * PIM_SECTION_SIZE;
        struct section *section = &opening->section[i];
        *section = (struct section){.type = pim_get_u32(entry + PIM_SECTION_TYPE),
                                    .flags = pim_get_u32(entry + PIM_SECTION_FLAGS),
                                    .offset = pim_get_u64(entry + PIM_SECTION_OFFSET),
                                    .bytes = pim_get_u64(entry + PIM_SECTION_BYTES),
                                    .checksum = pim_get_u64(entry + PIM_SECTION_CHECKSUM)};
        if (section->offset != offset || section->bytes > opening->trace->file_bytes - offset)
            return pim_fail(error, PIM_BAD_INPUT,
                            "at byte %" PRIu64 ": section %s lies at %" PRIu64 " + %" PRIu64
                            " bytes: it must begin at %" PRIu64
                            ", where the one before ends, and end in the file",
                            PIM_HEADER_SIZE + (uint64_t)i * PIM_SECTION_SIZE, section_name(section->type),
                            section->offset, section->bytes, offset);
        offset += section->bytes;
    }
    if (offset != opening->trace->file_bytes)
        return pim_fail(error, PIM_BAD_INPUT, "at byte %" PRIu64 ": bytes that belong to no section", offset);
    return check_section_types(opening, error);
}

/* A section that this reader does not know: only its checksum can be held. */
static enum pim_status skip_section(const struct opening *opening, const struct section *section,
                                    struct pim_error *error)
{
    uint8_t piece[4096];
    XXH64_state_t state;
    (void)XXH64_reset(&state, 0);
    for (uint64_t done = 0; done < section->bytes;) {
        size_t bytes = section->bytes - done < sizeof piece ? (size_t)(section->bytes - done) : sizeof piece;
        enum pim_status status = pim_trace_read(opening->trace, section->offset + done, piece, bytes, error);
        if (status != PIM_OK)
            return status;
        pim_hash_update(&state, piece, bytes);
        done += bytes;
    }
    if (XXH64_digest(&state) != section->checksum)
        return pim_fail(error, PIM_BAD_INPUT, "its bytes are damaged (the checksum is wrong)");
    return PIM_OK;
}

static enum pim_status check_unit(const struct pim_trace_unit *unit, uint32_t reserved,
                                  struct pim_error *error)
{
    bool empty = unit->instructions == 0;
    if (reserved != 0 || (unit->chunks == 0) != empty || (unit->bytes == 0) != empty ||
        unit->instructions < unit->chunks || unit->instructions > (uint64_t)unit->chunks * PIM_TRACE_CHUNK ||
        unit->bytes / PIM_CHUNK_SIZE < unit->chunks)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu64 " instructions cannot lie in %" PRIu32 " chunks of %" PRIu64
                        " bytes, or the reserved word is not 0",
                        unit->instructions, unit->chunks, unit->bytes);
    return PIM_OK;
}

static enum pim_status decode_units(struct pim_trace *trace, const struct section *section,
                                    const struct section *programs, const uint8_t *data,
                                    struct pim_error *error)
{
    uint32_t units = trace->description.units;
    if (section->bytes != (uint64_t)units * PIM_UNIT_SIZE)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu64 " bytes are not what %" PRIu32 " units take",
                        section->bytes, units);
    trace->unit = calloc(units, sizeof *trace->unit);
    if (!trace->unit)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " units", units);
    uint64_t offset = programs->offset, end = programs->offset + programs->bytes;
    for (uint32_t i = 0; i < units; i++) {
        const uint8_t *entry = data + (size_t)i * PIM_UNIT_SIZE;
        struct pim_trace_unit *unit = &trace->unit[i];
        *unit = (struct pim_trace_unit){.offset = offset,
                                        .bytes = pim_get_u64(entry + PIM_UNIT_BYTES),
                                        .instructions = pim_get_u64(entry + PIM_UNIT_INSTRUCTIONS),
                                        .hash = pim_get_u64(entry + PIM_UNIT_HASH),
                                        .chunks = pim_get_u32(entry + PIM_UNIT_CHUNKS)};
        if (unit->bytes > end - offset)
            return pim_fail(error, PIM_BAD_INPUT,
                            "unit %" PRIu32 ": %" PRIu64 " bytes of chunks, %" PRIu64 " are left", i,
                            unit->bytes, end - offset);
        if (check_unit(unit, pim_get_u32(entry + PIM_UNIT_RESERVED), error) != PIM_OK)
            return pim_fail_in(error, "unit %" PRIu32, i);
        offset += unit->bytes;
    }
    if (offset != end)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu64 " bytes of chunks belong to no unit", end - offset);
    return PIM_OK;
}

static enum pim_status decode_section(struct opening *opening, const struct section *section,
                                      const uint8_t *data, struct pim_error *error)
{
    struct pim_trace *trace = opening->trace;
    if (section->type == PIM_SECTION_DESCRIPTION)
        return pim_description_decode(data, section->bytes, &trace->description, &trace->description_storage,
                                      error);
    if (section->type == PIM_SECTION_PHASES)
        return pim_phases_decode(data, section->bytes, &trace->phase, &trace->phases, &trace->phase_storage,
                                 error);
    if (section->type == PIM_SECTION_BEHAVIOURS)
        return pim_behaviours_decode(data, section->bytes, &trace->table, &trace->tables,
                                     &trace->table_storage, error);
    if (section->type == PIM_SECTION_ARRAY_GROUPS)
        return pim_array_groups_decode(data, section->bytes, trace->description.units, &trace->groups, error);
    if (section->type == PIM_SECTION_EQUATIONS)
        return pim_equations_decode(data, section->bytes, trace->phase, trace->phases, error);
    const struct section *programs = section + 1;
    while (programs->type != PIM_SECTION_PROGRAMS)
        programs++;
    return decode_units(trace, section, programs, data, error);
}

static enum pim_status read_section(struct opening *opening, const struct section *section,
                                    struct pim_error *error)
{
    if (section->type == 0 || section->type >= PIM_SECTION_TYPES)
        return skip_section(opening, section, error);
    if (section->type == PIM_SECTION_PROGRAMS) {
        if (section->checksum != 0)
            return pim_fail(error, PIM_BAD_INPUT, "its checksum must be 0: chunks have their own");
        return PIM_OK;
    }
    uint8_t *data = malloc(section->bytes + 1);
    if (!data)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " bytes", section->bytes);
    enum pim_status status = pim_trace_read(opening->trace, section->offset, data, section->bytes, error);
    if (status == PIM_OK && pim_hash_bytes(data, section->bytes) != section->checksum)
        status = pim_fail(error, PIM_BAD_INPUT, "its bytes are damaged (the checksum is wrong)");
    if (status == PIM_OK)
        status = decode_section(opening, section, data, error);
    if (status == PIM_OK)
        pim_content_add(&opening->hash, section->type, data, section->bytes);
    free(data);
    return status;
}

static enum pim_status read_all(struct opening *opening, struct pim_error *error)
{
    struct pim_trace *trace = opening->trace;
    uint8_t header[PIM_HEADER_SIZE];
    if (trace->file_bytes < PIM_HEADER_SIZE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %" PRIu64 ": too short for a pimsim trace, whose header has %d bytes",
                        trace->file_bytes, PIM_HEADER_SIZE);
    enum pim_status status = pim_trace_read(trace, 0, header, sizeof header, error);
    if (status == PIM_OK)
        status = check_header(opening, header, error);
    if (status == PIM_OK)
        status = read_table(opening, pim_get_u64(header + PIM_HEADER_TABLE), error);
    pim_content_start(&opening->hash);
    for (uint32_t i = 0; i < opening->sections && status == PIM_OK; i++) {
        const struct section *section = &opening->section[i];
        status = read_section(opening, section, error);
        if (status != PIM_OK)
            (void)pim_fail_in(error, "section %" PRIu32 " (%s) at byte %" PRIu64, i,
                              section_name(section->type), section->offset);
    }
    if (status != PIM_OK)
        return status;
    trace->content = pim_content_end(&opening->hash);
    if (trace->content != opening->content)
        return pim_fail(error, PIM_BAD_INPUT, "at byte %d: the content hash is wrong", PIM_HEADER_CONTENT);
    return PIM_OK;
}

/* Reads what `trace` (source and size set) holds; closes it on failure. */
static enum pim_status open_trace(struct pim_trace *trace, struct pim_trace **opened, struct pim_error *error)
{
    enum pim_status status;
    struct opening *opening = calloc(1, sizeof *opening);
    trace->pool = calloc(1, sizeof *trace->pool);
    if (!opening || !trace->pool || !trace->name) {
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory while a trace is opened");
    } else {
        opening->trace = trace;
        status = read_all(opening, error);
        if (status != PIM_OK)
            (void)pim_fail_in(error, "%s", trace->name);
    }
    free(opening);
    if (status != PIM_OK)
        pim_trace_close(trace);
    else
        *opened = trace;
    return status;
}

enum pim_status pim_trace_open(const char *path, struct pim_trace **trace, struct pim_error *error)
{
    *trace = NULL;
    /* O_NONBLOCK: a pipe without a writer must not hang us; it is refused below */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat information;
    if (descriptor < 0)
        return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    if (fstat(descriptor, &information) != 0 || !S_ISREG(information.st_mode)) {
        (void)close(descriptor);
        return pim_fail(error, PIM_IO,
                        "%s: not a regular file: a trace is read at several places, write it to a file first",
                        path);
    }
    struct pim_trace *made = calloc(1, sizeof *made);
    if (!made) {
        (void)close(descriptor);
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory while the trace is opened", path);
    }
    made->name = strdup(path);
    made->descriptor = descriptor;
    made->file_bytes = (uint64_t)information.st_size;
    return open_trace(made, trace, error);
}

enum pim_status pim_trace_open_memory(const void *bytes, size_t size, struct pim_trace **trace,
                                      struct pim_error *error)
{
    *trace = NULL;
    struct pim_trace *made = calloc(1, sizeof *made);
    if (!made)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory while a trace is opened");
    made->name = strdup("trace in memory");
    made->descriptor = -1;
    made->memory = bytes;
    made->file_bytes = size;
    return open_trace(made, trace, error);
}

void pim_trace_close(struct pim_trace *trace)
{
    if (!trace)
        return;
    for (int i = 0; i < PIM_SCRATCHES && trace->pool; i++)
        free_scratch(atomic_load(&trace->pool->place[i]));
    if (trace->descriptor >= 0)
        (void)close(trace->descriptor);
    pim_array_groups_free(&trace->groups);
    free(trace->pool);
    free(trace->phase);
    free(trace->table);
    free(trace->unit);
    free(trace->description_storage);
    free(trace->phase_storage);
    free(trace->table_storage);
    free(trace->name);
    free(trace);
}

const struct pim_trace_description *pim_trace_description(const struct pim_trace *trace)
{
    return &trace->description;
}

const char *pim_trace_hardware(const struct pim_trace *trace)
{
    const char *configuration = trace->description.configuration;
    return strncmp(configuration, PIM_TRACE_MADE_END, strlen(PIM_TRACE_MADE_END)) == 0 ? "" : configuration;
}

uint32_t pim_trace_phases(const struct pim_trace *trace)
{
    return trace->phases;
}

bool pim_trace_is_estimated(const struct pim_trace *trace)
{
    for (uint32_t i = 0; i < trace->phases; i++)
        if (trace->phase[i].estimate_cycles > 0)
            return true;
    return false;
}

const struct pim_trace_phase *pim_trace_phase(const struct pim_trace *trace, uint32_t phase)
{
    assert(phase < trace->phases);
    return &trace->phase[phase];
}

uint64_t pim_trace_instructions(const struct pim_trace *trace, uint32_t unit)
{
    assert(unit < trace->description.units);
    return trace->unit[unit].instructions;
}

uint64_t pim_trace_stored_bytes(const struct pim_trace *trace, uint32_t unit)
{
    assert(unit < trace->description.units);
    return trace->unit[unit].bytes;
}

uint32_t pim_trace_chunks(const struct pim_trace *trace, uint32_t unit)
{
    assert(unit < trace->description.units);
    return trace->unit[unit].chunks;
}

uint64_t pim_trace_file_bytes(const struct pim_trace *trace)
{
    return trace->file_bytes;
}

uint64_t pim_trace_hash(const struct pim_trace *trace)
{
    return trace->content;
}

static void hash_numbers(XXH64_state_t *state, uint64_t one, uint64_t two)
{
    const uint64_t numbers[] = {one, two};
    pim_hash_update(state, numbers, sizeof numbers);
}

uint64_t pim_trace_program_hash(const struct pim_trace *trace)
{
    XXH64_state_t state;
    (void)XXH64_reset(&state, 0);
    for (uint32_t u = 0; u < trace->description.units; u++) {
        uint32_t count;
        const struct pim_trace_array_group *group = pim_trace_array_groups(trace, u, &count);
        hash_numbers(&state, trace->unit[u].instructions, trace->unit[u].hash);
        hash_numbers(&state, u, count);
        if (count > 0)
            pim_hash_update(&state, group, count * sizeof *group);
    }
    for (uint32_t t = 0; t < trace->tables; t++) {
        hash_numbers(&state, trace->table[t].router, trace->table[t].count);
        if (trace->table[t].count > 0)
            pim_hash_update(&state, trace->table[t].entries,
                            trace->table[t].count * sizeof *trace->table[t].entries);
    }
    return XXH64_digest(&state);
}

uint32_t pim_trace_behaviour_routers(const struct pim_trace *trace)
{
    return trace->tables;
}

const struct pim_trace_behaviour *pim_trace_behaviour(const struct pim_trace *trace, uint32_t i,
                                                      uint32_t *router, uint32_t *count)
{
    assert(i < trace->tables);
    *router = trace->table[i].router;
    *count = trace->table[i].count;
    return trace->table[i].entries;
}

const struct pim_trace_array_group *pim_trace_array_groups(const struct pim_trace *trace, uint32_t unit,
                                                           uint32_t *count)
{
    assert(unit < trace->description.units);
    const struct pim_array_groups *groups = &trace->groups;
    *count = groups->first ? groups->first[unit + 1] - groups->first[unit] : 0;
    return *count > 0 ? groups->group + groups->first[unit] : NULL;
}
