/*
 * The two mutations of the paper's section VI-A, kept legal.
 *
 *  I.  A random gene gets more array groups or fewer. Only whole replicas do work, so the layer gains or
 *  loses
 *      replicas: of the groups of one that is added, as many as have room go to the gene's core, the rest to
 *      the nearest cores with room; one that is removed is taken from the gene first. An unassigned gene
 *      gets a
 *      random layer. Several replicas at once may be added, up to as many as there are. Where there is no
 *      room
 *      other layers lose replicas first. Of two random layers the one with more windows for each replica
 *      gains,
 *      of three the one with the fewest loses.
 *  II. Two random genes exchange a part of their array groups: each part goes to the gene of its layer, or to
 *      a free one, on the other's core.
 */
#include "mappers/pimcomp/layout/chromosome.h"

#include <assert.h>

static uint32_t below(struct pim_random *random, uint32_t bound)
{
    return (uint32_t)pim_random_below(random, bound);
}

/* Position `step` away from `from`: 0, +1, -1, +2, ..; PIM_NONE: behind an end. */
static uint32_t nearby(uint32_t from, uint32_t step, uint32_t count)
{
    uint32_t distance = (step + 1) / 2;
    if (step % 2)
        return from + distance < count ? from + distance : PIM_NONE;
    return distance <= from ? from - distance : PIM_NONE;
}

/* One replica more, from position `from` on; false: no room, nothing changed. */
static bool add_replica(const struct pim_gene_space *space, struct pim_gene_workshop *w,
                        struct pim_chromosome *c, uint32_t from, uint32_t layer)
{
    uint32_t cores = space->architecture->cores, left = space->partition->layer[layer].groups, places = 0;
    for (uint32_t step = 0; step < 2 * cores && left; step++) {
        uint32_t position = nearby(from, step, cores);
        uint32_t put = position == PIM_NONE ? 0 : pim_chromosome_put(space, c, position, layer, left);
        if (put == 0)
            continue;
        w->place[places] = position;
        w->amount[places++] = put;
        left -= put;
    }
    if (left == 0)
        return true;
    while (places-- > 0)
        for (uint32_t s = 0; s < space->slots; s++) {
            uint32_t gene = c->gene[(size_t)w->place[places] * space->slots + s];
            if (gene != 0 && gene / PIM_GENE_LAYER == layer) {
                pim_chromosome_take(space, c, w->place[places], s, w->amount[places]);
                break;
            }
        }
    return false;
}

/* Takes off up to `left` groups of a layer at a position: all there are, or only those that make no whole
 * replica. Returns how many are left to take. */
static uint32_t take_some(const struct pim_gene_space *space, struct pim_chromosome *c, uint32_t position,
                          uint32_t layer, uint32_t left, bool fragments)
{
    const uint32_t *gene = c->gene + (size_t)position * space->slots;
    for (uint32_t s = 0; s < space->slots; s++) {
        if (gene[s] == 0 || gene[s] / PIM_GENE_LAYER != layer)
            continue;
        uint32_t count = gene[s] % PIM_GENE_LAYER;
        if (fragments)
            count %= space->partition->layer[layer].groups;
        count = count < left ? count : left;
        if (count)
            pim_chromosome_take(space, c, position, s, count);
        return left - count;
    }
    return left;
}

static void remove_replica(const struct pim_gene_space *space, struct pim_chromosome *c, uint32_t position,
                           uint32_t layer)
{
    uint32_t cores = space->architecture->cores, left = space->partition->layer[layer].groups;
    left = take_some(space, c, position, layer, left, false);
    for (unsigned round = 0; round < 2 && left; round++) /* fragments first, then anything */
        for (uint32_t step = 1; step < 2 * cores && left; step++) {
            uint32_t other = nearby(position, step, cores);
            if (other != PIM_NONE)
                left = take_some(space, c, other, layer, left, round == 0);
        }
    assert(left == 0);
}

static uint32_t replicas_of(const struct pim_gene_space *space, const struct pim_chromosome *c,
                            uint32_t layer)
{
    return c->groups[layer] / space->partition->layer[layer].groups;
}

/* Of `count` random layers the one with the most (fewest) windows for each replica. */
static uint32_t choose_layer(const struct pim_gene_space *space, const struct pim_chromosome *c,
                             struct pim_random *random, unsigned count, bool most)
{
    uint32_t chosen = space->matrix[below(random, space->matrices)];
    while (--count > 0) {
        uint32_t other = space->matrix[below(random, space->matrices)];
        uint64_t a = (uint64_t)space->network->layer[chosen].windows * replicas_of(space, c, other);
        uint64_t b = (uint64_t)space->network->layer[other].windows * replicas_of(space, c, chosen);
        if (most ? b > a : b < a)
            chosen = other;
    }
    return chosen;
}

