#include "mappers/allspark/check/check_values.h"

#include "mappers/allspark/check/machine/machine.h"
#include "mappers/allspark/check/network/reference.h"
#include "mappers/allspark/check/numbers.h"
#include "mappers/allspark/check/placing.h"
#include "mappers/allspark/check/standing.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/shapes.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct stage_run {
    struct machine *machine;
    const struct pim_allspark_plan *plan;
    const struct pim_trace *trace;
    uint32_t index, image;
    uint16_t *row; /* of the inputs of a token, or of the class token */
    struct reference reference;
    uint16_t *logits;
    uint64_t compared;
    struct pim_arena arena; /* numbers of the weights of a stage */
};

static struct pim_workspace space_of(const struct stage_run *run, uint32_t partition)
{
    struct pim_workspace space;
    pim_workspace_layout(&run->plan->stage[run->index], partition, run->image, run->plan->workspace_base,
                         &space);
    return space;
}

/* The tokens and channels of a node. */
static struct pim_range tokens_of(const struct standing *at)
{
    uint64_t first = share_start(at->part->tokens, at->part->u, at->row);
    return (struct pim_range){first, first + share_of(at->part->tokens, at->part->u, at->row)};
}

static struct pim_range channels_of(const struct standing *at, uint64_t total)
{
    return (struct pim_range){spread_before(at->part, total, at->column),
                              spread_before(at->part, total, at->column + 1)};
}

/* --- inputs --- */

static enum pim_status place_class(const struct stage_run *run, const struct standing *at, uint64_t address,
                                   struct pim_error *error)
{
    const struct pim_range channels = channels_of(at, at->part->channels);
    for (uint64_t c = channels.first; c < channels.end; c++)
        run->row[c - channels.first] = class_number((uint32_t)c);
    return machine_place(run->machine, at->unit, address, run->row, channels.end - channels.first, error);
}

static enum pim_status place_inputs(void *context, const struct standing *at, struct pim_error *error)
{
    struct stage_run *run = context;
    const struct pim_allspark_partition *part = at->part;
    const struct pim_workspace space = space_of(run, at->index);
    const struct pim_range tokens = tokens_of(at), inputs = part->embeds
                                                                ? (struct pim_range){0, part->merge_inputs}
                                                                : channels_of(at, part->merge_inputs);
    for (uint32_t layer = 0; layer < part->layers; layer++) {
        uint32_t branch = branch_of(at, layer);
        uint64_t address = space.inputs + layer * space.inputs_stride;
        if (branch == UINT32_MAX)
            continue;
        for (uint64_t token = pim_larger(tokens.first, part->class_tokens); token < tokens.end; token++) {
            uint64_t row = input_row(run->index, run->image, branch, (uint32_t)token);
            for (uint64_t k = inputs.first; k < inputs.end; k++)
                run->row[k - inputs.first] = input_number(row, (uint32_t)k);
            PIM_TRY(
                machine_place(run->machine, at->unit, address, run->row, inputs.end - inputs.first, error));
            address += inputs.end - inputs.first;
        }
        if (tokens.first < part->class_tokens)
            PIM_TRY(place_class(run, at, space.features + layer * space.features_stride, error));
    }
    return PIM_OK;
}

/* --- comparing --- */

static enum pim_status wrong(const struct stage_run *run, const struct standing *at, uint32_t layer,
                             uint32_t branch, uint64_t token, uint64_t channel, const uint16_t *there,
                             struct pim_error *error)
{
    uint16_t right = run->reference.branch[branch][token * at->part->channels + channel];
    char text[16] = "nothing";
    if (there)
        (void)snprintf(text, sizeof text, "%u", *there);
    return pim_fail(error, PIM_BAD_INPUT,
                    "stage %" PRIu32 ", temporal layer %" PRIu32 ", image %" PRIu32 ": token %" PRIu64
                    ", channel %" PRIu64 " of branch %" PRIu32 " is %s on node %" PRIu32
                    ": the network has %u",
                    at->stage->of + 1, at->part->first_layer + layer, run->image + 1, token, channel, branch,
                    text, at->unit, right);
}

