#include "tools/library/map.h"

#include "tools/library/bits.h"
#include "tools/library/rough.h"
#include "tools/library/tiles.h"

#include "mappers/machine/nodes.h"
#include "mappers/network/layer_table.h"
#include "mappers/network/onnx/onnx.h"
#include "mappers/network/recognition/recognition.h"
#include "mappers/network/source.h"
#include "models/cost/read.h"
#include "models/system/read.h"
#include "models/system/system.h"
#include "sim/try.h"
#include "traces/file/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct pim_map {
    struct pim_network *network;
    char *configuration; /* canonical text */
    struct pim_hardware hardware;
    struct pim_estimate_hardware nodes;
    struct pim_mapper_inputs inputs;
    struct pim_mapping mapping;
    bool recognised; /* the network, in an ONNX file */
};

static enum pim_status read_onnx(const struct pim_map_request *request, struct pim_network **network,
                                 struct pim_error *error)
{
    const struct pim_onnx_options onnx = {.dimensions = request->dimensions,
                                          .count = request->dimension_count};
    struct pim_network *read = NULL;
    struct pim_error reason;
    enum pim_status status = pim_onnx_read(request->network, &onnx, &read, error);
    if (status != PIM_OK || request->mapper->transformers == PIM_TRANSFORMERS_AS_READ) {
        *network = read;
        return status;
    }
    status = pim_transformer_recognise(read, network, &reason);
    if (status == PIM_BAD_INPUT && request->mapper->transformers != PIM_TRANSFORMERS_ALONE) {
        *network = read;
        return PIM_OK;
    }
    pim_network_destroy(read);
    return status == PIM_OK ? PIM_OK
                            : pim_fail(error, status, "%s: mapper %s: %s", request->network,
                                       request->mapper->name, reason.text);
}

enum pim_status pim_map_read_network(const struct pim_map_request *request, struct pim_network **network,
                                     struct pim_error *error)
{
    const char *path = request->network;
    const enum pim_network_source source = pim_network_source_of(path);
    const char *kind = pim_network_source_name(source);
    *network = NULL;
    if (request->mapper->knows && request->mapper->knows(path)) {
        if (request->network_set_count + request->dimension_count == 0)
            return PIM_OK;
        return pim_fail(error, PIM_USAGE, "%s is the name of a network, without keys or sizes to set", path);
    }
    if (source == PIM_NETWORK_TABLE && request->mapper->transformers == PIM_TRANSFORMERS_ALONE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: mapper %s takes vision transformers, from descriptors or ONNX files, this is %s",
                        path, request->mapper->name, kind);
    if (source != PIM_NETWORK_DESCRIPTOR && request->network_set_count > 0)
        return pim_fail(error, PIM_USAGE, "--set is for descriptors: %s has no keys to set", path);
    if (source != PIM_NETWORK_ONNX && request->dimension_count > 0)
        return pim_fail(error, PIM_USAGE, "--dim is for ONNX files: %s is %s", path, kind);
    if (source == PIM_NETWORK_TABLE)
        return pim_layer_table_read(path, network, error);
    return source == PIM_NETWORK_ONNX
               ? read_onnx(request, network, error)
               : pim_network_read(path, request->network_sets, request->network_set_count, network, error);
}

static enum pim_status simulate(void *context, const char *path, uint64_t limit, uint64_t *cycles,
                                bool *complete, struct pim_error *error)
{
    const struct pim_hardware *hardware = context;
    const struct pim_system_options run = {.until_cycle = limit, .quiet = true};
    struct pim_trace *trace = NULL;
    struct pim_system *system = NULL;
    struct pim_run_result result;
    enum pim_status status = pim_trace_open(path, &trace, error);
    if (status == PIM_OK)
        status = pim_system_create(hardware, trace, &run, &system, error);
    if (status == PIM_OK)
        status = pim_system_run(system, error);
    if (status == PIM_OK)
        status = pim_system_collect(system, &result, error);
    if (status == PIM_OK) {
        *complete = result.complete;
        *cycles = result.cycles;
        pim_run_result_terminate(&result);
    }
    pim_system_destroy(system);
    pim_trace_close(trace);
    return status;
}

