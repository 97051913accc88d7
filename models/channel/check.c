/* Programs of channels held against the memory, without timing. */
#include "models/channel/channel.h"
#include "traces/file/reader.h"

#include <inttypes.h>

static enum pim_status check_reach(const struct pim_channels_configuration *configuration, uint32_t channel,
                                   const struct pim_instruction *instruction, struct pim_error *error)
{
    if (instruction->opcode != PIM_OP_ROW_SEND && instruction->opcode != PIM_OP_ROW_RECEIVE)
        return PIM_OK;
    uint32_t peer = instruction->u.row_message.peer, width = configuration->width;
    bool between = channel / width != peer / width;
    if (instruction->detail == (between ? PIM_REACH_STACK : PIM_REACH_CHANNEL))
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "channel %" PRIu32 " is in %s stack (%" PRIu32
                    " channels each): the reach must be \"%s\"",
                    peer, between ? "another" : "the same", width, between ? "stack" : "channel");
}

static enum pim_status check_unit(const struct pim_channels_configuration *configuration,
                                  const struct pim_trace *trace, uint32_t channel, struct pim_error *error)
{
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction = NULL;
    enum pim_status status = pim_trace_cursor_create_stored(trace, channel, &cursor, error);
    while (status == PIM_OK && (status = pim_trace_cursor_next(cursor, &instruction, error)) == PIM_OK &&
           instruction) {
        if (pim_opcode_engine(instruction->opcode) >= PIM_ENGINE_CONTROL)
            continue;
        status = pim_channel_check(&configuration->memory, instruction, error);
        if (status == PIM_OK)
            status = check_reach(configuration, channel, instruction, error);
        if (status != PIM_OK)
            (void)pim_fail_in(error, "channel %" PRIu32 ", stored instruction %" PRIu64 " (%s)", channel,
                              pim_trace_cursor_stored(cursor), pim_opcode_name(instruction->opcode));
    }
    pim_trace_cursor_destroy(cursor);
    return status;
}

enum pim_status pim_channels_check(const struct pim_channels_configuration *configuration,
                                   const struct pim_trace *trace, struct pim_error *error)
{
    for (uint32_t channel = 0; channel < pim_trace_description(trace)->units; channel++)
        if (check_unit(configuration, trace, channel, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}
