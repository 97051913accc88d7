/* Whose instruction is timed next, and phases: timing.h. */
#include "mappers/pimcomp/cost/timing_internal.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SERVER_KEPT = 12, SERVED_KEPT = 6 }; /* a power of two: intervals of a chip's servers, of a link */
enum { QUEUED_MOST = 1 << 20 };             /* instructions that wait for their turn */

/* --- life --- */

static void count_groups(const struct pim_core_mapping *mapping, struct pim_core_timing *t)
{
    for (uint32_t i = 0; i < mapping->network->count; i++) {
        size_t groups = mapping->partition->layer[i].groups;
        size_t all = groups ? groups * mapping->layout->layer[i].replicas : 0;
        for (size_t g = 0; g < all; g++)
            t->core[mapping->layout->layer[i].core[g]].groups++;
    }
}

static bool make_core(struct pim_core_timing *t, uint32_t number)
{
    const struct pim_core_architecture *a = &t->a;
    struct pim_timing_core *core = &t->core[number];
    core->number = number;
    core->chip =
        number / a->width / a->chip_height * (a->width / a->chip_width) + number % a->width / a->chip_width;
    core->window = PIM_ARENA_ITEMS(&t->arena, struct pim_timing_entry, (size_t)t->mask + 1);
    core->obstacles = PIM_ARENA_ITEMS(&t->arena, uint64_t, ((size_t)t->mask + 1) * t->words);
    core->lines = PIM_ARENA_ARRAY(&t->arena, struct pim_timing_lines, t->words);
    core->group_free = PIM_ARENA_ARRAY(&t->arena, uint64_t, (size_t)core->groups + 1);
    core->group_mvms = PIM_ARENA_ARRAY(&t->arena, uint64_t, (size_t)core->groups + 1);
    core->group_holder =
        PIM_ARENA_ARRAY(&t->arena, const struct pim_timing_entry *, (size_t)core->groups + 1);
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++) {
        core->engine[engine].sequence = PIM_ARENA_ITEMS(&t->arena, uint64_t, (size_t)t->mask + 1);
        if (!core->engine[engine].sequence)
            return false;
    }
    return core->window && core->obstacles && core->lines && core->group_free && core->group_mvms &&
           core->group_holder;
}

/* The links of routers of a mesh, to their neighbours and their cores. */
static bool make_links(struct pim_core_timing *t)
{
    size_t links = (size_t)t->a.cores * PIM_MACHINE_LINKS;
    if (t->a.connection != PIM_CORE_MESH || t->a.network.order == PIM_MACHINE_NO_ORDER)
        return true;
    if (t->a.synchronous) {
        t->shared = PIM_ARENA_ARRAY(&t->arena, struct pim_timing_link, links);
        for (size_t i = 0; t->shared && i < links; i++)
            if (!pim_timing_link_make(&t->shared[i], &t->arena))
                return false;
        return t->shared != NULL;
    }
    t->served = PIM_ARENA_ARRAY(&t->arena, struct pim_server, links);
    for (size_t i = 0; t->served && i < links; i++)
        if (!pim_server_make(&t->served[i], SERVED_KEPT, &t->arena))
            return false;
    return t->served != NULL;
}

static bool make(struct pim_core_timing *t, const struct pim_core_mapping *mapping)
{
    const struct pim_core_architecture *a = &t->a;
    t->chips = pim_core_chips(a);
    t->core = PIM_ARENA_ARRAY(&t->arena, struct pim_timing_core, a->cores);
    t->server = PIM_ARENA_ARRAY(&t->arena, struct pim_server, (size_t)t->chips * PIM_SERVERS);
    t->memory = PIM_ARENA_ARRAY(&t->arena, uint64_t, t->chips);
    for (t->mask = 1; t->mask / 2 < a->window; t->mask = 2 * t->mask + 1) {
    }
    for (t->slots = 1; t->slots < a->window; t->slots *= 2) {
    }
    t->words = pim_divide_up32(t->slots, PIM_TIMING_WORD);
    t->nodes = t->mask + 1 + PIM_ENGINE_CONTROL;
    t->heap = PIM_ARENA_ARRAY(&t->arena, struct pim_timing_turn, t->nodes * (size_t)a->cores);
    if (!t->core || !t->server || !t->memory || !t->heap)
        return false;
    for (uint32_t i = 0; i < t->chips * PIM_SERVERS; i++)
        if (!pim_server_make(&t->server[i], SERVER_KEPT, &t->arena))
            return false;
    if (!make_links(t))
        return false;
    count_groups(mapping, t);
    for (uint32_t i = 0; i < a->cores; i++)
        if (!make_core(t, i))
            return false;
    return true;
}

