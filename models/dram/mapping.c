#include "models/dram/mapping.h"

#include "sim/integer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parts of a location. */
enum { AT_CHANNEL, AT_BANK, AT_ROW, AT_COLUMN, PLACES };

enum field { CHANNEL, PSEUDO, RANK, STACK, GROUP, BANK, ROW, COLUMN, FIELDS };

static const char *const names[FIELDS] = {"channel", "pseudo", "rank", "stack",
                                          "group",   "bank",   "row",  "column"};

/* What says how many there are. */
static const char *const counted_by[FIELDS] = {
    "dram.channels",    "dram.pseudo_channels", "dram.ranks", "dram.stack_ids",
    "dram.bank_groups", "dram.banks",           "dram.rows",  "dram.row_bytes / dram.access_bytes"};

static const char blanks[] = " \t,";

static uint8_t bits_for(uint32_t count)
{
    return count <= 1 ? 0 : (uint8_t)(pim_log2_floor(count - 1) + 1);
}

/* Cuts the next token "name[:bits]" off; false at the end. */
static bool next_token(const char **order, char *token, size_t size)
{
    *order += strspn(*order, blanks);
    size_t length = strcspn(*order, blanks);
    if (length == 0)
        return false;
    size_t kept = length < size ? length : size - 1;
    memcpy(token, *order, kept);
    token[kept] = '\0';
    *order += length;
    return true;
}

/* The field and the explicit number of bits (UINT8_MAX: the rest) of a token. */
static enum pim_status parse_token(char *token, enum field *field, uint8_t *bits, struct pim_error *error)
{
    char *colon = strchr(token, ':');
    *bits = UINT8_MAX;
    if (colon) {
        *colon++ = '\0';
        size_t digits = strspn(colon, "0123456789");
        unsigned long value =
            digits > 0 && digits < 3 && colon[digits] == '\0' ? strtoul(colon, NULL, 10) : 0;
        if (value == 0 || value > 60)
            return pim_fail(error, PIM_BAD_INPUT,
                            "dram.mapping: '%s:%s': allowed are 1 to 60 bits behind the colon", token, colon);
        *bits = (uint8_t)value;
    }
    for (unsigned i = 0; i < FIELDS; i++)
        if (strcmp(token, names[i]) == 0) {
            *field = (enum field)i;
            return PIM_OK;
        }
    return pim_fail(error, PIM_BAD_INPUT,
                    "dram.mapping: '%s' is no field: allowed are channel, pseudo, rank, stack, group, bank, "
                    "row, column",
                    token);
}

/* Bits that no token takes; behind the first field they have a place whatever the organisation. */
static enum pim_status refuse_missing(const char *order, const uint8_t all[FIELDS],
                                      const uint8_t left[FIELDS], struct pim_error *error)
{
    char missing[384] = "", tokens[128] = "";
    for (unsigned i = 0; i < FIELDS; i++) {
        const size_t at = strlen(missing), end = strlen(tokens);
        if (left[i] == 0)
            continue;
        (void)snprintf(missing + at, sizeof missing - at, "%s%u bit%s of %s (%s)", at > 0 ? ", " : "",
                       left[i], left[i] > 1 ? "s" : "", names[i], counted_by[i]);
        (void)snprintf(tokens + end, sizeof tokens - end, left[i] < all[i] ? " %s:%u" : " %s", names[i],
                       left[i]);
    }
    order += strspn(order, blanks);
    const size_t first = strcspn(order, blanks);
    return pim_fail(error, PIM_BAD_INPUT,
                    "dram.mapping = \"%.200s\" has no place for %s: \"%.*s%s%.200s\" has", order, missing,
                    (int)(first < 40 ? first : 40), order, tokens + (first == 0), order + first);
}

/* Reads the tokens into segments, most significant first, with shifts still missing. */
static enum pim_status parse_segments(struct pim_dram_mapping *mapping, const char *order,
                                      uint8_t left[FIELDS], struct pim_error *error)
{
    const char *whole = order;
    char token[32];
    uint8_t all[FIELDS];
    bool finished[FIELDS] = {false};
    memcpy(all, left, sizeof all);
    while (next_token(&order, token, sizeof token)) {
        enum field field = CHANNEL;
        uint8_t bits = 0;
        if (parse_token(token, &field, &bits, error) != PIM_OK)
            return error->status;
        if (finished[field] || (bits != UINT8_MAX && bits > left[field]))
            return pim_fail(error, PIM_BAD_INPUT,
                            "dram.mapping: %s has more bits here than the organisation gives it",
                            names[field]);
        finished[field] = bits == UINT8_MAX;
        bits = bits == UINT8_MAX ? left[field] : bits;
        left[field] = (uint8_t)(left[field] - bits);
        if (bits == 0)
            continue;
        if (mapping->count == PIM_DRAM_MAPPING_SEGMENTS)
            return pim_fail(error, PIM_BAD_INPUT, "dram.mapping: more than %d pieces",
                            PIM_DRAM_MAPPING_SEGMENTS);
        mapping->segment[mapping->count++] =
            (struct pim_dram_segment){.field = (uint8_t)field, .field_shift = left[field], .bits = bits};
    }
    for (unsigned i = 0; i < FIELDS; i++)
        if (left[i] > 0)
            return refuse_missing(whole, all, left, error);
    return PIM_OK;
}

/* Where a segment goes in a location; the bank there counts through groups, stack identifiers, ranks and
 * pseudo-channels. */
