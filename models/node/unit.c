/* The node as a unit: dispatch, completion, and the accounts of its time. Rules: docs/models/node.md. */
#include "models/node/node_internal.h"
#include "models/unit/fetch.h"

static bool is_done(const struct pim_unit *unit, uint64_t sequence, uint64_t now)
{
    (void)now; /* completions are events */
    return pim_node_is_done((const struct pim_node *)unit, sequence);
}

static bool dispatch(struct pim_unit *unit, uint64_t sequence, const struct pim_instruction *instruction,
                     uint64_t now)
{
    (void)now;
    struct pim_node *node = (struct pim_node *)unit;
    struct pim_slot *slot = pim_node_slot(node, sequence);
    slot->instruction = *instruction;
    slot->sequence = sequence;
    slot->matched = slot->begun = false;
    slot->forwards = pim_interface_forwards(node, slot);
    uint16_t index = (uint16_t)(sequence & node->mask);
    node->done[index / 64] &= ~(UINT64_C(1) << index % 64);
    struct pim_engine_queue *queue = &node->queue[pim_opcode_engine(instruction->opcode)];
    *(queue->waiting++ ? &node->slots[queue->last].next : &queue->first) = index;
    queue->last = index;
    return true;
}

void pim_node_advance(struct pim_node *node)
{
    static const struct pim_fetch_operations operations = {.is_done = is_done, .prepare = dispatch};
    bool started;
    do {
        pim_unit_fetch(&node->unit, &operations, pim_kernel_now(node->unit.units->kernel));
        started = false;
        for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
            while (pim_engine_try(node, (enum pim_engine)engine))
                started = true;
        /* With a queue for each engine, a start lets no other engine start; with in-order issue it does. */
    } while (started && node->array->configuration.in_order);
}

/* With a queue for each engine nothing else can start: starts of others and what is fetched depend on what is
 * complete, and on space of buffers, which others have not given back. */
void pim_node_advance_engine(struct pim_node *node, enum pim_engine engine)
{
    if (node->array->configuration.in_order) {
        pim_node_advance(node);
        return;
    }
    while (pim_engine_try(node, engine))
        ;
}

/* What is looked at next: the instruction that may be fetched, and the heads that waited for this one. */
static inline void prefetch(const struct pim_node *node, const struct pim_slot *ended, enum pim_engine engine)
{
    PIM_PREFETCH(node->unit.cursor->next);
    PIM_PREFETCH(pim_node_head(node, engine));
    for (unsigned other = 0; other < PIM_ENGINE_CONTROL; other++)
        if (node->queue[other].blocker == ended->sequence + 1)
            PIM_PREFETCH(pim_node_head(node, other));
}

void pim_engine_ended(struct pim_slot *slot, enum pim_engine engine)
{
    struct pim_node *node = slot->node;
    prefetch(node, slot, engine);
    pim_states_account_now(&node->unit);
    node->queue[engine].in_flight--;
    uint64_t index = slot->sequence & node->mask;
    node->done[index / 64] |= UINT64_C(1) << index % 64;
    pim_unit_observe(&node->unit, &slot->instruction, slot->started,
                     pim_kernel_now(node->unit.units->kernel));
    pim_node_advance(node);
}

void pim_node_start(struct pim_kernel *kernel, void *node)
{
    (void)kernel;
    pim_node_advance(node);
}
