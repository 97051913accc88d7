/* From chip to chip: rule 10 of docs/models/core.md. */
#include "models/core/cores_internal.h"

enum { PORT_OUT, PORT_IN };        /* switch */
enum { EAST, WEST, SOUTH, NORTH }; /* grid: where a link leads */

uint64_t pim_core_link_hops(const struct pim_cores *cores, const struct pim_core_chip *from,
                            const struct pim_core_chip *to)
{
    if (!cores->configuration.chip_grid)
        return from != to;
    uint32_t across = cores->chips_across, a = (uint32_t)(from - cores->chips),
             b = (uint32_t)(to - cores->chips);
    return (uint64_t)pim_difference(a % across, b % across) + pim_difference(a / across, b / across);
}

/* The link to the chip that comes after `at` on the way to `to`; *next becomes that chip. */
static struct pim_core_server *next_link(struct pim_cores *cores, uint32_t at, uint32_t to, uint32_t *next)
{
    uint32_t across = cores->chips_across, direction;
    if (at % across != to % across) {
        direction = to % across > at % across ? EAST : WEST;
        *next = direction == EAST ? at + 1 : at - 1;
    } else {
        direction = to > at ? SOUTH : NORTH;
        *next = direction == SOUTH ? at + across : at - across;
    }
    return &cores->chips[at].port[direction];
}

/* The packet asks for the port out of its chip, or for the link to the next chip on its way. */
static void ask(struct pim_cores *cores, struct pim_core_packet *packet, enum pim_core_request_kind kind)
{
    const struct pim_cores_configuration *configuration = &cores->configuration;
    struct pim_core *core = pim_core_at(cores, packet->message->source);
    const struct pim_core_request request = {.core = core->unit.id,
                                             .kind = (uint32_t)kind,
                                             .cycles = pim_beats_of(packet->bytes, configuration->link_bytes),
                                             .packet = packet};
    if (!configuration->chip_grid) {
        pim_core_server_ask(&cores->chips[packet->chip].port[kind == PIM_REQUEST_MOVE ? PORT_OUT : PORT_IN],
                            &request);
        return;
    }
    uint32_t to = (uint32_t)(pim_core_at(cores, packet->message->destination)->chip - cores->chips);
    pim_core_server_ask(next_link(cores, packet->chip, to, &packet->chip), &request);
}

void pim_core_leave_chip(struct pim_core *core, struct pim_core_packet *packet)
{
    struct pim_cores *cores = core->cores;
    packet->chip = (uint32_t)(core->chip - cores->chips);
    PIM_ADD_ACTION(
        core, chip_link_bits,
        8 * packet->bytes *
            pim_core_link_hops(cores, core->chip, pim_core_at(cores, packet->message->destination)->chip));
    ask(cores, packet, PIM_REQUEST_MOVE);
}

/* It has come to the port in of its chip, or to a chip on its way. */
static void go_on(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_core_packet *packet = context;
    ask(packet->cores, packet, PIM_REQUEST_READ);
}

void pim_core_link_served(struct pim_cores *cores, const struct pim_core_request *request, uint64_t held,
                          uint64_t end)
{
    const struct pim_cores_configuration *configuration = &cores->configuration;
    struct pim_core_packet *packet = request->packet;
    uint64_t latency = pim_larger(configuration->link_cycles, 1), at;
    uint32_t to = (uint32_t)(pim_core_at(cores, packet->message->destination)->chip - cores->chips);
    bool there;
    (void)end;
    if (configuration->chip_grid) {
        at = held + latency;
        there = packet->chip == to;
    } else {
        there = request->kind == PIM_REQUEST_READ;
        at = there ? held : held - request->cycles + latency;
        packet->chip = to;
    }
    if (!pim_core_in_time(pim_core_at(cores, packet->message->source), at))
        return;
    if (request->kind == PIM_REQUEST_MOVE)
        pim_core_taken(cores, packet->message, packet->bytes, held);
    pim_kernel_schedule_at(cores->units.kernel, at * configuration->logic_period, PIM_PHASE_MEMORY,
                           there ? pim_core_come : go_on, packet);
}
