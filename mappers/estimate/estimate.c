#include "mappers/estimate/estimate.h"

#include "sim/integer.h"

/* Cycles of another clock as cycles of the logic clock, rounded up. */
static uint64_t logic_cycles(const struct pim_estimate_hardware *hardware, uint64_t cycles, uint64_t khz)
{
    return khz == hardware->logic_khz ? cycles : pim_scale_up(cycles, hardware->logic_khz, khz);
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
    return pim_scale_up(cycles, hardware->refresh_interval, open);
}

/* Changes of row: to one of another of the interleaved banks, of the same bank, and to whatever row. */
struct row_changes {
    uint64_t other, same, any;
};

static uint64_t all_changes(struct row_changes changes)
{
    return changes.other + changes.same + changes.any;
}

/*
 * Memory cycles that these cost, each behind `columns` columns. Of interleaved banks a row opens behind
 * columns of another one: as long as they last, and if its bank, whose turn comes again after `interleaved`
 * rows, is ready. A change to whatever row meets the same bank once in `interleaved` times.
 */
static uint64_t change_cycles(const struct pim_estimate_hardware *hardware, uint64_t columns,
                              struct row_changes changes, bool write)
{
    uint64_t opening = write ? hardware->write_row_cycles : hardware->read_row_cycles;
    const uint64_t banks = hardware->interleaved, passing = columns * hardware->column_cycles;
    if (banks <= 1)
        return all_changes(changes) * opening;
    if (opening + passing < hardware->bank_cycles)
        opening = hardware->bank_cycles - passing;
    const uint64_t turn = (passing + opening) / banks,
                   need = hardware->row_ahead_cycles > turn ? hardware->row_ahead_cycles : turn;
    const uint64_t other = need > passing ? need - passing : 0, more = opening > other ? opening - other : 0;
    return all_changes(changes) * other + changes.same * more + pim_divide_up(changes.any * more, banks);
}

/* `columns` accesses; a row that is opened serves one access at least. */
static uint64_t row_cycles(const struct pim_estimate_hardware *hardware, uint64_t columns,
                           struct row_changes changes, bool write)
{
    changes.any = changes.any < columns ? changes.any : columns;
    if (changes.other + changes.same > columns - changes.any) {
        changes.same = pim_scale_up(changes.same, columns - changes.any, changes.other + changes.same);
        changes.other = columns - changes.any - changes.same;
    }
    const uint64_t rows = all_changes(changes);
    return columns * hardware->column_cycles +
           (rows > 0 ? change_cycles(hardware, columns / rows, changes, write) : 0);
}

/* So many changes from a row to that of the next piece, `pitch` bytes behind: the banks take turns. */
static struct row_changes changes_of_pieces(const struct pim_estimate_hardware *hardware, uint64_t changes,
                                            uint64_t pitch)
{
    const uint64_t row = hardware->row_bytes, banks = hardware->interleaved, rows = pitch / row,
                   beyond = pitch % row;
    if (banks <= 1)
        return (struct row_changes){.other = changes};
    /* Of `row` changes row - beyond are over `rows` rows, the others over one more. */
    uint64_t same = 0;
    if (rows > 0 && rows % banks == 0)
        same = row - beyond;
    else if ((rows + 1) % banks == 0 && rows > 0)
        same = beyond;
    same = pim_scale_up(changes, same, row);
    return (struct row_changes){.other = changes - same, .same = same};
}

static uint64_t port_logic_cycles(const struct pim_estimate_hardware *hardware, uint64_t columns,
                                  struct row_changes changes, bool write)
{
    return logic_cycles(hardware, with_refresh(hardware, row_cycles(hardware, columns, changes, write)),
                        hardware->memory_khz);
}

uint64_t pim_estimate_columns(const struct pim_estimate_hardware *hardware, uint64_t columns, uint64_t rows,
                              bool write)
{
    return port_logic_cycles(hardware, columns, (struct row_changes){.any = rows}, write);
}

