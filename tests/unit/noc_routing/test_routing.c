/* Where packets go: all pairs arrive, by shortest ways and allowed turns; random draws belong to packets. */
#include "tests/unit/noc_routing/support.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HOPS = 200 };

/* A step that a packet has taken, for checks of turns. */
struct step {
    const struct pim_noc_link *before, *link; /* before: NULL in the source's router */
    const struct pim_noc_candidate *candidate;
    const struct pim_noc_packet_state *state;
};
typedef void check_step(const struct pim_noc_topology *topology, const struct step *step);

/* Takes a random candidate in every router and returns the number of links taken; checks candidates. */
static uint32_t travel(const struct pim_noc_routing *routing, struct pim_noc_packet_state state,
                       struct pim_random *random, check_step *check)
{
    const struct pim_noc_topology *topology = pim_noc_routing_topology(routing);
    uint32_t router = pim_noc_node_router(topology, state.source), hops = 0;
    uint32_t port = pim_noc_node_port(topology, state.source);
    const struct pim_noc_link *before = NULL;
    for (;; hops++) {
        struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
        unsigned count = pim_noc_route(routing, &state, router, port, candidates);
        MUST(count >= 1 && count <= PIM_NOC_CANDIDATE_LIMIT && hops < MOST_HOPS);
        MUST(pim_noc_routing_is_adaptive(routing) || count == 1);
        for (unsigned i = 0; i < count; i++)
            MUST(candidates[i].vcs != 0 && (candidates[i].vcs & ~state.injection_vcs) == 0);
        const struct pim_noc_candidate *taken = &candidates[pim_random_below(random, count)];
        if (pim_noc_port_node(topology, router, taken->port) != PIM_NOC_NONE) {
            MUST(count == 1);
            MUST(pim_noc_port_node(topology, router, taken->port) == state.destination);
            MUST(taken->vcs == state.injection_vcs);
            return hops;
        }
        uint32_t link = pim_noc_output_link(topology, router, taken->port);
        MUST(link != PIM_NOC_NONE);
        if (check)
            check(topology, &(struct step){before, &topology->link[link], taken, &state});
        pim_noc_packet_advance(routing, &state, router, taken->port);
        before = &topology->link[link];
        router = before->to;
        port = before->to_port;
    }
}

/* All pairs of nodes; every packet by a shortest way when the routing says so. */
static void travel_all(const struct pim_noc_routing *routing, struct pim_random *random, check_step *check)
{
    const struct pim_noc_topology *topology = pim_noc_routing_topology(routing);
    uint64_t number = 0;
    for (uint32_t source = 0; source < topology->nodes; source++) {
        for (uint32_t destination = 0; destination < topology->nodes; destination++) {
            struct pim_noc_packet_state state;
            pim_noc_packet_start(routing, number++, source, destination, 0, &state);
            uint32_t hops = travel(routing, state, random, check);
            uint32_t distance = pim_noc_distance(topology, pim_noc_node_router(topology, source),
                                                 pim_noc_node_router(topology, destination));
            if (pim_noc_routing_is_minimal(routing))
                MUST(hops == distance);
            else
                MUST(hops >= distance);
        }
    }
}

static const uint32_t shapes[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 7}, {7, 1}, {2, 5},
                                     {3, 3}, {4, 4}, {5, 3}, {3, 6}, {6, 6}, {7, 4}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

START_TEST(all_pairs_arrive)
{
    struct pim_random random;
    pim_random_initialize(&random, 11);
    for (unsigned topology_kind = 0; topology_kind <= PIM_NOC_TORUS; topology_kind++) {
        for (unsigned kind = 0; kind < PIM_NOC_TABLE; kind++) {
            for (size_t i = 0; i < SHAPES; i++) {
                struct pim_noc_topology *topology =
                    make_topology((enum pim_noc_topology_kind)topology_kind, shapes[i][0], shapes[i][1]);
                struct pim_error error;
                for (uint32_t vcs = 1; vcs <= 5; vcs++) {
                    struct pim_noc_routing *routing =
                        make_routing((enum pim_noc_routing_kind)kind, topology, vcs, &error);
                    if (routing) /* not all are defined on a torus */
                        travel_all(routing, &random, NULL);
                    pim_noc_routing_destroy(routing);
                }
                pim_noc_topology_destroy(topology);
            }
        }
    }
}
END_TEST

