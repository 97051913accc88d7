/*
 * Any bytes as a trace file. To get past the checksums, what begins with a byte 1 to 3 instead of the mark
 * of a trace is taken as the parts of one file, which are put together with right checksums. 1: sections in
 * the order of the file, each a little-endian u16 length and its bytes; in the last one, the programs, the
 * frames of chunks are taken as plain instructions and compressed. 2: the array groups come first, in the
 * same way. 3: the array groups and the equations come first.
 *
 * What is accepted must have a text that assembles to a trace of the same content; what is refused must have
 * a message.
 */
#include "traces/check/check.h"
#include "traces/counts.h"
#include "traces/file/format.h"
#include "traces/file/reader.h"
#include "traces/file/sections.h"
#include "traces/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECTIONS = PIM_SECTION_TYPES - 1, ROOM = 1 << 17, EXECUTED = 20000 };

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

/* Programs: a u16 number of instructions and the instructions make a chunk; the table of units says whose
 * chunks they are, so the number of each chunk and its unit count up as it says. Returns the bytes written to
 * `out`. */
static size_t make_chunks(const uint8_t *units, size_t unit_bytes, const uint8_t *data, size_t size,
                          uint8_t *out)
{
    size_t used = 0;
    uint32_t unit = 0, number = 0;
    while (size >= 2 && used + PIM_CHUNK_SIZE + PIM_CHUNK_STORED_MOST < ROOM) {
        size_t instructions = data[0] | (size_t)(data[1] & 3) << 8;
        size_t bytes = instructions * 32 < size - 2 ? instructions * 32 : size - 2;
        uint8_t *chunk = out + used;
        size_t stored = ZSTD_compress(chunk + PIM_CHUNK_SIZE, PIM_CHUNK_STORED_MOST, data + 2, bytes, 1);
        while ((unit + 1) * (size_t)PIM_UNIT_SIZE <= unit_bytes &&
               number >= pim_get_u32(units + unit * (size_t)PIM_UNIT_SIZE + PIM_UNIT_CHUNKS)) {
            unit++;
            number = 0;
        }
        pim_put_u32(chunk + PIM_CHUNK_UNIT, unit);
        pim_put_u32(chunk + PIM_CHUNK_NUMBER, number++);
        pim_put_u32(chunk + PIM_CHUNK_INSTRUCTIONS, (uint32_t)instructions);
        pim_put_u32(chunk + PIM_CHUNK_STORED, (uint32_t)stored);
        pim_put_u64(chunk, pim_hash_bytes(chunk + 8, PIM_CHUNK_SIZE - 8 + stored));
        used += PIM_CHUNK_SIZE + stored;
        data += 2 + bytes;
        size -= 2 + bytes;
    }
    return used;
}

/* Completes the table of units: bytes of chunks and hashes, which nobody could guess, are taken from the
 * chunks. */
static void complete_units(uint8_t *units, size_t bytes, const uint8_t *chunks, size_t size)
{
    static uint8_t plain[PIM_TRACE_CHUNK * 32]; /* of this program alone: a fuzz target runs in one thread */
    for (size_t unit = 0; (unit + 1) * PIM_UNIT_SIZE <= bytes; unit++) {
        uint8_t *entry = units + unit * PIM_UNIT_SIZE;
        uint64_t used = 0;
        XXH64_state_t hash;
        (void)XXH64_reset(&hash, 0);
        while (used + PIM_CHUNK_SIZE <= size && pim_get_u32(chunks + used + PIM_CHUNK_UNIT) == unit) {
            uint32_t stored = pim_get_u32(chunks + used + PIM_CHUNK_STORED);
            size_t made = ZSTD_decompress(plain, sizeof plain, chunks + used + PIM_CHUNK_SIZE, stored);
            pim_hash_update(&hash, plain, ZSTD_isError(made) ? 0 : made);
            used += PIM_CHUNK_SIZE + stored;
        }
        pim_put_u64(entry + PIM_UNIT_BYTES, used);
        pim_put_u64(entry + PIM_UNIT_HASH, XXH64_digest(&hash));
        chunks += used;
        size -= used;
    }
}

