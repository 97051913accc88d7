/*
 * One cycle of an input-queued virtual-channel router, in the order in which
 * the hardware applies the rules of docs/models/noc.md.
 *
 * 1. All decisions of a cycle use the state before any update of that cycle:
 * the switch is decided before a head takes a virtual channel, and flits leave
 * after both. (When virtual channels are allocated in advance: heads.h.)
 */
#include "models/noc/mesh/buffers.h"
#include "models/noc/mesh/channels.h"
#include "models/noc/mesh/express.h"
#include "models/noc/mesh/heads.h"
#include "models/noc/mesh/prefetch.h"
#include "models/noc/mesh/switch.h"

#include <assert.h>
#include <string.h>

/* The tail has left its row: the virtual channel downstream may be free, and
 * the next packet begins. */
static PIM_ALWAYS_INLINE void end_packet(const struct noc_site *site, struct noc_outcome *outcome,
                                         struct noc_kind kind, unsigned row)
{
    struct noc_input *input = input_of(site, kind, row);
    struct noc_sets *sets = sets_of(site, kind, row), *outputs = sets_of(site, kind, input->output);
    sets->active &= ~bit_of(row);
    sets->credited &= ~bit_of(row);
    sets->to[port_of(site, kind, input->output)] &= ~bit_of(row);
    if (!kind.early && site->noc->configuration.wait_for_tail_credit)
        outputs->tail_sent |= bit_of(input->output);
    else
        outputs->free |= bit_of(input->output);
    outcome->ended.words[kind.words == 1 ? 0 : row / 64] |= bit_of(row);
    if (!input->more) {
        input->front = NOC_NO_PACKET;
        return;
    }
    follow(site, row, input);
    begin_packet(site, kind, row, true);
}

/* With input speedup a port may send several flits: their credits go together.
 */
struct returned {
    uint32_t credits[NOC_PORTS]; /* virtual channels by input port */
    unsigned tails, others;      /* input ports that sent a tail; another flit */
};

/* The low half of a long packet's flits has reached 0. */
static bool is_last(const struct noc_site *site, unsigned row)
{
    uint16_t *high = &site->mesh->left_high[site->node * pim_noc_rows(site->mesh) + row];
    if (*high == 0)
        return true;
    --*high;
    return false;
}

/* The flit at the front of an active row leaves its buffer. */
static PIM_ALWAYS_INLINE void send_flit(const struct noc_site *site, struct noc_outcome *outcome,
                                        struct noc_kind kind, unsigned row, unsigned output,
                                        struct returned *returned)
{
    struct noc_router *router = site->router;
    struct noc_input *input = input_of(site, kind, row);
    unsigned to = input->output, port = port_of(site, kind, row);
    struct noc_sets *sets = sets_of(site, kind, row), *outputs = sets_of(site, kind, to);
    uint32_t index = input->front;
    bool tail = --input->left == 0;
    if (!kind.brief && tail && !(input->next & NOC_SHORT))
        tail = is_last(site, row);
    unsigned flit = input->next | (unsigned)tail * NOC_TAIL, lone = kind.brief ? NOC_SHORT : flit & NOC_LONE;
    outcome->grants = outcome->grants << 8 | (row + 1);
    outcome->noisy |= kind.brief || (flit & (NOC_HEAD | NOC_LONE)) != 0;
    router->link_flits[output]++;
    input->next &= (uint8_t)~NOC_HEAD;
    if (kind.routed && flit & NOC_HEAD)
        count_hop(site, kind, index, output);
    sets->filled &= ~((uint64_t)(--input->count == 0) << row % 64);
    if (PIM_UNLIKELY(--router->outputs[to].credits == 0)) {
        outputs->nonfull &= ~bit_of(to);
        sets->credited &= ~bit_of(row);
    }
    if (output == PIM_NOC_EJECT) {
        uint64_t consumed = site->cycle + site->mesh->timing.ejection;
        if (flit & NOC_HEAD)
            site->noc->packets[index].head_arrived = consumed;
        if (tail)
            pim_noc_mesh_deliver_at(site->noc, consumed, index);
        return_credit(site, outcome, kind, NOC_EJECTED, vc_of(site, kind, to), lone);
    } else {
        write_flit(site, outcome, kind, output, vc_of(site, kind, to) << 8 | flit, input);
    }
    if (kind.plain) {
        return_credit(site, outcome, kind, port, vc_of(site, kind, row), lone);
    } else {
        returned->credits[port] |= UINT32_C(1) << vc_of(site, kind, row);
        *(lone ? &returned->tails : &returned->others) |= 1U << port;
        hold_switch(site, kind, row, tail);
    }
    if (tail)
        end_packet(site, outcome, kind, row);
}

