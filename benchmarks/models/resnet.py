"""ResNet-18 in the form for 32 x 32 pictures: He et al. (2015), with a 3 x 3 stem and no pooling there."""

from .task import Task, pictures


def block(torch, inputs, outputs, stride):
    """A basic block; `torch` is PyTorch or jaxflow."""
    nn = torch.nn

    def normed(inputs, size, stride):
        convolution = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
        return nn.Sequential(convolution, nn.BatchNorm2d(outputs))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = normed(inputs, 3, stride)
            self.second = normed(outputs, 3, 1)
            self.shortcut = normed(inputs, 1, stride) if stride > 1 else nn.Identity()

        def forward(self, x):
            y = self.second(torch.relu(self.first(x)))
            return torch.relu(y + self.shortcut(x))

    return Block()


class ResNet18(Task):
    widths, examples = (64, 128, 256, 512), 32
    compared = 3  # from then on rounding has grown to more than 1e-4 of the loss

    def network(self):
        nn = self.nn
        layers = [nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
        inputs = 64
        for width in self.widths:
            layers.append(block(self.torch, inputs, width, 1 if width == inputs else 2))
            layers.append(block(self.torch, width, width, 1))
            inputs = width
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))

    @classmethod
    def batch(cls, random):
        return pictures(random, cls.examples, 32)

    def optimizer(self, network):
        return self.torch.optim.SGD(
            network.parameters(), lr=1e-3, momentum=0.9, weight_decay=5e-4, nesterov=True
        )