/* Of the bytes of a row, after how many an access does not find its row open, if those which lie among so
 * many are used by turns; closed pages are never found open. */
static uint64_t leaves_row(const struct pim_estimate_hardware *hardware, uint64_t among)
{
    const uint64_t row = hardware->row_bytes;
    return among < row && !hardware->bank.organization.closed_page ? among : row;
}

uint64_t pim_estimate_near(const struct pim_estimate_hardware *hardware, uint64_t columns, uint64_t rows,
                           uint64_t away, uint64_t among, bool write)
{
    uint64_t row = hardware->row_bytes, filled = leaves_row(hardware, among);
    const uint64_t any = away < rows ? away : rows;
    uint64_t cycles =
        row_cycles(hardware, columns, (struct row_changes){.other = rows - any, .any = any}, write);
    if (columns > 0 && rows < columns)
        cycles += pim_divide_up(
            change_cycles(hardware, columns / (rows + 1), (struct row_changes){.any = 1}, write) * filled,
            row);
    return logic_cycles(hardware, with_refresh(hardware, cycles), hardware->memory_khz);
}

uint64_t pim_estimate_latency(const struct pim_estimate_hardware *hardware)
{
    return logic_cycles(hardware, hardware->latency_cycles, hardware->memory_khz);
}

/*
 * Logic cycles of `columns` accesses with changes of row, in so many runs that begin somewhere among `among`
 * bytes that are in use by turns: a run finds its row open, where it was left, as far as these do not fill a
 * row.
 */
static uint64_t begun_cycles(const struct pim_estimate_hardware *hardware, uint64_t columns,
                             struct row_changes changes, uint64_t runs, uint64_t among, bool write)
{
    struct row_changes begun = changes;
    begun.any += runs;
    const uint64_t open = row_cycles(hardware, columns, changes, write),
                   opened = row_cycles(hardware, columns, begun, write);
    const uint64_t cycles =
        open +
        (opened > open ? pim_scale_up(opened - open, leaves_row(hardware, among), hardware->row_bytes) : 0);
    return logic_cycles(hardware, with_refresh(hardware, cycles), hardware->memory_khz);
}

uint64_t pim_estimate_run(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t among,
                          bool write)
{
    const uint64_t rows = pim_divide_up(bytes, hardware->row_bytes);
    return begun_cycles(hardware, pim_divide_up(bytes, hardware->port_bytes),
                        (struct row_changes){.other = rows > 0 ? rows - 1 : 0}, rows > 0, among, write);
}

uint64_t pim_estimate_stream(const struct pim_estimate_hardware *hardware, uint64_t bytes, bool write)
{
    return pim_estimate_run(hardware, bytes, PIM_ANYWHERE, write);
}

uint64_t pim_estimate_bursts(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t pitch,
                             uint64_t pieces, uint64_t bursts, uint64_t among, bool write)
{
    if (bytes == 0 || pieces == 0)
        return 0;
    uint64_t columns, span;
    if (pitch <= bytes) {
        columns = pim_divide_up(pieces * bytes, hardware->port_bytes);
        span = pieces * bytes;
    } else {
        /* A piece that does not begin on a column touches one more, half of the time. */
        uint64_t slack =
            pitch % hardware->port_bytes || bytes % hardware->port_bytes ? hardware->port_bytes / 2 : 0;
        columns = pieces * pim_divide_up(bytes + slack, hardware->port_bytes);
        /*
         * The first piece of a burst begins in the row that is counted with the burst. Another one opens a
         * row as far as the gap before it reaches over the end of one, and all do as far as their bytes do.
         */
        uint64_t apart = bytes + hardware->row_bytes;
        span = bursts * bytes + (pieces > bursts ? (pieces - bursts) * (pitch < apart ? pitch : apart) : 0);
    }
    if (columns < bursts)
        columns = bursts;
    return begun_cycles(hardware, columns,
                        changes_of_pieces(hardware, span / hardware->row_bytes, pitch <= bytes ? 0 : pitch),
                        bursts, among, write);
}

