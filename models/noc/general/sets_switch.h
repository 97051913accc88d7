/*
 * The allocators of the bit-set evaluation: who wins the switch, and which head gets which virtual channel.
 *
 * 1. Separable output-first allocation, and islip with one iteration, are the same: every output offers
 *    itself to one input, every input accepts one offer.
 * 2. A wavefront grants, diagonal after diagonal, whatever meets nothing granted before. Requests of one
 *    diagonal differ in input and output. So the request that is the fewest diagonals away is granted, then
 *    the next one of those that are left.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_SETS_SWITCH_H
#define PIMSIM_MODELS_NOC_GENERAL_SETS_SWITCH_H

#include "models/noc/general/sets.h"

/* One of the sets of rows. */
struct sets_rows {
    uint64_t words[SETS_WORDS];
};

/* A router in a cycle, and its parts of the arrays; constant. */
struct sets_site {
    struct pim_noc *noc;
    struct noc_general *general;
    const struct general_sets *sets;
    struct general_router *router;
    struct general_output *out;
    struct sets_word *word;
    uint64_t *closed, *to;
    struct noc_input *inputs;
    struct noc_output *outputs;
    uint32_t *allowed;
    struct sets_port *port;
    uint64_t cycle;
    uint32_t node; /* the router */
    unsigned words, shift, ports;
};

/* What wins the switch, by output port. */
struct sets_winners {
    uint64_t outputs;
    uint8_t input[SETS_PORTS]; /* port */
    struct sets_rows ready;
};

static PIM_ALWAYS_INLINE uint64_t bit_of(unsigned row)
{
    return UINT64_C(1) << row % 64;
}

static PIM_ALWAYS_INLINE struct sets_word *word_of(const struct sets_site *site, unsigned row)
{
    return &site->word[site->words == 1 ? 0 : row / 64];
}

static PIM_ALWAYS_INLINE uint64_t *to_of(const struct sets_site *site, unsigned output, unsigned row)
{
    return &site->to[output * site->words + (site->words == 1 ? 0 : row / 64)];
}

/* Virtual channels of the port that begins with row `first`. */
static PIM_ALWAYS_INLINE uint32_t vcs_of(const struct sets_site *site, uint64_t word, unsigned first)
{
    return (uint32_t)(word >> first % 64) & site->general->all;
}

static PIM_ALWAYS_INLINE bool any_row(const struct sets_site *site, const struct sets_rows *rows)
{
    uint64_t any = 0;
    for (unsigned word = 0; word < site->words; word++)
        any |= rows->words[word];
    return any != 0;
}

/* Those of `rows` whose packets leave by `output`; returns whether there are any. */
static PIM_ALWAYS_INLINE bool rows_to(const struct sets_site *site, const struct sets_rows *rows,
                                      unsigned output, struct sets_rows *members)
{
    uint64_t any = 0;
    for (unsigned word = 0; word < site->words; word++)
        any |= members->words[word] = rows->words[word] & site->to[output * site->words + word];
    return any != 0;
}

/* First member at or after `pointer`, else the lowest; the set is not empty. */
static PIM_ALWAYS_INLINE unsigned first_row_from(const struct sets_site *site, const struct sets_rows *rows,
                                                 unsigned pointer)
{
    if (site->words == 1)
        return pim_noc_first_from(rows->words[0], pointer);
    unsigned word = pointer / 64;
    uint64_t set = rows->words[word] >> pointer % 64 << pointer % 64;
    while (!set) {
        word = word + 1 == site->words ? 0 : word + 1;
        set = rows->words[word];
    }
    return word * 64 + pim_lowest_bit(set);
}

/* Takes the rows that want the output of the lowest of `rows` out of these; they go to `members` (may be
 * NULL). Returns whether there were any. */
static PIM_ALWAYS_INLINE bool next_output(const struct sets_site *site, struct sets_rows *rows,
                                          unsigned *output, struct sets_rows *members)
{
    struct sets_rows found;
    if (!any_row(site, rows))
        return false;
    *output = (unsigned)site->inputs[first_row_from(site, rows, 0)].output >> site->shift;
    (void)rows_to(site, rows, *output, &found);
    for (unsigned word = 0; word < site->words; word++)
        rows->words[word] &= ~found.words[word];
    if (members)
        *members = found;
    return true;
}

/* The outputs whose links pass something still in `cycle`, so that they can take no flit. */
static PIM_ALWAYS_INLINE uint64_t closed_in(const struct sets_site *site, uint64_t cycle)
{
    uint64_t closed = 0;
    for (uint64_t outputs = *site->closed; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs);
        closed |= (uint64_t)!pim_noc_general_open(&site->out[output].busy, cycle) << output;
    }
    return closed;
}

