/*
 * Arithmetic of the check of values. A byte of a node's memory stands for one element, and an element is a
 * number modulo 2^16: sums and products are exact, in any order. Functions of elements (gelu, softmax, layer
 * normalisation) are mixing functions that have nothing in common with what they stand for but their
 * operands, so that a value that went the wrong way, was left out, or came twice, ends in another number.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_NUMBERS_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A matrix of weights, its row k, and the element of a row. */
static inline uint64_t weight_matrix(uint32_t stage, uint32_t block, uint32_t weight)
{
    return mixed(mixed(mixed(UINT64_C(1) + stage) + block) + weight);
}

static inline uint64_t weight_row(uint64_t matrix, uint32_t k)
{
    return mixed(matrix + k);
}

static inline uint16_t weight_number(uint64_t row, uint32_t n)
{
    return (uint16_t)mixed(row + n);
}

/* What a token of an image has before the first product, and its element; the class token. */
static inline uint64_t input_row(uint32_t stage, uint32_t image, uint32_t branch, uint32_t token)
{
    return mixed(mixed(mixed(mixed(UINT64_C(101) + stage) + branch) + token) + image);
}

static inline uint16_t input_number(uint64_t row, uint32_t k)
{
    return (uint16_t)mixed(row + k);
}

static inline uint16_t class_number(uint32_t channel)
{
    return (uint16_t)mixed(mixed(201) + channel);
}

static inline uint16_t gelu_of(uint16_t x)
{
    return (uint16_t)mixed(x ^ UINT64_C(0x6e1a0));
}

/* A softmax element from its score and the sum of exponential_of() over the row. */
static inline uint64_t exponential_of(uint16_t x)
{
    return mixed(x ^ UINT64_C(0x50f7));
}

static inline uint16_t softmax_of(uint16_t x, uint64_t sum)
{
    return (uint16_t)mixed(exponential_of(x) + 3 * sum);
}

/* A normalised element from the sums of x and of x * x over all channels. */
static inline uint16_t normal_of(uint16_t x, uint16_t sum, uint16_t squares)
{
    return (uint16_t)mixed(x + UINT64_C(5) * sum + UINT64_C(7) * squares);
}

/* The second byte of a sum of 16 bits: it must go wherever the first one goes. */
static inline uint16_t second_half(uint16_t sum)
{
    return (uint16_t)mixed(sum);
}

/* a + b * c and a + b. */
static inline uint16_t plus_product(uint16_t a, uint16_t b, uint16_t c)
{
    return (uint16_t)(a + (uint32_t)b * c);
}

static inline uint16_t plus(uint16_t a, uint16_t b)
{
    return (uint16_t)((uint32_t)a + b);
}

/* output[m][n] += input[m][k] * weights[k][n]; a row of the output has `width` elements, n of them here. */
void allspark_product(const uint16_t *input, const uint16_t *weights, uint16_t *output, size_t m, size_t n,
                      size_t k, size_t width);

/* y = the rows of x normalised, each of `channels`. */
void allspark_normalise(const uint16_t *x, uint16_t *y, size_t rows, size_t channels);

#endif