static void set_place(const struct pim_dram_mapping *mapping, struct pim_dram_segment *segment)
{
    const uint8_t above_bank = mapping->bank_bits, above_group = (uint8_t)(above_bank + mapping->group_bits);
    const uint8_t above_stack = (uint8_t)(above_group + mapping->stack_bits);
    const struct {
        uint8_t place, shift;
    } places[FIELDS] = {
        [CHANNEL] = {AT_CHANNEL, 0},
        [PSEUDO] = {AT_BANK, (uint8_t)(above_stack + mapping->rank_bits)},
        [RANK] = {AT_BANK, above_stack},
        [STACK] = {AT_BANK, above_group},
        [GROUP] = {AT_BANK, above_bank},
        [BANK] = {AT_BANK, 0},
        [ROW] = {AT_ROW, 0},
        [COLUMN] = {AT_COLUMN, 0},
    };
    segment->place = places[segment->field].place;
    segment->place_shift = (uint8_t)(places[segment->field].shift + segment->field_shift);
    segment->mask = (UINT32_C(1) << segment->bits) - 1;
}

enum pim_status pim_dram_mapping_parse(struct pim_dram_mapping *mapping, const char *order, bool bank_xor,
                                       const struct pim_dram_organization *organization,
                                       struct pim_error *error)
{
    uint8_t left[FIELDS] = {[CHANNEL] = bits_for(organization->channels),
                            [PSEUDO] = bits_for(organization->pseudo_channels),
                            [RANK] = bits_for(organization->ranks),
                            [STACK] = bits_for(organization->stack_ids),
                            [GROUP] = bits_for(pim_dram_groups_per_stack(organization)),
                            [BANK] = bits_for(organization->banks),
                            [ROW] = bits_for(organization->rows),
                            [COLUMN] = bits_for(organization->columns)};
    *mapping = (struct pim_dram_mapping){.access_shift = bits_for(organization->access_bytes),
                                         .rank_bits = left[RANK],
                                         .stack_bits = left[STACK],
                                         .group_bits = left[GROUP],
                                         .bank_bits = left[BANK],
                                         .capacity = pim_dram_capacity(organization),
                                         .bank_xor = bank_xor};
    if (parse_segments(mapping, order, left, error) != PIM_OK)
        return error->status;
    bool whole = (organization->rows & (organization->rows - 1)) == 0;
    const struct pim_dram_segment *top = &mapping->segment[0];
    if (!whole && (top->field != ROW || top->bits != bits_for(organization->rows)))
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.mapping: %u rows are no power of two: row must stand first and in one piece",
                        organization->rows);
    unsigned shift = 0;
    for (size_t i = mapping->count; i-- > 0;) {
        mapping->segment[i].shift = (uint8_t)shift;
        shift += mapping->segment[i].bits;
        set_place(mapping, &mapping->segment[i]);
    }
    return PIM_OK;
}

/* The bits of bank and group changed by the row. */
static uint32_t swizzle(const struct pim_dram_mapping *mapping, uint32_t bank, uint32_t row)
{
    uint32_t mask = (UINT32_C(1) << (mapping->group_bits + mapping->bank_bits)) - 1;
    return mapping->bank_xor ? bank ^ (row & mask) : bank;
}

struct pim_dram_location pim_dram_locate(const struct pim_dram_mapping *mapping, uint64_t address)
{
    uint32_t value[PLACES] = {0};
    address >>= mapping->access_shift;
    for (size_t i = mapping->count; i-- > 0;) {
        const struct pim_dram_segment *segment = &mapping->segment[i];
        value[segment->place] |= ((uint32_t)address & segment->mask) << segment->place_shift;
        address >>= segment->bits;
    }
    return (struct pim_dram_location){value[AT_CHANNEL], swizzle(mapping, value[AT_BANK], value[AT_ROW]),
                                      value[AT_ROW], value[AT_COLUMN]};
}

uint32_t pim_dram_mapping_run(const struct pim_dram_mapping *mapping)
{
    if (mapping->count == 0 || mapping->segment[mapping->count - 1].field != COLUMN)
        return 1;
    return UINT32_C(1) << mapping->segment[mapping->count - 1].bits;
}

uint64_t pim_dram_address(const struct pim_dram_mapping *mapping, const struct pim_dram_location *location)
{
    uint32_t bank = swizzle(mapping, location->bank, location->row);
    uint32_t stack = bank >> (mapping->group_bits + mapping->bank_bits);
    uint32_t rank = stack >> mapping->stack_bits;
    const uint32_t value[FIELDS] = {
        [CHANNEL] = location->channel,
        [PSEUDO] = rank >> mapping->rank_bits,
        [RANK] = rank & ((UINT32_C(1) << mapping->rank_bits) - 1),
        [STACK] = stack & ((UINT32_C(1) << mapping->stack_bits) - 1),
        [GROUP] = bank >> mapping->bank_bits & ((UINT32_C(1) << mapping->group_bits) - 1),
        [BANK] = bank & ((UINT32_C(1) << mapping->bank_bits) - 1),
        [ROW] = location->row,
        [COLUMN] = location->column,
    };
    uint64_t address = 0;
    for (size_t i = 0; i < mapping->count; i++) {
        const struct pim_dram_segment *segment = &mapping->segment[i];
        uint64_t bits = value[segment->field] >> segment->field_shift & ((UINT32_C(1) << segment->bits) - 1);
        address |= bits << segment->shift;
    }
    return address << mapping->access_shift;
}
