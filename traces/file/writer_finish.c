/*
 * The end of a trace that is written: header, section table, small sections, then the chunks fetched from the
 * spool unit by unit.
 */
#include "traces/file/writer_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Section bytes of a trace, until they are written. */
struct section {
    enum pim_section_type type;
    uint32_t flags;
    uint64_t bytes, checksum;
    uint8_t *data; /* NULL for PROGRAMS, whose chunks wait in the spool */
};

enum { SECTIONS = PIM_SECTION_TYPES - 1 };

/* UNITS: what the reader must know of each program. */
static enum pim_status encode_units(const struct pim_trace_writer *writer, struct section *section,
                                    struct pim_error *error)
{
    section->bytes = (uint64_t)writer->description.units * PIM_UNIT_SIZE;
    section->data = calloc(writer->description.units, PIM_UNIT_SIZE);
    if (!section->data)
        return pim_writer_no_memory(writer, error);
    for (uint32_t unit = 0; unit < writer->description.units; unit++) {
        const struct pim_stored_program *program = &writer->program[unit];
        uint8_t *entry = section->data + (size_t)unit * PIM_UNIT_SIZE;
        pim_put_u64(entry + PIM_UNIT_BYTES, program->bytes);
        pim_put_u64(entry + PIM_UNIT_INSTRUCTIONS, program->state.stored);
        pim_put_u64(entry + PIM_UNIT_HASH,
                    program->state.units ? XXH64_digest(&program->hash) : pim_hash_bytes("", 0));
        pim_put_u32(entry + PIM_UNIT_CHUNKS, program->chunks);
    }
    return PIM_OK;
}

/* Makes the sections in the order of the file and returns how many there are. */
static enum pim_status encode_sections(const struct pim_trace_writer *writer,
                                       struct section sections[SECTIONS], uint32_t *count,
                                       struct pim_error *error)
{
    uint32_t used = 0;
    struct section *section = &sections[used++];
    *section = (struct section){.type = PIM_SECTION_DESCRIPTION, .flags = PIM_SECTION_REQUIRED};
    section->data = pim_description_encode(&writer->description, &section->bytes);
    if (section->data) {
        section = &sections[used++];
        *section = (struct section){.type = PIM_SECTION_PHASES, .flags = PIM_SECTION_REQUIRED};
        section->data = pim_phases_encode(writer->phase, writer->phases, &section->bytes);
    }
    if (section->data && writer->tables > 0) {
        section = &sections[used++];
        *section = (struct section){.type = PIM_SECTION_BEHAVIOURS};
        section->data = pim_behaviours_encode(writer->table, writer->tables, &section->bytes);
    }
    enum pim_status status = section->data ? PIM_OK : pim_writer_no_memory(writer, error);
    if (status == PIM_OK) {
        section = &sections[used++];
        *section = (struct section){.type = PIM_SECTION_UNITS, .flags = PIM_SECTION_REQUIRED};
        status = encode_units(writer, section, error);
    }
    if (status == PIM_OK)
        sections[used++] = (struct section){
            .type = PIM_SECTION_PROGRAMS, .flags = PIM_SECTION_REQUIRED, .bytes = writer->spooled};
    if (status == PIM_OK && writer->group_count > 0) {
        section = &sections[used++];
        *section = (struct section){.type = PIM_SECTION_ARRAY_GROUPS, .flags = PIM_SECTION_REQUIRED};
        section->data = pim_array_groups_encode(writer->groups, writer->description.units, &section->bytes);
        if (!section->data)
            status = pim_writer_no_memory(writer, error);
    }
    if (status == PIM_OK && pim_equations_exist(writer->phase, writer->phases)) {
        section = &sections[used++];
        *section = (struct section){.type = PIM_SECTION_EQUATIONS};
        section->data = pim_equations_encode(writer->phase, writer->phases, &section->bytes);
        if (!section->data)
            status = pim_writer_no_memory(writer, error);
    }
    *count = used;
    for (uint32_t i = 0; i < used && status == PIM_OK; i++)
        if (sections[i].data)
            sections[i].checksum = pim_hash_bytes(sections[i].data, sections[i].bytes);
    return status;
}