START_TEST(concentrated_nodes_get_their_packets)
{
    struct pim_noc_topology_configuration configuration;
    pim_noc_topology_configuration_initialize(&configuration);
    configuration.width = 3;
    configuration.height = 4;
    configuration.concentration = 4;
    struct pim_noc_topology *topology;
    struct pim_error error = {0};
    struct pim_random random;
    pim_random_initialize(&random, 12);
    ck_assert_int_eq(pim_noc_topology_create(&configuration, &topology, &error), PIM_OK);
    for (unsigned kind = 0; kind < PIM_NOC_TABLE; kind++) {
        struct pim_noc_routing *routing = make_routing((enum pim_noc_routing_kind)kind, topology, 4, &error);
        travel_all(routing, &random, NULL);
        pim_noc_routing_destroy(routing);
    }
    pim_noc_topology_destroy(topology);
}
END_TEST

/* --- turns --- */

static bool turns(const struct step *step)
{
    return step->before && step->before->dimension != step->link->dimension;
}

static void no_y_to_x(const struct pim_noc_topology *topology, const struct step *step)
{
    (void)topology;
    MUST(!turns(step) || step->link->dimension == 1);
}
static void no_x_to_y(const struct pim_noc_topology *topology, const struct step *step)
{
    (void)topology;
    MUST(!turns(step) || step->link->dimension == 0);
}
static void no_turn_to_west(const struct pim_noc_topology *topology, const struct step *step)
{
    (void)topology;
    MUST(!turns(step) || step->link->from_port != 1);
}
static void odd_even_rules(const struct pim_noc_topology *topology, const struct step *step)
{
    if (!turns(step))
        return;
    bool odd = topology->column[step->link->from] & 1;
    if (step->before->from_port == 0) /* east to north or south: not in even columns */
        MUST(odd);
    if (step->link->from_port == 1) /* north or south to west: not in odd columns */
        MUST(!odd);
}
static void one_order_each(const struct pim_noc_topology *topology, const struct step *step)
{
    (void)topology;
    MUST(!turns(step) || step->link->dimension == (step->state->y_first ? 0 : 1));
    MUST(step->candidate->vcs == (step->state->y_first ? 0xcU : 0x3U)); /* halves of 4 */
}
static void phases_apart(const struct pim_noc_topology *topology, const struct step *step)
{
    (void)topology;
    MUST(step->candidate->vcs == (step->state->phase ? 0xcU : 0x3U));
}

START_TEST(turns_follow_the_rules)
{
    const struct {
        enum pim_noc_routing_kind kind;
        check_step *check;
    } rules[] = {{PIM_NOC_XY, no_y_to_x},
                 {PIM_NOC_YX, no_x_to_y},
                 {PIM_NOC_WEST_FIRST, no_turn_to_west},
                 {PIM_NOC_ODD_EVEN, odd_even_rules},
                 {PIM_NOC_O1TURN, one_order_each},
                 {PIM_NOC_ROMM, phases_apart},
                 {PIM_NOC_VALIANT, phases_apart}};
    struct pim_random random;
    pim_random_initialize(&random, 13);
    struct pim_noc_topology *topology = make_topology(PIM_NOC_MESH, 7, 6);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct pim_error error;
        struct pim_noc_routing *routing = make_routing(rules[i].kind, topology, 4, &error);
        for (unsigned round = 0; round < 4; round++)
            travel_all(routing, &random, rules[i].check);
        pim_noc_routing_destroy(routing);
    }
    pim_noc_topology_destroy(topology);
}
END_TEST

/* Adaptive routings offer what their turn model leaves: all shortest ways of west-first to the east, of
 * minimal_adaptive everywhere. */
