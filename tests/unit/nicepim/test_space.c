/* Partitions, layouts, segments, regions and the choice among candidates against golden cases. */
#include "mappers/nicepim/map/place.h"
#include "mappers/nicepim/space/partition.h"
#include "mappers/nicepim/space/segments.h"
#include "mappers/nicepim/space/select.h"
#include "mappers/place/slicing.h"
#include "sim/random.h"
#include "tests/unit/nicepim/suites.h"

#include <stdlib.h>
#include <string.h>

static uint32_t number(const json_t *array, size_t i)
{
    ck_assert(json_is_integer(json_array_get(array, i)));
    return (uint32_t)json_integer_value(json_array_get(array, i));
}

static uint32_t member(const json_t *object, const char *key)
{
    return (uint32_t)nicepim_integer(object, key);
}

/* --- partitions --- */

static void read_partition(const json_t *test, struct pim_conv *layer, struct pim_cut *cut)
{
    static const char letters[] = "BPQKC";
    static const char *const lengths[] = {"B", "P", "Q", "K", "C"};
    const json_t *from = json_object_get(test, "layer");
    const char *order = json_string_value(json_object_get(test, "order"));
    for (size_t i = 0; i < PIM_LOOPS; i++) {
        layer->length[i] = member(from, lengths[i]);
        cut->high[i] = number(json_object_get(test, "Ph"), i);
        cut->wide[i] = number(json_object_get(test, "Pw"), i);
        cut->order[i] = (uint8_t)(strchr(letters, order[i]) - letters);
    }
    layer->kernel_height = member(from, "HK");
    layer->kernel_width = member(from, "WK");
    layer->stride_height = member(from, "sh");
    layer->stride_width = member(from, "sw");
    layer->pad_top = member(from, "ph");
    layer->pad_left = member(from, "pw");
    layer->height = member(from, "H");
    layer->width = member(from, "W");
}

static void check_span(struct pim_span span, const json_t *wanted)
{
    ck_assert_uint_eq(span.from, number(wanted, 0));
    ck_assert_uint_eq(span.to, number(wanted, 1));
}

static void check_node(const json_t *test, const struct pim_conv *layer, const struct pim_part *part,
                       const json_t *node)
{
    const json_t *box = json_object_get(node, "input_box");
    (void)test;
    for (size_t i = 0; i < PIM_LOOPS; i++) {
        ck_assert_uint_eq(part->index[i], number(json_object_get(node, "parts"), i));
        check_span(part->loop[i], json_array_get(json_object_get(node, "ranges"), i));
    }
    for (size_t i = 0; i < 4 && json_is_array(box); i++)
        check_span(part->box[i], json_array_get(box, i));
    ck_assert_uint_eq(pim_part_inputs(part), member(node, "input_elements"));
    ck_assert_uint_eq(pim_part_weights(layer, part), member(node, "weight_elements"));
    ck_assert_uint_eq(pim_part_outputs(part), member(node, "output_elements"));
    ck_assert_uint_eq(pim_part_macs(layer, part), member(node, "macs"));
}

/* Groups of more than one node, as sets of sets: a golden set must be one of ours, and as many there must
 * be. */
static void check_groups(const struct pim_part *parts, uint32_t nodes, uint32_t columns,
                         enum pim_shared shared, const json_t *wanted)
{
    uint32_t *set = calloc(nodes, sizeof *set), *size = calloc(nodes, sizeof *size), shared_groups = 0;
    uint32_t groups = pim_cut_groups(parts, nodes, shared, set);
    for (uint32_t i = 0; i < nodes; i++) {
        if (set[i] != UINT32_MAX)
            size[set[i]]++;
    }
    for (uint32_t g = 0; g < groups; g++)
        shared_groups += size[g] > 1;
    ck_assert_uint_eq(shared_groups, json_array_size(wanted));
    for (size_t s = 0; s < json_array_size(wanted); s++) {
        const json_t *list = json_array_get(wanted, s);
        uint32_t group = UINT32_MAX;
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *node = json_array_get(list, k);
            uint32_t own = set[number(node, 0) * columns + number(node, 1)];
            ck_assert_uint_ne(own, UINT32_MAX);
            ck_assert(k == 0 || own == group);
            group = own;
        }
        ck_assert_uint_eq(size[group], json_array_size(list));
    }
    free(set);
    free(size);
}

