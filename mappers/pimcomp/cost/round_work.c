/*
 * What portions and messages do in a pass, and what of it is left over when the passes end: round_cost.h.
 */
#include "mappers/machine/core_times.h"
#include "mappers/pimcomp/cost/round_cost.h"
#include "mappers/pimcomp/throughput/rules.h"
#include "sim/integer.h"

#include <string.h>

/* --- what portions do in a pass --- */

/* Bytes that `windows` neighbouring windows read of `rows` kernel rows. */
static uint64_t job_bytes(const struct pim_core_cost *cost, uint64_t windows, uint64_t rows)
{
    uint64_t above = rows > cost->fresh_rows ? (rows - cost->fresh_rows) * cost->row_bytes : 0;
    if (windows >= cost->row)
        return above + windows * cost->new_bytes;
    uint64_t piece = rows * (cost->window_bytes + (windows - 1) * cost->column_bytes);
    return pim_smaller(piece, above + cost->row * cost->new_bytes);
}

/* Kernel rows that `groups` neighbouring array groups read: those that lie in one, and the parts before and
 * behind; at the beginning of the matrix there is none before. */
static uint64_t rows_of(const struct pim_core_cost *cost, uint64_t groups, bool first)
{
    uint64_t rows = first ? pim_divide_up(groups * cost->kernel_rows, cost->groups)
                          : 1 + (groups - 1) * cost->kernel_rows / cost->groups;
    return pim_smaller(rows, cost->kernel_rows);
}

/* Bytes that a portion loads for `steps` passes: the windows of its homes, and those that its contributors
 * take turns with. What reads a pixel only reads the channels of its groups. */
static uint64_t load_bytes(const struct pim_core_cost *cost, const struct pim_core_portion *portion,
                           uint64_t steps)
{
    uint64_t bytes = 0, own = portion->groups - portion->contributor_groups;
    if (portion->homes)
        bytes = job_bytes(cost, pim_smaller(portion->homes * steps, cost->windows), rows_of(cost, own, true));
    if (cost->pointwise && portion->homes && own < cost->groups)
        bytes = bytes * own / cost->groups;
    if (portion->span == 0)
        return bytes;
    uint64_t groups = pim_divide_up(portion->contributor_groups, portion->replicas - portion->homes);
    uint64_t contributor =
        job_bytes(cost, pim_smaller(portion->span * steps, cost->windows), rows_of(cost, groups, false));
    return bytes + (cost->pointwise ? contributor * groups / cost->groups : contributor);
}

static void work_of(const struct pim_core_costs *costs, const struct pim_core_portion *portion,
                    const struct pim_round_cost_layer *layer, struct pim_round_cost_portion *result)
{
    const struct pim_core_architecture *a = costs->architecture;
    const struct pim_core_cost *cost = &costs->layer[portion->layer];
    struct pim_round_cost_work *w = &result->work;
    uint64_t steps = layer->steps, bytes = load_bytes(cost, portion, steps);
    uint64_t sums = pim_divide_up(portion->groups, portion->replicas) - 1, replicas = portion->replicas;
    uint64_t loads = pim_divide_up(bytes * PIM_PART, steps * PIM_ROUND_STRETCH_BYTES);
    result->first_bytes = pim_smaller(bytes, load_bytes(cost, portion, 1));
    result->trip = cost->trip;
    w->mvms = (uint64_t)portion->groups * PIM_PART;
    w->ahead = loads + replicas * cost->copies * PIM_PART;
    w->sums = sums * PIM_PART;
    w->others = w->ahead + w->sums;
    w->inputs = portion->groups * cost->input_beats;
    w->adds = sums ? sums * pim_time_vector(a, replicas * cost->sum_elements, 2) : 0;
    w->ends = 0;
    w->port = pim_divide_up(portion->groups * (cost->mvm_beats + cost->copy_beats), cost->groups) +
              sums * replicas * cost->add_beats + portion->homes * cost->finish_beats +
              pim_divide_up(bytes * costs->load_cycles, steps * a->local_bytes_per_cycle) +
              portion->sums_in * (cost->add_beats + cost->sum_beats) + portion->sums_out * cost->sum_beats;
    w->bytes = (pim_divide_up(bytes - result->first_bytes, steps > 1 ? steps - 1 : 1) +
                portion->homes * cost->pixel_bytes);
    uint64_t batch =
        pim_round_batch(cost->pixel_bytes, portion->homes ? portion->homes : portion->span, steps);
    uint64_t messages =
        portion->homes > 1 || (!portion->homes && portion->span > 1) ? batch : 1; /* steps of one */
    if (portion->homes) {
        uint64_t pixels = batch * portion->homes, channels = cost->channels;
        uint64_t biases = cost->bias ? pim_divide_up(pixels, PIM_ROUND_BIASES) : 0;
        uint64_t ends = biases * pim_time_vector(a, pim_smaller(pixels, PIM_ROUND_BIASES) * channels, 2);
        if (cost->afters)
            ends += cost->afters * pim_time_vector(a, pixels * channels, 1);
        w->ends = pim_divide_up(ends, batch);
        w->others += pim_divide_up((biases + cost->afters) * PIM_PART, batch) +
                     pim_divide_up(portion->homes * PIM_PART, pim_larger(pixels, PIM_ROUND_STORE_PIXELS)) +
                     2 * portion->sums_in * PIM_PART / messages;
    }
    w->others += portion->sums_out * PIM_PART / messages;
    w->weight = w->ends + (portion->sums_in + portion->sums_out) * cost->add_cycles + 1;
    w->batched = w->weight * batch;
}

