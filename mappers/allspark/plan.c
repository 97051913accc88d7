/* The plan: which scheme, ring, layout and temporal layers each stage gets, and whether the nodes can hold
   it. */
#include "mappers/allspark/mapping.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- the shape of a stage --- */

static enum pim_status read_stage(const struct pim_network *network, uint32_t index,
                                  struct pim_allspark_stage *stage, struct pim_error *error)
{
    const struct pim_transformer *transformer = network->transformer;
    const struct pim_transformer_stage *source = &transformer->stage[index];
    const struct pim_transformer_block *block = &transformer->block[source->first_block];
    const struct pim_attention *attention = &block->attention[0];
    if (block->attentions != 1 || attention->granularities != 1 ||
        attention->key_tokens != attention->query_tokens || block->reduction != 1 ||
        (transformer->family != PIM_FAMILY_SWIN && transformer->family != PIM_FAMILY_VIT))
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: the attention of the %s family is not mapped yet (stage %" PRIu32
                        "): networks of the families swin and vit are",
                        network->name, pim_family_name(transformer->family), index + 1);
    *stage =
        (struct pim_allspark_stage){.branches = attention->branches,
                                    .tokens = attention->query_tokens,
                                    .heads = attention->heads,
                                    .head_channels = attention->head_channels,
                                    .channels = block->channels,
                                    .hidden = block->hidden_channels,
                                    .merge_inputs = source->merge_inputs,
                                    .blocks = source->blocks,
                                    .class_tokens = source->class_tokens,
                                    .embeds = index == 0,
                                    .classes = index + 1 == transformer->stages ? transformer->classes : 0};
    return PIM_OK;
}

/* --- the whole --- */

static enum pim_status lay_out(struct pim_allspark_plan *plan, struct pim_error *error)
{
    for (uint32_t i = 0; i < plan->stages; i++) {
        struct pim_allspark_stage *stage = &plan->stage[i];
        if (!pim_allspark_layout(plan->hardware.height, plan->hardware.width, stage->ring, stage->v,
                                 &stage->layout))
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the layout of stage %" PRIu32, i + 1);
    }
    return PIM_OK;
}

static enum pim_status make(const struct pim_network *network, const struct pim_allspark_options *options,
                            struct pim_allspark_plan *plan, struct pim_error *error)
{
    plan->stages = network->transformer->stages;
    if (options->scheme == PIM_ALLSPARK_EXPLICIT && options->explicit_count != 1 &&
        options->explicit_count != plan->stages)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " partitions for %" PRIu32
                        " stages: give one for all, or one for each stage",
                        options->explicit_count, plan->stages);
    for (uint32_t i = 0; i < plan->stages; i++)
        if (read_stage(network, i, &plan->stage[i], error) != PIM_OK)
            return error->status;
    if (pim_plan_choose(plan, options, error) != PIM_OK)
        return error->status;
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
        free(plan->stage[i].layout.tiles);
        plan->stage[i].layout = (struct pim_allspark_layout){0};
    }
}

/* --- counts --- */

/* Weights of one block without merging: query, key, value, projection, and the two feed-forward layers. */
static uint64_t block_weights(const struct pim_allspark_stage *stage)
{
    uint64_t channels = stage->channels;
    return 4 * channels * channels + 2 * channels * stage->hidden;
}

uint64_t pim_allspark_weight_bytes(const struct pim_allspark_plan *plan)
{
    uint64_t bytes = (uint64_t)plan->network->transformer->classes * plan->stage[plan->stages - 1].channels;
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_stage *stage = &plan->stage[i];
        bytes += stage->blocks * block_weights(stage) + (uint64_t)stage->merge_inputs * stage->channels;
    }
    return bytes;
}

uint64_t pim_allspark_macs(const struct pim_allspark_plan *plan)
{
    uint64_t macs = (uint64_t)plan->network->transformer->classes * plan->stage[plan->stages - 1].channels;
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_stage *stage = &plan->stage[i];
        uint64_t tokens = (uint64_t)stage->branches * stage->tokens;
        uint64_t attention = 2 * tokens * stage->tokens * stage->channels;
        macs += stage->blocks * (tokens * block_weights(stage) + attention);
        macs += (tokens - (uint64_t)stage->branches * stage->class_tokens) * stage->merge_inputs *
                stage->channels;
    }
    return macs;
}
