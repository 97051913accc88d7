/* Times of single operations, as docs/models/core.md has them without contention: cycles of the cores'
 * clock. */
#ifndef PIMSIM_MAPPERS_MACHINE_CORE_TIMES_H
#define PIMSIM_MAPPERS_MACHINE_CORE_TIMES_H

#include "mappers/machine/cores.h"
#include "sim/integer.h"

/* Cycles that a read (write) keeps the port of the local memory. */
static inline uint64_t pim_time_port(const struct pim_core_architecture *a, uint64_t elements,
                                     uint32_t beat_cycles)
{
    uint64_t beats = pim_divide_up(elements * a->element_bytes, a->local_bytes_per_cycle);
    return a->local_pipelined ? beats : beats * beat_cycles;
}

static inline uint64_t pim_time_reads(const struct pim_core_architecture *a, uint64_t elements)
{
    return pim_time_port(a, elements, a->local_read_cycles);
}

static inline uint64_t pim_time_writes(const struct pim_core_architecture *a, uint64_t elements)
{
    return pim_time_port(a, elements, a->local_write_cycles);
}

/* Latencies beside that. */
static inline uint64_t pim_time_read_latency(const struct pim_core_architecture *a)
{
    return a->local_pipelined ? a->local_read_cycles : 0;
}

static inline uint64_t pim_time_write_latency(const struct pim_core_architecture *a)
{
    return a->local_pipelined ? a->local_write_cycles : 0;
}

/* The vector engine works an instruction from its first read to its write. */
static inline uint64_t pim_time_vector(const struct pim_core_architecture *a, uint64_t elements,
                                       unsigned operands)
{
    uint64_t beats = pim_divide_up(elements, a->vector_lanes);
    uint64_t work = a->vector_pipelined ? a->vector_cycles + beats : a->vector_cycles * beats;
    return operands * (pim_time_reads(a, elements) + pim_time_read_latency(a)) + work +
           pim_time_writes(a, elements) + pim_time_write_latency(a);
}

static inline uint64_t pim_time_network(const struct pim_core_architecture *a, uint64_t cycles)
{
    return a->logic_khz == a->network_khz ? cycles : pim_scale_up(cycles, a->logic_khz, a->network_khz);
}

static inline uint64_t pim_time_flits(const struct pim_core_architecture *a, uint64_t bytes)
{
    return pim_divide_up(bytes * 8, a->flit_bits);
}

/* So many bytes pass between two cores of a chip, whatever others do. */
static inline uint64_t pim_time_link(const struct pim_core_architecture *a, uint64_t bytes)
{
    return a->connection == PIM_CORE_MESH
               ? pim_time_network(a, pim_machine_worm(&a->network, pim_time_flits(a, bytes)))
               : pim_divide_up(bytes, a->link_bytes_per_cycle);
}

/* The first flit of a packet goes through so many routers of an empty mesh, one at least. */
static inline uint64_t pim_time_way(const struct pim_core_architecture *a, uint64_t routers)
{
    uint64_t cycles = (uint64_t)a->network.fixed + routers * a->network.per_router;
    return pim_time_network(a, cycles);
}

#endif
