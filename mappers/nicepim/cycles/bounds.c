/* Cheap lower bounds, tried before any solver: they settle most loads. */
#include "mappers/nicepim/cycles/internal.h"
#include "sim/integer.h"

#include <stdlib.h>
#include <string.h>

enum { EXACT_MEMBERS = 13 };

/* Steps spent on exact tours, and on rectangles: far above what layers of a network need, so that only inputs
 * made to be large meet them. Beyond, the bounds are weaker. */
static const uint64_t tour_budget = UINT64_C(1) << 29, rectangle_budget = UINT64_C(1) << 29;

/* --- shortest tours --- */

/* Held and Karp: best[mask][last] is the shortest path from member 0 over the members of the mask (bit i is
 * member i + 1) to `last`. */
static uint64_t exact_tour(const struct pim_sharing *sharing, const uint32_t *node, size_t count,
                           uint32_t *best)
{
    size_t others = count - 1, masks = (size_t)1 << others;
    uint32_t distance[EXACT_MEMBERS][EXACT_MEMBERS] = {{0}};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            distance[i][j] = sharing_distance(sharing, node[i], node[j]);
    }
    for (size_t mask = 1; mask < masks; mask++) {
        for (size_t last = 0; last < others; last++) {
            if (!(mask >> last & 1))
                continue;
            size_t before = mask & ~((size_t)1 << last);
            uint32_t least = before ? UINT32_MAX : distance[0][last + 1];
            for (size_t from = 0; from < others; from++) {
                if (!(before >> from & 1))
                    continue;
                uint32_t length = best[before * others + from] + distance[from + 1][last + 1];
                least = length < least ? length : least;
            }
            best[mask * others + last] = least;
        }
    }
    uint32_t tour = UINT32_MAX;
    for (size_t last = 0; last < others; last++) {
        uint32_t length = best[(masks - 1) * others + last] + distance[last + 1][0];
        tour = length < tour ? length : tour;
    }
    return tour;
}

/* Every member has two arcs: half the sum of the two nearest distances. A tour crosses every column boundary
 * and every row boundary of its box twice. Closed walks on a mesh are even. */
static uint64_t tour_bound(const struct pim_sharing *sharing, const uint32_t *node, size_t count)
{
    uint64_t sum = 0;
    uint32_t top = UINT32_MAX, left = UINT32_MAX, bottom = 0, right = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t nearest = UINT32_MAX, second = UINT32_MAX;
        for (size_t j = 0; j < count; j++) {
            uint32_t distance = j == i ? UINT32_MAX : sharing_distance(sharing, node[i], node[j]);
            if (distance < nearest) {
                second = nearest;
                nearest = distance;
            } else if (distance < second) {
                second = distance;
            }
        }
        sum += (uint64_t)nearest + second;
        uint32_t row = node[i] / sharing->columns, column = node[i] % sharing->columns;
        top = row < top ? row : top;
        bottom = row > bottom ? row : bottom;
        left = column < left ? column : left;
        right = column > right ? column : right;
    }
    uint64_t box = 2 * ((uint64_t)(bottom - top) + (right - left)), half = (sum + 1) / 2;
    half += half % 2;
    return half > box ? half : box;
}

enum pim_status sharing_tours(const struct pim_sharing *sharing, uint64_t *tours, struct pim_error *error)
{
    uint32_t *best = malloc(((size_t)1 << (EXACT_MEMBERS - 1)) * (EXACT_MEMBERS - 1) * sizeof *best);
    if (!best)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the shortest tours");
    uint64_t spent = 0;
    for (size_t s = 0; s < sharing->set_count; s++) {
        const uint32_t *node = sharing->node + sharing->start[s];
        size_t count = sharing->start[s + 1] - sharing->start[s];
        bool exact = count <= EXACT_MEMBERS && spent < tour_budget;
        spent += exact ? ((uint64_t)1 << count) * count * count : 0;
        if (count == 1)
            tours[s] = 0;
        else if (count == 2)
            tours[s] = 2 * (uint64_t)sharing_distance(sharing, node[0], node[1]);
        else
            tours[s] = exact ? exact_tour(sharing, node, count, best) : tour_bound(sharing, node, count);
    }
    free(best);
    return PIM_OK;
}

uint64_t sharing_tours_sum(const struct pim_sharing *sharing, const uint64_t *tours)
{
    uint64_t sum = 0;
    for (size_t s = 0; s < sharing->set_count; s++)
        sum += sharing->weight[s] * tours[s];
    return sum;
}

/* --- loads --- */

/* inside[r][c]: members of a set in the rows above r and the columns left of c. */
typedef uint32_t prefix_sums[PIM_SHARING_SIDE + 1][PIM_SHARING_SIDE + 1];

