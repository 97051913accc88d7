/*
 * CSWin: blocks that attend in vertical and horizontal stripes at the same time, each with half of the heads.
 *
 * Such a stage of the network is two stages of the plan. The first, `projections`, works everything that
 * treats tokens one by one (normalisations, query, key, value, projection, feed-forward), and has the
 * residual stream. Tokens do not meet there, so its branches need not be stripes: they are the rows of the
 * map, which always divide it. The second, `stripes`, works scores and context. Its branches are all stripes,
 * the vertical ones with the first half of the heads, then the horizontal ones with the second half; as maps
 * are square, all of them are alike. Query, keys and values go from the first to the second, the context
 * comes back.
 *
 * Invariants:
 *  1. Both stages have workspaces of their own at the same time: that of the stripes lies behind what lasts
 *     of the projections. Messages between them are staged behind what lasts of both.
 *  2. A stripe that reaches beyond the map takes the tokens of its other end there, cyclically; what it
 *     computes for them is dropped. Half of what is beyond is in front (family_cswin.c, rule 3).
 */
#include "mappers/allspark/interaction/interaction.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/redistribution/redistribute.h"
#include "mappers/allspark/shapes.h"
#include "sim/try.h"

#include <assert.h>
#include <stdlib.h>

/* --- the shapes --- */

void pim_stripes_split(struct pim_allspark_plan *plan)
{
    struct pim_allspark_stage *first = &plan->stage[plan->stages - 2], *second = first + 1;
    const struct pim_transformer *transformer = plan->network->transformer;
    const struct pim_transformer_stage *view = &transformer->stage[first->of];
    const struct pim_attention *attention = transformer->block[view->first_block].attention;
    struct pim_allspark_partition *projections = first->partition, *stripes = second->partition;
    assert(attention[0].branches == attention[1].branches &&
           attention[0].query_tokens == attention[1].query_tokens);
    projections->work = PIM_ALLSPARK_PROJECTIONS;
    projections->position.convolution = PIM_NO_CONVOLUTION;
    projections->branches = view->height;
    projections->tokens = projections->key_tokens = projections->made_keys = view->width;
    projections->heads = attention[0].heads + attention[1].heads;
    stripes->work = PIM_ALLSPARK_STRIPES;
    stripes->branches = 2 * attention[0].branches;
    stripes->channels = attention[0].heads * attention[0].head_channels;
    stripes->hidden = stripes->merge_inputs = 0;
    stripes->embeds = false;
    first->partner = plan->stages - 1;
    second->partner = plan->stages - 2;
}

/* --- the map in stripes --- */

/* Both directions are alike: along a stripe its tokens, across it `stripe` lines of the `side` of the map. */
struct stripes {
    uint32_t side, stripe, count, before; /* lines in front of the map */
};

static struct stripes stripes_of(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage)
{
    const struct pim_transformer_stage *view = &plan->network->transformer->stage[stage->of];
    uint32_t count = view->width / view->window + (view->width % view->window != 0);
    return (struct stripes){.side = view->width,
                            .stripe = view->window,
                            .count = count,
                            .before = (count * view->window - view->width) / 2};
}

/* How often a line of the map is in stripes, at most. */
static uint32_t copies_of(const struct stripes *s)
{
    return (s->count * s->stripe + s->side - 1) / s->side;
}

/* Where token `token` of branch `branch` is on the map: y * side + x. */
static uint32_t map_of(const struct stripes *s, uint32_t branch, uint32_t token)
{
    bool vertical = branch < s->count;
    uint32_t width = vertical ? s->stripe : s->side;
    uint32_t first = (vertical ? branch : branch - s->count) * s->stripe;
    uint32_t y = token / width, x = token % width;
    uint32_t *line = vertical ? &x : &y;
    *line = (first + *line + s->side - s->before) % s->side; /* stripes are not wider than the map */
    return y * s->side + x;
}

/* Where the token at (y, x) is in its vertical or its horizontal stripe. */
static uint32_t stripe_of(const struct stripes *s, bool vertical, uint32_t y, uint32_t x, uint32_t *token)
{
    uint32_t line = (vertical ? x : y) + s->before, inside = line % s->stripe;
    *token = vertical ? y * s->stripe + inside : inside * s->side + x;
    return line / s->stripe + (vertical ? 0 : s->count);
}

/* --- memory --- */

uint32_t pim_stripes_copies(const struct pim_allspark_plan *plan, uint32_t index)
{
    const struct stripes s = stripes_of(plan, &plan->stage[index]);
    return copies_of(&s);
}

uint64_t pim_stripes_workspace(const struct pim_allspark_plan *plan, uint32_t index)
{
    const struct pim_allspark_stage *first = &plan->stage[index], *second = &plan->stage[first->partner];
    if (first->partition[0].work == PIM_ALLSPARK_STRIPES)
        return 0; /* the partner has it */
    uint64_t here = plan->batch * pim_stage_lasting(first), there = plan->batch * pim_stage_lasting(second);
    return pim_schedule_together(pim_stripes_copies(plan, index), here, there,
                                 second->workspace_bytes - there);
}

/* --- exchanges --- */

/* Staging behind what lasts of both stages: what leaves, up to `copies` times, then what arrives. */
static void stage_regions(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *source,
                          const struct pim_allspark_stage *to, uint32_t copies, struct pim_exchange *exchange)
{
    uint64_t base = plan->workspace_base, here = plan->batch * pim_stage_lasting(source),
             there = plan->batch * pim_stage_lasting(to), staging = base + here + there;
    for (uint32_t i = 0; i < exchange->regions; i++) {
        struct pim_region *region = &exchange->region[i];
        if (i < exchange->producers)
            region->leaving = staging + copies * (region->resident - base - source->workspace_offset);
        else
            region->arriving = staging + copies * here + (region->resident - base - to->workspace_offset);
    }
}

