/*
 * The switch allocators of the bit-set evaluation: who wins the switch.
 *
 * 1. Separable output-first allocation, and islip with one iteration, are the same: every output offers
 *    itself to one input, every input accepts one offer.
 * 2. A wavefront grants, diagonal after diagonal, whatever meets nothing granted before. Requests of one
 *    diagonal differ in input and output. So the request that is the fewest diagonals away is granted, then
 *    the next one of those that are left.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_SETS_SWITCH_H
#define PIMSIM_MODELS_NOC_GENERAL_SETS_SWITCH_H

#include "models/noc/general/sets/sets.h"

/* One of the sets of rows. */
struct sets_rows {
    uint64_t words[SETS_WORDS];
};

/* What a configuration needs. In the functions of the usual ones it is a constant, so that the rest is left
 * out. */
struct sets_kind {
    unsigned words, shift;
    bool early, narrow, urgent, wavefront_vcs, adaptive, advances;
    enum pim_noc_allocator switch_allocator;
};

/* A router in a cycle, and its parts of the arrays; constant. Functions that are not inlined get copies, so
 * that this one stays in registers. */
struct sets_site {
    struct sets_kind kind;
    struct pim_noc *noc;
    struct noc_general *general;
    const struct general_sets *sets;
    struct sets_router *router;
    struct general_output *out;
    struct sets_port *port;
    uint64_t cycle;
    uint32_t node; /* the router */
};

static PIM_ALWAYS_INLINE struct sets_site site_of(struct pim_noc *noc, struct sets_kind kind, uint32_t node,
                                                  uint64_t cycle)
{
    struct noc_general *general = noc->general;
    struct sets_router *router = pim_noc_sets_router(general->sets, node);
    return (struct sets_site){
        .kind = kind,
        .noc = noc,
        .general = general,
        .sets = general->sets,
        .router = router,
        .out = router->out,
        .port = router->port,
        .cycle = cycle,
        .node = node,
    };
}

/* What wins the switch, by output port. */
struct sets_winners {
    uint64_t outputs;
    uint8_t input[SETS_PORTS]; /* port */
    struct sets_rows ready;
};

/* By row, behind the router: the inputs, ... */
static PIM_ALWAYS_INLINE struct noc_input *inputs_of(const struct sets_site *site)
{
    return (void *)(site->router + 1);
}

/* ... the outputs, ... */
static PIM_ALWAYS_INLINE struct noc_output *outputs_of(const struct sets_site *site)
{
    return (void *)(inputs_of(site) + (size_t)SETS_ROWS * site->kind.words);
}

/* ... the virtual channels that the packet at the front may take, ... */
static PIM_ALWAYS_INLINE uint32_t *allowed_of(const struct sets_site *site)
{
    return (void *)(outputs_of(site) + (size_t)SETS_ROWS * site->kind.words);
}

/* ... and (flits left - 1) / 2^32. */
static PIM_ALWAYS_INLINE uint32_t *left_high_of(const struct sets_site *site)
{
    return allowed_of(site) + (size_t)SETS_ROWS * site->kind.words;
}

static PIM_ALWAYS_INLINE uint64_t bit_of(unsigned row)
{
    return UINT64_C(1) << row % 64;
}

/* Index of the word that has the row. */
static PIM_ALWAYS_INLINE unsigned place_of(const struct sets_site *site, unsigned row)
{
    return site->kind.words == 1 ? 0 : row / 64;
}

static PIM_ALWAYS_INLINE struct sets_word *word_of(const struct sets_site *site, unsigned row)
{
    return &site->router->word[place_of(site, row)];
}

static PIM_ALWAYS_INLINE uint64_t *to_of(const struct sets_site *site, unsigned output, unsigned row)
{
    return &site->port[output].to[place_of(site, row)];
}

/* Virtual channels of the port that begins with row `first`. */
static PIM_ALWAYS_INLINE uint32_t vcs_of(const struct sets_site *site, uint64_t word, unsigned first)
{
    return (uint32_t)(word >> first % 64) & site->general->all;
}

static PIM_ALWAYS_INLINE bool any_row(const struct sets_site *site, const struct sets_rows *rows)
{
    uint64_t any = 0;
    for (unsigned word = 0; word < site->kind.words; word++)
        any |= rows->words[word];
    return any != 0;
}

static PIM_ALWAYS_INLINE bool several_rows(const struct sets_site *site, const struct sets_rows *rows)
{
    uint64_t several = 0, any = 0;
    for (unsigned word = 0; word < site->kind.words; word++) {
        several |= (rows->words[word] & (rows->words[word] - 1)) | (rows->words[word] ? any : 0);
        any |= rows->words[word];
    }
    return several != 0;
}

/* Those of `rows` whose packets leave by `output`; returns whether there are any. */
static PIM_ALWAYS_INLINE bool rows_to(const struct sets_site *site, const struct sets_rows *rows,
                                      unsigned output, struct sets_rows *members)
{
    uint64_t any = 0;
    for (unsigned word = 0; word < site->kind.words; word++)
        any |= members->words[word] = rows->words[word] & site->port[output].to[word];
    return any != 0;
}

