"""A small U-Net (Ronneberger, Fischer and Brox, 2015): its training, and its graph for TensorFlow.js."""

import random

import torch
from graph_model import GraphModel
from torch import nn
from torch.nn import functional

BATCH, RATE = 16, 3e-3


class Block(nn.Sequential):
    def __init__(self, before, after):
        layers = [
            (nn.Conv2d(channels, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU())
            for channels in (before, after)
        ]
        super().__init__(*(layer for group in layers for layer in group))


class Net(nn.Module):
    """From `planes` to `outputs` values for each pixel. `channels`: in the picture's size, in half of it, and so on."""

    def __init__(self, planes, channels, outputs):
        super().__init__()
        pairs = list(zip(channels, channels[1:]))
        self.down = nn.ModuleList([Block(planes, channels[0]), *(Block(one, other) for one, other in pairs)])
        self.up = nn.ModuleList([Block(one + other, one) for one, other in pairs])
        self.end = nn.Conv2d(channels[0], outputs, 1)

    def forward(self, x):
        skipped = []
        for block in self.down[:-1]:
            skipped.append(block(x))
            x = functional.max_pool2d(skipped[-1], 2)
        x = self.down[-1](x)
        for block, skip in zip(reversed(self.up), reversed(skipped)):
            x = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            x = block(torch.cat([x, skip], 1))
        return self.end(x)


def train(net, examples, seen, loss_of, epochs):
    """`seen` makes of an example what the net may see, and what it should find; `loss_of` compares that."""
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=1e-3)
    steps = epochs * (len(examples) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.15)
    for epoch in range(epochs):
        random.shuffle(examples)
        total = 0
        for first in range(0, len(examples) - BATCH + 1, BATCH):
            some = [seen(example) for example in examples[first : first + BATCH]]
            pictures, *wanted = (torch.stack(planes) for planes in zip(*some))
            loss = loss_of(net(pictures), *wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(epoch, round(total / (len(examples) // BATCH), 3), flush=True)
    net.eval()


def folded(convolution, norm):
    """The kernel and the bias of a convolution with the normalisation after it."""
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    kernel = convolution.weight * scale.view(-1, 1, 1, 1)
    bias = (convolution.bias - norm.running_mean) * scale + norm.bias
    return kernel.detach().numpy(), bias.detach().numpy()


def graph_of(net, side):
    """The graph up to the last convolution. @returns it, and that node"""
    graph = GraphModel(side, net.down[0][0].in_channels)

    def add(block, source):
        for first in (0, 3):
            source = graph.convolution(source, *folded(block[first], block[first + 1]), True)
        return source

    value, skipped = "picture", []
    for level, block in enumerate(net.down):
        value = add(block, value)
        skipped.append(value)
        if level < len(net.down) - 1:
            value = graph.half(f"half_{level}", value)
    for level in reversed(range(len(net.up))):
        value = graph.resized(f"resized_{level}", value, side >> level)
        value = add(net.up[level], graph.joined(f"joined_{level}", [value, skipped[level]]))
    end = (net.end.weight.detach().numpy(), net.end.bias.detach().numpy())
    return graph, graph.convolution(value, *end, False)
