/* Chromosomes: what they mean, and their fitness. Rules: chromosome.h. */
#include "mappers/pimcomp/layout/chromosome.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static enum pim_status out_of_memory(struct pim_error *error, const struct pim_core_architecture *a)
{
    return pim_fail(error, PIM_NO_MEMORY, "no memory for layouts of %" PRIu32 " cores", a->cores);
}

enum pim_status pim_gene_space_make(const struct pim_core_mapping *mapping, uint32_t slots,
                                    struct pim_arena *arena, struct pim_gene_space *space,
                                    struct pim_error *error)
{
    const struct pim_core_architecture *a = mapping->architecture;
    const struct pim_core_network *network = mapping->network;
    const struct pim_core_partition *partition = mapping->partition;
    assert(slots >= 1 && slots <= PIM_GENES_MOST);
    *space = (struct pim_gene_space){.architecture = a,
                                     .network = network,
                                     .partition = partition,
                                     .slots = slots < a->arrays ? slots : a->arrays,
                                     .size = PIM_ARENA_ARRAY(arena, uint32_t, network->count),
                                     .matrix = PIM_ARENA_ARRAY(arena, uint32_t, network->count)};
    if (!space->size || !space->matrix)
        return out_of_memory(error, a);
    if (network->count > UINT32_MAX / PIM_GENE_LAYER)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " layers: a gene can name %" PRIu32, network->count,
                        UINT32_MAX / PIM_GENE_LAYER);
    PIM_TRY(pim_core_costs_prepare(mapping, arena, &space->costs, error));
    space->walk = space->costs.walk;
    for (uint32_t i = 0; i < network->count; i++) {
        const struct pim_core_partition_layer *layer = &partition->layer[i];
        if (layer->groups == 0)
            continue;
        space->matrix[space->matrices++] = i;
        for (uint32_t g = 0; g < layer->groups; g++)
            if (layer->group[g].arrays > space->size[i])
                space->size[i] = layer->group[g].arrays;
    }
    return PIM_OK;
}

enum pim_status pim_gene_workshop_make(const struct pim_gene_space *space, struct pim_arena *arena,
                                       struct pim_gene_workshop *w, struct pim_error *error)
{
    size_t cores = space->architecture->cores, layers = space->network->count;
    *w = (struct pim_gene_workshop){
        .portions.portion = PIM_ARENA_ARRAY(arena, struct pim_core_portion, cores * space->slots),
        .portions.first = PIM_ARENA_ARRAY(arena, uint32_t, cores + 1),
        .portions.link = PIM_ARENA_ARRAY(arena, struct pim_core_link, cores * space->slots),
        .missing = PIM_ARENA_ARRAY(arena, uint32_t, layers),
        .home = PIM_ARENA_ARRAY(arena, uint32_t, layers),
        .place_of_home = PIM_ARENA_ARRAY(arena, uint32_t, layers),
        .place = PIM_ARENA_ARRAY(arena, uint32_t, cores),
        .amount = PIM_ARENA_ARRAY(arena, uint32_t, cores),
    };
    if (!w->portions.portion || !w->portions.first || !w->portions.link || !w->missing || !w->home ||
        !w->place_of_home || !w->place || !w->amount)
        return out_of_memory(error, space->architecture);
    return pim_core_evaluation_make(&space->costs, arena, &w->evaluation, error);
}

enum pim_status pim_chromosome_make(const struct pim_gene_space *space, struct pim_arena *arena,
                                    struct pim_chromosome *c, struct pim_error *error)
{
    size_t cores = space->architecture->cores;
    *c = (struct pim_chromosome){
        .gene = PIM_ARENA_ARRAY(arena, uint32_t, cores * space->slots),
        .vacant = PIM_ARENA_ARRAY(arena, uint32_t, cores),
        .groups = PIM_ARENA_ARRAY(arena, uint32_t, space->network->count),
    };
    if (!c->gene || !c->vacant || !c->groups)
        return out_of_memory(error, space->architecture);
    return PIM_OK;
}

void pim_chromosome_copy(const struct pim_gene_space *space, struct pim_chromosome *to,
                         const struct pim_chromosome *from)
{
    size_t cores = space->architecture->cores;
    memcpy(to->gene, from->gene, cores * space->slots * sizeof *to->gene);
    memcpy(to->vacant, from->vacant, cores * sizeof *to->vacant);
    memcpy(to->groups, from->groups, space->network->count * sizeof *to->groups);
    to->cycles = from->cycles;
    to->spread = from->spread;
}

