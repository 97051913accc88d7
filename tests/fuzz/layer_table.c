/* Any bytes as a layer table of SCALE-Sim: refused with a message, or a network whose graph is sound. */
#include "mappers/network/layer_table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_network *network;
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = pim_layer_table_parse("input.csv", (const char *)data, size, &network, &error);
    if ((status == PIM_OK) != (error.text[0] == '\0') || (status == PIM_OK) != (network != NULL))
        abort();
    if (status == PIM_OK && pim_graph_check(&network->graph, &error) != PIM_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    pim_network_destroy(network);
    return 0;
}
