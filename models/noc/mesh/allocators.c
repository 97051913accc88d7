/* VC and switch allocation, the less common cases; the rules are in
 * allocators.h. */
#include "models/noc/mesh/allocators.h"

/* Index in `rows` (ascending) of the first one at or after `pointer`, among
 * those not excluded (a set of indices); count if none. */
static unsigned first_row(const uint8_t *rows, unsigned count, const bool *excluded, unsigned pointer)
{
    unsigned lowest = count;
    for (unsigned i = 0; i < count; i++) {
        if (excluded[i])
            continue;
        if (rows[i] >= pointer)
            return i;
        if (lowest == count)
            lowest = i;
    }
    return lowest;
}

/* The first iteration of islip for two heads. */
static unsigned islip_pair(const struct noc_heads *heads, const uint8_t *rows, struct noc_match *matches)
{
    uint32_t second = 0;
    const struct noc_output *outputs = &heads->outputs[heads->port << heads->shift];
    unsigned behind = rows[0] + 1U, distance = (unsigned)rows[1] - rows[0];
    for (unsigned column = 0; column < 1U << heads->shift; column++) /* all, for there is no branch in it */
        second |= (uint32_t)(outputs[column].grant - behind < distance) << column;
    uint32_t asked[2] = {pim_noc_open(heads, rows[0]), pim_noc_open(heads, rows[1])};
    second = asked[1] & (second | ~asked[0]);
    unsigned matched = 0;
    const uint32_t offers[2] = {asked[0] & ~second, second};
    for (unsigned i = 0; i < 2; i++) {
        if (!offers[i])
            continue;
        matches[matched] = (struct noc_match){rows[i], (uint8_t)pim_noc_choose(heads, rows[i], offers[i])};
        pim_noc_point_behind(heads, matches[matched++]);
    }
    return matched;
}

static unsigned islip_heads(unsigned iterations, const struct noc_heads *heads, const uint8_t *rows,
                            unsigned count, struct noc_match *matches)
{
    unsigned matched = 0, first = heads->port << heads->shift;
    uint32_t free = heads->free;
    bool taken[NOC_ROWS_LIMIT], excluded[NOC_ROWS_LIMIT];
    uint32_t offers[NOC_ROWS_LIMIT];
    for (unsigned i = 0; i < count; i++)
        taken[i] = false;
    for (unsigned iteration = 0; iteration < iterations && free && matched < count; iteration++) {
        for (unsigned i = 0; i < count; i++)
            offers[i] = 0;
        for (uint32_t columns = free; columns; columns &= columns - 1) {
            unsigned column = pim_lowest_bit(columns), chosen;
            for (unsigned i = 0; i < count; i++)
                excluded[i] = taken[i] || !(pim_noc_open(heads, rows[i]) >> column & 1);
            chosen = first_row(rows, count, excluded, heads->outputs[first + column].grant);
            if (chosen < count)
                offers[chosen] |= UINT32_C(1) << column;
        }
        for (unsigned i = 0; i < count; i++) {
            if (!offers[i])
                continue;
            unsigned output = pim_noc_choose(heads, rows[i], offers[i]);
            taken[i] = true;
            free &= ~(UINT32_C(1) << (output - first));
            matches[matched] = (struct noc_match){rows[i], (uint8_t)output};
            if (iteration == 0)
                pim_noc_point_behind(heads, matches[matched]);
            matched++;
        }
    }
    return matched;
}

static unsigned separable_heads(const struct noc_heads *heads, const uint8_t *rows, unsigned count,
                                struct noc_match *matches)
{
    unsigned matched = 0, first = heads->port << heads->shift;
    uint8_t picked[NOC_ROWS_LIMIT];
    uint32_t wanted = 0;
    for (unsigned i = 0; i < count; i++) {
        picked[i] = (uint8_t)(pim_noc_choose(heads, rows[i], pim_noc_open(heads, rows[i])) - first);
        wanted |= UINT32_C(1) << picked[i];
    }
    for (; wanted; wanted &= wanted - 1) {
        unsigned vc = pim_lowest_bit(wanted);
        bool other[NOC_ROWS_LIMIT];
        for (unsigned i = 0; i < count; i++)
            other[i] = picked[i] != vc;
        uint8_t row = rows[first_row(rows, count, other, heads->outputs[first + vc].grant)];
        matches[matched] = (struct noc_match){row, (uint8_t)(first + vc)};
        pim_noc_point_behind(heads, matches[matched++]);
    }
    return matched;
}