/* --- preparation --- */

/* Layers that are at work, their steps, and room for their portions in the list. */
static void count_portions(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                           const struct pim_core_portions *portions)
{
    const struct pim_core_portion *portion = portions->portion;
    struct pim_round_cost *r = w->round;
    uint32_t layers = costs->network->count;
    for (uint32_t i = 0; i < layers; i++) {
        struct pim_round_cost_layer *layer = &r->layer[i];
        *layer = (struct pim_round_cost_layer){.steps = 0};
        r->chain[i] = (struct pim_chain_layer){
            .scheduled = costs->layer[i].matrix ? w->replicas[i] != 0 : costs->layer[i].sources != 0};
        if (costs->layer[i].matrix && w->replicas[i])
            layer->steps = pim_divide_up(costs->layer[i].windows, w->replicas[i]);
    }
    for (uint32_t s = 0; s < portions->first[costs->architecture->cores]; s++) {
        struct pim_round_cost_layer *layer = &r->layer[portion[s].layer];
        layer->next++;
        layer->most_homes = pim_larger(layer->most_homes, portion[s].homes);
        layer->most_workers = pim_larger(layer->most_workers, 1 + portion[s].sums_in);
    }
    for (uint32_t i = 0, at = 0; i < layers; i++) {
        struct pim_round_cost_layer *layer = &r->layer[i];
        uint32_t count = layer->next;
        layer->first = layer->next = at;
        at += count;
    }
}

/* The portions of all layers, by layer. */
static void list_portions(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                          const struct pim_core_portions *portions)
{
    const struct pim_core_portion *portion = portions->portion;
    const uint32_t *first = portions->first;
    struct pim_round_cost *r = w->round;
    memset(r->member, 0, (size_t)costs->network->count * r->words * sizeof *r->member);
    memset(r->bytes, 0, costs->chips * sizeof *r->bytes);
    for (uint32_t p = 0; p < costs->architecture->cores; p++) {
        uint32_t core = costs->walk[p];
        r->core[core] = (struct pim_round_cost_core){.start = 0};
        r->core[core].first = first[p];
        r->core[core].next = first[p + 1];
        for (uint32_t s = first[p]; s < first[p + 1]; s++) {
            struct pim_round_cost_layer *layer = &r->layer[portion[s].layer];
            const struct pim_core_cost *cost = &costs->layer[portion[s].layer];
            struct pim_round_cost_portion *here = &r->portion[layer->next];
            r->own[s] = layer->next++;
            here->core = core;
            here->works = false;
            work_of(costs, &portion[s], layer, here);
            r->core[core].load += portion[s].replicas * layer->steps;
            r->bytes[costs->chip[core]] += (load_bytes(cost, &portion[s], layer->steps) +
                                            portion[s].homes * layer->steps * cost->pixel_bytes);
            r->member[(size_t)portion[s].layer * r->words + core / 64] |= UINT64_C(1) << core % 64;
        }
    }
}

static void find_memory(const struct pim_core_costs *costs, struct pim_core_evaluation *w)
{
    uint64_t sides = 0;
    for (uint32_t i = 0; i < costs->network->count; i++)
        if (!costs->layer[i].matrix && w->round->chain[i].scheduled)
            sides += costs->layer[i].windows * (costs->layer[i].new_bytes + costs->layer[i].pixel_bytes);
    for (uint32_t chip = 0; chip < costs->chips; chip++) {
        uint64_t bytes = w->round->bytes[chip] + sides / costs->chips;
        uint64_t memory =
            pim_divide_up(bytes * costs->memory_cycles, costs->architecture->global_bytes_per_cycle);
        w->result.spread += memory / 1024 * (memory / 1024);
    }
}

