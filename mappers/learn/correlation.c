#include "mappers/learn/correlation.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static double mean_of(size_t count, const double *values)
{
    double sum = 0, rest = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) /* what the rounding of the sum left out */
        rest += values[i] - mean;
    return mean + rest / (double)count;
}

double pim_correlation(size_t count, const double *x, const double *y)
{
    if (count < 2)
        return (double)NAN;
    double mean_x = mean_of(count, x), mean_y = mean_of(count, y), xx = 0, yy = 0, xy = 0;
    bool varies_x = false, varies_y = false;
    for (size_t i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        varies_x = varies_x || x[i] != x[0];
        varies_y = varies_y || y[i] != y[0];
    }
    return varies_x && varies_y ? xy / (sqrt(xx) * sqrt(yy)) : (double)NAN;
}

struct ranked {
    double value;
    size_t place;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

enum pim_status pim_ranks(size_t count, const double *values, double *ranks, struct pim_error *error)
{
    struct ranked *sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the ranks of %zu numbers", count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct ranked){values[i], i};
    qsort(sorted, count, sizeof *sorted, compare_ranked);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && sorted[end].value == sorted[first].value;)
            end++;
        for (size_t i = first; i < end; i++)
            ranks[sorted[i].place] = (double)(first + 1 + end) / 2;
    }
    free(sorted);
    return PIM_OK;
}

enum pim_status pim_rank_correlation(size_t count, const double *x, const double *y, double *correlation,
                                     struct pim_error *error)
{
    double *ranks = calloc(2 * count + 1, sizeof *ranks);
    if (!ranks)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the ranks of %zu numbers", count);
    enum pim_status status = pim_ranks(count, x, ranks, error);
    if (status == PIM_OK)
        status = pim_ranks(count, y, ranks + count, error);
    if (status == PIM_OK)
        *correlation = pim_correlation(count, ranks, ranks + count);
    free(ranks);
    return status;
}

double pim_pair_correlation(size_t count, const double *x, const double *y)
{
    double both = 0, only_x = 0, only_y = 0; /* pairs that differ in x and y (signed), in x, in y */
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            int a = (x[i] > x[j]) - (x[i] < x[j]), b = (y[i] > y[j]) - (y[i] < y[j]);
            both += a * b;
            only_x += a != 0;
            only_y += b != 0;
        }
    }
    return only_x > 0 && only_y > 0 ? both / (sqrt(only_x) * sqrt(only_y)) : (double)NAN;
}

void pim_standardise(size_t count, const double *values, double *mean, double *deviation,
                     double *standardised)
{
    double centre = count > 0 ? mean_of(count, values) : 0, squares = 0;
    bool varies = false;
    for (size_t i = 0; i < count; i++) {
        squares += (values[i] - centre) * (values[i] - centre);
        varies = varies || values[i] != values[0];
    }
    *mean = centre;
    *deviation = varies ? sqrt(squares / (double)count) : 0;
    for (size_t i = 0; standardised && i < count; i++)
        standardised[i] = varies ? (values[i] - centre) / *deviation : 0;
}
