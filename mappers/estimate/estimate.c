#include "mappers/estimate/estimate.h"

static uint64_t ceil_divide(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* Cycles of another clock as cycles of the logic clock, rounded up. */
static uint64_t logic_cycles(const struct pim_estimate_hardware *hardware, uint64_t cycles, uint64_t khz)
{
    return khz == hardware->logic_khz ? cycles : ceil_divide(cycles * hardware->logic_khz, khz);
}

/*
 * Refresh takes refresh_cycles out of each interval: t cycles of work need t * interval / (interval -
 * refresh) on average.
 */
static uint64_t with_refresh(const struct pim_estimate_hardware *hardware, uint64_t cycles)
{
    if (hardware->refresh_interval == 0)
        return cycles;
    uint64_t open = hardware->refresh_interval - hardware->refresh_cycles;
    return ceil_divide(cycles * hardware->refresh_interval, open);
}

/* Columns, and the rows that are opened when a row is left after `run` bytes at the latest. */
static uint64_t stream_cycles(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t run,
                              bool write)
{
    uint64_t columns = ceil_divide(bytes, hardware->port_bytes);
    uint64_t rows = ceil_divide(bytes, run);
    uint64_t row_cycles = write ? hardware->write_row_cycles : hardware->read_row_cycles;
    return columns * hardware->column_cycles + rows * row_cycles;
}

uint64_t pim_estimate_stream(const struct pim_estimate_hardware *hardware, uint64_t bytes, bool write)
{
    return logic_cycles(hardware,
                        with_refresh(hardware, stream_cycles(hardware, bytes, hardware->row_bytes, write)),
                        hardware->memory_khz);
}

uint64_t pim_estimate_pieces(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t pitch,
                             uint64_t pieces, uint64_t bursts, bool write)
{
    if (bytes == 0 || pieces == 0)
        return 0;
    uint64_t columns, span;
    if (pitch <= bytes) {
        columns = ceil_divide(pieces * bytes, hardware->port_bytes);
        span = pieces * bytes;
    } else {
        /* A piece that does not begin on a column touches one more, half of the time. */
        uint64_t slack =
            pitch % hardware->port_bytes || bytes % hardware->port_bytes ? hardware->port_bytes / 2 : 0;
        columns = pieces * ceil_divide(bytes + slack, hardware->port_bytes);
        span = pieces * (pitch < hardware->row_bytes ? pitch : hardware->row_bytes);
    }
    uint64_t rows = bursts + span / hardware->row_bytes;
    uint64_t cycles = columns * hardware->column_cycles +
                      rows * (write ? hardware->write_row_cycles : hardware->read_row_cycles);
    return logic_cycles(hardware, with_refresh(hardware, cycles), hardware->memory_khz);
}

uint64_t pim_estimate_access(const struct pim_estimate_hardware *hardware)
{
    return logic_cycles(hardware, hardware->access_cycles, hardware->memory_khz);
}

uint64_t pim_estimate_vector(const struct pim_estimate_hardware *hardware, uint64_t rows, uint64_t elements,
                             unsigned passes)
{
    /* Elementwise work sees one long vector; a reduction (more than one pass) begins anew with each row. */
    uint64_t groups = passes == 1 ? ceil_divide(rows * elements, hardware->acu_elements)
                                  : rows * ceil_divide(elements, hardware->acu_elements) * passes;
    return groups + hardware->acu_depth;
}

uint64_t pim_estimate_pace(const struct pim_estimate_hardware *hardware, uint64_t work)
{
    return hardware->pe_pace_rows ? ceil_divide(work * hardware->pe_pace_cycles, hardware->pe_pace_rows)
                                  : work;
}

uint64_t pim_estimate_matrix(const struct pim_estimate_hardware *hardware, uint64_t m, uint64_t n, uint64_t k)
{
    uint64_t folds = ceil_divide(k, hardware->pe_rows) * ceil_divide(n, hardware->pe_columns);
    if (!hardware->systolic)
        return pim_estimate_pace(hardware, m * folds) + hardware->pe_depth;
    /* Weight-stationary with shadow weights: a fold every max(m, rows) cycles, skew once. */
    uint64_t step = m > hardware->pe_rows ? m : hardware->pe_rows;
    return step * folds + 2 * (uint64_t)hardware->pe_rows + hardware->pe_columns + hardware->pe_depth;
}

/*
 * A round without the flight of its head: reading, sending and writing, of which the slowest sets the pace.
 */
static uint64_t round_cycles(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    uint64_t first = bytes < hardware->packet_bytes ? bytes : hardware->packet_bytes;
    uint64_t last = bytes % hardware->packet_bytes ? bytes % hardware->packet_bytes : first;
    uint64_t flits = ceil_divide(bytes, hardware->flit_bytes);
    uint64_t network = logic_cycles(hardware, flits, hardware->network_khz);
    /* Every byte passes the memory port twice, and the port turns twice for each packet. */
    uint64_t packets = ceil_divide(bytes, hardware->packet_bytes);
    /* While it sends and receives, each side leaves its row whenever the other has its turn. */
    bool shorter = hardware->turn_bytes > 0 && hardware->turn_bytes < hardware->row_bytes;
    uint64_t run = shorter ? hardware->turn_bytes : hardware->row_bytes;
    uint64_t port = with_refresh(hardware, stream_cycles(hardware, bytes, run, false) +
                                               stream_cycles(hardware, bytes, run, true) +
                                               packets * hardware->turn_cycles);
    uint64_t memory = logic_cycles(hardware, port, hardware->memory_khz);
    /* The first packet is read before anything is sent, and the last is written after everything has come. */
    uint64_t ends = 2 * (uint64_t)hardware->access_cycles +
                    stream_cycles(hardware, first, hardware->row_bytes, false) +
                    stream_cycles(hardware, last, hardware->row_bytes, true);
    uint64_t fill = logic_cycles(hardware, ends, hardware->memory_khz);
    return network + fill > memory ? network + fill : memory;
}

uint64_t pim_estimate_ring(const struct pim_estimate_hardware *hardware, uint64_t bytes, unsigned nodes)
{
    if (bytes == 0 || nodes < 2)
        return 0;
    uint64_t rounds = nodes - 1;
    /*
     * A piece crosses rounds - 1 links between neighbours and, at most once, the way back over the whole
     * line. The receives are announced ahead; only the first announcement is waited for.
     */
    uint64_t neighbour = hardware->fixed_cycles + 2 * (uint64_t)hardware->hop_cycles;
    uint64_t back = hardware->fixed_cycles + (uint64_t)nodes * hardware->hop_cycles;
    uint64_t flight = logic_cycles(hardware, back + back + (rounds - 1) * neighbour, hardware->network_khz);
    return flight + rounds * round_cycles(hardware, bytes);
}
