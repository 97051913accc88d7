#include "mappers/learn/adam.h"

#include <math.h>
#include <stdlib.h>

bool pim_adam_initialize(struct pim_adam *adam, const struct pim_adam_options *options, size_t count)
{
    *adam = (struct pim_adam){.options = *options, .count = count, .first_power = 1, .second_power = 1};
    adam->first_moment = calloc(count + 1, sizeof *adam->first_moment);
    adam->second_moment = calloc(count + 1, sizeof *adam->second_moment);
    if (adam->first_moment && adam->second_moment)
        return true;
    pim_adam_terminate(adam);
    return false;
}

void pim_adam_terminate(struct pim_adam *adam)
{
    free(adam->first_moment);
    free(adam->second_moment);
    *adam = (struct pim_adam){0};
}

void pim_adam_step(struct pim_adam *adam, const double *gradient, double *parameters)
{
    const struct pim_adam_options *options = &adam->options;
    adam->first_power *= options->first;
    adam->second_power *= options->second;
    double rate = options->rate / (1 - adam->first_power), scale = sqrt(1 - adam->second_power);
    for (size_t i = 0; i < adam->count; i++) {
        double slope = gradient[i];
        if (options->decoupled)
            parameters[i] -= options->rate * options->decay * parameters[i];
        else
            slope += options->decay * parameters[i];
        double *m = &adam->first_moment[i], *v = &adam->second_moment[i];
        *m = options->first * *m + (1 - options->first) * slope;
        *v = options->second * *v + (1 - options->second) * slope * slope;
        parameters[i] -= rate * *m / (sqrt(*v) / scale + options->epsilon);
    }
}
