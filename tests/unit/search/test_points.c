/* NSGA-II on points: fronts, crowding, selection and volume against recorded ones. */
#include "mappers/search/nsga2.h"
#include "tests/unit/search/suites.h"

#include <math.h>
#include <string.h>

enum { POINTS = 512 };

static bool near(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-12 * fabs(b);
}

static void hold_sorting(FILE *file)
{
    static double points[POINTS * 3], crowding[POINTS], wanted[POINTS];
    static uint32_t front[POINTS], front_wanted[POINTS], selected[POINTS];
    static bool taken[POINTS], depends[POINTS], got[POINTS];
    struct pim_error error = {0};
    char name[64];
    ck_assert(next_word(file, name));
    uint32_t count = (uint32_t)next_count(file), objectives = (uint32_t)next_count(file),
             keep = (uint32_t)next_count(file);
    ck_assert(count <= POINTS && objectives <= 3 && keep <= count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < objectives; k++)
            points[i * objectives + k] = next_real(file);
        front_wanted[i] = (uint32_t)next_count(file);
        wanted[i] = next_real(file);
        depends[i] = next_count(file) != 0;
        taken[i] = next_count(file) != 0;
        got[i] = false;
    }
    ck_assert(pim_nsga2_fronts(points, count, objectives, front, &error) == PIM_OK);
    ck_assert(pim_nsga2_crowding(points, count, objectives, front, crowding, &error) == PIM_OK);
    ck_assert(pim_nsga2_select(count, front, crowding, keep, selected, &error) == PIM_OK);
    for (uint32_t i = 0; i < keep; i++)
        got[selected[i]] = true;
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_msg(front[i] == front_wanted[i], "%s: point %u in front %u, wanted %u", name, i, front[i],
                      front_wanted[i]);
        ck_assert_msg(depends[i] || near(crowding[i], wanted[i]), "%s: crowding of point %u is %g, wanted %g",
                      name, i, crowding[i], wanted[i]);
        ck_assert_msg(got[i] == taken[i], "%s: point %u selected %d", name, i, got[i]);
    }
}

static void hold_volume(FILE *file)
{
    static double points[POINTS * 3];
    double reference[3], volume;
    struct pim_error error = {0};
    char name[64];
    ck_assert(next_word(file, name));
    uint32_t count = (uint32_t)next_count(file), objectives = (uint32_t)next_count(file);
    double wanted = next_real(file);
    ck_assert(count <= POINTS && objectives <= 3);
    for (uint32_t k = 0; k < objectives; k++)
        reference[k] = next_real(file);
    for (uint32_t i = 0; i < count * objectives; i++)
        points[i] = next_real(file);
    ck_assert(pim_hypervolume(points, count, objectives, reference, &volume, &error) == PIM_OK);
    ck_assert_msg(near(volume, wanted), "%s: %.17g, wanted %.17g", name, volume, wanted);
}

START_TEST(points_as_recorded)
{
    FILE *file = open_data("nsga2.txt");
    char word[64];
    unsigned cases = 0;
    for (; next_word(file, word); cases++) {
        if (strcmp(word, "sorting") == 0)
            hold_sorting(file);
        else
            hold_volume(file);
    }
    ck_assert_uint_eq(cases, 25);
    ck_assert(fclose(file) == 0);
}
END_TEST

START_TEST(infinite_scores_spoil_nothing)
{
    const double points[] = {1, HUGE_VAL, HUGE_VAL, 1, 2, 2, HUGE_VAL, HUGE_VAL};
    uint32_t front[4];
    double crowding[4];
    struct pim_error error = {0};
    ck_assert(pim_nsga2_fronts(points, 4, 2, front, &error) == PIM_OK);
    ck_assert(pim_nsga2_crowding(points, 4, 2, front, crowding, &error) == PIM_OK);
    ck_assert(front[0] == 0 && front[1] == 0 && front[2] == 0 && front[3] == 1);
    for (int i = 0; i < 4; i++)
        ck_assert(!isnan(crowding[i]));
}
END_TEST

Suite *search_points_suite(void)
{
    Suite *suite = suite_create("search_points");
    TCase *tests = tcase_create("points");
    tcase_add_test(tests, points_as_recorded);
    tcase_add_test(tests, infinite_scores_spoil_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