/* macs 0: not known; an empty `mapping` neither. What is known of both stands in brackets. */
static enum pim_status refuse_job(const struct pim_trace_description *was, const char *network,
                                  const char *mapping, uint64_t macs, struct pim_error *error)
{
    char words[200] = "", work[40] = "";
    if (macs > 0)
        (void)snprintf(work, sizeof work, "%s%" PRIu64 " MACs", mapping[0] != '\0' ? "; " : "", macs);
    if (mapping[0] != '\0' || macs > 0)
        (void)snprintf(words, sizeof words, " (%.150s%s)", mapping, work);
    return pim_fail(error, PIM_USAGE,
                    "the trace is of %.150s (%.150s; %" PRIu64
                    " MACs), its mapper without options makes %.150s%s: --mapper \"%.50s OPTION...\" says "
                    "what is wanted",
                    was->network, was->mapping, was->macs, network, words, was->family);
}

/* Before the search: what the options say already. */
static enum pim_status expect_job(const struct pim_map_request *request,
                                  const struct pim_mapper_inputs *inputs, struct pim_error *error)
{
    const struct pim_trace_description *was = request->job;
    struct pim_mapper_job job = {.macs = {0, 0}};
    if (request->mapper->foresee)
        request->mapper->foresee(inputs, request->options, &job);
    bool work = job.macs[0] == 0 || was->macs == job.macs[0] || was->macs == job.macs[1];
    if (work && (job.network[0] == '\0' || strcmp(was->network, job.network) == 0) &&
        strncmp(was->mapping, job.mapping, strlen(job.mapping)) == 0)
        return PIM_OK;
    return refuse_job(was, job.network, job.mapping, job.macs[0], error);
}

/* A trace has words about the options of its mapper, and the work (of all its samples), not the options: what
 * they do not fit is another job. */
static enum pim_status same_job(const struct pim_map_request *request, struct pim_map *map,
                                struct pim_error *error)
{
    const struct pim_trace_description *was = request->job;
    struct pim_trace_description is;
    if (map->mapping.mapper->describe(map->mapping.plan, &is, error) != PIM_OK)
        return error->status;
    if (strcmp(was->network, is.network) == 0 && strcmp(was->mapping, is.mapping) == 0 &&
        was->macs == is.macs)
        return PIM_OK;
    return refuse_job(was, is.network, is.mapping, is.macs, error);
}

/* The narrower of two widths of links; of a link as wide as a flit the numerator is 0. */
static struct pim_noc_bits narrower(struct pim_noc_bits one, struct pim_noc_bits other)
{
    if (one.numerator == 0 || other.numerator == 0)
        return one.numerator == 0 ? other : one;
    return (uint64_t)one.numerator * other.denominator < (uint64_t)other.numerator * one.denominator ? one
                                                                                                     : other;
}

/* Without contention, as in an ideal network, nobody needs it. Layers are taken for rows of one. */
static enum pim_machine_order order_of(const struct pim_noc_configuration *noc)
{
    if (noc->fidelity == PIM_NOC_IDEAL || (noc->topology != PIM_NOC_MESH && noc->topology != PIM_NOC_TORUS))
        return PIM_MACHINE_NO_ORDER;
    return noc->routing == PIM_NOC_YX ? PIM_MACHINE_Y_FIRST : PIM_MACHINE_X_FIRST;
}

/* F bits over n / d bits in a cycle: F d / n cycles; as wide as a flit: 0 by 0. */
static void hold(const struct pim_noc_configuration *noc, struct pim_noc_bits link, uint64_t *cycles,
                 uint64_t *by)
{
    const uint64_t flit = (uint64_t)noc->flit_bits * link.denominator;
    if (link.numerator == 0 || flit <= link.numerator)
        return;
    *cycles = flit;
    *by = link.numerator;
}

