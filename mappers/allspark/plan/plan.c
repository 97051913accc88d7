/* The plan: which scheme, ring, layout and temporal layers each stage gets, and whether the nodes can hold
   it. */
#include "mappers/allspark/layers/layers.h"
#include "mappers/allspark/placement/placement.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/shapes.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- the shape of a stage --- */

/* What a window sees: read from the view. */
static struct pim_allspark_focal focal_of(const struct pim_transformer *transformer, uint32_t stage,
                                          const struct pim_attention *attention)
{
    uint32_t window = transformer->stage[stage].window;
    if (pim_families[transformer->family].dependence != PIM_BRANCHES_AROUND)
        return (struct pim_allspark_focal){0};
    const struct pim_focal_reach reach = pim_focal_reach(attention, window);
    return (struct pim_allspark_focal){.rows = attention->branches_y,
                                       .columns = attention->branches_x,
                                       .window = window,
                                       .expand = reach.expand,
                                       .side = reach.side};
}

static struct pim_allspark_position position_of(const struct pim_transformer *transformer, uint32_t stage,
                                                uint32_t first)
{
    const struct pim_transformer_stage *source = &transformer->stage[stage];
    return (struct pim_allspark_position){
        .convolution = first == 0 ? pim_families[transformer->family].convolution : PIM_NO_CONVOLUTION,
        .height = source->height,
        .width = source->width,
        .window = source->window};
}

/* Adds the stage of the plan with the blocks first, first + step ... of a stage of the network. */
static enum pim_status read_blocks(const struct pim_network *network, uint32_t index, uint32_t first,
                                   uint32_t step, struct pim_allspark_plan *plan, struct pim_error *error)
{
    const struct pim_transformer *transformer = network->transformer;
    const struct pim_transformer_stage *source = &transformer->stage[index];
    const struct pim_transformer_block *block = &transformer->block[source->first_block + first];
    const struct pim_attention *attention = &block->attention[0];
    if (plan->stages == PIM_STAGES)
        return pim_fail(error, PIM_BAD_INPUT, "%s has more than %d kinds of blocks: so many can be mapped",
                        network->name, PIM_STAGES);
    struct pim_allspark_stage *stage = &plan->stage[plan->stages];
    stage->partition = calloc(1, sizeof *stage->partition);
    PIM_NEED_MEMORY(stage->partition, error, "out of memory for the plan");
    stage->partitions = 1;
    stage->of = index;
    stage->first_block = first;
    stage->block_step = step;
    stage->partner = plan->stages++;
    bool merges = first == 0, shifts = step == 1 && source->blocks > 1;
    stage->partition[0] = (struct pim_allspark_partition){
        .branches = attention->branches,
        .tokens = attention->query_tokens,
        .key_tokens = attention->key_tokens,
        .made_keys = attention->key_tokens,
        .reduction = block->reduction * block->reduction,
        .shift = shifts ? transformer->block[source->first_block + 1].shift : 0,
        .focal = focal_of(transformer, index, attention),
        .position = position_of(transformer, index, first),
        .heads = attention->heads,
        .head_channels = attention->head_channels,
        .channels = block->channels,
        .hidden = block->hidden_channels,
        .merge_inputs = merges ? source->merge_inputs : 0,
        .blocks = (source->blocks - first + step - 1) / step,
        .class_tokens = source->class_tokens,
        .embeds = index == 0 && merges};
    return PIM_OK;
}

static enum pim_status read_stage(const struct pim_network *network, uint32_t index,
                                  struct pim_allspark_plan *plan, struct pim_error *error)
{
    const struct pim_transformer *transformer = network->transformer;
    uint32_t blocks = transformer->stage[index].blocks, last_kind = (blocks - 1) % 2;
    if (transformer->block[transformer->stage[index].first_block].attentions == 2) {
        for (unsigned half = 0; half < 2; half++) /* projections and stripes have the same blocks */
            PIM_TRY(read_blocks(network, index, 0, 1, plan, error));
        pim_stripes_split(plan);
        return PIM_OK;
    }
    if (!pim_families[transformer->family].alternates || blocks == 1)
        return read_blocks(network, index, 0, 1, plan, error);
    if (read_blocks(network, index, 1 - last_kind, 2, plan, error) != PIM_OK ||
        read_blocks(network, index, last_kind, 2, plan, error) != PIM_OK)
        return error->status;
    plan->stage[plan->stages - 1].partner = plan->stages - 2;
    plan->stage[plan->stages - 2].partner = plan->stages - 1;
    return PIM_OK;
}

/* --- the whole --- */

static enum pim_status lay_out(struct pim_allspark_plan *plan, struct pim_error *error)
{
    for (uint32_t i = 0; i < plan->stages; i++)
        for (uint32_t j = 0; j < plan->stage[i].partitions; j++) {
            struct pim_allspark_partition *part = &plan->stage[i].partition[j];
            if (!pim_allspark_layout(plan->hardware.height, plan->hardware.width, part->slots * part->u,
                                     part->v, &part->layout))
                return pim_fail(error, PIM_NO_MEMORY, "out of memory for the layout of stage %" PRIu32,
                                i + 1);
        }
    return pim_plan_place(plan, error) == PIM_OK ? pim_plan_exchange(plan, error) : error->status;
}

