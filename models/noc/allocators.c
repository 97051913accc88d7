/* VC and switch allocation; the rules are in allocators.h. */
#include "models/noc/allocators.h"

/* Pointers count over the columns of all ports; this is where the search begins inside the port that starts
 * at `first`. */
static unsigned search_from(unsigned pointer, unsigned first, unsigned vcs)
{
    return pointer > first && pointer < first + vcs ? pointer - first : 0;
}

static unsigned next_of(unsigned index, unsigned size)
{
    return index + 1 == size ? 0 : index + 1;
}

/* Index in `rows` (ascending) of the first one at or after `pointer`, among those not yet `taken` (a set of
 * rows); count if none. */
static unsigned first_row(const uint8_t *rows, unsigned count, const bool *taken, unsigned pointer)
{
    unsigned lowest = count;
    for (unsigned i = 0; i < count; i++) {
        if (taken[i])
            continue;
        if (rows[i] >= pointer)
            return i;
        if (lowest == count)
            lowest = i;
    }
    return lowest;
}

static unsigned islip_heads(unsigned iterations, struct noc_input *inputs, struct noc_output *outputs,
                            unsigned first, unsigned vcs, const uint8_t *rows, unsigned count, uint32_t free,
                            struct noc_match *matches)
{
    unsigned matched = 0, size = NOC_PORTS * vcs;
    bool taken[NOC_HEADS_LIMIT];
    uint32_t offers[NOC_HEADS_LIMIT];
    for (unsigned i = 0; i < count; i++)
        taken[i] = false;
    for (unsigned iteration = 0; iteration < iterations && free && matched < count; iteration++) {
        for (unsigned i = 0; i < count; i++)
            offers[i] = 0;
        for (uint32_t columns = free; columns; columns &= columns - 1) {
            unsigned column = pim_lowest_bit(columns);
            offers[first_row(rows, count, taken, outputs[column].pointer)] |= UINT32_C(1) << column;
        }
        for (unsigned i = 0; i < count; i++) {
            if (!offers[i])
                continue;
            unsigned row = rows[i];
            unsigned column = pim_noc_first_from(offers[i], search_from(inputs[row].pointer, first, vcs));
            taken[i] = true;
            free &= ~(UINT32_C(1) << column);
            matches[matched++] = (struct noc_match){(uint8_t)row, (uint8_t)column};
            if (iteration == 0) {
                outputs[column].pointer = (uint8_t)next_of(row, size);
                inputs[row].pointer = (uint8_t)next_of(first + column, size);
            }
        }
    }
    return matched;
}

static unsigned separable_heads(struct noc_input *inputs, struct noc_output *outputs, unsigned first,
                                unsigned vcs, const uint8_t *rows, unsigned count, uint32_t free,
                                struct noc_match *matches)
{
    unsigned matched = 0, size = NOC_PORTS * vcs;
    uint8_t picked[NOC_HEADS_LIMIT];
    uint32_t wanted = 0;
    for (unsigned i = 0; i < count; i++) {
        picked[i] = (uint8_t)pim_noc_first_from(free, search_from(inputs[rows[i]].pointer, first, vcs));
        wanted |= UINT32_C(1) << picked[i];
    }
    for (; wanted; wanted &= wanted - 1) {
        unsigned column = pim_lowest_bit(wanted);
        bool other[NOC_HEADS_LIMIT];
        for (unsigned i = 0; i < count; i++)
            other[i] = picked[i] != column;
        unsigned row = rows[first_row(rows, count, other, outputs[column].pointer)];
        matches[matched++] = (struct noc_match){(uint8_t)row, (uint8_t)column};
        outputs[column].pointer = (uint8_t)next_of(row, size);
        inputs[row].pointer = (uint8_t)next_of(first + column, size);
    }
    return matched;
}

unsigned pim_noc_match_heads(const struct pim_noc_configuration *configuration, struct noc_input *inputs,
                             struct noc_output *outputs, unsigned port, const uint8_t *rows, unsigned count,
                             uint32_t free, struct noc_match *matches)
{
    unsigned vcs = configuration->virtual_channels;
    if (count == 1) { /* all allocators give it its first choice */
        unsigned row = rows[0], first = port * vcs, size = NOC_PORTS * vcs;
        unsigned column = pim_noc_first_from(free, search_from(inputs[row].pointer, first, vcs));
        matches[0] = (struct noc_match){(uint8_t)row, (uint8_t)column};
        outputs[column].pointer = (uint8_t)next_of(row, size);
        inputs[row].pointer = (uint8_t)next_of(first + column, size);
        return 1;
    }
    if (configuration->vc_allocator == PIM_NOC_SEPARABLE_INPUT_FIRST)
        return separable_heads(inputs, outputs, port * vcs, vcs, rows, count, free, matches);
    return islip_heads(configuration->allocator_iterations, inputs, outputs, port * vcs, vcs, rows, count,
                       free, matches);
}

