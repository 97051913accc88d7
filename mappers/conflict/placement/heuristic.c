/*
 * The evolution of Liu and others as the conflict paper's authors run it: an individual is a real number for
 * every cell, and node i stands on the cell with the i-th largest. A generation adds to the survivors as many
 * mutants and as many children; a parent is drawn with a probability that falls with its cost, and a cell's
 * number is that of the cheaper parent with the larger probability.
 */
#include "mappers/conflict/mapping.h"

#include <stdlib.h>
#include <string.h>

/* An individual: numbers of the cells, then the places of the nodes, then room to sort the cells. */
static double *numbers_of(void *data)
{
    return data;
}

static uint32_t *places_in(const struct pim_tile_problem *problem, void *data)
{
    return (uint32_t *)(void *)(numbers_of(data) + problem->cells);
}

static const uint32_t *places(const struct pim_tile_problem *problem, const void *data)
{
    return (const uint32_t *)(const void *)((const double *)data + problem->cells);
}

struct ranked {
    double number;
    uint32_t cell;
};

static int compare(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->number != b->number)
        return a->number > b->number ? -1 : 1;
    return a->cell < b->cell ? -1 : a->cell > b->cell;
}

/* Stretches the numbers to 0 ... 1 and places the nodes. `scratch` has room to rank the cells. */
static void settle(const struct pim_tile_problem *problem, void *scratch, void *data)
{
    struct ranked *ranked = scratch;
    double *numbers = numbers_of(data), least = numbers[0], most = numbers[0];
    for (uint32_t c = 1; c < problem->cells; c++) {
        least = numbers[c] < least ? numbers[c] : least;
        most = numbers[c] > most ? numbers[c] : most;
    }
    for (uint32_t c = 0; c < problem->cells; c++) {
        numbers[c] = most > least ? (numbers[c] - least) / (most - least) : 0;
        ranked[c] = (struct ranked){numbers[c], c};
    }
    qsort(ranked, problem->cells, sizeof *ranked, compare);
    for (uint32_t n = 0; n < problem->graph->nodes; n++)
        places_in(problem, data)[n] = ranked[n].cell;
}

static void start(void *context, void *scratch, void *data, uint64_t index, struct pim_random *random)
{
    const struct pim_tile_problem *problem = context;
    (void)index;
    for (uint32_t c = 0; c < problem->cells; c++)
        numbers_of(data)[c] = pim_random_unit(random);
    settle(problem, scratch, data);
}

static bool mutate(void *context, void *scratch, void *data, struct pim_random *random)
{
    const struct pim_tile_problem *problem = context;
    for (uint32_t c = 0; c < problem->cells; c++)
        numbers_of(data)[c] += pim_random_unit(random) / 16;
    settle(problem, scratch, data);
    return true;
}

static void cross(void *context, void *scratch, struct pim_individual *child, const struct pim_individual *a,
                  const struct pim_individual *b, struct pim_random *random)
{
    const struct pim_tile_problem *problem = context;
    const double *other = b->data;
    uint64_t first = pim_random_threshold(1 / (1 + a->score[0] / b->score[0]));
    for (uint32_t c = 0; c < problem->cells; c++)
        if (!pim_random_chance(random, first))
            numbers_of(child->data)[c] = other[c];
    settle(problem, scratch, child->data);
}

/* A survivor, with a probability in proportion to 1 / its score. */
static const struct pim_individual *draw(struct pim_population *population, uint32_t survivors,
                                         struct pim_random *random)
{
    double all = 0;
    for (uint32_t i = 0; i < survivors; i++)
        all += 1 / population->individual[i]->score[0];
    double at = pim_random_unit(random) * all;
    for (uint32_t i = 0; i + 1 < survivors; i++) {
        at -= 1 / population->individual[i]->score[0];
        if (at < 0)
            return population->individual[i];
    }
    return population->individual[survivors - 1];
}

/* Of three equal parts of the population the first are survivors, the second mutants, the third children. */
static bool breed(struct pim_population *population, void *breeder, void *scratch, uint32_t index,
                  struct pim_random *random)
{
    const struct pim_tile_problem *problem = breeder;
    uint32_t survivors = problem->options->population;
    struct pim_individual *child = population->individual[index];
    if (index < 2 * survivors) {
        pim_individual_copy(&problem->search, child, population->individual[index - survivors]);
        return mutate(problem->search.context, scratch, child->data, random);
    }
    const struct pim_individual *a = draw(population, survivors, random),
                                *b = draw(population, survivors, random);
    pim_individual_copy(&problem->search, child, a);
    cross(problem->search.context, scratch, child, a, b, random);
    return true;
}

void pim_tile_heuristic_problem(struct pim_tile_problem *problem)
{
    problem->search.size =
        problem->cells * sizeof(double) + ((size_t)problem->graph->nodes + 1) * sizeof(uint32_t);
    problem->search.scratch_size = problem->cells * sizeof(struct ranked);
    problem->search.start = start;
    problem->search.mutate = mutate;
    problem->places = places;
    problem->breed = breed;
}
