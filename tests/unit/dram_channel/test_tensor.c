/* A window of a tensor as a request list: each of its columns once, and what is refused. */
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"
#include "tools/command/dram/list.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    struct dram_tensor tensor;
    uint64_t accesses, rows;
    const char *message; /* NULL: good */
} cases[] = {
    {{"4,5,5", "0:2,1:3,1:3", 0, 1, 4, 0, false}, 8, 1, NULL},
    {{"4,5,5", "0:2,1:3,1:3", 1, 1, 4, 0, false}, 9, 1, NULL},
    {{"4,5,5", "0:2,1:3,1:3", 2, 2, 4, 0, true}, 6, 1, NULL},
    {{"64,56,56", "0:16,10:3,10:3", 0, 1, 2, 0, false}, 48, 20, NULL},
    {{"64,56,56", "0:16,10:3,10:3", 2, 16, 2, 0, false}, 18, 3, NULL},
    {{"2,64,56,56", NULL, 1, 1, 2, 1024, false}, 50176, 784, NULL},
    {{"4,5", NULL, 0, 1, 4, 0, false}, 0, 0, "CHANNELS,ROWS,COLUMNS"},
    {{"1,2,3,4,5", NULL, 0, 1, 4, 0, false}, 0, 0, "CHANNELS,ROWS,COLUMNS"},
    {{"0,5,5", NULL, 0, 1, 4, 0, false}, 0, 0, "from 1 to"},
    {{"4,5,-5", NULL, 0, 1, 4, 0, false}, 0, 0, "from 1 to"},
    {{"4,5,99999999999999999999", NULL, 0, 1, 4, 0, false}, 0, 0, "from 1 to"},
    {{",,", NULL, 0, 1, 4, 0, false}, 0, 0, "found nothing"},
    {{"4,5,5", "0:2,1:3", 0, 1, 4, 0, false}, 0, 0, "three or four"},
    {{"4,5,5", "0:2,1:3,3", 0, 1, 4, 0, false}, 0, 0, "FIRST:COUNT"},
    {{"4,5,5", "0:2,1:3,3:3", 0, 1, 4, 0, false}, 0, 0, "the tensor has 5"},
    {{"4,5,5", "0:0,1:3,1:3", 0, 1, 4, 0, false}, 0, 0, "from 1 to"},
    {{"4,5,5", NULL, 0, 1, 65, 0, false}, 0, 0, "of an element"},
    {{"16777216,16777216,16777216", NULL, 0, 1, 64, 0, false}, 0, 0, "2^60"},
    {{"4,5,5", NULL, 0, 1, 4, 8388608, false}, 0, 0, "the memory has 8388608"},
    {{"4,5,5", NULL, 0, 1, 4, UINT64_MAX, false}, 0, 0, "2^60"},
};

/* All requests of a tensor. */
static enum pim_status list_of(struct dram_list *list, const struct dram_tensor *tensor,
                               const struct pim_dram_configuration *configuration,
                               struct pim_layout_cost *cost, struct pim_error *error)
{
    enum { MOST = 4096 };
    struct dram_source *source;
    *list = (struct dram_list){calloc(MOST, sizeof *list->items), 0};
    ck_assert_ptr_nonnull(list->items);
    if (dram_source_tensor(&source, tensor, configuration, cost, error) == PIM_OK)
        ck_assert(dram_source_next(source, list->items, MOST, &list->count, error) == PIM_OK);
    ck_assert_uint_lt(list->count, MOST);
    struct pim_dram_request more;
    size_t count = 0;
    if (source) /* the end stays the end */
        ck_assert(dram_source_next(source, &more, 1, &count, error) == PIM_OK && count == 0);
    dram_source_close(source);
    return error->status;
}

START_TEST(windows)
{
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    struct pim_layout_cost cost;
    struct dram_list list;
    configure(&configuration, "pimbank_400", NULL);
    enum pim_status status = list_of(&list, &cases[_i].tensor, &configuration, &cost, &error);
    if (cases[_i].message) {
        ck_assert(status == PIM_USAGE || status == PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, cases[_i].message) != NULL, "%s", error.text);
        ck_assert_uint_eq(list.count, 0);
        dram_list_terminate(&list);
        return;
    }
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(cost.accesses, cases[_i].accesses);
    ck_assert_uint_eq(cost.rows, cases[_i].rows);
    uint64_t end = 0, accesses = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct pim_dram_request *request = &list.items[i];
        ck_assert(request->address % 16 == 0 && request->bytes % 16 == 0 && request->bytes > 0);
        ck_assert(request->address >= end && request->cycle == 0);
        ck_assert(request->write == cases[_i].tensor.write);
        end = request->address + request->bytes;
        accesses += request->bytes / 16;
    }
    ck_assert_uint_eq(accesses, cost.accesses);
    ck_assert_uint_le(end, configuration.mapping.capacity);
    dram_list_terminate(&list);
}
END_TEST

/* Row hits follow: without refresh, each row that the window touches is opened once. */
START_TEST(row_hits_follow)
{
    static const char *const settings[] = {"dram.refresh=false", NULL};
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    struct pim_layout_cost cost;
    struct dram_list list;
    const struct dram_tensor tensor = {"64,56,56", "3:20,5:30,7:9", (unsigned)_i, 8, 2, 0, false};
    configure(&configuration, "pimbank_400", settings);
    ck_assert(list_of(&list, &tensor, &configuration, &cost, &error) == PIM_OK);
    struct access *accesses = malloc((size_t)cost.accesses * sizeof *accesses);
    ck_assert_ptr_nonnull(accesses);
    size_t count = 0;
    for (size_t i = 0; i < list.count; i++)
        for (uint32_t j = 0; j < list.items[i].bytes; j += 16)
            accesses[count++] = (struct access){0, list.items[i].address + j, false};
    struct outcome outcome;
    serve(&outcome, &configuration, accesses, count, false);
    ck_assert_uint_eq(outcome.counters.commands[PIM_DRAM_ACT], cost.rows);
    ck_assert_uint_eq(outcome.counters.row_hits, cost.accesses - cost.rows);
    outcome_free(&outcome);
    dram_list_terminate(&list);
    free(accesses);
}
END_TEST

Suite *suite_channel_tensor(void)
{
    Suite *suite = suite_create("channel_tensor");
    TCase *tests = tcase_create("windows");
    tcase_add_loop_test(tests, windows, 0, sizeof cases / sizeof cases[0]);
    tcase_add_loop_test(tests, row_hits_follow, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
