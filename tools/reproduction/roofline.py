"""A V100 as a roofline: a model of the card, and no measurement."""

GPU = {"name": "V100", "flops": 15.7e12, "bandwidth": 900e9, "bytes": 4}
MOVES_NOTHING = {"input", "parameter", "reshape", "transpose", "window_partition", "window_reverse", "shift", "slice"}


def seconds(network_json, batch=1):
    """Of `batch` images: each layer takes the longer of its arithmetic and its traffic, 4-byte elements; weights are read once."""
    size, total = {}, 0.0
    for layer in network_json["layers"]:
        elements = 1
        for dimension in layer["output_shape"]:
            elements *= dimension
        size[layer["name"]] = elements
        if layer["operator"] in MOVES_NOTHING:
            continue
        traffic = batch * (elements + sum(size[name] for name in layer["inputs"])) + layer["parameters"]
        total += max(2 * batch * layer["macs"] / GPU["flops"], traffic * GPU["bytes"] / GPU["bandwidth"])
    return total