static bool is_optional(uint32_t type)
{
    return type == PIM_SECTION_BEHAVIOURS || type == PIM_SECTION_ARRAY_GROUPS ||
           type == PIM_SECTION_EQUATIONS;
}

/* Writes header and section table for the sections start[i] to start[i + 1]; optional ones that are empty are
 * left out. */
static void seal(uint8_t *file, const size_t start[SECTIONS + 1])
{
    struct pim_content_hash content;
    uint8_t *entry = file + PIM_HEADER_SIZE;
    uint32_t count = 0;
    pim_content_start(&content);
    for (unsigned i = 0; i < SECTIONS; i++) {
        size_t bytes = start[i + 1] - start[i];
        uint32_t type = i + 1;
        if (is_optional(type) && start[i] == start[i + 1])
            continue;
        pim_put_u32(entry + PIM_SECTION_TYPE, type);
        pim_put_u32(entry + PIM_SECTION_FLAGS, type == PIM_SECTION_BEHAVIOURS || type == PIM_SECTION_EQUATIONS
                                                   ? 0
                                                   : PIM_SECTION_REQUIRED);
        pim_put_u64(entry + PIM_SECTION_OFFSET, start[i]);
        pim_put_u64(entry + PIM_SECTION_BYTES, bytes);
        pim_put_u64(entry + PIM_SECTION_CHECKSUM,
                    type == PIM_SECTION_PROGRAMS ? 0 : pim_hash_bytes(file + start[i], bytes));
        pim_content_add(&content, type, file + start[i], bytes);
        entry += PIM_SECTION_SIZE;
        count++;
    }
    memset(file, 0, PIM_HEADER_SIZE);
    memcpy(file, PIM_FORMAT_MAGIC, 8);
    pim_put_u32(file + PIM_HEADER_VERSION, PIM_FORMAT_VERSION);
    pim_put_u32(file + PIM_HEADER_BYTES, PIM_HEADER_SIZE);
    pim_put_u32(file + PIM_HEADER_INSTRUCTION, 32);
    pim_put_u32(file + PIM_HEADER_SECTIONS, count);
    pim_put_u64(file + PIM_HEADER_FILE_BYTES, start[SECTIONS]);
    pim_put_u64(file + PIM_HEADER_CONTENT, pim_content_end(&content));
    pim_put_u64(file + PIM_HEADER_TABLE,
                pim_hash_bytes(file + PIM_HEADER_SIZE, count * (size_t)PIM_SECTION_SIZE));
    pim_put_u64(file + PIM_HEADER_CHECKSUM, pim_hash_bytes(file, PIM_HEADER_CHECKSUM));
}

/* What is left of the parts. */
struct parts {
    const uint8_t *data;
    size_t size;
};

/* Takes a part: a length and its bytes, or (`last`) all that is left. Returns its bytes. */
static size_t take_part(struct parts *parts, bool last, const uint8_t **part)
{
    size_t bytes = parts->size < 2 ? 0 : parts->data[0] | (size_t)parts->data[1] << 8;
    if (!last && parts->size >= 2) {
        parts->data += 2;
        parts->size -= 2;
    }
    if (last || bytes > parts->size)
        bytes = parts->size;
    *part = parts->data;
    parts->data += bytes;
    parts->size -= bytes;
    return bytes;
}

/* Puts a file together from its parts; returns its size. `behind`: so many of the sections behind the
   programs. */
