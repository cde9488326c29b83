"""A training loop of accelerate: gradients that add up, clipping, a schedule, a state saved and loaded."""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from fixed import fill, integers, normal

set_seed(1)


def parts(accelerator):
    """A network, an optimizer, rows and a schedule, as the accelerator gives them back."""
    net = fill(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU(),
                                   torch.nn.Linear(16, 4)))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    pairs = torch.utils.data.TensorDataset(normal(22, 8), integers(4, 22))
    rows = torch.utils.data.DataLoader(pairs, batch_size=4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
    return accelerator.prepare(net, optimizer, rows, schedule)


def epoch(accelerator, net, optimizer, rows, schedule):
    """One pass over the rows; prints the loss and the rate."""
    for x, y in rows:
        with accelerator.accumulate(net):
            with accelerator.autocast():
                loss = torch.nn.functional.cross_entropy(net(x), y)
            accelerator.backward(loss)
            norm = accelerator.clip_grad_norm_(net.parameters(), 1.0) if accelerator.sync_gradients else None
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        print(f"{loss.item():.4f}", accelerator.sync_gradients, "" if norm is None else f"{float(norm):.4f}",
              f"{schedule.get_last_lr()[0]:.6f}")


for precision, digits in (("no", 4), ("bf16", 1)):
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2, mixed_precision=precision)
    print(accelerator.num_processes, accelerator.is_main_process, accelerator.device,
          accelerator.mixed_precision)
    if precision == "no":
        everything = parts(accelerator)
        epoch(accelerator, *everything)
        accelerator.save_state("state")
        epoch(accelerator, *everything)
        before = [p.detach().clone() for p in everything[0].parameters()]

        fresh = parts(accelerator)
        accelerator._models, accelerator._optimizers, accelerator._schedulers, accelerator._dataloaders = (
            [each] for each in (fresh[0], fresh[1], fresh[3], fresh[2]))
        accelerator.load_state("state")
        epoch(accelerator, *fresh)
        pairs = zip(before, fresh[0].parameters(), strict=True)
        print(all(torch.allclose(a, b, atol=1e-6) for a, b in pairs))
        accelerator.save_model(fresh[0], "model")
        print(type(accelerator.unwrap_model(fresh[0])).__name__)
    else:
        net, optimizer, rows, schedule = parts(accelerator)
        outputs = [net(x).detach() for x, _ in rows]
        print(outputs[0].dtype, [round(float(o.abs().mean()), digits) for o in outputs])
    print(accelerator.gather_for_metrics(torch.arange(3)).tolist(),
          accelerator.reduce(torch.ones(2)).tolist())
    accelerator.free_memory()
    type(accelerator.state)._reset_state(reset_partial_state=True)
