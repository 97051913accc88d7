#include "mappers/nicepim/ddam/pipeline.h"

#include "mappers/nicepim/map/program/emit.h"
#include "mappers/nicepim/map/program/product.h"
#include "mappers/nicepim/map/program/vectors.h"
#include "mappers/nicepim/map/results.h"

#include <stdlib.h>
#include <string.h>

/* What the emitter has of an image. */
struct image {
    struct home *home;
    struct product **started;
};

static void no_memory(struct emitter *emitter)
{
    if (emitter->program.status == PIM_OK)
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for the images of a pipeline");
}

static uint32_t first_product(const struct nice_plan *plan, uint32_t part)
{
    uint32_t i = 0;
    while (plan->flow.operation[i].kind != FLOW_PRODUCT || plan->part[i] != part)
        i++;
    return i;
}

static uint32_t node_of(const struct nice_plan *plan, const struct nice_region *region, uint32_t i)
{
    i %= region->width * region->height;
    return (region->y + i / region->width) * plan->hardware->width + region->x + i % region->width;
}

static bool is_inside(const struct nice_plan *plan, const struct nice_region *region, uint32_t node)
{
    uint32_t x = node % plan->hardware->width, y = node / plan->hardware->width;
    return x >= region->x && x < region->x + region->width && y >= region->y &&
           y < region->y + region->height;
}

static bool reads(const struct pim_layer *layer, uint32_t tensor)
{
    for (uint32_t k = 0; k < layer->inputs; k++)
        if (layer->input[k] == tensor)
            return true;
    return false;
}

/* --- what comes from other parts --- */

/* Whether a part reads a map of an earlier one with more than the product that it begins with. */
static bool is_imported(const struct nice_plan *plan, uint32_t tensor, uint32_t part, uint32_t leader)
{
    for (uint32_t i = tensor + 1; i < plan->flow.count && plan->part[tensor] < part; i++)
        if (plan->part[i] == part && i != leader && reads(&plan->flow.graph->layers[i], tensor))
            return true;
    return false;
}

/* Spreads a map over a region; it lies there from then on. */
static void import(struct emitter *emitter, uint32_t tensor, const struct nice_region *region)
{
    const struct nice_plan *plan = emitter->plan;
    uint32_t nodes = region->width * region->height;
    struct home old = emitter->home[tensor], made = {0};
    struct pim_span whole[4];
    made.pieces = calloc((size_t)nodes + 1, sizeof *made.pieces);
    if (!made.pieces) {
        no_memory(emitter);
        return;
    }
    for (size_t d = 0; d < 4; d++)
        whole[d] = (struct pim_span){0, plan->flow.operation[tensor].dimension[d]};
    for (uint32_t i = 0; i < nodes; i++) {
        struct piece *piece = &made.pieces[made.count];
        bool runs;
        *piece = (struct piece){.node = node_of(plan, region, i),
                                .place = {.layout = plan->layout[tensor], .width = FLOW_BYTES}};
        split_box(whole, plan->layout[tensor], nodes, i, piece->place.box, &runs);
        if (flow_box_elements(piece->place.box) == 0)
            continue;
        piece->place.address = program_allocate(&emitter->program, piece->node, place_bytes(&piece->place));
        move_box(emitter, tensor, piece->node, piece->place.box, &piece->place);
        made.count++;
    }
    free(old.pieces);
    emitter->home[tensor] = made;
}

static void open_part(struct emitter *emitter, uint32_t part)
{
    const struct nice_plan *plan = emitter->plan;
    uint32_t leader = first_product(plan, part);
    const struct nice_region *region = &plan->decision[leader].region;
    uint64_t parts[PIM_ESTIMATE_PARTS] = {0};
    bool any = false;
    for (uint32_t t = 0; t < plan->flow.count && emitter->program.status == PIM_OK; t++) {
        if (emitter->home[t].everywhere || !is_imported(plan, t, part, leader))
            continue;
        if (!any)
            program_begin(&emitter->program, plan->flow.graph->layers[leader].name, "arrive");
        any = true;
        import(emitter, t, region);
    }
    if (any) {
        program_gather(&emitter->program, PIM_ESTIMATE_TRANSFER);
        parts[PIM_ESTIMATE_TRANSFER] = move_all(emitter);
        program_gathered(&emitter->program, parts);
        program_end(&emitter->program, parts);
    }
    if (part > 0 && emitter->program.status == PIM_OK)
        emitter->started[leader] = nice_start_product(emitter, leader);
}