/* The horizontal stripes have the second half of the channels. */
static void set_channels(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stripes,
                         const uint32_t *first, struct pim_exchange *exchange)
{
    const struct pim_allspark_partition *part = &stripes->partition[0];
    for (uint32_t b = 0; b < plan->batch * part->branches; b++)
        for (uint32_t i = first[b]; b % part->branches >= part->branches / 2 && i < first[b + 1]; i++)
            exchange->region[i].first_channel += part->channels;
}

/* One matrix of all tokens of an image from one stage to the other, whose regions have its address. */
static bool list_matrix(const struct stripes *s, struct pim_exchange *exchange, uint32_t image, bool back)
{
    uint32_t stripes = 2 * s->count, first = image * (back ? stripes : s->side); /* of the source */
    const uint32_t *to = exchange->first_consumer + (size_t)image * (back ? s->side : stripes);
    for (uint32_t b = 0; b < (back ? s->side : stripes); b++)
        for (uint32_t i = to[b]; i < to[b + 1]; i++) {
            const struct pim_region *region = &exchange->region[i];
            for (uint32_t t = region->first_token; t < region->first_token + region->tokens; t++) {
                uint32_t there = back ? 0 : map_of(s, b, t), token;
                bool given =
                    back || pim_exchange_add_token(exchange, i, t, first + there / s->side, there % s->side);
                for (unsigned half = 0; back && half < 2; half++) {
                    uint32_t branch = stripe_of(s, half == 0, b, t, &token);
                    given = given && pim_exchange_add_token(exchange, i, t, first + branch, token);
                }
                if (!given)
                    return false;
            }
        }
    return true;
}

static bool list_matrices(const struct pim_allspark_plan *plan, const struct stripes *s, bool back,
                          struct pim_exchange *exchange)
{
    for (uint32_t matrix = 0; matrix < (back ? 1 : PIM_RESIDENT_MATRICES); matrix++) {
        for (uint32_t i = 0; i < exchange->regions; i++)
            exchange->region[i].address =
                exchange->region[i].resident + matrix * exchange->region[i].resident_bytes;
        for (uint32_t image = 0; image < plan->batch; image++)
            if (!list_matrix(s, exchange, image, back))
                return false;
    }
    return true;
}

static enum pim_status make(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *source,
                            const struct pim_allspark_stage *to, bool back, struct pim_exchange *exchange,
                            struct pim_error *error)
{
    const struct stripes s = stripes_of(plan, to);
    uint64_t room = plan->workspace_base + plan->batch * (pim_stage_lasting(source) + pim_stage_lasting(to));
    PIM_TRY(pim_exchange_begin(plan, source, to, exchange, error));
    set_channels(plan, back ? source : to, back ? exchange->first_producer : exchange->first_consumer,
                 exchange);
    stage_regions(plan, source, to, back ? 1 : copies_of(&s), exchange);
    if (!list_matrices(plan, &s, back, exchange))
        return pim_exchange_no_memory(error);
    return pim_exchange_program(plan, exchange, room, error);
}

void pim_stripes_interaction(struct pim_emitter *emitter, struct pim_interaction *interaction)
{
    const struct pim_allspark_stage *stage = emitter->stage, *partner = &emitter->plan->stage[stage->partner];
    if (stage->partition[0].work == PIM_ALLSPARK_STRIPES)
        return; /* the partner has them */
    for (unsigned back = 0; back < 2 && emitter->status == PIM_OK; back++)
        emitter->status = make(emitter->plan, back ? partner : stage, back ? stage : partner, back,
                               &interaction->exchange[back], emitter->error);
}

/* --- programs --- */

void pim_stripes_emit(struct pim_emitter *emitter, const struct pim_interaction *interaction)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    for (uint32_t block = 0; block < stage->partition[0].blocks && emitter->status == PIM_OK; block++) {
        pim_emit_partitions(emitter, block, PIM_EMIT_BEFORE);
        pim_emit_interaction(emitter, interaction, block, false);
        emitter->stage = &emitter->plan->stage[stage->partner];
        pim_emit_partitions(emitter, block, PIM_EMIT_ALL);
        emitter->stage = stage;
        pim_emit_interaction(emitter, interaction, block, true);
        pim_emit_partitions(emitter, block, PIM_EMIT_AFTER);
    }
}

void pim_stripes_place_keys(struct pim_emitter *emitter, bool values)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint64_t q = pim_stage_channels(part, emitter->place.column);
    uint64_t bytes = pim_stage_keys(part, emitter->place.row) * q;
    uint64_t to = (values ? emitter->workspace.values : emitter->workspace.keys) +
                  pim_even_begin(part->key_tokens, part->u, emitter->place.row) * q;
    (void)pim_emit_copy(emitter, pim_resident_matrix(emitter, values ? 2 : 1), to, bytes);
    pim_emit_join(emitter);
}

void pim_stripes_estimate_place_keys(const struct pim_emitter *emitter, struct pim_trace_phase *phase)
{
    phase->estimate_parts[PIM_ESTIMATE_MEMORY] +=
        pim_estimate_copy(&emitter->plan->hardware, pim_column_bytes(emitter, NULL, 0), PIM_ANYWHERE);
}
