#include "traces/local.h"

#include "sim/status.h"

#include <assert.h>
#include <stddef.h>

static struct pim_local_pieces one(uint64_t address, uint64_t bytes)
{
    return (struct pim_local_pieces){.address = address, .bytes = bytes, .count = 1, .stride = 0};
}

/* Pieces that touch each other are one. */
static struct pim_local_pieces several(uint64_t address, uint64_t bytes, uint64_t count, uint64_t stride)
{
    if (count == 1 || stride == bytes)
        return one(address, bytes * count);
    return (struct pim_local_pieces){.address = address, .bytes = bytes, .count = count, .stride = stride};
}

/* Rows of the table as statements: those of spaces that are wanted. */
#define V(member) ((uint64_t)o->member)
#define ROW(name, form)                                                                                      \
    case PIM_OP_##name: {                                                                                    \
        const struct pim_operands_##form *const o = &instruction->u.form;                                    \
        (void)o;

enum { NODE = 1, GLOBAL = 2, LOCAL = 4, OWN = 8 };

void pim_local_access_of(const struct pim_instruction *instruction, struct pim_local_access *access)
{
    *access = (struct pim_local_access){.write = {.bytes = 0}};
    switch (instruction->opcode) {
#define OPCODE(number, name, mnemonic, engine, units, form, ...) ROW(name, form)
#define READS(space, place, part, address, bytes, count, stride)                                             \
    if ((space) & (LOCAL | OWN))                                                                             \
        access->read[place] = several(address, bytes, count, stride);
#define WRITES(space, part, address, bytes, count, stride)                                                   \
    if ((space) & (LOCAL | OWN))                                                                             \
        access->write = several(address, bytes, count, stride);
#define OPCODE_END(name)                                                                                     \
    break;                                                                                                   \
    }
#include "traces/opcodes.def"
    default:
        break;
    }
}

static inline struct pim_local_span span_of(uint64_t address, uint64_t bytes, uint64_t count, uint64_t stride)
{
    if (bytes == 0 || count == 0)
        return (struct pim_local_span){0, 0};
    const struct pim_local_pieces pieces = {address, bytes, count, stride};
    return (struct pim_local_span){address, pim_local_end(&pieces)};
}

void pim_local_spans_of(const struct pim_instruction *instruction,
                        struct pim_local_span spans[PIM_LOCAL_SPANS])
{
    spans[0] = spans[1] = spans[PIM_LOCAL_READS] = (struct pim_local_span){0, 0};
    switch (instruction->opcode) {
#define OPCODE(number, name, mnemonic, engine, units, form, ...) ROW(name, form)
#define READS(space, place, part, address, bytes, count, stride)                                             \
    if ((space) & (LOCAL | OWN))                                                                             \
        spans[place] = span_of(address, bytes, count, stride);
#define WRITES(space, part, address, bytes, count, stride)                                                   \
    READS(space, PIM_LOCAL_READS, part, address, bytes, count, stride)
#define OPCODE_END(name)                                                                                     \
    break;                                                                                                   \
    }
#include "traces/opcodes.def"
    default:
        break;
    }
}

static void raise_to(uint64_t *end, struct pim_local_pieces pieces)
{
    const uint64_t other = pim_local_end(&pieces);
    *end = other > *end ? other : *end;
}

/* The end of what an instruction touches in `spaces`. */
static PIM_ALWAYS_INLINE uint64_t end_in(const struct pim_instruction *instruction, unsigned spaces)
{
    uint64_t end = 0;
    switch (instruction->opcode) {
#define OPCODE(number, name, mnemonic, engine, units, form, ...) ROW(name, form)
#define READS(space, place, part, address, bytes, count, stride)                                             \
    WRITES(space, part, address, bytes, count, stride)
#define WRITES(space, part, address, bytes, count, stride)                                                   \
    if ((space)&spaces)                                                                                      \
        raise_to(&end, several(address, bytes, count, stride));
#define OPCODE_END(name)                                                                                     \
    break;                                                                                                   \
    }
#include "traces/opcodes.def"
    default:
        break;
    }
    return end;
}

uint64_t pim_node_end(const struct pim_instruction *instruction)
{
    return end_in(instruction, NODE | OWN);
}

uint64_t pim_global_end(const struct pim_instruction *instruction)
{
    return end_in(instruction, GLOBAL);
}

const char *pim_local_part_name(unsigned opcode, unsigned part)
{
    enum { PARTS = PIM_LOCAL_READS + 1 };
    static const char *const names[][PARTS + 1] = {
#define OPCODE(number, ...) [number] = {[PARTS] = NULL,
#define READS(space, place, part, ...) [place] = (part),
#define WRITES(space, part, ...) [PIM_LOCAL_READS] = (part),
#define OPCODE_END(name)                                                                                     \
    }                                                                                                        \
    ,
#include "traces/opcodes.def"
    };
    return names[opcode][part];
}

bool pim_local_share_bytes(const struct pim_local_pieces *a, const struct pim_local_pieces *b)
{
    if (!pim_local_meet(a, b))
        return false;
    for (uint64_t i = 0; i < a->count; i++) {
        const uint64_t first = a->address + i * a->stride, end = first + a->bytes;
        if (end <= b->address || first >= pim_local_end(b))
            continue;
        /* the last piece of b that begins before the end of this one reaches furthest */
        uint64_t last = 0;
        if (b->count > 1) {
            assert(b->stride >= b->bytes && b->stride > 0);
            last = (end - 1 - b->address) / b->stride;
            if (last > b->count - 1)
                last = b->count - 1;
        }
        if (b->address + last * b->stride + b->bytes > first)
            return true;
    }
    return false;
}
