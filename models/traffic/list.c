/* Packet lists and rate matrices, and the replay of a list. */
#include "models/noc/watchdog.h"
#include "models/traffic/traffic.h"

#include "sim/arena.h"
#include "sim/output/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FLITS_LIMIT (UINT64_C(1) << 32)
#define CYCLE_LIMIT (UINT64_C(1) << 60)

/* Columns of a packet list; those from LIST_CLASS on may be missing. */
enum { LIST_CYCLE, LIST_SOURCE, LIST_DESTINATION, LIST_FLITS, LIST_CLASS, LIST_TASK, LIST_COLUMNS };

struct list_reader {
    struct pim_csv_reader *csv;
    size_t column[LIST_COLUMNS]; /* LIST_COLUMNS: not there */
};

/* Appends room for one more item, doubling; NULL when memory is out (the old array is then still there). */
static void *grow(void *items, uint64_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return items; /* room up to the next power of two */
    uint64_t capacity = count ? 2 * count : 1;
    return capacity > SIZE_MAX / size ? NULL : realloc(items, (size_t)capacity * size);
}

/* The first four columns in their order, then the others that are there. */
static enum pim_status read_header(struct list_reader *reader, const char *path, struct pim_error *error)
{
    static const char *const names[LIST_COLUMNS] = {"cycle", "source", "destination",
                                                    "flits", "class",  "task"};
    size_t columns = pim_csv_columns(reader->csv), found = 0;
    for (size_t i = 0; i < LIST_COLUMNS; i++) {
        reader->column[i] = LIST_COLUMNS;
        if (pim_csv_column(reader->csv, names[i], &reader->column[i], error) == PIM_OK)
            found++;
        else
            *error = (struct pim_error){.status = PIM_OK};
        if (i <= LIST_FLITS && reader->column[i] != i)
            found = columns + 1;
    }
    if (found == columns)
        return PIM_OK;
    return pim_fail(
        error, PIM_BAD_INPUT,
        "%s:1: the header of a packet list is cycle,source,destination,flits, then class and task "
        "if wanted",
        path);
}

static enum pim_status read_tag(const struct list_reader *reader, const struct pim_noc_configuration *noc,
                                struct pim_noc_tag *tag, struct pim_error *error)
{
    size_t of_class = reader->column[LIST_CLASS], of_task = reader->column[LIST_TASK];
    uint64_t class = 0, task = PIM_NOC_NO_TASK;
    if (of_class != LIST_COLUMNS &&
        pim_csv_count(reader->csv, of_class, 0, noc->classes ? noc->classes - 1 : 0, &class, error) != PIM_OK)
        return error->status;
    if (of_task != LIST_COLUMNS && pim_csv_text(reader->csv, of_task)[0] != '\0' &&
        pim_csv_count(reader->csv, of_task, 0, PIM_NOC_TASK_LIMIT - 1, &task, error) != PIM_OK)
        return error->status;
    *tag = (struct pim_noc_tag){.task = (uint32_t)task, .class = (uint32_t) class};
    return PIM_OK;
}

static enum pim_status read_row(const struct list_reader *rows, const struct pim_noc_configuration *noc,
                                struct pim_packet_list *list, struct pim_error *error)
{
    const struct pim_csv_reader *reader = rows->csv;
    struct pim_noc_tag tag;
    uint64_t nodes = pim_noc_nodes(noc);
    uint64_t least = list->count ? list->packets[list->count - 1].cycle : 0;
    uint64_t cycle, source, destination, flits;
    if (pim_csv_count(reader, 0, 0, CYCLE_LIMIT, &cycle, error) != PIM_OK)
        return error->status;
    if (cycle < least) {
        char allowed[96];
        (void)snprintf(allowed, sizeof allowed, "cycles must not go back, the row before is at %" PRIu64,
                       least);
        return pim_csv_refuse(reader, 0, allowed, error);
    }
    if (pim_csv_count(reader, 1, 0, nodes - 1, &source, error) != PIM_OK ||
        pim_csv_count(reader, 2, 0, nodes - 1, &destination, error) != PIM_OK ||
        pim_csv_count(reader, 3, 1, FLITS_LIMIT, &flits, error) != PIM_OK ||
        read_tag(rows, noc, &tag, error) != PIM_OK)
        return error->status;
    struct pim_listed_packet *more = grow(list->packets, list->count, sizeof *more);
    if (!more)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " packets", list->count + 1);
    list->packets = more;
    list->packets[list->count++] = (struct pim_listed_packet){.cycle = cycle,
                                                              .source = (uint32_t)source,
                                                              .destination = (uint32_t)destination,
                                                              .flits = flits,
                                                              .tag = tag};
    return PIM_OK;
}

