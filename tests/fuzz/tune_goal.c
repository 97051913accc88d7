/* Any text as a goal of the tuner: refused with a message, or exponents within their bounds and a cost that
 * is a number. */
#include "tools/tune/goal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_tune_goal goal;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (pim_tune_goal_parse(text, &goal, &error) != PIM_OK) {
        if (error.text[0] == '\0')
            abort();
    } else if (!(goal.energy >= 0 && goal.energy <= PIM_TUNE_EXPONENT_MOST && goal.latency >= 0 &&
                 goal.latency <= PIM_TUNE_EXPONENT_MOST && goal.energy + goal.latency > 0) ||
               !isfinite(pim_tune_cost(&goal, 1e12, 1e9)) || !(pim_tune_cost(&goal, 1e9, 1e6) == 1)) {
        abort();
    }
    free(text);
    return 0;
}