struct pim_core_timing *pim_core_timing_create(const struct pim_core_mapping *mapping)
{
    struct pim_core_timing *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    pim_arena_initialize(&t->arena, 1 << 20);
    t->a = *mapping->architecture;
    t->grid = pim_machine_grid(&t->a.network, t->a.width, t->a.height);
    if (make(t, mapping))
        return t;
    pim_core_timing_destroy(t);
    return NULL;
}

void pim_core_timing_destroy(struct pim_core_timing *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; t->core && i < t->a.cores; i++)
        free(t->core[i].queue);
    pim_arena_terminate(&t->arena);
    free(t->phase);
    free(t);
}

/* --- phases --- */

/* Room for phase `number`; false: no memory. */
static bool reach_phase(struct pim_core_timing *t, uint32_t number)
{
    struct pim_timing_phase *grown =
        pim_array_grow(t->phase, &t->phases_room, (size_t)number + 1, sizeof *grown);
    if (!grown) {
        t->out_of_memory = true;
        return false;
    }
    t->phase = grown;
    for (; t->phases <= number; t->phases++) {
        t->phase[t->phases] = (struct pim_timing_phase){.end = 0};
        memset(t->memory, 0, t->chips * sizeof *t->memory);
    }
    return true;
}

static void leave_phase(struct pim_core_timing *t, struct pim_timing_core *core, uint32_t number)
{
    if (!reach_phase(t, number))
        return;
    uint64_t *parts = t->phase[number].of.estimate_parts, mvms = 0;
    for (uint32_t g = 0; g < core->groups; g++)
        mvms = pim_larger(mvms, core->group_mvms[g]);
    memset(core->group_mvms, 0, core->groups * sizeof *core->group_mvms);
    const uint64_t part[] = {[PIM_ESTIMATE_COMPUTE] = mvms * t->a.mvm_cycles,
                             [PIM_ESTIMATE_VECTOR] = core->vector,
                             [PIM_ESTIMATE_MEMORY] = t->memory[core->chip],
                             [PIM_ESTIMATE_TRANSFER] = core->transfer};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        parts[i] = pim_larger(parts[i], part[i]);
    core->vector = core->transfer = 0;
    t->phase[number].end = pim_larger(t->phase[number].end, core->latest);
}

/* --- turns --- */

static bool comes_before(const struct pim_timing_turn *a, const struct pim_timing_turn *b)
{
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->number < b->number;
}

/* `turn` in place of the first. */
static void put_first(struct pim_core_timing *t, struct pim_timing_turn turn)
{
    struct pim_timing_turn *heap = t->heap;
    uint32_t at = 0, child, count = t->heap_count;
    for (; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && comes_before(&heap[child + 1], &heap[child]);
        if (!comes_before(&heap[child], &turn))
            break;
        heap[at] = heap[child];
    }
    heap[at] = turn;
}

static void push(struct pim_core_timing *t, uint32_t number, uint64_t cycle)
{
    const struct pim_timing_turn turn = {cycle, number};
    if (t->first_taken) {
        t->first_taken = false;
        put_first(t, turn);
        return;
    }
    uint32_t at = t->heap_count++;
    for (; at > 0 && comes_before(&turn, &t->heap[(at - 1) / 2]); at = (at - 1) / 2)
        t->heap[at] = t->heap[(at - 1) / 2];
    t->heap[at] = turn;
}

