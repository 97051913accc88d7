/*
 * Files that are damaged, truncated, newer or hostile: refused with the place, never a crash, never accepted
 * with other content.
 *
 * Hostile files are forged: taken apart into sections, changed, and put together again with right checksums,
 * so that what refuses them is the check of the content.
 */
#include "tests/unit/traces/suites.h"
#include "tests/unit/traces/support.h"
#include "traces/file/format.h"
#include "traces/file/sections.h"
#include "traces/text/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { PIECES = 8 };

struct piece {
    uint32_t type, flags;
    uint8_t *data;
    size_t bytes;
};

struct forged {
    struct piece piece[PIECES];
    unsigned count;
    uint32_t version;
    uint8_t *file;
    size_t size;
};

static uint8_t *copy(const void *bytes, size_t size, size_t room)
{
    uint8_t *made = calloc(1, room + 1);
    ck_assert_ptr_nonnull(made);
    memcpy(made, bytes, size);
    return made;
}

/* Takes the small trace apart. */
static void take_apart(struct forged *forged)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    size_t size;
    EXPECT_OK(assemble(small_text, "small", &error));
    uint8_t *bytes = read_bytes(temporary(path, "small"), &size);
    memset(forged, 0, sizeof *forged);
    forged->version = 1;
    forged->count = pim_get_u32(bytes + PIM_HEADER_SECTIONS);
    ck_assert_uint_eq(forged->count, 7);
    for (unsigned i = 0; i < forged->count; i++) {
        const uint8_t *entry = bytes + PIM_HEADER_SIZE + (size_t)i * PIM_SECTION_SIZE;
        struct piece *piece = &forged->piece[i];
        piece->type = pim_get_u32(entry + PIM_SECTION_TYPE);
        piece->flags = pim_get_u32(entry + PIM_SECTION_FLAGS);
        piece->bytes = pim_get_u64(entry + PIM_SECTION_BYTES);
        piece->data =
            copy(bytes + pim_get_u64(entry + PIM_SECTION_OFFSET), piece->bytes, piece->bytes + 4096);
    }
    free(bytes);
}

static struct piece *piece_of(struct forged *forged, uint32_t type)
{
    for (unsigned i = 0; i < forged->count; i++)
        if (forged->piece[i].type == type)
            return &forged->piece[i];
    ck_abort_msg("no section of type %u", (unsigned)type);
}

/* Where a section begins in the file. */
static size_t offset_of(const struct forged *forged, uint32_t type)
{
    size_t offset = PIM_HEADER_SIZE + (size_t)forged->count * PIM_SECTION_SIZE;
    for (unsigned i = 0; i < forged->count && forged->piece[i].type != type; i++)
        offset += forged->piece[i].bytes;
    return offset;
}

/* Right checksums for whatever the header and the section table say. */
static void seal(struct forged *forged)
{
    uint8_t *file = forged->file;
    pim_put_u64(file + PIM_HEADER_TABLE,
                pim_hash_bytes(file + PIM_HEADER_SIZE, (size_t)forged->count * PIM_SECTION_SIZE));
    pim_put_u64(file + PIM_HEADER_CHECKSUM, pim_hash_bytes(file, PIM_HEADER_CHECKSUM));
}