struct pim_machine_network pim_map_way(const struct pim_hardware *hardware)
{
    const struct pim_zero_load *zero_load = &hardware->node.zero_load;
    struct pim_machine_network network = {.fixed = (int64_t)zero_load->fixed,
                                          .per_router = zero_load->per_router,
                                          .order = order_of(&hardware->noc),
                                          .ideal = hardware->noc.fidelity == PIM_NOC_IDEAL,
                                          .wraps = hardware->noc.topology == PIM_NOC_TORUS,
                                          .detours = hardware->noc.routing == PIM_NOC_VALIANT,
                                          .concentration = hardware->noc.concentration};
    const struct pim_noc_configuration *noc = &hardware->noc;
    const uint64_t loop = pim_noc_credit_loop(noc);
    if (noc->topology == PIM_NOC_MESH || noc->topology == PIM_NOC_TORUS) {
        network.columns = noc->width;
        network.rows = noc->height;
    }
    hold(noc, narrower(noc->link_bits, noc->terminal_bits), &network.flit_cycles, &network.flit_cycles_by);
    hold(noc, noc->link_bits, &network.link_cycles, &network.link_cycles_by);
    hold(noc, noc->terminal_bits, &network.terminal_cycles, &network.terminal_cycles_by);
    if (noc->fidelity == PIM_NOC_FLIT && loop > noc->buffer_flits) { /* the others have no credits */
        network.worm_cycles = loop;
        network.worm_flits = noc->buffer_flits;
    }
    return network;
}

static enum pim_status make(const struct pim_map_request *request, struct pim_map *map,
                            struct pim_error *error)
{
    if (request->mapper->accept &&
        request->mapper->accept(request->options, request->output != NULL, error) != PIM_OK)
        return error->status;
    if (pim_map_read_network(request, &map->network, error) != PIM_OK ||
        pim_cost_check_mapped(request->configuration, error) != PIM_OK ||
        pim_hardware_read(request->configuration, &map->hardware, error) != PIM_OK)
        return error->status;
    map->recognised = pim_network_source_of(request->network) == PIM_NETWORK_ONNX && map->network &&
                      map->network->transformer;
    map->configuration = pim_configuration_write(request->configuration, false);
    if (!map->configuration)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the configuration");
    const struct pim_machine_network network = pim_map_way(&map->hardware);
    if (pim_machine_nodes_read(request->configuration, &network, &map->nodes, error) != PIM_OK)
        return error->status;
    map->inputs = (struct pim_mapper_inputs){.network = map->network,
                                             .configuration = request->configuration,
                                             .configuration_text = map->configuration,
                                             .nodes = &map->nodes,
                                             .known = map->network ? NULL : request->network,
                                             .simulate = simulate,
                                             .tiles = &pim_tiles_simulator,
                                             .execute = pim_bits_execute,
                                             .simulator = &map->hardware};
    if ((request->job && expect_job(request, &map->inputs, error) != PIM_OK) ||
        pim_mapping_make(request->mapper, &map->inputs, request->options, &map->mapping, error) != PIM_OK ||
        pim_mapping_write(&map->mapping, request->output, error) != PIM_OK)
        return error->status;
    return request->job ? same_job(request, map, error) : PIM_OK;
}

enum pim_status pim_map_create(const struct pim_map_request *request, struct pim_map **map,
                               struct pim_error *error)
{
    struct pim_map *made = calloc(1, sizeof *made);
    *map = NULL;
    if (!made)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a mapping");
    if (make(request, made, error) != PIM_OK) {
        pim_map_destroy(made);
        return error->status;
    }
    *map = made;
    return PIM_OK;
}

void pim_map_destroy(struct pim_map *map)
{
    if (!map)
        return;
    pim_mapping_terminate(&map->mapping);
    pim_network_destroy(map->network);
    free(map->configuration);
    free(map);
}

const char *pim_map_rough(const struct pim_map *map)
{
    return pim_rough_key(map->mapping.mapper, &map->hardware);
}

bool pim_map_is_recognised(const struct pim_map *map)
{
    return map->recognised;
}

/* A plan that was written need not have been estimated. */
static enum pim_status be_estimated(struct pim_map *map, struct pim_error *error)
{
    struct pim_mapper_estimate ignored;
    return pim_map_estimate(map, &ignored, error);
}

enum pim_status pim_map_print(struct pim_map *map, FILE *file, struct pim_error *error)
{
    PIM_TRY(be_estimated(map, error));
    return map->mapping.mapper->print(map->mapping.plan, file, error);
}

enum pim_status pim_map_write_json(struct pim_map *map, FILE *file, struct pim_error *error)
{
    PIM_TRY(be_estimated(map, error));
    return map->mapping.mapper->write_json(map->mapping.plan, file, error);
}

enum pim_status pim_map_estimate(struct pim_map *map, struct pim_mapper_estimate *estimate,
                                 struct pim_error *error)
{
    return map->mapping.mapper->estimate(map->mapping.plan, estimate, error);
}
