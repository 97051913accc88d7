#include "tests/unit/core/reference.h"

#include <check.h>
#include <string.h>

#define NEVER UINT64_MAX

struct state {
    struct reference *r;
    uint64_t cycle, global_free;
    uint64_t port[REFERENCE_CORES];
    uint64_t step[REFERENCE_CORES][REFERENCE_LENGTH]; /* cycle of the next step of one under way */
    bool asks[REFERENCE_CORES][REFERENCE_LENGTH];     /* asked for the global memory in this cycle */
    uint32_t fetched[REFERENCE_CORES];
};

struct span {
    uint64_t from, to;
};

static bool meet(struct span a, struct span b)
{
    return a.from < a.to && b.from < b.to && a.from < b.to && b.from < a.to;
}

static uint64_t bytes_of(const struct pim_instruction *i, bool output)
{
    switch (i->opcode) {
    case PIM_OP_MVM:
        return output ? i->u.mvm.output_bytes : i->u.mvm.input_bytes;
    case PIM_OP_ARRAY_WRITE:
        return output ? 0 : i->u.array_write.bytes;
    case PIM_OP_LOCAL_VECTOR:
        return (uint64_t)i->u.local_vector.elements * ((i->u.local_vector.bits + 7) / 8);
    case PIM_OP_LOCAL_COPY:
        return (uint64_t)i->u.local_copy.bytes * i->u.local_copy.count;
    case PIM_OP_LOCAL_WRITE:
        return (uint64_t)i->u.local_write.bytes * i->u.local_write.count;
    default:
        return (uint64_t)i->u.transfer.bytes * i->u.transfer.count;
    }
}

static struct span written(const struct pim_instruction *i)
{
    uint64_t from = 0, bytes = bytes_of(i, true);
    if (i->opcode == PIM_OP_MVM)
        from = i->u.mvm.output_address;
    else if (i->opcode == PIM_OP_LOCAL_VECTOR)
        from = i->u.local_vector.destination;
    else if (i->opcode == PIM_OP_LOCAL_LOAD)
        from = i->u.transfer.local;
    else if (i->opcode == PIM_OP_LOCAL_COPY) {
        from = i->u.local_copy.destination;
        bytes = (uint64_t)(i->u.local_copy.count - 1) * i->u.local_copy.destination_stride +
                i->u.local_copy.bytes;
    } else if (i->opcode == PIM_OP_LOCAL_WRITE) {
        from = i->u.local_write.destination;
        bytes = (uint64_t)(i->u.local_write.count - 1) * i->u.local_write.stride + i->u.local_write.bytes;
    } else
        bytes = 0;
    return (struct span){from, from + bytes};
}

static struct span read_by(const struct pim_instruction *i, unsigned operand)
{
    uint64_t from = 0, bytes = bytes_of(i, false);
    if (i->opcode == PIM_OP_MVM && operand == 0)
        from = i->u.mvm.input_address;
    else if (i->opcode == PIM_OP_ARRAY_WRITE && operand == 0)
        from = i->u.array_write.source;
    else if (i->opcode == PIM_OP_LOCAL_VECTOR && operand < pim_local_sources(i->detail))
        from = operand ? i->u.local_vector.second : i->u.local_vector.source;
    else if (i->opcode == PIM_OP_LOCAL_STORE && operand == 0)
        from = i->u.transfer.local;
    else if (i->opcode == PIM_OP_LOCAL_COPY && operand == 0) {
        from = i->u.local_copy.source;
        bytes = (uint64_t)(i->u.local_copy.count - 1) * i->u.local_copy.source_stride + i->u.local_copy.bytes;
    } else
        bytes = 0;
    return (struct span){from, from + bytes};
}

static uint32_t group_of(const struct pim_instruction *i)
{
    return i->opcode == PIM_OP_ARRAY_WRITE ? i->u.array_write.group : i->u.mvm.group;
}

