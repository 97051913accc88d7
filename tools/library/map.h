/*
 * Mapping as `pimsim map`, sweeps and libpimsim do it: files are read, any mapper is called in this process,
 * and simulated candidates run on the models.
 */
#ifndef PIMSIM_TOOLS_LIBRARY_MAP_H
#define PIMSIM_TOOLS_LIBRARY_MAP_H

#include "mappers/machine/network.h"
#include "mappers/mappers.h"
#include "models/system/hardware.h"
#include "sim/configuration/configuration.h"

struct pim_map_request {
    const struct pim_mapper *mapper;
    const void *options; /* of the mapper (pim_mapper_options) */
    const char *network; /* path of a descriptor, an ONNX file (*.onnx) or a layer table (*.csv) */
    const char *const *network_sets; /* "network.key=value" */
    size_t network_set_count;
    const char *const *dimensions; /* "name=size", of ONNX files */
    size_t dimension_count;
    const struct pim_configuration *configuration; /* of the hardware; complete */
    const char *output;                            /* path of the trace; NULL: none is written */
    /* Another trace of the same job: where it can be known, another job is refused (PIM_USAGE) before
       anything is searched, and else when the trace is written; NULL: there is none. */
    const struct pim_trace_description *job;
};

/* What mappers know of the network of a hardware. */
struct pim_machine_network pim_map_way(const struct pim_hardware *hardware);

/* The network of a request, whose other parts are not looked at. The caller destroys *network. */
enum pim_status pim_map_read_network(const struct pim_map_request *request, struct pim_network **network,
                                     struct pim_error *error);

/* A mapping with all that it was made of. */
struct pim_map;

/*
 * Reads the network, plans, and writes the trace. Everything in the request is borrowed until
 * pim_map_destroy(). On failure *map is NULL; PIM_USAGE for options that do nothing, else the errors of
 * network, hardware and mapper.
 */
enum pim_status pim_map_create(const struct pim_map_request *request, struct pim_map **map,
                               struct pim_error *error);
void pim_map_destroy(struct pim_map *map);

/* The key of a setting that its estimate, and with it its choice, knows only roughly; NULL: none. */
const char *pim_map_rough(const struct pim_map *map);

/* Whether the network is an ONNX file in which a vision transformer was recognised: what is mapped, and
 * checked, is the network of its descriptor. */
bool pim_map_is_recognised(const struct pim_map *map);

enum pim_status pim_map_print(struct pim_map *map, FILE *file, struct pim_error *error);
enum pim_status pim_map_write_json(struct pim_map *map, FILE *file, struct pim_error *error);
enum pim_status pim_map_estimate(struct pim_map *map, struct pim_mapper_estimate *estimate,
                                 struct pim_error *error);

#endif