START_TEST(adaptive_routings_offer_both_dimensions)
{
    struct pim_noc_topology *topology = make_topology(PIM_NOC_MESH, 6, 6);
    struct pim_error error;
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    struct pim_noc_packet_state state;
    struct pim_noc_routing *routing = make_routing(PIM_NOC_WEST_FIRST, topology, 2, &error);
    pim_noc_packet_start(routing, 0, 0, 35, 0, &state);
    ck_assert_uint_eq(pim_noc_route(routing, &state, 0, 4, candidates), 2);
    pim_noc_packet_start(routing, 0, 35, 0, 0, &state);
    ck_assert_uint_eq(pim_noc_route(routing, &state, 35, 4, candidates), 1);
    ck_assert_uint_eq(candidates[0].port, 1);
    pim_noc_routing_destroy(routing);
    routing = make_routing(PIM_NOC_MINIMAL_ADAPTIVE, topology, 4, &error);
    pim_noc_packet_start(routing, 0, 35, 0, 0, &state);
    ck_assert_uint_eq(pim_noc_route(routing, &state, 35, 4, candidates), 3);
    ck_assert(candidates[0].port == 1 && candidates[0].vcs == 0xe && candidates[0].empty);
    ck_assert(candidates[1].port == 3 && candidates[1].vcs == 0xe && !candidates[1].escape);
    ck_assert(candidates[2].port == 1 && candidates[2].vcs == 1 && candidates[2].escape);
    ck_assert(!candidates[2].empty);
    pim_noc_routing_destroy(routing);
    pim_noc_topology_destroy(topology);
}
END_TEST

/* --- torus --- */

/* Before the dateline and behind it the virtual channels differ; nobody goes back. */
static void datelines(const struct pim_noc_topology *topology, const struct step *step)
{
    (void)topology;
    uint32_t low = 0x3, high = 0xc;
    MUST(step->candidate->vcs == low || step->candidate->vcs == high);
    if (step->link->wraps)
        MUST(step->candidate->vcs == low);
    if (step->before && step->before->wraps && !turns(step))
        MUST(step->candidate->vcs == high);
}

START_TEST(torus_changes_channels_at_the_dateline)
{
    struct pim_random random;
    pim_random_initialize(&random, 14);
    const uint32_t sides[][2] = {{4, 4}, {5, 6}, {3, 8}};
    for (size_t i = 0; i < 3; i++) {
        struct pim_noc_topology *topology = make_topology(PIM_NOC_TORUS, sides[i][0], sides[i][1]);
        struct pim_error error;
        struct pim_noc_routing *routing = make_routing(PIM_NOC_XY, topology, 4, &error);
        travel_all(routing, &random, datelines);
        pim_noc_routing_destroy(routing);
        pim_noc_topology_destroy(topology);
    }
}
END_TEST

/* Where both ways are equally long, about half of the packets take each. */
START_TEST(ties_of_a_torus_are_divided)
{
    struct pim_noc_topology *topology = make_topology(PIM_NOC_TORUS, 8, 8);
    struct pim_error error;
    struct pim_noc_routing *routing = make_routing(PIM_NOC_XY, topology, 2, &error);
    unsigned count[2] = {0, 0};
    for (uint64_t number = 0; number < 1000; number++) {
        struct pim_noc_packet_state state;
        struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
        pim_noc_packet_start(routing, number, 0, 4, 0, &state);
        ck_assert_uint_eq(pim_noc_route(routing, &state, 0, 4, candidates), 1);
        count[candidates[0].port & 1]++;
    }
    ck_assert(count[0] > 430 && count[1] > 430);
    pim_noc_routing_destroy(routing);
    pim_noc_topology_destroy(topology);
}
END_TEST

/* --- random draws --- */

START_TEST(draws_belong_to_the_packet)
{
    struct pim_noc_topology *topology = make_topology(PIM_NOC_MESH, 8, 8);
    const enum pim_noc_routing_kind kinds[] = {PIM_NOC_VALIANT, PIM_NOC_ROMM, PIM_NOC_O1TURN};
    for (size_t i = 0; i < 3; i++) {
        struct pim_error error;
        struct pim_noc_routing *routing = make_routing(kinds[i], topology, 2, &error);
        struct pim_noc_packet_state forward[200], backward[200];
        unsigned y_first = 0;
        memset(forward, 0, sizeof forward);
        memset(backward, 0, sizeof backward);
        for (unsigned n = 0; n < 200; n++)
            pim_noc_packet_start(routing, n, n % 64, n * 7 % 64, 0, &forward[n]);
        for (unsigned n = 200; n-- > 0;)
            pim_noc_packet_start(routing, n, n % 64, n * 7 % 64, 0, &backward[n]);
        for (unsigned n = 0; n < 200; n++) {
            ck_assert_uint_eq(forward[n].intermediate, backward[n].intermediate);
            ck_assert_uint_eq(forward[n].y_first, backward[n].y_first);
            y_first += forward[n].y_first;
        }
        ck_assert(kinds[i] == PIM_NOC_O1TURN ? y_first > 60 && y_first < 140 : y_first == 0);
        pim_noc_routing_destroy(routing);
    }
    pim_noc_topology_destroy(topology);
}
END_TEST

