"""
Converts U²-Netp from ONNX to a graph model of TensorFlow.js.

    python3 u2netp.py u2netp.onnx 128    # writes u2netp.json and u2netp.bin here

Needs the packages numpy and onnx. The second argument is the side of the square that the model looks at,
in pixels: a multiple of 32. The graph keeps the fused output only, weights have 16 bits, and the nodes in
which a stage ends are named after it.
"""

import base64
import json
import pathlib
import sys

import numpy
import onnx
from onnx import helper, numpy_helper

FLOAT, INT = "DT_FLOAT", "DT_INT32"
STAGES = [*(f"encoder_{n}" for n in range(1, 7)), *(f"decoder_{n}" for n in range(5, 0, -1))]

source, side = sys.argv[1], int(sys.argv[2])
graph = onnx.load(source).graph
initial = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
producers = {output: node for node in graph.node for output in node.output}
nodes, manifest, data = [], [], []
# The names in the new graph of the values in the old one, and the sides of their squares.
names, sides = {}, {}


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


def shape(sizes):
    return {"dim": [{"size": str(size)} for size in sizes]}


def node(name, op, inputs, **attributes):
    attr = {key: attribute(key, value) for key, value in attributes.items()}
    nodes.append({"name": name, "op": op, "input": inputs, "attr": {"T": {"type": FLOAT}, **attr}})
    return name


def constant(name, value):
    kind = INT if value.dtype == numpy.int32 else FLOAT
    tensor = {"dtype": kind, "tensorShape": shape(value.shape)}
    attr = {"dtype": {"type": kind}, "value": {"tensor": tensor}}
    nodes.append({"name": name, "op": "Const", "attr": attr})
    entry = {"name": name, "shape": list(value.shape), "dtype": value.dtype.name}
    if kind == FLOAT:
        entry["quantization"] = {"dtype": "float16", "original_dtype": "float32"}
        value = value.astype("<f2")
    manifest.append(entry)
    data.append(value.tobytes())
    return name


def size(pixels):
    name = f"size_{pixels}"
    known = any(entry["name"] == name for entry in manifest)
    return name if known else constant(name, numpy.array([pixels, pixels], numpy.int32))


def shapes_behind(value):
    """The values whose shapes a size is computed from."""
    found = producers.get(value)
    if found is None:
        return set()
    if found.op_type == "Shape":
        return {found.input[0]}
    return set().union(*(shapes_behind(name) for name in found.input))


picture = {"dtype": {"type": FLOAT}, "shape": {"shape": shape((1, side, side, 3))}}
nodes.append({"name": "picture", "op": "Placeholder", "attr": picture})
# Colours from 0 to 1, as deviations from those of ImageNet.
mean = constant("mean", numpy.array([0.485, 0.456, 0.406], numpy.float32))
deviation = constant("deviation", numpy.array([0.229, 0.224, 0.225], numpy.float32))
node("centred", "Sub", ["picture", mean])
first = graph.input[0].name
names[first], sides[first] = node("normal", "RealDiv", ["centred", deviation]), side
channels = constant("channels", numpy.array(3, numpy.int32))

for old in graph.node:
    value, inputs = old.output[0], list(old.input)
    options = {entry.name: helper.get_attribute_value(entry) for entry in old.attribute}
    known = [names[name] for name in inputs if name in names]
    if not known:
        continue
    sides[value] = sides[inputs[0]]
    if old.op_type == "Conv":
        name = f"conv_{sum(entry['op'] == '_FusedConv2D' for entry in nodes) + 1}"
        kernel = constant(f"{name}/kernel", initial[inputs[1]].transpose(2, 3, 1, 0).copy())
        bias = constant(f"{name}/bias", initial[inputs[2]])
        relu = any(value in entry.input and entry.op_type == "Relu" for entry in graph.node)
        spread = options["dilations"][0]
        names[value] = node(
            name,
            "_FusedConv2D",
            [*known, kernel, bias],
            strides=[1, 1, 1, 1],
            padding="SAME",
            data_format="NHWC",
            dilations=[1, spread, spread, 1],
            num_args=1,
            fused_ops=["BiasAdd", "Relu"] if relu else ["BiasAdd"],
        )
    elif old.op_type == "Relu":
        names[value] = known[0]
    elif old.op_type == "MaxPool":
        window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}
        names[value] = node(f"pool_{value}", "MaxPool", known, padding="SAME", data_format="NHWC", **window)
        sides[value] = (sides[value] + 1) // 2
    elif old.op_type == "Concat":
        names[value] = node(f"concat_{value}", "ConcatV2", [*known, channels], N=len(known), Tidx=INT)
    elif old.op_type == "Add":
        names[value] = node(STAGES.pop(0), "AddV2", known)
    elif old.op_type == "Resize":
        (sides[value],) = {sides[name] for name in shapes_behind(inputs[3]) - {inputs[0]}} or {side}
        target = size(sides[value])
        names[value] = node(f"resize_{value}", "ResizeBilinear", [*known, target], half_pixel_centers=True)
    elif old.op_type == "Sigmoid" and value == graph.output[0].name:
        names[value] = node("salience", "Sigmoid", known)

def end(name, depth):
    return {f"{name}:0": {"name": f"{name}:0", "dtype": FLOAT, "tensorShape": shape((1, side, side, depth))}}


topology = {
    "format": "graph-model",
    "generatedBy": "https://github.com/xuebinqin/U-2-Net",
    "signature": {"inputs": end("picture", 3), "outputs": end("salience", 1)},
    "modelTopology": {"node": nodes, "versions": {}},
    "weightsManifest": [{"paths": ["u2netp.bin"], "weights": manifest}],
}
folder = pathlib.Path(__file__).parent
(folder / "u2netp.json").write_text(json.dumps(topology, separators=(",", ":")) + "\n")
(folder / "u2netp.bin").write_bytes(b"".join(data))
