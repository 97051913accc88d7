#include "tests/unit/noc_general/support.h"

#include "models/noc/general/state.h"
#include "models/noc/mesh/mesh.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct list *list = context;
    struct list_packet *packet = &list->packets[delivery->packet];
    if (packet->delivered || packet->source != delivery->source ||
        packet->destination != delivery->destination || packet->flits != delivery->flits)
        ck_abort_msg("packet %" PRIu64 " is delivered twice, or as another one", delivery->packet);
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
    if (pim_noc_check(noc, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
}

static void send_one(struct pim_noc *noc, const struct list *list, size_t index,
                     const struct pim_noc_tag *tags)
{
    const struct list_packet *packet = &list->packets[index];
    if (tags)
        pim_noc_send_tagged_at(noc, packet->created, packet->source, packet->destination, packet->flits,
                               index, tags[index]);
    else
        pim_noc_send_at(noc, packet->created, packet->source, packet->destination, packet->flits, index);
}

static void collect_ends(const struct pim_noc *noc, struct links *ends)
{
    static const enum pim_noc_direction directions[] = {PIM_NOC_INJECT, PIM_NOC_EJECT};
    uint32_t nodes = pim_noc_nodes(pim_noc_configuration(noc));
    *ends = (struct links){.link = calloc(2 * (size_t)nodes + 1, sizeof *ends->link)};
    for (uint32_t i = 0; i < 2 * nodes; i++)
        ends->link[ends->count++] = (struct pim_noc_link_use){
            .from = i / 2,
            .to = i / 2,
            .from_port = directions[i % 2],
            .flits = pim_noc_link_flits(noc, i / 2, directions[i % 2]),
            .blocked_cycles = pim_noc_link_blocked_cycles(noc, i / 2, directions[i % 2])};
}

static void collect(const struct pim_noc *noc, const struct run_options *options)
{
    struct pim_noc_statistics statistics;
    pim_noc_get_statistics(noc, &statistics);
    if (options->evaluations)
        *options->evaluations = statistics.router_evaluations;
    if (options->ends)
        collect_ends(noc, options->ends);
    if (!options->links)
        return;
    options->links->count = pim_noc_link_count(noc);
    options->links->link = calloc(options->links->count + 1, sizeof *options->links->link);
    for (size_t i = 0; i < options->links->count; i++)
        pim_noc_get_link(noc, i, &options->links->link[i]);
}

/* Fails when no link has passed a flit, and no packet has arrived, since the last call. */
static void must_move(const struct pim_noc *noc, uint64_t *moved)
{
    struct pim_noc_statistics statistics;
    pim_noc_get_statistics(noc, &statistics);
    uint64_t flits = statistics.flits_delivered;
    for (size_t i = 0; i < pim_noc_link_count(noc); i++) {
        struct pim_noc_link_use link;
        pim_noc_get_link(noc, i, &link);
        flits += link.flits;
    }
    if (flits == *moved)
        ck_abort_msg("the network is stuck");
    *moved = flits;
}

void run(const struct pim_noc_configuration *configuration, struct list *list, struct run_options options)
{
    struct pim_noc_callbacks callbacks = {.context = list, .delivered = delivered};
    struct pim_noc *noc;
    struct pim_error error = {0};
    if (pim_noc_create(configuration, NULL, 1, &callbacks, &noc, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    if (options.window)
        noc->mesh->crowd.window = options.window;
    for (size_t i = 0; i < options.task_count; i++)
        pim_noc_declare_task(noc, options.tasks[i].task, options.tasks[i].flits);
    enum { STUCK_STEPS = 1 << 16 };
    size_t sent = 0;
    uint64_t moved = UINT64_MAX;
    for (uint64_t steps = 1;; steps++) {
        uint64_t cycle = pim_noc_next_cycle(noc);
        if (sent < list->count && list->packets[sent].created < cycle)
            cycle = list->packets[sent].created;
        if (cycle == UINT64_MAX)
            break;
        for (; sent < list->count && list->packets[sent].created == cycle; sent++)
            send_one(noc, list, sent, options.tags);
        pim_noc_step(noc, cycle);
        if (steps % STUCK_STEPS == 0)
            must_move(noc, &moved);
        if (options.check_period && steps % options.check_period == 0)
            must_hold(noc);
    }
    must_hold(noc);
    for (size_t i = 0; i < list->count; i++)
        if (!list->packets[i].delivered)
            ck_abort_msg("packet %zu is not delivered", i);
    collect(noc, &options);
    pim_noc_destroy(noc);
}

void expect_same_links(const struct links *expected_links, const struct links *found_links, const char *what)
{
    ck_assert_uint_eq(expected_links->count, found_links->count);
    for (size_t i = 0; i < found_links->count; i++) {
        const struct pim_noc_link_use *expected = &expected_links->link[i], *found = &found_links->link[i];
        if (expected->from != found->from || expected->to != found->to ||
            expected->from_port != found->from_port || expected->flits != found->flits ||
            expected->busy_cycles != found->busy_cycles || expected->blocked_cycles != found->blocked_cycles)
            ck_abort_msg("%s: link %u->%u: %llu flits, blocked %llu; expected are %u->%u, %llu, %llu", what,
                         found->from, found->to, (unsigned long long)found->flits,
                         (unsigned long long)found->blocked_cycles, expected->from, expected->to,
                         (unsigned long long)expected->flits, (unsigned long long)expected->blocked_cycles);
    }
}

bool evaluated_by_sets(const struct pim_noc_configuration *configuration)
{
    struct pim_noc *noc;
    struct pim_error error = {0};
    if (pim_noc_create(configuration, NULL, 1, NULL, &noc, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    bool by_sets = noc->general && noc->general->sets;
    pim_noc_destroy(noc);
    return by_sets;
}

struct pim_noc_configuration general_mesh(void)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.virtual_channels = 8;
    configuration.general = true;
    return configuration;
}

void write_file(char path[PIM_NOC_PATH_LIMIT], const char *text)
{
    (void)snprintf(path, PIM_NOC_PATH_LIMIT, "/tmp/pimsim-noc-XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

struct list random_list(struct pim_random *random, uint32_t nodes)
{
    struct list list = {0};
    uint32_t packets = pick(random, 20, 500), one_in = pick(random, 1, 60), longest = pick(random, 1, 9);
    uint32_t hot = pick(random, 0, nodes - 1);
    for (uint64_t cycle = 0; packets > 0; cycle += chance(random, 50) ? 2000 : 1)
        for (uint32_t node = 0; node < nodes && packets > 0; node++) {
            if (!chance(random, one_in))
                continue;
            uint64_t flits = chance(random, 2) ? 1 : pick(random, 1, longest);
            list_add(&list, cycle, node, chance(random, 5) ? hot : pick(random, 0, nodes - 1),
                     chance(random, 40) ? pick(random, 10, 200) : flits);
            packets--;
        }
    return list;
}