/* Rows with a virtual channel downstream, a flit and a credit. */
static PIM_ALWAYS_INLINE struct sets_rows ready_rows(const struct sets_site *site)
{
    struct sets_rows ready = {{0}};
    for (unsigned word = 0; word < site->words; word++)
        ready.words[word] = site->word[word].active & site->word[word].filled & site->word[word].credited;
    return ready;
}

/* Leaves those of `rows`, of which there are some, whose packets are of the most urgent class. Returns it. */
static PIM_NOINLINE unsigned keep_urgent(const struct sets_site *site, struct sets_rows *rows)
{
    unsigned most = PIM_NOC_CLASS_LIMIT;
    for (unsigned word = 0; word < site->words; word++) {
        uint64_t kept = 0;
        for (uint64_t set = rows->words[word]; set; set &= set - 1) {
            unsigned class = site->inputs[word * 64 + pim_lowest_bit(set)].x;
            kept = class < most ? 0 : kept;
            for (unsigned before = 0; class < most && before < word; before++)
                rows->words[before] = 0;
            kept |= class <= most ? set & -set : 0;
            most = class < most ? class : most;
        }
        rows->words[word] = kept;
    }
    return most;
}

/* Those of `outputs` whose offer is for the most urgent class. */
static inline uint64_t most_urgent(uint64_t outputs, const uint8_t class[SETS_PORTS])
{
    unsigned most = PIM_NOC_CLASS_LIMIT;
    uint64_t kept = 0;
    for (; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs);
        kept = class[output] < most ? 0 : kept;
        most = class[output] < most ? class[output] : most;
        kept |= (uint64_t)(class[output] == most) << output;
    }
    return kept;
}

/* Output-first, and islip. */
static PIM_ALWAYS_INLINE void match_outputs_first(const struct sets_site *site, struct sets_winners *winners)
{
    uint64_t offered = 0, several = 0; /* inputs */
    struct sets_rows ready = winners->ready, members;
    uint8_t class[SETS_PORTS];
    for (unsigned output; next_output(site, &ready, &output, &members);) {
        if (PIM_UNLIKELY(site->sets->urgent))
            class[output] = (uint8_t)keep_urgent(site, &members);
        unsigned pointer = (unsigned)site->port[output].grant << site->shift;
        unsigned input = first_row_from(site, &members, pointer) >> site->shift;
        winners->outputs |= UINT64_C(1) << output;
        winners->input[output] = (uint8_t)input;
        several |= offered & UINT64_C(1) << input;
        offered |= UINT64_C(1) << input;
    }
    for (; PIM_UNLIKELY(several != 0); several &= several - 1) {
        unsigned input = pim_lowest_bit(several);
        uint64_t offers = 0;
        for (uint64_t outputs = winners->outputs; outputs; outputs &= outputs - 1)
            offers |= (uint64_t)(winners->input[pim_lowest_bit(outputs)] == input) << pim_lowest_bit(outputs);
        uint64_t best = PIM_UNLIKELY(site->sets->urgent) ? most_urgent(offers, class) : offers;
        unsigned accepted = pim_noc_first_from(best, site->port[input].accept);
        winners->outputs &= ~offers | UINT64_C(1) << accepted;
    }
}

/* By input port: the outputs that it asks for. Returns the inputs that ask. */
static inline uint64_t collect_wishes(const struct sets_site *site, const struct sets_winners *winners,
                                      uint64_t wishes[SETS_PORTS])
{
    uint64_t asking = 0;
    struct sets_rows ready = winners->ready, members;
    for (unsigned output; next_output(site, &ready, &output, &members);)
        for (unsigned word = 0; word < site->words; word++)
            for (uint64_t set = members.words[word]; set;) {
                unsigned input = (word * 64 + pim_lowest_bit(set)) >> site->shift;
                set &= ~((uint64_t)site->general->all << (input << site->shift) % 64);
                wishes[input] = (asking >> input & 1 ? wishes[input] : 0) | UINT64_C(1) << output;
                asking |= UINT64_C(1) << input;
            }
    return asking;
}

/* Every input picks an output, then every output one of the inputs that picked it. */
static inline void match_inputs_first(const struct sets_site *site, struct sets_winners *winners)
{
    uint64_t wishes[SETS_PORTS], pickers[SETS_PORTS];
    for (uint64_t asking = collect_wishes(site, winners, wishes); asking; asking &= asking - 1) {
        unsigned input = pim_lowest_bit(asking);
        unsigned output = pim_noc_first_from(wishes[input], site->port[input].accept);
        uint64_t bit = UINT64_C(1) << output;
        pickers[output] = (winners->outputs & bit ? pickers[output] : 0) | UINT64_C(1) << input;
        winners->outputs |= bit;
    }
    for (uint64_t outputs = winners->outputs; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs);
        winners->input[output] = (uint8_t)pim_noc_first_from(pickers[output], site->port[output].grant);
    }
}

