/*
 * Names of operators, roles and kinds, for messages and output.
 */
#include "sim/names.h"
#include "mappers/network/graph.h"
#include "mappers/network/transformer.h"

PIM_NAMES(pim_operator_name, PIM_OPERATOR_MAP)
PIM_NAMES(pim_role_name, PIM_ROLE_MAP)
PIM_NAMES(pim_activation_name, PIM_ACTIVATION_MAP)
PIM_NAMES(pim_elementwise_name, PIM_ELEMENTWISE_MAP)
PIM_NAMES(pim_family_name, PIM_FAMILY_MAP)
