/*
 * Adam (D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, Algorithm 1):
 *
 *     m = b1 m + (1 - b1) g;   v = b2 v + (1 - b2) g^2
 *     p = p - rate / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + epsilon)
 *
 * with weight decay either added to the gradient or, decoupled, taken from the parameter first (I.
 * Loshchilov, F. Hutter, ICLR 2019).
 */
#ifndef PIMSIM_MAPPERS_LEARN_ADAM_H
#define PIMSIM_MAPPERS_LEARN_ADAM_H

#include <stdbool.h>
#include <stddef.h>

struct pim_adam_options {
    double rate, first, second, epsilon; /* usual: 0.001, 0.9, 0.999, 1e-8 */
    double decay;
    bool decoupled;
};

struct pim_adam {
    struct pim_adam_options options;
    size_t count;
    double first_power, second_power; /* b1^t, b2^t */
    double *first_moment, *second_moment;
};

/* For `count` parameters, from zero moments; false when memory is out. */
bool pim_adam_initialize(struct pim_adam *adam, const struct pim_adam_options *options, size_t count);
void pim_adam_terminate(struct pim_adam *adam);

/* Moves the parameters one step. */
void pim_adam_step(struct pim_adam *adam, const double *gradient, double *parameters);

#endif