/* The outputs by which the packets at the front of `rows` leave. */
static PIM_ALWAYS_INLINE uint64_t wanted_by(const struct sets_site *site, const struct sets_rows *rows)
{
    uint64_t outputs = 0;
    for (unsigned word = 0; word < site->kind.words; word++)
        for (uint64_t set = rows->words[word]; set;) {
            const struct noc_input *input = &inputs_of(site)[word * SETS_ROWS + pim_lowest_bit(set)];
            unsigned output = (unsigned)input->output >> site->kind.shift;
            outputs |= UINT64_C(1) << output;
            set &= ~site->port[output].to[word];
        }
    return outputs;
}

/* First member at or after `pointer`, which may be one behind the last row, else the lowest; the set is not
 * empty. */
static PIM_ALWAYS_INLINE unsigned first_row_from(const struct sets_site *site, const struct sets_rows *rows,
                                                 unsigned pointer)
{
    if (site->kind.words == 1)
        return pim_noc_first_from(rows->words[0], pointer % 64);
    unsigned word = pointer / 64 % site->kind.words;
    uint64_t set = rows->words[word] >> pointer % 64 << pointer % 64;
    while (!set) {
        word = word + 1 == site->kind.words ? 0 : word + 1;
        set = rows->words[word];
    }
    return word * 64 + pim_lowest_bit(set);
}

/* Those of `outputs` whose links pass something still in `cycle`, so that they can take no flit. */
static PIM_ALWAYS_INLINE uint64_t closed_in(const struct sets_site *site, uint64_t outputs, uint64_t cycle)
{
    uint64_t closed = 0;
    for (; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs);
        closed |= (uint64_t)!pim_noc_general_open(&site->out[output].busy, cycle) << output;
    }
    return closed;
}

/* Rows that may ask for the switch: with a virtual channel downstream, a flit, a credit and an open link. */
static PIM_ALWAYS_INLINE struct sets_rows ready_rows(const struct sets_site *site)
{
    struct sets_rows ready = {{0}};
    for (unsigned word = 0; word < site->kind.words; word++) {
        const struct sets_word *sets = &site->router->word[word];
        uint64_t shut = site->kind.narrow ? site->router->shut[word] : 0;
        ready.words[word] = sets->active & sets->filled & sets->credited & ~shut;
    }
    return ready;
}