/* A head won the switch while it asked for a virtual channel: the win counts
 * when it got one, with a credit, in this cycle. */
static inline bool speculation_succeeds(const struct noc_site *site, struct noc_outcome *outcome,
                                        struct noc_kind kind, unsigned row)
{
    struct noc_sets *sets = sets_of(site, kind, row);
    outcome->noisy = true;
    if (sets->bidding & bit_of(row) || !(sets->credited & bit_of(row)))
        return false;
    sets->allocated &= ~bit_of(row);
    sets->active |= bit_of(row);
    return true;
}

/* Counts the links that are blocked in this cycle: nothing was sent, and `rows` asked for it in vain. */
static PIM_NOINLINE void count_blocked(struct noc_router *router, unsigned words, struct noc_rows rows)
{
    unsigned blocked = 0;
    for (unsigned output = 0; output < NOC_PORTS; output++) {
        uint64_t any = 0;
        for (unsigned word = 0; word < words; word++)
            any |= rows.words[word] & router->sets[word].to[output];
        router->link_blocked[output] += any != 0;
        blocked |= (unsigned)(any != 0) << output;
    }
    router->blocked = (uint8_t)blocked;
}

/* VC allocation beside that of the switch. `asking` are the rows with a flit for the switch; then those that
 * ask for anything. `waiting`: the heads that got no virtual channel of this cycle in advance. */
static PIM_ALWAYS_INLINE void allocate(const struct noc_site *site, struct noc_outcome *outcome,
                                       struct noc_kind kind, const struct noc_rows *waiting,
                                       struct noc_rows *asking)
{
    if (!in_advance(kind))
        serve_heads(site, outcome, kind);
    for (unsigned word = 0; word < kind.words; word++) {
        struct noc_sets *sets = &site->router->sets[word];
        asking->words[word] |= in_advance(kind) ? waiting->words[word] : sets->bidding;
        if (in_advance(kind)) {
            sets->active |= sets->allocated;
            sets->allocated = 0;
        }
    }
}

/* Switch and VC allocation, then the flits that leave. */
static PIM_ALWAYS_INLINE void allocate_and_send(const struct noc_site *site, struct noc_outcome *outcome,
                                                struct noc_kind kind, const struct noc_rows *waiting)
{
    struct winners winners;
    struct returned returned;
    if (!kind.plain)
        returned = (struct returned){0};
    unsigned speculative = 0;
    struct noc_rows asking;
    for (unsigned word = 0; word < kind.words; word++)
        asking.words[word] = site->router->sets[word].active & site->router->sets[word].filled;
    if (kind.plain)
        allocate_plain(site, kind, &winners);
    else
        speculative = allocate_switch(site, kind, &winners);
    allocate(site, outcome, kind, waiting, &asking);
    for (unsigned outputs = winners.outputs; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs);
        unsigned row = kind.plain ? plain_winner(site, kind, &winners, output) : winners.rows[output];
        if (!kind.plain && speculative >> output & 1 && !speculation_succeeds(site, outcome, kind, row))
            continue;
        for (unsigned word = 0; word < kind.words; word++)
            asking.words[word] &= ~site->router->sets[word].to[output];
        send_flit(site, outcome, kind, row, output, &returned);
    }
    site->router->blocked = 0;
    if (PIM_UNLIKELY(any_row(kind, &asking)))
        count_blocked(site->router, kind.words, asking);
    if (kind.plain)
        return;
    for (unsigned ports = returned.tails | returned.others; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        write_credits(site, outcome, port, returned.credits[port], !(returned.others >> port & 1));
    }
}

/* All stages of one cycle. */
static PIM_ALWAYS_INLINE void run_cycle(const struct noc_site *site, struct noc_outcome *outcome,
                                        struct noc_kind kind)
{
    bool quiet = is_quiet(site->router, kind);
    struct noc_rows waiting = bidding_rows(site, kind);
    if (kind.plain)
        advance_stages(site, outcome, kind);
    write_buffers(site, outcome, kind, quiet);
    if (!quiet || site->slot->credit_ports)
        take_credits(site, outcome, kind);
    if (!kind.plain)
        advance_stages(site, outcome, kind);
    allocate_and_send(site, outcome, kind, &waiting);
    if (in_advance(kind))
        serve_heads_in_advance(site, outcome, kind);
    if (!kind.brief && (!quiet || outcome->flit_streams | outcome->credit_streams))
        write_silence(site, outcome);
    site->router->grants = outcome->grants;
}

