/*
 * The parts of a hardware configuration that have closed forms: the values of their keys as plain structs,
 * checked. The configuration is a complete one of pim_hardware_schema. PIM_BAD_INPUT names the key and its
 * place.
 */
#ifndef PIMSIM_MODELS_COST_READ_H
#define PIMSIM_MODELS_COST_READ_H

#include "models/cost/acu.h"
#include "models/cost/bank_rules.h"
#include "models/cost/crossbar.h"
#include "models/cost/energy.h"
#include "models/cost/pe.h"
#include "sim/configuration/configuration.h"

/* pe.* */
enum pim_status pim_cost_read_pe(const struct pim_configuration *configuration,
                                 struct pim_pe_configuration *pe, struct pim_error *error);
/* acu.* */
enum pim_status pim_cost_read_acu(const struct pim_configuration *configuration,
                                  struct pim_acu_configuration *acu, struct pim_error *error);
/* dram.*, in cycles of clock.memory_khz */
enum pim_status pim_cost_read_bank(const struct pim_configuration *configuration,
                                   struct pim_bank_rules *rules, struct pim_error *error);
/* Mappers estimate private banks of nodes and ports of cores: PIM_BAD_INPUT for channels of a standard. */
enum pim_status pim_cost_check_mapped(const struct pim_configuration *configuration, struct pim_error *error);
/* energy.* of nodes; what cores alone have is 0 */
struct pim_energy_configuration pim_cost_read_energy(const struct pim_configuration *configuration);
/*
 * In what sizes bytes pass the memory port of a node and the network: dram.arbitration_bytes and
 * network_interface.packet_bytes, or, where these are 0, by a rule. A turn at the port is a row of all banks
 * in lock-step: a shorter one may have to open the row again for the same client, a longer one opens none
 * less. A packet is two such rows: wherever it begins it opens at most three for the bytes of two.
 */
struct pim_transfer_sizes {
    uint32_t turn_bytes, packet_bytes;
};

enum { PIM_TURN_BYTES_MAX = 1 << 20, PIM_PACKET_BYTES_MAX = 1 << 24, PIM_ROWS_OF_A_PACKET = 2 };

struct pim_transfer_sizes pim_cost_read_sizes(const struct pim_configuration *configuration);

/* crossbar.*, in cycles of clock.logic_khz */
enum pim_status pim_cost_read_crossbar(const struct pim_configuration *configuration,
                                       struct pim_crossbar_configuration *crossbar, struct pim_error *error);

#endif