/* Pairs of different boxes that overlap, the first node of each box standing for it. */
static void check_halo(const json_t *test, const struct pim_part *parts, uint32_t nodes, uint32_t columns)
{
    const json_t *pairs = json_object_get(test, "halo_pairs");
    uint32_t *set = calloc(nodes, sizeof *set), *first = calloc(nodes, sizeof *first);
    uint32_t groups = pim_cut_groups(parts, nodes, PIM_SHARED_INPUTS, set), found = 0;
    uint64_t elements = 0;
    for (uint32_t i = nodes; i-- > 0;) {
        if (set[i] != UINT32_MAX)
            first[set[i]] = i;
    }
    for (uint32_t a = 0; a < groups; a++) {
        for (uint32_t b = a + 1; b < groups; b++) {
            uint64_t both = pim_box_overlap(parts[first[a]].box, parts[first[b]].box);
            found += both > 0;
            elements += both;
            bool listed = false;
            for (size_t k = 0; k < json_array_size(pairs); k++) {
                const json_t *pair = json_array_get(pairs, k), *x = json_array_get(pair, 0),
                             *y = json_array_get(pair, 1);
                listed =
                    listed || (number(x, 0) * columns + number(x, 1) == first[a] &&
                               number(y, 0) * columns + number(y, 1) == first[b] && number(pair, 2) == both);
            }
            if (json_is_array(pairs) && both > 0)
                ck_assert(listed);
        }
    }
    ck_assert_uint_eq(found, member(test, "halo_pair_count"));
    ck_assert_uint_eq(elements, member(test, "halo_elements"));
    free(set);
    free(first);
}

START_TEST(partitions_are_golden)
{
    json_t *root = nicepim_golden("partition.json");
    ck_assert_uint_eq(json_array_size(root), 26);
    for (size_t i = 0; i < json_array_size(root); i++) {
        const json_t *test = json_array_get(root, i), *list = json_object_get(test, "nodes");
        struct pim_conv layer;
        struct pim_cut cut;
        read_partition(test, &layer, &cut);
        uint32_t rows = member(test, "rows"), columns = member(test, "cols"), nodes = rows * columns;
        struct pim_part *parts = calloc(nodes, sizeof *parts);
        struct pim_cut_numbers numbers;
        uint64_t macs = 0, inputs = 0, weights = 0, sums = 0;
        pim_cut_number(&cut, &numbers);
        for (uint32_t n = 0; n < nodes; n++) {
            uint32_t part = 0;
            pim_cut_part(&layer, &cut, n / columns, n % columns, &parts[n]);
            for (size_t loop = 0; loop < PIM_LOOPS; loop++)
                part = part * cut.high[loop] * cut.wide[loop] + parts[n].index[loop];
            ck_assert_uint_eq(numbers.row[n / columns] + numbers.column[n % columns], part);
            macs += pim_part_macs(&layer, &parts[n]);
            inputs += pim_part_inputs(&parts[n]);
            weights += pim_part_weights(&layer, &parts[n]);
            sums += pim_part_outputs(&parts[n]);
        }
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *node = json_array_get(list, k), *at = json_object_get(node, "node");
            check_node(test, &layer, &parts[number(at, 0) * columns + number(at, 1)], node);
        }
        ck_assert_uint_eq(macs, (uint64_t)nicepim_integer(test, "macs_total"));
        ck_assert_uint_eq(inputs, (uint64_t)nicepim_integer(test, "inputs_needed"));
        ck_assert_uint_eq(weights, (uint64_t)nicepim_integer(test, "weights_needed"));
        ck_assert_uint_eq(sums, (uint64_t)nicepim_integer(test, "psums_made"));
        check_groups(parts, nodes, columns, PIM_SHARED_INPUTS, json_object_get(test, "input_sets"));
        check_groups(parts, nodes, columns, PIM_SHARED_WEIGHTS, json_object_get(test, "weight_sets"));
        check_groups(parts, nodes, columns, PIM_SHARED_SUMS, json_object_get(test, "psum_sets"));
        check_halo(test, parts, nodes, columns);
        free(parts);
    }
    json_decref(root);
}
END_TEST