static void put_together(struct forged *forged)
{
    size_t offset = PIM_HEADER_SIZE + (size_t)forged->count * PIM_SECTION_SIZE;
    struct pim_content_hash content;
    pim_content_start(&content);
    forged->size = offset;
    for (unsigned i = 0; i < forged->count; i++)
        forged->size += forged->piece[i].bytes;
    free(forged->file);
    forged->file = calloc(1, forged->size);
    ck_assert_ptr_nonnull(forged->file);
    for (unsigned i = 0; i < forged->count; i++) {
        const struct piece *piece = &forged->piece[i];
        uint8_t *entry = forged->file + PIM_HEADER_SIZE + (size_t)i * PIM_SECTION_SIZE;
        bool programs = piece->type == PIM_SECTION_PROGRAMS;
        pim_put_u32(entry + PIM_SECTION_TYPE, piece->type);
        pim_put_u32(entry + PIM_SECTION_FLAGS, piece->flags);
        pim_put_u64(entry + PIM_SECTION_OFFSET, offset);
        pim_put_u64(entry + PIM_SECTION_BYTES, piece->bytes);
        pim_put_u64(entry + PIM_SECTION_CHECKSUM, programs ? 0 : pim_hash_bytes(piece->data, piece->bytes));
        memcpy(forged->file + offset, piece->data, piece->bytes);
        offset += piece->bytes;
        pim_content_add(&content, piece->type, piece->data, piece->bytes);
    }
    memcpy(forged->file, PIM_FORMAT_MAGIC, 8);
    pim_put_u32(forged->file + PIM_HEADER_VERSION, forged->version);
    pim_put_u32(forged->file + PIM_HEADER_BYTES, PIM_HEADER_SIZE);
    pim_put_u32(forged->file + PIM_HEADER_INSTRUCTION, 32);
    pim_put_u32(forged->file + PIM_HEADER_SECTIONS, forged->count);
    pim_put_u64(forged->file + PIM_HEADER_FILE_BYTES, forged->size);
    pim_put_u64(forged->file + PIM_HEADER_CONTENT, pim_content_end(&content));
    seal(forged);
}

static void release(struct forged *forged)
{
    for (unsigned i = 0; i < forged->count; i++)
        free(forged->piece[i].data);
    free(forged->file);
}

/* Opens from memory and reads all programs. */
static enum pim_status try_bytes(const uint8_t *bytes, size_t size, uint64_t *hash, struct pim_error *error)
{
    struct pim_trace *trace;
    *error = (struct pim_error){PIM_OK, ""};
    enum pim_status status = pim_trace_open_memory(bytes, size, &trace, error);
    ck_assert((trace != NULL) == (status == PIM_OK));
    if (status == PIM_OK) {
        status = read_programs(trace, error);
        *hash = pim_trace_hash(trace);
    }
    pim_trace_close(trace);
    ck_assert(status == PIM_OK || (error->text[0] != '\0' && error->status == status));
    return status;
}

static void expect_refused(struct forged *forged, const char *part)
{
    struct pim_error error;
    uint64_t hash;
    EXPECT(try_bytes(forged->file, forged->size, &hash, &error), PIM_BAD_INPUT);
    EXPECT_TEXT(part);
    release(forged);
}

START_TEST(every_truncation_is_refused)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    size_t size;
    uint64_t hash;
    EXPECT_OK(assemble(small_text, "small", &error));
    uint8_t *bytes = read_bytes(temporary(path, "small"), &size);
    EXPECT_OK(try_bytes(bytes, size, &hash, &error));
    for (size_t length = 0; length < size; length++) {
        uint8_t *exact = copy(bytes, length, length); /* so that a sanitizer sees a read behind the end */
        EXPECT(try_bytes(exact, length, &hash, &error), PIM_BAD_INPUT);
        free(exact);
    }
    uint8_t *longer = copy(bytes, size, size + 1);
    EXPECT(try_bytes(longer, size + 1, &hash, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("behind the end");
    free(longer);
    free(bytes);
}
END_TEST

START_TEST(every_flipped_bit_is_refused)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    size_t size;
    uint64_t hash;
    EXPECT_OK(assemble(small_text, "small", &error));
    uint8_t *bytes = read_bytes(temporary(path, "small"), &size);
    for (size_t bit = 0; bit < size * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1U << (bit % 8));
        ck_assert_msg(try_bytes(bytes, size, &hash, &error) == PIM_BAD_INPUT, "bit %zu of byte %zu", bit % 8,
                      bit / 8);
        bytes[bit / 8] ^= (uint8_t)(1U << (bit % 8));
    }
    free(bytes);
}
END_TEST

START_TEST(damage_is_placed)
{
    struct pim_error error = {PIM_OK, ""};
    struct forged forged;
    uint64_t hash;
    take_apart(&forged);
    put_together(&forged);
    EXPECT_OK(
        try_bytes(forged.file, forged.size, &hash, &error)); /* the forger can put a right file together */
    size_t programs = offset_of(&forged, PIM_SECTION_PROGRAMS);
    char place[64];
    forged.file[programs + 40] ^= 1;
    (void)snprintf(place, sizeof place, "unit 0 chunk 0 at byte %zu: its bytes are damaged", programs);
    expect_refused(&forged, place);
}
END_TEST

