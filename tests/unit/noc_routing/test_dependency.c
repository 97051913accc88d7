/*
 * The deadlock check, against the verdicts that the literature has for the routings, and against a second
 * graph that is built packet by packet, channel by channel, for all sources, destinations and draws.
 */
#include "tests/unit/noc_routing/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 640, HELD_NOTHING = CHANNELS };

/* The slow graph: waits[a][b] when a packet that holds channel a may ask for channel b. */
struct slow {
    const struct pim_noc_routing *routing;
    const struct pim_noc_topology *topology;
    uint32_t vcs;
    bool waits[CHANNELS][CHANNELS];
    uint32_t seen[CHANNELS + 1][64][4]; /* by channel held, router, phase and moved: number of the packet */
    uint32_t packet;
};

static void explore(struct slow *slow, const struct pim_noc_packet_state *state, uint32_t router,
                    uint32_t held)
{
    uint32_t *seen = &slow->seen[held][router][(state->phase & 1) | (state->moved & 1) << 1];
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    if (*seen == slow->packet)
        return;
    *seen = slow->packet;
    unsigned count = pim_noc_route(slow->routing, state, router, 4, candidates);
    bool with_escape = candidates[count - 1].escape;
    for (unsigned i = 0; i < count; i++) {
        uint32_t link = pim_noc_output_link(slow->topology, router, candidates[i].port);
        if (link == PIM_NOC_NONE) /* the terminal */
            return;
        struct pim_noc_packet_state next = *state;
        pim_noc_packet_advance(slow->routing, &next, router, candidates[i].port);
        if (with_escape && !candidates[i].escape) { /* still holds the last escape channel */
            explore(slow, &next, slow->topology->link[link].to, held);
            continue;
        }
        for (uint32_t vc = 0; vc < slow->vcs; vc++) {
            uint32_t channel = link * slow->vcs + vc;
            if (!(candidates[i].vcs >> vc & 1))
                continue;
            if (held != HELD_NOTHING)
                slow->waits[held][channel] = true;
            explore(slow, &next, slow->topology->link[link].to, channel);
        }
    }
}

/* Whether a router can be the intermediate one of a pair. */
static bool may_pass(const struct slow *slow, enum pim_noc_routing_kind kind, uint32_t from, uint32_t to,
                     uint32_t middle)
{
    const struct pim_noc_topology *topology = slow->topology;
    return kind == PIM_NOC_VALIANT ||
           pim_noc_distance(topology, from, middle) + pim_noc_distance(topology, middle, to) ==
               pim_noc_distance(topology, from, to);
}

static void build_slow(struct slow *slow, enum pim_noc_routing_kind kind, uint32_t class)
{
    uint32_t routers = slow->topology->routers;
    bool two_phases = kind == PIM_NOC_VALIANT || kind == PIM_NOC_ROMM;
    bool torus = slow->topology->kind == PIM_NOC_TORUS;
    uint32_t ties = (slow->topology->width % 2 ? 0U : 5U) | (slow->topology->height % 2 ? 0U : 10U);
    for (uint32_t pair = 0; pair < routers * routers; pair++) {
        uint32_t from = pair / routers, to = pair % routers;
        for (uint32_t variant = 0; variant < 32 * (two_phases ? routers : 1); variant++) {
            uint32_t tie = variant % 16, y_first = variant / 16 % 2, middle = variant / 32;
            if ((from == to && kind != PIM_NOC_VALIANT) || (tie & ~(torus ? ties : 0U)) ||
                (!two_phases && tie > 3) || (kind != PIM_NOC_O1TURN && y_first) ||
                (two_phases && !may_pass(slow, kind, from, to, middle)))
                continue;
            struct pim_noc_packet_state state = {
                .source = from,
                .destination = to,
                .intermediate = two_phases ? middle : PIM_NOC_NONE,
                .class = (uint8_t) class,
                .phase = two_phases && middle == from,
                .y_first = (uint8_t)y_first,
                .tie = (uint8_t)tie,
            };
            slow->packet++;
            explore(slow, &state, from, HELD_NOTHING);
        }
    }
}