/* --- the work of a part --- */

/* Pieces that would lie on nodes of other parts lie in the region instead. */
static void keep_inside(struct emitter *emitter, uint32_t layer, const struct nice_region *region)
{
    struct home *home = &emitter->home[layer];
    for (uint32_t i = 0; i < home->count; i++) {
        struct piece *piece = &home->pieces[i];
        if (is_inside(emitter->plan, region, piece->node))
            continue;
        piece->node = node_of(emitter->plan, region, i);
        piece->place.address = program_allocate(&emitter->program, piece->node, place_bytes(&piece->place));
    }
}

static void give_back(struct program *program, const struct nice_region *region)
{
    for (uint32_t node = 0; node < program->nodes; node++)
        if (is_inside(program->plan, region, node))
            program->scratch[node] = 0;
}

static void work_part(struct emitter *emitter, uint32_t part)
{
    const struct nice_plan *plan = emitter->plan;
    const struct nice_region *region = &plan->decision[first_product(plan, part)].region;
    for (uint32_t i = 0; i < plan->flow.count && emitter->program.status == PIM_OK; i++) {
        if (plan->part[i] != part)
            continue;
        if (plan->flow.operation[i].kind == FLOW_PRODUCT) {
            nice_emit_product(emitter, i);
        } else if (results_follow(emitter, i)) {
            keep_inside(emitter, i, region);
            vector_emit(emitter, i);
        }
        give_back(&emitter->program, region);
    }
}

/* --- all images --- */

static void release(const struct emitter *emitter, struct image *image)
{
    for (uint32_t i = 0; image->home && i < emitter->plan->flow.count; i++)
        free(image->home[i].pieces);
    for (uint32_t i = 0; image->started && i < emitter->plan->flow.count; i++)
        product_destroy(image->started[i]);
    free(image->home);
    free(image->started);
}

static void step_parts(struct emitter *emitter, struct image *images, uint32_t step)
{
    const struct nice_plan *plan = emitter->plan;
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t part = plan->parts; part-- > 0 && emitter->program.status == PIM_OK;) {
            if (step < part || step - part >= plan->images)
                continue;
            struct image *image = &images[step - part];
            emitter->home = image->home;
            emitter->started = image->started;
            emitter->program.image = step - part;
            if (turn == 0)
                open_part(emitter, part);
            else
                work_part(emitter, part);
        }
    program_give_back(&emitter->program);
}

void ddam_emit(struct emitter *emitter)
{
    const struct nice_plan *plan = emitter->plan;
    size_t count = plan->flow.count + (size_t)1;
    struct home *home = emitter->home;
    struct product **started = emitter->started;
    struct image *images = calloc(plan->images + (size_t)1, sizeof *images);
    emitter->kept_weights = calloc(count, sizeof *emitter->kept_weights);
    if (!images || !emitter->kept_weights)
        no_memory(emitter);
    for (uint32_t i = 0; images && i < plan->images; i++) {
        images[i].home = calloc(count, sizeof *images[i].home);
        images[i].started = calloc(count, sizeof(struct product *));
        if (!images[i].home || !images[i].started)
            no_memory(emitter);
        for (uint32_t t = 0; images[i].home && t < plan->flow.count; t++)
            images[i].home[t].everywhere = plan->flow.operation[t].kind == FLOW_INPUT;
    }
    for (uint32_t step = 0; step + 1 < plan->images + plan->parts && emitter->program.status == PIM_OK;
         step++)
        step_parts(emitter, images, step);
    for (uint32_t i = 0; images && i < plan->images; i++) {
        emitter->home = images[i].home;
        emitter->program.image = i;
        nice_note_results(emitter);
        release(emitter, &images[i]);
    }
    for (size_t i = 0; emitter->kept_weights && i < count; i++)
        free(emitter->kept_weights[i]);
    free(emitter->kept_weights);
    emitter->kept_weights = NULL;
    free(images);
    emitter->home = home;
    emitter->started = started;
    emitter->program.image = 0;
}
