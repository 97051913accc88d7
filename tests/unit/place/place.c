/* Placements and slicings against known optima, link loads against a walk link by link. */
#include "mappers/place/place.h"
#include "mappers/place/slicing.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOWS = 2048, THINGS = 256 };

static FILE *open_data(const char *name)
{
    char relative[128], path[1024];
    (void)snprintf(relative, sizeof relative, "tests/data/search/%s", name);
    FILE *file = fopen(pimsim_source_path(path, sizeof path, relative), "r");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    return file;
}

static uint64_t next_count(FILE *file)
{
    char word[64], *end;
    ck_assert(fscanf(file, "%63s", word) == 1);
    uint64_t value = strtoull(word, &end, 10);
    ck_assert_msg(*end == '\0', "%s is no number", word);
    return value;
}

/* Every thing has a cell of its own. */
static void hold_legal(const struct pim_grid *grid, const uint32_t *place, uint32_t things)
{
    bool taken[1024] = {false};
    for (uint32_t i = 0; i < things; i++) {
        ck_assert_uint_lt(place[i], pim_grid_cells(grid));
        ck_assert(!taken[place[i]]);
        taken[place[i]] = true;
    }
}

START_TEST(planted_placements)
{
    FILE *file = open_data("placement.txt");
    char word[64];
    unsigned cases = 0;
    while (fscanf(file, "%63s", word) == 1) {
        static struct pim_flow flows[FLOWS];
        uint32_t place[THINGS];
        uint64_t hops, other;
        struct pim_error error = {0};
        if (strcmp(word, "planted") != 0)
            continue;
        ck_assert(fscanf(file, "%63s", word) == 1);
        struct pim_grid grid = {.height = (uint32_t)next_count(file), .width = (uint32_t)next_count(file)};
        uint32_t count = (uint32_t)next_count(file), things = grid.width * grid.height;
        uint64_t optimum = next_count(file);
        ck_assert(count <= FLOWS && things <= THINGS);
        for (uint32_t i = 0; i < count; i++) {
            flows[i].from = (uint32_t)next_count(file);
            flows[i].to = (uint32_t)next_count(file);
            flows[i].weight = next_count(file);
        }
        cases++;
        ck_assert(pim_place_greedy(&grid, flows, count, things, NULL, place, &error) == PIM_OK);
        hold_legal(&grid, place, things);
        uint64_t greedy = pim_place_hops(&grid, flows, count, place);
        ck_assert_uint_ge(greedy, optimum);
        ck_assert(pim_place_descend(&grid, flows, count, things, 20, place, &hops, &error) == PIM_OK);
        hold_legal(&grid, place, things);
        ck_assert_uint_le(hops, greedy);
        ck_assert_uint_eq(hops, pim_place_hops(&grid, flows, count, place));
        if (things > 64)
            continue; /* a minute in a build without optimisation */
        ck_assert(pim_place_anneal(&grid, flows, count, things, 8, UINT64_C(2000) * things, 1, 1, place,
                                   &hops, &error) == PIM_OK);
        hold_legal(&grid, place, things);
        /* Up to 16 things within a hundredth of the optimum; 64 are hard: within a quarter. */
        ck_assert_uint_ge(hops, optimum);
        ck_assert_msg(hops - optimum <= optimum / (things <= 16 ? 100 : 4),
                      "%s: %" PRIu64 ", optimum %" PRIu64, word, hops, optimum);
        ck_assert(pim_place_anneal(&grid, flows, count, things, 8, UINT64_C(2000) * things, 1, 3, place,
                                   &other, &error) == PIM_OK);
        ck_assert_uint_eq(hops, other);
    }
    ck_assert_uint_eq(cases, 4);
    ck_assert(fclose(file) == 0);
}
END_TEST