/* Takes away channels that wait for none that is left, until there are no more such. */
static bool slow_has_cycle(const struct slow *slow)
{
    uint32_t channels = slow->topology->links * slow->vcs, left = channels;
    bool *gone = calloc(channels + 1, sizeof *gone);
    ck_assert_ptr_nonnull(gone);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t a = 0; a < channels; a++) {
            bool waits = false;
            for (uint32_t b = 0; b < channels && !gone[a] && !waits; b++)
                waits = slow->waits[a][b] && !gone[b];
            if (gone[a] || waits)
                continue;
            gone[a] = changed = true;
            left--;
        }
    }
    free(gone);
    return left > 0;
}

/* Holds the fast check against the slow one; returns whether the routing can deadlock. */
static bool compare(const struct pim_noc_routing *routing, enum pim_noc_routing_kind kind, uint32_t vcs,
                    uint32_t classes)
{
    struct slow *slow = calloc(1, sizeof *slow);
    ck_assert_ptr_nonnull(slow);
    slow->routing = routing;
    slow->topology = pim_noc_routing_topology(routing);
    slow->vcs = vcs;
    ck_assert(slow->topology->links * vcs <= CHANNELS && slow->topology->routers <= 64);
    for (uint32_t c = 0; c < classes; c++)
        build_slow(slow, kind, c);
    struct pim_noc_channel cycle[CHANNELS];
    struct pim_error error = {0};
    uint32_t count;
    ck_assert_int_eq(pim_noc_dependency_cycle(routing, cycle, CHANNELS, &count, &error), PIM_OK);
    ck_assert_msg(slow_has_cycle(slow) == (count > 0), "%s on %s %u x %u, %u vcs: %u",
                  pim_noc_routing_name((unsigned)kind), pim_noc_topology_name((unsigned)slow->topology->kind),
                  slow->topology->width, slow->topology->height, vcs, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct pim_noc_channel *a = &cycle[i], *b = &cycle[(i + 1) % count];
        ck_assert(slow->waits[a->link * vcs + a->vc][b->link * vcs + b->vc]);
    }
    ck_assert_int_eq(pim_noc_dependency_check(routing, &error), count ? PIM_BAD_INPUT : PIM_OK);
    free(slow);
    return count > 0;
}

START_TEST(verdicts_are_those_of_the_slow_graph)
{
    const uint32_t shapes[][2] = {{1, 1}, {2, 1}, {1, 4}, {2, 2}, {3, 2}, {3, 3}, {4, 3}, {5, 1}, {4, 4}};
    unsigned refused = 0, taken = 0;
    for (unsigned kind = 0; kind < PIM_NOC_TABLE; kind++) {
        for (unsigned torus = 0; torus < 2; torus++) {
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                struct pim_noc_topology *topology =
                    make_topology(torus ? PIM_NOC_TORUS : PIM_NOC_MESH, shapes[i][0], shapes[i][1]);
                bool slow = kind == PIM_NOC_VALIANT && topology->routers > 9;
                for (uint32_t vcs = 1; vcs <= (slow ? 2U : 4U); vcs++) {
                    struct pim_error error;
                    struct pim_noc_routing *routing =
                        make_routing((enum pim_noc_routing_kind)kind, topology, vcs, &error);
                    if (routing) {
                        bool cycle = compare(routing, (enum pim_noc_routing_kind)kind, vcs, 1);
                        refused += cycle;
                        taken += !cycle;
                    }
                    pim_noc_routing_destroy(routing);
                }
                pim_noc_topology_destroy(topology);
            }
        }
    }
    ck_assert(refused > 30 && taken > 100);
}
END_TEST

