"""
Trains the model of the parts of a person: hair, face, skin, top, bottom, shoes and bags.

    npm run parts -- --photos PHOTOS --out PLANES
    python3 parts.py PLANES    # writes parts.json and parts.bin here, in half an hour on two cores

Needs the packages numpy, pillow and torch. `parts.jsonl` names the photos, and `parts.png` has their labels in the same
order, from the left to the right and from the top to the bottom, with the colours and in the order of LABELS.
"""

import math
import pathlib
import random

import numpy
import torch
from labelled import SQUARE, labels_of, main, relit, sampled, unlike
from torch.nn import functional

LABELS = ("ground", "hair", "face", "skin", "top", "bottom", "shoes", "item")
# The model's square, as in src/person-models.ts, and the margin of the labelled one on each side, as in scripts/parts.ts.
SIDE, PLANES, CHANNELS = 96, 11, (16, 24, 32, 48, 64)
MARGIN = 0.15
EPOCHS = 50
# How much a label counts; bags are rare.
WEIGHTS = torch.tensor([0.7, 1.2, 1.2, 1.3, 1, 1, 1.2, 1.5])
# The share of drawings among what the model sees in the training.
IMAGINED = 0.15


def examples_in(folder):
    """Of each photo: its planes, from 0 to 255, and its labels."""
    for file, tile in labels_of("parts"):
        data = numpy.fromfile(folder / f"{pathlib.Path(file).stem}.bin", numpy.uint8)
        planes = data.reshape(SQUARE, SQUARE, PLANES).transpose(2, 0, 1)
        yield torch.from_numpy(numpy.concatenate([planes, tile[None]]))


def along(x, y, joints):
    """The distance of each place from a chain of joints, and where on it the nearest point is, counted in joints."""
    best, at = numpy.full(x.shape, numpy.inf), numpy.zeros(x.shape)
    for k, ((px, py), (qx, qy)) in enumerate(zip(joints, joints[1:])):
        dx, dy = qx - px, qy - py
        share = (((x - px) * dx + (y - py) * dy) / (dx * dx + dy * dy)).clip(0, 1)
        distance = numpy.hypot(x - px - share * dx, y - py - share * dy)
        at = numpy.where(distance < best, k + share, at)
        best = numpy.minimum(distance, best)
    return best, at


def imagined():
    """A person of plain colours: drawings have other edges than photos. Lengths are in shoulder widths, from their middle."""
    uniform, chance = random.uniform, lambda share: random.random() < share
    torso, wide, end = uniform(1.4, 1.8), uniform(1.05, 1.6), uniform(1.9, 5)
    x, y = numpy.meshgrid(*((numpy.arange(SQUARE) + 0.5) / SQUARE * (1 + 2 * MARGIN) - MARGIN for _ in range(2)))
    x, y = (x - 0.5) * 2 * wide, y * (end + 1.15) - 1.15
    arms, legs = [], []
    for side in (-1, 1):
        elbow = (side * (0.5 + uniform(0.05, 0.35)), uniform(0.75, 0.9))
        wrist = (elbow[0] + side * uniform(-0.3, 0.2), elbow[1] + uniform(0.6, 0.9))
        tips = tuple(joint + 0.55 * (joint - start) for start, joint in zip(elbow, wrist))
        arms.append(along(x, y, [(side * 0.5, 0), elbow, wrist, tips]))
        knee, foot = (side * uniform(0.22, 0.32), torso * 1.95), (side * uniform(0.2, 0.35), torso * 2.85)
        legs.append(along(x, y, [(side * 0.25, torso), knee, foot, (foot[0], foot[1] + 0.35)]))
    nearest = lambda limbs: [numpy.where(limbs[0][0] < limbs[1][0], one, other) for one, other in zip(*limbs)]
    (arm, arm_at), (leg, leg_at) = nearest(arms), nearest(legs)
    off, face = abs(x), numpy.hypot(x / 0.27, (y + 0.62) / 0.38)
    labels = numpy.zeros(x.shape, numpy.uint8)
    put = lambda label, where: numpy.putmask(labels, where, LABELS.index(label))
    hem, hip = uniform(0.75, 1.35) * torso, uniform(0.45, 0.62)
    dress, skirt, length = chance(0.25), chance(0.3), uniform(0.3, 2.1)
    put("skin", (leg < 0.17) & (leg_at < 2.9))
    put("shoes", (leg < 0.17) & (leg_at > 2.05))
    cloth = "top" if dress else "bottom"
    if dress or skirt:
        below = (y - torso * 0.9) / torso
        put(cloth, (below > 0) & (below < length) & (off < hip + uniform(0, 0.25) * below))
    else:
        put(cloth, (leg < uniform(0.18, 0.26)) & (leg_at < length))
        put(cloth, (y > torso * 0.9) & (y < torso * 1.15) & (off < hip))
    put("skin", (y > 0) & (y < torso) & (off < 0.5))
    put("top", (y > uniform(-0.1, 0.25)) & (y < (torso if dress else hem)) & (off < max(hip, 0.5) + uniform(0, 0.1)))
    coat = uniform(1.2, 2) * torso if chance(0.25) else 0
    put("top", (y > 0) & (y < coat) & (off > uniform(0.2, 0.35)) & (off < 0.6))
    if chance(0.2):  # a belly
        high = (torso if dress else hem) - uniform(0.1, 0.4) + x * random.choice([0, uniform(-0.3, 0.3)])
        put("skin", (y > high) & (y < high + uniform(0.1, 0.35)) & (off < 0.5))
    put("skin", (arm < 0.13) & (arm_at < 2.8))
    sleeve = 0 if chance(0.2) else uniform(0.3, 2.1)
    put("top", (arm < uniform(0.13, 0.22)) & (arm_at < sleeve))
    put("skin", (off < 0.17) & (y > -0.35) & (y < 0.05))
    hair, cap = uniform(0.3, 1.1), uniform(1.1, 1.35)
    put("hair", ((face < cap) & (y < -0.5)) | (chance(0.5) & (off > 0.2) & (off < 0.36) & (y > -0.7) & (y < hair - 0.6)))
    hood = chance(0.2) & (off > 0.15) & (off < 0.45) & (y > -0.4) & (y < 0.1)
    put("top", hood)
    put("face", face < 1)
    put("hair", (face < cap) & (y < -0.85))
    labels[y > end] = 0
    skin = numpy.array([0.95, 0.75, 0.62]) * uniform(0.25, 1)
    colours = numpy.random.rand(len(LABELS), 3)
    colours[LABELS.index("face")] = colours[LABELS.index("skin")] = skin
    if chance(0.2):
        colours[LABELS.index("bottom")] = colours[LABELS.index("top")] * uniform(0.85, 1.1)
    if chance(0.2):
        colours[LABELS.index("top")] = skin * uniform(0.85, 1.15) + numpy.random.randn(3) * 0.04
    rgb = colours[labels]
    if chance(0.3):  # a band, or the line of a hem
        band = uniform(0, 1.2) * torso
        inside = (y > band) & (y < band + uniform(0.03, 0.5)) & (arm > 0.2)
        rgb[(labels == LABELS.index("top")) & inside] = numpy.random.rand(3)
    if chance(0.5):
        rgb[hood & (labels == LABELS.index("top"))] = numpy.random.rand(3)
    rgb = rgb * (1 - uniform(0, 0.2) * y / end)[..., None]
    person = (labels > 0) * 1.0
    if chance(0.2):  # a mask that misses a part of an arm
        person[(arm < 0.25) & (x * random.choice([-1, 1]) > 0) & (abs(arm_at - uniform(0.5, 2)) < uniform(0.1, 0.5))] = 0.3
    places = [(y / torso + 1.5) / 5, off / 2, arm / 1.5, arm_at / 3, leg / 1.5, leg_at / 3, face / 4]
    planes = numpy.dstack([rgb, person, *places]).clip(0, 1) * 255
    return torch.from_numpy(numpy.dstack([planes.astype(numpy.uint8), labels]).transpose(2, 0, 1))


