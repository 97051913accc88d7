/*
 * The allocation of virtual channels of the bit-set evaluation: where heads with a choice bid, and which head
 * gets which virtual channel.
 *
 * With an adaptive routing candidates are worked out anew whenever they are asked for: they follow from the
 * packet alone, and most heads bid in one cycle.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_SETS_CHANNELS_H
#define PIMSIM_MODELS_NOC_GENERAL_SETS_CHANNELS_H

#include "models/noc/general/sets/switch.h"

/* The candidates of the head at the front of a row; returns how many. */
static PIM_ALWAYS_INLINE unsigned candidates_of(const struct sets_site *site, unsigned row,
                                                struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT])
{
    uint32_t packet = inputs_of(site)[row].front;
    return pim_noc_route(site->general->routing, &site->general->packets[packet].state, site->node,
                         row >> site->kind.shift, candidates);
}

/* Those virtual channels of a candidate that a head may take. */
static inline uint32_t available(const struct sets_site *site, const struct pim_noc_candidate *candidate)
{
    unsigned first = (unsigned)candidate->port << site->kind.shift;
    uint32_t vcs = vcs_of(site, word_of(site, first)->free, first) & candidate->vcs;
    for (uint32_t set = candidate->empty ? vcs : 0; set; set &= set - 1)
        if (outputs_of(site)[first + pim_lowest_bit(set)].credits != site->general->buffer_flits)
            vcs &= ~(set & -set);
    return vcs;
}

/* Whether a head can get a virtual channel of any of its candidates. */
static inline bool can_get_channel(struct sets_site site, unsigned row)
{
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    unsigned count = candidates_of(&site, row, candidates);
    for (unsigned i = 0; i < count; i++)
        if (available(&site, &candidates[i]))
            return true;
    return false;
}

static inline uint32_t credits_of(const struct sets_site *site, const struct pim_noc_candidate *candidate)
{
    unsigned first = (unsigned)candidate->port << site->kind.shift;
    uint32_t credits = 0;
    for (uint32_t set = candidate->vcs; set; set &= set - 1)
        credits += outputs_of(site)[first + pim_lowest_bit(set)].credits;
    return credits;
}

/* Chooses where a head bids in this cycle, as choose_candidate() of switch.c does. When it can get no virtual
 * channel it waits for the output of before. */
static PIM_NOINLINE void choose_output(struct sets_site site, unsigned row)
{
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    unsigned count = candidates_of(&site, row, candidates), output = 0;
    uint32_t chosen = 0, best_credits = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t vcs = available(&site, &candidates[i]);
        if (!vcs || (candidates[i].escape && chosen))
            continue;
        uint32_t credits = count > 1 ? credits_of(&site, &candidates[i]) : 0;
        if (chosen && credits <= best_credits)
            continue;
        chosen = vcs;
        best_credits = credits;
        output = candidates[i].port;
    }
    allowed_of(&site)[row] = chosen;
    if (!chosen)
        return;
    struct noc_input *input = &inputs_of(&site)[row];
    uint64_t *shut = &site.router->shut[place_of(&site, row)], closed = site.router->closed >> output & 1;
    *to_of(&site, (unsigned)input->output >> site.kind.shift, row) &= ~bit_of(row);
    *to_of(&site, output, row) |= bit_of(row);
    *shut = (*shut & ~bit_of(row)) | closed << row % SETS_ROWS;
    input->output = (uint8_t)(output << site.kind.shift);
}

/* A head gets a virtual channel downstream. */
static PIM_ALWAYS_INLINE void take_channel(const struct sets_site *site, unsigned row, unsigned output)
{
    struct sets_word *word = word_of(site, row), *outputs = word_of(site, output);
    inputs_of(site)[row].output = (uint8_t)output;
    outputs_of(site)[output].owner = (uint8_t)row;
    outputs->free &= ~bit_of(output);
    word->bidding &= ~bit_of(row);
    word->active |= bit_of(row);
    word->credited |= (outputs->nonfull >> output % 64 & 1) << row % 64;
}