struct tally {
    uint64_t count, macs;
    uint32_t height, width;
    const struct pim_conv *layer;
    struct pim_cut last;
};

static bool tally(void *context, const struct pim_cut *cut)
{
    struct tally *tally = context;
    tally->count++;
    uint64_t macs = 0;
    for (uint32_t n = 0; tally->layer && n < tally->height * tally->width; n++) {
        struct pim_part part;
        pim_cut_part(tally->layer, cut, n / tally->width, n % tally->width, &part);
        macs += pim_part_macs(tally->layer, &part);
    }
    if (tally->layer)
        ck_assert_uint_eq(macs, tally->macs);
    return true;
}

/* How many cuts differ: counted from explicit maps of nodes up to 4 x 4, by the same rule beyond. */
START_TEST(walks_visit_every_different_cut_once)
{
    static const struct {
        uint32_t height, width, any, one_image, matrix;
    } table[] = {{2, 2, 25, 16, 9},           {2, 4, 125, 64, 27},     {4, 4, 605, 244, 75},
                 {4, 8, 2405, 736, 159},      {8, 8, 8845, 2032, 315}, {8, 16, 26445, 4576, 531},
                 {16, 16, 73345, 9772, 873},  {6, 6, 1945, 736, 201},  {8, 12, 21725, 4624, 627},
                 {12, 12, 53165, 10432, 1227}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const uint32_t any[] = {4096, 4096, 4096, 4096, 4096}, image[] = {1, 4096, 4096, 4096, 4096},
                       matrix[] = {4096, 1, 1, 4096, 4096};
        struct tally all = {0}, one = {0}, product = {0};
        pim_cuts_walk(table[i].height, table[i].width, any, tally, &all);
        pim_cuts_walk(table[i].height, table[i].width, image, tally, &one);
        pim_cuts_walk(table[i].height, table[i].width, matrix, tally, &product);
        ck_assert_uint_eq(all.count, table[i].any);
        ck_assert_uint_eq(one.count, table[i].one_image);
        ck_assert_uint_eq(product.count, table[i].matrix);
    }
}
END_TEST

START_TEST(every_cut_computes_the_whole_layer)
{
    const struct pim_conv layer = {.length = {2, 5, 7, 6, 4},
                                   .kernel_height = 3,
                                   .kernel_width = 2,
                                   .stride_height = 2,
                                   .stride_width = 1,
                                   .pad_top = 1,
                                   .pad_left = 0,
                                   .height = 10,
                                   .width = 8};
    struct tally all = {.layer = &layer, .macs = 2 * 5 * 7 * 6 * 4 * 6, .height = 2, .width = 4};
    pim_cuts_walk(2, 4, (const uint32_t[]){16, 16, 16, 16, 16}, tally, &all);
    ck_assert_uint_eq(all.count, 125);
}
END_TEST

/* --- layouts --- */

/* The words of a port of `bytes` that are touched. */
struct words {
    uint64_t bytes, count;
    bool *touched;
};

static void touch(void *context, const struct place_burst *burst)
{
    struct words *words = context;
    for (uint64_t i = 0; i < burst->count; i++) {
        const uint64_t first = burst->address + i * burst->stride;
        ck_assert_uint_le(first + burst->bytes, words->count * words->bytes);
        for (uint64_t w = first / words->bytes; w <= (first + burst->bytes - 1) / words->bytes; w++)
            words->touched[w] = true;
    }
}

/* Different words, runs of consecutive ones, and pages, as a case has them. */
static void check_words(const struct words *words, const json_t *test)
{
    const uint64_t page = member(test, "page_bits") / 8 / words->bytes;
    uint64_t accesses = 0, runs = 0, pages = 0, next_page = 0;
    for (uint64_t w = 0; w < words->count; w++) {
        if (!words->touched[w])
            continue;
        accesses++;
        runs += w == 0 || !words->touched[w - 1];
        pages += w / page >= next_page;
        next_page = w / page + 1;
    }
    ck_assert_uint_eq(accesses, (uint64_t)nicepim_integer(test, "accesses"));
    ck_assert_uint_eq(runs, (uint64_t)nicepim_integer(test, "runs"));
    ck_assert_uint_eq(pages, (uint64_t)nicepim_integer(test, "pages"));
}

