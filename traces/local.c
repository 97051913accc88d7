#include "traces/local.h"

#include <assert.h>

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

void pim_local_access_of(const struct pim_instruction *instruction, struct pim_local_access *access)
{
    *access = (struct pim_local_access){.write = {.bytes = 0}};
    switch (instruction->opcode) {
    case PIM_OP_MVM:
        access->read[0] = one(instruction->u.mvm.input_address, instruction->u.mvm.input_bytes);
        access->write = one(instruction->u.mvm.output_address, instruction->u.mvm.output_bytes);
        break;
    case PIM_OP_SEND:
        access->read[0] = one(instruction->u.network.address, instruction->u.network.bytes);
        break;
    case PIM_OP_RECEIVE:
        access->write = one(instruction->u.network.address, instruction->u.network.bytes);
        break;
    case PIM_OP_LOCAL_LOAD:
        access->write = one(instruction->u.transfer.local,
                            (uint64_t)instruction->u.transfer.bytes * instruction->u.transfer.count);
        break;
    case PIM_OP_LOCAL_STORE:
        access->read[0] = one(instruction->u.transfer.local,
                              (uint64_t)instruction->u.transfer.bytes * instruction->u.transfer.count);
        break;
    case PIM_OP_LOCAL_VECTOR: {
        uint64_t bytes = (uint64_t)instruction->u.local_vector.elements *
                         ((instruction->u.local_vector.bits + UINT64_C(7)) / 8);
        access->read[0] = one(instruction->u.local_vector.source, bytes);
        if (pim_local_sources(instruction->detail) == 2)
            access->read[1] = one(instruction->u.local_vector.second, bytes);
        access->write = one(instruction->u.local_vector.destination, bytes);
        break;
    }
    case PIM_OP_LOCAL_COPY:
        access->read[0] = several(instruction->u.local_copy.source, instruction->u.local_copy.bytes,
                                  instruction->u.local_copy.count, instruction->u.local_copy.source_stride);
        access->write =
            several(instruction->u.local_copy.destination, instruction->u.local_copy.bytes,
                    instruction->u.local_copy.count, instruction->u.local_copy.destination_stride);
        break;
    case PIM_OP_LOCAL_WRITE:
        access->write = several(instruction->u.local_write.destination, instruction->u.local_write.bytes,
                                instruction->u.local_write.count, instruction->u.local_write.stride);
        break;
    default:
        break;
    }
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