/* `number`, below twice `size`, modulo `size`. */
static inline unsigned wrap(unsigned number, unsigned size)
{
    return number >= size ? number - size : number;
}

/* How many diagonals from the pointer on `input` and `output` are. */
static inline unsigned diagonals(unsigned input, unsigned output, unsigned pointer, unsigned size)
{
    return wrap(wrap(input + output, size) + size - pointer, size);
}

/* The output that is on the pointer's diagonal with `input`. */
static inline unsigned opposite(unsigned input, unsigned pointer, unsigned size)
{
    return wrap(pointer + size - input, size);
}

/* The pointer after a cycle in which something was asked for; `first`: diagonals to the first grant. */
static inline void move_diagonal(enum pim_noc_allocator allocator, uint16_t *diagonal, unsigned first,
                                 unsigned size)
{
    bool follows = allocator == PIM_NOC_ROUND_ROBIN_WAVEFRONT;
    *diagonal = (uint16_t)wrap(*diagonal + (follows ? wrap(first + 1, size) : wrap(1, size)), size);
}

static inline void match_wavefront(const struct sets_site *site, struct sets_winners *winners)
{
    uint64_t wishes[SETS_PORTS], asking = collect_wishes(site, winners, wishes);
    unsigned first = site->ports, pointer = site->router->switch_diagonal;
    if (!asking)
        return;
    while (asking) {
        unsigned nearest = site->ports, chosen = 0, chosen_output = 0;
        for (uint64_t inputs = asking; inputs; inputs &= inputs - 1) {
            unsigned input = pim_lowest_bit(inputs);
            uint64_t open = wishes[input] & ~winners->outputs;
            if (!open) {
                asking &= ~(UINT64_C(1) << input);
                continue;
            }
            unsigned output = pim_noc_first_from(open, opposite(input, pointer, site->ports));
            unsigned distance = diagonals(input, output, pointer, site->ports);
            if (distance < nearest) {
                nearest = distance;
                chosen = input;
                chosen_output = output;
            }
        }
        if (nearest == site->ports)
            break;
        first = nearest < first ? nearest : first;
        asking &= ~(UINT64_C(1) << chosen);
        winners->outputs |= UINT64_C(1) << chosen_output;
        winners->input[chosen_output] = (uint8_t)chosen;
    }
    move_diagonal(site->sets->switch_allocator, &site->router->switch_diagonal, first, site->ports);
}

static PIM_ALWAYS_INLINE void allocate_switch(const struct sets_site *site, struct sets_winners *winners)
{
    struct sets_rows members;
    winners->outputs = 0;
    winners->ready = ready_rows(site);
    for (uint64_t closed = *site->closed; closed; closed &= closed - 1) {
        (void)rows_to(site, &winners->ready, pim_lowest_bit(closed), &members);
        for (unsigned word = 0; word < site->words; word++)
            winners->ready.words[word] &= ~members.words[word];
    }
    if (!any_row(site, &winners->ready))
        return;
    if (site->sets->switch_allocator == PIM_NOC_SEPARABLE_INPUT_FIRST)
        match_inputs_first(site, winners);
    else if (pim_noc_general_is_wavefront(site->sets->switch_allocator))
        match_wavefront(site, winners);
    else
        match_outputs_first(site, winners);
}

/* The row that wins `output`: of those of its input that want it, the first one at or after the input's
 * turn. Pointers move. (Rows of this input have not changed in this cycle: it wins once.) */
static PIM_ALWAYS_INLINE unsigned winner(const struct sets_site *site, const struct sets_winners *winners,
                                         unsigned output)
{
    unsigned input = winners->input[output], first = input << site->shift;
    unsigned word = site->words == 1 ? 0 : first / 64;
    uint64_t ready = winners->ready.words[word] & *to_of(site, output, first);
    struct sets_port *port = &site->port[input];
    if (PIM_UNLIKELY(site->sets->urgent)) {
        struct sets_rows rows = {{0}};
        rows.words[word] = ready & (uint64_t)site->general->all << first % 64;
        (void)keep_urgent(site, &rows);
        ready = rows.words[word];
    }
    unsigned vc = pim_noc_first_from(vcs_of(site, ready, first), port->turn);
    port->turn = (uint8_t)(vc + 1 == site->general->vcs ? 0 : vc + 1);
    if (!pim_noc_general_is_wavefront(site->sets->switch_allocator)) {
        port->accept = (uint8_t)(output + 1 == site->ports ? 0 : output + 1);
        site->port[output].grant = (uint8_t)(input + 1 == site->ports ? 0 : input + 1);
    }
    return first + vc;
}