static struct noc_kind kind_of(const struct noc_mesh *mesh)
{
    return (struct noc_kind){.plain = mesh->plain,
                             .words = (uint8_t)mesh->words,
                             .early = mesh->early_credits,
                             .routed = mesh->routed};
}

static PIM_NOINLINE void run_again(struct noc_site site, struct noc_outcome *outcome, struct noc_kind kind)
{
    run_cycle(&site, outcome, kind);
}

void pim_noc_router_repeat(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    static const struct noc_slot nothing;
    const struct noc_mesh *mesh = noc->mesh;
    struct noc_kind kind = kind_of(mesh);
    struct noc_site site = site_of(noc, kind, node, cycle);
    struct noc_outcome outcome = {0};
    site.slot = &nothing;
    run_again(site, &outcome, kind);
    assert(!outcome.noisy && !outcome.wrote_change);
}

/* Nothing will happen in the next cycles unless a channel changes. */
static PIM_ALWAYS_INLINE bool dormant(const struct noc_router *router, struct noc_kind kind)
{
    uint64_t filled = !is_quiet(router, kind);
    for (unsigned word = 0; word < kind.words; word++)
        filled |= router->sets[word].filled;
    return filled == 0;
}

/* The last of the cycles that were done in advance (express.h), in which credits change after all: what the
 * streams had brought is taken back. */
static PIM_NOINLINE void correct_last(struct noc_site site, struct noc_kind kind)
{
    struct noc_router *router = site.router;
    struct noc_activity *carries = &router->carries;
    for (unsigned ports = site.slot->credit_ports & carries->credit_streams; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        for (uint32_t set = router->credit_in[port]; set; set &= set - 1) {
            unsigned row = row_of(&site, kind, port, pim_lowest_bit(set));
            struct noc_sets *sets = sets_of(&site, kind, row);
            if (--router->outputs[row].credits > 0)
                continue;
            sets->nonfull &= ~bit_of(row);
            unsigned owner = router->outputs[row].owner;
            if (!(sets->free & bit_of(row)))
                sets_of(&site, kind, owner)->credited &= ~bit_of(owner);
        }
    }
    struct noc_outcome outcome = {0};
    unsigned streams = carries->credit_streams & ~(unsigned)site.slot->credit_ports;
    carries->credit_streams = 0;
    take_credits(&site, &outcome, kind);
    carries->credit_streams |= (uint8_t)streams;
    router->planned = router->calm_since = router->clean_since = router->since;
}

/* Returns whether it has to be evaluated in the next cycle. */
static PIM_ALWAYS_INLINE bool evaluate(const struct noc_site *site, struct noc_kind kind)
{
    struct noc_router *router = site->router;
    uint64_t cycle = site->cycle;
    struct noc_outcome outcome = {.read_change = site->slot->flit_ports | site->slot->credit_ports};
    if (PIM_UNLIKELY((cycle < router->planned) & !outcome.read_change)) {
        pim_noc_sleep_on(site->mesh, site->node, cycle);
        return false;
    }
    site->noc->statistics.router_evaluations++;
    struct noc_slot *slot = &site->mesh->now[site->node];
    if (!kind.brief && in_advance(kind) &&
        PIM_UNLIKELY((router->since > cycle) & (router->since != UINT64_MAX))) {
        correct_last(*site, kind);
        slot->credit_ports = slot->credit_once = 0;
        return true;
    }
    unsigned arriving = slot->flit_ports;
    if (in_advance(kind) && router->planned > cycle + 1 && (arriving & (arriving - 1)) == 0 && arriving &&
        express(site, kind)) {
        slot->flit_ports = slot->head_ports = 0;
        return false;
    }
    if (PIM_UNLIKELY(router->since < cycle))
        pim_noc_router_settle(site->noc, site->node, cycle);
    router->since = router->planned = cycle + 1;
    router->period = 1;
    struct noc_switch arbiter;
    size_t bytes = kind.plain ? (size_t)NOC_PLAIN_SWITCH : sizeof arbiter;
    if (!kind.brief)
        memcpy(&arbiter, &router->arbiter, bytes);
    uint64_t filled[NOC_WORDS_LIMIT], nonfull[NOC_WORDS_LIMIT], differences = 0;
    for (unsigned word = 0; word < kind.words; word++) {
        filled[word] = router->sets[word].filled;
        nonfull[word] = router->sets[word].nonfull;
    }
    run_cycle(site, &outcome, kind);
    slot->flit_ports = slot->head_ports = slot->credit_ports = slot->credit_once = 0;

    if (PIM_LIKELY(outcome.noisy)) {
        router->calm_since = router->clean_since = cycle + 1;
        if (!dormant(router, kind))
            return true;
        router->planned = router->since = UINT64_MAX; /* nothing to account for */
        router->grants = 0;
        return false;
    }
    for (unsigned word = 0; word < kind.words; word++)
        differences |=
            (filled[word] ^ router->sets[word].filled) | (nonfull[word] ^ router->sets[word].nonfull);
    bool same = differences == 0 && (kind.brief || memcmp(&arbiter, &router->arbiter, bytes) == 0);
    struct noc_calm step = {outcome.read_change, outcome.wrote_change, same};
    return pim_noc_plan_calm(site->noc, site->node, cycle, step);
}

