/* What a point of a system says in comparable terms. */
#include "models/system/system.h"
#include "tools/sweep/result.h"
#include "tools/systems/terms.h"

#include <math.h>

#define NANOSECONDS 1e9

/* Multiply-accumulates of one image, of however many the network works at once. */
static enum pim_status count_macs(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                  double *macs, struct pim_error *error)
{
    struct pim_network *network = NULL;
    if (pim_sweep_read_network(sweep, point, false, &network, error) != PIM_OK)
        return error->status;
    *macs = (double)network->graph.macs / (double)pim_graph_images(&network->graph);
    pim_network_destroy(network);
    return PIM_OK;
}

static enum pim_status terms_of(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                struct pim_system_terms *terms, struct pim_error *error)
{
    const struct pim_system_row *row = &sweep->systems.rows[sweep->sources[point->source].system];
    struct pim_configuration *configuration;
    if (pim_sweep_configure(sweep, point, false, &configuration, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_system_terms_of(row, configuration, terms, error);
    pim_configuration_destroy(configuration);
    return status;
}

enum pim_status pim_sweep_result_add_system(struct pim_sweep_result *result, const struct pim_sweep *sweep,
                                            const struct pim_sweep_point *point,
                                            const struct pim_trace *trace, const struct pim_run_result *run,
                                            struct pim_error *error)
{
    const struct pim_sweep_source *source = &sweep->sources[point->source];
    struct pim_system_terms terms = {0};
    double macs = 0;
    if (source->system == PIM_NO_SYSTEM)
        return PIM_OK;
    if (count_macs(sweep, point, &macs, error) != PIM_OK || terms_of(sweep, point, &terms, error) != PIM_OK)
        return error->status;
    /* A trace says how much of the network it works; what a mapper pads or counts in its own way is less
       than an image. */
    double samples = fmax(1, round((double)pim_trace_description(trace)->macs / macs));
    double seconds = run->complete ? (double)run->time_ps * 1e-12 : (double)NAN;
    const struct pim_system_row *row = &sweep->systems.rows[source->system];
    double throughput = samples / seconds;
    double energy = run->complete && !row->energy ? run->energy.total / samples : (double)NAN;
    bool alone = !row->throughput && samples == 1;
    pim_sweep_result_add_integer(result, "system.images", (uint64_t)samples);
    pim_sweep_result_add_real(result, "system.network_macs", macs);
    pim_sweep_result_add_real(result, "system.latency_ns", alone ? seconds * NANOSECONDS : (double)NAN);
    pim_sweep_result_add_real(result, "system.images_per_second", throughput);
    pim_sweep_result_add_real(result, "system.energy_pj", energy);
    pim_sweep_result_add_real(result, "system.utilization", macs * throughput / terms.peak_macs);
#define X(member, key, text) pim_sweep_result_add_real(result, "system." key, terms.member);
    PIM_SYSTEM_TERM_MAP(X)
#undef X
    pim_sweep_result_add_real(result, "system.images_per_second_per_mm2", throughput / terms.area_28nm_mm2);
    pim_sweep_result_add_real(result, "system.energy_28nm_pj",
                              energy * pim_system_energy_factor(terms.technology_nm));
    return PIM_OK;
}