static enum pim_status compare_features(void *context, const struct standing *at, struct pim_error *error)
{
    struct stage_run *run = context;
    const struct pim_workspace space = space_of(run, at->index);
    const struct pim_range tokens = tokens_of(at), channels = channels_of(at, at->part->channels);
    for (uint32_t layer = 0; layer < at->part->layers; layer++) {
        uint32_t branch = branch_of(at, layer);
        uint64_t address = space.features + layer * space.features_stride;
        if (branch == UINT32_MAX)
            continue;
        for (uint64_t token = tokens.first; token < tokens.end; token++)
            for (uint64_t c = channels.first; c < channels.end; c++) {
                const uint16_t *there = machine_read(run->machine, at->unit, address++, 1);
                if (!there || *there != run->reference.branch[branch][token * at->part->channels + c])
                    return wrong(run, at, layer, branch, token, c, there, error);
                run->compared++;
            }
    }
    return PIM_OK;
}

static enum pim_status compare_classes(void *context, const struct standing *at, struct pim_error *error)
{
    struct stage_run *run = context;
    uint32_t classes = run->plan->network->transformer->classes;
    const struct pim_workspace space = space_of(run, 0);
    uint64_t start = share_start(classes, at->part->v, at->column),
             count = share_of(classes, at->part->v, at->column);
    if (at->index != 0 || at->group != 0 || at->ring != 0 || classes == 0)
        return PIM_OK;
    for (uint64_t i = 0; i < count; i++) {
        const uint16_t *there = machine_read(run->machine, at->unit, space.logits + i, 1);
        if (!there || *there != run->logits[start + i])
            return pim_fail(error, PIM_BAD_INPUT,
                            "image %" PRIu32 ": class %" PRIu64 " is %d on node %" PRIu32
                            ": the network has %u",
                            run->image + 1, start + i, there ? *there : -1, at->unit, run->logits[start + i]);
        run->compared++;
    }
    return PIM_OK;
}

/* As many elements as there are: none was left out. */
static enum pim_status all_compared(const struct stage_run *run, uint64_t before, uint64_t wanted,
                                    struct pim_error *error)
{
    if (run->compared - before == wanted)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "stage %" PRIu32 ": %" PRIu64 " elements lie on nodes: the network has %" PRIu64,
                    run->plan->stage[run->index].of + 1, run->compared - before, wanted);
}

static enum pim_status compare_stage(struct stage_run *run, struct pim_error *error)
{
    const struct pim_allspark_stage *stage = &run->plan->stage[run->index];
    const struct reference *network = &run->reference;
    uint64_t before = run->compared;
    for (uint32_t i = 0; i < stage->partitions; i++) {
        const struct pim_allspark_partition *part = &stage->partition[i];
        if (part->branches != network->branches || part->tokens != network->tokens ||
            part->channels != network->channels)
            return pim_fail(error, PIM_BAD_INPUT,
                            "stage %" PRIu32 ": partition %" PRIu32 " has %" PRIu32 " branches of %" PRIu32
                            " tokens and %" PRIu32 " channels: the network has %" PRIu32 " of %" PRIu32
                            " and %" PRIu32,
                            stage->of + 1, i, part->branches, part->tokens, part->channels, network->branches,
                            network->tokens, network->channels);
    }
    PIM_TRY(each_standing(run->plan, run->index, compare_features, run, error));
    return all_compared(run, before, (uint64_t)network->branches * network->tokens * network->channels,
                        error);
}

/* --- a whole run --- */

/* The stage whose nodes have the features of the blocks that stage `index` works: of CSWin that of the
   projections. */
static uint32_t stage_of_features(const struct pim_allspark_plan *plan, uint32_t index)
{
    const struct pim_allspark_stage *stage = &plan->stage[index];
    return stage->partition[0].work == PIM_ALLSPARK_STRIPES ? stage->partner : index;
}

