/* libcheck writes a message for each assertion that holds: loops over packets only report what fails. */
#include "tests/unit/noc/lists.h"

#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

void list_add(struct list *list, uint64_t created, uint32_t source, uint32_t destination, uint64_t flits)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 256;
        list->packets = realloc(list->packets, list->capacity * sizeof *list->packets);
        if (!list->packets)
            ck_abort_msg("out of memory");
    }
    list->packets[list->count++] = (struct list_packet){
        .created = created, .source = source, .destination = destination, .flits = flits};
}

void list_free(struct list *list)
{
    free(list->packets);
    *list = (struct list){0};
}

struct list list_copy(const struct list *list)
{
    struct list copy = {0};
    for (size_t i = 0; i < list->count; i++)
        list_add(&copy, list->packets[i].created, list->packets[i].source, list->packets[i].destination,
                 list->packets[i].flits);
    return copy;
}

/* The whole text of a zstd file, with a final 0. */
static char *read_compressed(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    enum { LIMIT = 1 << 20 };
    char *packed = malloc(LIMIT);
    size_t size = fread(packed, 1, LIMIT, file);
    fclose(file);
    unsigned long long full = ZSTD_getFrameContentSize(packed, size);
    ck_assert_msg(full < 64U << 20, "%s is not a zstd file of known size", path);
    char *text = malloc((size_t)full + 1);
    size_t got = ZSTD_decompress(text, (size_t)full, packed, size);
    ck_assert_msg(got == full, "%s is damaged", path);
    text[got] = '\0';
    free(packed);
    return text;
}

struct list list_read(const char *name)
{
    char relative[128], path[1024];
    (void)snprintf(relative, sizeof relative, "tests/data/noc/%s.csv.zst", name);
    char *text = read_compressed(pimsim_source_path(path, sizeof path, relative));
    struct list list = {0};
    char *line = strchr(text, '\n');
    unsigned columns = line && line - text > 5 && strncmp(line - 5, ",type", 5) == 0 ? 10 : 9;
    while (line && line[1] != '\0') {
        uint64_t value[10] = {0};
        char *at = line + 1;
        for (unsigned i = 0; i < columns; i++) {
            char *end;
            value[i] = strtoull(at, &end, 10);
            if (end == at || *end != (i + 1 < columns ? ',' : '\n'))
                ck_abort_msg("%s: line %zu is damaged", name, list.count + 2);
            at = end + (i + 1 < columns);
        }
        list_add(&list, value[0], (uint32_t)value[1], (uint32_t)value[2], value[3]);
        struct list_packet *packet = &list.packets[list.count - 1];
        packet->head_injected = value[4];
        packet->tail_injected = value[5];
        packet->head_arrived = value[6];
        packet->tail_arrived = value[7];
        packet->hops = (uint32_t)value[8];
        packet->message = (uint32_t)value[9];
        line = at;
    }
    free(text);
    ck_assert_uint_gt(list.count, 0);
    return list;
}

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct list *list = context;
    if (delivery->packet >= list->count)
        ck_abort_msg("packet %" PRIu64 " was never sent", delivery->packet);
    struct list_packet *packet = &list->packets[delivery->packet];
    if (packet->delivered)
        ck_abort_msg("packet %" PRIu64 " is delivered twice", delivery->packet);
    if (packet->created != delivery->created || packet->source != delivery->source ||
        packet->destination != delivery->destination || packet->flits != delivery->flits)
        ck_abort_msg("packet %" PRIu64 " is delivered as another one than was sent", delivery->packet);
    packet->delivered = true;
    packet->head_injected = delivery->head_injected;
    packet->tail_injected = delivery->tail_injected;
    packet->head_arrived = delivery->head_arrived;
    packet->tail_arrived = delivery->tail_arrived;
    packet->hops = delivery->hops;
}

static void must_hold(struct pim_noc *noc)
{
    struct pim_error error = {0};
    enum pim_status status = pim_noc_check(noc, &error);
    if (status != PIM_OK)
        ck_abort_msg("%s", error.text);
}