/* --- virtual channels --- */

/* A head gets a virtual channel downstream. */
static PIM_ALWAYS_INLINE void take_channel(const struct sets_site *site, unsigned row, unsigned output)
{
    struct sets_word *word = word_of(site, row), *outputs = word_of(site, output);
    site->inputs[row].output = (uint8_t)output;
    site->outputs[output].owner = (uint8_t)row;
    outputs->free &= ~bit_of(output);
    word->bidding &= ~bit_of(row);
    word->active |= bit_of(row);
    word->credited |= (outputs->nonfull >> output % 64 & 1) << row % 64;
}

/* Several heads ask for virtual channels of one output port. */
static PIM_NOINLINE void match_heads(const struct sets_site *site, struct noc_heads heads,
                                     const struct sets_rows *rows)
{
    uint8_t asking[64 * SETS_WORDS];
    struct noc_match matches[PIM_NOC_VC_LIMIT];
    unsigned count = 0;
    for (unsigned word = 0; word < site->words; word++)
        for (uint64_t set = rows->words[word]; set; set &= set - 1) {
            asking[count] = (uint8_t)(word * 64 + pim_lowest_bit(set));
            count += (site->allowed[asking[count]] & heads.free) != 0;
        }
    if (count == 0)
        return;
    count = pim_noc_match_heads(&site->noc->configuration, heads, asking, count, matches);
    for (unsigned i = 0; i < count; i++)
        take_channel(site, matches[i].row, matches[i].output);
}

/* The wavefront over all rows and columns of the router, which have no gaps between ports. */
static PIM_NOINLINE void wave_of_heads(const struct sets_site *site, struct sets_rows rows)
{
    unsigned vcs = site->general->vcs, size = site->ports * vcs, pointer = site->router->vc_diagonal;
    unsigned first = size;
    bool asked = false;
    for (;;) {
        unsigned nearest = size, chosen = 0, chosen_output = 0;
        for (unsigned word = 0; word < site->words; word++)
            for (uint64_t set = rows.words[word]; set; set &= set - 1) {
                unsigned row = word * 64 + pim_lowest_bit(set);
                unsigned port = (unsigned)site->inputs[row].output >> site->shift,
                         begin = port << site->shift;
                uint32_t open = vcs_of(site, word_of(site, begin)->free, begin) & site->allowed[row];
                if (!open)
                    continue;
                asked = true;
                unsigned input = (row >> site->shift) * vcs + (row & ((1U << site->shift) - 1));
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
        take_channel(site, chosen, chosen_output);
        rows.words[chosen / 64] &= ~bit_of(chosen);
    }
    if (asked)
        move_diagonal(site->noc->configuration.vc_allocator, &site->router->vc_diagonal, first, size);
}

static PIM_ALWAYS_INLINE bool only_one(const struct sets_site *site, const struct sets_rows *rows)
{
    uint64_t several = 0, any = 0;
    for (unsigned word = 0; word < site->words; word++) {
        several |= (rows->words[word] & (rows->words[word] - 1)) | (rows->words[word] ? any : 0);
        any |= rows->words[word];
    }
    return several == 0;
}

/* VC allocation. Each output port is on its own, since a head asks for one port only. */
static PIM_ALWAYS_INLINE void allocate_channels(const struct sets_site *site)
{
    struct sets_rows bidding, rows = {{0}};
    for (unsigned word = 0; word < site->words; word++)
        bidding.words[word] = site->word[word].bidding;
    if (PIM_UNLIKELY(site->sets->wavefront_vcs) && any_row(site, &bidding)) {
        wave_of_heads(site, bidding);
        return;
    }
    for (unsigned output; next_output(site, &bidding, &output, &rows);) {
        unsigned begin = output << site->shift;
        uint32_t free = vcs_of(site, word_of(site, begin)->free, begin);
        struct noc_heads heads = {site->inputs, site->outputs, site->sets->next_row, site->allowed, output,
                                  site->shift,  free};
        if (!only_one(site, &rows)) {
            match_heads(site, heads, &rows);
            continue;
        }
        unsigned row = first_row_from(site, &rows, 0);
        heads.free &= site->allowed[row];
        if (heads.free)
            take_channel(site, row, pim_noc_match_head(&heads, row).output);
    }
}

#endif