START_TEST(random_tables_are_judged_as_the_slow_graph_does)
{
    struct pim_random random;
    pim_random_initialize(&random, 31);
    unsigned refused = 0, taken = 0;
    for (unsigned round = 0; round < 150; round++) {
        struct pim_noc_topology *topology = make_topology(round & 1 ? PIM_NOC_TORUS : PIM_NOC_MESH,
                                                          1 + (uint32_t)pim_random_below(&random, 4),
                                                          1 + (uint32_t)pim_random_below(&random, 3));
        struct pim_noc_route_table table;
        make_random_table(topology, &random, &table);
        struct pim_noc_routing_configuration configuration = {
            .kind = PIM_NOC_TABLE, .virtual_channels = 1, .table = &table};
        struct pim_noc_routing *routing;
        struct pim_error error = {0};
        ck_assert_int_eq(pim_noc_routing_create(&configuration, topology, &routing, &error), PIM_OK);
        bool cycle = compare(routing, PIM_NOC_TABLE, 1, 1);
        refused += cycle;
        taken += !cycle;
        pim_noc_routing_destroy(routing);
        pim_noc_route_table_terminate(&table);
        pim_noc_topology_destroy(topology);
    }
    ck_assert_msg(refused > 20 && taken > 20, "%u refused, %u taken", refused, taken);
}
END_TEST