START_TEST(intermediate_routers_are_spread)
{
    struct pim_noc_topology *topology = make_topology(PIM_NOC_MESH, 4, 4);
    struct pim_error error;
    for (unsigned romm = 0; romm < 2; romm++) {
        struct pim_noc_routing *routing =
            make_routing(romm ? PIM_NOC_ROMM : PIM_NOC_VALIANT, topology, 2, &error);
        unsigned count[16] = {0};
        for (uint64_t number = 0; number < 6400; number++) {
            struct pim_noc_packet_state state;
            pim_noc_packet_start(routing, number, 5, 10, 0, &state); /* one step east, one south */
            count[state.intermediate]++;
        }
        for (unsigned r = 0; r < 16; r++) {
            bool inside = r == 5 || r == 6 || r == 9 || r == 10;
            unsigned expected = !romm ? 400 : inside ? 1600 : 0;
            ck_assert_msg(count[r] + 150 > expected && count[r] < expected + 150 &&
                              (expected || count[r] == 0),
                          "router %u: %u", r, count[r]);
        }
        pim_noc_routing_destroy(routing);
    }
    pim_noc_topology_destroy(topology);
}
END_TEST

/* --- express links --- */

START_TEST(dimension_order_takes_express_links)
{
    const struct pim_noc_link_entry express[] = {
        {0, 4, 1, {0, 0}}, {0, 2, 1, {0, 0}}, {4, 6, 1, {0, 0}}, {7, 3, 1, {0, 0}}, {0, 19, 1, {0, 0}},
    };
    struct pim_noc_topology_configuration configuration;
    pim_noc_topology_configuration_initialize(&configuration);
    configuration.height = 3;
    configuration.express = express;
    configuration.express_count = 5;
    struct pim_noc_topology *topology;
    struct pim_error error = {0};
    struct pim_random random;
    pim_random_initialize(&random, 15);
    ck_assert_int_eq(pim_noc_topology_create(&configuration, &topology, &error), PIM_OK);
    struct pim_noc_routing *routing = make_routing(PIM_NOC_XY, topology, 1, &error);
    const uint32_t expected[][3] = {/* source, destination, links */
                                    {0, 7, 3}, {0, 6, 2}, {0, 5, 2},  {0, 3, 2},  {0, 1, 1},
                                    {7, 0, 4}, {7, 4, 3}, {0, 19, 4}, {8, 14, 6}, {0, 12, 2}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct pim_noc_packet_state state;
        pim_noc_packet_start(routing, i, expected[i][0], expected[i][1], 0, &state);
        ck_assert_uint_eq(travel(routing, state, &random, NULL), expected[i][2]);
    }
    for (uint32_t pair = 0; pair < 24 * 24; pair++) {
        struct pim_noc_packet_state state;
        pim_noc_packet_start(routing, pair, pair / 24, pair % 24, 0, &state);
        ck_assert_uint_le(travel(routing, state, &random, no_y_to_x),
                          pim_noc_distance(topology, pair / 24, pair % 24));
    }
    ck_assert_int_eq(pim_noc_dependency_check(routing, &error), PIM_OK);
    pim_noc_routing_destroy(routing);
    pim_noc_topology_destroy(topology);
}
END_TEST

