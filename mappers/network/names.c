/*
 * Names of operators, roles and kinds, for messages and output.
 */
#include "mappers/network/graph.h"
#include "mappers/network/transformer.h"

#define X(name, text) text,
static const char *const operator_names[] = {PIM_OPERATOR_MAP(X)};
static const char *const role_names[] = {PIM_ROLE_MAP(X)};
static const char *const activation_names[] = {PIM_ACTIVATION_MAP(X)};
static const char *const elementwise_names[] = {PIM_ELEMENTWISE_MAP(X)};
static const char *const family_names[] = {PIM_FAMILY_MAP(X)};
#undef X

const char *pim_operator_name(unsigned operation)
{
    return operation < PIM_OPERATORS ? operator_names[operation] : NULL;
}

const char *pim_role_name(unsigned role)
{
    return role < PIM_ROLES ? role_names[role] : NULL;
}

const char *pim_activation_name(unsigned activation)
{
    return activation < PIM_ACTIVATIONS ? activation_names[activation] : NULL;
}

const char *pim_elementwise_name(unsigned elementwise)
{
    return elementwise < PIM_ELEMENTWISES ? elementwise_names[elementwise] : NULL;
}

const char *pim_family_name(unsigned family)
{
    return family < PIM_FAMILIES ? family_names[family] : NULL;
}