/* The bursts of the mapper's boxes, and those of `pimsim dram`'s tensors. */
static void check_window(const json_t *test)
{
    const json_t *tensor = json_object_get(test, "tensor"), *window = json_object_get(test, "window");
    const bool by_rows = strcmp(json_string_value(json_object_get(test, "layout")), "BHWC") == 0;
    const uint32_t group = member(test, "group"), width = member(test, "data_bits") / 8;
    const enum pim_layout_order order = by_rows ? PIM_LAYOUT_BHWC : PIM_LAYOUT_BCHW;
    struct place place = {.layout = {order, group}, .width = width};
    struct grid part[PLACE_DIMENSIONS];
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++) {
        const uint32_t from = number(window, 2 * d);
        place.box[d] = (struct pim_span){0, number(tensor, d)};
        part[d] = (struct grid){from, number(window, 2 * d + 1) - from, 1};
    }
    struct words words = {.bytes = member(test, "port_bits") / 8};
    words.count = place_bytes(&place) / words.bytes + 1;
    words.touched = calloc(words.count, sizeof *words.touched);
    ck_assert_ptr_nonnull(words.touched);
    place_visit_bursts(&place, part, touch, &words);
    check_words(&words, test);

    const struct pim_layout layout = {
        order, number(tensor, 0), number(tensor, 1), number(tensor, 2), number(tensor, 3), group, width, 0};
    const struct pim_layout_window read = {{part[0].from, part[0].count},
                                           {part[1].from, part[1].count},
                                           {part[2].from, part[2].count},
                                           {part[3].from, part[3].count}};
    struct pim_layout_cursor cursor;
    struct pim_layout_burst burst;
    memset(words.touched, 0, words.count * sizeof *words.touched);
    ck_assert_uint_eq(pim_layout_bytes(&layout), place_bytes(&place));
    pim_layout_first(&cursor, &layout, &read);
    while (pim_layout_next(&cursor, &burst))
        touch(&words, &(struct place_burst){burst.address, burst.bytes, burst.stride, burst.count});
    check_words(&words, test);
    free(words.touched);
}

START_TEST(bursts_of_windows_are_golden)
{
    json_t *root = nicepim_golden("dl.json");
    ck_assert_uint_eq(json_array_size(root), 220);
    for (size_t i = 0; i < json_array_size(root); i++)
        check_window(json_array_get(root, i));
    const struct place odd = {
        .box = {{0, 2}, {0, 5}, {0, 3}, {0, 3}}, .layout = {PIM_LAYOUT_BCHW, 4}, .width = 2};
    ck_assert_uint_eq(place_bytes(&odd), 2 * 8 * 9 * 2);
    json_decref(root);
}
END_TEST

/* --- segments --- */

static uint32_t node_named(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        if (strcmp(json_string_value(json_array_get(names, i)), name) == 0)
            return (uint32_t)i;
    }
    ck_abort_msg("no node %s", name);
    return 0;
}

static void check_segments(const struct pim_segments *segments, const json_t *names, const json_t *wanted)
{
    ck_assert_uint_eq(segments->segment_count, json_array_size(wanted));
    for (uint32_t s = 0; s < segments->segment_count; s++) {
        const json_t *branches = json_array_get(wanted, s);
        ck_assert_uint_eq(segments->branch[s + 1] - segments->branch[s], json_array_size(branches));
        for (size_t b = 0; b < json_array_size(branches); b++) {
            const json_t *layers = json_array_get(branches, b);
            uint32_t first = node_named(names, json_string_value(json_array_get(layers, 0))), at = UINT32_MAX;
            for (uint32_t k = segments->branch[s]; k < segments->branch[s + 1]; k++)
                at = segments->layers[segments->first[k]] == first ? k : at;
            ck_assert_uint_ne(at, UINT32_MAX);
            ck_assert_uint_eq(segments->first[at + 1] - segments->first[at], json_array_size(layers));
            for (size_t l = 0; l < json_array_size(layers); l++)
                ck_assert_uint_eq(segments->layers[segments->first[at] + l],
                                  node_named(names, json_string_value(json_array_get(layers, l))));
        }
    }
}