static enum pim_status place_stage(struct stage_run *run, struct pim_error *error)
{
    const struct pim_allspark_plan *plan = run->plan;
    const struct pim_allspark_stage *stage = &plan->stage[run->index];
    const struct placing placing = {run->machine, plan, run->index, &run->arena};
    for (uint32_t i = 0; i < stage->partitions; i++)
        if (space_of(run, i).end > plan->workspace_base + plan->workspace_bytes)
            return pim_fail(error, PIM_BAD_INPUT,
                            "the workspace of stage %" PRIu32 " ends at byte %" PRIu64
                            ": the plan has memory up to %" PRIu64,
                            stage->of + 1, space_of(run, i).end,
                            plan->workspace_base + plan->workspace_bytes);
    if (stage->partner >= run->index) { /* else this stage works the blocks of the one before, too */
        machine_forget(run->machine);
        pim_arena_reset(&run->arena);
    }
    PIM_TRY(place_weights(&placing, error));
    for (run->image = 0; run->image < plan->batch; run->image++)
        PIM_TRY(each_standing(plan, run->index, place_inputs, run, error));
    run->image = 0;
    return PIM_OK;
}

static enum pim_status hold_image(struct stage_run *run, bool last, struct pim_error *error)
{
    PIM_TRY(reference_stage(run->plan, run->index, run->image, &run->reference, error));
    PIM_TRY(compare_stage(run, error));
    uint32_t classes = run->plan->network->transformer->classes;
    if (last)
        reference_head(run->plan, run->index, &run->reference, run->logits + (size_t)run->image * classes);
    reference_terminate(&run->reference);
    return PIM_OK;
}

static enum pim_status run_stage(struct stage_run *run, uint32_t index, struct pim_error *error)
{
    const struct pim_allspark_plan *plan = run->plan;
    bool last = index + 1 == plan->stages;
    run->index = index;
    PIM_TRY(place_stage(run, error));
    if (plan->stage[index].partner > index)
        return PIM_OK; /* the two kinds of blocks run together */
    run->index = stage_of_features(plan, index);
    const struct placing placing = {run->machine, plan, run->index, &run->arena};
    if (last)
        PIM_TRY(place_head(&placing, error));
    PIM_TRY(machine_run(run->machine, plan->stage[index].of, error));
    for (run->image = 0; run->image < plan->batch; run->image++)
        PIM_TRY(hold_image(run, last, error));
    return PIM_OK;
}

static enum pim_status run_classifier(struct stage_run *run, struct pim_error *error)
{
    uint32_t classes = run->plan->network->transformer->classes;
    uint16_t *first = run->logits;
    enum pim_status status = machine_run(run->machine, UINT32_MAX, error);
    for (run->image = 0; run->image < run->plan->batch && status == PIM_OK; run->image++) {
        uint64_t before = run->compared;
        run->logits = first + (size_t)run->image * classes;
        status = each_standing(run->plan, run->index, compare_classes, run, error);
        if (status == PIM_OK)
            status = all_compared(run, before, classes, error);
    }
    run->logits = first;
    return status;
}

/* Of the inputs of a token, or the channels of a node, the most. */
static size_t longest_row(const struct pim_allspark_plan *plan)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_partition *shape = &plan->stage[i].partition[0];
        most = shape->merge_inputs > most ? shape->merge_inputs : most;
        most = shape->channels > most ? shape->channels : most;
    }
    return most;
}

static enum pim_status run_all(struct stage_run *run, const struct pim_schedule_watch *watch,
                               struct pim_error *error)
{
    PIM_NEED_MEMORY(run->row && run->logits, error, "out of memory for the check of values");
    PIM_TRY(machine_create(run->plan, run->trace, &run->machine, error));
    for (uint32_t i = 0; i < run->plan->stages; i++) {
        if (watch && watch->progress)
            watch->progress(watch->context, "stages checked", i, run->plan->stages);
        PIM_TRY(run_stage(run, i, error));
    }
    return run_classifier(run, error);
}

enum pim_status pim_allspark_check_values(const struct pim_allspark_plan *plan, const struct pim_trace *trace,
                                          const struct pim_schedule_watch *watch,
                                          struct pim_allspark_check *check, struct pim_error *error)
{
    size_t classes = (size_t)plan->batch * plan->network->transformer->classes;
    struct stage_run run = {.plan = plan,
                            .trace = trace,
                            .row = calloc(longest_row(plan), sizeof *run.row),
                            .logits = calloc(classes + 1, sizeof *run.logits)};
    pim_arena_initialize(&run.arena, 0);
    enum pim_status status = run_all(&run, watch, error);
    check->elements = run.compared;
    machine_destroy(run.machine);
    reference_terminate(&run.reference);
    pim_arena_terminate(&run.arena);
    free(run.row);
    free(run.logits);
    return status;
}
