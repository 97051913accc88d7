/* The plan: which scheme, ring, layout and temporal layers each stage gets, and whether the nodes can hold it. */
#include "mappers/allspark/mapping.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t ceil_divide(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* --- the shape of a stage --- */

static enum pim_status read_stage(const struct pim_network *network, uint32_t index, struct pim_allspark_stage *stage,
                                  struct pim_error *error)
{
    const struct pim_transformer *transformer = network->transformer;
    const struct pim_transformer_stage *source = &transformer->stage[index];
    const struct pim_transformer_block *block = &transformer->block[source->first_block];
    const struct pim_attention *attention = &block->attention[0];
    if (block->attentions != 1 || attention->granularities != 1 || attention->key_tokens != attention->query_tokens ||
        block->reduction != 1 || (transformer->family != PIM_FAMILY_SWIN && transformer->family != PIM_FAMILY_VIT))
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: the attention of the %s family is not mapped yet (stage %" PRIu32
                        "): networks of the families swin and vit are",
                        network->name, pim_family_name(transformer->family), index + 1);
    *stage = (struct pim_allspark_stage){.branches = attention->branches,
                                         .tokens = attention->query_tokens,
                                         .heads = attention->heads,
                                         .head_channels = attention->head_channels,
                                         .channels = block->channels,
                                         .hidden = block->hidden_channels,
                                         .merge_inputs = source->merge_inputs,
                                         .blocks = source->blocks,
                                         .class_tokens = source->class_tokens};
    return PIM_OK;
}

/* --- schemes --- */

/* Longest column of a layout group: the longer side of the array, since sub-arrays may be turned. */
static uint32_t longest(const struct pim_estimate_hardware *hardware)
{
    return hardware->width > hardware->height ? hardware->width : hardware->height;
}

/* Largest divisor-free choice of P and AH: as many nodes as the work has parts and a line of the array has nodes. */
static uint32_t line(const struct pim_estimate_hardware *hardware, uint32_t parts)
{
    uint32_t nodes = parts < longest(hardware) ? parts : longest(hardware);
    /* Nodes beyond ceil(parts / ceil(parts / nodes)) would only make some nodes' share smaller, not the largest one. */
    return ceil_divide(parts, ceil_divide(parts, nodes));
}

static enum pim_status set_scheme(const struct pim_allspark_plan *plan, const struct pim_allspark_options *options, uint32_t index,
                                  struct pim_allspark_stage *stage, struct pim_error *error)
{
    stage->u = stage->v = 1;
    if (options->scheme == PIM_ALLSPARK_PATCH)
        stage->u = line(&plan->hardware, stage->tokens);
    if (options->scheme == PIM_ALLSPARK_HEAD)
        stage->v = line(&plan->hardware, stage->heads);
    if (options->scheme == PIM_ALLSPARK_EXPLICIT) {
        uint32_t given = options->explicit_count == 1 ? 0 : index;
        stage->u = options->u[given];
        stage->v = options->v[given];
    }
    if (stage->u == 0 || stage->u > stage->tokens || stage->v == 0 || stage->v > stage->heads)
        return pim_fail(error, PIM_BAD_INPUT,
                        "stage %" PRIu32 ": partition %" PRIu32 ",%" PRIu32 " does not fit a branch of %" PRIu32 " tokens and %" PRIu32
                        " heads: u from 1 to %" PRIu32 " and v from 1 to %" PRIu32 " are possible",
                        index + 1, stage->u, stage->v, stage->tokens, stage->heads, stage->tokens, stage->heads);
    if (pim_allspark_layout_count(plan->hardware.height, plan->hardware.width, stage->u, stage->v) == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "stage %" PRIu32 ": a sub-array of %" PRIu32 " x %" PRIu32 " nodes does not fit the array of %" PRIu32 " x %" PRIu32,
                        index + 1, stage->u, stage->v, plan->hardware.height, plan->hardware.width);
    return PIM_OK;
}

/* Sets the ring and what follows from it; false when a group of ring x v does not fit the array. */
static bool set_ring(const struct pim_estimate_hardware *hardware, struct pim_allspark_stage *stage, uint32_t ring)
{
    stage->ring = ring;
    stage->slots = ring / stage->u;
    uint32_t groups = pim_allspark_layout_count(hardware->height, hardware->width, ring, stage->v);
    stage->layout.count = groups;
    stage->layers = groups ? ceil_divide(stage->branches, groups * stage->slots) : 0;
    return groups != 0;
}

static bool fits(const struct pim_allspark_plan *plan)
{
    return plan->weight_bytes + plan->workspace_bytes <= plan->hardware.memory_bytes;
}

/* Rings of `length` nodes where a scheme allows it, the nearest multiple of u below it (at least u) elsewhere. */
static bool set_rings(struct pim_allspark_plan *plan, uint32_t length)
{
    for (uint32_t i = 0; i < plan->stages; i++) {
        struct pim_allspark_stage *stage = &plan->stage[i];
        uint32_t ring = length < stage->u ? stage->u : length - length % stage->u;
        if (!set_ring(&plan->hardware, stage, ring))
            return false;
    }
    pim_plan_memory(plan);
    return true;
}

