/*
 * Sources: every flow knows the cycle of its next packet; a heap has the earliest. Bernoulli trials that fail
 * are not made one by one: the number of failures before a success is drawn at once (geometric), which has
 * the same distribution.
 */
#include "models/traffic/traffic.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* What all flows of a class share. */
struct process {
    const struct pim_traffic_class *class; /* NULL for flows of a matrix */
    uint32_t network_class;
    struct pim_geometric trial;   /* successes while on */
    struct pim_geometric on, off; /* lengths of the two states */
    bool bursts;
    uint32_t sizes;
    uint64_t size[PIM_TRAFFIC_SIZES];
    uint64_t size_threshold[PIM_TRAFFIC_SIZES]; /* cumulative, for a number below 2^53 */
};

struct flow {
    struct process *process;
    uint32_t source;
    uint32_t destination; /* of a matrix flow */
    struct pim_random random;
    uint64_t cycle;    /* of the next packet */
    uint64_t on_until; /* bursts: first cycle in which it is off again */
};

struct pim_sources {
    const struct pim_noc_configuration *noc;
    struct process *processes;
    struct flow *flows;
    uint32_t flow_count;
    uint32_t *heap; /* flows by (cycle, index) */
    uint32_t class_count;
};

/* --- process --- */

static double mean_size(const struct process *process, const double *weight)
{
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < process->sizes; i++) {
        sum += weight[i] * (double)process->size[i];
        weights += weight[i];
    }
    return sum / weights;
}

static enum pim_status set_sizes(struct process *process, const struct pim_traffic_class *class, double *mean,
                                 struct pim_error *error)
{
    static const double one = 1.0;
    process->sizes = class && class->sizes ? class->sizes : 1;
    double total = 0, sum = 0;
    for (uint32_t i = 0; i < process->sizes; i++) {
        process->size[i] = class && class->sizes ? class->size[i] : 1;
        if (process->size[i] == 0 || process->size[i] > UINT32_MAX)
            return pim_fail(error, PIM_BAD_INPUT,
                            "a packet of %" PRIu64 " flits: 1 to %" PRIu32 " are possible", process->size[i],
                            UINT32_MAX);
        total += class && class->sizes ? class->weight[i] : 1;
    }
    if (!(total > 0))
        return pim_fail(error, PIM_BAD_INPUT, "the weights of the packet sizes are not positive");
    for (uint32_t i = 0; i < process->sizes; i++) {
        sum += class && class->sizes ? class->weight[i] : 1;
        process->size_threshold[i] =
            i + 1 == process->sizes ? UINT64_C(1) << 53 : (uint64_t)(sum / total * 0x1p53);
    }
    *mean = mean_size(process, class && class->sizes ? class->weight : &one);
    return PIM_OK;
}

/* `rate`: packets per cycle on average. */
static enum pim_status set_rate(struct process *process, double rate, double on, double off,
                                struct pim_error *error)
{
    process->bursts = on > 0 || off > 0;
    double trial = rate;
    if (process->bursts) {
        if (!(on > 0 && on <= 1 && off > 0 && off <= 1))
            return pim_fail(error, PIM_BAD_INPUT,
                            "on-off traffic: both probabilities must be above 0 and at most 1");
        trial = rate * (on + off) / on; /* it is on for on / (on + off) of the time */
        pim_geometric_initialize(&process->on, off);
        pim_geometric_initialize(&process->off, on);
    }
    if (!(rate > 0 && trial <= 1))
        return pim_fail(
            error, PIM_BAD_INPUT,
            "a rate of %g packets per node and cycle is not possible: more than 0 and at most %g is", rate,
            process->bursts ? on / (on + off) : 1.0);
    if (trial < 0x1p-50)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a rate of %g packets per node and cycle is too small to be drawn", rate);
    pim_geometric_initialize(&process->trial, trial);
    return PIM_OK;
}

/* The cycle of the next success at or after `from`. */
static uint64_t next_success(struct flow *flow, uint64_t from)
{
    struct process *process = flow->process;
    uint64_t cycle = from + pim_geometric_next(&process->trial, &flow->random);
    while (process->bursts && cycle >= flow->on_until) {
        /*
         * The success falls into an off time: it is drawn anew in the next on time (trials have no memory).
         */
        uint64_t on_from = flow->on_until + 1 + pim_geometric_next(&process->off, &flow->random);
        flow->on_until = on_from + 1 + pim_geometric_next(&process->on, &flow->random);
        cycle = on_from + pim_geometric_next(&process->trial, &flow->random);
    }
    return cycle;
}

/* --- heap --- */

static bool earlier(const struct pim_sources *sources, uint32_t a, uint32_t b)
{
    uint64_t x = sources->flows[a].cycle, y = sources->flows[b].cycle;
    return x != y ? x < y : a < b;
}

static void sift_down(struct pim_sources *sources, uint32_t place)
{
    uint32_t *heap = sources->heap, count = sources->flow_count, moving = heap[place];
    for (;;) {
        uint64_t child = 2 * (uint64_t)place + 1;
        if (child >= count)
            break;
        uint32_t least = (uint32_t)child;
        if (child + 1 < count && earlier(sources, heap[child + 1], heap[child]))
            least++;
        if (!earlier(sources, heap[least], moving))
            break;
        heap[place] = heap[least];
        place = least;
    }
    heap[place] = moving;
}

/* --- all --- */