/* A home with several replicas receives the sums of a batch at once, others those of each step. */
static void price_message(const struct pim_core_costs *costs, const struct pim_round_cost_layer *layer,
                          const struct pim_core_link *link, struct pim_round_cost_message *message)
{
    const struct pim_core_architecture *a = costs->architecture;
    const struct pim_core_cost *cost = &costs->layer[link->layer];
    uint32_t contributor = costs->walk[link->contributor], home = costs->walk[link->home];
    uint64_t batch = link->span > 1 ? pim_round_batch(cost->pixel_bytes, link->span, layer->steps) : 1;
    uint64_t elements = batch * cost->sum_elements, way = pim_round_cost_path(costs, contributor, home);
    bool apart = costs->chip[contributor] != costs->chip[home];
    uint64_t bytes = apart ? pim_divide_up(elements * a->element_bytes, a->chip_link_bytes_per_cycle)
                           : pim_time_link(a, elements * a->element_bytes);
    *message = (struct pim_round_cost_message){
        .home = home,
        .contributor = contributor,
        .notice = way / batch,
        .way = (way + pim_time_read_latency(a) + pim_time_write_latency(a)) / batch,
        .bytes = bytes / batch,
        .add = pim_divide_up(pim_time_vector(a, elements, 2), batch)};
}

static void list_links(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                       const struct pim_core_portions *portions)
{
    const struct pim_core_link *link = portions->link;
    struct pim_round_cost *r = w->round;
    for (uint32_t i = 0; i < portions->links; i++)
        r->layer[link[i].layer].next_link++;
    for (uint32_t i = 0, at = 0; i < costs->network->count; i++) {
        uint32_t count = r->layer[i].next_link;
        r->layer[i].first_link = r->layer[i].next_link = at;
        at += count;
    }
    for (uint32_t i = 0; i < portions->links; i++) {
        struct pim_round_cost_layer *layer = &r->layer[link[i].layer];
        price_message(costs, layer, &link[i], &r->message[layer->next_link++]);
    }
}

/*
 * Layers of the vector units that nobody waits for. A core does a chunk of them in a pass, and begins with
 * the pass that spreads the cores over three quarters of the round; what it has not done when the last pass
 * of the others ends follows then.
 */
static void spread_sides(const struct pim_core_costs *costs, struct pim_round_cost *r)
{
    uint64_t cores = costs->architecture->cores, passes = pim_larger(r->passes, 1), all = 0, late = 0,
             chunks = 0;
    uint64_t vector = 0, port = 0, bytes = 0;
    memset(r->chunks, 0, cores * sizeof *r->chunks);
    for (uint32_t i = 0; i < costs->network->count; i++) {
        const struct pim_core_cost *cost = &costs->layer[i];
        if (cost->matrix || !r->chain[i].scheduled || r->chain[i].chained)
            continue;
        r->chunks[pim_smaller(r->layer[i].portions, cores) - 1] += r->chain[i].passes;
        chunks += r->chain[i].passes;
        vector += cost->windows * cost->finish_cycles;
        port += cost->windows * (cost->finish_beats + cost->load_beats);
        bytes += cost->windows * (cost->new_bytes + cost->pixel_bytes);
    }
    for (uint32_t rank = 0; rank < cores; rank++) {
        struct pim_round_cost_core *core = &r->core[r->list[rank]];
        uint64_t from = pim_round_begin(r->list[rank], cores, r->planned),
                 time = passes > from ? passes - from : 0;
        core->late = chunks > time ? chunks - time : 0;
        late += core->late;
        all += chunks;
        chunks -= r->chunks[rank]; /* the cores behind have no part in these layers */
    }
    r->side_vector = r->side_port = r->side_bytes = r->late_cycles = r->late_bytes = 0;
    if (all == 0)
        return;
    r->side_vector = pim_divide_up(vector * (all - late), all * cores * passes);
    r->side_port = pim_divide_up(port * (all - late), all * cores * passes);
    r->side_bytes = pim_divide_up(bytes * (all - late), all * costs->chips * passes);
    r->late_bytes = bytes / all;
    r->late_cycles = pim_larger(vector, port) / all +
                     (costs->architecture->global_read_cycles + costs->architecture->global_write_cycles) / 2;
}

void pim_round_cost_prepare(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                            const struct pim_core_portions *portions)
{
    count_portions(costs, w, portions);
    list_portions(costs, w, portions);
    find_memory(costs, w);
    list_links(costs, w, portions);
    pim_round_cost_chains(costs, w->round);
    spread_sides(costs, w->round);
}