START_TEST(newer_files_are_refused)
{
    struct forged forged;
    take_apart(&forged);
    forged.version = 2;
    put_together(&forged);
    expect_refused(&forged, "at byte 8: format version 2 is newer than 1");
    take_apart(&forged);
    forged.version = 0;
    put_together(&forged);
    expect_refused(&forged, "no format version 0");
}
END_TEST

static void add_unknown(struct forged *forged, uint32_t flags)
{
    forged->piece[forged->count++] =
        (struct piece){.type = 99, .flags = flags, .data = copy("later", 5, 5), .bytes = 5};
    put_together(forged);
}

START_TEST(unknown_sections)
{
    struct pim_error error;
    struct forged forged;
    uint64_t hash, before;
    take_apart(&forged);
    put_together(&forged);
    EXPECT_OK(try_bytes(forged.file, forged.size, &before, &error));
    add_unknown(&forged, 0);
    EXPECT_OK(try_bytes(forged.file, forged.size, &hash, &error));
    ck_assert_uint_eq(hash, before);
    forged.file[forged.size - 1] ^= 1; /* skipped, but held against its checksum */
    expect_refused(&forged, "section 7 (of unknown type)");
    take_apart(&forged);
    add_unknown(&forged, PIM_SECTION_REQUIRED);
    expect_refused(&forged, "section type 99 is needed");
    take_apart(&forged);
    add_unknown(&forged, 2);
    expect_refused(&forged, "unknown flags 2");
}
END_TEST

START_TEST(hostile_section_tables)
{
    struct forged forged;
    static const struct {
        unsigned section, field;
        uint64_t value;
        const char *message;
    } changes[] = {{1, PIM_SECTION_OFFSET, 64, "it must begin at"},
                   {1, PIM_SECTION_OFFSET, UINT64_MAX, "it must begin at"},
                   {1, PIM_SECTION_BYTES, UINT64_MAX, "end in the file"},
                   {4, PIM_SECTION_BYTES, 1, "it must begin at"},
                   {6, PIM_SECTION_BYTES, 1, "belong to no section"},
                   {5, PIM_SECTION_TYPE, PIM_SECTION_BEHAVIOURS, "stands twice or behind programs"},
                   {1, PIM_SECTION_TYPE, 1ULL << 32 | 1, "stands twice"},
                   {3, PIM_SECTION_TYPE, 99, "section units is missing"},
                   {4, PIM_SECTION_CHECKSUM, 1, "its checksum must be 0"}};
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        take_apart(&forged);
        put_together(&forged);
        uint8_t *entry = forged.file + PIM_HEADER_SIZE + changes[i].section * (size_t)PIM_SECTION_SIZE;
        pim_put_u64(entry + changes[i].field, changes[i].value);
        seal(&forged);
        expect_refused(&forged, changes[i].message);
    }
    static const uint32_t counts[] = {0, 65, UINT32_MAX};
    for (unsigned i = 0; i < 3; i++) {
        take_apart(&forged);
        put_together(&forged);
        pim_put_u32(forged.file + PIM_HEADER_SECTIONS, counts[i]);
        pim_put_u64(forged.file + PIM_HEADER_CHECKSUM, pim_hash_bytes(forged.file, PIM_HEADER_CHECKSUM));
        expect_refused(&forged, "at byte 20");
    }
}
END_TEST

