/*
 * Cycles in the dependency graph: a depth-first search finds one if there is one; a breadth-first search from
 * some of its channels then looks for a shorter one, which is easier to read.
 */
#include "models/noc/dependency/internal.h"

#include <stdlib.h>
#include <string.h>

enum { SHORTER_TRIES = 32 }; /* channels of the cycle from which a shorter one is looked for */

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the channel dependency graph");
}

struct frame {
    uint32_t node;
    uint64_t place; /* next edge */
};

struct search {
    const struct noc_dependencies *graph;
    uint8_t *colour; /* by node: 0 not seen, 1 on the stack, 2 leads to no cycle */
    struct frame *stack;
    size_t depth, room;
};

static bool push(struct search *search, uint32_t node)
{
    if (search->depth == search->room) {
        size_t room = search->room ? 2 * search->room : 1024;
        struct frame *stack = realloc(search->stack, room * sizeof *stack);
        if (!stack)
            return false;
        search->stack = stack;
        search->room = room;
    }
    search->stack[search->depth++] = (struct frame){node, 0};
    search->colour[node] = 1;
    return true;
}

/* Searches from `root`. *closed is the node on the stack that the last one waits for, or PIM_NOC_NONE. */
static bool search_from(struct search *search, uint32_t root, uint32_t *closed)
{
    *closed = PIM_NOC_NONE;
    if (!push(search, root))
        return false;
    while (search->depth > 0) {
        struct frame *top = &search->stack[search->depth - 1];
        uint32_t next = noc_dependency_next(search->graph, top->node, &top->place);
        if (next == PIM_NOC_NONE) {
            search->colour[top->node] = 2;
            search->depth--;
        } else if (search->colour[next] == 1) {
            *closed = next;
            return true;
        } else if (search->colour[next] == 0 && !push(search, next)) {
            return false;
        }
    }
    return true;
}

/* --- a shorter cycle --- */

struct breadth {
    uint32_t *before; /* by node: from where it was reached first, PIM_NOC_NONE: not reached */
    uint32_t *queue;
};

/* Length of a shortest cycle through `root` when it is below `limit`, else 0; `before` tells the way back. */
static uint32_t shortest_through(const struct noc_dependencies *graph, struct breadth *breadth, uint32_t root,
                                 uint32_t limit)
{
    uint32_t begin = 0, end = 1;
    memset(breadth->before, 0xff, graph->nodes * sizeof *breadth->before);
    breadth->queue[0] = root;
    for (uint32_t length = 1; begin < end && length < limit; length++) {
        for (uint32_t level = end; begin < level; begin++) {
            uint64_t place = 0;
            uint32_t node = breadth->queue[begin], next;
            while ((next = noc_dependency_next(graph, node, &place)) != PIM_NOC_NONE) {
                if (breadth->before[next] != PIM_NOC_NONE)
                    continue;
                breadth->before[next] = node;
                if (next == root)
                    return length;
                breadth->queue[end++] = next;
            }
        }
    }
    return 0;
}

/* Replaces the cycle by a shorter one through one of its channels. */
static enum pim_status shorten(const struct noc_dependencies *graph, uint32_t *cycle, uint32_t *count,
                               struct pim_error *error)
{
    struct breadth breadth = {.before = malloc(graph->nodes * sizeof *breadth.before),
                              .queue = malloc(((size_t)graph->nodes + 1) * sizeof *breadth.queue)};
    uint32_t tries = *count < SHORTER_TRIES ? *count : SHORTER_TRIES;
    uint32_t *roots = malloc(tries * sizeof *roots);
    enum pim_status status = breadth.before && breadth.queue && roots ? PIM_OK : no_memory(error);
    for (uint32_t i = 0; i < tries && status == PIM_OK; i++)
        roots[i] = cycle[i];
    for (uint32_t i = 0; i < tries && status == PIM_OK; i++) {
        uint32_t length = shortest_through(graph, &breadth, roots[i], *count);
        if (length == 0)
            continue;
        *count = length;
        for (uint32_t at = length, node = breadth.before[roots[i]]; at-- > 0; node = breadth.before[node])
            cycle[at] = node;
    }
    free(breadth.before);
    free(breadth.queue);
    free(roots);
    return status;
}

/* --- search --- */

static enum pim_status take_cycle(const struct search *search, uint32_t closed, uint32_t **cycle,
                                  uint32_t *count, struct pim_error *error)
{
    size_t first = search->depth;
    while (search->stack[first - 1].node != closed)
        first--;
    first--;
    *count = (uint32_t)(search->depth - first);
    *cycle = malloc(*count * sizeof **cycle);
    if (!*cycle) {
        *count = 0;
        return no_memory(error);
    }
    for (uint32_t i = 0; i < *count; i++)
        (*cycle)[i] = search->stack[first + i].node;
    return search->graph->escape ? PIM_OK : shorten(search->graph, *cycle, count, error);
}

enum pim_status noc_dependency_search(const struct noc_dependencies *graph, uint32_t **cycle, uint32_t *count,
                                      struct pim_error *error)
{
    struct search search = {.graph = graph, .colour = calloc((size_t)graph->nodes + 1, 1)};
    enum pim_status status = search.colour ? PIM_OK : no_memory(error);
    *cycle = NULL;
    *count = 0;
    for (uint32_t root = 0; root < graph->channels && status == PIM_OK && *count == 0; root++) {
        uint32_t closed;
        if (search.colour[root] != 0)
            continue;
        if (!search_from(&search, root, &closed))
            status = no_memory(error);
        else if (closed != PIM_NOC_NONE)
            status = take_cycle(&search, closed, cycle, count, error);
    }
    free(search.colour);
    free(search.stack);
    return status;
}