/* Classes of traffic whose virtual channels overlap can wait for each other. */
START_TEST(classes_of_traffic_are_judged_together)
{
    const struct {
        enum pim_noc_routing_kind kind;
        struct pim_noc_vc_range class[2];
        bool good;
    } cases[] = {
        {PIM_NOC_O1TURN, {{0, 2}, {2, 2}}, true},
        {PIM_NOC_O1TURN, {{0, 4}, {0, 4}}, true},
        {PIM_NOC_O1TURN, {{0, 2}, {1, 2}}, false}, /* vc 1: columns first for one, rows first for the other */
        {PIM_NOC_O1TURN, {{0, 3}, {3, 1}}, false},
        {PIM_NOC_XY, {{0, 3}, {1, 3}}, true},
        {PIM_NOC_VALIANT, {{0, 2}, {1, 2}}, true}, /* all rows first: vc 0 before 1 before 2 */
        {PIM_NOC_VALIANT, {{0, 2}, {0, 1}}, false},
        {PIM_NOC_MINIMAL_ADAPTIVE, {{0, 2}, {2, 2}}, true},
        {PIM_NOC_MINIMAL_ADAPTIVE, {{0, 3}, {3, 1}}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pim_noc_topology *topology = make_topology(PIM_NOC_MESH, 3, 3);
        struct pim_noc_routing_configuration configuration = {
            .kind = cases[i].kind, .virtual_channels = 4, .classes = 2};
        memcpy(configuration.class, cases[i].class, sizeof cases[i].class);
        struct pim_noc_routing *routing;
        struct pim_error error = {0};
        ck_assert_int_eq(pim_noc_routing_create(&configuration, topology, &routing, &error), PIM_OK);
        bool mixed = cases[i].kind == PIM_NOC_MINIMAL_ADAPTIVE && !cases[i].good; /* escape and none */
        if (mixed)
            ck_assert_int_eq(pim_noc_dependency_check(routing, &error), PIM_BAD_INPUT);
        else
            ck_assert_int_eq(compare(routing, cases[i].kind, 4, 2), !cases[i].good);
        pim_noc_routing_destroy(routing);
        pim_noc_topology_destroy(topology);
    }
}
END_TEST

/* --- known verdicts --- */

START_TEST(known_routings_have_their_known_verdicts)
{
    const struct {
        enum pim_noc_routing_kind kind;
        enum pim_noc_topology_kind topology;
        uint32_t needed; /* virtual channels */
    } known[] = {
        {PIM_NOC_XY, PIM_NOC_MESH, 1},
        {PIM_NOC_YX, PIM_NOC_MESH, 1},
        {PIM_NOC_O1TURN, PIM_NOC_MESH, 2},
        {PIM_NOC_WEST_FIRST, PIM_NOC_MESH, 1},
        {PIM_NOC_ODD_EVEN, PIM_NOC_MESH, 1},
        {PIM_NOC_MINIMAL_ADAPTIVE, PIM_NOC_MESH, 2},
        {PIM_NOC_VALIANT, PIM_NOC_MESH, 2},
        {PIM_NOC_ROMM, PIM_NOC_MESH, 2},
        {PIM_NOC_XY, PIM_NOC_TORUS, 2},
        {PIM_NOC_YX, PIM_NOC_TORUS, 2},
        {PIM_NOC_MINIMAL_ADAPTIVE, PIM_NOC_TORUS, 3},
        {PIM_NOC_VALIANT, PIM_NOC_TORUS, 4},
    };
    const uint32_t sides[][2] = {{8, 8}, {5, 9}, {200, 3}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (size_t side = 0; side < sizeof sides / sizeof *sides; side++) {
            for (uint32_t vcs = known[i].needed - 1; vcs <= known[i].needed; vcs++) {
                struct pim_error error;
                if (vcs == 0)
                    continue;
                bool good =
                    accepted(known[i].topology, sides[side][0], sides[side][1], known[i].kind, vcs, &error);
                ck_assert_msg(good == (vcs >= known[i].needed), "%s on %s %u x %u, %u vcs: %s",
                              pim_noc_routing_name((unsigned)known[i].kind),
                              pim_noc_topology_name((unsigned)known[i].topology), sides[side][0],
                              sides[side][1], vcs, error.text);
                if (!good) {
                    char needs[64];
                    (void)snprintf(needs, sizeof needs, "needs %u virtual channels", known[i].needed);
                    ck_assert_ptr_nonnull(strstr(error.text, " waits for link "));
                    ck_assert_ptr_nonnull(strstr(error.text, needs));
                }
            }
        }
    }
}
END_TEST

/* Rings of three routers need no dateline: no packet takes two links of one. */
START_TEST(small_tori_need_no_dateline)
{
    struct pim_error error;
    ck_assert(accepted(PIM_NOC_TORUS, 3, 3, PIM_NOC_XY, 1, &error));
    ck_assert(accepted(PIM_NOC_TORUS, 2, 2, PIM_NOC_XY, 1, &error));
    ck_assert(!accepted(PIM_NOC_TORUS, 4, 1, PIM_NOC_XY, 1, &error));
    ck_assert_ptr_nonnull(strstr(error.text,
                                 "link 0->1 vc 0 waits for link 1->2 vc 0 waits for link 2->3 vc 0 "
                                 "waits for link 3->0 vc 0 waits for link 0->1 vc 0"));
}
END_TEST

/* The smaller network that judges a large one gives the large one's verdict. */
START_TEST(smaller_networks_stand_for_larger_ones)
{
    const uint32_t sides[][2] = {{20, 21}, {2, 201}};
    const struct {
        enum pim_noc_topology_kind topology;
        uint32_t vcs;
    } cases[] = {{PIM_NOC_MESH, 1}, {PIM_NOC_MESH, 2}, {PIM_NOC_TORUS, 2}};
    for (unsigned kind = 0; kind < PIM_NOC_TABLE; kind++) {
        for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
            for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
                struct pim_noc_topology *topology =
                    make_topology(cases[c].topology, sides[i][0], sides[i][1]);
                struct pim_error error;
                struct pim_noc_routing *routing =
                    make_routing((enum pim_noc_routing_kind)kind, topology, cases[c].vcs, &error);
                struct pim_noc_channel cycle[1];
                uint32_t count;
                if (routing) {
                    ck_assert_uint_gt(topology->routers, PIM_NOC_DEPENDENCY_ROUTERS);
                    ck_assert_int_eq(pim_noc_dependency_cycle(routing, cycle, 1, &count, &error), PIM_OK);
                    ck_assert_msg((pim_noc_dependency_check(routing, &error) == PIM_OK) == (count == 0),
                                  "%s %u x %u: %u, %s", pim_noc_routing_name(kind), sides[i][0], sides[i][1],
                                  count, error.text);
                }
                pim_noc_routing_destroy(routing);
                pim_noc_topology_destroy(topology);
            }
        }
    }
}
END_TEST

/* --- express links --- */

/* Random links along rows and columns, none twice and none between neighbours. Fewer than `most` when a draw
 * does not do. */