static bool in_the_way(const struct state *s, uint32_t core, uint32_t earlier, uint32_t later)
{
    const struct pim_instruction *a = &s->r->program[core][earlier], *b = &s->r->program[core][later];
    if (s->r->end[core][earlier] <= s->cycle)
        return false;
    if (s->r->configuration.in_order && pim_opcode_engine(a->opcode) != pim_opcode_engine(b->opcode))
        return true;
    bool hit = meet(written(a), written(b));
    for (unsigned operand = 0; operand < 2; operand++)
        hit = hit || meet(written(a), read_by(b, operand)) || meet(read_by(a, operand), written(b));
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++)
        hit = hit || (b->dependency[i] && b->dependency[i] == later - earlier);
    return hit;
}

static uint64_t port(struct state *s, uint32_t core, uint64_t at, uint64_t bytes, bool write)
{
    const struct pim_beats *local = &s->r->configuration.local;
    uint64_t beats = (bytes + local->width - 1) / local->width;
    uint64_t cycles = write ? local->write_cycles : local->read_cycles;
    if (bytes == 0)
        return at;
    uint64_t begin = at > s->port[core] ? at : s->port[core];
    s->port[core] = begin + (local->pipelined ? beats : beats * cycles);
    return s->port[core] + (local->pipelined && cycles ? cycles - 1 : 0);
}

static void ended(struct state *s, uint32_t core, uint32_t i, uint64_t at)
{
    uint64_t least = s->r->start[core][i] + 1;
    s->r->end[core][i] = at > least ? at : least;
    s->step[core][i] = NEVER;
}

/* Whether the engine of instruction i can take it: by looking at all that have started. */
static bool engine_free(const struct state *s, uint32_t core, uint32_t i)
{
    const struct pim_instruction *program = s->r->program[core];
    for (uint32_t j = 0; j < i; j++) {
        if (pim_opcode_engine(program[j].opcode) != pim_opcode_engine(program[i].opcode) ||
            program[j].opcode == PIM_OP_JOIN)
            continue;
        uint64_t start = s->r->start[core][j], end = s->r->end[core][j];
        if (start == NEVER)
            return false; /* in program order */
        if (pim_opcode_engine(program[i].opcode) == PIM_ENGINE_MATRIX) {
            if (group_of(&program[j]) == group_of(&program[i]) && end > s->cycle)
                return false;
        } else if (program[j].opcode == PIM_OP_LOCAL_LOAD) {
            if (start >= s->cycle)
                return false;
        } else if (program[j].opcode == PIM_OP_LOCAL_STORE) {
            if (s->step[core][j] != NEVER && s->step[core][j] > s->cycle)
                return false; /* it still reads */
        } else if (end > s->cycle)
            return false;
    }
    return true;
}

static void start(struct state *s, uint32_t core, uint32_t i)
{
    const struct pim_cores_configuration *c = &s->r->configuration;
    const struct pim_instruction *instruction = &s->r->program[core][i];
    uint64_t at = s->cycle, least = s->cycle + 1;
    s->r->start[core][i] = s->cycle;
    switch (instruction->opcode) {
    case PIM_OP_MVM:
        s->step[core][i] = port(s, core, at, instruction->u.mvm.input_bytes, false) + s->r->mvm_cycles;
        break;
    case PIM_OP_ARRAY_WRITE:
        s->step[core][i] = port(s, core, at, instruction->u.array_write.bytes, false) +
                           instruction->u.array_write.rows * c->crossbar.write_row_cycles;
        break;
    case PIM_OP_LOCAL_VECTOR:
        for (unsigned operand = 0; operand < pim_local_sources(instruction->detail); operand++)
            at = port(s, core, at, bytes_of(instruction, false), false);
        uint64_t beats = (instruction->u.local_vector.elements + c->vector_elements - 1) / c->vector_elements;
        s->step[core][i] = at + (c->vector_pipelined ? beats + c->vector_cycles : beats * c->vector_cycles);
        break;
    case PIM_OP_LOCAL_LOAD:
        s->asks[core][i] = true;
        break;
    case PIM_OP_LOCAL_STORE:
        at = port(s, core, at, bytes_of(instruction, false), false);
        s->step[core][i] = at > least ? at : least;
        break;
    case PIM_OP_LOCAL_COPY:
        at = port(s, core, at, bytes_of(instruction, false), false);
        ended(s, core, i, port(s, core, at, bytes_of(instruction, false), true));
        break;
    default:
        ended(s, core, i, port(s, core, at, bytes_of(instruction, true), true));
        break;
    }
}

