"""Writes graph models of TensorFlow.js: the nodes and a list of the weights as JSON, the weights with 16 bits."""

import base64
import json
import pathlib

import numpy

FLOAT, INT = "DT_FLOAT", "DT_INT32"


def shape(sizes):
    return {"dim": [{"size": str(size)} for size in sizes]}


def attribute(key, value):
    encoded = lambda text: base64.b64encode(text.encode()).decode()
    if key in ("T", "Tidx", "dtype"):
        return {"type": value}
    if isinstance(value, bool):
        return {"b": value}
    if isinstance(value, int):
        return {"i": str(value)}
    if isinstance(value, str):
        return {"s": encoded(value)}
    if isinstance(value[0], str):
        return {"list": {"s": [encoded(text) for text in value]}}
    return {"list": {"i": [str(number) for number in value]}}


class GraphModel:
    """The graph of a model that looks at one square, the node 'picture', with `side` pixels a side of `channels` values each."""

    def __init__(self, side, channels=3):
        self.side, self.channels = side, channels
        self.nodes, self.manifest, self.data = [], [], []
        picture = {"dtype": {"type": FLOAT}, "shape": {"shape": shape((1, side, side, channels))}}
        self.nodes.append({"name": "picture", "op": "Placeholder", "attr": picture})

    def node(self, name, op, inputs, **attributes):
        attr = {key: attribute(key, value) for key, value in attributes.items()}
        self.nodes.append({"name": name, "op": op, "input": inputs, "attr": {"T": {"type": FLOAT}, **attr}})
        return name

    def constant(self, name, value):
        """A constant; the same as before for a name that is known."""
        if any(entry["name"] == name for entry in self.manifest):
            return name
        kind = INT if value.dtype == numpy.int32 else FLOAT
        tensor = {"dtype": kind, "tensorShape": shape(value.shape)}
        attr = {"dtype": {"type": kind}, "value": {"tensor": tensor}}
        self.nodes.append({"name": name, "op": "Const", "attr": attr})
        entry = {"name": name, "shape": list(value.shape), "dtype": value.dtype.name}
        if kind == FLOAT:
            entry["quantization"] = {"dtype": "float16", "original_dtype": "float32"}
            value = value.astype("<f2")
        self.manifest.append(entry)
        self.data.append(value.tobytes())
        return name

    def convolution(self, source, kernel, bias, relu, spread=1):
        """A convolution with a kernel as in PyTorch and ONNX: outputs, inputs, rows, columns."""
        name = f"conv_{sum(entry['op'] == '_FusedConv2D' for entry in self.nodes) + 1}"
        kernel = self.constant(f"{name}/kernel", kernel.transpose(2, 3, 1, 0).copy())
        return self.node(
            name,
            "_FusedConv2D",
            [source, kernel, self.constant(f"{name}/bias", bias)],
            strides=[1, 1, 1, 1],
            padding="SAME",
            data_format="NHWC",
            dilations=[1, spread, spread, 1],
            num_args=1,
            fused_ops=["BiasAdd", "Relu"] if relu else ["BiasAdd"],
        )

    def half(self, name, source):
        """The greatest of each two by two values."""
        window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}
        return self.node(name, "MaxPool", [source], padding="SAME", data_format="NHWC", **window)

    def resized(self, name, source, side):
        size = self.constant(f"size_{side}", numpy.array([side, side], numpy.int32))
        return self.node(name, "ResizeBilinear", [source, size], half_pixel_centers=True)

    def joined(self, name, sources):
        """All channels of the sources."""
        channels = self.constant("channels", numpy.array(3, numpy.int32))
        return self.node(name, "ConcatV2", [*sources, channels], N=len(sources), Tidx=INT)

    def write(self, name, output, origin, depth=1):
        """Writes `name`.json and `name`.bin here; the output is `depth` values for each pixel."""

        def end(node, depth):
            value, sizes = f"{node}:0", (1, self.side, self.side, depth)
            return {value: {"name": value, "dtype": FLOAT, "tensorShape": shape(sizes)}}

        topology = {
            "format": "graph-model",
            "generatedBy": origin,
            "signature": {"inputs": end("picture", self.channels), "outputs": end(output, depth)},
            "modelTopology": {"node": self.nodes, "versions": {}},
            "weightsManifest": [{"paths": [f"{name}.bin"], "weights": self.manifest}],
        }
        folder = pathlib.Path(__file__).parent
        (folder / f"{name}.json").write_text(json.dumps(topology, separators=(",", ":")) + "\n")
        (folder / f"{name}.bin").write_bytes(b"".join(self.data))