uint64_t pim_estimate_pieces(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t pitch,
                             uint64_t pieces, uint64_t bursts, bool write)
{
    return pim_estimate_bursts(hardware, bytes, pitch, pieces, bursts, PIM_ANYWHERE, write);
}

uint64_t pim_estimate_access(const struct pim_estimate_hardware *hardware)
{
    return logic_cycles(hardware, hardware->access_cycles, hardware->memory_khz);
}

uint64_t pim_estimate_peak(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    return logic_cycles(hardware, pim_divide_up(bytes, hardware->port_bytes) * hardware->column_cycles,
                        hardware->memory_khz);
}

uint64_t pim_estimate_turns(const struct pim_estimate_hardware *hardware, uint64_t turns)
{
    return logic_cycles(hardware, turns * hardware->turn_cycles, hardware->memory_khz);
}

uint64_t pim_estimate_vector(const struct pim_estimate_hardware *hardware, uint64_t rows, uint64_t elements,
                             unsigned passes)
{
    /* Elementwise work sees one long vector; a reduction (more than one pass) begins anew with each row, and
       a pass not before the first row has left the one before. */
    if (passes == 1)
        return pim_divide_up(rows * elements, hardware->acu_elements) + hardware->acu_depth;
    const uint64_t of_row = pim_divide_up(elements, hardware->acu_elements), groups = rows * of_row;
    return (passes - 1) * pim_larger(groups, of_row + hardware->acu_depth) + groups + hardware->acu_depth;
}

uint64_t pim_estimate_pace(const struct pim_estimate_hardware *hardware, uint64_t work)
{
    return hardware->pe_pace_rows ? pim_divide_up(work * hardware->pe_pace_cycles, hardware->pe_pace_rows)
                                  : work;
}

uint64_t pim_estimate_matrix(const struct pim_estimate_hardware *hardware, uint64_t m, uint64_t n, uint64_t k)
{
    if (hardware->systolic || hardware->weights_wait)
        return pim_pe_matrix_cycles(&hardware->pe, (uint32_t)m, (uint32_t)n, (uint32_t)k, 8, 8);
    const uint64_t folds = pim_divide_up(k, hardware->pe_rows) * pim_divide_up(n, hardware->pe_columns);
    return pim_estimate_pace(hardware, m * folds) + hardware->pe_depth;
}

/* Rows that so many bytes lie in, wherever they begin. */
static uint64_t rows_of(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    return pim_smaller(pim_divide_up(bytes, hardware->row_bytes) + 1,
                       pim_divide_up(bytes, hardware->port_bytes));
}

uint64_t pim_estimate_turn(const struct pim_estimate_hardware *hardware)
{
    const uint64_t turn = hardware->turn_bytes;
    return turn > 0 && turn < hardware->row_bytes ? turn : UINT64_MAX;
}

/* Pieces of at most so many bytes that the packets of a message are cut into. */
static uint64_t pieces_of(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t piece)
{
    const uint64_t packet = hardware->packet_bytes;
    return bytes / packet * pim_divide_up(packet, piece) + pim_divide_up(bytes % packet, piece);
}

static struct row_changes any_rows(uint64_t rows)
{
    return (struct row_changes){.any = rows};
}

/*
 * Memory cycles of the port while a message of several packets arrives and, where it `reads`, one of the same
 * size leaves. Each packet begins with a column of its own, and each side leaves its row whenever the other
 * has its turn.
 */
