"""What the trainings of models share that see the label of each pixel: the labels of photos, light and colours, the end."""

import json
import math
import pathlib
import random
import sys

import numpy
import torch
from PIL import Image
from torch.nn import functional
from unet import Net, graph_of, train

HERE = pathlib.Path(__file__).parent
# The side of the squares of labels, in pixels.
SQUARE = 128
# Every so many photos one is left out of the training, to measure on.
ASIDE = 10


def labels_of(name):
    """The file of each photo in `name`.jsonl, and its labels, of the squares of `name`.png in the same order."""
    labels = numpy.asarray(Image.open(HERE / f"{name}.png"))
    rows = numpy.split(labels, len(labels) // SQUARE)
    tiles = [tile for row in rows for tile in numpy.split(row, row.shape[1] // SQUARE, 1)]
    lines = (HERE / f"{name}.jsonl").read_text().splitlines()
    return [(json.loads(line)["file"], tile) for line, tile in zip(lines, tiles)]


def sampled(example, planes, columns, rows, beyond):
    """The `planes` of an example from 0 to 1, and its labels, at places from -1 to 1. `beyond`: the padding."""
    grid = torch.stack([columns, rows], -1)[None]
    look = lambda some, mode: functional.grid_sample(some, grid, mode, beyond, align_corners=False)[0]
    values = example[None].float()
    return look(values[:, :planes] / 255, "bilinear"), look(values[:, planes:], "nearest")[0].long()


def relit(rgb, labels, cloth_of):
    """In other colours and light. `cloth_of` says which labels get another colour together, when they do."""
    uniform = random.uniform
    if random.random() < 0.25:  # clothes in another colour
        cloth = cloth_of(labels)[None]
        light = rgb.mean(0, keepdim=True)
        fold = (light - (light * cloth).sum() / cloth.sum().clamp(min=1)) * uniform(0.6, 1.2)
        dyed = torch.rand(3, 1, 1) * uniform(0.3, 1) + fold + (rgb - light) * uniform(0, 0.5)
        rgb = torch.where(cloth, dyed.clamp(0, 1), rgb)
    if random.random() < 0.2:  # another ground
        other = rgb * uniform(0.2, 1) + torch.rand(3, 1, 1) * uniform(0, 0.8)
        rgb = torch.where((labels == 0)[None], other.clamp(0, 1), rgb)
    rgb = (rgb * torch.empty(3, 1, 1).uniform_(0.85, 1.15)).clamp(0, 1) ** math.exp(uniform(-0.4, 0.4))
    mean = rgb.mean()
    rgb = (rgb - mean) * uniform(0.7, 1.25) + mean + uniform(-0.1, 0.1)
    if random.random() < 0.1:
        rgb = rgb.mean(0, keepdim=True).expand(3, -1, -1)
    return (rgb + torch.randn_like(rgb) * uniform(0, 0.03)).clamp(0, 1)


def unlike(shown, wanted):
    """How little the parts overlap (Dice)."""
    both, all = (shown * wanted).sum((2, 3)), (shown + wanted).sum((2, 3))
    return (1 - (2 * both + 10) / (all + 10)).mean()


def overlaps(net, looks, names):
    """The overlap (intersection over union) of each part in looks that were not trained with; further labels do not count."""
    count = len(names)
    found = torch.zeros(count, count)
    with torch.no_grad():
        for planes, labels in looks:
            known = labels < count
            pairs = labels[known] * count + net(planes[None])[0].argmax(0)[known]
            found += torch.bincount(pairs, minlength=count**2).view_as(found)
    union = found.sum(0) + found.sum(1) - found.diag()
    return {name: round(value, 3) for name, value in zip(names, (found.diag() / union.clamp(min=1)).tolist())}


def main(name, names, shape, examples_in, seen, look, loss_of, epochs):
    """
    Trains a model with the examples of the folder in the command, and writes it.

    `shape`: the side of its square, its planes, and its channels; `look`: of an example, without changes.
    """
    random.seed(3)
    numpy.random.seed(3)
    torch.manual_seed(3)
    side, planes, channels = shape
    examples = list(examples_in(pathlib.Path(sys.argv[1])))
    net = Net(planes, channels, len(names))
    train(net, [one for k, one in enumerate(examples) if k % ASIDE], seen, loss_of, epochs)
    print(overlaps(net, map(look, examples[::ASIDE]), names))
    graph, end = graph_of(net, side)
    graph.write(name, end, f"packages/compositor/models/{name}.py", len(names))
