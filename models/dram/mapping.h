/*
 * Address mapping: which bits of an address choose channel, pseudo-channel, rank, stack identifier, bank
 * group, bank, row and column, written as the order of the bits from the most significant to the least.
 *
 *     "row bank group stack rank pseudo column channel"   Ramulator's RoBaRaCoCh
 *     "row bank column:4 group column:1 channel"          the bank group changes every two accesses
 *
 * A field with ":n" takes its next n bits, counted from its own most significant one; the last (or only)
 * mention of a field takes the bits that are left. Below all stand the bits inside of one column access.
 * With bank_xor, bank and bank group (of a stack identifier) are exclusive-ored with the low bits of the row,
 * so that rows that collide in one bank are spread over all of them.
 *
 * Invariant: the mapping is one to one between addresses below the capacity and locations.
 */
#ifndef PIMSIM_MODELS_DRAM_MAPPING_H
#define PIMSIM_MODELS_DRAM_MAPPING_H

#include "models/dram/standard/specification.h"

#define PIM_DRAM_MAPPING_DEFAULT "row bank group stack rank pseudo column channel"

enum { PIM_DRAM_MAPPING_SEGMENTS = 32 };

struct pim_dram_segment {
    uint8_t field;       /* which field (private to mapping.c) */
    uint8_t shift;       /* lowest bit in the address / access_bytes */
    uint8_t field_shift; /* lowest bit in the field */
    uint8_t bits;
    uint8_t place;       /* the same as a part of a location: which (private to mapping.c), */
    uint8_t place_shift; /* and its lowest bit there */
    uint32_t mask;       /* `bits` ones */
};

struct pim_dram_mapping {
    size_t count;
    struct pim_dram_segment segment[PIM_DRAM_MAPPING_SEGMENTS];
    uint8_t access_shift; /* log2(access_bytes) */
    uint8_t rank_bits, stack_bits, group_bits, bank_bits;
    uint64_t capacity; /* bytes */
    bool bank_xor;
};

struct pim_dram_location {
    uint32_t channel;
    /* In the channel: ((pseudo-channel x ranks + rank) x bank groups + bank group) x banks + bank. */
    uint32_t bank;
    uint32_t row;
    uint32_t column;
};

/* Reads the order. The organisation must have passed pim_dram_check_specification. PIM_BAD_INPUT: an unknown
 * field, bits too many or too few, rows that are no power of two but not on top. */
enum pim_status pim_dram_mapping_parse(struct pim_dram_mapping *mapping, const char *order, bool bank_xor,
                                       const struct pim_dram_organization *organization,
                                       struct pim_error *error);

/* `address` in bytes, below mapping->capacity; its column access is meant. */
struct pim_dram_location pim_dram_locate(const struct pim_dram_mapping *mapping, uint64_t address);

/* How many column accesses with consecutive addresses lie in consecutive columns of one row, counted from an
 * address that is a multiple of that: 1 when the lowest bits choose something else. */
uint32_t pim_dram_mapping_run(const struct pim_dram_mapping *mapping);

/* The first byte of a location: the inverse. */
uint64_t pim_dram_address(const struct pim_dram_mapping *mapping, const struct pim_dram_location *location);

#endif