static uint64_t port_cycles(const struct pim_estimate_hardware *hardware, uint64_t bytes, bool reads)
{
    const uint64_t packets = pim_divide_up(bytes, hardware->packet_bytes),
                   columns = pieces_of(hardware, bytes, hardware->port_bytes),
                   turned = pieces_of(hardware, bytes, pim_estimate_turn(hardware));
    /* the other side has its turns in between: a row at each turn, and one behind each end of a row */
    const uint64_t rows = pim_smaller(turned + pim_divide_up(bytes, hardware->row_bytes), columns);
    if (!reads)
        return with_refresh(hardware,
                            row_cycles(hardware, columns, any_rows(rows_of(hardware, bytes)), true));
    /* The port turns twice for each packet; an access that opens a row turns it meanwhile. */
    uint64_t turns = rows < columns ? columns - rows : 0;
    if (turns > packets)
        turns = packets;
    return with_refresh(hardware, row_cycles(hardware, columns, any_rows(rows), false) +
                                      row_cycles(hardware, columns, any_rows(rows), true) +
                                      turns * hardware->turn_cycles);
}

uint64_t pim_estimate_network(const struct pim_estimate_hardware *hardware, uint64_t cycles)
{
    return logic_cycles(hardware, cycles, hardware->network_khz);
}

uint64_t pim_estimate_flits(const struct pim_estimate_hardware *hardware, uint64_t flits)
{
    return pim_estimate_network(hardware, pim_machine_passage(&hardware->network, flits));
}

uint64_t pim_estimate_link(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    return pim_estimate_flits(hardware, pim_divide_up(bytes, hardware->flit_bytes));
}

uint64_t pim_estimate_worm_flits(const struct pim_estimate_hardware *hardware, uint64_t flits)
{
    return pim_estimate_network(hardware, pim_machine_worm(&hardware->network, flits));
}

uint64_t pim_estimate_worm(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    return pim_estimate_worm_flits(hardware, pim_divide_up(bytes, hardware->flit_bytes));
}

uint64_t pim_estimate_tail(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    uint64_t flits = pim_divide_up(bytes, hardware->flit_bytes);
    return pim_estimate_network(hardware, pim_machine_worm(&hardware->network, flits) -
                                              pim_machine_worm(&hardware->network, 1) + 1);
}

uint64_t pim_estimate_hops(const struct pim_estimate_hardware *hardware, uint64_t routers)
{
    return pim_estimate_network(hardware, routers * hardware->network.per_router);
}

/*
 * Rows that a round opens at the piece that reaches over the end of a row: its first row anew, too, since
 * that was left at its end. The rows on both sides of an end lie in two of the interleaved banks and stay
 * open: the piece that was written in the round before is read from them, and only the write opens rows,
 * those which come next.
 */
static struct row_changes crossing(const struct pim_estimate_hardware *hardware, uint64_t bytes, bool write)
{
    if (bytes <= (hardware->interleaved - (hardware->interleaved > 0)) * hardware->row_bytes)
        return write ? (struct row_changes){.other = bytes / hardware->row_bytes, .same = 1}
                     : (struct row_changes){0};
    return any_rows(rows_of(hardware, bytes));
}

/*
 * Memory cycles of some bytes of a piece. All pieces lie one after another in `among` bytes; where these
 * reach over the end of a row, one of the pieces does, and the ring goes at the pace of that one.
 */
static uint64_t piece_cycles(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t among,
                             bool write)
{
    uint64_t columns = pim_divide_up(bytes, hardware->port_bytes);
    uint64_t open = row_cycles(hardware, columns, any_rows(0), write),
             opened = row_cycles(hardware, columns, crossing(hardware, bytes, write), write) - open;
    return open + pim_scale_up(opened, leaves_row(hardware, among), hardware->row_bytes);
}

/* Routers under the nodes. */
static struct pim_machine_grid grid_of(const struct pim_estimate_hardware *hardware)
{
    return pim_machine_grid(&hardware->network, hardware->width, hardware->height);
}

/* Cycles of the busiest link in a round in which every node sends, where the ways of all lead over it. */
static uint64_t crossed_cycles(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    const struct pim_machine_grid grid = grid_of(hardware);
    if (!hardware->network.detours)
        return 0;
    return pim_estimate_flits(hardware,
                              pim_machine_detour_flits(&grid, pim_divide_up(bytes, hardware->flit_bytes)));
}

