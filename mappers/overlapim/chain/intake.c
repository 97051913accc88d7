#include "mappers/overlapim/chain/intake.h"

#include "mappers/overlapim/emit/real.h"

uint32_t pim_intake_latest(const struct pim_mapped_layer *layer, const struct pim_schedule *schedules)
{
    uint32_t latest = 0;
    for (uint32_t j = 1; j < layer->links; j++) {
        uint32_t mine = layer->link[j].producer, theirs = layer->link[latest].producer;
        uint64_t end = schedules[mine].end, last = schedules[theirs].end;
        if (end > last || (end == last && mine > theirs))
            latest = j;
    }
    return latest;
}

/* Instructions of a row whose operations are on real rows, beside those of every row. */
static uint64_t real_instructions(const struct pim_search_inputs *inputs, uint32_t index,
                                  const struct pim_layer_mapping *mapping)
{
    struct pim_error ignored = {PIM_OK, ""};
    struct pim_real real;
    const struct pim_mapped_layer *layer = &inputs->layers->layer[index];
    if (!inputs->real || !layer->product ||
        pim_real_place(inputs->machine, layer, inputs->spaces[index].drop_weights, &mapping->nest,
                       &mapping->strides, &real, &ignored) != PIM_OK)
        return 0;
    return 2 * real.count[PIM_REAL_INSIDE] + 64 * real.outputs;
}

/* Whether all receives of a layer are posted when it begins: no sender waits for it, in whatever order its
 * producers send. */
static bool fits(const struct pim_search_inputs *inputs, const struct pim_layer_mapping *mappings,
                 uint32_t index, uint64_t rows)
{
    const struct pim_mapped_layers *layers = inputs->layers;
    const struct pim_layer_mapping *mapping = &mappings[index];
    struct pim_column_use use;
    uint64_t each = 16; /* a row's own instructions, at most */
    pim_column_use(&layers->layer[index], &mapping->nest, &mapping->strides, &use);
    for (uint64_t left = use.shared; left > 1; left = (left + 1) / 2)
        each += 4;
    for (uint32_t j = 0; j < layers->layer[index].links; j++)
        each += 2 * mappings[layers->layer[index].link[j].producer].cost.channels;
    for (uint32_t i = index + 1; i < layers->count; i++) {
        for (uint32_t j = 0; j < layers->layer[i].links; j++)
            each += layers->layer[i].link[j].producer == index ? 2 * mappings[i].cost.channels : 0;
    }
    each += real_instructions(inputs, index, mapping);
    return rows < inputs->machine->window / each;
}

struct pim_intake pim_intake_decide(const struct pim_search_inputs *inputs,
                                    const struct pim_layer_mapping *mappings, uint32_t index, uint64_t rows,
                                    const struct pim_schedule *schedules, bool ends)
{
    return (struct pim_intake){.latest = pim_intake_latest(&inputs->layers->layer[index], schedules),
                               .each_row = fits(inputs, mappings, index, rows),
                               .ends = ends};
}

bool pim_intake_whole(const struct pim_search_inputs *inputs, struct pim_intake intake, uint32_t index,
                      uint32_t link)
{
    const struct pim_link *of = &inputs->layers->layer[index].link[link];
    return of->role == PIM_LINK_WHOLE || (link != intake.latest && !intake.each_row) ||
           (intake.ends && pim_intake_at_end(inputs, index, of->producer));
}

uint32_t pim_intake_places(const struct pim_search_inputs *inputs)
{
    return inputs->machine->stacks * inputs->machine->channels / inputs->channels;
}

bool pim_intake_at_end(const struct pim_search_inputs *inputs, uint32_t index, uint32_t producer)
{
    const uint32_t places = pim_intake_places(inputs);
    return inputs->layers->layer[index].links > 1 || index / places != producer / places;
}

uint64_t pim_intake_share(const struct pim_mapped_layer *layer, uint64_t moved, uint32_t links)
{
    uint64_t parts = 0, all = 0;
    if (layer->links == 0) /* the input of the network */
        return links > 0 ? moved : 0;
    for (uint32_t j = 0; j < layer->links; j++) {
        parts += j < links ? layer->part[j] : 0;
        all += layer->part[j];
    }
    return moved / all * parts + moved % all * parts / all;
}

uint64_t pim_intake_head(const struct pim_search_inputs *inputs, uint32_t index,
                         const struct pim_step_cost *cost, uint32_t link)
{
    const struct pim_mapped_layer *layer = &inputs->layers->layer[index];
    if (inputs->real && layer->product) /* moves of real rows are behind all that is received */
        return 0;
    return pim_intake_share(layer, cost->load, link);
}
