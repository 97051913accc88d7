#include "models/system/report/report.h"

#include <sys/resource.h>
#include <time.h>

enum pim_status pim_report_write(const struct pim_system *system, const struct pim_run_result *result,
                                 const struct pim_report_inputs *inputs, enum pim_report_format format,
                                 FILE *file, struct pim_error *error)
{
    switch (format) {
    case PIM_REPORT_JSON:
        return pim_report_json(system, result, inputs, file, error);
    case PIM_REPORT_CSV:
        pim_report_csv(system, result, inputs, file);
        break;
    case PIM_REPORT_TEXT:
        return pim_report_text(system, result, inputs, file, error);
    }
    return PIM_OK;
}

void pim_host_usage(double *cpu_seconds, uint64_t *peak_memory_bytes)
{
    struct timespec time = {0};
    struct rusage usage = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    (void)getrusage(RUSAGE_SELF, &usage);
    *cpu_seconds = (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
    *peak_memory_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

uint64_t pim_phase_mean_cycles(const struct pim_system *system, uint32_t phase)
{
    const struct pim_phase_result *result = &system->phases[phase];
    return result->units ? pim_system_cycles(system, result->time_sum / result->units) : 0;
}