/* The slot of a layer at a position, or a free one; PIM_NONE: neither. */
static uint32_t slot_of(const struct pim_gene_space *space, const uint32_t *gene, uint32_t layer)
{
    uint32_t unused = PIM_NONE;
    for (uint32_t s = 0; s < space->slots; s++) {
        if (gene[s] == 0)
            unused = unused == PIM_NONE ? s : unused;
        else if (gene[s] / PIM_GENE_LAYER == layer)
            return s;
    }
    return unused;
}

uint32_t pim_chromosome_put(const struct pim_gene_space *space, struct pim_chromosome *c, uint32_t position,
                            uint32_t layer, uint32_t count)
{
    uint32_t fit = c->vacant[position] / space->size[layer];
    if (fit == 0)
        return 0;
    uint32_t *gene = c->gene + (size_t)position * space->slots, slot = slot_of(space, gene, layer);
    if (slot == PIM_NONE)
        return 0;
    uint32_t most = PIM_GENE_LAYER - 1 - gene[slot] % PIM_GENE_LAYER;
    count = count < fit ? count : fit;
    count = count < most ? count : most;
    if (count == 0)
        return 0;
    if (gene[slot] == 0)
        gene[slot] = layer * PIM_GENE_LAYER;
    gene[slot] += count;
    c->vacant[position] -= count * space->size[layer];
    c->groups[layer] += count;
    return count;
}

void pim_chromosome_take(const struct pim_gene_space *space, struct pim_chromosome *c, uint32_t position,
                         uint32_t slot, uint32_t count)
{
    uint32_t *gene = &c->gene[(size_t)position * space->slots + slot], layer = *gene / PIM_GENE_LAYER;
    assert(*gene % PIM_GENE_LAYER >= count);
    *gene -= count;
    c->vacant[position] += count * space->size[layer];
    c->groups[layer] -= count;
    if (*gene % PIM_GENE_LAYER == 0)
        *gene = 0;
}

/* Nothing in any core. */
static void clear(const struct pim_gene_space *space, struct pim_chromosome *c)
{
    const struct pim_core_architecture *a = space->architecture;
    memset(c->gene, 0, (size_t)a->cores * space->slots * sizeof *c->gene);
    memset(c->groups, 0, space->network->count * sizeof *c->groups);
    for (uint32_t p = 0; p < a->cores; p++)
        c->vacant[p] = a->arrays;
    c->cycles = c->spread = 0;
}

bool pim_chromosome_from_layout(const struct pim_gene_space *space, const struct pim_core_layout *layout,
                                struct pim_chromosome *c)
{
    clear(space, c);
    for (uint32_t p = 0; p < space->architecture->cores; p++)
        for (uint32_t m = 0; m < space->matrices; m++) {
            uint32_t layer = space->matrix[m], count = 0;
            size_t all = (size_t)layout->layer[layer].replicas * space->partition->layer[layer].groups;
            for (size_t g = 0; g < all; g++)
                count += layout->layer[layer].core[g] == space->walk[p];
            if (count > 0 && pim_chromosome_put(space, c, p, layer, count) < count)
                return false;
        }
    return true;
}

bool pim_chromosome_first(const struct pim_gene_space *space, struct pim_chromosome *c)
{
    const struct pim_core_architecture *a = space->architecture;
    clear(space, c);
    for (uint32_t m = 0; m < space->matrices; m++) {
        uint32_t layer = space->matrix[m], left = space->partition->layer[layer].groups;
        for (uint32_t p = 0; p < a->cores && left; p++)
            left -= pim_chromosome_put(space, c, p, layer, left);
        if (left)
            return false;
    }
    return true;
}

/* Gives out the groups of one gene: whole replicas, then the parts of shared ones. */
static void place_gene(const struct pim_gene_space *space, struct pim_gene_workshop *w, uint32_t position,
                       uint32_t index, uint32_t gene)
{
    uint32_t layer = gene / PIM_GENE_LAYER, count = gene % PIM_GENE_LAYER;
    uint32_t replica = space->partition->layer[layer].groups, whole = count / replica, rest = count % replica;
    struct pim_core_portion *portion = &w->portions.portion[index];
    *portion = (struct pim_core_portion){.layer = layer, .homes = whole, .replicas = whole, .groups = count};
    if (rest && w->missing[layer]) { /* a replica that was begun before */
        uint32_t part = rest < w->missing[layer] ? rest : w->missing[layer];
        portion->replicas++;
        portion->sums_out++;
        portion->contributor_groups = part;
        portion->span = w->portions.portion[w->home[layer]].homes;
        w->portions.link[w->portions.links++] =
            (struct pim_core_link){layer, w->place_of_home[layer], position, portion->span};
        w->portions.portion[w->home[layer]].sums_in++;
        w->missing[layer] -= part;
        rest -= part;
    }
    if (rest) { /* a new one begins */
        portion->replicas++;
        portion->homes++;
        w->home[layer] = index;
        w->place_of_home[layer] = position;
        w->missing[layer] = replica - rest;
    }
}

