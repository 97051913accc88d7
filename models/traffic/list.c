/* Packet lists and rate matrices, and the replay of a list. */
#include "models/traffic/traffic.h"

#include "sim/arena.h"
#include "sim/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define FLITS_LIMIT (UINT64_C(1) << 32)
#define CYCLE_LIMIT (UINT64_C(1) << 60)

/* Appends room for one more item, doubling; NULL when memory is out (the old array is then still there). */
static void *grow(void *items, uint64_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return items; /* room up to the next power of two */
    uint64_t capacity = count ? 2 * count : 1;
    return capacity > SIZE_MAX / size ? NULL : realloc(items, (size_t)capacity * size);
}

static enum pim_status read_row(struct pim_csv_reader *reader, const struct pim_noc_configuration *noc,
                                struct pim_packet_list *list, struct pim_error *error)
{
    uint64_t nodes = (uint64_t)noc->width * noc->height;
    uint64_t least = list->count ? list->packets[list->count - 1].cycle : 0;
    uint64_t cycle, source, destination, flits;
    if (pim_csv_count(reader, 0, least, CYCLE_LIMIT, &cycle, error) != PIM_OK)
        return pim_fail_in(error, "cycles must not go back");
    if (pim_csv_count(reader, 1, 0, nodes - 1, &source, error) != PIM_OK ||
        pim_csv_count(reader, 2, 0, nodes - 1, &destination, error) != PIM_OK ||
        pim_csv_count(reader, 3, 1, FLITS_LIMIT, &flits, error) != PIM_OK)
        return error->status;
    struct pim_listed_packet *more = grow(list->packets, list->count, sizeof *more);
    if (!more)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " packets", list->count + 1);
    list->packets = more;
    list->packets[list->count++] = (struct pim_listed_packet){
        .cycle = cycle, .source = (uint32_t)source, .destination = (uint32_t)destination, .flits = flits};
    return PIM_OK;
}

enum pim_status pim_packet_list_read(const char *path, const struct pim_noc_configuration *noc,
                                     struct pim_packet_list *list, struct pim_error *error)
{
    static const char *const header[] = {"cycle", "source", "destination", "flits"};
    *list = (struct pim_packet_list){.packets = NULL};
    struct pim_csv_reader *reader;
    if (pim_csv_open(&reader, path, header, 4, error) != PIM_OK)
        return error->status;
    bool more = true;
    enum pim_status status = PIM_OK;
    while (status == PIM_OK && (status = pim_csv_next(reader, &more, error)) == PIM_OK && more)
        status = read_row(reader, noc, list, error);
    pim_csv_close(reader);
    if (status != PIM_OK)
        pim_packet_list_terminate(list);
    return status;
}

void pim_packet_list_terminate(struct pim_packet_list *list)
{
    free(list->packets);
    *list = (struct pim_packet_list){.packets = NULL};
}

/* A rate: a decimal number from 0 to 1 flit per cycle. */
static enum pim_status read_rate(struct pim_csv_reader *reader, double *rate, struct pim_error *error)
{
    const char *text = pim_csv_text(reader, 2);
    char *end;
    errno = 0;
    *rate = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !(*rate >= 0 && *rate <= 1))
        return pim_csv_refuse(reader, 2, "allowed is a rate from 0 to 1 flit per cycle", error);
    return PIM_OK;
}

enum pim_status pim_traffic_matrix_read(const char *path, const struct pim_noc_configuration *noc,
                                        struct pim_traffic_flow **flows, uint32_t *count,
                                        struct pim_error *error)
{
    static const char *const header[] = {"source", "destination", "rate"};
    uint64_t nodes = (uint64_t)noc->width * noc->height;
    *flows = NULL;
    *count = 0;
    struct pim_csv_reader *reader;
    if (pim_csv_open(&reader, path, header, 3, error) != PIM_OK)
        return error->status;
    bool more = true;
    enum pim_status status = PIM_OK;
    while (status == PIM_OK && (status = pim_csv_next(reader, &more, error)) == PIM_OK && more) {
        uint64_t source, destination;
        double rate;
        status = pim_csv_count(reader, 0, 0, nodes - 1, &source, error);
        if (status == PIM_OK)
            status = pim_csv_count(reader, 1, 0, nodes - 1, &destination, error);
        if (status == PIM_OK)
            status = read_rate(reader, &rate, error);
        if (status != PIM_OK || rate == 0)
            continue;
        struct pim_traffic_flow *larger = grow(*flows, *count, sizeof *larger);
        if (!larger || *count == UINT32_MAX) {
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the matrix");
            continue;
        }
        *flows = larger;
        (*flows)[(*count)++] = (struct pim_traffic_flow){
            .source = (uint32_t)source, .destination = (uint32_t)destination, .rate = rate};
    }
    pim_csv_close(reader);
    if (status != PIM_OK) {
        free(*flows);
        *flows = NULL;
        *count = 0;
    }
    return status;
}