/* Header and section table. */
static void write_front(const struct section *sections, uint32_t count, FILE *file)
{
    uint8_t header[PIM_HEADER_SIZE] = {0};
    uint8_t table[SECTIONS * PIM_SECTION_SIZE] = {0};
    uint64_t offset = PIM_HEADER_SIZE + (uint64_t)count * PIM_SECTION_SIZE;
    struct pim_content_hash content;
    pim_content_start(&content);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *entry = table + (size_t)i * PIM_SECTION_SIZE;
        pim_put_u32(entry + PIM_SECTION_TYPE, sections[i].type);
        pim_put_u32(entry + PIM_SECTION_FLAGS, sections[i].flags);
        pim_put_u64(entry + PIM_SECTION_OFFSET, offset);
        pim_put_u64(entry + PIM_SECTION_BYTES, sections[i].bytes);
        pim_put_u64(entry + PIM_SECTION_CHECKSUM, sections[i].checksum);
        offset += sections[i].bytes;
        pim_content_add(&content, sections[i].type, sections[i].data, sections[i].bytes);
    }
    memcpy(header + PIM_HEADER_MAGIC, PIM_FORMAT_MAGIC, PIM_FORMAT_MAGIC_BYTES);
    pim_put_u32(header + PIM_HEADER_VERSION, PIM_FORMAT_VERSION);
    pim_put_u32(header + PIM_HEADER_BYTES, PIM_HEADER_SIZE);
    pim_put_u32(header + PIM_HEADER_INSTRUCTION, sizeof(struct pim_instruction));
    pim_put_u32(header + PIM_HEADER_SECTIONS, count);
    pim_put_u64(header + PIM_HEADER_FILE_BYTES, offset);
    pim_put_u64(header + PIM_HEADER_CONTENT, pim_content_end(&content));
    pim_put_u64(header + PIM_HEADER_TABLE, pim_hash_bytes(table, (size_t)count * PIM_SECTION_SIZE));
    pim_put_u64(header + PIM_HEADER_CHECKSUM, pim_hash_bytes(header, PIM_HEADER_CHECKSUM));
    (void)fwrite(header, 1, sizeof header, file);
    (void)fwrite(table, PIM_SECTION_SIZE, count, file);
}

/* The chunks, unit by unit, from the spool. */
static enum pim_status copy_chunks(struct pim_trace_writer *writer, FILE *file, struct pim_error *error)
{
    if (fflush(writer->spool) != 0)
        return pim_writer_spool_failed(writer, error);
    int spool = fileno(writer->spool);
    for (uint32_t unit = 0; unit < writer->description.units; unit++) {
        const struct pim_stored_program *program = &writer->program[unit];
        for (uint32_t i = 0; i < program->chunks; i++) {
            const struct pim_stored_chunk *chunk = &program->chunk[i];
            for (uint32_t done = 0; done < chunk->bytes;) {
                ssize_t got =
                    pread(spool, writer->frame + done, chunk->bytes - done, (off_t)(chunk->offset + done));
                if (got < 0 && errno == EINTR)
                    continue;
                if (got <= 0)
                    return pim_writer_spool_failed(writer, error);
                done += (uint32_t)got;
            }
            (void)fwrite(writer->frame, 1, chunk->bytes, file);
        }
    }
    return PIM_OK;
}

/* Closes every program: nothing may be open, and the chunk that is being filled goes to the spool. */
static enum pim_status end_programs(struct pim_trace_writer *writer, struct pim_error *error)
{
    if (writer->failed.status != PIM_OK) {
        *error = writer->failed;
        return error->status;
    }
    for (uint32_t unit = 0; unit < writer->description.units; unit++) {
        struct pim_stored_program *program = &writer->program[unit];
        if (program->state.units == 0)
            continue;
        if (pim_program_end(&program->state, error) != PIM_OK)
            return pim_fail_in(error, "%s: unit %" PRIu32 " instruction %" PRIu64, writer->path, unit,
                               program->state.stored);
        enum pim_status status = pim_writer_flush(writer, program, error);
        if (status != PIM_OK)
            return status;
    }
    return PIM_OK;
}

enum pim_status pim_trace_writer_finish(struct pim_trace_writer *writer, struct pim_error *error)
{
    struct section sections[SECTIONS] = {{.data = NULL}};
    uint32_t count = 0;
    enum pim_status status = end_programs(writer, error);
    if (status == PIM_OK)
        status = encode_sections(writer, sections, &count, error);
    if (status == PIM_OK) {
        FILE *file = pim_output_file(writer->output);
        write_front(sections, count, file);
        for (uint32_t i = 0; i < count && status == PIM_OK; i++) {
            if (sections[i].type == PIM_SECTION_PROGRAMS)
                status = copy_chunks(writer, file, error);
            else
                (void)fwrite(sections[i].data, 1, sections[i].bytes, file);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        free(sections[i].data);
    if (status == PIM_OK) {
        struct pim_output *output = writer->output;
        writer->output = NULL;
        status = pim_output_commit(output, error);
    }
    pim_trace_writer_abandon(writer);
    return status;
}
