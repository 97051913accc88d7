/*
 * Arithmetic of the data-flow tests. A byte of a node's memory stands for one element, and elements are
 * numbers modulo 2^64: sums and products are exact, in any order. Functions of one element (gelu) are
 * replaced by mixing functions that have nothing in common with each other, so that a value that went the
 * wrong way, was left out, or came twice, ends in another number.
 */
#ifndef PIMSIM_TESTS_UNIT_ALLSPARK_ALGEBRA_H
#define PIMSIM_TESTS_UNIT_ALLSPARK_ALGEBRA_H

#include <stdint.h>

/* The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t mixed5(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    return mixed(mixed(mixed(mixed(mixed(a) + b) + c) + d) + e);
}

/* Weight [k][n] of a product; input k of token `token` of an image; channel of the class token. */
static inline uint64_t weight_value(uint32_t stage, uint32_t block, uint32_t weight, uint32_t k, uint32_t n)
{
    return mixed5(1 + stage, block, weight, k, n);
}

static inline uint64_t input_value(uint32_t stage, uint32_t image, uint32_t branch, uint32_t token,
                                   uint32_t k)
{
    return mixed5(101 + stage, branch, token, k, image);
}

static inline uint64_t class_value(uint32_t channel)
{
    return mixed5(201, channel, 0, 0, 0);
}

static inline uint64_t gelu_of(uint64_t x)
{
    return mixed(x ^ UINT64_C(0x6e1a0));
}

/* A softmax element from its score and the sum of exponential_of() over the row. */
static inline uint64_t exponential_of(uint64_t x)
{
    return mixed(x ^ UINT64_C(0x50f7));
}

static inline uint64_t softmax_of(uint64_t x, uint64_t sum)
{
    return mixed(exponential_of(x) + 3 * sum);
}

/* A normalised element from the sums of x and of x * x over all channels. */
static inline uint64_t normal_of(uint64_t x, uint64_t sum, uint64_t squares)
{
    return mixed(x + 5 * sum + 7 * squares);
}

#endif
