#include "mappers/allspark/redistribution/timing.h"

#include "mappers/estimate/messages.h"

#include <stdlib.h>

bool pim_transport_time_messages(const struct pim_estimate_hardware *hardware,
                                 const struct pim_transport_message *messages, uint32_t count,
                                 const uint64_t *start, uint64_t *end)
{
    struct pim_estimate_message *list = calloc((size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; list && i < count; i++)
        list[i] = (struct pim_estimate_message){.from = messages[i].from_unit,
                                                .to = messages[i].to_unit,
                                                .bytes = messages[i].bytes,
                                                .after = PIM_ESTIMATE_AT_ONCE};
    bool timed = list && pim_estimate_messages(hardware, list, count, NULL, start, end);
    free(list);
    return timed;
}
