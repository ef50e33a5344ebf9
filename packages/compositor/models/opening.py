"""
Trains the model of what the neck opening of a garment shows: the inside of its back, a hanger, the neck of a dummy.

    npm run openings -- --garments PHOTOS --out PICTURES
    python3 opening.py PICTURES    # writes opening.json and opening.bin here, in a quarter of an hour on two cores

Needs the packages numpy, pillow and torch. `opening.jsonl` names the photos and says where the front edge of the opening
is: lines of points in percent of the square that the model looks at, from the left to the right. Cloth above a line belongs
to the opening.
"""

import json
import math
import pathlib
import random
import sys

import numpy
import torch
from PIL import Image, ImageDraw
from torch.nn import functional
from unet import Net, graph_of, train

SIDE, CHANNELS = 80, (10, 16, 24, 32, 48)
EPOCHS = 110
# The square that the model looks at, as in src/garment/lining.ts: its side, and how far it begins above the cloth, in half
# widths of the chest.
SQUARE, ABOVE = 2.4, 0.25
MAGENTA = torch.tensor([1.0, 0.0, 1.0]).view(3, 1, 1)


def drawn(pixels, box, inside):
    """One example: the picture, its ground and the opening as five planes, and the square (left, top, side)."""
    ground = (pixels == [255, 0, 255]).all(2)
    planes = numpy.dstack([pixels / 255, ground, inside & ~ground]).astype(numpy.float32)
    return torch.from_numpy(planes).permute(2, 0, 1), box


def photographed(folder, label):
    name = pathlib.Path(label["file"]).stem
    pixels = numpy.asarray(Image.open(folder / f"{name}.ppm"))
    box = json.loads((folder / f"{name}.json").read_text())
    left, top, side = box["x"], box["y"], box["width"]
    inside = Image.new("1", (pixels.shape[1], pixels.shape[0]))
    for line in label["edges"]:
        points = [(left + x * side / 100, top + y * side / 100) for x, y in line]
        ends = [(points[0][0], -1), *points, (points[-1][0], -1)]
        ImageDraw.Draw(inside).polygon(ends, fill=1)
    return drawn(pixels, (left, top, side), numpy.asarray(inside))


def imagined():
    """A garment of plain colours, with and without an opening: drawings have other edges than photos."""
    uniform = random.uniform
    half, size = uniform(50, 80), 200
    x, y = numpy.meshgrid(numpy.arange(size) + 0.5 - size / 2, numpy.arange(size) + 0.5)
    off, down = abs(x), y - half * ABOVE - 5
    neck, depth = uniform(0.28, 0.6) * half, 0.15 * half * 10 ** uniform(0, 1)
    shoulders = down > numpy.maximum(0, off - neck) * uniform(0, 0.5)
    cloth = shoulders & (off < half * uniform(0.95, 1.3) + numpy.maximum(0, down) * uniform(0, 0.2))
    if random.random() < 0.4:  # without sleeves
        armhole = ((off - half) / half / uniform(0.2, 0.6)) ** 2 + (down / half / uniform(0.6, 1.1)) ** 2
        cloth &= armhole > 1
    across, deep = off / neck, numpy.maximum(down, 0) / depth
    form = random.choice([across**2 + deep**2, across + deep, numpy.maximum(across, deep)])
    inside = (form < 1) & cloth
    shows = random.random()
    if shows < 0.3:  # the ground
        cloth &= ~inside
    elif shows < 0.45:  # nothing
        inside &= False
    elif shows < 0.65:  # a back that dips
        cloth &= ~(across**2 + (deep / uniform(0.1, 0.7)) ** 2 < 1)
    colour = numpy.random.rand(3) * uniform(0.15, 1)
    pixels = numpy.tile(colour, (size, size, 1))
    if random.random() < 0.2:
        pixels[numpy.floor(y / uniform(4, 14)) % 2 == 0] = numpy.random.rand(3)
    if random.random() < 0.3:
        low = down - depth - uniform(0.15, 0.6) * half
        pixels[(off < uniform(0.2, 0.7) * half) & (abs(low) < 0.2 * half)] = numpy.random.rand(3)
    if random.random() < 0.3:  # a band around the opening
        pixels[(form >= 1) & (form < uniform(1.1, 1.4)) & (down > 0)] = colour * uniform(0.7, 1.15)
    shade = numpy.where((x < 0) & (random.random() < 0.3), uniform(0.85, 1), 1)[..., None]
    lining = random.choice([colour * uniform(0.4, 1), colour + uniform(0.05, 0.3), numpy.random.rand(3)])
    pixels[inside] = (lining * shade)[inside]
    if random.random() < 0.3:
        label = (off < uniform(0.1, 0.2) * half) & (abs(deep - uniform(0.2, 0.6)) < uniform(0.05, 0.15))
        pixels[label & inside] = random.random()
    pixels += numpy.random.randn(size, size, 1) * uniform(0, 0.03)
    pixels = (pixels.clip(0, 1) * 254).astype(numpy.uint8)
    pixels[~cloth] = [255, 0, 255]
    return drawn(pixels, ((size - SQUARE * half) / 2, 5, SQUARE * half), inside)


