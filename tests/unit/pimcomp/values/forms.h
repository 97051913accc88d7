/* Networks with data that moves between the layers, for the tests of the functional check: one for each form
 * of movement, and networks drawn at random. */
#ifndef PIMSIM_TESTS_UNIT_PIMCOMP_VALUES_FORMS_H
#define PIMSIM_TESTS_UNIT_PIMCOMP_VALUES_FORMS_H

#include "sim/random.h"
#include "tests/unit/pimcomp/values/nets.h"

enum form {
    FORM_SHUFFLE,
    FORM_SHUFFLE_BEHIND_CONCAT,
    FORM_CROP,
    FORM_PAD,
    FORM_UPSAMPLE,
    FORM_STEPS, /* slices with steps, backwards */
    FORM_TURN,  /* rows and columns, channels and rows change places */
    FORM_STACK, /* maps joined along rows */
    FORM_WINDOWS,
    FORM_EXCITE, /* squeeze and excitation */
    FORM_BROADCAST,
    FORM_ATTENTION,
    FORM_MATRICES, /* attention as reshapes, transpositions and matrix multiplications */
    FORM_REDUCE,
    FORM_AFFINE, /* scales and shifts, behind a matrix and elsewhere */
    FORMS
};

void form_build(struct net *net, enum form form);

/* A network of a few layers with everything that nets.h makes, and forms among them. */
void net_random(struct net *net, struct pim_random *random);

#endif