START_TEST(segments_are_golden)
{
    json_t *root = nicepim_golden("segments.json");
    ck_assert_uint_eq(json_array_size(root), 22);
    for (size_t i = 0; i < json_array_size(root); i++) {
        const json_t *test = json_array_get(root, i), *names = json_object_get(test, "nodes"),
                     *compute = json_object_get(test, "compute"), *edges = json_object_get(test, "edges");
        size_t edge_count = json_array_size(edges);
        bool *layer = calloc(json_array_size(names) + 1, sizeof *layer);
        uint32_t(*edge)[2] = calloc(edge_count + 1, sizeof *edge);
        for (size_t k = 0; k < json_array_size(compute); k++)
            layer[node_named(names, json_string_value(json_array_get(compute, k)))] = true;
        for (size_t k = 0; k < edge_count; k++) {
            for (size_t side = 0; side < 2; side++)
                edge[k][side] =
                    node_named(names, json_string_value(json_array_get(json_array_get(edges, k), side)));
        }
        struct pim_flow_graph graph = {.nodes = (uint32_t)json_array_size(names),
                                       .layer = layer,
                                       .edge_count = edge_count,
                                       .edge = (const uint32_t(*)[2])edge};
        struct pim_segments segments;
        struct pim_error error = {0};
        ck_assert_int_eq(pim_segments_of(&graph, &segments, &error), PIM_OK);
        check_segments(&segments, names, json_object_get(test, "segments"));
        pim_segments_terminate(&segments);
        free(layer);
        free(edge);
    }
    const bool two[] = {true, true};
    const uint32_t backward[][2] = {{1, 0}};
    struct pim_flow_graph graph = {.nodes = 2, .layer = two, .edge_count = 1, .edge = backward};
    struct pim_segments segments;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_segments_of(&graph, &segments, &error), PIM_BAD_INPUT);
    json_decref(root);
}
END_TEST

/* --- regions --- */

START_TEST(regions_are_golden)
{
    json_t *root = nicepim_golden("regions.json");
    ck_assert_uint_eq(json_array_size(root), 12);
    for (size_t i = 0; i < json_array_size(root); i++) {
        const json_t *test = json_array_get(root, i), *ops = json_object_get(test, "ops"),
                     *best = json_object_get(test, "best");
        const struct pim_grid grid = {.width = member(test, "cols"), .height = member(test, "rows")};
        uint64_t works[PIM_SLICING_PARTS];
        ck_assert_uint_le(json_array_size(ops), PIM_SLICING_PARTS);
        for (size_t k = 0; k < json_array_size(ops); k++)
            works[k] = (uint64_t)json_integer_value(json_array_get(ops, k));
        for (size_t k = 0; k < json_array_size(best); k++) {
            const json_t *wanted = json_array_get(best, k), *ratio = json_object_get(wanted, "bottleneck");
            struct pim_slicing slicing;
            struct pim_error error = {0};
            ck_assert_int_eq(pim_slice(&grid, works, (uint32_t)json_array_size(ops),
                                       member(wanted, "regions"), &slicing, &error),
                             PIM_OK);
            ck_assert_uint_eq(slicing.work * (uint64_t)json_integer_value(json_array_get(ratio, 1)),
                              slicing.cells * (uint64_t)json_integer_value(json_array_get(ratio, 0)));
        }
    }
    json_decref(root);
}
END_TEST

/* --- choice --- */

struct lists {
    uint32_t *mapping, *region, *layer, *candidate;
    uint64_t *latency, *size;
    struct pim_selection selection;
};