def seen(example):
    """The example as the model may see it: moved, turned, mirrored, in other colours and light."""
    planes, (left, top, side) = example
    uniform = random.uniform
    x = left + side / 2 + uniform(-0.07, 0.07) * side
    y = top + side / 2 + uniform(-0.07, 0.07) * side
    side *= uniform(0.85, 1.18)
    angle, mirror = random.gauss(0, 0.06), random.choice([-1, 1])
    steps = (torch.arange(SIDE) + 0.5) / SIDE - 0.5
    down, across = torch.meshgrid(steps, steps * mirror, indexing="ij")
    columns = x + side * (math.cos(angle) * across - math.sin(angle) * down)
    rows = y + side * (math.sin(angle) * across + math.cos(angle) * down)
    height, width = planes.shape[1:]
    grid = torch.stack([columns / width * 2 - 1, rows / height * 2 - 1], -1)[None]
    planes = functional.grid_sample(planes[None], grid, align_corners=False)[0]
    # What is outside of the picture is black, as in the engine.
    rgb, cloth, inside = planes[:3], 1 - planes[3:4], planes[4:5]
    if random.random() < 0.12:  # the ground in the opening, instead of the inside
        cloth, inside = cloth * (1 - inside), inside * 0
    if random.random() < 0.3:
        rgb = rgb[torch.randperm(3)]
    rgb = (rgb * torch.empty(3, 1, 1).uniform_(0.8, 1.2)).clamp(0, 1) ** math.exp(uniform(-0.5, 0.5))
    mean = rgb.mean()
    rgb = (rgb - mean) * uniform(0.6, 1.25) + mean + uniform(-0.12, 0.12)
    if random.random() < 0.12:
        rgb = 1 - rgb
    rgb = (rgb + torch.randn_like(rgb) * uniform(0, 0.03)).clamp(0, 1)
    return rgb * cloth + MAGENTA * (1 - cloth), cloth, inside


def loss_of(found, cloth, inside):
    """How wrong each pixel of cloth is, and how little the openings overlap (Dice)."""
    each = functional.binary_cross_entropy_with_logits(found, inside, reduction="none")
    shown = torch.sigmoid(found) * cloth
    both = (shown * inside).sum((1, 2, 3))
    overlap = (2 * both + 20) / (shown.sum((1, 2, 3)) + inside.sum((1, 2, 3)) + 20)
    return (each * cloth).sum() / cloth.sum() + 0.5 * (1 - overlap).mean()


if __name__ == "__main__":
    random.seed(3)
    numpy.random.seed(3)
    torch.manual_seed(3)
    pictures, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
    labels = [json.loads(line) for line in (here / "opening.jsonl").read_text().splitlines()]
    examples = [photographed(pictures, label) for label in labels]
    # Garments without an opening are rarer, and were taken for ones with it.
    examples += [one for one, label in zip(examples, labels) if not label["edges"]]
    net = Net(3, CHANNELS, 1)
    train(net, examples, lambda one: seen(imagined() if random.random() < 0.15 else one), loss_of, EPOCHS)
    graph, end = graph_of(net, SIDE)
    graph.node("opening", "Sigmoid", [end])
    graph.write("opening", "opening", "packages/compositor/models/opening.py")