/* Around a ring an express link counts both ways, over the dateline too. */
START_TEST(express_links_of_rings)
{
    const struct pim_noc_link_entry express[] = {{1, 7, 1, {0, 0}}, {6, 2, 1, {0, 0}}, {3, 5, 1, {0, 0}}};
    struct pim_noc_topology_configuration configuration;
    pim_noc_topology_configuration_initialize(&configuration);
    configuration.kind = PIM_NOC_TORUS;
    configuration.height = 1;
    configuration.express = express;
    configuration.express_count = 3;
    struct pim_noc_topology *topology;
    struct pim_error error = {0};
    struct pim_random random;
    pim_random_initialize(&random, 16);
    ck_assert_int_eq(pim_noc_topology_create(&configuration, &topology, &error), PIM_OK);
    struct pim_noc_routing *routing = make_routing(PIM_NOC_XY, topology, 2, &error);
    const uint32_t expected[][3] = {/* source, destination, links */
                                    {1, 7, 1}, {1, 6, 2}, {1, 0, 1}, {2, 7, 2}, {7, 1, 2},
                                    {6, 1, 3}, {6, 2, 1}, {3, 6, 2}, {3, 5, 1}, {5, 3, 2}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        for (unsigned tie = 0; tie < 2; tie++) {
            struct pim_noc_packet_state state;
            pim_noc_packet_start(routing, i, expected[i][0], expected[i][1], 0, &state);
            state.tie = (uint8_t)tie;
            ck_assert_uint_eq(travel(routing, state, &random, NULL), expected[i][2]);
        }
    ck_assert_int_eq(pim_noc_dependency_check(routing, &error), PIM_OK);
    pim_noc_routing_destroy(routing);
    pim_noc_topology_destroy(topology);
}
END_TEST

/* --- refusals --- */

START_TEST(bad_routings_are_refused)
{
    struct pim_noc_topology *mesh = make_topology(PIM_NOC_MESH, 4, 4);
    struct pim_noc_topology *torus = make_topology(PIM_NOC_TORUS, 4, 4);
    struct pim_error error;
    const enum pim_noc_routing_kind of_mesh[] = {PIM_NOC_O1TURN, PIM_NOC_WEST_FIRST, PIM_NOC_ODD_EVEN,
                                                 PIM_NOC_ROMM};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_ptr_null(make_routing(of_mesh[i], torus, 8, &error));
        ck_assert_ptr_nonnull(strstr(error.text, pim_noc_routing_name((unsigned)of_mesh[i])));
    }
    ck_assert_ptr_null(make_routing(PIM_NOC_XY, mesh, 0, &error));
    ck_assert_ptr_null(make_routing(PIM_NOC_XY, mesh, 33, &error));
    ck_assert_ptr_null(make_routing(PIM_NOC_ROUTINGS, mesh, 1, &error));
    ck_assert_ptr_null(make_routing(PIM_NOC_TABLE, mesh, 1, &error));
    struct pim_noc_routing_configuration configuration = {
        .kind = PIM_NOC_XY, .virtual_channels = 8, .classes = 2, .class = {{0, 4}, {4, 5}}};
    struct pim_noc_routing *routing;
    ck_assert_int_eq(pim_noc_routing_create(&configuration, mesh, &routing, &error), PIM_BAD_INPUT);
    configuration.class[1] = (struct pim_noc_vc_range){UINT32_MAX, 2};
    ck_assert_int_eq(pim_noc_routing_create(&configuration, mesh, &routing, &error), PIM_BAD_INPUT);
    configuration.class[1] = (struct pim_noc_vc_range){2, 4};
    ck_assert_int_eq(pim_noc_routing_create(&configuration, mesh, &routing, &error), PIM_OK);
    pim_noc_routing_destroy(routing);
    configuration.kind = PIM_NOC_MINIMAL_ADAPTIVE; /* its classes share all or nothing */
    ck_assert_int_eq(pim_noc_routing_create(&configuration, mesh, &routing, &error), PIM_BAD_INPUT);
    configuration.classes = PIM_NOC_CLASS_LIMIT + 1;
    ck_assert_int_eq(pim_noc_routing_create(&configuration, mesh, &routing, &error), PIM_BAD_INPUT);
    pim_noc_topology_destroy(mesh);
    pim_noc_topology_destroy(torus);
}
END_TEST

Suite *routing_suite(void)
{
    Suite *suite = suite_create("noc_routing");
    TCase *all = tcase_create("all");
    tcase_add_test(all, all_pairs_arrive);
    tcase_add_test(all, concentrated_nodes_get_their_packets);
    tcase_add_test(all, turns_follow_the_rules);
    tcase_add_test(all, adaptive_routings_offer_both_dimensions);
    tcase_add_test(all, torus_changes_channels_at_the_dateline);
    tcase_add_test(all, ties_of_a_torus_are_divided);
    tcase_add_test(all, draws_belong_to_the_packet);
    tcase_add_test(all, intermediate_routers_are_spread);
    tcase_add_test(all, dimension_order_takes_express_links);
    tcase_add_test(all, express_links_of_rings);
    tcase_add_test(all, bad_routings_are_refused);
    suite_add_tcase(suite, all);
    return suite;
}