static enum pim_status too_large(const struct pim_allspark_plan *plan, struct pim_error *error)
{
    char stages[512] = "";
    for (uint32_t i = 0; i < plan->stages; i++) {
        size_t used = strlen(stages);
        (void)snprintf(stages + used, sizeof stages - used, "%sstage %" PRIu32 " %" PRIu64, i ? " + " : "", i + 1,
                       plan->stage[i].weight_bytes);
    }
    return pim_fail(error, PIM_BAD_INPUT,
                    "%s does not fit: a node needs %" PRIu64 " bytes (weights: %s + classifier %" PRIu64 "; workspace %" PRIu64
                    ") and has %" PRIu64
                    ": use more nodes for a branch, a longer weight ring, or more memory (dram.rows, dram.banks)",
                    plan->network->name, plan->weight_bytes + plan->workspace_bytes, stages, plan->head_bytes, plan->workspace_bytes,
                    plan->hardware.memory_bytes);
}

/* The shortest rings with which the nodes can hold everything. */
static enum pim_status choose_rings(struct pim_allspark_plan *plan, uint32_t ring, struct pim_error *error)
{
    if (ring) {
        if (!set_rings(plan, ring))
            return pim_fail(error, PIM_BAD_INPUT, "a weight ring of %" PRIu32 " nodes does not fit the array of %" PRIu32 " x %" PRIu32,
                            ring, plan->hardware.height, plan->hardware.width);
        return fits(plan) ? PIM_OK : too_large(plan, error);
    }
    uint32_t longest_ring = longest(&plan->hardware);
    for (uint32_t length = 1; length <= longest_ring; length++)
        if (set_rings(plan, length) && fits(plan))
            return PIM_OK;
    for (uint32_t length = longest_ring; length > 1; length--)
        if (set_rings(plan, length))
            break;
    return too_large(plan, error);
}

/* --- automatic --- */

/* Time of one stage alone under the scheme it has. */
static enum pim_status stage_cycles(const struct pim_allspark_plan *plan, uint32_t index, uint64_t *cycles, struct pim_error *error)
{
    struct pim_allspark_plan alone = *plan;
    /* The stage keeps its place: the first stage embeds patches, later ones merge. */
    for (uint32_t i = 0; i < alone.stages; i++)
        if (i != index)
            alone.stage[i].blocks = 0;
    return pim_allspark_estimate(&alone, cycles, error);
}

/* For each stage the u x v with the least estimate, one after another; only schemes that differ in their largest share are tried. */
static enum pim_status choose_schemes(struct pim_allspark_plan *plan, struct pim_error *error)
{
    const struct pim_estimate_hardware *hardware = &plan->hardware;
    for (uint32_t i = 0; i < plan->stages; i++) {
        struct pim_allspark_stage *stage = &plan->stage[i];
        struct pim_allspark_stage best = *stage;
        uint64_t least = UINT64_MAX;
        for (uint32_t u = 1; u <= stage->tokens && u <= longest(hardware); u++) {
            if (ceil_divide(stage->tokens, ceil_divide(stage->tokens, u)) != u)
                continue;
            for (uint32_t v = 1; v <= stage->heads && v <= longest(hardware); v++) {
                if (ceil_divide(stage->heads, ceil_divide(stage->heads, v)) != v)
                    continue;
                stage->u = u;
                stage->v = v;
                uint64_t cycles;
                if (!set_ring(hardware, stage, u) || stage_cycles(plan, i, &cycles, error) != PIM_OK)
                    continue;
                if (cycles < least) {
                    least = cycles;
                    best = *stage;
                }
            }
        }
        if (least == UINT64_MAX)
            return pim_fail(error, PIM_BAD_INPUT, "stage %" PRIu32 ": no partition fits the array and the buffers", i + 1);
        *stage = best;
    }
    return PIM_OK;
}

/* --- the whole --- */

static enum pim_status lay_out(struct pim_allspark_plan *plan, struct pim_error *error)
{
    for (uint32_t i = 0; i < plan->stages; i++) {
        struct pim_allspark_stage *stage = &plan->stage[i];
        if (!pim_allspark_layout(plan->hardware.height, plan->hardware.width, stage->ring, stage->v, &stage->layout))
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the layout of stage %" PRIu32, i + 1);
    }
    return PIM_OK;
}

static enum pim_status make(const struct pim_network *network, const struct pim_allspark_options *options,
                            struct pim_allspark_plan *plan, struct pim_error *error)
{
    plan->stages = network->transformer->stages;
    if (options->scheme == PIM_ALLSPARK_EXPLICIT && options->explicit_count != 1 && options->explicit_count != plan->stages)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " partitions for %" PRIu32 " stages: give one for all, or one for each stage",
                        options->explicit_count, plan->stages);
    for (uint32_t i = 0; i < plan->stages; i++)
        if (read_stage(network, i, &plan->stage[i], error) != PIM_OK ||
            set_scheme(plan, options, i, &plan->stage[i], error) != PIM_OK ||
            !set_ring(&plan->hardware, &plan->stage[i], plan->stage[i].u))
            return error->status;
    if (options->scheme == PIM_ALLSPARK_AUTOMATIC && choose_schemes(plan, error) != PIM_OK)
        return error->status;
    if (choose_rings(plan, options->ring, error) != PIM_OK)
        return error->status;
    return lay_out(plan, error);
}

enum pim_status pim_allspark_plan(const struct pim_network *network, const struct pim_estimate_hardware *hardware,
                                  const struct pim_allspark_options *options, struct pim_allspark_plan *plan, struct pim_error *error)
{
    *plan = (struct pim_allspark_plan){.hardware = *hardware, .network = network};
    if (!network->transformer)
        return pim_fail(error, PIM_BAD_INPUT, "%s is not a vision transformer: the Allspark mapping needs one", network->name);
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
        macs += (tokens - (uint64_t)stage->branches * stage->class_tokens) * stage->merge_inputs * stage->channels;
    }
    return macs;
}
