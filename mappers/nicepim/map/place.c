#include "mappers/nicepim/map/place.h"
#include "sim/integer.h"

#include <string.h>

enum { LEVELS = 6 };

/* Loops over runs, the innermost first; strides in bytes. */
struct nest {
    uint32_t levels;
    uint64_t count[LEVELS], stride[LEVELS];
    uint64_t run; /* bytes */
};

static uint32_t group_of(struct pim_map_layout layout)
{
    return layout.group ? layout.group : 1;
}

static void add_level(struct nest *nest, uint64_t count, uint64_t stride)
{
    if (count <= 1)
        return;
    uint32_t last = nest->levels;
    if (last == 0 && stride == nest->run)
        nest->run *= count;
    else if (last > 0 && stride == nest->stride[last - 1] * nest->count[last - 1])
        nest->count[last - 1] *= count;
    else {
        nest->count[last] = count;
        nest->stride[last] = stride;
        nest->levels++;
    }
}

/* Elements from one batch, group or channel, row, column to the next. */
static void strides_of(struct pim_map_layout layout, const uint64_t size[PLACE_DIMENSIONS],
                       uint64_t stride[PLACE_DIMENSIONS])
{
    uint64_t g = group_of(layout), groups = pim_divide_up(size[1], g);
    if (layout.order == PIM_LAYOUT_BHWC) {
        stride[1] = 1;
        stride[3] = groups * g;
        stride[2] = size[3] * stride[3];
        stride[0] = size[2] * stride[2];
    } else {
        stride[3] = g;
        stride[2] = size[3] * stride[3];
        stride[1] = size[2] * stride[2];
        stride[0] = groups * stride[1];
    }
}

/* Of `count` batches, rows and columns, and of channels: `lanes` of each of so many groups (BCHW). */
static void build_nest(struct pim_map_layout layout, const uint64_t stride[PLACE_DIMENSIONS],
                       const struct grid part[PLACE_DIMENSIONS], uint64_t lanes, uint64_t groups,
                       uint64_t width, struct nest *nest)
{
    *nest = (struct nest){.run = width};
    add_level(nest, lanes, width);
    add_level(nest, part[3].count, part[3].step * stride[3] * width);
    add_level(nest, part[2].count, part[2].step * stride[2] * width);
    if (layout.order == PIM_LAYOUT_BCHW)
        add_level(nest, groups, stride[1] * width);
    add_level(nest, part[0].count, part[0].step * stride[0] * width);
}

uint64_t place_bytes(const struct place *place)
{
    uint64_t size[PLACE_DIMENSIONS], g = group_of(place->layout);
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++)
        size[d] = place->box[d].to - place->box[d].from;
    return size[0] * pim_divide_up(size[1], g) * g * size[2] * size[3] * place->width;
}

bool place_meets(const struct place *place, const struct grid part[PLACE_DIMENSIONS],
                 struct grid met[PLACE_DIMENSIONS])
{
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++) {
        const struct pim_span *span = &place->box[d];
        uint64_t step = part[d].step, from = part[d].from, end = from + part[d].count * step;
        if (part[d].count == 0 || from >= span->to || end <= span->from)
            return false;
        end = end < span->to ? end : span->to;
        /* Hardly any part has steps, and divisions are slow. */
        uint64_t before = from < span->from ? span->from - from : 0;
        from += step == 1 ? before : pim_divide_up(before, step) * step;
        if (from >= end)
            return false;
        met[d] =
            (struct grid){(uint32_t)from,
                          (uint32_t)(step == 1 ? end - from : pim_divide_up(end - from, step)), part[d].step};
    }
    return true;
}

/* --- bursts --- */

/* The level with most pieces is that of the bursts; the others are counted through. */
static void visit_nest(const struct nest *nest, uint64_t address, place_visit *visit, void *context)
{
    uint64_t at[LEVELS] = {0};
    uint32_t most = 0;
    for (uint32_t l = 1; l < nest->levels; l++)
        most = nest->count[l] > nest->count[most] ? l : most;
    for (;;) {
        struct place_burst burst = {address, nest->run, nest->levels ? nest->stride[most] : nest->run,
                                    nest->levels ? nest->count[most] : 1};
        for (uint32_t l = 0; l < nest->levels; l++)
            burst.address += at[l] * nest->stride[l];
        visit(context, &burst);
        uint32_t l = 0;
        while (l < nest->levels && (l == most || ++at[l] == nest->count[l])) {
            at[l] = 0;
            l++;
        }
        if (l == nest->levels)
            return;
    }
}

