/*
 * Which branches of a stage exchange data (section VII-A, Figure 9).
 *
 *  1. Swin: window (i, j), shifted by s of its w tokens in both directions, consists of tokens of the windows
 *     (i, j), (i, j + 1), (i + 1, j) and (i + 1, j + 1), cyclically at the border: (w - s) s, s (w - s) and
 *     s^2 of them come from the last three before the block, and go back after it.
 *  2. Focal: window (i, j) needs keys and values of what its region of (w + 2 e)^2 tokens covers of the
 *     others, cyclically, and one pooled token of each window of the f x f around it, not beyond the border.
 *  3. Twins: keys and values of the global block come from all windows. CSWin: a vertical and a horizontal
 *     stripe each hold half of the channels of the tokens where they cross. In both a branch needs something
 *     of all others, so data go round a cycle.
 *  4. ViT, PVT: one branch.
 */
#include "mappers/allspark/placement/placement.h"
#include "mappers/network/families.h"
#include "sim/integer.h"

#include <assert.h>
#include <stdlib.h>

/* Arcs of one branch after another. */
struct builder {
    struct pim_dependency_graph *graph;
    uint32_t rows, columns; /* of the grid of branches */
    uint32_t capacity;
    uint32_t row;     /* the branch whose neighbours are being added */
    uint32_t *listed; /* for each branch: 1 + its place among the neighbours, if it is one of `row` */
};

static void add(struct builder *b, uint32_t branch, uint32_t tokens)
{
    struct pim_dependency_graph *graph = b->graph;
    if (branch == b->row || tokens == 0)
        return;
    uint32_t place = b->listed[branch];
    if (place > graph->first[b->row]) { /* among the neighbours of this branch already */
        graph->neighbours[place - 1].tokens += tokens;
        return;
    }
    uint32_t *end = &graph->first[b->row + 1];
    assert(*end < b->capacity);
    graph->neighbours[*end] = (struct pim_dependency){branch, tokens};
    b->listed[branch] = ++*end;
}

static uint32_t wrapped(uint32_t index, int64_t by, uint32_t extent)
{
    assert(extent > 0);
    int64_t moved = ((int64_t)index + by) % (int64_t)extent;
    return (uint32_t)(moved < 0 ? moved + (int64_t)extent : moved);
}

static void add_shifted(struct builder *b, uint32_t window, uint32_t shift)
{
    const uint32_t y = b->row / b->columns, x = b->row % b->columns, stays = window - shift;
    for (int sign = 1; sign >= -1; sign -= 2) /* what it needs of others; what others need of it */
        for (uint32_t part = 1; part < 4; part++) {
            uint32_t down = part / 2, right = part % 2;
            uint32_t tokens = (down ? shift : stays) * (right ? shift : stays);
            uint32_t row = wrapped(y, (int64_t)sign * down, b->rows);
            add(b, row * b->columns + wrapped(x, (int64_t)sign * right, b->columns), tokens);
        }
}

/* Tokens that a window at distance `by` has in common, along one axis, with the window widened by
   `expand`. */
static uint32_t overlap(int64_t by, uint32_t window, uint32_t expand)
{
    int64_t from = (by < 0 ? -by : by) * window - window; /* to the edge of the window from its own edge */
    if (by == 0)
        return window;
    if (from >= expand)
        return 0;
    return expand - (uint32_t)from < window ? expand - (uint32_t)from : window;
}

static void add_focal(struct builder *b, uint32_t window, uint32_t expand, uint32_t side)
{
    const int64_t y = b->row / b->columns, x = b->row % b->columns;
    const int64_t fine = (expand + window - 1) / window, coarse = side / 2;
    const int64_t reach = fine > coarse ? fine : coarse;
    for (int64_t i = -reach; i <= reach; i++)
        for (int64_t j = -reach; j <= reach; j++) {
            bool inside = y + i >= 0 && y + i < b->rows && x + j >= 0 && x + j < b->columns;
            bool pooled = inside && i >= -coarse && i <= coarse && j >= -coarse && j <= coarse;
            uint32_t other =
                wrapped((uint32_t)y, i, b->rows) * b->columns + wrapped((uint32_t)x, j, b->columns);
            add(b, other, overlap(i, window, expand) * overlap(j, window, expand) + (pooled ? 1u : 0u));
        }
}

static void add_cycle(struct builder *b, uint32_t tokens)
{
    uint32_t n = b->graph->branches;
    add(b, wrapped(b->row, 1, n), tokens);
    if (n > 2) /* two branches have one edge between them */
        add(b, wrapped(b->row, -1, n), tokens);
}

static uint32_t root(uint32_t square)
{
    uint32_t side = 0;
    while ((uint64_t)(side + 1) * (side + 1) <= square)
        side++;
    return side;
}