/* --- replay --- */

struct replay {
    struct pim_noc_delivery *deliveries;
    struct pim_traffic_result *result;
};

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct replay *replay = context;
    struct pim_traffic_result *result = replay->result;
    replay->deliveries[delivery->packet] = *delivery;
    result->packets++;
    result->hops += delivery->hops;
    result->accepted_flits += delivery->flits;
    pim_histogram_add(&result->latency, delivery->tail_arrived - delivery->created);
    pim_sum_add(&result->network_latency, delivery->tail_arrived - delivery->head_injected);
    if (delivery->tail_arrived >= result->cycles)
        result->cycles = delivery->tail_arrived + 1;
}

/* Who waits for what, as far as the message reaches. */
static enum pim_status stuck(const struct pim_noc *network, uint64_t left, struct pim_error *error)
{
    struct pim_noc_waiting waiting;
    size_t count = pim_noc_get_waiting(network, &waiting, 1);
    if (count == 0)
        return pim_fail(error, PIM_INTERNAL, "%" PRIu64 " packets are left and none of them waits", left);
    return pim_fail(error, PIM_DEADLOCK,
                    "%" PRIu64 " packets are left that nothing can move: packet %" PRIu64 " from %" PRIu32
                    " to %" PRIu32 " waits in router %" PRIu32 ": %s",
                    left, waiting.packet, waiting.source, waiting.destination, waiting.node, waiting.reason);
}

enum pim_status pim_traffic_replay(const struct pim_noc_configuration *noc,
                                   const struct pim_packet_list *list, struct pim_noc_delivery *deliveries,
                                   struct pim_traffic_result *result, struct pim_error *error)
{
    *result = (struct pim_traffic_result){.confidence = (double)NAN};
    pim_histogram_initialize(&result->latency, 12, UINT64_C(1) << 40);
    struct replay replay = {deliveries, result};
    struct pim_noc_callbacks callbacks = {.context = &replay, .delivered = delivered};
    struct pim_noc *network;
    if (pim_noc_create(noc, NULL, 1, &callbacks, &network, error) != PIM_OK) {
        pim_traffic_result_terminate(result);
        return error->status;
    }
    uint64_t sent = 0;
    enum pim_status status = PIM_OK;
    for (;;) {
        uint64_t cycle = pim_noc_next_cycle(network);
        if (sent < list->count && list->packets[sent].cycle < cycle)
            cycle = list->packets[sent].cycle;
        if (cycle == UINT64_MAX)
            break;
        for (; sent < list->count && list->packets[sent].cycle == cycle; sent++) {
            const struct pim_listed_packet *packet = &list->packets[sent];
            result->offered_flits += packet->flits;
            pim_noc_send_at(network, cycle, packet->source, packet->destination, packet->flits, sent);
        }
        pim_noc_step(network, cycle);
    }
    if (result->packets < list->count)
        status = stuck(network, list->count - result->packets, error);
    result->measured_cycles = result->cycles;
    pim_noc_get_statistics(network, &result->noc);
    if (status == PIM_OK)
        status = pim_traffic_links(network, result, error);
    pim_noc_destroy(network);
    if (status != PIM_OK)
        pim_traffic_result_terminate(result);
    return status;
}

void pim_traffic_result_terminate(struct pim_traffic_result *result)
{
    pim_histogram_terminate(&result->latency);
    free(result->links);
    result->links = NULL;
}

enum pim_status pim_traffic_links(const struct pim_noc *network, struct pim_traffic_result *result,
                                  struct pim_error *error)
{
    const struct pim_noc_configuration *noc = pim_noc_configuration(network);
    uint32_t nodes = noc->width * noc->height;
    result->links = calloc((size_t)nodes * PIM_NOC_EJECT + 1, sizeof *result->links);
    if (!result->links)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the links of the result");
    for (uint32_t node = 0; node < nodes; node++)
        for (unsigned direction = 0; direction < PIM_NOC_EJECT; direction++) {
            uint32_t to = pim_noc_neighbour(noc, node, (enum pim_noc_direction)direction);
            if (to != UINT32_MAX)
                result->links[result->link_count++] = (struct pim_traffic_link){
                    .from = node,
                    .to = to,
                    .flits = pim_noc_link_flits(network, node, (enum pim_noc_direction)direction)};
        }
    return PIM_OK;
}