/* Calls for the runs of channels that begin and end within groups, and for the whole groups between. */
typedef void nest_visit(void *context, const struct nest *nest, uint64_t address);

static void visit_nests(const struct place *place, const struct grid part[PLACE_DIMENSIONS],
                        nest_visit *visit, void *context)
{
    uint64_t size[PLACE_DIMENSIONS], stride[PLACE_DIMENSIONS], g = group_of(place->layout);
    uint64_t low = part[1].from - place->box[1].from, high = low + part[1].count, base = 0;
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++)
        size[d] = place->box[d].to - place->box[d].from;
    strides_of(place->layout, size, stride);
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++)
        base += d == 1 ? 0 : (uint64_t)(part[d].from - place->box[d].from) * stride[d];
    while (low < high) {
        struct nest nest;
        uint64_t lanes = high - low, groups = 1, address = base + low;
        if (place->layout.order == PIM_LAYOUT_BCHW) {
            address = base + low / g * stride[1] + low % g;
            if (low % g == 0 && lanes >= g) {
                groups = lanes / g;
                lanes = g;
            } else if (lanes > g - low % g) {
                lanes = g - low % g;
            }
        }
        build_nest(place->layout, stride, part, lanes, groups, place->width, &nest);
        visit(context, &nest, place->address + address * place->width);
        low += lanes * groups;
    }
}

struct bursts {
    place_visit *visit;
    void *context;
};

static void visit_one(void *context, const struct nest *nest, uint64_t address)
{
    const struct bursts *bursts = context;
    visit_nest(nest, address, bursts->visit, bursts->context);
}

void place_visit_bursts(const struct place *place, const struct grid part[PLACE_DIMENSIONS],
                        place_visit *visit, void *context)
{
    struct bursts bursts = {visit, context};
    visit_nests(place, part, visit_one, &bursts);
}

struct run {
    uint64_t address, bytes;
    bool broken;
};

static void see_run(void *context, const struct nest *nest, uint64_t address)
{
    struct run *run = context;
    run->broken |= nest->levels > 0 || (run->bytes > 0 && address != run->address + run->bytes);
    run->address = run->bytes > 0 ? run->address : address;
    run->bytes += nest->run;
}

bool place_is_run(const struct place *place, const struct grid part[PLACE_DIMENSIONS], uint64_t *address,
                  uint64_t *bytes)
{
    struct run run = {0};
    visit_nests(place, part, see_run, &run);
    *address = run.address;
    *bytes = run.bytes;
    return !run.broken;
}

void grid_of_box(const struct pim_span box[PLACE_DIMENSIONS], struct grid part[PLACE_DIMENSIONS])
{
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++)
        part[d] = (struct grid){box[d].from, box[d].to - box[d].from, 1};
}

/* --- cost --- */

struct cost {
    const struct pim_estimate_hardware *hardware;
    uint64_t columns;
    double rows, away; /* away: those of `rows` that a step may put anywhere */
};

/* Rows that are opened: a step to the next run opens one if it is that long, and else now and then: the next
 * one. */
static void add_nest(struct cost *cost, const struct nest *nest)
{
    double row = (double)cost->hardware->row_bytes, moves = 1;
    uint64_t port = cost->hardware->port_bytes, runs = 1, inner = 0;
    uint32_t most = 0;
    for (uint32_t l = 0; l < nest->levels; l++) {
        runs *= nest->count[l];
        most = nest->count[l] > nest->count[most] ? l : most;
    }
    bool apart = nest->run % port != 0;
    for (uint32_t l = 0; l < nest->levels; l++)
        apart |= nest->stride[l] % port != 0;
    /* Pieces of a burst that are nearer than a column share it: what lies between is passed as well. */
    uint64_t piece = nest->run, pieces = runs;
    if (nest->levels > 0 && nest->stride[most] < port) {
        piece += nest->stride[most] * (nest->count[most] - 1);
        pieces /= nest->count[most];
    }
    cost->columns += pieces * pim_divide_up(piece + (apart ? port / 2 : 0), port);
    uint64_t whole_rows = nest->run / cost->hardware->row_bytes;
    cost->rows += (double)runs * (double)whole_rows;
    moves = (double)runs;
    for (uint32_t i = 0; i < nest->levels; i++) {
        uint32_t l = i == 0 ? most : i <= most ? i - 1 : i; /* the order of the bursts */
        double here = moves / (double)nest->count[l];
        double step = (double)nest->stride[l] - (double)inner;
        step = step < 0 ? -step : step;
        cost->rows += (moves - here) * (step >= row ? 1 : step / row);
        cost->away += step >= row ? moves - here : 0;
        inner += nest->stride[l] * (nest->count[l] - 1);
        moves = here;
    }
    cost->rows += (double)(nest->run % cost->hardware->row_bytes) / row;
}