static void control(struct pim_core_timing *t, struct pim_timing_core *core, const struct pim_instruction *i)
{
    core->fence = core->latest;
    core->behind = core->fetched;
    if (i->opcode == PIM_OP_PHASE_BEGIN)
        (void)reach_phase(t, i->u.control.phase);
    else if (i->opcode == PIM_OP_PHASE_END)
        leave_phase(t, core, i->u.control.phase);
}

/* The number of the next instruction of an engine in the heap. */
static uint32_t head_of(const struct pim_core_timing *t, const struct pim_timing_core *core,
                        enum pim_engine engine)
{
    return core->number * t->nodes + t->mask + 1 + engine;
}

/* A message has its turn when the next send of one core and the next receive of the other are both ready. */
static void try_message(struct pim_core_timing *t, const struct pim_timing_core *from,
                        const struct pim_timing_core *to)
{
    const struct pim_timing_entry *send = pim_timing_next(t, from, PIM_ENGINE_SEND);
    const struct pim_timing_entry *receive = pim_timing_next(t, to, PIM_ENGINE_RECEIVE);
    if (from->engine[PIM_ENGINE_SEND].ready && send->due == 0 && to->engine[PIM_ENGINE_RECEIVE].ready &&
        send->instruction.u.network.peer == to->number && receive->instruction.u.network.peer == from->number)
        push(t, head_of(t, from, PIM_ENGINE_SEND), pim_timing_meeting(t, from, to));
}

/* The next instruction of an engine waits for its turn, or for an end that is not known. */
static void look(struct pim_core_timing *t, struct pim_timing_core *core, enum pim_engine engine)
{
    const struct pim_timing_entry *entry = pim_timing_next(t, core, engine);
    if (!entry || core->engine[engine].ready || !pim_timing_ready(t, core, engine))
        return;
    if (engine == PIM_ENGINE_SEND)
        try_message(t, core, &t->core[entry->instruction.u.network.peer]);
    else if (engine == PIM_ENGINE_RECEIVE)
        try_message(t, &t->core[entry->instruction.u.network.peer], core);
    else
        push(t, head_of(t, core, engine), entry->start);
}

/* Fetches as long as the window has room and no join waits. */
static void fetch(struct pim_core_timing *t, struct pim_timing_core *core)
{
    for (; core->queued > 0;
         core->queued--, t->queued--, core->first = (core->first + 1) & (core->room - 1)) {
        const struct pim_instruction *i = &core->queue[core->first];
        enum pim_engine engine = pim_opcode_engine(i->opcode);
        if (engine == PIM_ENGINE_CONTROL) {
            if (core->open > 0)
                return;
            control(t, core, i);
            continue;
        }
        if (core->fetched - core->behind >= t->a.window) {
            uint64_t end = pim_timing_at(t, core, core->fetched - t->a.window)->end;
            if (end == PIM_TIMING_UNKNOWN)
                return;
            core->retired = pim_larger(core->retired, end);
        }
        struct pim_timing_entry *entry = pim_timing_at(t, core, core->fetched);
        *entry = (struct pim_timing_entry){.instruction = *i,
                                           .sequence = core->fetched++,
                                           .start = pim_larger(core->fence, core->retired),
                                           .end = PIM_TIMING_UNKNOWN,
                                           .engine = engine};
        pim_timing_touch(t, core, entry);
        core->open++;
        struct pim_timing_engine *e = &core->engine[engine];
        e->sequence[e->tail++ & t->mask] = entry->sequence;
        if (e->tail - e->head == 1)
            look(t, core, engine);
    }
}

/* An instruction has started or ended: what comes next in its engine; when its end is known also what waited
 * for it, and what has room now, else it has a turn of its own. */
