#include "tests/unit/noc_oracle/random_files.h"

#include "tests/unit/noc_oracle/net.h"
#include "tests/unit/test_main.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *text;
    size_t length, capacity;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    if (text->length + 128 > text->capacity) {
        text->capacity = 2 * text->capacity + 1024;
        text->text = realloc(text->text, text->capacity);
        if (!text->text)
            ck_abort_msg("out of memory");
    }
    va_list arguments;
    va_start(arguments, format);
    text->length +=
        (size_t)vsnprintf(text->text + text->length, text->capacity - text->length, format, arguments);
    va_end(arguments);
}

static void write_text(struct text *text, char path[PIM_NOC_PATH_LIMIT])
{
    write_file(path, text->text);
    free(text->text);
}

/* The columns behind the ends of a link, and the end of the line. */
static void add_columns(struct pim_random *random, struct text *text, bool narrow)
{
    if (chance(random, 3)) {
        add(text, ",,\n");
        return;
    }
    add(text, ",");
    if (chance(random, 2))
        add(text, "%u", pick(random, 1, chance(random, 6) ? 200 : 9));
    add(text, ",");
    if (narrow && chance(random, 2))
        add(text, "%u", pick(random, 1, 100));
    else if (narrow && chance(random, 2))
        add(text, "%u.%u", pick(random, 1, 90), pick(random, 0, 999));
    else if (narrow && chance(random, 2))
        add(text, "%u/%u", pick(random, 1, 300), pick(random, 1, 12));
    add(text, "\n");
}

/* --- express links --- */

/* A router elsewhere, more often than not in the same row or column. */
static int far_end(struct pim_random *random, const struct net *net, int from)
{
    if (chance(random, 4))
        return (int)pick(random, 0, (uint32_t)net->routers - 1);
    int step = 1, d = (int)pick(random, 0, (uint32_t)net->dimensions - 1);
    for (int i = 0; i < d; i++)
        step *= net->side[i];
    int at = from / step % net->side[d];
    return from + ((int)pick(random, 0, (uint32_t)net->side[d] - 1) - at) * step;
}

static bool is_linked(const struct net *net, int from, int to)
{
    for (int port = 0; port < PORTS; port++)
        if (net->out[from * PORTS + port].router == to)
            return true;
    return from == to;
}

void random_express(struct pim_random *random, struct pim_noc_configuration *is, uint32_t most)
{
    struct net net;
    struct text text = {0};
    net_create(&net, is);
    int *arrive = zeros((size_t)net.routers, sizeof *arrive);
    bool narrow = chance(random, 6);
    uint32_t links = 0, tries = pick(random, 1, (uint32_t)net.routers * most);
    add(&text, "from,to,latency,bits_per_cycle\n");
    for (; tries > 0 && net.routers > 2; tries--) {
        int from = (int)pick(random, 0, (uint32_t)net.routers - 1), to = far_end(random, &net, from);
        if (is_linked(&net, from, to) || net.ports[from] - net.express == (int)most ||
            arrive[to] == (int)most)
            continue;
        net_link(&net, from, net.ports[from]++, to, net.express + arrive[to]++, 1);
        add(&text, "%d,%d", from, to);
        add_columns(random, &text, narrow);
        links++;
    }
    free(arrive);
    net_destroy(&net);
    if (links > 0)
        write_text(&text, is->express_list);
    else
        free(text.text);
}

/* --- links that differ --- */

void random_links(struct pim_random *random, struct pim_noc_configuration *is)
{
    struct net net;
    struct text text = {0};
    uint32_t one_in = pick(random, 1, 8), links = 0;
    bool narrow = chance(random, 3);
    net_create(&net, is);
    add(&text, "from,to,latency,bits_per_cycle\n");
    for (int router = net.routers - 1; router >= 0; router--)
        for (int port = 0; port < net.ports[router]; port++) {
            int to = net.out[router * PORTS + port].router;
            if (to == NONE || !chance(random, one_in))
                continue;
            add(&text, "%d,%d", router, to);
            add_columns(random, &text, narrow);
            links++;
        }
    net_destroy(&net);
    if (links > 0)
        write_text(&text, is->link_list);
    else
        free(text.text);
}

/* --- tables --- */

/* The next router of each on its way to `goal`. `length`: of the links, by router x PORTS + port. */
static void ways_to(const struct net *net, int goal, const uint32_t *length, int *next)
{
    uint32_t *distance = zeros((size_t)net->routers, sizeof *distance);
    for (int router = 0; router < net->routers; router++)
        distance[router] = router == goal ? 0 : UINT32_MAX / 2;
    for (int round = 0; round < net->routers; round++)
        for (int router = 0; router < net->routers; router++)
            for (int port = 0; port < net->ports[router]; port++) {
                int to = net->out[router * PORTS + port].router;
                if (to == NONE || distance[to] + length[router * PORTS + port] >= distance[router])
                    continue;
                distance[router] = distance[to] + length[router * PORTS + port];
                next[router] = to;
            }
    free(distance);
}

void random_table(struct pim_random *random, struct pim_noc_configuration *is)
{
    struct net net;
    struct text text = {0};
    enum pim_noc_routing_kind routing = is->routing;
    is->routing = PIM_NOC_XY;
    net_create(&net, is);
    is->routing = routing;
    uint32_t *length = zeros((size_t)net.routers * PORTS, sizeof *length);
    int *next = zeros((size_t)net.routers, sizeof *next);
    /* equal lengths are shortest ways; few links that are long leave trees, which cannot deadlock */
    uint32_t longest = chance(random, 3) ? 1 : chance(random, 2) ? 3 : 1000;
    for (int i = 0; i < net.routers * PORTS; i++)
        length[i] = pick(random, 1, longest);
    add(&text, "router,destination,next\n");
    for (int goal = 0; goal < net.routers; goal++) {
        ways_to(&net, goal, length, next);
        for (int router = 0; router < net.routers; router++)
            if (router != goal)
                add(&text, "%d,%d,%d\n", router, goal, next[router]);
    }
    free(length);
    free(next);
    net_destroy(&net);
    write_text(&text, is->route_table);
}