unsigned pim_noc_match_heads(const struct pim_noc_configuration *configuration, struct noc_heads heads,
                             const uint8_t *rows, unsigned count, struct noc_match *matches)
{
    if (configuration->vc_allocator == PIM_NOC_SEPARABLE_INPUT_FIRST)
        return separable_heads(&heads, rows, count, matches);
    bool islip = configuration->vc_allocator == PIM_NOC_ISLIP;
    unsigned iterations = islip ? configuration->vc_iterations : 1; /* output first: islip's first one */
    if (count == 2 && iterations == 1)
        return islip_pair(&heads, rows, matches);
    return islip_heads(iterations, &heads, rows, count, matches);
}

static uint32_t islip_switch(unsigned iterations, unsigned rows, struct noc_switch *arbiter,
                             const struct noc_requests *requests, uint8_t columns[NOC_CROSSBAR])
{
    uint32_t matched = 0, open = pim_noc_all(NOC_PORTS);
    for (unsigned iteration = 0; iteration < iterations; iteration++) {
        uint8_t offers[NOC_CROSSBAR] = {0};
        uint32_t offered = 0;
        for (uint32_t set = open; set; set &= set - 1) {
            unsigned column = pim_lowest_bit(set);
            uint32_t candidates = requests->wanting[column] & ~matched;
            if (!candidates)
                continue;
            unsigned row = pim_noc_first_from(candidates, arbiter->grant[column]);
            offers[row] |= (uint8_t)(1U << column);
            offered |= UINT32_C(1) << row;
        }
        if (!offered)
            break;
        matched |= offered;
        for (; offered; offered &= offered - 1) {
            unsigned row = pim_lowest_bit(offered),
                     column = pim_noc_first_from(offers[row], arbiter->crossbar[row].accept);
            columns[row] = (uint8_t)column;
            open &= ~(UINT32_C(1) << column);
            if (iteration == 0)
                pim_noc_point_switch(arbiter, rows, row, column);
        }
    }
    return matched;
}

static uint32_t separable_switch(unsigned rows, struct noc_switch *arbiter,
                                 const struct noc_requests *requests, uint8_t columns[NOC_CROSSBAR])
{
    uint32_t normal[NOC_PORTS] = {0}, speculative[NOC_PORTS] = {0}, matched = 0;
    for (uint32_t set = requests->asking; set; set &= set - 1) {
        unsigned row = pim_lowest_bit(set);
        uint8_t first = requests->normal[row];
        unsigned column =
            pim_noc_first_from(first ? first : requests->speculative[row], arbiter->crossbar[row].accept);
        columns[row] = (uint8_t)column;
        *(first ? &normal[column] : &speculative[column]) |= UINT32_C(1) << row;
    }
    for (unsigned column = 0; column < NOC_PORTS; column++) {
        uint32_t candidates = normal[column] ? normal[column] : speculative[column];
        if (!candidates)
            continue;
        unsigned row = pim_noc_first_from(candidates, arbiter->grant[column]);
        pim_noc_point_switch(arbiter, rows, row, column);
        matched |= UINT32_C(1) << row;
    }
    return matched;
}

uint32_t pim_noc_match_switch(const struct pim_noc_configuration *configuration, struct noc_switch *arbiter,
                              const struct noc_requests *requests, uint8_t columns[NOC_CROSSBAR])
{
    unsigned rows = NOC_PORTS * configuration->input_speedup;
    if (configuration->switch_allocator == PIM_NOC_SEPARABLE_INPUT_FIRST)
        return separable_switch(rows, arbiter, requests, columns);
    return islip_switch(configuration->switch_iterations, rows, arbiter, requests, columns);
}
