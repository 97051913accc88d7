/* Any bytes as a configuration file of BookSim 2: refused with a message, or a network that can be made. */
#include "models/booksim/booksim.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_booksim booksim;
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = pim_booksim_parse((const char *)data, size, "input", &booksim, &error);
    if ((status == PIM_OK) != (error.text[0] == '\0'))
        abort();
    if (status != PIM_OK || pim_noc_nodes(&booksim.noc) > 4096)
        return 0;
    struct pim_noc *noc;
    if (pim_noc_create(&booksim.noc, NULL, 1, NULL, &noc, &error) != PIM_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    pim_noc_destroy(noc);
    return 0;
}