static void go_on(struct pim_core_timing *t, struct pim_timing_core *core,
                  const struct pim_timing_entry *entry)
{
    look(t, core, entry->engine);
    if (entry->end == PIM_TIMING_UNKNOWN) {
        push(t, core->number * t->nodes + (uint32_t)(entry->sequence & t->mask), entry->due);
        return;
    }
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
        if (core->engine[engine].blocker == entry)
            look(t, core, (enum pim_engine)engine);
    fetch(t, core);
}

/* Times what has its turn. */
static void time_turn(struct pim_core_timing *t, uint32_t number)
{
    uint32_t node = number % t->nodes;
    struct pim_timing_core *core = &t->core[number / t->nodes];
    if (node <= t->mask) {
        struct pim_timing_entry *entry = &core->window[node];
        pim_timing_end(t, core, entry);
        go_on(t, core, entry);
        return;
    }
    struct pim_timing_entry *entry = pim_timing_next(t, core, (enum pim_engine)(node - t->mask - 1));
    if (entry->engine != PIM_ENGINE_SEND) {
        pim_timing_execute(t, core, entry);
        go_on(t, core, entry);
        return;
    }
    struct pim_timing_core *to = &t->core[entry->instruction.u.network.peer];
    const struct pim_timing_entry *receive = pim_timing_next(t, to, PIM_ENGINE_RECEIVE);
    pim_timing_pass(t, core, to);
    go_on(t, core, entry);
    go_on(t, to, receive);
}

static void step(struct pim_core_timing *t)
{
    t->first_taken = true;
    t->now = t->heap[0].cycle;
    time_turn(t, t->heap[0].number);
    if (!t->first_taken)
        return;
    t->first_taken = false; /* nothing took its place: the last does */
    if (--t->heap_count > 0)
        put_first(t, t->heap[t->heap_count]);
}

static bool enlarge(struct pim_timing_core *core)
{
    uint32_t room = core->room ? 2 * core->room : 64;
    struct pim_instruction *queue = malloc((size_t)room * sizeof *queue);
    if (!queue)
        return false;
    for (uint32_t i = 0; i < core->queued; i++)
        queue[i] = core->queue[(core->first + i) & (core->room - 1)];
    free(core->queue);
    core->queue = queue;
    core->room = room;
    core->first = 0;
    return true;
}

/* --- the whole --- */

void pim_core_timing_observe(void *context, uint32_t number, const struct pim_instruction *instruction)
{
    struct pim_core_timing *t = context;
    struct pim_timing_core *core = &t->core[number];
    if (core->queued == core->room && !enlarge(core)) {
        t->out_of_memory = true;
        return;
    }
    core->queue[(core->first + core->queued++) & (core->room - 1)] = *instruction;
    t->queued++;
    t->instructions++;
    fetch(t, core);
    if (t->queued > QUEUED_MOST)
        while (t->heap_count > 0 && t->queued > QUEUED_MOST / 2)
            step(t);
}

uint64_t pim_core_timing_instructions(const struct pim_core_timing *t)
{
    return t->instructions;
}

enum pim_status pim_core_timing_report(struct pim_core_timing *t, struct pim_trace_writer *writer,
                                       uint64_t *cycles, uint64_t parts[PIM_ESTIMATE_PARTS],
                                       struct pim_error *error)
{
    *cycles = 0;
    memset(parts, 0, PIM_ESTIMATE_PARTS * sizeof *parts);
    while (t->heap_count > 0)
        step(t);
    if (t->out_of_memory)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the estimates of %" PRIu32 " phases", t->phases);
    for (uint32_t i = 0; i < t->phases; i++) {
        struct pim_trace_phase phase = t->phase[i].of;
        phase.estimate_cycles = t->phase[i].end > *cycles ? t->phase[i].end - *cycles : 0;
        *cycles = pim_larger(*cycles, t->phase[i].end);
        for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
            parts[part] += phase.estimate_parts[part];
        if (writer)
            pim_trace_writer_set_estimate(writer, i, &phase);
    }
    return PIM_OK;
}