/* Several heads ask for virtual channels of one output port. */
static PIM_NOINLINE void match_heads(struct sets_site site, struct noc_heads heads, struct sets_rows rows)
{
    uint8_t asking[SETS_ROWS * SETS_WORDS];
    struct noc_match matches[PIM_NOC_VC_LIMIT];
    unsigned count = 0;
    for (unsigned word = 0; word < site.kind.words; word++)
        for (uint64_t set = rows.words[word]; set; set &= set - 1) {
            asking[count] = (uint8_t)(word * 64 + pim_lowest_bit(set));
            count += (heads.allowed[asking[count]] & heads.free) != 0;
        }
    if (count == 0)
        return;
    count = pim_noc_match_heads(&site.noc->configuration, heads, asking, count, matches);
    for (unsigned i = 0; i < count; i++)
        take_channel(&site, matches[i].row, matches[i].output);
}

/* The wavefront over all rows and columns of the router, which have no gaps between ports. */
static PIM_NOINLINE void wave_of_heads(struct sets_site site, struct sets_rows rows)
{
    unsigned vcs = site.general->vcs, size = (unsigned)site.router->ports * vcs,
             pointer = site.router->known->vc_diagonal;
    unsigned shift = site.kind.shift, first = size;
    while (any_row(&site, &rows)) {
        unsigned nearest = size, chosen = 0, chosen_output = 0;
        for (unsigned word = 0; word < site.kind.words; word++)
            for (uint64_t set = rows.words[word]; set; set &= set - 1) {
                unsigned row = word * 64 + pim_lowest_bit(set);
                unsigned port = (unsigned)inputs_of(&site)[row].output >> shift, begin = port << shift;
                uint32_t open = vcs_of(&site, word_of(&site, begin)->free, begin) & allowed_of(&site)[row];
                if (!open) { /* nor will there be later */
                    rows.words[word] &= ~bit_of(row);
                    continue;
                }
                unsigned input = (row >> shift) * vcs + (row & ((1U << shift) - 1));
                unsigned from = opposite(input, pointer, size) - port * vcs; /* wraps when it is before */
                unsigned vc = pim_noc_first_from(open, from < vcs ? from : 0);
                unsigned distance = diagonals(input, port * vcs + vc, pointer, size);
                if (distance < nearest) {
                    nearest = distance;
                    chosen = row;
                    chosen_output = begin + vc;
                }
            }
        if (nearest == size)
            break;
        first = nearest < first ? nearest : first;
        take_channel(&site, chosen, chosen_output);
        rows.words[chosen / 64] &= ~bit_of(chosen);
    }
    if (first < size)
        move_diagonal(site.noc->configuration.vc_allocator, &site.router->known->vc_diagonal, first, size);
}

/* Takes the rows that want the output of the lowest of `rows`, of which there are some, out of these; they go
 * to `members`. Returns the output. */
static PIM_ALWAYS_INLINE unsigned next_output(const struct sets_site *site, struct sets_rows *rows,
                                              struct sets_rows *members)
{
    unsigned lowest = first_row_from(site, rows, 0);
    unsigned output = (unsigned)inputs_of(site)[lowest].output >> site->kind.shift;
    (void)rows_to(site, rows, output, members);
    for (unsigned word = 0; word < site->kind.words; word++)
        rows->words[word] &= ~members->words[word];
    return output;
}

/* VC allocation. Each output port is on its own, since a head asks for one port only. */
static PIM_ALWAYS_INLINE void allocate_channels(const struct sets_site *site)
{
    struct sets_rows bidding, rows = {{0}};
    for (unsigned word = 0; word < site->kind.words; word++)
        bidding.words[word] = site->router->word[word].bidding;
    for (unsigned word = 0; site->kind.adaptive && word < site->kind.words; word++)
        for (uint64_t set = bidding.words[word]; set; set &= set - 1)
            choose_output(*site, word * SETS_ROWS + pim_lowest_bit(set));
    if (site->kind.wavefront_vcs) {
        if (any_row(site, &bidding))
            wave_of_heads(*site, bidding);
        return;
    }
    while (any_row(site, &bidding)) {
        unsigned output = next_output(site, &bidding, &rows), begin = output << site->kind.shift;
        uint32_t free = vcs_of(site, word_of(site, begin)->free, begin);
        struct noc_heads heads = {inputs_of(site),
                                  outputs_of(site),
                                  site->sets->next_row,
                                  allowed_of(site),
                                  output,
                                  site->kind.shift,
                                  free};
        if (several_rows(site, &rows)) {
            match_heads(*site, heads, rows);
            continue;
        }
        unsigned row = first_row_from(site, &rows, 0);
        heads.free &= heads.allowed[row];
        if (heads.free)
            take_channel(site, row, pim_noc_match_head(&heads, row).output);
    }
}

#endif