START_TEST(hostile_sections)
{
    struct forged forged;
    static const struct {
        uint32_t type;
        size_t place;
        uint32_t value;
        const char *message;
    } changes[] = {{PIM_SECTION_PHASES, 0, UINT32_MAX, "phases do not fit"},
                   {PIM_SECTION_PHASES, 0, 1, "bytes too many"},
                   {PIM_SECTION_PHASES, 4, 6, "6 parts"},
                   {PIM_SECTION_PHASES, 56, UINT32_MAX, "name needs 4294967295 bytes"},
                   {PIM_SECTION_PHASES, 56, 0, "phase 0: name has 0 bytes"},
                   {PIM_SECTION_DESCRIPTION, 0, UINT32_MAX, "places"},
                   {PIM_SECTION_DESCRIPTION, 8, 0, "units is 0"},
                   {PIM_SECTION_DESCRIPTION, 8, 2, "not what 2 units take"},
                   {PIM_SECTION_DESCRIPTION, 12, 1, "reserved"},
                   {PIM_SECTION_DESCRIPTION, 40, UINT32_MAX, "family needs 4294967295 bytes"},
                   {PIM_SECTION_DESCRIPTION, 44, 0x00006574, "zero byte"},
                   {PIM_SECTION_BEHAVIOURS, 0, 0, "must be left out"},
                   {PIM_SECTION_BEHAVIOURS, 0, UINT32_MAX, "tables do not fit"},
                   {PIM_SECTION_BEHAVIOURS, 8, UINT32_MAX, "routers must ascend"},
                   {PIM_SECTION_BEHAVIOURS, 12, UINT32_MAX, "entries do not fit"},
                   {PIM_SECTION_BEHAVIOURS, 20, 256, "ports are 0 to 255"},
                   {PIM_SECTION_ARRAY_GROUPS, 0, 0, "must be left out"},
                   {PIM_SECTION_ARRAY_GROUPS, 0, 1, "40 bytes too many"},
                   {PIM_SECTION_ARRAY_GROUPS, 0, UINT32_MAX, "a unit needs 8 bytes, 0 are left"},
                   {PIM_SECTION_ARRAY_GROUPS, 4, 3, "the form of groups is 3"},
                   {PIM_SECTION_ARRAY_GROUPS, 4, 1, "blocks is 7 for"}, /* the layer behind it */
                   {PIM_SECTION_ARRAY_GROUPS, 8, 2, "at byte 80 of the section: unit 2: units must ascend"},
                   {PIM_SECTION_ARRAY_GROUPS, 8, 3, "unit 3: units must ascend, below 3"},
                   {PIM_SECTION_ARRAY_GROUPS, 12, 0, "0 groups"},
                   {PIM_SECTION_ARRAY_GROUPS, 12, 4, "4 groups"},
                   {PIM_SECTION_ARRAY_GROUPS, 12, UINT32_MAX, "4294967295 groups"},
                   {PIM_SECTION_ARRAY_GROUPS, 16 + 4, 0, "unit 1 group 0: arrays is 0"},
                   {PIM_SECTION_ARRAY_GROUPS, 48 + 28, 0, "unit 1 group 1: fold_stride is 0 for 3 folds"},
                   {PIM_SECTION_EQUATIONS, 0, 0, "0 phases are not what 72 bytes hold"},
                   {PIM_SECTION_EQUATIONS, 0, 1, "1 phases are not what 72 bytes hold"},
                   {PIM_SECTION_EQUATIONS, 0, UINT32_MAX, "4294967295 phases are not"},
                   {PIM_SECTION_EQUATIONS, 4, 4, "4 terms, not 3"},
                   {PIM_SECTION_EQUATIONS, 8, 2, "phase 2: phases must ascend, below 2"},
                   {PIM_SECTION_EQUATIONS, 40, 0, "at byte 40 of the section: phase 0: phases must ascend"},
                   {PIM_SECTION_EQUATIONS, 12, 1, "at byte 12 of the section: a reserved word is 1"},
                   {PIM_SECTION_UNITS, PIM_UNIT_BYTES + 4, 1, "are left"},
                   {PIM_SECTION_UNITS, PIM_UNIT_INSTRUCTIONS + 4, 1, "cannot lie in"},
                   {PIM_SECTION_UNITS, PIM_UNIT_INSTRUCTIONS, 0, "cannot lie in"},
                   {PIM_SECTION_UNITS, PIM_UNIT_CHUNKS, UINT32_MAX, "cannot lie in"},
                   {PIM_SECTION_UNITS, PIM_UNIT_RESERVED, 1, "cannot lie in"},
                   {PIM_SECTION_UNITS, PIM_UNIT_HASH, 1, "do not have the hash"},
                   {PIM_SECTION_UNITS, PIM_UNIT_INSTRUCTIONS, 1, "it says that it holds"},
                   {PIM_SECTION_UNITS, PIM_UNIT_INSTRUCTIONS, 400, "the table of units says 400"}};
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        take_apart(&forged);
        pim_put_u32(piece_of(&forged, changes[i].type)->data + changes[i].place, changes[i].value);
        put_together(&forged);
        expect_refused(&forged, changes[i].message);
    }
}
END_TEST

