/* What a file of a network is, by the end of its name. */
#ifndef PIMSIM_MAPPERS_NETWORK_SOURCE_H
#define PIMSIM_MAPPERS_NETWORK_SOURCE_H

#include <stddef.h>
#include <string.h>

enum pim_network_source {
    PIM_NETWORK_DESCRIPTOR,
    PIM_NETWORK_ONNX, /* .onnx */
    PIM_NETWORK_TABLE /* .csv: layers of SCALE-Sim (layer_table.h) */
};

static inline enum pim_network_source pim_network_source_of(const char *path)
{
    const size_t length = strlen(path);
    if (length > strlen(".onnx") && strcmp(path + length - strlen(".onnx"), ".onnx") == 0)
        return PIM_NETWORK_ONNX;
    if (length > strlen(".csv") && strcmp(path + length - strlen(".csv"), ".csv") == 0)
        return PIM_NETWORK_TABLE;
    return PIM_NETWORK_DESCRIPTOR;
}

/* For messages: "an ONNX file". */
static inline const char *pim_network_source_name(enum pim_network_source source)
{
    static const char *const names[] = {"a descriptor", "an ONNX file", "a layer table"};
    return names[source];
}

#endif