static size_t put_together(struct parts parts, unsigned behind, uint8_t *file)
{
    enum { UNITS = PIM_SECTION_UNITS - 1, PROGRAMS = PIM_SECTION_PROGRAMS - 1, GROUPS };
    size_t start[SECTIONS + 1], length[SECTIONS] = {0}, sections = SECTIONS;
    const uint8_t *part[SECTIONS] = {NULL};
    for (unsigned i = GROUPS; i < GROUPS + behind; i++)
        length[i] = take_part(&parts, false, &part[i]);
    for (unsigned i = 0; i <= PROGRAMS; i++)
        length[i] = take_part(&parts, i == PROGRAMS, &part[i]);
    for (unsigned i = 0; i < SECTIONS; i++)
        if (is_optional(i + 1) && length[i] == 0)
            sections--;
    start[0] = PIM_HEADER_SIZE + sections * PIM_SECTION_SIZE;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        memcpy(file + start[i], part[i], length[i]);
        start[i + 1] = start[i] + length[i];
    }
    start[GROUPS] = start[PROGRAMS] + make_chunks(file + start[UNITS], length[UNITS], part[PROGRAMS],
                                                  length[PROGRAMS], file + start[PROGRAMS]);
    complete_units(file + start[UNITS], length[UNITS], file + start[PROGRAMS],
                   start[GROUPS] - start[PROGRAMS]);
    for (unsigned i = GROUPS; i < SECTIONS; i++) {
        if (length[i] > 0)
            memcpy(file + start[i], part[i], length[i]);
        start[i + 1] = start[i] + length[i];
    }
    seal(file, start);
    return start[SECTIONS];
}

/* Text and back: the content must stay. */
static void require_round_trip(const struct pim_trace *trace)
{
    struct pim_error error = {PIM_OK, ""};
    char path[64], *text = NULL;
    size_t length = 0;
    struct pim_trace *second;
    FILE *file = open_memstream(&text, &length);
    require(file != NULL, "no memory", &error);
    require(pim_trace_disassemble(trace, PIM_ALL_UNITS, file, &error) == PIM_OK,
            "an accepted trace has no text", &error);
    (void)fclose(file);
    (void)snprintf(path, sizeof path, "/tmp/pimsim-fuzz-%ld", (long)getpid());
    file = fmemopen(text, length, "r");
    require(file != NULL, "no memory", &error);
    require(pim_trace_assemble("text", file, path, &error) == PIM_OK, "the text is refused", &error);
    (void)fclose(file);
    require(pim_trace_open(path, &second, &error) == PIM_OK, "the assembled trace is refused", &error);
    require(pim_trace_hash(trace) == pim_trace_hash(second), "another content after text and back", &error);
    pim_trace_close(second);
    (void)unlink(path);
    free(text);
}

/* Reads every program; true when all are right and none executes more than EXECUTED instructions. */
static bool read_programs(const struct pim_trace *trace, struct pim_error *error)
{
    bool right = true;
    for (uint32_t unit = 0; unit < pim_trace_description(trace)->units; unit++) {
        struct pim_trace_counts counts;
        struct pim_trace_cursor *cursor;
        if (pim_counts_of_unit(trace, unit, &counts, error) != PIM_OK) {
            require(error->text[0] != '\0', "refused without a message", error);
            right = false;
            continue;
        }
        require(pim_trace_cursor_create(trace, unit, &cursor, error) == PIM_OK, "no cursor", error);
        const struct pim_instruction *instruction = NULL;
        uint64_t executed = 0;
        for (; executed <= EXECUTED; executed++) {
            require(pim_trace_cursor_next(cursor, &instruction, error) == PIM_OK,
                    "right in stored order, wrong in executed", error);
            if (!instruction)
                break;
        }
        if (instruction)
            right = false;
        else
            require(executed == counts.fetched, "counted otherwise than executed", error);
        pim_trace_cursor_destroy(cursor);
    }
    return right;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t file[ROOM + (1 << 19)];
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace;
    if (size > 1 << 17)
        return 0;
    if (size > 0 && data[0] >= 1 && data[0] <= 3) {
        size = put_together((struct parts){data + 1, size - 1}, data[0] - 1U, file);
        data = file;
    }
    if (pim_trace_open_memory(data, size, &trace, &error) != PIM_OK) {
        require(trace == NULL && error.text[0] != '\0', "refused without a message", &error);
        return 0;
    }
    if (pim_trace_description(trace)->units <= 4096 && read_programs(trace, &error)) {
        struct pim_check_limits limits = {
            .buffer_bytes = {0, 4096, 4096, 4096}, .local_bytes = 4096, .window = 16, .accumulator_bits = 32};
        struct pim_check_result result;
        enum pim_status status = pim_trace_check(trace, &limits, &result, &error);
        require(status == PIM_OK || error.text[0] != '\0', "refused without a message", &error);
        require_round_trip(trace);
    }
    pim_trace_close(trace);
    return 0;
}
