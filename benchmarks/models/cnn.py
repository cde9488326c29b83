"""Six convolutions with batch norm, ReLU and max-pooling between, on 32 x 32 pictures."""

from .task import Task, pictures


class CNN(Task):
    widths, examples = (32, 64, 128), 32

    def network(self):
        nn, layers, inputs = self.nn, [], 3
        for width in self.widths:
            for _ in range(2):
                layers.append(nn.Conv2d(inputs, width, 3, padding=1, bias=False))
                layers += [nn.BatchNorm2d(width), nn.ReLU()]
                inputs = width
            layers.append(nn.MaxPool2d(2))
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(inputs * 16, 10))

    @classmethod
    def batch(cls, random):
        return pictures(random, cls.examples, 32)

    def optimizer(self, network):
        return self.torch.optim.SGD(network.parameters(), lr=1e-3, momentum=0.9, weight_decay=5e-4)
