/* Lists of links in files: latencies and widths of single links, express links. */
#include "models/noc/topology/topology.h"
#include "sim/integer.h"
#include "sim/output/csv.h"

#include <inttypes.h>
#include <stdlib.h>

#define BITS_RULE                                                                                            \
    "allowed are bits per cycle as a whole number, a decimal fraction or a quotient: 32, 12.5, 100/3"

/* Decimal digits from *text on, at most `limit`; *text moves behind them. False: none, or too large. */
static bool take_digits(const char **text, uint64_t limit, uint64_t *value, unsigned *digits)
{
    *digits = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++, (*digits)++) {
        *value = *value * 10 + (uint64_t)(**text - '0');
        if (*value > limit)
            return false;
    }
    return *digits > 0;
}

static void reduce(uint64_t *numerator, uint64_t *denominator)
{
    const uint64_t divisor = pim_greatest_divisor(*numerator, *denominator);
    *numerator /= divisor;
    *denominator /= divisor;
}

/* The fraction that `text` is; false when it is none or has too many digits. */
static bool parse_fraction(const char *text, uint64_t *numerator, uint64_t *denominator)
{
    const uint64_t limit = UINT64_C(1000000000000000);
    unsigned digits;
    *numerator = 0;
    *denominator = 1;
    if (!take_digits(&text, limit, numerator, &digits))
        return false;
    if (*text == '.') {
        text++;
        if (!take_digits(&text, limit, numerator, &digits))
            return false;
        for (; digits > 0; digits--)
            if ((*denominator *= 10) > limit)
                return false;
    } else if (*text == '/') {
        text++;
        *denominator = 0;
        if (!take_digits(&text, limit, denominator, &digits) || *denominator == 0)
            return false;
    }
    return *text == '\0';
}

enum pim_status pim_noc_bits_parse(const char *text, struct pim_noc_bits *bits, struct pim_error *error)
{
    uint64_t numerator, denominator;
    if (!parse_fraction(text, &numerator, &denominator) || numerator == 0)
        return pim_fail(error, PIM_BAD_INPUT, "'%s': " BITS_RULE, text);
    reduce(&numerator, &denominator);
    if (numerator > PIM_NOC_LINK_BITS_LIMIT || denominator > PIM_NOC_LINK_BITS_LIMIT)
        return pim_fail(error, PIM_BAD_INPUT,
                        "'%s' bits per cycle: as a reduced fraction its parts may be up to %d", text,
                        PIM_NOC_LINK_BITS_LIMIT);
    *bits = (struct pim_noc_bits){(uint32_t)numerator, (uint32_t)denominator};
    return PIM_OK;
}

/* A number of columns from 2 to 4, with the right names. */
static enum pim_status check_header(const struct pim_csv_reader *reader, const char *path,
                                    struct pim_error *error)
{
    static const char *const header[] = {"from", "to", "latency", "bits_per_cycle"};
    size_t columns = pim_csv_columns(reader);
    bool good = columns >= 2 && columns <= 4;
    for (size_t i = 0; good && i < columns; i++) {
        size_t at;
        good = pim_csv_column(reader, header[i], &at, error) == PIM_OK && at == i;
    }
    if (good)
        return PIM_OK;
    *error = (struct pim_error){.status = PIM_OK};
    return pim_fail(error, PIM_BAD_INPUT,
                    "%s:1: the header of a list of links is from,to,latency,bits_per_cycle (the last two may "
                    "be missing)",
                    path);
}

static enum pim_status read_row(const struct pim_csv_reader *reader, struct pim_noc_link_entry *entry,
                                struct pim_error *error)
{
    uint64_t from, to, latency = 0;
    size_t columns = pim_csv_columns(reader);
    *entry = (struct pim_noc_link_entry){.from = 0};
    if (pim_csv_count(reader, 0, 0, UINT32_MAX - 1, &from, error) != PIM_OK ||
        pim_csv_count(reader, 1, 0, UINT32_MAX - 1, &to, error) != PIM_OK)
        return error->status;
    if (columns > 2 && pim_csv_text(reader, 2)[0] != '\0' &&
        pim_csv_count(reader, 2, 1, PIM_NOC_LINK_LATENCY_LIMIT, &latency, error) != PIM_OK)
        return error->status;
    if (columns > 3 && pim_csv_text(reader, 3)[0] != '\0' &&
        pim_noc_bits_parse(pim_csv_text(reader, 3), &entry->bits, error) != PIM_OK) {
        *error = (struct pim_error){.status = PIM_OK};
        return pim_csv_refuse(reader, 3, BITS_RULE, error);
    }
    entry->from = (uint32_t)from;
    entry->to = (uint32_t)to;
    entry->latency = (uint32_t)latency;
    return PIM_OK;
}

static enum pim_status read_rows(struct pim_csv_reader *reader, struct pim_noc_link_entry **entries,
                                 uint32_t *count, struct pim_error *error)
{
    uint32_t room = 0;
    for (;;) {
        bool more;
        if (pim_csv_next(reader, &more, error) != PIM_OK)
            return error->status;
        if (!more)
            return PIM_OK;
        if (*count == room) {
            room = room ? 2 * room : 64;
            struct pim_noc_link_entry *larger =
                room <= 1U << 24 ? realloc(*entries, room * sizeof *larger) : NULL;
            if (!larger)
                return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " links", room);
            *entries = larger;
        }
        if (read_row(reader, &(*entries)[*count], error) != PIM_OK)
            return error->status;
        ++*count;
    }
}

enum pim_status pim_noc_link_list_read(const char *path, struct pim_noc_link_entry **entries, uint32_t *count,
                                       struct pim_error *error)
{
    *entries = NULL;
    *count = 0;
    struct pim_csv_reader *reader;
    if (pim_csv_open(&reader, path, NULL, 0, error) != PIM_OK)
        return error->status;
    enum pim_status status = check_header(reader, path, error);
    if (status == PIM_OK)
        status = read_rows(reader, entries, count, error);
    pim_csv_close(reader);
    if (status != PIM_OK || *count == 0) {
        free(*entries);
        *entries = NULL;
        *count = 0;
    }
    return status;
}
