#include "mappers/overlapim/model.h"
#include "sim/integer.h"

static bool reduced(unsigned dimension)
{
    return dimension == PIM_C || dimension == PIM_R || dimension == PIM_S;
}

/* Steps in which any index of some dimensions differs from the step before, and the dimensions over which
 * they go: of all temporal loops before the cut but the innermost ones over other dimensions. */
struct changes {
    uint64_t steps;
    unsigned dimensions;
};

static struct changes changes(const struct pim_nest *nest, unsigned dimensions)
{
    struct changes all = {1, dimensions};
    bool seen = false;
    for (uint32_t i = nest->cut; i-- > 0;) {
        const struct pim_nest_loop *loop = &nest->loop[i];
        if (loop->spatial || loop->count == 1)
            continue;
        seen = seen || (dimensions >> loop->dimension & 1);
        all.steps *= seen ? loop->count : 1;
        all.dimensions |= seen ? 1U << loop->dimension : 0;
    }
    return all;
}

enum { WEIGHTS = 1U << PIM_K | 1U << PIM_C | 1U << PIM_R | 1U << PIM_S }; /* dimensions they have */

static unsigned inputs_of(const struct pim_workload *workload)
{
    return 1U << PIM_N | 1U << PIM_C | 1U << PIM_P | 1U << PIM_Q | 1U << PIM_R | 1U << PIM_S |
           (workload->groups > 1 ? 1U << PIM_K : 0);
}

static void column_level(const struct pim_nest *nest, uint64_t temporal[PIM_DIMENSIONS],
                         struct pim_column_use *use)
{
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        temporal[d] = 1;
    for (uint32_t i = nest->cut; i < nest->loops; i++) {
        const struct pim_nest_loop *loop = &nest->loop[i];
        if (!loop->spatial) {
            temporal[loop->dimension] *= loop->count;
            use->products *= loop->count;
            use->outputs *= reduced(loop->dimension) ? 1 : loop->count;
            continue;
        }
        use->lanes *= loop->count;
        use->width *= reduced(loop->dimension) ? loop->count : 1;
    }
}

void pim_column_use(const struct pim_mapped_layer *layer, const struct pim_nest *nest,
                    const struct pim_strides *strides, struct pim_column_use *use)
{
    const struct pim_workload *workload = &layer->workload;
    uint64_t temporal[PIM_DIMENSIONS], weight_steps = 1, reduction_steps = 1;
    *use = (struct pim_column_use){.lanes = 1,
                                   .products = 1,
                                   .outputs = 1,
                                   .width = 1,
                                   .banks = 1,
                                   .shared = 1,
                                   .channels = 1,
                                   .open = 1};
    column_level(nest, temporal, use);
    for (uint32_t i = 0; i < nest->cut; i++) {
        const struct pim_nest_loop *loop = &nest->loop[i];
        if (loop->spatial) {
            use->banks *= loop->count;
            use->shared *= reduced(loop->dimension) ? loop->count : 1;
            use->channels *= loop->level == PIM_LEVEL_CHANNEL ? loop->count : 1;
            continue;
        }
        weight_steps *= reduced(loop->dimension) || loop->dimension == PIM_K ? loop->count : 1;
        /* what is inside of a reduction in time is begun before any of it is final */
        use->open *= reduction_steps > 1 && !reduced(loop->dimension) ? loop->count : 1;
        reduction_steps *= reduced(loop->dimension) ? loop->count : 1;
    }
    uint64_t window = 1;
    for (unsigned axis = 0; axis < 2; axis++) {
        uint64_t side = (temporal[PIM_P + axis] - 1) * workload->stride[axis] +
                        (temporal[PIM_R + axis] - 1) * workload->dilation[axis] + 1;
        uint64_t each = temporal[PIM_P + axis] * temporal[PIM_R + axis];
        window *= side < each ? side : each;
    }
    use->weights = temporal[PIM_K] * temporal[PIM_C] * temporal[PIM_R] * temporal[PIM_S];
    use->inputs = temporal[PIM_N] * temporal[PIM_C] * window * (workload->groups > 1 ? temporal[PIM_K] : 1);
    if (!layer->product) /* a column holds what its own outputs are made of */
        use->inputs = use->outputs * workload->size[PIM_R] * workload->size[PIM_S] *
                      (layer->operands > 0 ? layer->operands : 1);
    use->resident = use->weights * weight_steps;
    use->input_loads = changes(nest, inputs_of(workload)).steps;
    use->weight_loads = changes(nest, WEIGHTS).steps;
    use->output_stores = strides->steps / reduction_steps;
    use->carried = reduction_steps > 1;
}

