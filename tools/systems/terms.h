/*
 * Terms in which systems can be compared: what a system could compute at most, what it stores, what it
 * takes. All from its configuration and its row in the list; nothing is simulated here.
 *
 * Peak multiply-accumulates a second
 *   nodes     PEs x logic clock
 *   cores     weights of all crossbars / cycles of an MVM x logic clock
 *   channels  columns of all banks / (cycles of a multiplication + of an addition) x logic clock
 *   tiles     weights of all crossbars / time of a step in which all of them are full
 *
 * Area: of nodes by closed forms (models/area, middle reading, engines, routers and controllers; the DRAM
 * die is not in it), of others as published.
 *
 * Normalised to 28 nm, for those whose node is known: area x (28 / node)^2, energy x 28 / node - shrinking
 * at a constant voltage, where capacitances go with the length. Clocks are not scaled, neither are widths
 * of operands.
 */
#ifndef PIMSIM_TOOLS_SYSTEMS_TERMS_H
#define PIMSIM_TOOLS_SYSTEMS_TERMS_H

#include "sim/configuration/configuration.h"
#include "sim/status.h"
#include "tools/systems/list.h"

/* The rule above in a paragraph, for people. */
#define PIM_SYSTEM_RULE                                                                                      \
    "Peak: nodes PEs x clock; cores weights of all crossbars / cycles of an MVM x clock; channels columns "  \
    "of all "                                                                                                \
    "banks / (cycles of a multiplication + of an addition) x clock; tiles weights of all crossbars / time "  \
    "of a full step. Utilisation: MACs of the network / "                                                    \
    "(time x "                                                                                               \
    "peak). Area: nodes by closed forms at 28 nm (middle reading, logic alone, no DRAM die), others as "     \
    "published. "                                                                                            \
    "Normalised to 28 nm: area x (28 / node)^2, energy x 28 / node; clocks and widths of operands are not "  \
    "scaled. A figure that is not known is n/a, with its reason."

/* X(member, key, text of the unit): figures of a system; NaN: not known. */
#define PIM_SYSTEM_TERM_MAP(X)                                                                               \
    X(peak_macs, "peak_macs_per_second", "multiply-accumulates a second that the system could do at most")   \
    X(weight_bytes, "weight_bytes", "bytes of the memory that holds weights")                                \
    X(buffer_bytes, "buffer_bytes", "bytes of SRAM buffers or local memories")                               \
    X(technology_nm, "technology_nm", "node of the logic in nm")                                             \
    X(area_mm2, "area_mm2", "area in mm2")                                                                   \
    X(area_low_mm2, "area_low_mm2", "the low reading of a closed form, else the same")                       \
    X(area_high_mm2, "area_high_mm2", "the high reading of a closed form, else the same")                    \
    X(area_28nm_mm2, "area_28nm_mm2", "area normalised to 28 nm")

struct pim_system_terms {
#define X(member, key, text) double member;
    PIM_SYSTEM_TERM_MAP(X)
#undef X
};

/* Of a complete configuration. PIM_BAD_INPUT when it does not describe a hardware. */
enum pim_status pim_system_terms_of(const struct pim_system_row *row,
                                    const struct pim_configuration *configuration,
                                    struct pim_system_terms *terms, struct pim_error *error);

/* What energies are multiplied by to be those of 28 nm; NaN: the node is not known. */
double pim_system_energy_factor(double technology_nm);

#endif