void pim_chromosome_weigh(const struct pim_gene_space *space, struct pim_gene_workshop *w,
                          struct pim_chromosome *c)
{
    uint32_t next = 0, cores = space->architecture->cores;
    w->portions.links = 0;
    memset(w->missing, 0, space->network->count * sizeof *w->missing);
    for (uint32_t m = 0; m < space->matrices; m++) {
        uint32_t layer = space->matrix[m];
        w->evaluation.replicas[layer] = c->groups[layer] / space->partition->layer[layer].groups;
    }
    for (uint32_t p = 0; p < cores; p++) {
        const uint32_t *gene = c->gene + (size_t)p * space->slots;
        w->portions.first[p] = next;
        for (uint32_t s = 0; s < space->slots; s++)
            if (gene[s] != 0)
                place_gene(space, w, p, next++, gene[s]);
    }
    w->portions.first[cores] = next;
    pim_core_evaluate(&space->costs, &w->evaluation, &w->portions);
    c->cycles = w->evaluation.result.cycles;
    c->spread = w->evaluation.result.spread;
}

/* Groups of a layer on each core. */
static void count_groups(const struct pim_gene_space *space, const struct pim_chromosome *c, uint32_t layer,
                         uint32_t *count)
{
    for (uint32_t p = 0; p < space->architecture->cores; p++) {
        const uint32_t *gene = c->gene + (size_t)p * space->slots;
        count[space->walk[p]] = 0;
        for (uint32_t s = 0; s < space->slots; s++)
            if (gene[s] / PIM_GENE_LAYER == layer && gene[s] != 0)
                count[space->walk[p]] = gene[s] % PIM_GENE_LAYER;
    }
}

/* Replicas of a parent whose groups are all still on their cores; what is left of the groups stays in
 * `count`. Returns how many. */
static uint32_t keep_replicas(const struct pim_core_layout_layer *parent, uint32_t groups, uint32_t *count,
                              struct pim_core_layout_layer *result)
{
    uint32_t kept = 0;
    for (uint32_t r = 0; r < parent->replicas && kept < result->replicas; r++) {
        const uint32_t *core = parent->core + (size_t)r * groups;
        uint32_t g = 0;
        while (g < groups && count[core[g]] > 0)
            count[core[g++]]--;
        if (g == groups)
            memcpy(result->core + (size_t)kept++ * groups, core, groups * sizeof *core);
        else
            while (g > 0)
                count[core[--g]]++;
    }
    return kept;
}

/* The groups that are given for each core become replicas from number `next` on: whole ones, and along the
 * walk those of what is left over. */
static void lay_layer(const struct pim_gene_space *space, uint32_t replica, uint32_t next,
                      const uint32_t *groups, struct pim_core_layout_layer *result)
{
    uint32_t *open = NULL; /* replica under construction, `missing` of its groups to come */
    uint32_t missing = 0;
    for (uint32_t p = 0; p < space->architecture->cores; p++) {
        uint32_t count = groups[space->walk[p]];
        for (; count >= replica; count -= replica, next++)
            for (uint32_t g = 0; g < replica; g++)
                result->core[(size_t)next * replica + g] = space->walk[p];
        for (; count > 0; count--) {
            if (missing == 0) {
                open = result->core + (size_t)next++ * replica;
                missing = replica;
            }
            open[replica - missing--] = space->walk[p];
        }
    }
}

enum pim_status pim_chromosome_layout(const struct pim_gene_space *space, const struct pim_chromosome *c,
                                      const struct pim_core_layout *parent, struct pim_arena *arena,
                                      struct pim_core_layout *layout, struct pim_error *error)
{
    uint32_t *count = PIM_ARENA_ARRAY(arena, uint32_t, space->architecture->cores);
    layout->layer = PIM_ARENA_ARRAY(arena, struct pim_core_layout_layer, space->network->count);
    if (!layout->layer || !count)
        return out_of_memory(error, space->architecture);
    for (uint32_t m = 0; m < space->matrices; m++) {
        uint32_t layer = space->matrix[m], groups = space->partition->layer[layer].groups;
        struct pim_core_layout_layer *result = &layout->layer[layer];
        result->replicas = c->groups[layer] / groups;
        result->core = PIM_ARENA_ARRAY(arena, uint32_t, c->groups[layer]);
        if (!result->core)
            return out_of_memory(error, space->architecture);
        count_groups(space, c, layer, count);
        uint32_t kept = parent ? keep_replicas(&parent->layer[layer], groups, count, result) : 0;
        lay_layer(space, groups, kept, count, result);
    }
    return PIM_OK;
}