/* Tiles of a dimension before the cut, and those of them that exist. */
struct tiles {
    uint64_t all, exist;
};

static struct tiles tiles_of(const struct pim_mapped_layer *layer, const struct pim_nest *nest,
                             const struct pim_strides *strides, unsigned d)
{
    struct tiles tiles = {1, 0};
    uint64_t left = layer->workload.size[d];
    for (uint32_t i = 0; i < nest->cut; i++)
        tiles.all *= nest->loop[i].dimension == d ? nest->loop[i].count : 1;
    uint64_t inner = tiles.all;
    for (uint32_t i = 0; i < nest->cut; i++) {
        if (nest->loop[i].dimension != d)
            continue;
        inner /= nest->loop[i].count;
        tiles.exist += left / strides->tile[i] * inner; /* whole iterations, then what is left of the next */
        left %= strides->tile[i];
    }
    tiles.exist += left > 0;
    return tiles;
}

/* Of `events`, one for each tile of `dimensions`, those of tiles that exist, rounded up; a row has one. */
static uint64_t existing(const struct tiles tiles[PIM_DIMENSIONS], unsigned dimensions, uint64_t events,
                         uint64_t rows)
{
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (dimensions >> d & 1 && tiles[d].exist < tiles[d].all)
            events = pim_divide_up(events * tiles[d].exist, tiles[d].all);
    }
    return pim_smaller(events, rows);
}

void pim_column_use_existing(const struct pim_mapped_layer *layer, const struct pim_nest *nest,
                             const struct pim_strides *strides, struct pim_column_use *use)
{
    const unsigned outputs = 1U << PIM_N | 1U << PIM_K | 1U << PIM_P | 1U << PIM_Q;
    const unsigned inputs = changes(nest, inputs_of(&layer->workload)).dimensions,
                   weights = changes(nest, WEIGHTS).dimensions;
    struct tiles tiles[PIM_DIMENSIONS];
    uint64_t spaces = 1;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        tiles[d] = tiles_of(layer, nest, strides, d);
        spaces *= pim_smaller(tiles[d].exist, tiles[d].all);
    }
    const uint64_t rows = pim_divide_up(spaces, strides->banks);
    use->input_loads = existing(tiles, inputs, use->input_loads, rows);
    use->weight_loads = existing(tiles, weights, use->weight_loads, rows);
    use->output_stores = existing(tiles, outputs, use->output_stores, rows);
}

/* Sums that `shared` banks hold parts of: a tree of moves and additions, for every output of a column
 * group. */
static uint64_t partial_sums(const struct pim_machine *machine, const struct pim_column_use *use)
{
    uint64_t cycles = 0, rows = use->outputs * 2 * machine->word_bits;
    uint64_t banks = pim_divide_up(use->banks, use->channels);
    for (uint64_t left = use->shared; left > 1; left = pim_divide_up(left, 2)) {
        uint64_t movers = banks > 1 ? banks / 2 : 1; /* of a channel */
        cycles += pim_machine_move(machine, rows, movers) + use->outputs * pim_machine_add(machine, banks);
    }
    return cycles;
}

static void sum(const struct pim_machine *machine, struct pim_step_cost *cost)
{
    cost->total = 0;
#define X(member, text) cost->total += cost->member;
    PIM_STEP_PARTS(X)
#undef X
    cost->refresh = pim_machine_refresh(machine, cost->total);
    cost->total += cost->refresh;
    cost->total = cost->total > 0 ? cost->total : 1;
}

/* Rows of each bank in a message: reading them, or what it takes of links, or of the bus between stacks. */
static uint64_t message_cycles(const struct pim_machine *machine, uint64_t rows, uint64_t banks, uint64_t way)
{
    uint64_t cycles = pim_larger(pim_machine_rows(machine, rows, banks), way);
    return cycles + pim_machine_refresh(machine, cycles);
}