def looked_at(example, box=(0, 0, 1, 1), angle=0.0, mirror=1):
    """The part of an example in a box (left, top, right, bottom), with 0 and 1 as the ends of the model's square."""
    left, top, right, bottom = (place / (1 + 2 * MARGIN) * 2 - 1 / (1 + 2 * MARGIN) for place in box)
    steps = (torch.arange(SIDE) + 0.5) / SIDE - 0.5
    down, across = torch.meshgrid(steps, steps * mirror, indexing="ij")
    across, down = across * (right - left), down * (bottom - top)
    columns = (left + right) / 2 + math.cos(angle) * across - math.sin(angle) * down
    rows = (top + bottom) / 2 + math.sin(angle) * across + math.cos(angle) * down
    return sampled(example, PLANES, columns, rows, "border")


def on_bone(places):
    """The least probability of a person, as in src/parsing/sight.ts."""
    near = lambda distance: ((0.1 - distance * 1.5) / 0.06).clamp(0, 1)
    arm, arm_at, leg = places[3:4], places[4:5] * 3, places[5:6]
    on_arm = torch.where((arm_at > 0.8) & (arm_at < 2), 0.995, 0.6)
    return torch.maximum(on_arm * near(arm), 0.6 * near(leg))


def seen(example):
    """The example as the model may see it: moved, turned, mirrored, cut off, in other colours and light, and its labels."""
    uniform = random.uniform
    left, top, right, bottom = (place + uniform(-0.08, 0.08) for place in (0, 0, 1, 1))
    if random.random() < 0.15:  # to the hips
        bottom *= uniform(0.55, 0.95)
    if random.random() < 0.1:  # without a head
        top += uniform(0, 0.15)
    mirror = random.choice([-1, 1])
    if random.random() < IMAGINED:
        example = imagined()
    planes, labels = looked_at(example, (left, top, right, bottom), random.gauss(0, 0.05), mirror)
    rgb, places = planes[:3], planes[3:]
    rgb = relit(rgb, labels, lambda labels: labels == LABELS.index(random.choice(["top", "bottom"])))
    if random.random() < 0.25:  # a mask of the person with errors
        errors = functional.interpolate(torch.randn(1, 1, 6, 6) * 0.3, SIDE, mode="bilinear", align_corners=False)[0]
        places = torch.cat([(places[:1] + errors).clamp(0, 1), places[1:]])
    return torch.cat([rgb, torch.maximum(places[:1], on_bone(places)), places[1:]]), labels


def loss_of(found, labels):
    """How wrong each pixel is, and how little the parts overlap (Dice)."""
    each = functional.cross_entropy(found, labels, WEIGHTS, reduction="none").mean()
    shown = found.softmax(1)
    wanted = functional.one_hot(labels, len(LABELS)).permute(0, 3, 1, 2).float()
    return each + 0.5 * unlike(shown, wanted)


if __name__ == "__main__":
    main("parts", LABELS, (SIDE, PLANES, CHANNELS), examples_in, seen, looked_at, loss_of, EPOCHS)