static enum pim_status check_network_class(const struct pim_sources *sources, uint32_t class,
                                           struct pim_error *error)
{
    uint32_t classes = sources->noc->classes ? sources->noc->classes : 1;
    if (class < classes)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "traffic of class %" PRIu32 ": noc.classes gives the network %" PRIu32 " class%s", class,
                    classes, classes == 1 ? "" : "es");
}

static enum pim_status make_classes(struct pim_sources *sources,
                                    const struct pim_traffic_configuration *configuration,
                                    struct pim_random *random, struct pim_error *error)
{
    uint32_t nodes = pim_noc_nodes(sources->noc);
    for (uint32_t i = 0; i < configuration->class_count; i++) {
        const struct pim_traffic_class *class = &configuration->classes[i];
        struct process *process = &sources->processes[i];
        double mean;
        process->class = class;
        process->network_class = class->network_class;
        if (check_network_class(sources, class->network_class, error) != PIM_OK ||
            pim_pattern_check(sources->noc, class, error) != PIM_OK ||
            set_sizes(process, class, &mean, error) != PIM_OK ||
            set_rate(process, class->rate_in_packets ? class->rate : class->rate / mean, class->on,
                     class->off, error) != PIM_OK)
            return error->status;
        for (uint32_t node = 0; node < nodes; node++)
            sources->flows[sources->flow_count++] =
                (struct flow){.process = process, .source = node, .random = pim_random_split(random)};
    }
    return PIM_OK;
}

static enum pim_status make_flows(struct pim_sources *sources,
                                  const struct pim_traffic_configuration *configuration,
                                  struct pim_random *random, struct pim_error *error)
{
    for (uint32_t i = 0; i < configuration->flow_count; i++) {
        const struct pim_traffic_flow *flow = &configuration->flows[i];
        struct process *process = &sources->processes[configuration->class_count + i];
        double mean;
        const struct pim_traffic_class *like = configuration->flow_class;
        process->network_class = like ? like->network_class : 0;
        if (check_network_class(sources, process->network_class, error) != PIM_OK ||
            set_sizes(process, like, &mean, error) != PIM_OK ||
            set_rate(process, flow->rate / mean, like ? like->on : 0, like ? like->off : 0, error) != PIM_OK)
            return pim_fail_in(error, "flow %" PRIu32 " -> %" PRIu32, flow->source, flow->destination);
        sources->flows[sources->flow_count++] = (struct flow){.process = process,
                                                              .source = flow->source,
                                                              .destination = flow->destination,
                                                              .random = pim_random_split(random)};
    }
    return PIM_OK;
}

enum pim_status pim_sources_create(const struct pim_noc_configuration *noc,
                                   const struct pim_traffic_configuration *configuration,
                                   struct pim_sources **out, struct pim_error *error)
{
    *out = NULL;
    size_t processes = (size_t)configuration->class_count + configuration->flow_count;
    size_t flows = (size_t)pim_noc_nodes(noc) * configuration->class_count + configuration->flow_count;
    struct pim_sources *sources = calloc(1, sizeof *sources);
    if (sources) {
        sources->noc = noc;
        sources->class_count = configuration->class_count;
        sources->processes = calloc(processes + 1, sizeof *sources->processes);
        sources->flows = calloc(flows + 1, sizeof *sources->flows);
        sources->heap = calloc(flows + 1, sizeof *sources->heap);
    }
    if (!sources || !sources->processes || !sources->flows || !sources->heap) {
        pim_sources_destroy(sources);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %zu flows", flows);
    }
    struct pim_random random;
    pim_random_initialize(&random, configuration->seed);
    if (make_classes(sources, configuration, &random, error) != PIM_OK ||
        make_flows(sources, configuration, &random, error) != PIM_OK) {
        pim_sources_destroy(sources);
        return error->status;
    }
    for (uint32_t i = 0; i < sources->flow_count; i++) {
        sources->flows[i].cycle = next_success(&sources->flows[i], 0);
        sources->heap[i] = i;
    }
    for (uint32_t place = sources->flow_count / 2; place-- > 0;)
        sift_down(sources, place);
    *out = sources;
    return PIM_OK;
}

void pim_sources_destroy(struct pim_sources *sources)
{
    if (!sources)
        return;
    free(sources->processes);
    free(sources->flows);
    free(sources->heap);
    free(sources);
}

uint64_t pim_sources_next(const struct pim_sources *sources)
{
    return sources->flow_count ? sources->flows[sources->heap[0]].cycle : UINT64_MAX;
}

uint32_t pim_sources_take(struct pim_sources *sources, struct pim_listed_packet *packet)
{
    assert(sources->flow_count > 0);
    struct flow *flow = &sources->flows[sources->heap[0]];
    const struct process *process = flow->process;
    uint32_t size = 0;
    if (process->sizes > 1) {
        uint64_t draw = pim_random_next(&flow->random) >> 11;
        while (draw >= process->size_threshold[size])
            size++;
    }
    packet->tag = (struct pim_noc_tag){.task = PIM_NOC_NO_TASK, .class = process->network_class};
    packet->cycle = flow->cycle;
    packet->source = flow->source;
    packet->flits = process->size[size];
    packet->destination =
        process->class ? pim_pattern_destination(sources->noc, process->class, flow->source, &flow->random)
                       : flow->destination;
    flow->cycle = next_success(flow, flow->cycle + 1);
    sift_down(sources, 0);
    ptrdiff_t number = process - sources->processes;
    return (uint32_t)number < sources->class_count ? (uint32_t)number : sources->class_count;
}