/* False when there was nothing to do. */
static bool take_steps(struct state *s, uint32_t core)
{
    bool any = false;
    for (uint32_t i = 0; i < s->r->length[core]; i++) {
        const struct pim_instruction *instruction = &s->r->program[core][i];
        if (s->step[core][i] != s->cycle)
            continue;
        any = true;
        if (instruction->opcode == PIM_OP_LOCAL_STORE) {
            s->step[core][i] = NEVER;
            s->asks[core][i] = true;
        } else
            ended(s, core, i, port(s, core, s->cycle, bytes_of(instruction, true), true));
    }
    return any;
}

/* Joins and the window. */
static void fetch(struct state *s, uint32_t core)
{
    for (;; s->fetched[core]++) {
        uint32_t next = s->fetched[core], oldest = 0;
        while (oldest < next && s->r->end[core][oldest] <= s->cycle)
            oldest++;
        if (next == s->r->length[core] || next - oldest >= s->r->configuration.window)
            return;
        if (s->r->program[core][next].opcode == PIM_OP_JOIN) {
            if (oldest < next)
                return;
            s->r->start[core][next] = s->r->end[core][next] = s->cycle;
        }
    }
}

static void start_all(struct state *s, uint32_t core)
{
    static const enum pim_engine engines[] = {PIM_ENGINE_MATRIX, PIM_ENGINE_VECTOR, PIM_ENGINE_MEMORY};
    for (unsigned e = 0; e < 3; e++)
        for (uint32_t i = 0; i < s->fetched[core]; i++) {
            if (pim_opcode_engine(s->r->program[core][i].opcode) != engines[e] ||
                s->r->start[core][i] != NEVER)
                continue;
            bool free = engine_free(s, core, i);
            for (uint32_t j = 0; j < i && free; j++)
                free = !in_the_way(s, core, j, i);
            if (!free)
                break; /* in program order */
            start(s, core, i);
        }
}

static void serve_global(struct state *s)
{
    const struct pim_beats *global = &s->r->configuration.global;
    for (uint32_t core = 0; core < s->r->cores; core++)
        /* of one core in one cycle: a store whose read ended goes before a load that starts */
        for (unsigned turn = 0; turn < 2; turn++)
            for (uint32_t i = 0; i < s->r->length[core]; i++) {
                const struct pim_instruction *instruction = &s->r->program[core][i];
                bool store = instruction->opcode == PIM_OP_LOCAL_STORE;
                if (!s->asks[core][i] || store != (turn == 0))
                    continue;
                s->asks[core][i] = false;
                uint64_t beats = 0, cycles = store ? global->write_cycles : global->read_cycles;
                if (instruction->u.transfer.stride == instruction->u.transfer.bytes ||
                    instruction->u.transfer.count == 1)
                    beats = (bytes_of(instruction, true) + global->width - 1) / global->width;
                else
                    for (uint32_t piece = 0; piece < instruction->u.transfer.count; piece++)
                        beats += (instruction->u.transfer.bytes + global->width - 1) / global->width;
                if (s->global_free < s->cycle)
                    s->global_free = s->cycle;
                s->global_free += global->pipelined ? beats : beats * cycles;
                uint64_t end = s->global_free + (global->pipelined && cycles ? cycles - 1 : 0);
                if (end <= s->cycle)
                    end = s->cycle + 1;
                if (store)
                    ended(s, core, i, end);
                else
                    s->step[core][i] = end;
            }
}

void reference_run(struct reference *reference)
{
    struct state s = {.r = reference};
    memset(s.step, 0xff, sizeof s.step);
    memset(reference->start, 0xff, sizeof reference->start);
    memset(reference->end, 0xff, sizeof reference->end);
    for (bool done = false; !done; s.cycle++) {
        ck_assert_uint_lt(s.cycle, 1000000);
        done = true;
        for (uint32_t core = 0; core < reference->cores; core++) {
            (void)take_steps(&s, core);
            do { /* what starts may have its next step in this cycle already */
                fetch(&s, core);
                start_all(&s, core);
            } while (take_steps(&s, core));
            for (uint32_t i = 0; i < reference->length[core]; i++)
                done = done && reference->end[core][i] <= s.cycle;
        }
        serve_global(&s);
    }
}