struct pim_focal_reach pim_focal_reach(const struct pim_attention *attention, uint32_t window)
{
    return (struct pim_focal_reach){(root(attention->granularity_keys[0]) - window) / 2,
                                    root(attention->granularity_keys[1])};
}

/* How the branches of a stage depend on each other, and what that needs to know. */
struct rule {
    const struct pim_attention *attention; /* that of the blocks with the windows */
    enum pim_family_dependence kind;
    uint32_t window, cycle_tokens;
    struct pim_focal_reach focal;
    uint32_t degree; /* no branch has more neighbours */
};

static uint32_t focal_degree(const struct rule *rule)
{
    uint64_t reach = pim_larger(pim_divide_up(rule->focal.expand, rule->window), rule->focal.side / 2);
    return (uint32_t)pim_smaller((2 * reach + 1) * (2 * reach + 1), rule->attention->branches);
}

/* What goes in a round: the tokens of a stripe, or a branch's part of the keys of the global blocks. */
static uint32_t cycle_tokens(const struct pim_transformer_block *block,
                             const struct pim_transformer_stage *stage)
{
    const struct pim_attention *attention = &block->attention[0];
    uint64_t keys = (uint64_t)(stage->height / stage->reduction) * (stage->width / stage->reduction);
    return block->attentions == 2 ? attention->query_tokens
                                  : (uint32_t)pim_divide_up(keys, attention->branches);
}

static struct rule rule_of(const struct pim_transformer *transformer,
                           const struct pim_transformer_stage *stage)
{
    const struct pim_transformer_block *block = &transformer->block[stage->first_block];
    struct rule rule = {.attention = &block->attention[0],
                        .kind = pim_families[transformer->family].dependence,
                        .window = stage->window};
    if (rule.kind == PIM_BRANCHES_SHIFT)
        rule.degree = 6;
    if (rule.kind == PIM_BRANCHES_AROUND) {
        rule.focal = pim_focal_reach(rule.attention, rule.window);
        rule.degree = focal_degree(&rule);
    }
    if (rule.kind == PIM_BRANCHES_MEET_ALL) {
        rule.cycle_tokens = cycle_tokens(block, stage);
        rule.degree = 2;
    }
    return rule;
}

static void add_branch(struct builder *b, const struct rule *rule)
{
    if (rule->kind == PIM_BRANCHES_SHIFT)
        add_shifted(b, rule->window, rule->window / 2);
    if (rule->kind == PIM_BRANCHES_AROUND)
        add_focal(b, rule->window, rule->focal.expand, rule->focal.side);
    if (rule->kind == PIM_BRANCHES_MEET_ALL)
        add_cycle(b, rule->cycle_tokens);
}

enum pim_status pim_dependency_graph_make(const struct pim_transformer *transformer, uint32_t stage,
                                          struct pim_dependency_graph *graph, struct pim_error *error)
{
    assert(stage < transformer->stages);
    const struct pim_transformer_stage *view = &transformer->stage[stage];
    const struct rule rule = rule_of(transformer, view);
    const struct pim_transformer_block *block = &transformer->block[view->first_block];
    *graph = (struct pim_dependency_graph){.values = rule.kind == PIM_BRANCHES_SHIFT ? 1 : 2};
    for (uint32_t i = 0; i < block->attentions; i++)
        graph->branches += block->attention[i].branches;
    graph->all = rule.kind == PIM_BRANCHES_MEET_ALL && graph->branches > 1;
    uint64_t ends = (uint64_t)graph->branches * rule.degree; /* at most so many */
    if (ends > UINT32_MAX)
        return pim_fail(error, PIM_NO_MEMORY, "%u branches with up to %u neighbours each are too many",
                        (unsigned)graph->branches, (unsigned)rule.degree);
    struct builder b = {.graph = graph,
                        .rows = rule.attention->branches_y,
                        .columns = rule.attention->branches_x,
                        .capacity = (uint32_t)ends};
    graph->first = calloc((size_t)graph->branches + 1, sizeof *graph->first);
    graph->neighbours = calloc((size_t)b.capacity + 1, sizeof *graph->neighbours);
    b.listed = calloc((size_t)graph->branches + 1, sizeof *b.listed);
    if (!graph->first || !graph->neighbours || !b.listed) {
        free(b.listed);
        pim_dependency_graph_terminate(graph);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the dependencies of %u branches",
                        (unsigned)graph->branches);
    }
    for (; b.row < graph->branches; b.row++) {
        graph->first[b.row + 1] = graph->first[b.row];
        if (graph->branches > 1)
            add_branch(&b, &rule);
    }
    free(b.listed);
    return PIM_OK;
}

void pim_dependency_graph_terminate(struct pim_dependency_graph *graph)
{
    free(graph->first);
    free(graph->neighbours);
    *graph = (struct pim_dependency_graph){0};
}