static uint32_t random_express(const struct pim_noc_topology_configuration *shape, struct pim_random *random,
                               struct pim_noc_link_entry *entries, uint32_t most)
{
    uint32_t count = 0, width = shape->width, height = shape->height;
    for (uint32_t i = 0; i < most; i++) {
        uint32_t x = (uint32_t)pim_random_below(random, width),
                 y = (uint32_t)pim_random_below(random, height);
        bool row = pim_random_below(random, 2) == 0;
        uint32_t side = row ? width : height, at = row ? x : y, to = (uint32_t)pim_random_below(random, side);
        uint32_t span = at < to ? to - at : at - to;
        bool fits = span > 1 && !(shape->kind == PIM_NOC_TORUS && span == side - 1);
        struct pim_noc_link_entry entry = {.from = x + y * width,
                                           .to = row ? to + y * width : x + to * width};
        for (uint32_t k = 0; k < count; k++)
            fits = fits && (entries[k].from != entry.from || entries[k].to != entry.to);
        if (fits)
            entries[count++] = entry;
    }
    return count;
}

/*
 * Large networks are judged without their express links. That is right because those skip positions of an
 * order that has no circle: what is accepted without them is accepted with any of them, here with the whole
 * graph.
 */
START_TEST(express_links_close_no_circle)
{
    static const enum pim_noc_routing_kind kinds[] = {PIM_NOC_XY, PIM_NOC_YX, PIM_NOC_O1TURN, PIM_NOC_VALIANT,
                                                      PIM_NOC_ROMM};
    enum { LINKS = 40 };
    struct pim_random random;
    pim_random_initialize(&random, 1400);
    unsigned judged = 0;
    for (unsigned i = 0; i < 400; i++) {
        struct pim_noc_link_entry express[LINKS];
        struct pim_noc_topology_configuration shape;
        pim_noc_topology_configuration_initialize(&shape);
        shape.kind = i % 2 ? PIM_NOC_TORUS : PIM_NOC_MESH;
        shape.width = 1 + (uint32_t)pim_random_below(&random, 9);
        shape.height = 1 + (uint32_t)pim_random_below(&random, 7);
        enum pim_noc_routing_kind kind = kinds[i / 2 % (sizeof kinds / sizeof *kinds)];
        uint32_t vcs = 1 + (uint32_t)pim_random_below(&random, 4);
        struct pim_error error;
        if (!accepted(shape.kind, shape.width, shape.height, kind, vcs, &error))
            continue;
        shape.express = express;
        shape.express_count = random_express(&shape, &random, express, LINKS);
        struct pim_noc_topology *topology;
        if (pim_noc_topology_create(&shape, &topology, &error) != PIM_OK)
            ck_abort_msg("%s", error.text);
        struct pim_noc_routing *routing = make_routing(kind, topology, vcs, &error);
        struct pim_noc_channel cycle[1];
        uint32_t count;
        ck_assert_int_eq(pim_noc_dependency_cycle(routing, cycle, 1, &count, &error), PIM_OK);
        ck_assert_msg(count == 0, "case %u: %s on %u x %u", i, pim_noc_routing_name((unsigned)kind),
                      shape.width, shape.height);
        judged += shape.express_count > 0;
        pim_noc_routing_destroy(routing);
        pim_noc_topology_destroy(topology);
    }
    ck_assert_uint_ge(judged, 150);
}
END_TEST

Suite *dependency_suite(void)
{
    Suite *suite = suite_create("noc_dependency");
    TCase *all = tcase_create("all");
    tcase_add_test(all, verdicts_are_those_of_the_slow_graph);
    tcase_add_test(all, random_tables_are_judged_as_the_slow_graph_does);
    tcase_add_test(all, classes_of_traffic_are_judged_together);
    tcase_add_test(all, known_routings_have_their_known_verdicts);
    tcase_add_test(all, small_tori_need_no_dateline);
    tcase_add_test(all, smaller_networks_stand_for_larger_ones);
    tcase_add_test(all, express_links_close_no_circle);
    suite_add_tcase(suite, all);
    return suite;
}