static void add_seen(void *context, const struct nest *nest, uint64_t address)
{
    (void)address;
    add_nest(context, nest);
}

static uint64_t cycles_of(const struct cost *cost, uint64_t among, bool write)
{
    return pim_estimate_near(cost->hardware, cost->columns, (uint64_t)cost->rows, (uint64_t)cost->away, among,
                             write);
}

uint64_t place_run_cycles(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t among,
                          bool write)
{
    return pim_estimate_near(hardware, pim_divide_up(bytes, hardware->port_bytes),
                             bytes / hardware->row_bytes, 0, among, write);
}

uint64_t place_cycles(const struct pim_estimate_hardware *hardware, const struct place *place,
                      const struct grid part[PLACE_DIMENSIONS], uint64_t among, bool write)
{
    struct cost cost = {.hardware = hardware};
    visit_nests(place, part, add_seen, &cost);
    return cycles_of(&cost, among, write);
}

uint64_t spread_cycles(const struct pim_estimate_hardware *hardware, const struct spread *spread,
                       const uint32_t extent[PLACE_DIMENSIONS], const uint32_t step[PLACE_DIMENSIONS],
                       uint32_t width, uint64_t among, bool write, uint64_t *columns)
{
    struct cost cost = {.hardware = hardware};
    uint64_t boxes = 1, size[PLACE_DIMENSIONS], stride[PLACE_DIMENSIONS], g = group_of(spread->layout);
    struct grid part[PLACE_DIMENSIONS];
    if (spread->layout.group == 0) {
        uint64_t bytes = (uint64_t)extent[0] * extent[1] * extent[2] * extent[3] * width;
        *columns = pim_divide_up(bytes, hardware->port_bytes);
        return place_run_cycles(hardware, bytes, among, write);
    }
    *columns = 0;
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++) /* windows that lie in padding alone */
        if (spread->size[d] == 0)
            return 0;
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++) {
        uint64_t all = (uint64_t)(extent[d] - 1) * step[d] + 1;
        uint64_t parts = pim_divide_up(all, spread->size[d]);
        size[d] = spread->size[d];
        boxes *= parts;
        part[d] = (struct grid){0, (uint32_t)pim_divide_up(extent[d], parts), step[d]};
    }
    strides_of(spread->layout, size, stride);
    bool grouped = spread->layout.order == PIM_LAYOUT_BCHW && part[1].count >= g;
    struct nest nest;
    build_nest(spread->layout, stride, part, grouped ? g : part[1].count,
               grouped ? pim_divide_up(part[1].count, g) : 1, width, &nest);
    add_nest(&cost, &nest);
    *columns = boxes * cost.columns;
    return boxes * cycles_of(&cost, among, write);
}

/* --- parts --- */

void split_box(const struct pim_span box[PLACE_DIMENSIONS], struct pim_map_layout layout, uint32_t parts,
               uint32_t index, struct pim_span part[PLACE_DIMENSIONS], bool *runs)
{
    static const size_t orders[][PLACE_DIMENSIONS] = {
        [PIM_LAYOUT_BCHW] = {0, 1, 2, 3}, [PIM_LAYOUT_BHWC] = {0, 2, 3, 1}};
    const size_t *order = orders[layout.order];
    size_t along = order[0];
    uint32_t most = 0, unit = 1;
    *runs = true;
    for (size_t i = 0; i < PLACE_DIMENSIONS; i++) {
        size_t d = order[i];
        /* Groups of channels stay whole. */
        uint32_t grain = d == 1 && layout.order == PIM_LAYOUT_BCHW ? group_of(layout) : 1;
        uint32_t length = box[d].to - box[d].from;
        length = grain == 1 ? length : length / grain + (length % grain != 0);
        if (length > most) {
            most = length;
            along = d;
            unit = grain;
        }
        if (length >= parts)
            break;
    }
    for (size_t i = 0; order[i] != along; i++)
        *runs &= box[order[i]].to - box[order[i]].from == 1;
    memcpy(part, box, PLACE_DIMENSIONS * sizeof *part);
    uint32_t length = box[along].to - box[along].from;
    struct pim_span span = pim_span_of(most, parts, index);
    uint64_t from = (uint64_t)span.from * unit, to = (uint64_t)span.to * unit;
    part[along].from = box[along].from + (uint32_t)(from < length ? from : length);
    part[along].to = box[along].from + (uint32_t)(to < length ? to : length);
}
