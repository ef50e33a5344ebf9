"""
Trains the model of what a product photo shows: a top, a dress, their sleeves, clothes for the legs, a person, and a dummy or
a hanger.

    python3 product.py PHOTOS    # writes product.json and product.bin here, in half an hour on two cores

Needs the packages numpy, pillow and torch. `product.jsonl` names the photos, and `product.png` has their labels in the same
order, from the left to the right and from the top to the bottom, with the colours and in the order of LABELS, each in a
square around the photo. On people, clothes for the upper body are not divided: `upper` is a top, a dress or a sleeve.
`unknown` may be anything.
"""

import math
import random

import numpy
import torch
from labelled import SQUARE, labels_of, main, relit, sampled, unlike
from PIL import Image, ImageOps

FOUND = ("ground", "top", "dress", "sleeve", "bottom", "person", "support")
LABELS = (*FOUND, "upper", "unknown")
# Which of FOUND a label allows.
ALLOWED = torch.cat([torch.eye(7), torch.tensor([[0, 1, 1, 1, 0, 0, 0], [1] * 7])])
# The side of the model's square, as in src/person-models.ts.
SIDE, PLANES, CHANNELS = 112, 3, (16, 24, 32, 64, 96)
EPOCHS = 42
# The share of drawings among what the model sees in the training.
IMAGINED = 0.2


def examples_in(folder):
    """Of each photo: red, green and blue from 0 to 255, and its labels."""
    for file, tile in labels_of("product"):
        photo = ImageOps.exif_transpose(Image.open(folder / file)).convert("RGBA")
        white = Image.new("RGBA", photo.size, "white")
        photo = Image.alpha_composite(white, photo).convert("RGB")
        square = ImageOps.pad(photo, (SQUARE, SQUARE), Image.Resampling.BOX)
        planes = numpy.asarray(square).transpose(2, 0, 1)
        yield torch.from_numpy(numpy.concatenate([planes, tile[None]]))


