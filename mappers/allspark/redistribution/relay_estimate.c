/* What a program over top-left nodes takes. */
#include "mappers/allspark/redistribution/relay.h"
#include "sim/integer.h"

#include <stdlib.h>
#include <string.h>

/* What a unit does in a step. */
struct load {
    uint64_t copies, all;
};

/* The first access goes to a closed row; afterwards loads and stores take turns at the port. */
static uint64_t copy_cycles(const struct pim_estimate_hardware *hardware,
                            const struct pim_transport *transport, uint32_t unit, uint32_t step)
{
    const struct pim_transport_cost cost = pim_transport_copies(hardware, transport, unit, step);
    return cost.pairs == 0 ? 0
                           : 2 * pim_estimate_access(hardware) + cost.cycles +
                                 cost.pairs * pim_estimate_turns(hardware, 1);
}

/* The flight of a first flit between two units: announcement there, data back. */
static uint64_t flight_of(const struct pim_estimate_hardware *hardware, uint32_t from, uint32_t to)
{
    uint32_t hops = pim_difference(from % hardware->width, to % hardware->width) +
                    pim_difference(from / hardware->width, to / hardware->width);
    return pim_estimate_ring(hardware, 1, 2) +
           (hops > 1 ? pim_estimate_hops(hardware, 2 * (uint64_t)(hops - 1)) : 0);
}

/* The messages of a unit in a step: what passes its links, and its memory port. */
struct passage {
    uint64_t flight, longest, out, in; /* flits */
    uint64_t port;                     /* when all of them go the same way: one run */
    uint64_t mixed;                    /* else every one opens rows of its own, and the port turns round */
};

static void add_message(const struct pim_estimate_hardware *hardware,
                        const struct pim_transport_message *message, uint32_t unit, struct passage *passage)
{
    bool sends = message->from_unit == unit;
    uint64_t bytes = message->bytes, flight = flight_of(hardware, message->from_unit, message->to_unit);
    *(sends ? &passage->out : &passage->in) += pim_divide_up(bytes, hardware->flit_bytes);
    passage->port += pim_estimate_stream(hardware, bytes, !sends);
    passage->mixed += pim_estimate_pieces(hardware, bytes, 0, 1, 1, !sends) +
                      pim_estimate_turns(hardware, 1 + bytes / hardware->row_bytes);
    passage->flight = flight > passage->flight ? flight : passage->flight;
    passage->longest = bytes > passage->longest ? bytes : passage->longest;
}

/* The step of a unit: copies while messages come and go, which share the memory port with them. One flight is
   waited for, and one packet that is read before it leaves and written when it has come. */
static struct load load_of(const struct pim_estimate_hardware *hardware,
                           const struct pim_transport *transport, uint32_t unit, uint32_t step)
{
    struct load load = {.copies = copy_cycles(hardware, transport, unit, step)};
    struct passage passage = {0};
    const uint32_t *first = &transport->first_message[(size_t)unit * transport->steps + step];
    for (uint32_t i = first[0]; i < first[1]; i++)
        add_message(hardware, &transport->messages[transport->of_unit[i]], unit, &passage);
    uint64_t packet = passage.longest < hardware->packet_bytes ? passage.longest : hardware->packet_bytes;
    uint64_t flits = passage.out > passage.in ? passage.out : passage.in;
    uint64_t network = pim_estimate_network(hardware, flits);
    uint64_t port = load.copies + (passage.out > 0 && passage.in > 0 ? passage.mixed : passage.port);
    load.all = passage.flight + (port > network ? port : network);
    if (packet > 0)
        load.all +=
            pim_estimate_stream(hardware, packet, false) + pim_estimate_stream(hardware, packet, true);
    return load;
}

/* Flits over the links that leave each router to the east, west, south and north, with routes along x first;
   returns the number that the busiest of them has then. */
static uint64_t add_route(uint32_t width, uint32_t from, uint32_t to, uint64_t flits, uint64_t (*link)[4])
{
    enum { EAST, WEST, SOUTH, NORTH };
    uint64_t most = 0;
    while (from != to) {
        bool along_x = from % width != to % width;
        bool up = along_x ? from % width < to % width : from < to;
        uint64_t *busy = &link[from][along_x ? (up ? EAST : WEST) : (up ? SOUTH : NORTH)];
        uint32_t hop = along_x ? 1 : width;
        *busy += flits;
        most = *busy > most ? *busy : most;
        from = up ? from + hop : from - hop;
    }
    return most;
}

/* The busiest link of each step: messages of a step go at the same time. */
static bool add_links(const struct pim_estimate_hardware *hardware, const struct pim_transport *transport,
                      struct load *most)
{
    const size_t units = (size_t)transport->units + 1;
    uint64_t(*link)[4] = calloc(units, sizeof *link);
    uint64_t busiest = 0;
    for (uint32_t i = 0; link && i < transport->message_count; i++) {
        const struct pim_transport_message *message = &transport->messages[i];
        bool last = i + 1 == transport->message_count || message[1].step != message->step;
        uint64_t flits = pim_divide_up(message->bytes, hardware->flit_bytes);
        busiest = pim_larger(busiest,
                             add_route(hardware->width, message->from_unit, message->to_unit, flits, link));
        if (!last)
            continue;
        struct load *load = &most[message->step];
        load->all = pim_larger(load->all, load->copies + pim_estimate_network(hardware, busiest));
        memset(link, 0, units * sizeof *link);
        busiest = 0;
    }
    bool added = link != NULL;
    free(link);
    return added;
}

bool pim_relay_estimate(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange)
{
    const struct pim_transport *transport = &exchange->transport;
    struct load *most = calloc((size_t)transport->steps + 1, sizeof *most);
    for (uint32_t unit = 0; most && unit < transport->units; unit++)
        for (uint32_t step = 0; step < transport->steps; step++) {
            const struct load load = load_of(hardware, transport, unit, step);
            most[step] = load.all > most[step].all ? load : most[step];
        }
    bool made = most && add_links(hardware, transport, most);
    for (uint32_t step = 0; made && step < transport->steps; step++) {
        exchange->estimate[PIM_ESTIMATE_MEMORY] += most[step].copies;
        exchange->estimate[PIM_ESTIMATE_TRANSFER] += most[step].all - most[step].copies;
    }
    free(most);
    return made;
}