struct pim_noc_statistics list_run(const struct pim_noc_configuration *configuration, struct list *list,
                                   unsigned check_period, uint64_t **links)
{
    struct pim_noc_callbacks callbacks = {.context = list, .delivered = delivered};
    struct pim_noc *noc;
    struct pim_error error = {0};
    ck_assert_msg(pim_noc_create(configuration, NULL, 1, &callbacks, &noc, &error) == PIM_OK, "%s",
                  error.text);
    size_t sent = 0;
    for (uint64_t steps = 1;; steps++) {
        uint64_t cycle = pim_noc_next_cycle(noc);
        if (sent < list->count && list->packets[sent].created < cycle)
            cycle = list->packets[sent].created;
        if (cycle == UINT64_MAX)
            break;
        for (; sent < list->count && list->packets[sent].created == cycle; sent++)
            pim_noc_send_at(noc, cycle, list->packets[sent].source, list->packets[sent].destination,
                            list->packets[sent].flits, sent);
        pim_noc_step(noc, cycle);
        if (check_period && steps % check_period == 0)
            must_hold(noc);
    }
    must_hold(noc);
    ck_assert(pim_noc_idle(noc));
    for (size_t i = 0; i < list->count; i++)
        if (!list->packets[i].delivered)
            ck_abort_msg("packet %zu is not delivered", i);
    size_t nodes = (size_t)configuration->width * configuration->height;
    if (links) {
        *links = calloc(nodes * 12, sizeof **links);
        for (size_t i = 0; i < nodes * 6; i++) {
            enum pim_noc_direction direction = (enum pim_noc_direction)(i % 6);
            (*links)[i] = pim_noc_link_flits(noc, (uint32_t)(i / 6), direction);
            (*links)[nodes * 6 + i] = pim_noc_link_blocked_cycles(noc, (uint32_t)(i / 6), direction);
        }
    }
    struct pim_noc_statistics statistics;
    pim_noc_get_statistics(noc, &statistics);
    pim_noc_destroy(noc);
    return statistics;
}

void list_expect_same(const struct list *expected, const struct list *found, const char *what)
{
    ck_assert_uint_eq(expected->count, found->count);
    for (size_t i = 0; i < expected->count; i++) {
        const struct list_packet *a = &expected->packets[i], *b = &found->packets[i];
        bool same = a->created == b->created && a->source == b->source && a->destination == b->destination &&
                    a->flits == b->flits && a->head_injected == b->head_injected &&
                    a->tail_injected == b->tail_injected && a->head_arrived == b->head_arrived &&
                    a->tail_arrived == b->tail_arrived && a->hops == b->hops;
        if (!same)
            ck_abort_msg("%s: packet %zu, %u->%u@%" PRIu64 " x%" PRIu64 ": injected %" PRIu64 "-%" PRIu64
                         ", arrived %" PRIu64 "-%" PRIu64 ", hops %u; expected %" PRIu64 "-%" PRIu64
                         ", %" PRIu64 "-%" PRIu64 ", %u",
                         what, i, a->source, a->destination, a->created, a->flits, b->head_injected,
                         b->tail_injected, b->head_arrived, b->tail_arrived, b->hops, a->head_injected,
                         a->tail_injected, a->head_arrived, a->tail_arrived, a->hops);
    }
}

void list_expect_packet(const struct list_packet *expected, const struct pim_requests_packet *found,
                        size_t row, const char *what)
{
    const struct pim_noc_delivery *packet = &found->delivery;
    const uint64_t columns[][2] = {{expected->created, packet->created},
                                   {expected->source, packet->source},
                                   {expected->destination, packet->destination},
                                   {expected->flits, packet->flits},
                                   {expected->head_injected, packet->head_injected},
                                   {expected->tail_injected, packet->tail_injected},
                                   {expected->head_arrived, packet->head_arrived},
                                   {expected->tail_arrived, packet->tail_arrived},
                                   {expected->hops, packet->hops},
                                   {expected->message, found->message}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i][0] != columns[i][1])
            ck_abort_msg("%s: row %zu, column %zu: %" PRIu64 " is expected, found %" PRIu64, what, row, i,
                         columns[i][0], columns[i][1]);
}