/* Who has messages for whom, where a producer and a consumer may work on the same channels: what a channel
 * has made itself stays in it. */
struct partners {
    uint64_t to, from; /* that a channel of the producer sends to, and one of the consumer receives from */
    uint64_t both;     /* of a channel that does both: its banks are read and written one after the other */
};

static struct partners partners(const struct pim_step_cost *producer, const struct pim_step_cost *consumer,
                                struct pim_way way)
{
    const uint64_t begin = pim_larger(way.from, way.to),
                   end = pim_smaller(way.from + producer->channels, way.to + consumer->channels);
    const uint64_t common = end > begin ? end - begin : 0;
    return (struct partners){consumer->channels - (common == producer->channels),
                             producer->channels - (common == consumer->channels),
                             common > 0 ? consumer->channels + producer->channels - 2 : 0};
}

/* The bus between stacks, of so many rows of a bank from each channel of the producer to each of the
 * consumer: what stays in a stack does not take the bus. */
static uint64_t bus_cycles(const struct pim_machine *machine, const struct pim_step_cost *producer,
                           const struct pim_step_cost *consumer, uint64_t rows, struct pim_way way)
{
    uint64_t pairs = 0;
    for (uint64_t from = way.from; from < way.from + producer->channels; from++) {
        for (uint64_t to = way.to; to < way.to + consumer->channels; to++)
            pairs += from / machine->channels != to / machine->channels;
    }
    return pim_divide_up(pairs * rows * pim_divide_up(machine->columns, 8) * producer->banks,
                         machine->bus_bytes);
}

bool pim_step_cost(const struct pim_machine *machine, const struct pim_mapped_layer *layer,
                   const struct pim_mapping_space *space, const struct pim_nest *nest,
                   const struct pim_strides *strides, struct pim_step_cost *cost)
{
    struct pim_column_use use;
    uint64_t word = machine->word_bits;
    *cost = (struct pim_step_cost){0};
    pim_column_use(layer, nest, strides, &use);
    uint64_t banks = pim_divide_up(use.banks, use.channels); /* of a channel */
    uint64_t multiply = pim_machine_multiply(machine, banks), add = pim_machine_add(machine, banks);
    uint64_t stores = use.output_stores, steps = strides->steps;
    uint64_t operands = !layer->product ? 0 : space->drop_weights ? use.weights : use.resident;
    uint64_t totals = use.outputs > UINT32_MAX || use.open > UINT32_MAX ? UINT64_MAX : use.outputs * use.open;
    if (operands > UINT32_MAX || use.inputs > UINT32_MAX || totals > UINT32_MAX) {
        cost->rows = UINT64_MAX;
        return false;
    }
    cost->rows = word * (operands + use.inputs) + 2 * word * (totals + 1) + 2 * word + 16;
    if (layer->product) {
        struct pim_reduction_cycles tree = pim_machine_reduce(machine, use.width, banks);
        uint64_t adds = use.products - use.outputs + (use.carried ? use.outputs : 0);
        cost->multiply = use.products * multiply;
        cost->add = adds * add;
        cost->reduce_move = use.outputs * tree.move;
        cost->reduce_add = use.outputs * tree.add;
        cost->store = partial_sums(machine, &use);
        cost->partial = pim_divide_up(cost->store * stores, steps);
    } else {
        cost->multiply = use.outputs * layer->each.multiplications * multiply;
        cost->add = use.outputs * layer->each.additions * add;
    }
    cost->add += pim_divide_up(stores * use.outputs * layer->post.additions * add, steps);
    cost->multiply += pim_divide_up(stores * use.outputs * layer->post.multiplications * multiply, steps);
    cost->load = pim_machine_move(machine, use.inputs * word, banks);
    cost->input = pim_divide_up(cost->load * use.input_loads, steps);
    if (layer->product && space->drop_weights)
        cost->input +=
            pim_divide_up(pim_machine_move(machine, use.weights * word, banks) * use.weight_loads, steps);
    cost->store += use.outputs * (layer->post.additions * add + layer->post.multiplications * multiply) +
                   pim_machine_rows(machine, 2 * use.outputs * word, banks);
    cost->loads = use.input_loads;
    cost->output = pim_divide_up(pim_machine_rows(machine, 2 * use.outputs * word, banks) * stores, steps);
    cost->channels = use.channels;
    cost->banks = banks;
    cost->stores = stores;
    cost->sent = word * use.outputs * stores;
    const uint64_t sent = pim_divide_up(cost->sent, stores);
    cost->transfer = message_cycles(machine, sent, banks, pim_machine_link(machine, sent * banks));
    sum(machine, cost);
    return cost->rows <= machine->rows;
}

