/* What the program of an exchange takes, whichever it is. */
#include "mappers/allspark/redistribution/redistribute.h"
#include "mappers/estimate/messages.h"

#include <stdlib.h>

bool pim_transport_time_messages(const struct pim_estimate_hardware *hardware,
                                 const struct pim_transport_message *messages, uint32_t count,
                                 const uint64_t *start, uint64_t *end)
{
    struct pim_estimate_message *list = calloc((size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; list && i < count; i++)
        list[i] =
            (struct pim_estimate_message){messages[i].from_unit, messages[i].to_unit, messages[i].bytes};
    bool timed = list && pim_estimate_messages(hardware, list, count, start, end);
    free(list);
    return timed;
}

/* The copies of a unit in a step, with the access that begins them. Loads and stores take turns at the port,
   so each opens its row anew, and the port turns meanwhile. */
static uint64_t copy_cycles(const struct pim_estimate_hardware *hardware,
                            const struct pim_transport *transport, uint32_t unit, uint32_t step)
{
    const uint64_t cycles = pim_transport_copies(hardware, transport, unit, step);
    return cycles > 0 ? cycles + pim_estimate_access(hardware) : 0;
}

/* What a unit copies and its messages go at the same time; time[unit] goes on, and copies[unit]. `done` is
   room for a time of each unit. */
static bool add_step(const struct pim_estimate_hardware *hardware, const struct pim_transport *transport,
                     uint32_t step, uint32_t *message, uint64_t *time, uint64_t *copies, uint64_t *done)
{
    const uint32_t before = *message;
    for (uint32_t unit = 0; unit < transport->units; unit++) {
        const uint64_t cycles = copy_cycles(hardware, transport, unit, step);
        done[unit] = time[unit] + cycles;
        copies[unit] += cycles;
    }
    while (*message < transport->message_count && transport->messages[*message].step == step)
        ++*message;
    bool made = *message == before || pim_transport_time_messages(hardware, &transport->messages[before],
                                                                  *message - before, time, time);
    for (uint32_t unit = 0; unit < transport->units; unit++)
        time[unit] = pim_larger(time[unit], done[unit]);
    return made;
}

bool pim_exchange_estimate_from(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange,
                                uint64_t *time)
{
    const struct pim_transport *transport = &exchange->transport;
    uint64_t *copies = calloc((size_t)exchange->units + 1, sizeof *copies), begin = 0, last = 0;
    uint64_t *done = calloc((size_t)exchange->units + 1, sizeof *done);
    bool made = copies && done;
    for (uint32_t unit = 0; unit < exchange->units; unit++)
        begin = pim_larger(begin, time[unit]);
    for (uint32_t step = 0, message = 0; made && step < transport->steps; step++)
        made = add_step(hardware, transport, step, &message, time, copies, done);
    for (uint32_t unit = 1; unit < exchange->units; unit++)
        last = time[unit] > time[last] ? unit : last;
    if (made) {
        const uint64_t cycles = time[last] - begin;
        exchange->estimate[PIM_ESTIMATE_MEMORY] = pim_smaller(copies[last], cycles);
        exchange->estimate[PIM_ESTIMATE_TRANSFER] = cycles - exchange->estimate[PIM_ESTIMATE_MEMORY];
    }
    free(copies);
    free(done);
    return made;
}

bool pim_exchange_estimate(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange)
{
    uint64_t *time = calloc((size_t)exchange->units + 1, sizeof *time);
    bool made = time && pim_exchange_estimate_from(hardware, exchange, time);
    free(time);
    return made;
}