static void read_lists(const json_t *segments, struct lists *lists)
{
    enum { MOST = 1 << 16 };
    uint32_t mappings = 0, regions = 0, layers = 0, candidates = 0;
    *lists = (struct lists){calloc(MOST, sizeof(uint32_t)),
                            calloc(MOST, sizeof(uint32_t)),
                            calloc(MOST, sizeof(uint32_t)),
                            calloc(MOST, sizeof(uint32_t)),
                            calloc(MOST, sizeof(uint64_t)),
                            calloc(MOST, sizeof(uint64_t)),
                            {0}};
    for (size_t s = 0; s < json_array_size(segments); s++) {
        const json_t *sm = json_object_get(json_array_get(segments, s), "sm");
        for (size_t m = 0; m < json_array_size(sm); m++) {
            const json_t *of = json_object_get(json_array_get(sm, m), "regions");
            for (size_t r = 0; r < json_array_size(of); r++) {
                const json_t *list = json_object_get(json_array_get(of, r), "layers");
                for (size_t l = 0; l < json_array_size(list); l++) {
                    const json_t *pairs = json_object_get(json_array_get(list, l), "candidates");
                    for (size_t c = 0; c < json_array_size(pairs); c++) {
                        ck_assert_uint_lt(candidates, MOST - 1);
                        lists->latency[candidates] = number(json_array_get(pairs, c), 0);
                        lists->size[candidates++] = number(json_array_get(pairs, c), 1);
                    }
                    lists->candidate[++layers] = candidates;
                }
                lists->layer[++regions] = layers;
            }
            lists->region[++mappings] = regions;
        }
        lists->mapping[s + 1] = mappings;
    }
    lists->selection = (struct pim_selection){(uint32_t)json_array_size(segments),
                                              lists->mapping,
                                              lists->region,
                                              lists->layer,
                                              lists->candidate,
                                              lists->latency,
                                              lists->size,
                                              false};
}

static void free_lists(struct lists *lists)
{
    free(lists->mapping);
    free(lists->region);
    free(lists->layer);
    free(lists->candidate);
    free(lists->latency);
    free(lists->size);
}

/* The choice costs what it says. */
static void check_choice(const struct pim_selection *of, const struct pim_choice *choice)
{
    uint64_t latency = 0, size = 0;
    for (uint32_t s = 0; s < of->segments; s++) {
        uint32_t m = of->mapping[s] + choice->mapping[s];
        ck_assert_uint_lt(m, of->mapping[s + 1]);
        uint64_t slowest = 0, fullest = 0;
        for (uint32_t r = of->region[m]; r < of->region[m + 1]; r++) {
            uint64_t time = 0, bytes = 0;
            for (uint32_t l = of->layer[r]; l < of->layer[r + 1]; l++) {
                uint32_t c = of->candidate[l] + choice->candidate[l];
                ck_assert_uint_lt(c, of->candidate[l + 1]);
                time += of->latency[c];
                bytes += of->size[c];
            }
            slowest = time > slowest ? time : slowest;
            fullest = bytes > fullest ? bytes : fullest;
        }
        latency += slowest;
        size += fullest;
    }
    ck_assert_uint_eq(latency, choice->latency);
    ck_assert_uint_eq(size, choice->size);
}

/* `more`: also with other capacities. */
static void run_choice(const json_t *test, bool more)
{
    const json_t *wanted = json_object_get(test, "region_max");
    uint64_t capacity = (uint64_t)nicepim_integer(test, "capacity"), before = UINT64_MAX;
    struct lists lists;
    struct pim_choice choice;
    struct pim_error error = {0};
    read_lists(json_object_get(test, "segments"), &lists);
    ck_assert_msg(pim_select(&lists.selection, capacity, &choice, &error) == PIM_OK, "%s", error.text);
    const json_t *feasible = json_object_get(wanted, "feasible"),
                 *points = json_object_get(wanted, "front_points");
    ck_assert_int_eq(choice.feasible, feasible == NULL || json_is_true(feasible)); /* large ones all are */
    if (points)
        ck_assert_uint_le(choice.front_points, (uint32_t)json_integer_value(points)); /* some are dropped */
    if (choice.feasible)
        ck_assert_uint_le(choice.bound, choice.latency);
    ck_assert_uint_eq(choice.least_capacity, (uint64_t)nicepim_integer(wanted, "least_capacity"));
    if (choice.feasible) {
        ck_assert_uint_eq(choice.latency, (uint64_t)nicepim_integer(wanted, "latency"));
        ck_assert_uint_le(choice.size, capacity);
        check_choice(&lists.selection, &choice);
        before = choice.latency;
    }
    uint64_t least = choice.least_capacity;
    pim_choice_terminate(&choice);
    if (!more) {
        free_lists(&lists);
        return;
    }
    /* More capacity is never worse; one less than the least fits nothing. */
    ck_assert_int_eq(pim_select(&lists.selection, capacity + capacity / 4 + 1, &choice, &error), PIM_OK);
    ck_assert(!choice.feasible || choice.latency <= before);
    pim_choice_terminate(&choice);
    ck_assert_int_eq(pim_select(&lists.selection, least, &choice, &error), PIM_OK);
    ck_assert(choice.feasible);
    pim_choice_terminate(&choice);
    if (least > 0) {
        ck_assert_int_eq(pim_select(&lists.selection, least - 1, &choice, &error), PIM_OK);
        ck_assert(!choice.feasible);
        pim_choice_terminate(&choice);
    }
    free_lists(&lists);
}