static void count_inside(const struct pim_sharing *sharing, size_t set, prefix_sums inside)
{
    memset(inside, 0, sizeof(prefix_sums));
    for (size_t i = sharing->start[set]; i < sharing->start[set + 1]; i++)
        inside[sharing->node[i] / sharing->columns + 1][sharing->node[i] % sharing->columns + 1]++;
    for (uint32_t r = 1; r <= sharing->rows; r++) {
        for (uint32_t c = 1; c <= sharing->columns; c++)
            inside[r][c] += inside[r - 1][c] + inside[r][c - 1] - inside[r - 1][c - 1];
    }
}

/* Rectangles of nodes by their corners, rows [top, bottom), columns [left, right). */
static size_t rectangle_index(const struct pim_sharing *sharing, uint32_t top, uint32_t bottom, uint32_t left,
                              uint32_t right)
{
    size_t rows = sharing->rows, columns = sharing->columns;
    return ((top * (rows + 1) + bottom) * columns + left) * (columns + 1) + right;
}

/* Adds the weight of the set to all rectangles that it has members in and out of: its cycle leaves them. */
static void add_crossings(const struct pim_sharing *sharing, size_t set, prefix_sums inside,
                          uint64_t *leaving)
{
    uint32_t rows = sharing->rows, columns = sharing->columns, all = inside[rows][columns];
    for (uint32_t top = 0; top < rows; top++) {
        for (uint32_t bottom = top + 1; bottom <= rows; bottom++) {
            for (uint32_t left = 0; left < columns; left++) {
                for (uint32_t right = left + 1; right <= columns; right++) {
                    uint32_t members =
                        inside[bottom][right] - inside[top][right] - inside[bottom][left] + inside[top][left];
                    if (members > 0 && members < all)
                        leaving[rectangle_index(sharing, top, bottom, left, right)] += sharing->weight[set];
                }
            }
        }
    }
}

static uint64_t best_rectangle(const struct pim_sharing *sharing, const uint64_t *leaving)
{
    uint32_t rows = sharing->rows, columns = sharing->columns;
    uint64_t best = 0;
    for (uint32_t top = 0; top < rows; top++) {
        for (uint32_t bottom = top + 1; bottom <= rows; bottom++) {
            for (uint32_t left = 0; left < columns; left++) {
                for (uint32_t right = left + 1; right <= columns; right++) {
                    uint64_t links = (uint64_t)((top > 0) + (bottom < rows)) * (right - left) +
                                     (uint64_t)((left > 0) + (right < columns)) * (bottom - top);
                    uint64_t weight = leaving[rectangle_index(sharing, top, bottom, left, right)];
                    uint64_t bound = links > 0 ? pim_divide_up(weight, links) : 0;
                    best = bound > best ? bound : best;
                }
            }
        }
    }
    return best;
}

static enum pim_status rectangle_bound(const struct pim_sharing *sharing, uint64_t *bound,
                                       struct pim_error *error)
{
    size_t rows = sharing->rows, columns = sharing->columns;
    *bound = 0;
    if (rows * (rows + 1) * columns * (columns + 1) / 4 * sharing->set_count > rectangle_budget)
        return PIM_OK;
    uint64_t *leaving = calloc(rows * (rows + 1) * columns * (columns + 1), sizeof *leaving);
    prefix_sums *inside = malloc(sizeof *inside);
    if (!leaving || !inside) {
        free(leaving);
        free(inside);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the rectangles of a mesh of %zu x %zu", rows,
                        columns);
    }
    for (size_t s = 0; s < sharing->set_count; s++) {
        count_inside(sharing, s, *inside);
        add_crossings(sharing, s, *inside, leaving);
    }
    *bound = best_rectangle(sharing, leaving);
    free(leaving);
    free(inside);
    return PIM_OK;
}

enum pim_status sharing_load_bound(const struct pim_sharing *sharing, uint64_t hops, uint64_t *bound,
                                   enum pim_cycles_proof *proof, struct pim_error *error)
{
    uint64_t links = sharing_links(sharing), count = links > 0 ? pim_divide_up(hops, links) : 0, rectangle;
    *bound = 0;
    *proof = PIM_CYCLES_TRIVIAL;
    for (size_t s = 0; s < sharing->set_count; s++) {
        bool arcs = sharing->start[s + 1] - sharing->start[s] > 1;
        if (arcs && sharing->weight[s] > *bound)
            *bound = sharing->weight[s];
    }
    if (rectangle_bound(sharing, &rectangle, error) != PIM_OK)
        return error->status;
    if (count > *bound) {
        *bound = count;
        *proof = PIM_CYCLES_COUNT;
    }
    if (rectangle > *bound) {
        *bound = rectangle;
        *proof = PIM_CYCLES_RECTANGLE;
    }
    return PIM_OK;
}
