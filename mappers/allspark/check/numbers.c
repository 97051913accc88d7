/* Dense products, four rows of the weights at a time. */
#include "mappers/allspark/check/numbers.h"

enum { ROWS = 4, BLOCK = 64 }; /* of the weights: that share a pass, that stay near */

static void add_rows(const uint16_t *restrict input, const uint16_t *restrict weights,
                     uint16_t *restrict output, size_t n)
{
    const uint16_t *w0 = weights, *w1 = w0 + n, *w2 = w1 + n, *w3 = w2 + n;
    uint32_t a = input[0], b = input[1], c = input[2], d = input[3];
    for (size_t j = 0; j < n; j++)
        output[j] = (uint16_t)(output[j] + a * w0[j] + b * w1[j] + c * w2[j] + d * w3[j]);
}

static void add_row(uint16_t input, const uint16_t *restrict weights, uint16_t *restrict output, size_t n)
{
    for (size_t j = 0; j < n; j++)
        output[j] = plus_product(output[j], input, weights[j]);
}

void allspark_product(const uint16_t *input, const uint16_t *weights, uint16_t *output, size_t m, size_t n,
                      size_t k, size_t width)
{
    for (size_t first = 0; first < k; first += BLOCK) {
        size_t end = k - first < BLOCK ? k : first + BLOCK;
        for (size_t i = 0; i < m; i++) {
            size_t c = first;
            for (; c + ROWS <= end; c += ROWS)
                add_rows(input + i * k + c, weights + c * n, output + i * width, n);
            for (; c < end; c++)
                add_row(input[i * k + c], weights + c * n, output + i * width, n);
        }
    }
}

void allspark_normalise(const uint16_t *x, uint16_t *y, size_t rows, size_t channels)
{
    for (size_t i = 0; i < rows; i++, x += channels, y += channels) {
        uint16_t sum = 0, squares = 0;
        for (size_t c = 0; c < channels; c++) {
            sum = plus(sum, x[c]);
            squares = plus_product(squares, x[c], x[c]);
        }
        for (size_t c = 0; c < channels; c++)
            y[c] = normal_of(x[c], sum, squares);
    }
}
