"""
Converts U²-Netp from ONNX to a graph model of TensorFlow.js.

    python3 u2netp.py u2netp.onnx 128    # writes u2netp.json and u2netp.bin here

Needs the packages numpy and onnx. The second argument is the side of the square that the model looks at,
in pixels: a multiple of 32. The graph keeps the fused output only, and the nodes in which a stage ends are
named after it.
"""

import sys

import numpy
import onnx
from graph_model import GraphModel
from onnx import helper, numpy_helper

STAGES = [*(f"encoder_{n}" for n in range(1, 7)), *(f"decoder_{n}" for n in range(5, 0, -1))]

source, side = sys.argv[1], int(sys.argv[2])
graph = onnx.load(source).graph
initial = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
producers = {output: node for node in graph.node for output in node.output}
model = GraphModel(side)
# The names in the new graph of the values in the old one, and the sides of their squares.
names, sides = {}, {}


def shapes_behind(value):
    """The values whose shapes a size is computed from."""
    found = producers.get(value)
    if found is None:
        return set()
    if found.op_type == "Shape":
        return {found.input[0]}
    return set().union(*(shapes_behind(name) for name in found.input))


# Colours from 0 to 1, as deviations from those of ImageNet.
mean = model.constant("mean", numpy.array([0.485, 0.456, 0.406], numpy.float32))
deviation = model.constant("deviation", numpy.array([0.229, 0.224, 0.225], numpy.float32))
model.node("centred", "Sub", ["picture", mean])
first = graph.input[0].name
names[first], sides[first] = model.node("normal", "RealDiv", ["centred", deviation]), side
model.constant("channels", numpy.array(3, numpy.int32))

for old in graph.node:
    value, inputs = old.output[0], list(old.input)
    options = {entry.name: helper.get_attribute_value(entry) for entry in old.attribute}
    known = [names[name] for name in inputs if name in names]
    if not known:
        continue
    sides[value] = sides[inputs[0]]
    if old.op_type == "Conv":
        relu = any(value in entry.input and entry.op_type == "Relu" for entry in graph.node)
        kernel, bias = initial[inputs[1]], initial[inputs[2]]
        names[value] = model.convolution(known[0], kernel, bias, relu, options["dilations"][0])
    elif old.op_type == "Relu":
        names[value] = known[0]
    elif old.op_type == "MaxPool":
        names[value] = model.half(f"pool_{value}", known[0])
        sides[value] = (sides[value] + 1) // 2
    elif old.op_type == "Concat":
        names[value] = model.joined(f"concat_{value}", known)
    elif old.op_type == "Add":
        names[value] = model.node(STAGES.pop(0), "AddV2", known)
    elif old.op_type == "Resize":
        (sides[value],) = {sides[name] for name in shapes_behind(inputs[3]) - {inputs[0]}} or {side}
        names[value] = model.resized(f"resize_{value}", known[0], sides[value])
    elif old.op_type == "Sigmoid" and value == graph.output[0].name:
        names[value] = model.node("salience", "Sigmoid", known)

model.write("u2netp", "salience", "https://github.com/xuebinqin/U-2-Net")