/* Each small section cut short by every number of bytes: a size that is no multiple of an entry included. */
START_TEST(cut_sections)
{
    struct forged forged;
    static const uint32_t types[] = {PIM_SECTION_DESCRIPTION,  PIM_SECTION_PHASES,
                                     PIM_SECTION_BEHAVIOURS,   PIM_SECTION_UNITS,
                                     PIM_SECTION_ARRAY_GROUPS, PIM_SECTION_EQUATIONS};
    for (unsigned i = 0; i < 6; i++) {
        take_apart(&forged);
        struct piece *piece = piece_of(&forged, types[i]);
        while (piece->bytes > 0) {
            struct pim_error error;
            uint64_t hash;
            piece->bytes--;
            uint8_t *exact = copy(piece->data, piece->bytes, piece->bytes);
            free(piece->data);
            piece->data = exact;
            put_together(&forged);
            EXPECT(try_bytes(forged.file, forged.size, &hash, &error), PIM_BAD_INPUT);
        }
        release(&forged);
    }
}
END_TEST

/* A chunk at `place`; returns its size. */
static size_t make_chunk(uint8_t *place, uint32_t unit, uint32_t number, uint32_t instructions,
                         const void *plain, size_t bytes)
{
    size_t stored = ZSTD_compress(place + PIM_CHUNK_SIZE, 4000, plain, bytes, 3);
    ck_assert(!ZSTD_isError(stored));
    pim_put_u32(place + PIM_CHUNK_UNIT, unit);
    pim_put_u32(place + PIM_CHUNK_NUMBER, number);
    pim_put_u32(place + PIM_CHUNK_INSTRUCTIONS, instructions);
    pim_put_u32(place + PIM_CHUNK_STORED, (uint32_t)stored);
    pim_put_u64(place, pim_hash_bytes(place + 8, PIM_CHUNK_SIZE - 8 + stored));
    return PIM_CHUNK_SIZE + stored;
}

/* Replaces the programs: unit 0 gets one chunk as given, the other units are empty. */
static void forge_program(struct forged *forged, uint32_t unit, uint32_t number, uint32_t stated,
                          const void *plain, size_t bytes, uint64_t instructions)
{
    take_apart(forged);
    struct piece *programs = piece_of(forged, PIM_SECTION_PROGRAMS),
                 *units = piece_of(forged, PIM_SECTION_UNITS);
    programs->bytes = make_chunk(programs->data, unit, number, stated, plain, bytes);
    memset(units->data, 0, units->bytes);
    pim_put_u64(units->data + PIM_UNIT_BYTES, programs->bytes);
    pim_put_u64(units->data + PIM_UNIT_INSTRUCTIONS, instructions);
    pim_put_u64(units->data + PIM_UNIT_HASH, pim_hash_bytes(plain, bytes));
    pim_put_u32(units->data + PIM_UNIT_CHUNKS, 1);
    for (int i = 1; i < 3; i++)
        pim_put_u64(units->data + (size_t)i * PIM_UNIT_SIZE + PIM_UNIT_HASH, pim_hash_bytes("", 0));
    put_together(forged);
}