static uint32_t islip_switch(unsigned iterations, unsigned rows, struct noc_switch *arbiter,
                             const struct noc_requests *requests, uint8_t columns[NOC_ROWS])
{
    uint32_t wanting[NOC_PORTS] = {0}, matched = 0, unmatched = requests->asking;
    for (uint32_t set = unmatched; set; set &= set - 1) {
        unsigned row = pim_lowest_bit(set);
        for (uint32_t asked = requests->normal[row] | requests->speculative[row]; asked; asked &= asked - 1)
            wanting[pim_lowest_bit(asked)] |= UINT32_C(1) << row;
    }
    uint32_t open = pim_noc_all(NOC_PORTS);
    for (unsigned iteration = 0; iteration < iterations && unmatched; iteration++) {
        uint8_t offers[NOC_ROWS];
        uint32_t offered = 0;
        for (unsigned column = 0; column < NOC_PORTS; column++) {
            uint32_t candidates = open >> column & 1 ? wanting[column] & unmatched : 0;
            if (!candidates)
                continue;
            unsigned row = pim_noc_first_from(candidates, arbiter->column[column]);
            offers[row] = (uint8_t)((offered >> row & 1 ? offers[row] : 0U) | 1U << column);
            offered |= UINT32_C(1) << row;
        }
        if (!offered)
            break;
        for (uint32_t set = offered; set; set &= set - 1) {
            unsigned row = pim_lowest_bit(set);
            unsigned column = pim_noc_first_from(offers[row], arbiter->row[row]);
            columns[row] = (uint8_t)column;
            open &= ~(UINT32_C(1) << column);
            if (iteration == 0) {
                arbiter->column[column] = (uint8_t)next_of(row, rows);
                arbiter->row[row] = (uint8_t)next_of(column, NOC_PORTS);
            }
        }
        matched |= offered;
        unmatched &= ~offered;
    }
    return matched;
}

static uint32_t separable_switch(unsigned rows, struct noc_switch *arbiter,
                                 const struct noc_requests *requests, uint8_t columns[NOC_ROWS])
{
    uint32_t normal[NOC_PORTS] = {0}, speculative[NOC_PORTS] = {0}, matched = 0;
    for (uint32_t set = requests->asking; set; set &= set - 1) {
        unsigned row = pim_lowest_bit(set);
        uint8_t first = requests->normal[row];
        unsigned column = pim_noc_first_from(first ? first : requests->speculative[row], arbiter->row[row]);
        columns[row] = (uint8_t)column;
        *(first ? &normal[column] : &speculative[column]) |= UINT32_C(1) << row;
    }
    for (unsigned column = 0; column < NOC_PORTS; column++) {
        uint32_t candidates = normal[column] ? normal[column] : speculative[column];
        if (!candidates)
            continue;
        unsigned row = pim_noc_first_from(candidates, arbiter->column[column]);
        arbiter->column[column] = (uint8_t)next_of(row, rows);
        arbiter->row[row] = (uint8_t)next_of(column, NOC_PORTS);
        matched |= UINT32_C(1) << row;
    }
    return matched;
}

uint32_t pim_noc_match_switch(const struct pim_noc_configuration *configuration, struct noc_switch *arbiter,
                              const struct noc_requests *requests, uint8_t columns[NOC_ROWS])
{
    unsigned rows = NOC_PORTS * configuration->input_speedup;
    if ((requests->asking & (requests->asking - 1)) ==
        0) { /* one row: all allocators take its first column */
        unsigned row = pim_lowest_bit(requests->asking);
        uint8_t first = requests->normal[row];
        if (configuration->switch_allocator == PIM_NOC_ISLIP)
            first |= requests->speculative[row];
        unsigned column = pim_noc_first_from(first ? first : requests->speculative[row], arbiter->row[row]);
        columns[row] = (uint8_t)column;
        arbiter->column[column] = (uint8_t)next_of(row, rows);
        arbiter->row[row] = (uint8_t)next_of(column, NOC_PORTS);
        return requests->asking;
    }
    if (configuration->switch_allocator == PIM_NOC_SEPARABLE_INPUT_FIRST)
        return separable_switch(rows, arbiter, requests, columns);
    return islip_switch(configuration->allocator_iterations, rows, arbiter, requests, columns);
}