static enum pim_status make(const struct pim_network *network, const struct pim_allspark_options *options,
                            struct pim_allspark_plan *plan, struct pim_error *error)
{
    plan->batch = options->batch ? options->batch : 1;
    plan->prefetch = options->prefetch == PIM_PREFETCH_ON;
    plan->exchange = options->exchange == PIM_ALLSPARK_GATHER ? PIM_ALLSPARK_GATHER : PIM_ALLSPARK_DIRECT;
    for (uint32_t i = 0; i < network->transformer->stages; i++)
        PIM_TRY(read_stage(network, i, plan, error));
    plan->stage[plan->stages - 1].partition[0].classes = network->transformer->classes;
    if (options->scheme == PIM_ALLSPARK_EXPLICIT && options->explicit_count != 1 &&
        options->explicit_count != plan->stages)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " partitions for %" PRIu32
                        " stages: give one for all, or one for each stage",
                        options->explicit_count, plan->stages);
    if (pim_plan_divide(plan, options, error) != PIM_OK || pim_plan_choose(plan, options, error) != PIM_OK)
        return error->status;
    if (plan->weight_bytes + plan->workspace_bytes > plan->hardware.memory_bytes)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "%s does not fit: while features go from one kind of blocks to the other a node needs "
            "%" PRIu64 " bytes (weights %" PRIu64 ", workspace %" PRIu64 ") and has %" PRIu64,
            network->name, plan->weight_bytes + plan->workspace_bytes, plan->weight_bytes,
            plan->workspace_bytes, plan->hardware.memory_bytes);
    return lay_out(plan, error);
}

enum pim_status pim_allspark_plan(const struct pim_network *network,
                                  const struct pim_estimate_hardware *hardware,
                                  const struct pim_allspark_options *options, struct pim_allspark_plan *plan,
                                  struct pim_error *error)
{
    *plan = (struct pim_allspark_plan){.hardware = *hardware, .network = network};
    if (!network->transformer)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s is not a vision transformer: the Allspark mapping needs one", network->name);
    if (make(network, options, plan, error) != PIM_OK) {
        pim_allspark_plan_terminate(plan);
        return error->status;
    }
    return PIM_OK;
}

void pim_allspark_plan_terminate(struct pim_allspark_plan *plan)
{
    for (uint32_t i = 0; i < PIM_STAGES; i++) {
        struct pim_allspark_stage *stage = &plan->stage[i];
        for (uint32_t j = 0; j < stage->partitions; j++)
            free(stage->partition[j].layout.tiles);
        free(stage->partition);
        free(stage->slot_of);
        *stage = (struct pim_allspark_stage){0};
    }
}

/* --- counts --- */

/* Weights of one block without merging: query, key, value, projection, the two feed-forward layers, and the
   reduction. */
static uint64_t block_weights(const struct pim_allspark_partition *part)
{
    uint64_t channels = part->channels, position = 0;
    if (pim_weight_exists(part, PIM_ALLSPARK_POSITION, 1)) /* in every block */
        position = pim_position_weights(part) * channels;
    if (part->work == PIM_ALLSPARK_STRIPES)
        return position;
    uint64_t reduction = part->reduction > 1 ? part->reduction * channels * channels : 0;
    uint64_t pooling = pim_stage_focuses(part) ? part->tokens : 0;
    return 4 * channels * channels + 2 * channels * part->hidden + reduction + pooling + position;
}

/* Weights and multiply-accumulates of the convolution over the map, which a stage has once. */
static uint64_t map_weights(const struct pim_allspark_partition *part)
{
    return part->position.convolution == PIM_CONVOLUTION_OVER_MAP
               ? (uint64_t)PIM_POSITION_TAPS * part->channels
               : 0;
}

static uint64_t map_macs(const struct pim_allspark_partition *part)
{
    return (uint64_t)part->position.height * part->position.width * map_weights(part);
}

/* Multiply-accumulates of one block of a branch. */
static uint64_t block_macs(const struct pim_allspark_partition *part)
{
    uint64_t channels = part->channels, tokens = part->tokens, keys = part->key_tokens;
    uint64_t each_token = 2 * channels * channels + 2 * channels * part->hidden; /* query, projection */
    uint64_t each_key =
        2 * channels * channels + (part->reduction > 1 ? part->reduction * channels * channels : 0);
    /* Focal: keys and values are worked where the tokens are, and for the pooled token */
    uint64_t worked = pim_stage_focuses(part) ? tokens + 1 : part->made_keys;
    uint64_t pooling = pim_stage_focuses(part) ? tokens * channels : 0;
    uint64_t attention = 2 * tokens * keys * channels;
    if (pim_weight_exists(part, PIM_ALLSPARK_POSITION, 1))
        attention += PIM_POSITION_TAPS * tokens * channels;
    if (part->work == PIM_ALLSPARK_STRIPES)
        return attention;
    return tokens * each_token + worked * each_key + (part->work == PIM_ALLSPARK_BLOCK ? attention : 0) +
           pooling;
}

uint64_t pim_allspark_weight_bytes(const struct pim_allspark_plan *plan)
{
    uint64_t bytes =
        (uint64_t)plan->network->transformer->classes * plan->stage[plan->stages - 1].partition[0].channels;
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_partition *stage = &plan->stage[i].partition[0];
        bytes += stage->blocks * block_weights(stage) + (uint64_t)stage->merge_inputs * stage->channels +
                 map_weights(stage);
    }
    return bytes;
}

uint64_t pim_allspark_macs(const struct pim_allspark_plan *plan)
{
    uint64_t macs =
        (uint64_t)plan->network->transformer->classes * plan->stage[plan->stages - 1].partition[0].channels;
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_partition *part = &plan->stage[i].partition[0];
        macs += (uint64_t)part->blocks * part->branches * block_macs(part) + map_macs(part);
        macs += (uint64_t)part->branches * (part->tokens - part->class_tokens) * part->merge_inputs *
                part->channels;
    }
    return plan->batch * macs;
}
