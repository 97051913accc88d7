/*
 * Any bytes as an ONNX file. What is refused must have a message; what is accepted must be a graph that
 * passes its own check, must be writable again or be refused with a message, and is a vision transformer or
 * refused as one with a message.
 */
#include "mappers/network/onnx/onnx.h"
#include "mappers/network/recognition/recognition.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *network;
    const struct pim_onnx_options options = {.allow_unknown = size % 2 == 0};
    enum pim_status status = pim_onnx_parse("fuzz.onnx", data, size, &options, &network, &error);
    require((status == PIM_OK) == (network != NULL), "status and network differ", &error);
    if (!network) {
        require(error.text[0] != '\0', "refused without a message", &error);
        return 0;
    }
    status = pim_graph_check(&network->graph, &error);
    require(status == PIM_OK, "the graph is not sound", &error);
    FILE *file = tmpfile();
    if (!file)
        abort();
    status = pim_onnx_write(network, file, &error);
    require(status == PIM_OK || error.text[0] != '\0', "not written, without a message", &error);
    (void)fclose(file);
    struct pim_network *transformer;
    status = pim_transformer_recognise(network, &transformer, &error);
    require((status == PIM_OK) == (transformer != NULL), "status and transformer differ", &error);
    require(transformer || error.text[0] != '\0', "not recognised, without a message", &error);
    pim_network_destroy(transformer);
    pim_network_destroy(network);
    return 0;
}
