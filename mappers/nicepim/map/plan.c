#include "mappers/nicepim/map/plan.h"

#include "mappers/nicepim/map/place.h"

#include <stdlib.h>
#include <string.h>

/* A box that falls into `parts` pieces, of which the first is the largest. */
static void spread_of_box(const struct pim_span box[4], struct pim_map_layout layout, uint32_t parts,
                          struct spread *spread)
{
    struct pim_span piece[4];
    bool runs = true;
    spread->layout = layout;
    memcpy(piece, box, sizeof piece);
    if (parts > 1)
        split_box(box, layout, parts, 0, piece, &runs);
    for (size_t d = 0; d < 4; d++)
        spread->size[d] = runs ? box[d].to - box[d].from : piece[d].to - piece[d].from;
}

/* How the maps of a part lie, in these layouts. */
static void spread_maps(const struct nice_plan *plan, uint32_t layer, const struct pim_cut *cut,
                        const struct pim_part *part, const struct pim_map_layout layouts[3],
                        struct tile_product *product)
{
    const struct flow_operation *operation = &plan->flow.operation[layer];
    struct pim_span box[4], results[4] = {part->loop[PIM_LOOP_B], part->loop[PIM_LOOP_K],
                                          part->loop[PIM_LOOP_P], part->loop[PIM_LOOP_Q]};
    uint32_t of_k = cut->high[PIM_LOOP_K] * cut->wide[PIM_LOOP_K],
             of_c = cut->high[PIM_LOOP_C] * cut->wide[PIM_LOOP_C];
    flow_product_box(operation, part, box);
    spread_of_box(box, layouts[0], of_k, &product->input);
    spread_of_box(results, layouts[1], of_c, &product->output);
    if (operation->right == FLOW_STORED)
        return;
    uint32_t sharing =
        cut->high[PIM_LOOP_P] * cut->wide[PIM_LOOP_P] * cut->high[PIM_LOOP_Q] * cut->wide[PIM_LOOP_Q];
    flow_right_box(operation, part, box);
    spread_of_box(box, layouts[2], sharing, &product->weights);
}

static uint32_t length_of(const struct pim_part *part, enum pim_loop loop)
{
    return part->loop[loop].to - part->loop[loop].from;
}

bool nice_tile_product_in(const struct nice_plan *plan, uint32_t layer, const struct pim_cut *cut,
                          const struct pim_part *part, const struct pim_map_layout layouts[3],
                          struct tile_product *product)
{
    const struct flow_operation *operation = &plan->flow.operation[layer];
    const struct pim_conv *conv = &operation->conv;
    if (pim_part_macs(conv, part) == 0)
        return false;
    uint32_t outputs = length_of(part, PIM_LOOP_K), groups = operation->groups ? operation->groups : 1;
    uint32_t own = operation->dimension[1] / groups, n = groups > 1 && own < outputs ? own : outputs;
    memset(product, 0, sizeof *product);
    product->batches = length_of(part, PIM_LOOP_B);
    product->rows = length_of(part, PIM_LOOP_P);
    product->columns = length_of(part, PIM_LOOP_Q);
    product->n = n;
    product->channels = length_of(part, PIM_LOOP_C);
    product->count = (outputs + n - 1) / n;
    product->kernel[0] = conv->kernel_height;
    product->kernel[1] = conv->kernel_width;
    product->stride[0] = conv->stride_height;
    product->stride[1] = conv->stride_width;
    product->map[0] = conv->height;
    product->map[1] = conv->width;
    product->right = (uint32_t)operation->right;
    if (operation->right != FLOW_STORED) { /* every batch has weights of its own */
        product->count *= product->batches;
        product->batches = 1;
    }
    product->sums = cut->high[PIM_LOOP_C] * cut->wide[PIM_LOOP_C] > 1;
    spread_maps(plan, layer, cut, part, layouts, product);
    return true;
}

void nice_layouts_of(const struct nice_plan *plan, uint32_t layer, struct pim_map_layout layouts[3])
{
    const struct pim_layer *graph = &plan->flow.graph->layers[layer];
    layouts[0] = plan->layout[graph->input[0]];
    layouts[1] = plan->layout[layer];
    layouts[2] = plan->layout[graph->input[graph->inputs > 1 ? 1 : 0]];
}

bool nice_tile_product(const struct nice_plan *plan, uint32_t layer, const struct pim_cut *cut,
                       const struct pim_part *part, struct tile_product *product)
{
    struct pim_map_layout layouts[3];
    nice_layouts_of(plan, layer, layouts);
    return nice_tile_product_in(plan, layer, cut, part, layouts, product);
}

bool nice_tiling(const struct nice_plan *plan, const struct tile_product *product, struct tiling *tiling)
{
    return tile_recall(plan->tiles, plan->hardware, product, &plan->weights, tiling);
}

void nice_plan_terminate(struct nice_plan *plan)
{
    flow_terminate(&plan->flow);
    free(plan->corner);
    free(plan->decision);
    free(plan->layout);
    free(plan->part);
    tile_memory_destroy(plan->own_tiles);
    *plan = (struct nice_plan){0};
}

uint64_t nice_plan_stored(const struct nice_plan *plan)
{
    const struct pim_segments *segments = &plan->flow.segments;
    uint64_t sum = 0;
    for (uint32_t s = 0; s < segments->segment_count; s++) {
        const uint32_t first = segments->first[segments->branch[s]],
                       end = segments->first[segments->branch[s + 1]];
        uint64_t fullest = 0;
        for (uint32_t i = first; i < end; i++) {
            const struct nice_region *region = &plan->decision[segments->layers[i]].region;
            uint64_t stored = 0;
            for (uint32_t k = first; k < end; k++) {
                const struct nice_decision *other = &plan->decision[segments->layers[k]];
                if (memcmp(region, &other->region, sizeof *region) == 0)
                    stored += other->stored;
            }
            fullest = stored > fullest ? stored : fullest;
        }
        sum += fullest;
    }
    return sum;
}
