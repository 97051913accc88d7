/*
 * Features that go between branches from block to block (section VII): before a block with shifted windows to
 * these windows, and back after it. The feed-forward network works on single tokens, so it does not matter to
 * it where they are, and one exchange before and one after the block do.
 */
#include "mappers/allspark/interaction/interaction.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/redistribution/redistribute.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Where tokens come from: before the shifted blocks of a stage, or before the blocks of its partner; and
   back. */
static uint32_t *origin(const struct pim_emitter *emitter, bool back)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    const struct pim_transformer *transformer = emitter->plan->network->transformer;
    const struct pim_transformer_stage *view = &transformer->stage[stage->of];
    const struct pim_attention *attention = &transformer->block[view->first_block].attention[0];
    if (stage->partition[0].shift > 0)
        return pim_shifted_windows(attention->branches_y, attention->branches_x, view->window,
                                   stage->partition[0].shift, back);
    bool windows = stage->first_block == 0; /* even blocks have them */
    return pim_windows_to_map(view->height, view->width, view->window, view->reduction, back == windows);
}

/* Between two blocks nothing is alive behind what lasts of this stage or its partner. */
static uint64_t room_of(const struct pim_emitter *emitter)
{
    return emitter->plan->workspace_base + pim_stage_lasting_of_both(emitter->plan, emitter->stage);
}

void pim_interaction_make(struct pim_emitter *emitter, struct pim_interaction *interaction)
{
    const struct pim_allspark_stage *stage = emitter->stage, *partner = &emitter->plan->stage[stage->partner];
    *interaction = (struct pim_interaction){0};
    /* While partitions are searched for, nothing is laid out yet; the placement comes after the schedule. */
    if ((stage->partition[0].shift == 0 && partner == stage) || !stage->slot_of || emitter->status != PIM_OK)
        return;
    interaction->exists = true;
    if (stage->partition[0].work != PIM_ALLSPARK_BLOCK) {
        pim_stripes_interaction(emitter, interaction);
        return;
    }
    for (unsigned back = 0; back < 2 && emitter->status == PIM_OK; back++) {
        struct pim_exchange *exchange = &interaction->exchange[back];
        uint32_t *from = origin(emitter, back);
        emitter->status = from ? pim_exchange_make(emitter->plan, back ? partner : stage,
                                                   back ? stage : partner, from, exchange, emitter->error)
                               : pim_exchange_no_memory(emitter->error);
        free(from);
        if (emitter->status == PIM_OK)
            emitter->status = pim_exchange_program(emitter->plan, exchange, room_of(emitter), emitter->error);
    }
}

/* What the units have done when a block of a stage follows: the nodes of a branch wait for one another. */
static void add_block(struct pim_emitter *emitter, const struct pim_allspark_stage *stage, uint64_t *time)
{
    emitter->stage = stage;
    for (uint32_t i = 0; i < stage->partitions && emitter->status == PIM_OK; i++) {
        pim_emit_begin_partition(emitter, i);
        const struct pim_allspark_partition *part = emitter->part;
        const uint64_t cycles = pim_estimate_layer(emitter) / part->blocks;
        const uint32_t nodes = part->slots * part->u * part->v;
        for (uint32_t layer = 0; layer < part->layers; layer++)
            for (uint32_t group = 0; group * part->slots < pim_branches_of_layer(part, layer); group++) {
                const struct pim_allspark_tile *tile = &part->layout.tiles[group];
                uint64_t last = 0;
                for (uint32_t n = 0; n < nodes; n++)
                    last =
                        pim_larger(last, time[pim_tile_unit(emitter->plan, tile, n / part->v, n % part->v)]);
                for (uint32_t n = 0; n < nodes; n++)
                    time[pim_tile_unit(emitter->plan, tile, n / part->v, n % part->v)] = last + cycles;
            }
    }
}

void pim_interaction_settle(struct pim_emitter *emitter, struct pim_interaction *interaction)
{
    enum { TURNS = 4 }; /* two there, two back */
    const struct pim_allspark_stage *stage = emitter->stage, *partner = &emitter->plan->stage[stage->partner];
    if (!interaction->exists || stage->partner < emitter->index || emitter->status != PIM_OK)
        return;
    struct pim_emitter alone = *emitter; /* adds nothing up */
    alone.writer = NULL;
    uint64_t *time = calloc((size_t)interaction->exchange[0].units + 1, sizeof *time);
    bool made = time != NULL;
    for (unsigned turn = 0; turn < TURNS && made && alone.status == PIM_OK; turn++) {
        add_block(&alone, turn % 2 == 0 ? stage : partner, time);
        made = pim_exchange_estimate_from(&emitter->plan->hardware, &interaction->exchange[turn % 2], time);
    }
    free(time);
    emitter->status = made ? alone.status : pim_exchange_no_memory(emitter->error);
}