/* One replica more, if need be in the place of others. */
static bool add_or_replace(const struct pim_gene_space *space, struct pim_gene_workshop *w,
                           struct pim_chromosome *c, struct pim_random *random, uint32_t position,
                           uint32_t layer)
{
    enum { VICTIMS = 8 };
    for (unsigned victims = 0; !add_replica(space, w, c, position, layer); victims++) {
        uint32_t victim = choose_layer(space, c, random, 3, false);
        if (victims == VICTIMS)
            return false;
        if (victim != layer && replicas_of(space, c, victim) > 1)
            remove_replica(space, c, position, victim);
    }
    return true;
}

/* Mutation I. */
static bool change_count(const struct pim_gene_space *space, struct pim_gene_workshop *w,
                         struct pim_chromosome *c, struct pim_random *random)
{
    uint32_t position = below(random, space->architecture->cores), slot = below(random, space->slots);
    uint32_t gene = c->gene[(size_t)position * space->slots + slot];
    uint32_t layer = gene ? gene / PIM_GENE_LAYER : choose_layer(space, c, random, 2, true);
    uint32_t replicas = replicas_of(space, c, layer);
    if (gene && below(random, 2)) {
        if (replicas < 2)
            return false;
        remove_replica(space, c, position, layer);
        return true;
    }
    uint32_t more = below(random, 2) ? 1 : 1 + below(random, replicas), added = 0;
    uint32_t room = space->network->layer[layer].windows - replicas;
    more = more < room ? more : room;
    while (added < more && add_or_replace(space, w, c, random, position, layer))
        added++;
    return more != 0;
}

/* A random gene that is assigned, from a random place on; false: none near. */
static bool find_gene(const struct pim_gene_space *space, const struct pim_chromosome *c,
                      struct pim_random *random, uint32_t *position, uint32_t *slot)
{
    for (unsigned attempt = 0; attempt < 4; attempt++) {
        uint32_t used = 0;
        *position = below(random, space->architecture->cores);
        const uint32_t *gene = c->gene + (size_t)*position * space->slots;
        for (uint32_t s = 0; s < space->slots; s++)
            used += gene[s] != 0;
        if (used == 0)
            continue;
        uint32_t chosen = below(random, used);
        for (uint32_t s = 0; s < space->slots; s++)
            if (gene[s] != 0 && chosen-- == 0) {
                *slot = s;
                return true;
            }
    }
    return false;
}

/* Mutation II. */
static bool exchange(const struct pim_gene_space *space, struct pim_chromosome *c, struct pim_random *random)
{
    uint32_t from, from_slot, to = below(random, space->architecture->cores),
                              to_slot = below(random, space->slots);
    if (!find_gene(space, c, random, &from, &from_slot) || from == to)
        return false;
    uint32_t first = c->gene[(size_t)from * space->slots + from_slot];
    uint32_t second = c->gene[(size_t)to * space->slots + to_slot];
    if (below(random, 2)) /* an assigned one; else any, and most are not */
        for (uint32_t s = 0; s < space->slots && second == 0; s++)
            second = c->gene[(size_t)to * space->slots + (to_slot = (to_slot + 1) % space->slots)];
    uint32_t a = first / PIM_GENE_LAYER, b = second / PIM_GENE_LAYER;
    uint32_t give = 1 + below(random, first % PIM_GENE_LAYER), back = 0;
    if (below(random, 2)) /* all of it: clusters move as a whole */
        give = first % PIM_GENE_LAYER;
    if (second && a != b)
        back = below(random, 2) ? second % PIM_GENE_LAYER : below(random, second % PIM_GENE_LAYER + 1);
    pim_chromosome_take(space, c, from, from_slot, give);
    if (back)
        pim_chromosome_take(space, c, to, to_slot, back);
    uint32_t gone = pim_chromosome_put(space, c, to, a, give);
    uint32_t come = back ? pim_chromosome_put(space, c, from, b, back) : 0;
    if (gone == give && come == back)
        return true;
    /* No room: what moved goes back to where it was. */
    for (uint32_t s = 0; s < space->slots; s++) {
        uint32_t there = c->gene[(size_t)to * space->slots + s],
                 here = c->gene[(size_t)from * space->slots + s];
        if (gone && there && there / PIM_GENE_LAYER == a) {
            pim_chromosome_take(space, c, to, s, gone);
            gone = 0;
        }
        if (come && here && here / PIM_GENE_LAYER == b) {
            pim_chromosome_take(space, c, from, s, come);
            come = 0;
        }
    }
    (void)pim_chromosome_put(space, c, from, a, give);
    if (back)
        (void)pim_chromosome_put(space, c, to, b, back);
    return false;
}

bool pim_chromosome_mutate(const struct pim_gene_space *space, struct pim_gene_workshop *workshop,
                           struct pim_chromosome *chromosome, struct pim_random *random)
{
    if (below(random, 2))
        return change_count(space, workshop, chromosome, random);
    return exchange(space, chromosome, random);
}
