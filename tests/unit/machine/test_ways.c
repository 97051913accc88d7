/*
 * Ways through meshes and tori as mappers see them: held against the network, and against counting all ways.
 */
#include "mappers/machine/network.h"
#include "models/noc/noc.h"
#include "tests/unit/test_main.h"

enum { SIDE_MOST = 7, ROUTERS_MOST = SIDE_MOST * SIDE_MOST };

static struct pim_machine_network network_of(bool wraps, uint32_t units)
{
    return (struct pim_machine_network){.order = PIM_MACHINE_X_FIRST, .wraps = wraps, .concentration = units};
}

/* Counts the flits of a way on its links; returns its routers. */
static uint32_t walk(const struct pim_machine_grid *grid, uint32_t from, uint32_t to, uint64_t *load)
{
    uint32_t routers = 1;
    for (uint32_t at = from; at != to; routers++) {
        enum pim_machine_link link = pim_machine_towards(grid, at, to);
        ck_assert_uint_lt(link, PIM_MACHINE_UNIT);
        load[at * PIM_MACHINE_UNIT + link]++;
        at = pim_machine_behind(grid, at, link);
        ck_assert_uint_lt(at, grid->columns * grid->rows);
        ck_assert_uint_le(routers, 2 * SIDE_MOST);
    }
    ck_assert_uint_eq(pim_machine_towards(grid, to, to), PIM_MACHINE_UNIT);
    return routers;
}

/* Every way is a shortest one of the network, whatever it wraps and however many units a router has. */
START_TEST(ways)
{
    const bool wraps = _i % 2, y_first = _i / 2 % 2;
    const uint32_t units = 1 + (uint32_t)_i / 4;
    for (uint32_t columns = 1; columns <= SIDE_MOST; columns++)
        for (uint32_t rows = 1; rows <= SIDE_MOST; rows++) {
            struct pim_machine_network network = network_of(wraps, units);
            struct pim_noc_configuration noc;
            pim_noc_configuration_initialize(&noc);
            noc.width = columns;
            noc.height = rows;
            noc.concentration = units;
            noc.topology = wraps ? PIM_NOC_TORUS : PIM_NOC_MESH;
            network.order = y_first ? PIM_MACHINE_Y_FIRST : PIM_MACHINE_X_FIRST;
            const struct pim_machine_grid grid = pim_machine_grid(&network, columns * units, rows);
            for (uint32_t from = 0; from < columns * units * rows; from++)
                for (uint32_t to = 0; to < columns * units * rows; to++) {
                    uint64_t load[ROUTERS_MOST * PIM_MACHINE_UNIT] = {0};
                    const uint32_t first = pim_machine_router(&grid, from),
                                   last = pim_machine_router(&grid, to), hops = pim_noc_hops(&noc, from, to);
                    ck_assert_uint_eq(walk(&grid, first, last, load), hops);
                    ck_assert_uint_eq(pim_machine_routers(&network, &grid, first, last), hops);
                }
        }
}
END_TEST

/* Of a part of an array the routers are those of the whole. */
START_TEST(parts)
{
    struct pim_machine_network network = network_of(true, 2);
    network.columns = 4;
    network.rows = 5;
    const struct pim_machine_grid grid = pim_machine_grid(&network, 3, 2);
    const uint32_t router[] = {0, 0, 1, 4, 4, 5};
    for (uint32_t unit = 0; unit < 6; unit++)
        ck_assert_uint_eq(pim_machine_router(&grid, unit), router[unit]);
    ck_assert_uint_eq(grid.columns, 4);
    ck_assert_uint_eq(grid.rows, 5);
}
END_TEST

/* The mean over all routers by which a packet may go, and what links then carry. */
START_TEST(detours)
{
    struct pim_machine_network network = network_of(_i % 2, 1);
    network.detours = true;
    for (uint32_t columns = 1; columns <= SIDE_MOST; columns++)
        for (uint32_t rows = 1; rows <= SIDE_MOST; rows++) {
            const struct pim_machine_grid grid = pim_machine_grid(&network, columns, rows);
            const uint64_t all = (uint64_t)columns * rows;
            uint64_t load[ROUTERS_MOST * PIM_MACHINE_UNIT] = {0}, sum = 0, busiest = 0;
            for (uint32_t from = 0; from < all; from++)
                for (uint32_t to = 0; to < all; to++) {
                    uint64_t routers = 0;
                    for (uint32_t via = 0; via < all; via++)
                        routers += walk(&grid, from, via, load) + walk(&grid, via, to, load) - 1;
                    ck_assert_uint_eq(pim_machine_routers(&network, &grid, from, to),
                                      (2 * routers + all) / (2 * all));
                    sum += routers;
                }
            const uint64_t mean = pim_machine_detour(&grid) * all * all * all;
            ck_assert_uint_le(mean > sum ? mean - sum : sum - mean, all * all * all * 2 / 3);
            for (size_t i = 0; i < sizeof load / sizeof *load; i++)
                busiest = pim_larger(busiest, load[i]);
            /* so many flits of a unit to each, by each, are the load of a link */
            const uint64_t flits = pim_machine_detour_flits(&grid, all * all);
            ck_assert_uint_ge(flits, all * all);
            if (_i % 2 == 0)
                ck_assert_uint_eq(flits, pim_larger(busiest, all * all));
            else
                ck_assert_uint_le(flits, pim_larger(busiest, all * all));
        }
}
END_TEST

/* Draws depend on the number alone, and reach all routers alike. */
START_TEST(draws)
{
    enum { DRAWS = 20000 };
    const struct pim_machine_network network = network_of(false, 1);
    const struct pim_machine_grid grid = pim_machine_grid(&network, 5, 4);
    unsigned drawn[20] = {0};
    for (uint64_t number = 0; number < DRAWS; number++) {
        ck_assert_uint_eq(pim_machine_via(&grid, number), pim_machine_via(&grid, number));
        drawn[pim_machine_via(&grid, number)]++;
    }
    for (unsigned i = 0; i < 20; i++)
        ck_assert(drawn[i] > 850 && drawn[i] < 1150);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("ways");
    TCase *cases = tcase_create("ways");
    tcase_add_loop_test(cases, ways, 0, 12);
    tcase_add_test(cases, parts);
    tcase_add_loop_test(cases, detours, 0, 2);
    tcase_add_test(cases, draws);
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}
