/* The event-driven channel against the stepped controller, on random lists, settings and organisations. */
#include "tests/unit/dram_channel/stepped_controller.h"
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 8, REQUESTS = 200 };

/* Organisations that the presets do not have, and refresh often enough to matter. */
static const struct {
    const char *preset;
    const char *settings[4];
} shapes[] = {
    {"ddr4_2400r", {"dram.trefi=1200"}},
    {"ddr4_2400r", {"dram.ranks=2", "dram.trefi=1500"}},
    {"hbm2_pim", {"dram.trefi=900"}},
    {"hbm2_pim", {"dram.pseudo_channels=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=300"}},
    {"lpddr4_3200", {"dram.trefi=1400"}},
    {"lpddr4_3200", {"dram.ranks=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=530"}},
    {"pimbank_400", {"dram.trefi=300"}},
    {"ddr4_2400r", {"dram.activate_cycles=2", "dram.bank_xor=true", "dram.refresh=false"}},
    {"hbm2_2000", {"dram.channels=1", "dram.trefi=1000"}},
    {"ddr5_4800an", {"dram.trefi=2000"}},
    {"ddr4_2400r", {"dram.column_cycles=3", "dram.tccd_l_write=9", "dram.trefi=1500"}},
    {"hbm1_2000", {"dram.column_cycles=1", "dram.refresh_mode=per_bank", "dram.trefi_bank=200"}},
};

static void compare(const struct outcome *fast, const struct outcome *slow, const char *what)
{
    size_t common = fast->record_count < slow->record_count ? fast->record_count : slow->record_count;
    for (size_t i = 0; i < common; i++) {
        const struct pim_dram_record *a = &fast->records[i], *b = &slow->records[i];
        ck_assert_msg(a->cycle == b->cycle && a->command == b->command && a->bank == b->bank &&
                          a->row == b->row && a->column == b->column,
                      "%s: command %zu is %s to bank %u in %" PRIu64 ", stepped %s to bank %u in %" PRIu64,
                      what, i, pim_dram_command_text((enum pim_dram_command)a->command), a->bank, a->cycle,
                      pim_dram_command_text((enum pim_dram_command)b->command), b->bank, b->cycle);
    }
    /* The channel may end what it has begun: maintenance that was asked for before the end. */
    ck_assert_msg(slow->record_count == common, "%s: commands are missing", what);
    for (size_t i = 0; i < fast->count; i++)
        ck_assert_msg(fast->arrived[i] == slow->arrived[i] && fast->completed[i] == slow->completed[i] &&
                          fast->first_command[i] == slow->first_command[i],
                      "%s: request %zu", what, i);
    ck_assert_uint_eq(fast->cycles, slow->cycles);
}

START_TEST(fast_equals_slow)
{
    struct pim_random random;
    pim_random_initialize(&random, 1000 + (uint64_t)_i);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct settings settings;
        struct pim_dram_configuration configuration;
        struct outcome fast, slow;
        random_settings(&settings, &random);
        const char *all[16] = {NULL};
        size_t n = 0;
        for (const char *const *s = shapes[_i].settings; *s; s++)
            all[n++] = *s;
        for (const char *const *s = settings.list; round > 0 && *s; s++)
            all[n++] = *s;
        configure(&configuration, shapes[_i].preset, all);
        struct access *list = random_list(&random, &configuration, REQUESTS,
                                          round % 3 == 0 ? 2 : 0.02 + 0.3 * pim_random_unit(&random));
        char what[512];
        int length = snprintf(what, sizeof what, "shape %d, round %u:", _i, round);
        for (size_t i = 0; i < n; i++)
            length += snprintf(what + length, sizeof what - (size_t)length, " %s", all[i]);
        serve(&fast, &configuration, list, REQUESTS, true);
        stepped_serve(&slow, &configuration, list, REQUESTS);
        compare(&fast, &slow, what);
        outcome_free(&fast);
        outcome_free(&slow);
        free(list);
    }
}
END_TEST

Suite *suite_channel_stepped(void)
{
    Suite *suite = suite_create("channel_stepped");
    TCase *cases = tcase_create("random");
    tcase_add_loop_test(cases, fast_equals_slow, 0, sizeof shapes / sizeof shapes[0]);
    suite_add_tcase(suite, cases);
    return suite;
}
