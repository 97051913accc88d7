/*
 * The bytes of a trace file, for writer and reader, and for who asks what a file is. docs/trace-format.md
 * has the tables that these numbers come from.
 *
 *     header | section table | sections, one after the other without gaps
 *
 * Every byte of the file is under exactly one checksum (XXH64, seed 0), checked before the byte is used.
 */
#ifndef PIMSIM_TRACES_FILE_FORMAT_H
#define PIMSIM_TRACES_FILE_FORMAT_H

#include "traces/instruction.h"
#include "traces/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__)
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "instruction records are copied as they are: a big-endian machine needs a conversion here"
#endif
#endif

/* The first bytes: not text, and spoilt by a transfer that changes line ends or drops the eighth bit. */
#define PIM_FORMAT_MAGIC "\x89PIM\r\n\x1a\n"
enum { PIM_FORMAT_MAGIC_BYTES = sizeof PIM_FORMAT_MAGIC - 1 };

/* Whether these are the first bytes of a trace. */
static inline bool pim_format_begins(const void *bytes, size_t size)
{
    return size >= PIM_FORMAT_MAGIC_BYTES && memcmp(bytes, PIM_FORMAT_MAGIC, PIM_FORMAT_MAGIC_BYTES) == 0;
}

enum { PIM_FORMAT_VERSION = 1 };

/* Header. */
enum {
    PIM_HEADER_MAGIC = 0,
    PIM_HEADER_VERSION = 8,
    PIM_HEADER_BYTES = 12,       /* of the header: 64 */
    PIM_HEADER_INSTRUCTION = 16, /* bytes of an instruction: 32 */
    PIM_HEADER_SECTIONS = 20,    /* entries of the section table */
    PIM_HEADER_FILE_BYTES = 24,  /* of the whole file */
    PIM_HEADER_CONTENT = 32,     /* content hash */
    PIM_HEADER_TABLE = 40,       /* checksum of the section table */
    PIM_HEADER_RESERVED = 48,    /* 0 */
    PIM_HEADER_CHECKSUM = 56,    /* of the bytes before */
    PIM_HEADER_SIZE = 64
};

/* Section table entry. */
enum {
    PIM_SECTION_TYPE = 0,
    PIM_SECTION_FLAGS = 4,
    PIM_SECTION_OFFSET = 8,
    PIM_SECTION_BYTES = 16,
    PIM_SECTION_CHECKSUM = 24, /* 0 for PROGRAMS: chunks have their own */
    PIM_SECTION_SIZE = 32
};

enum { PIM_SECTION_REQUIRED = 1 }; /* a reader that does not know the type must refuse the file */
enum { PIM_SECTIONS_MOST = 64 };

enum pim_section_type {
    PIM_SECTION_DESCRIPTION = 1,
    PIM_SECTION_PHASES = 2,
    PIM_SECTION_BEHAVIOURS = 3, /* optional */
    PIM_SECTION_UNITS = 4,
    PIM_SECTION_PROGRAMS = 5,
    PIM_SECTION_ARRAY_GROUPS = 6, /* left out when no unit has any */
    PIM_SECTION_EQUATIONS = 7,    /* optional; not in the content hash */
    PIM_SECTION_TYPES
};

/* Fixed part of the description: width, height, units, 0 as u32, macs, padding_macs, weight_bytes as u64;
 * then four texts, each a u32 length and its bytes. */
enum { PIM_DESCRIPTION_SIZE = 40 };

/* PHASES: u32 count, u32 parts, then for each phase: u64 cycles, u64 parts[5], u32 length, name. */
enum { PIM_PHASES_SIZE = 8, PIM_PHASE_SIZE = 8 + 8 * PIM_ESTIMATE_PARTS + 4 };

/* BEHAVIOURS: u32 tables, u32 0, then for each table: u32 router, u32 count, count entries of u32 task,
 * start, end. */
enum { PIM_BEHAVIOURS_SIZE = 8, PIM_BEHAVIOUR_TABLE_SIZE = 8, PIM_BEHAVIOUR_SIZE = 12 };

/* ARRAY_GROUPS: u32 units that have some, u32 form, then for each of them: u32 unit, u32 count, count groups
 * of the words of struct pim_trace_array_group in its order: eight of them in form 0, and `blocks` behind in
 * form 1, which there is only when a group has blocks; in form 2, when a group is in a set, `set` too. */
enum { PIM_ARRAY_GROUPS_SIZE = 8, PIM_ARRAY_GROUP_TABLE_SIZE = 8, PIM_ARRAY_GROUP_SIZE = 32 };

/* EQUATIONS: u32 phases that have some, u32 terms, then for each of them: u32 phase, u32 0, u64 terms[3]. */
enum { PIM_EQUATIONS_SIZE = 8, PIM_EQUATION_SIZE = 8 + 8 * PIM_EQUATION_TERMS };

/* UNITS: for each unit u64 bytes of its chunks, u64 instructions, u64 hash of all its instructions, u32
 * chunks, u32 0. */
enum {
    PIM_UNIT_BYTES = 0,
    PIM_UNIT_INSTRUCTIONS = 8,
    PIM_UNIT_HASH = 16,
    PIM_UNIT_CHUNKS = 24,
    PIM_UNIT_RESERVED = 28,
    PIM_UNIT_SIZE = 32
};

/* Chunk: checksum of all that follows, then this header, then one zstd frame. */
enum {
    PIM_CHUNK_CHECKSUM = 0,
    PIM_CHUNK_UNIT = 8,
    PIM_CHUNK_NUMBER = 12,
    PIM_CHUNK_INSTRUCTIONS = 16,
    PIM_CHUNK_STORED = 20, /* bytes of the frame */
    PIM_CHUNK_SIZE = 24
};

/* The most bytes zstd makes of a full chunk: ZSTD_COMPRESSBOUND of 32 KiB, as a constant of the format. */
enum { PIM_CHUNK_STORED_MOST = PIM_TRACE_CHUNK * 32 + 1024 };

static inline void pim_put_u32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline void pim_put_u64(uint8_t *bytes, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline uint32_t pim_get_u32(const uint8_t *bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

static inline uint64_t pim_get_u64(const uint8_t *bytes)
{
    return (uint64_t)pim_get_u32(bytes) | (uint64_t)pim_get_u32(bytes + 4) << 32;
}

#endif