/* Evaluates the routers in the agenda for `cycle`. */
static PIM_ALWAYS_INLINE void run_routers(struct pim_noc *noc, uint64_t cycle, struct noc_kind kind)
{
    struct noc_mesh *mesh = noc->mesh;
    struct pim_noc_visit visit = pim_noc_visit(&mesh->router_wheel, cycle);
    while (pim_noc_visit_word(&visit)) {
        uint64_t again = 0;
        for (; visit.units; visit.units &= visit.units - 1) {
            unsigned unit = pim_lowest_bit(visit.units);
            if (PIM_UNLIKELY(mesh->large))
                prefetch_next(mesh, kind, &visit);
            struct noc_site site = site_of(noc, kind, visit.word * 64 + unit, cycle);
            again |= (uint64_t)evaluate(&site, kind) << unit;
        }
        if (again)
            pim_noc_wake_word(&mesh->next_routers, visit.word, again);
    }
}

/* The kinds. The usual ones are there twice: the second time for processors with instructions for sets of
 * bits. */
static const struct noc_kind brief = {.plain = true, .words = 1, .early = true, .brief = true};
static const struct noc_kind usual = {.plain = true, .words = 1, .early = true};
static const struct noc_kind brief_routed = {
    .plain = true, .words = 1, .early = true, .routed = true, .brief = true};
static const struct noc_kind usual_routed = {.plain = true, .words = 1, .early = true, .routed = true};

static void run_brief(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, brief);
}

static void run_usual(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, usual);
}

static void run_brief_routed(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, brief_routed);
}

static void run_usual_routed(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, usual_routed);
}

static PIM_BIT_MANIPULATION void run_brief_by_bits(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, brief);
}

static PIM_BIT_MANIPULATION void run_usual_by_bits(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, usual);
}

static PIM_BIT_MANIPULATION void run_brief_routed_by_bits(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, brief_routed);
}

static PIM_BIT_MANIPULATION void run_usual_routed_by_bits(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, usual_routed);
}

static void run_wide(struct pim_noc *noc, uint64_t cycle)
{
    const struct noc_mesh *mesh = noc->mesh;
    run_routers(noc, cycle,
                (struct noc_kind){
                    .plain = true, .words = (uint8_t)mesh->words, .early = true, .routed = mesh->routed});
}

static void run_any(struct pim_noc *noc, uint64_t cycle)
{
    const struct noc_mesh *mesh = noc->mesh;
    run_routers(noc, cycle, kind_of(mesh));
}

void pim_noc_choose_run(struct noc_mesh *mesh, bool bit_manipulation)
{
    /* by routed, and by the instructions */
    static const struct {
        void (*brief)(struct pim_noc *noc, uint64_t cycle), (*usual)(struct pim_noc *noc, uint64_t cycle);
    } single[2][2] = {
        {{run_brief, run_usual}, {run_brief_by_bits, run_usual_by_bits}},
        {{run_brief_routed, run_usual_routed}, {run_brief_routed_by_bits, run_usual_routed_by_bits}},
    };
    mesh->run = mesh->run_brief = mesh->plain && mesh->early_credits ? run_wide : run_any;
    if (mesh->run == run_wide && mesh->words == 1) {
        mesh->run = single[mesh->routed][bit_manipulation].usual;
        mesh->run_brief = single[mesh->routed][bit_manipulation].brief;
    }
}

void pim_noc_run_routers(struct pim_noc *noc, uint64_t cycle)
{
    const struct noc_mesh *mesh = noc->mesh;
    (mesh->brief ? mesh->run_brief : mesh->run)(noc, cycle);
}
