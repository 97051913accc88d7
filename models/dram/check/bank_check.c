/* What a burst must be before it is simulated. */
#include "models/cost/bank.h"

#include <inttypes.h>

enum pim_status pim_bank_check_burst(const struct pim_bank_rules *rules, const struct pim_burst *burst,
                                     struct pim_error *error)
{
    if (burst->bytes == 0 || burst->count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "burst of %" PRIu32 " pieces of %" PRIu32 " bytes is empty",
                        burst->count, burst->bytes);
    if (burst->count > 1 && burst->stride < burst->bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "burst of %" PRIu32 " pieces of %" PRIu32 " bytes has stride %" PRIu32
                        ": pieces overlap, the stride must be at least the size of a piece",
                        burst->count, burst->bytes, burst->stride);
    uint64_t length = (uint64_t)(burst->count - 1) * burst->stride + burst->bytes; /* below 2^64 */
    if (burst->address >= rules->capacity_bytes || length > rules->capacity_bytes - burst->address)
        return pim_fail(error, PIM_BAD_INPUT,
                        "burst at address %" PRIu64 " is %" PRIu64 " bytes long: the memory ends at %" PRIu64,
                        burst->address, length, rules->capacity_bytes);
    return PIM_OK;
}