enum pim_status pim_packet_list_read(const char *path, const struct pim_noc_configuration *noc,
                                     struct pim_packet_list *list, struct pim_error *error)
{
    *list = (struct pim_packet_list){.packets = NULL};
    struct list_reader reader;
    if (pim_csv_open(&reader.csv, path, NULL, 0, error) != PIM_OK)
        return error->status;
    bool more = true;
    enum pim_status status = read_header(&reader, path, error);
    while (status == PIM_OK && (status = pim_csv_next(reader.csv, &more, error)) == PIM_OK && more)
        status = read_row(&reader, noc, list, error);
    pim_csv_close(reader.csv);
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
    uint64_t nodes = pim_noc_nodes(noc);
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

enum { CHECK_PERIOD = 1024 }; /* steps */

struct replay {
    const struct pim_packet_list *list;
    const struct pim_traffic_watch *watch;
    uint64_t sent; /* packets */
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

static void tell(void *context, const struct pim_noc_stage *stage)
{
    const struct replay *replay = context;
    replay->watch->stage(replay->watch->context, stage);
}

/* Tells the network how many flits each task transfers in all. */
static enum pim_status declare_tasks(struct pim_noc *network, const struct pim_packet_list *list,
                                     struct pim_error *error)
{
    uint32_t tasks = 0;
    for (uint64_t i = 0; i < list->count; i++)
        if (list->packets[i].tag.task != PIM_NOC_NO_TASK && list->packets[i].tag.task >= tasks)
            tasks = list->packets[i].tag.task + 1;
    if (tasks == 0)
        return PIM_OK;
    uint64_t *total = calloc(tasks, sizeof *total);
    if (!total)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " tasks", tasks);
    for (uint64_t i = 0; i < list->count; i++) {
        const struct pim_listed_packet *packet = &list->packets[i];
        if (packet->tag.task != PIM_NOC_NO_TASK && total[packet->tag.task] < UINT64_MAX - packet->flits)
            total[packet->tag.task] += packet->flits;
    }
    for (uint32_t task = 0; task < tasks; task++)
        if (total[task])
            pim_noc_declare_task(network, task, total[task]);
    free(total);
    return PIM_OK;
}

/* The packets of one cycle, and the cycle. */
static void replay_cycle(struct replay *replay, struct pim_noc *network, uint64_t cycle)
{
    const struct pim_packet_list *list = replay->list;
    for (; replay->sent < list->count && list->packets[replay->sent].cycle == cycle; replay->sent++) {
        const struct pim_listed_packet *packet = &list->packets[replay->sent];
        replay->result->offered_flits += packet->flits;
        pim_noc_send_tagged_at(network, cycle, packet->source, packet->destination, packet->flits,
                               replay->sent, packet->tag);
    }
    pim_noc_step(network, cycle);
}

/* Until nothing is left to be done. */
static enum pim_status replay_all(struct replay *replay, struct pim_noc *network, bool check,
                                  struct pim_error *error)
{
    const struct pim_packet_list *list = replay->list;
    struct pim_noc_watchdog watchdog = {0};
    for (uint64_t steps = 1;; steps++) {
        uint64_t cycle = pim_noc_next_cycle(network);
        if (replay->sent < list->count && list->packets[replay->sent].cycle < cycle)
            cycle = list->packets[replay->sent].cycle;
        if (cycle == UINT64_MAX)
            break;
        replay_cycle(replay, network, cycle);
        if (check && steps % CHECK_PERIOD == 0 && pim_noc_check(network, error) != PIM_OK)
            return error->status;
        /* with step_every_cycle; else nothing is left to be done when it is stuck */
        if (pim_noc_configuration(network)->step_every_cycle &&
            pim_noc_watch(&watchdog, network, cycle, error) != PIM_OK)
            return error->status;
    }
    if (replay->result->packets < list->count)
        return pim_noc_report_stuck(network, error);
    return check ? pim_noc_check(network, error) : PIM_OK;
}

enum pim_status pim_traffic_replay(const struct pim_noc_configuration *noc,
                                   const struct pim_packet_list *list, bool check,
                                   const struct pim_traffic_watch *watch, struct pim_noc_delivery *deliveries,
                                   struct pim_traffic_result *result, struct pim_error *error)
{
    *result = (struct pim_traffic_result){.confidence = (double)NAN};
    pim_histogram_initialize(&result->latency, 12, UINT64_C(1) << 40);
    struct replay replay = {.list = list, .watch = watch, .deliveries = deliveries, .result = result};
    struct pim_noc_callbacks callbacks = {.context = &replay, .delivered = delivered};
    if (watch) {
        callbacks.stage = tell;
        callbacks.watched = watch->packet;
    }
    struct pim_noc *network;
    if (pim_noc_create(noc, NULL, 1, &callbacks, &network, error) != PIM_OK) {
        pim_traffic_result_terminate(result);
        return error->status;
    }
    enum pim_status status = declare_tasks(network, list, error);
    if (status == PIM_OK)
        status = replay_all(&replay, network, check, error);
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
    free(result->batch_cycles);
    for (uint32_t i = 0; i < result->share_count; i++)
        pim_histogram_terminate(&result->shares[i].latency);
    free(result->shares);
    result->links = NULL;
    result->batch_cycles = NULL;
    result->batch_count = 0;
    result->shares = NULL;
    result->share_count = 0;
}

enum pim_status pim_traffic_links(const struct pim_noc *network, struct pim_traffic_result *result,
                                  struct pim_error *error)
{
    return pim_noc_collect_links(network, &result->links, &result->link_count, error);
}
