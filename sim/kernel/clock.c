/* The common tick of several clocks. */
#include "sim/kernel/clock.h"

#include "sim/integer.h"

#include <inttypes.h>

enum pim_status pim_clock_ticks_per_second(const uint64_t *khz, size_t count, const char *const *where,
                                           uint64_t *ticks_per_second, pim_time *periods,
                                           struct pim_error *error)
{
    const uint64_t limit = PIM_CLOCK_MAX_HZ / 1000;
    uint64_t common = 1; /* kHz */
    for (size_t i = 0; i < count; i++) {
        const char *name = where ? where[i] : "clock";
        if (khz[i] == 0 || khz[i] > limit)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: a frequency of %" PRIu64 " kHz: allowed are 1 to %" PRIu64 " kHz", name,
                            khz[i], limit);
        uint64_t factor = khz[i] / pim_greatest_divisor(common, khz[i]);
        if (factor > limit / common)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: %" PRIu64 " kHz and the clocks before it (least common multiple %" PRIu64
                            " kHz) need a common tick below a femtosecond: choose frequencies with a larger "
                            "common divisor",
                            name, khz[i], common);
        common *= factor;
    }
    if (count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "no clock: at least one frequency is needed");
    for (size_t i = 0; i < count; i++)
        periods[i] = common / khz[i];
    *ticks_per_second = common * 1000;
    return PIM_OK;
}
