/* Sets of numbers of two levels, against an array that has a place for each number. */
#include "models/conflict/replay/marks.h"
#include "sim/random.h"
#include "tests/unit/conflict/suites.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { MOST = 9000, SEEDS = 40, ROUNDS = 30 };

struct reference {
    bool marked[MOST], taken[64]; /* taken: what is left of the word that was reached last */
    uint32_t count, word;         /* words before this one have been reached */
};

static bool reference_take(struct reference *reference, uint32_t *number)
{
    for (;; reference->word++) {
        for (uint32_t i = 0; reference->word > 0 && i < 64; i++)
            if (reference->taken[i]) {
                reference->taken[i] = false;
                *number = (reference->word - 1) * 64 + i;
                return true;
            }
        if (reference->word * 64 >= reference->count)
            return false;
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t n = reference->word * 64 + i;
            reference->taken[i] = n < reference->count && reference->marked[n];
            if (n < reference->count)
                reference->marked[n] = false;
        }
    }
}

static void mark(struct conflict_marks *marks, struct reference *reference, uint32_t number)
{
    conflict_mark(marks, number);
    reference->marked[number] = true;
}

/* Some are marked, all are taken, and now and then one more is marked meanwhile, before or behind. */
static void compare_round(struct conflict_marks *marks, struct reference *reference,
                          struct pim_random *random)
{
    struct conflict_taking taking = {0};
    uint32_t marked = (uint32_t)pim_random_below(random, pim_random_below(random, 4) ? 6 : 300);
    for (uint32_t i = 0; i < marked; i++)
        mark(marks, reference, (uint32_t)pim_random_below(random, reference->count));
    reference->word = 0;
    for (bool more = true; more;) {
        uint32_t number = 0, expected = 0;
        more = conflict_take(marks, &taking, &number);
        ck_assert_int_eq(more, reference_take(reference, &expected));
        ck_assert_uint_eq(number, expected);
        if (more && pim_random_below(random, 5) == 0)
            mark(marks, reference, (uint32_t)pim_random_below(random, reference->count));
    }
}

START_TEST(numbers_are_taken_in_order)
{
    static struct reference reference;
    static const uint32_t counts[] = {1, 63, 64, 65, 4095, 4096, 4097, 8192, MOST};
    struct pim_random random;
    struct conflict_marks marks;
    pim_random_initialize(&random, (uint64_t)_i + 1);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        memset(&reference, 0, sizeof reference);
        reference.count = counts[c];
        ck_assert(conflict_marks_initialize(&marks, counts[c]));
        for (unsigned round = 0; round < ROUNDS; round++)
            compare_round(&marks, &reference, &random);
        mark(&marks, &reference, counts[c] - 1);
        compare_round(&marks, &reference, &random);
        conflict_marks_terminate(&marks);
    }
}
END_TEST

Suite *conflict_marks_suite(void)
{
    Suite *suite = suite_create("marks");
    TCase *cases = tcase_create("marks");
    tcase_add_loop_test(cases, numbers_are_taken_in_order, 0, PIM_CASES(SEEDS));
    suite_add_tcase(suite, cases);
    return suite;
}
