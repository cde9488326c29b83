"""The models of kuangliu/pytorch-cifar: their outputs, the loss of a training step, the outputs after it.

Not ShuffleNetG2, which gives PyTorch a fraction as a number of channels.
"""

import sys

import models
import torch
from fixed import fill, integers, normal

NAMES = ("VGG16 ResNet18 PreActResNet18 GoogLeNet DenseNet121 ResNeXt29_2x64d MobileNet MobileNetV2 DPN26 "
         "SENet18 ShuffleNetV2 EfficientNetB0 RegNetX_200MF SimpleDLA").split()

torch.manual_seed(0)  # for what is dropped
for name in sys.argv[1:] or NAMES:
    arguments = {"VGG16": ("VGG16",), "ShuffleNetV2": (1,)}.get(name, ())
    make = models.VGG if name == "VGG16" else getattr(models, name)
    net = fill(make(*arguments))
    x, y = normal(4, 3, 32, 32), integers(10, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9, weight_decay=5e-4)
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    print(name, f"{loss.item():.4f}", f"{net(x).std().item():.3f}", flush=True)
