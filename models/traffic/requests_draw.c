/* Lists of requests that are drawn: every source has a random stream of its own. */
#include "models/traffic/requests.h"

#include "sim/arena.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PACKETS_MOST = 1 << 28 };

struct drawing {
    const struct pim_noc_configuration *noc;
    const struct pim_requests *exchange;
    const struct pim_traffic_class *class;
    uint64_t writes; /* threshold */
    struct pim_packet_list *list;
    size_t capacity;
};

static uint64_t draw_size(const struct pim_traffic_class *class, struct pim_random *random)
{
    double total = 0, draw;
    for (uint32_t i = 0; i < class->sizes; i++)
        total += class->weight[i];
    draw = pim_random_unit(random) * total;
    for (uint32_t i = 0; i + 1 < class->sizes; i++) {
        draw -= class->weight[i];
        if (draw < 0)
            return class->size[i];
    }
    return class->sizes > 0 ? class->size[class->sizes - 1] : 1;
}

static enum pim_status add(struct drawing *drawing, uint32_t source, uint64_t cycle,
                           struct pim_random *random, struct pim_error *error)
{
    struct pim_packet_list *list = drawing->list;
    struct pim_listed_packet *grown =
        list->count == PACKETS_MOST
            ? NULL
            : pim_array_grow(list->packets, &drawing->capacity, list->count + 1, sizeof *grown);
    if (!grown)
        return pim_fail(error, PIM_NO_MEMORY,
                        "out of memory for %" PRIu64
                        " requests: fewer cycles, or smaller batches, are needed",
                        list->count + 1);
    list->packets = grown;
    uint32_t message = PIM_READ_REQUEST;
    if (drawing->exchange->replies && pim_random_chance(random, drawing->writes))
        message = PIM_WRITE_REQUEST;
    uint64_t flits =
        drawing->exchange->replies ? drawing->exchange->flits[message] : draw_size(drawing->class, random);
    list->packets[list->count++] = (struct pim_listed_packet){
        .cycle = cycle,
        .source = source,
        .destination = pim_pattern_destination(drawing->noc, drawing->class, source, random),
        .flits = flits,
        .tag = {.task = PIM_NOC_NO_TASK, .class = message}};
    return PIM_OK;
}

static enum pim_status draw_source(struct drawing *drawing, uint32_t source, uint64_t cycles,
                                   struct pim_random random, struct pim_error *error)
{
    for (uint64_t i = 0; i < pim_requests_of_batches(drawing->exchange); i++)
        if (add(drawing, source, 0, &random, error) != PIM_OK)
            return error->status;
    if (drawing->exchange->batch > 0)
        return PIM_OK;
    struct pim_geometric trial;
    pim_geometric_initialize(&trial, drawing->class->rate);
    for (uint64_t cycle = pim_geometric_next(&trial, &random); cycle < cycles;
         cycle += 1 + pim_geometric_next(&trial, &random))
        if (add(drawing, source, cycle, &random, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

static int by_cycle(const void *first, const void *second)
{
    const struct pim_listed_packet *a = first, *b = second;
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle ? -1 : 1;
    return (a->source > b->source) - (a->source < b->source);
}

enum pim_status pim_requests_draw(const struct pim_noc_configuration *noc,
                                  const struct pim_requests *exchange, const struct pim_traffic_class *class,
                                  double writes, uint64_t cycles, uint64_t seed, struct pim_packet_list *list,
                                  struct pim_error *error)
{
    *list = (struct pim_packet_list){.count = 0};
    if (pim_pattern_check(noc, class, error) != PIM_OK)
        return error->status;
    if (!(writes >= 0 && writes <= 1))
        return pim_fail(error, PIM_BAD_INPUT, "%g of the requests are writes: 0 to 1 are possible", writes);
    if (exchange->batch == 0 && !(class->rate >= 0x1p-50 && class->rate <= 1))
        return pim_fail(
            error, PIM_BAD_INPUT,
            "a rate of %g requests per node and cycle is not possible: more than 0 and at most 1 is",
            class->rate);
    if (pim_requests_of_batches(exchange) > PACKETS_MOST / pim_noc_nodes(noc))
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu64 " requests of each of %" PRIu32
                        " nodes are more than %d in all: fewer or smaller batches are needed",
                        pim_requests_of_batches(exchange), pim_noc_nodes(noc), PACKETS_MOST);
    struct drawing drawing = {.noc = noc,
                              .exchange = exchange,
                              .class = class,
                              .writes = pim_random_threshold(writes),
                              .list = list};
    struct pim_random random;
    pim_random_initialize(&random, seed);
    enum pim_status status = PIM_OK;
    for (uint32_t source = 0; source < pim_noc_nodes(noc) && status == PIM_OK; source++)
        status = draw_source(&drawing, source, cycles, pim_random_split(&random), error);
    if (status != PIM_OK)
        pim_packet_list_terminate(list);
    else if (exchange->batch == 0)
        qsort(list->packets, list->count, sizeof *list->packets, by_cycle);
    return status;
}
