#include "traces/check/instruction.h"

#include "traces/text/text.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    NODES = 1 << PIM_CHECK_NODES,
    CORES = 1 << PIM_CHECK_CORES,
    CHANNELS = 1 << PIM_CHECK_CHANNELS,
    TILES = 1 << PIM_CHECK_TILES,
    ANY = NODES | CORES | CHANNELS | TILES
};

unsigned pim_check_units_of(unsigned opcode)
{
    static const unsigned char masks[] = {
#define OPCODE(number, name, mnemonic, engine, units, ...) [number] = units,
#include "traces/opcodes.def"
    };
    return masks[opcode];
}

/* Who alone executes an opcode; PIM_CHECK_ANY: several do. */
static enum pim_check_kind kind_of_opcode(unsigned opcode)
{
    switch (pim_check_units_of(opcode)) {
    case NODES:
        return PIM_CHECK_NODES;
    case CORES:
        return PIM_CHECK_CORES;
    case CHANNELS:
        return PIM_CHECK_CHANNELS;
    case TILES:
        return PIM_CHECK_TILES;
    default:
        return PIM_CHECK_ANY;
    }
}

enum pim_status pim_check_kind_of(const struct pim_instruction *instruction, enum pim_check_kind kind,
                                  struct pim_error *error)
{
    if (PIM_LIKELY(pim_check_units_of(instruction->opcode) >> kind & 1))
        return PIM_OK;
    const enum pim_check_kind own = kind_of_opcode(instruction->opcode);
    if (own == PIM_CHECK_ANY && kind == PIM_CHECK_TILES)
        return pim_fail(error, PIM_BAD_INPUT,
                        "tiles (array.kind) do not execute %s: their packets go over edges",
                        pim_opcode_name(instruction->opcode));
    if (own == PIM_CHECK_ANY)
        return pim_fail(error, PIM_BAD_INPUT, "channels (array.kind) do not execute %s: they have %s",
                        pim_opcode_name(instruction->opcode),
                        instruction->opcode == PIM_OP_SEND ? "row_send" : "row_receive");
    static const char *const words[][2] = {[PIM_CHECK_ANY] = {"", "units"},
                                           [PIM_CHECK_NODES] = {"nodes", "nodes"},
                                           [PIM_CHECK_CORES] = {"cores with crossbars", "cores"},
                                           [PIM_CHECK_CHANNELS] = {"channels that compute", "channels"},
                                           [PIM_CHECK_TILES] = {"tiles", "tiles"}};
    return pim_fail(error, PIM_BAD_INPUT,
                    "%s is an instruction of %s: %s (array.kind) do not execute it, and no trace mixes both",
                    pim_opcode_name(instruction->opcode), words[own][0], words[kind][1]);
}

enum pim_status pim_check_find_kind(const struct pim_trace *trace, const struct pim_check_limits *limits,
                                    enum pim_check_kind *kind, struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    *kind = limits->kind;
    for (uint32_t unit = 0; unit < pim_trace_description(trace)->units && *kind == PIM_CHECK_ANY; unit++) {
        struct pim_trace_cursor *cursor;
        const struct pim_instruction *instruction = NULL;
        status = pim_trace_cursor_create_stored(trace, unit, &cursor, error);
        while (status == PIM_OK && *kind == PIM_CHECK_ANY) {
            status = pim_trace_cursor_next(cursor, &instruction, error);
            if (status != PIM_OK || !instruction)
                break;
            *kind = kind_of_opcode(instruction->opcode);
        }
        pim_trace_cursor_destroy(cursor);
        if (status != PIM_OK)
            return status;
    }
    if (*kind == PIM_CHECK_ANY)
        *kind = PIM_CHECK_NODES;
    return PIM_OK;
}

const char *pim_check_place(uint32_t unit, uint64_t stored, uint64_t fetch,
                            const struct pim_instruction *instruction, char *buffer, size_t size)
{
    char text[160] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    if (file) {
        pim_instruction_print(instruction, file);
        (void)fclose(file);
    }
    text[sizeof text - 1] = '\0';
    if (stored == fetch)
        (void)snprintf(buffer, size, "unit %" PRIu32 " instruction %" PRIu64 " (%s)", unit, stored, text);
    else
        (void)snprintf(buffer, size, "unit %" PRIu32 " instruction %" PRIu64 ", fetch %" PRIu64 " (%s)", unit,
                       stored, fetch, text);
    return buffer;
}