/*
 * A round without the flight of its head. Packets are read, sent and written one after another: all of them
 * pass one of the three, the first comes there and the last goes on from there. Or the port, which reads and
 * writes packets by turns, sets the pace. Without `reads` the bytes that leave come from the network
 * interface.
 */
static uint64_t round_cycles(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t among,
                             bool reads)
{
    uint64_t first = bytes < hardware->packet_bytes ? bytes : hardware->packet_bytes;
    uint64_t last = bytes % hardware->packet_bytes ? bytes % hardware->packet_bytes : first;
    uint64_t read_all = reads ? piece_cycles(hardware, bytes, among, false) : 0,
             read_first = reads ? piece_cycles(hardware, first, among, false) : 0,
             write_all = piece_cycles(hardware, bytes, among, true),
             write_last = piece_cycles(hardware, last, among, true);
    /* From a request to its data; what a write takes longer than its columns is part of the next opening. */
    uint64_t latency = hardware->latency_cycles;
    const struct {
        uint64_t memory, link;
    } paths[] = {
        {with_refresh(hardware, latency + read_first + write_last), bytes},
        {with_refresh(hardware, latency + read_first + write_all), first},
        {with_refresh(hardware, latency + read_all + write_last), last},
        {bytes > first ? port_cycles(hardware, bytes, reads) : 0, 0},
    };
    uint64_t longest = crossed_cycles(hardware, bytes);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        uint64_t cycles = logic_cycles(hardware, paths[i].memory, hardware->memory_khz) +
                          pim_estimate_worm(hardware, paths[i].link);
        longest = cycles > longest ? cycles : longest;
    }
    return longest;
}

/* Network cycles of one flit over `routers` routers, at least one: the fixed part may be negative. */
static uint64_t zero_load(const struct pim_estimate_hardware *hardware, unsigned routers)
{
    return (uint64_t)(hardware->network.fixed + (int64_t)(routers * hardware->network.per_router));
}

uint64_t pim_estimate_zero_load(const struct pim_estimate_hardware *hardware, unsigned routers)
{
    return pim_estimate_network(hardware, zero_load(hardware, routers));
}

/* Routers on a way that is so long along the grid. */
static uint32_t way(const struct pim_estimate_hardware *hardware, uint32_t routers)
{
    const struct pim_machine_grid grid = grid_of(hardware);
    return hardware->network.detours ? pim_machine_detour(&grid) : routers;
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
    uint64_t neighbour = zero_load(hardware, way(hardware, 2));
    uint64_t back = zero_load(hardware, way(hardware, nodes));
    uint64_t flight = pim_estimate_network(hardware, back + back + (rounds - 1) * neighbour);
    /* A node sends its own piece first, and passes on what came in the round before from then on. */
    uint64_t among = nodes * bytes;
    return flight + round_cycles(hardware, bytes, among, true) +
           (rounds - 1) * round_cycles(hardware, bytes, among, !hardware->cut_through);
}

uint64_t pim_estimate_ring_port(const struct pim_estimate_hardware *hardware, uint64_t bytes, unsigned nodes)
{
    if (bytes == 0 || nodes < 2)
        return 0;
    const uint64_t rounds = nodes - 1, turns = rounds * pim_divide_up(bytes, hardware->packet_bytes),
                   columns = rounds * pieces_of(hardware, bytes, hardware->port_bytes);
    /* A turn begins anywhere in a row, which others left. */
    const uint64_t rows = rounds * pieces_of(hardware, bytes, pim_estimate_turn(hardware)) +
                          rounds * bytes / hardware->row_bytes;
    uint64_t cycles = row_cycles(hardware, columns, any_rows(rows), true);
    if (!hardware->cut_through)
        cycles += row_cycles(hardware, columns, any_rows(rows), false);
    return logic_cycles(hardware, with_refresh(hardware, cycles + turns * hardware->turn_cycles),
                        hardware->memory_khz);
}