def capsule(x, y, start, end, before, after):
    """Whether a place is in a tube that is `before` wide at its start and `after` at its end, on each side."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    along = ((x - start[0]) * dx + (y - start[1]) * dy) / (dx * dx + dy * dy)
    off = abs((x - start[0]) * dy - (y - start[1]) * dx) / math.hypot(dx, dy)
    return (along > -0.05) & (along < 1) & (off < before + (after - before) * along)


def imagined():
    """A garment of plain colours on a plain ground: drawings have other edges than photos. Lengths are in half chests."""
    uniform, chance = random.uniform, lambda share: random.random() < share
    kind = random.choice(["top", "top", "top", "dress", "bottom", "bottom"])
    long = {"top": uniform(1.6, 4.3), "dress": uniform(3.4, 5.5), "bottom": uniform(1, 5)}[kind]
    size = long * uniform(0.55, 0.9) + 0.5
    steps = ((numpy.arange(SQUARE) + 0.5) / SQUARE - 0.5) * 2 * size
    x, y = numpy.meshgrid(steps, steps + long / 2)
    off, labels = abs(x), numpy.zeros(x.shape, numpy.uint8)
    put = lambda label, where: numpy.putmask(labels, where, LABELS.index(label))
    dark = numpy.zeros(x.shape)
    inside = (y > 0) & (y < long)
    if kind == "bottom":
        waist, flare, hem = uniform(0.6, 0.9), uniform(0, 0.35), uniform(0.4, 0.8)
        dip = uniform(0, 0.25) * (1 - (off / waist).clip(0, 1) ** 2) if chance(0.3) else 0
        put("bottom", inside & (y > dip) & (off < waist + flare * numpy.minimum(y, 1.5)))
        if chance(0.6):  # legs
            crotch, aside = min(uniform(0.8, 1.3), long * 0.7), uniform(0, 0.12)
            legs = capsule(off, y, (waist / 2, crotch), (waist / 2 + hem * aside + uniform(0, 0.3), long), waist / 2, hem / 2)
            put("ground", y > crotch)
            put("bottom", legs & inside & ((off > 0.03) | chance(0.3)))
    else:
        neck, slope, flare = uniform(0.25, 0.6), uniform(0, 0.5), uniform(-0.05, 0.05)
        waist = 0
        if kind == "dress":
            flare, waist = uniform(0.05, 0.25), uniform(0, 0.25) * numpy.exp(-((y - 1.7) ** 2) * 3)
        body = inside & (y > (off - neck) * slope) & (off < 1 + flare * y - waist)
        sleeves, tilt, length = chance(0.75), uniform(-0.12, 1.2), uniform(0.4, 3.2)
        if not sleeves:
            hole = ((off - 1) / uniform(0.15, 0.7)) ** 2 + (y / uniform(0.7, 1.2)) ** 2
            body &= hole > 1
        put(kind, body)
        if sleeves:
            wide, end = uniform(0.25, 0.5), uniform(0.18, 0.45)
            root = (1 - wide * 0.4, wide * 0.9 + slope * 0.4)
            tip = (root[0] + length * math.sin(tilt), root[1] + length * math.cos(tilt))
            tube = capsule(off, y, root, tip, wide, end) & (y > (off - neck) * slope)
            over = tube & ~(body & (off < 0.85)) if tilt > 0.05 else tube & (off > 0.5)
            put("sleeve", over & ~(body & (y < wide * 2 + slope) & (off < 0.95)))
            seam = (labels != numpy.roll(labels, 1, 1)) & body
            dark[seam] = uniform(0, 0.4) if chance(0.7) else 0
        opening = (off / neck) ** 2 + (y / uniform(0.1, 0.9)) ** 2 < 1
        put("ground" if chance(0.5) else "unknown", opening & (labels > 0))
        if chance(0.15):  # a hood
            hood = (x / uniform(0.45, 0.7)) ** 2 + (y + 0.3) ** 2 / uniform(0.3, 0.7) < 1
            put("unknown", hood & (labels == 0) & (y < 0.2))
    if chance(0.15):  # a hanger
        hook = (off < 0.04) & (y > -0.7) & (y < 0)
        put("support", (capsule(off, y, (0, -0.35), (0.8, 0), 0.05, 0.05) | hook) & (labels == 0))
    colours = numpy.random.rand(len(LABELS), 3)
    cloth = numpy.random.rand(3) * uniform(0.15, 1)
    colours[1:5] = cloth
    colours[LABELS.index("unknown")] = cloth * (1 if chance(0.3) else uniform(0.3, 1))
    if chance(0.1):
        colours[LABELS.index("sleeve")] = numpy.random.rand(3)
    if chance(0.6):
        colours[0] = uniform(0.85, 1)
    rgb = colours[labels] * (1 - dark[..., None])
    if chance(0.15):
        rgb[(labels > 0) & (numpy.floor(y / uniform(0.1, 0.3)) % 2 == 0)] = numpy.random.rand(3)
    if chance(0.2):  # a print
        rgb[(labels > 0) & (off < uniform(0.2, 0.6)) & (abs(y - long / 2) < uniform(0.1, 0.4))] = numpy.random.rand(3)
    planes = (rgb.clip(0, 1) * 255).astype(numpy.uint8)
    return torch.from_numpy(numpy.dstack([planes, labels]).transpose(2, 0, 1))


def looked_at(example, middle=(0.0, 0.0), size=1.0, angle=0.0, mirror=1, stretch=1.0):
    """A square of an example; the whole of it has its middle at 0 and the size 1."""
    steps = (torch.arange(SIDE) + 0.5) / SIDE * 2 - 1
    down, across = torch.meshgrid(steps, steps * mirror, indexing="ij")
    across, down = across * size * stretch, down * size / stretch
    columns = middle[0] + math.cos(angle) * across - math.sin(angle) * down
    rows = middle[1] + math.sin(angle) * across + math.cos(angle) * down
    return sampled(example, PLANES, columns, rows, "zeros")


def is_cloth(labels):
    return (labels > 0) & (labels != LABELS.index("person")) & (labels != LABELS.index("support"))


def seen(example):
    """The example as the model may see it: moved, turned, mirrored, cut off, in other colours and light, and its labels."""
    uniform = random.uniform
    if random.random() < IMAGINED:
        example = imagined()
    middle = (uniform(-0.1, 0.1), uniform(-0.1, 0.1))
    size, angle, stretch = uniform(0.8, 1.15), random.gauss(0, 0.07), math.exp(uniform(-0.1, 0.1))
    rgb, labels = looked_at(example, middle, size, angle, random.choice([-1, 1]), stretch)
    return relit(rgb, labels, is_cloth), labels


def loss_of(found, labels):
    """How improbable what the labels allow is, and how little the parts overlap (Dice) where they are known."""
    shown = found.softmax(1)
    allowed = ALLOWED[labels].permute(0, 3, 1, 2)
    each = -torch.log((shown * allowed).sum(1).clamp(min=1e-6)).mean()
    known = (labels < len(FOUND))[:, None]
    return each + 0.5 * unlike(shown * known, allowed * known)


if __name__ == "__main__":
    main("product", FOUND, (SIDE, PLANES, CHANNELS), examples_in, seen, looked_at, loss_of, EPOCHS)