/* Leaves those of `rows`, of which there are some, whose packets are of the most urgent class. Returns it. */
static PIM_NOINLINE unsigned keep_urgent(struct sets_site site, struct sets_rows *rows)
{
    unsigned most = PIM_NOC_CLASS_LIMIT;
    for (unsigned word = 0; word < site.kind.words; word++) {
        uint64_t kept = 0;
        for (uint64_t set = rows->words[word]; set; set &= set - 1) {
            unsigned class = inputs_of(&site)[word * 64 + pim_lowest_bit(set)].x;
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

/* Output-first, and islip, for the outputs in `winners`. */
static PIM_ALWAYS_INLINE void match_outputs_first(const struct sets_site *site, struct sets_winners *winners)
{
    uint64_t offered = 0, several = 0; /* inputs */
    struct sets_rows members;
    uint8_t class[SETS_PORTS];
    for (uint64_t outputs = winners->outputs; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs);
        (void)rows_to(site, &winners->ready, output, &members);
        if (site->kind.urgent)
            class[output] = (uint8_t)keep_urgent(*site, &members);
        unsigned pointer = (unsigned)site->port[output].grant << site->kind.shift;
        unsigned input = first_row_from(site, &members, pointer) >> site->kind.shift;
        winners->input[output] = (uint8_t)input;
        several |= offered & UINT64_C(1) << input;
        offered |= UINT64_C(1) << input;
    }
    for (; PIM_UNLIKELY(several != 0); several &= several - 1) {
        unsigned input = pim_lowest_bit(several);
        uint64_t offers = 0;
        for (uint64_t outputs = winners->outputs; outputs; outputs &= outputs - 1)
            offers |= (uint64_t)(winners->input[pim_lowest_bit(outputs)] == input) << pim_lowest_bit(outputs);
        uint64_t best = site->kind.urgent ? most_urgent(offers, class) : offers;
        unsigned accepted = pim_noc_first_from(best, site->port[input].accept % 64);
        winners->outputs &= ~offers | UINT64_C(1) << accepted;
    }
}

/* The input ports of the rows that want `output`. */
static PIM_ALWAYS_INLINE uint64_t askers(const struct sets_site *site, const struct sets_rows *ready,
                                         unsigned output)
{
    uint64_t inputs = 0;
    struct sets_rows members;
    (void)rows_to(site, ready, output, &members);
    for (unsigned word = 0; word < site->kind.words; word++)
        for (uint64_t set = members.words[word]; set;) {
            unsigned input = (word * 64 + pim_lowest_bit(set)) >> site->kind.shift;
            set &= ~((uint64_t)site->general->all << (input << site->kind.shift) % 64);
            inputs |= UINT64_C(1) << input;
        }
    return inputs;
}

/* Every input picks an output of those in `winners`, then every output one of the inputs that picked it. */
static inline void match_inputs_first(const struct sets_site *site, struct sets_winners *winners)
{
    uint64_t wishes[SETS_PORTS], pickers[SETS_PORTS], asking = 0;
    for (uint64_t outputs = winners->outputs; outputs; outputs &= outputs - 1)
        for (uint64_t inputs = askers(site, &winners->ready, pim_lowest_bit(outputs)); inputs;
             inputs &= inputs - 1) {
            unsigned input = pim_lowest_bit(inputs);
            wishes[input] = (asking >> input & 1 ? wishes[input] : 0) | (outputs & -outputs);
            asking |= UINT64_C(1) << input;
        }
    winners->outputs = 0;
    for (; asking; asking &= asking - 1) {
        unsigned input = pim_lowest_bit(asking);
        unsigned output = pim_noc_first_from(wishes[input], site->port[input].accept % 64);
        uint64_t bit = UINT64_C(1) << output;
        pickers[output] = (winners->outputs & bit ? pickers[output] : 0) | UINT64_C(1) << input;
        winners->outputs |= bit;
    }
    for (uint64_t outputs = winners->outputs; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs);
        winners->input[output] = (uint8_t)pim_noc_first_from(pickers[output], site->port[output].grant % 64);
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

/* Diagonal after diagonal, for the outputs in `winners`. */
static PIM_ALWAYS_INLINE void match_wavefront(const struct sets_site *site, struct sets_winners *winners)
{
    uint64_t on[SETS_PORTS], present = 0, free = 0; /* inputs by diagonal; diagonals; inputs */
    uint16_t *diagonal = &site->router->known->switch_diagonal;
    unsigned size = (unsigned)site->router->ports, pointer = *diagonal;
    if (!several_rows(site, &winners->ready)) {
        unsigned input = first_row_from(site, &winners->ready, 0) >> site->kind.shift;
        unsigned output = pim_lowest_bit(winners->outputs);
        winners->input[output] = (uint8_t)input;
        move_diagonal(site->sets->switch_allocator, diagonal, diagonals(input, output, pointer, size), size);
        return;
    }
    for (uint64_t outputs = winners->outputs; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs);
        for (uint64_t inputs = askers(site, &winners->ready, output); inputs; inputs &= inputs - 1) {
            unsigned input = pim_lowest_bit(inputs), distance = diagonals(input, output, pointer, size);
            on[distance] = (present >> distance & 1 ? on[distance] : 0) | (inputs & -inputs);
            present |= UINT64_C(1) << distance;
            free |= inputs & -inputs;
        }
    }
    move_diagonal(site->sets->switch_allocator, diagonal, pim_lowest_bit(present), size);
    uint64_t open = winners->outputs;
    for (winners->outputs = 0; present; present &= present - 1) {
        unsigned distance = pim_lowest_bit(present), from = wrap(pointer + distance, size);
        for (uint64_t inputs = on[distance] & free; inputs; inputs &= inputs - 1) {
            unsigned input = pim_lowest_bit(inputs), output = opposite(input, from, size);
            if (!(open >> output & 1))
                continue;
            open &= ~(UINT64_C(1) << output);
            free &= ~(inputs & -inputs);
            winners->outputs |= UINT64_C(1) << output;
            winners->input[output] = (uint8_t)input;
        }
    }
}

static PIM_ALWAYS_INLINE void allocate_switch(const struct sets_site *site, struct sets_winners *winners)
{
    winners->ready = ready_rows(site);
    winners->outputs = wanted_by(site, &winners->ready);
    if (site->kind.switch_allocator == PIM_NOC_SEPARABLE_INPUT_FIRST)
        match_inputs_first(site, winners);
    else if (!pim_noc_general_is_wavefront(site->kind.switch_allocator))
        match_outputs_first(site, winners);
    else if (winners->outputs)
        match_wavefront(site, winners);
}

/* The row that wins `output`: of those of its input that want it, the first one at or after the input's
 * turn. Pointers move. (Rows of this input have not changed in this cycle: it wins once.) */
static PIM_ALWAYS_INLINE unsigned winner(const struct sets_site *site, const struct sets_winners *winners,
                                         unsigned output)
{
    unsigned input = winners->input[output], first = input << site->kind.shift;
    uint64_t ready = winners->ready.words[place_of(site, first)] & *to_of(site, output, first);
    struct sets_port *port = &site->port[input];
    if (site->kind.urgent) {
        struct sets_rows rows = {{0}};
        rows.words[place_of(site, first)] = ready & (uint64_t)site->general->all << first % 64;
        (void)keep_urgent(*site, &rows);
        ready = rows.words[place_of(site, first)];
    }
    unsigned vc = pim_noc_first_from(vcs_of(site, ready, first), port->turn);
    port->turn = (uint8_t)(vc + 1);
    if (!pim_noc_general_is_wavefront(site->kind.switch_allocator)) {
        port->accept = (uint8_t)(output + 1);
        site->port[output].grant = (uint8_t)(input + 1);
    }
    return first + vc;
}

#endif