void pim_interaction_terminate(struct pim_interaction *interaction)
{
    for (unsigned back = 0; back < 2; back++)
        pim_exchange_terminate(&interaction->exchange[back]);
}

void pim_emit_interaction(struct pim_emitter *emitter, const struct pim_interaction *interaction,
                          uint32_t block, bool back)
{
    if (!interaction->exists || emitter->status != PIM_OK)
        return;
    char name[64];
    const char *step = emitter->stage->partition[0].work != PIM_ALLSPARK_BLOCK
                           ? (back ? "from_stripes" : "to_stripes")
                       : emitter->stage->partition[0].shift == 0 ? "hand_over"
                       : back                                    ? "unshift"
                                                                 : "shift";
    (void)snprintf(name, sizeof name, "stage%" PRIu32 "/block%" PRIu32 "/%s", emitter->stage->of + 1, block,
                   step);
    pim_exchange_phase(emitter, &interaction->exchange[back], name, NULL, NULL);
}

/* With a partner, in the first of the two alone. */
static void add_estimate(struct pim_emitter *emitter, const struct pim_interaction *interaction)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    uint32_t own = stage->partition[0].blocks,
             others = emitter->plan->stage[stage->partner].partition[0].blocks;
    uint32_t times[2] = {own / 2, own / 2}; /* every second block is shifted */
    if (emitter->plan->stage[stage->partner].of == stage->of && stage->partner != emitter->index) {
        if (stage->partner < emitter->index)
            return; /* the partner has them */
        /* there is one less of a hand-over than of blocks, and it begins with the kind of block 0 */
        bool begins = stage->first_block == 0;
        times[0] = (own + others - (begins ? 0 : 1)) / 2;
        times[1] = own + others - 1 - times[0];
        if (stage->partition[0].work != PIM_ALLSPARK_BLOCK)
            times[0] = times[1] = own; /* there and back in every block */
    }
    for (unsigned back = 0; back < 2; back++)
        pim_exchange_add_estimate(emitter, &interaction->exchange[back], times[back]);
}

void pim_estimate_between(struct pim_emitter *emitter)
{
    struct pim_interaction interaction;
    struct pim_neighbours neighbours;
    struct pim_exchange border;
    pim_interaction_make(emitter, &interaction);
    pim_interaction_settle(emitter, &interaction);
    add_estimate(emitter, &interaction);
    pim_interaction_terminate(&interaction);
    pim_neighbours_make(emitter, &neighbours);
    pim_estimate_neighbours(emitter, &neighbours);
    pim_neighbours_terminate(&neighbours);
    pim_border_make(emitter, &border);
    pim_exchange_add_estimate(emitter, &border, 1);
    pim_exchange_terminate(&border);
}

enum pim_status pim_allspark_estimate_interaction(const struct pim_allspark_plan *plan, uint64_t *cycles,
                                                  struct pim_error *error)
{
    struct pim_tilings *tilings = calloc(1, sizeof *tilings);
    struct pim_emitter emitter = {.plan = plan, .error = error, .status = PIM_OK, .tilings = tilings};
    PIM_NEED_MEMORY(tilings, error, "out of memory for the exchanges");
    for (emitter.index = 0; emitter.index < plan->stages && emitter.status == PIM_OK; emitter.index++) {
        emitter.stage = &plan->stage[emitter.index];
        pim_estimate_between(&emitter);
    }
    *cycles = emitter.estimate_cycles;
    free(tilings);
    return emitter.status;
}

enum pim_status pim_plan_exchange(struct pim_allspark_plan *plan, struct pim_error *error)
{
    struct pim_emitter emitter = {.plan = plan, .error = error, .status = PIM_OK};
    uint64_t end = plan->workspace_base + plan->workspace_bytes;
    for (emitter.index = 0;
         emitter.index < plan->stages && emitter.status == PIM_OK && plan->exchange == PIM_ALLSPARK_GATHER;
         emitter.index++) {
        struct pim_interaction interaction;
        struct pim_neighbours neighbours;
        emitter.stage = &plan->stage[emitter.index];
        pim_interaction_make(&emitter, &interaction);
        pim_neighbours_make(&emitter, &neighbours);
        for (unsigned back = 0; back < 2; back++)
            end = pim_larger(end, interaction.exchange[back].end);
        for (uint32_t i = 0; i < neighbours.layers; i++)
            end = pim_larger(end, neighbours.layer[i].exchange.end);
        pim_interaction_terminate(&interaction);
        pim_neighbours_terminate(&neighbours);
    }
    plan->workspace_bytes = end - plan->workspace_base;
    return emitter.status;
}
