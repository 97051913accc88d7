#include "tools/command/noc/tasks_request.h"

#include <math.h>

enum pim_status tasks_check_effects(const struct request *request, struct pim_error *error)
{
    const bool saf = request->switching == PIM_SWITCHING_SAF, ideal = request->options.ideal;
    const bool table = request->routing == PIM_CONFLICT_TABLE;
    const bool adaptive = request->routing == PIM_CONFLICT_ADAPTIVE;
    static const char detours[] = "--routing adaptive on links that can be busy (no --ideal)";
    const struct {
        bool given, wanted;
        const char *option, *of;
    } effects[] = {
        {request->options.half_duplex, saf && !ideal, "half-duplex",
         "--switching saf without --ideal: in path_hold the directions of a link always exclude each other, "
         "ideal ones never"},
        {request->options.router_delay_ns > 0, saf, "router-delay", "--switching saf"},
        {request->router_packets > 0, saf && !ideal, "router-packets", "--switching saf without --ideal"},
        {request->arbiter != TASKS_NOT_GIVEN, !ideal && !(saf && table), "arbiter",
         "packets that compete: with --ideal they do not, and in saf with --routing table the table decides"},
        {!isnan(request->detour), adaptive && !ideal, "detour", detours},
        {request->slack != TASKS_NO_NUMBER, adaptive && !ideal, "slack", detours},
        {request->count != TASKS_NOT_GIVEN, adaptive && !ideal, "count", detours},
        {request->tie_break != TASKS_NOT_GIVEN, adaptive && !ideal, "tie-break", detours},
        {request->seed != TASKS_NO_NUMBER, request->perturb_percent > 0, "seed", "--perturb"},
    };
    for (size_t i = 0; i < sizeof effects / sizeof effects[0]; i++)
        if (effects[i].given && !effects[i].wanted)
            return pim_fail(error, PIM_USAGE, "--%s is for %s", effects[i].option, effects[i].of);
    if (request->perturb_percent > 0 && request->perturb_percent < 0.05)
        return pim_fail(
            error, PIM_USAGE,
            "--perturb is rounded to tenths of a percent, %g to none: allowed are 0 and 0.05 to 99.9",
            request->perturb_percent);
    return PIM_OK;
}

void tasks_set_defaults(struct request *request)
{
    request->arbiter = request->arbiter == TASKS_NOT_GIVEN ? 0 : request->arbiter;
    request->tie_break = request->tie_break == TASKS_NOT_GIVEN ? 0 : request->tie_break;
    request->count = request->count == TASKS_NOT_GIVEN ? 0 : request->count;
    request->detour = isnan(request->detour) ? 1.8 : request->detour;
    request->slack = request->slack == TASKS_NO_NUMBER ? 2 : request->slack;
    request->seed = request->seed == TASKS_NO_NUMBER ? 1 : request->seed;
}