START_TEST(choices_are_golden)
{
    json_t *root = nicepim_golden("knapsack.json");
    const json_t *cases = json_object_get(root, "cases");
    ck_assert_uint_eq(json_array_size(cases), 48);
    for (size_t i = 0; i < json_array_size(cases); i++)
        run_choice(json_array_get(cases, i), true);
    json_decref(root);
}
END_TEST

START_TEST(large_choices_are_golden)
{
    json_t *root = nicepim_golden("knapsack_big.json");
    ck_assert_uint_eq(json_array_size(root), 8);
    for (size_t i = 0; i < json_array_size(root); i++)
        run_choice(json_array_get(root, i), false);
    json_decref(root);
}
END_TEST

/* All choices of two segments: the first with one region of two layers or two regions of one, the second
 * with one layer. */
static uint64_t least_sum(const struct pim_selection *of, uint64_t capacity)
{
    enum { CANDIDATES = 4 };
    uint64_t least = UINT64_MAX;
    for (uint32_t code = 0; code < 2 * CANDIDATES * CANDIDATES * CANDIDATES; code++) {
        uint32_t side = code % 2, pick[] = {code / 2 % CANDIDATES, code / 2 / CANDIDATES % CANDIDATES,
                                            code / 2 / CANDIDATES / CANDIDATES};
        uint32_t a = of->candidate[2 * side] + pick[0], b = of->candidate[2 * side + 1] + pick[1],
                 c = of->candidate[4] + pick[2];
        uint64_t first = of->size[a], second = of->size[b], size = first + second;
        if (side == 1)
            size = first > second ? first : second;
        uint64_t sum = of->latency[a] + of->latency[b] + of->latency[c];
        if (size + of->size[c] <= capacity && sum < least)
            least = sum;
    }
    return least;
}

START_TEST(what_adds_up_over_regions_is_minimised_as_well)
{
    static const uint32_t mapping[] = {0, 2, 3}, region[] = {0, 1, 3, 4}, layer[] = {0, 2, 3, 4, 5},
                          candidate[] = {0, 4, 8, 12, 16, 20};
    uint64_t latency[20], size[20];
    const struct pim_selection selection = {2, mapping, region, layer, candidate, latency, size, true};
    struct pim_random random;
    uint32_t found = 0;
    pim_random_initialize(&random, 0x73756d73);
    for (int draw = 0; draw < 400; draw++) {
        struct pim_choice choice;
        struct pim_error error = {0};
        for (size_t i = 0; i < 20; i++) {
            latency[i] = pim_random_below(&random, 50);
            size[i] = pim_random_below(&random, 50);
        }
        uint64_t capacity = pim_random_below(&random, 120), least = least_sum(&selection, capacity);
        ck_assert_int_eq(pim_select(&selection, capacity, &choice, &error), PIM_OK);
        ck_assert_int_eq(choice.feasible, least != UINT64_MAX);
        if (choice.feasible) {
            ck_assert_uint_eq(choice.latency, least);
            ck_assert_uint_le(choice.bound, least);
            found++;
        }
        pim_choice_terminate(&choice);
    }
    ck_assert_uint_gt(found, 200);
}
END_TEST

Suite *nicepim_space_suite(void)
{
    Suite *suite = suite_create("space");
    TCase *tests = tcase_create("space");
    tcase_add_test(tests, partitions_are_golden);
    tcase_add_test(tests, walks_visit_every_different_cut_once);
    tcase_add_test(tests, every_cut_computes_the_whole_layer);
    tcase_add_test(tests, bursts_of_windows_are_golden);
    tcase_add_test(tests, segments_are_golden);
    tcase_add_test(tests, regions_are_golden);
    tcase_add_test(tests, choices_are_golden);
    tcase_add_test(tests, large_choices_are_golden);
    tcase_add_test(tests, what_adds_up_over_regions_is_minimised_as_well);
    suite_add_tcase(suite, tests);
    return suite;
}
