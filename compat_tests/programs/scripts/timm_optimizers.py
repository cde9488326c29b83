"""timm's optimizers and schedulers: losses of steps of a small network, and learning rates of epochs.

``timm_optimizers.py muon`` runs the optimizers that compute in bfloat16, with ``others`` the rest of them
but for those that draw random numbers, Kron and AdaHessian.
"""

import sys

import compiled_part  # noqa: F401
import torch
from fixed import fill, integers, normal
from timm.optim import create_optimizer_v2, list_optimizers
from timm.scheduler import create_scheduler_v2
from timm.utils import AverageMeter, ModelEmaV3, accuracy

x, y = normal(8, 3, 8, 8), integers(5, 8)


def network():
    """Every kind of parameter: convolutions, norms, matrices and vectors."""
    return fill(torch.nn.Sequential(
        torch.nn.Conv2d(3, 6, 3, padding=1), torch.nn.BatchNorm2d(6), torch.nn.GELU(), torch.nn.Flatten(),
        torch.nn.Linear(384, 16), torch.nn.LayerNorm(16), torch.nn.Linear(16, 5)))


def losses(net, optimizer):
    """Of four steps. Some optimizers look at the loss again, by a function of it."""
    for _ in range(4):
        def closure():
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward(create_graph=getattr(optimizer, "is_second_order", False))
            return loss

        loss = closure()
        optimizer.step()
        yield f"{loss.item():.4f}"


for name in list_optimizers(exclude_filters=["bnb*", "fused*", "adahessian", "kron*"]):
    if ("muon" in name) != (sys.argv[1] == "muon"):
        continue
    net = network()
    optimizer = create_optimizer_v2(net, opt=name, lr=1e-2, weight_decay=0.01)
    print(name, type(optimizer).__name__, len(optimizer.param_groups), *losses(net, optimizer), flush=True)

for kind in ("cosine", "tanh", "step", "multistep", "plateau", "poly") if sys.argv[1] == "others" else ():
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler, epochs = create_scheduler_v2(
        optimizer, sched=kind, num_epochs=8, warmup_epochs=2, warmup_lr=1e-3, decay_epochs=2,
        decay_milestones=[3, 5], patience_epochs=1)
    rates = []
    for epoch in range(epochs):
        rates.append(f"{optimizer.param_groups[0]['lr']:.6f}")
        scheduler.step(epoch + 1, metric=0.5)
    print(kind, epochs, *rates)

net = network()
average, meter = ModelEmaV3(net, decay=0.9), AverageMeter()
optimizer = create_optimizer_v2(net, opt="adamw", lr=1e-2, layer_decay=0.7)
for at in range(3):
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    average.update(net, step=at)
    meter.update(accuracy(net(x), y, topk=(1, 3))[1].item())
print(f"{average.module[0].weight.mean().item():.6f} {meter.avg:.2f}",
      [g["lr_scale"] for g in optimizer.param_groups])