START_TEST(descents_end_where_no_exchange_gains)
{
    struct pim_random random;
    pim_random_initialize(&random, 5);
    for (unsigned round = 0; round < 20; round++) {
        struct pim_flow flows[30];
        uint32_t place[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, things = 9;
        struct pim_grid grid = {4, 3};
        struct pim_error error = {0};
        uint64_t hops;
        for (unsigned i = 0; i < 30; i++) {
            uint32_t from = (uint32_t)pim_random_below(&random, things);
            flows[i] = (struct pim_flow){from, (from + 1 + (uint32_t)pim_random_below(&random, 8)) % 9,
                                         pim_random_below(&random, 100)};
        }
        ck_assert(pim_place_descend(&grid, flows, 30, things, UINT64_MAX, place, &hops, &error) == PIM_OK);
        hold_legal(&grid, place, things);
        for (uint32_t i = 0; i < things; i++)
            for (uint32_t cell = 0; cell < 12; cell++) {
                uint32_t moved[9];
                memcpy(moved, place, sizeof moved);
                for (uint32_t j = 0; j < things; j++)
                    if (place[j] == cell)
                        moved[j] = place[i];
                moved[i] = cell;
                ck_assert_uint_ge(pim_place_hops(&grid, flows, 30, moved), hops);
            }
    }
}
END_TEST

START_TEST(loads_are_those_of_the_routes)
{
    struct pim_random random;
    pim_random_initialize(&random, 6);
    for (unsigned round = 0; round < 64; round++) {
        struct pim_flow flows[12];
        uint32_t place[12], links[16], link;
        struct pim_grid grid = {5, 4};
        uint64_t load[20 * PIM_PLACE_DIRECTIONS] = {0}, wanted[20 * PIM_PLACE_DIRECTIONS] = {0}, most = 0;
        const struct pim_place_routes routes = {round & 1, round & 2, round & 4};
        for (uint32_t i = 0; i < 12; i++) {
            place[i] = (uint32_t)pim_random_below(&random, 20);
            flows[i] = (struct pim_flow){i, (i + 1) % 12, 1 + pim_random_below(&random, 50)};
        }
        pim_place_loads(&grid, flows, 12, place, &routes, load);
        for (uint32_t i = 0; i < 12; i++) {
            uint32_t hops = pim_place_route(&grid, place[i], place[(i + 1) % 12], &routes, links);
            ck_assert_uint_eq(hops, pim_grid_distance(&grid, place[i], place[(i + 1) % 12]));
            for (uint32_t k = 0; k < hops; k++) {
                wanted[links[k]] += flows[i].weight * (routes.stretch ? hops : 1);
                if (routes.undirected)
                    ck_assert_uint_eq(links[k] % 2, 1); /* east or south */
            }
        }
        ck_assert_mem_eq(load, wanted, sizeof load);
        for (uint32_t i = 0; i < 20 * PIM_PLACE_DIRECTIONS; i++)
            most = wanted[i] > most ? wanted[i] : most;
        ck_assert_uint_eq(pim_place_worst(&grid, load, &link), most);
        ck_assert_uint_eq(load[link], most);
    }
}
END_TEST

START_TEST(slicings_as_recorded)
{
    FILE *file = open_data("regions.txt");
    char word[64];
    unsigned cases = 0;
    for (; fscanf(file, "%63s", word) == 1; cases++) {
        uint64_t works[PIM_SLICING_PARTS];
        struct pim_grid grid = {.height = (uint32_t)next_count(file), .width = (uint32_t)next_count(file)};
        uint32_t parts = (uint32_t)next_count(file);
        ck_assert(parts <= PIM_SLICING_PARTS);
        for (uint32_t i = 0; i < parts; i++)
            works[i] = next_count(file);
        for (uint64_t n = next_count(file); n > 0; n--) {
            struct pim_slicing slicing;
            struct pim_error error = {0};
            uint32_t regions = (uint32_t)next_count(file), seen = 0, cells = 0;
            uint64_t work = next_count(file), of = next_count(file);
            ck_assert(pim_slice(&grid, works, parts, regions, &slicing, &error) == PIM_OK);
            ck_assert_uint_eq(slicing.work * of, work * slicing.cells);
            ck_assert_uint_eq(slicing.regions, regions);
            for (uint32_t r = 0; r < regions; r++) {
                const struct pim_slicing_region *region = &slicing.region[r];
                uint64_t sum = 0;
                ck_assert(region->parts != 0 && (seen & region->parts) == 0);
                seen |= region->parts;
                cells += region->width * region->height;
                for (uint32_t i = 0; i < parts; i++)
                    sum += region->parts >> i & 1 ? works[i] : 0;
                ck_assert(sum * of <= work * region->width * region->height);
                for (uint32_t q = 0; q < r; q++) {
                    const struct pim_slicing_region *other = &slicing.region[q];
                    ck_assert(region->x + region->width <= other->x || other->x + other->width <= region->x ||
                              region->y + region->height <= other->y ||
                              other->y + other->height <= region->y);
                }
            }
            ck_assert_uint_eq(seen, (1U << parts) - 1);
            ck_assert_uint_eq(cells, pim_grid_cells(&grid));
        }
    }
    ck_assert_uint_eq(cases, 12);
    ck_assert(fclose(file) == 0);
}
END_TEST

START_TEST(bad_input_is_refused)
{
    const struct pim_grid grid = {2, 2};
    const struct pim_flow flow = {0, 1, UINT64_C(1) << 41}, self = {1, 1, 1};
    uint32_t place[5] = {0, 0, 1, 2, 3};
    uint64_t hops;
    const uint64_t works[2] = {1, 1};
    struct pim_slicing slicing;
    struct pim_error error = {0};
    ck_assert(pim_place_greedy(&grid, NULL, 0, 5, NULL, place, &error) == PIM_BAD_INPUT);
    ck_assert(pim_place_descend(&grid, &flow, 1, 2, 1, place, &hops, &error) == PIM_BAD_INPUT);
    ck_assert(pim_place_descend(&grid, &self, 1, 2, 1, place, &hops, &error) == PIM_BAD_INPUT);
    ck_assert(pim_place_descend(&grid, NULL, 0, 2, 1, place, &hops, &error) == PIM_BAD_INPUT);
    ck_assert(pim_slice(&grid, works, 2, 3, &slicing, &error) == PIM_BAD_INPUT);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("place");
    TCase *tests = tcase_create("place");
    tcase_add_test(tests, planted_placements);
    tcase_add_test(tests, descents_end_where_no_exchange_gains);
    tcase_add_test(tests, loads_are_those_of_the_routes);
    tcase_add_test(tests, slicings_as_recorded);
    tcase_add_test(tests, bad_input_is_refused);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