struct pim_handover pim_hand_over(const struct pim_machine *machine, const struct pim_step_cost *producer,
                                  const struct pim_step_cost *consumer, uint64_t consumer_steps,
                                  struct pim_way way)
{
    const uint64_t messages = pim_smaller(producer->stores, consumer_steps), banks = producer->banks;
    const struct partners others = partners(producer, consumer, way);
    const uint64_t each = pim_divide_up(producer->sent, messages),
                   pair = pim_divide_up(each, consumer->channels),
                   used = pim_divide_up(each * pim_larger(others.to, others.both), consumer->channels),
                   written = pim_divide_up(producer->sent * others.from, consumer->channels);
    /* the banks that are written are taken until the last row has come */
    const uint64_t cycles =
        pim_larger(pim_machine_rows(machine, written, banks), pim_machine_link(machine, written * banks));
    const uint64_t bus = bus_cycles(machine, producer, consumer, pair, way);
    const uint64_t out = pim_larger(bus, pim_machine_link(machine, pair * banks * others.to));
    const uint64_t in = pim_machine_link(machine, pair * banks * others.from);
    struct pim_handover handover = {.message = message_cycles(machine, used, banks, pim_larger(out, in)),
                                    .sent = message_cycles(machine, used, banks, out),
                                    .bus = bus,
                                    .all_bus = bus * messages};
    handover.writing = pim_divide_up(cycles + pim_machine_refresh(machine, cycles), consumer_steps);
    handover.ready = handover.message > handover.writing ? handover.message - handover.writing : 0;
    return handover;
}

static uint64_t refreshed(const struct pim_machine *machine, uint64_t cycles)
{
    return cycles + pim_machine_refresh(machine, cycles);
}

struct pim_message_cycles pim_message_cycles(const struct pim_machine *machine,
                                             const struct pim_step_cost *producer,
                                             const struct pim_step_cost *consumer, uint64_t rows,
                                             struct pim_way way)
{
    const struct partners others = partners(producer, consumer, way);
    const uint64_t banks = producer->banks, read = rows * pim_larger(others.to, others.both);
    return (struct pim_message_cycles){
        .read = refreshed(machine, pim_machine_rows(machine, read, banks)),
        .out = pim_machine_link(machine, rows * banks * others.to),
        .in = pim_machine_link(machine, rows * banks * others.from),
        .bus = bus_cycles(machine, producer, consumer, rows, way),
        .write = refreshed(machine, pim_machine_rows(machine, rows * others.from, banks))};
}

/* ceil(work x cycles / lanes), and never less than once `alone`: a single operation in a single bank. */
static uint64_t spread(uint64_t work, uint64_t lanes, uint64_t cycles, uint64_t alone)
{
    uint64_t bound = work / lanes * cycles + pim_divide_up(work % lanes * cycles, lanes);
    return bound > alone ? bound : alone;
}

uint64_t pim_layer_bound(const struct pim_machine *machine, const struct pim_mapped_layer *layer,
                         uint32_t channels)
{
    const struct pim_workload *workload = &layer->workload;
    uint64_t lanes = (uint64_t)channels * machine->banks * machine->columns, all = machine->banks;
    uint64_t outputs = (uint64_t)workload->size[PIM_N] * workload->size[PIM_K] * workload->size[PIM_P] *
                       workload->size[PIM_Q];
    if (layer->product)
        return spread(pim_workload_products(workload), lanes, pim_machine_multiply(machine, all),
                      pim_machine_multiply(machine, 1));
    uint64_t of_all = layer->each.multiplications * pim_machine_multiply(machine, all) +
                      layer->each.additions * pim_machine_add(machine, all);
    uint64_t alone = layer->each.multiplications * pim_machine_multiply(machine, 1) +
                     layer->each.additions * pim_machine_add(machine, 1);
    uint64_t bound = spread(outputs, lanes, of_all, alone);
    return bound > 0 ? bound : 1;
}