START_TEST(hostile_chunks)
{
    struct pim_error error;
    struct forged forged;
    uint64_t hash;
    struct pim_instruction program[4] = {
        {.opcode = PIM_OP_PHASE_BEGIN}, {.opcode = PIM_OP_JOIN}, {.opcode = PIM_OP_PHASE_END}};
    enum { THREE = 3 * 32 };
    forge_program(&forged, 0, 0, 3, program, THREE, 3);
    EXPECT_OK(try_bytes(forged.file, forged.size, &hash, &error));
    release(&forged);
    forge_program(&forged, 1, 0, 3, program, THREE, 3);
    expect_refused(&forged, "it says that it is chunk 0 of unit 1");
    forge_program(&forged, 0, 7, 3, program, THREE, 3);
    expect_refused(&forged, "it says that it is chunk 7 of unit 0");
    forge_program(&forged, 0, 0, 4, program, THREE, 3);
    expect_refused(&forged, "holds 4 instructions");
    forge_program(&forged, 0, 0, 0, program, THREE, 3);
    expect_refused(&forged, "holds 0 instructions");
    forge_program(&forged, 0, 0, 2, program, THREE, 3);
    expect_refused(&forged, "zstd");
    forge_program(&forged, 0, 0, 3, program, 2 * 32, 3);
    expect_refused(&forged, "its frame holds 64 bytes");
    /* a bomb: 16 MiB of zeros in a frame that says it holds 3 instructions */
    uint8_t *zeros = calloc(1, 1 << 24);
    forge_program(&forged, 0, 0, 3, zeros, 1 << 24, 3);
    expect_refused(&forged, "zstd");
    free(zeros);
    program[1].opcode = 200;
    forge_program(&forged, 0, 0, 3, program, THREE, 3);
    expect_refused(&forged, "instruction 1: opcode is 200");
    program[1] = (struct pim_instruction){.opcode = PIM_OP_REPEAT, .u.control = {.count = 2, .length = 2}};
    program[2] = (struct pim_instruction){.opcode = PIM_OP_JOIN};
    forge_program(&forged, 0, 0, 3, program, THREE, 3);
    expect_refused(&forged, "a repeat block crosses the end of the chunk");
    program[1] = (struct pim_instruction){.opcode = PIM_OP_JOIN};
    forge_program(&forged, 0, 0, 3, program, THREE, 3);
    expect_refused(&forged, "unit 0: the program ends inside phase 0");
}
END_TEST

/* Chunks cannot overlap: each unit's lie where those of the unit before end. A unit that claims another's
 * chunk is caught by the number in it. */
START_TEST(claimed_chunks)
{
    struct forged forged;
    take_apart(&forged);
    uint8_t *units = piece_of(&forged, PIM_SECTION_UNITS)->data;
    uint8_t entry[PIM_UNIT_SIZE];
    memcpy(entry, units,
           PIM_UNIT_SIZE); /* units 0 and 2, which is empty, change places, their chunks do not */
    memcpy(units, units + 2 * PIM_UNIT_SIZE, PIM_UNIT_SIZE);
    memcpy(units + 2 * PIM_UNIT_SIZE, entry, PIM_UNIT_SIZE);
    put_together(&forged);
    struct pim_error error;
    uint64_t hash;
    EXPECT(try_bytes(forged.file, forged.size, &hash, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("unit 1 chunk 0");
    EXPECT_TEXT("it says that it is chunk 0 of unit 0");
    release(&forged);
}
END_TEST

START_TEST(an_error_comes_again)
{
    struct pim_error error = {PIM_OK, ""}, again = {PIM_OK, ""};
    struct forged forged;
    struct pim_trace *trace;
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction;
    take_apart(&forged);
    put_together(&forged);
    forged.file[offset_of(&forged, PIM_SECTION_PROGRAMS) + 30] ^= 4;
    EXPECT_OK(pim_trace_open_memory(forged.file, forged.size, &trace, &error));
    EXPECT_OK(pim_trace_cursor_create(trace, 0, &cursor, &error));
    EXPECT(pim_trace_cursor_next(cursor, &instruction, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_trace_cursor_next(cursor, &instruction, &again), PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, again.text);
    pim_trace_cursor_destroy(cursor);
    pim_trace_close(trace);
    release(&forged);
}
END_TEST

Suite *damage_suite(void)
{
    Suite *suite = suite_create("damage");
    TCase *tests = tcase_create("damage");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, every_truncation_is_refused);
    tcase_add_test(tests, every_flipped_bit_is_refused);
    tcase_add_test(tests, damage_is_placed);
    tcase_add_test(tests, newer_files_are_refused);
    tcase_add_test(tests, unknown_sections);
    tcase_add_test(tests, hostile_section_tables);
    tcase_add_test(tests, hostile_sections);
    tcase_add_test(tests, cut_sections);
    tcase_add_test(tests, hostile_chunks);
    tcase_add_test(tests, claimed_chunks);
    tcase_add_test(tests, an_error_comes_again);
    suite_add_tcase(suite, tests);
    return suite;
}
