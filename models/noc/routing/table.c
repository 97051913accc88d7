/*
 * Routing tables: rows of (router, destination, next router).
 *
 * A table is taken when every packet arrives: the rows for one destination make each router point to its next
 * one, and following them from any router has to end at the destination.
 */
#include "models/noc/routing/internal.h"
#include "sim/output/csv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- file --- */

static enum pim_status read_row(const struct pim_csv_reader *reader, struct pim_noc_route_table *table,
                                struct pim_error *error)
{
    uint64_t router, destination, next, last = table->routers - 1;
    if (pim_csv_count(reader, 0, 0, last, &router, error) != PIM_OK ||
        pim_csv_count(reader, 1, 0, last, &destination, error) != PIM_OK ||
        pim_csv_count(reader, 2, 0, last, &next, error) != PIM_OK)
        return error->status;
    if (next == router)
        return router == destination
                   ? PIM_OK
                   : pim_csv_refuse(reader, 2, "allowed are routers other than the row's own", error);
    if (router == destination)
        return pim_csv_refuse(reader, 2, "the row's router is the destination, where packets stay", error);
    size_t at = (size_t)router * table->routers + (size_t)destination;
    if (table->next[at] != PIM_NOC_NONE) {
        char text[96];
        (void)snprintf(text, sizeof text,
                       "line %" PRIu32 " has the next router for this pair already: allowed is one row",
                       table->line[at]);
        return pim_csv_refuse(reader, 2, text, error);
    }
    uint64_t line = pim_csv_line(reader);
    table->next[at] = (uint32_t)next;
    table->line[at] = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
    return PIM_OK;
}

static enum pim_status read_rows(const char *path, struct pim_noc_route_table *table, struct pim_error *error)
{
    static const char *const header[] = {"router", "destination", "next"};
    struct pim_csv_reader *reader;
    if (pim_csv_open(&reader, path, header, 3, error) != PIM_OK)
        return error->status;
    bool more = true;
    enum pim_status status = PIM_OK;
    while (status == PIM_OK && (status = pim_csv_next(reader, &more, error)) == PIM_OK && more)
        status = read_row(reader, table, error);
    pim_csv_close(reader);
    return status;
}

enum pim_status pim_noc_route_table_read(const char *path, uint32_t routers,
                                         struct pim_noc_route_table *table, struct pim_error *error)
{
    *table = (struct pim_noc_route_table){.routers = routers};
    if (routers < 1 || routers > PIM_NOC_TABLE_ROUTERS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: a network of %" PRIu32 " routers has no routing table: allowed are up to %d",
                        path, routers, PIM_NOC_TABLE_ROUTERS);
    size_t pairs = (size_t)routers * routers, length = strlen(path) + 1;
    table->next = malloc(pairs * sizeof *table->next);
    table->line = calloc(pairs, sizeof *table->line);
    table->path = malloc(length);
    if (!table->next || !table->line || !table->path) {
        pim_noc_route_table_terminate(table);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a table of %" PRIu32 " routers", routers);
    }
    memcpy(table->path, path, length);
    memset(table->next, 0xff, pairs * sizeof *table->next); /* PIM_NOC_NONE */
    enum pim_status status = read_rows(path, table, error);
    if (status != PIM_OK)
        pim_noc_route_table_terminate(table);
    return status;
}

void pim_noc_route_table_terminate(struct pim_noc_route_table *table)
{
    free(table->next);
    free(table->line);
    free(table->path);
    *table = (struct pim_noc_route_table){.routers = 0};
}

/* --- into a routing --- */

/* "FILE:LINE" of a row, for messages. */
static enum pim_status refuse(const struct pim_noc_route_table *table, size_t at, const char *what,
                              struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu32 ": router %zu, destination %zu, next %" PRIu32 ": %s",
                    table->path ? table->path : "routing table", table->line ? table->line[at] : 0,
                    at / table->routers, at % table->routers, table->next[at], what);
}

static enum pim_status take_ports(struct pim_noc_routing *routing, const struct pim_noc_route_table *table,
                                  struct pim_error *error)
{
    const struct pim_noc_topology *topology = routing->topology;
    for (uint32_t r = 0; r < topology->routers; r++) {
        for (uint32_t d = 0; d < topology->routers; d++) {
            size_t at = (size_t)r * topology->routers + d;
            if (r == d)
                continue;
            if (table->next[at] == PIM_NOC_NONE)
                return pim_fail(error, PIM_BAD_INPUT,
                                "%s: router %" PRIu32 " has no row for destination %" PRIu32
                                ": a packet there never arrives",
                                table->path ? table->path : "routing table", r, d);
            uint32_t link = pim_noc_find_link(topology, r, table->next[at]);
            if (link == PIM_NOC_NONE)
                return refuse(table, at, "no link leads there", error);
            routing->table[at] = topology->link[link].from_port;
        }
    }
    return PIM_OK;
}

/* Follows the rows for destination `d` from every router. `mark`, by router, zero: 1 + the router at which a
 * walk began that passed there. */
static enum pim_status follow(const struct pim_noc_route_table *table, uint32_t d, uint32_t *mark,
                              struct pim_error *error)
{
    mark[d] = UINT32_MAX;
    for (uint32_t start = 0; start < table->routers; start++) {
        uint32_t r = start;
        for (; mark[r] == 0; r = table->next[(size_t)r * table->routers + d])
            mark[r] = start + 1;
        if (mark[r] == start + 1 && r != d)
            return refuse(table, (size_t)r * table->routers + d, "the rows lead in a loop from here", error);
    }
    return PIM_OK;
}

enum pim_status noc_routing_take_table(struct pim_noc_routing *routing,
                                       const struct pim_noc_route_table *table, struct pim_error *error)
{
    uint32_t routers = routing->topology->routers;
    if (table->routers != routers || routers > PIM_NOC_TABLE_ROUTERS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the routing table is for %" PRIu32 " routers, the network has %" PRIu32
                        ": allowed are as many, up to %d",
                        table->routers, routers, PIM_NOC_TABLE_ROUTERS);
    routing->table = calloc((size_t)routers * routers, sizeof *routing->table);
    uint32_t *mark = calloc(routers, sizeof *mark);
    enum pim_status status = routing->table && mark
                                 ? take_ports(routing, table, error)
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for the routing table");
    for (uint32_t d = 0; d < routers && status == PIM_OK; d++) {
        memset(mark, 0, routers * sizeof *mark);
        status = follow(table, d, mark, error);
    }
    free(mark);
    return status;
}
