"""Train a small convolutional network on handwritten digits, shifted about at random.

    python examples/cnn.py             # under a minute
    python examples/cnn.py --resume    # go on from the checkpoint

Only the next import is jaxflow's. With `import torch` in its place, the same file runs on PyTorch.
"""

import jaxflow as torch  # isort: skip

import argparse
import pathlib
import sys

from common import curve, digits
from common.progress import Progress

nn = torch.nn
F = torch.nn.functional


def convolution(inputs, outputs):
    """3 x 3 convolution, batch norm, ReLU; the norm has a bias, so the convolution needs none."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class CNN(nn.Module):
    """8 x 8 images to 10 logits; the picture halves twice while the channels double."""

    def __init__(self, channels=24, dropout=0.25):
        super().__init__()
        self.features = nn.Sequential(
            convolution(1, channels),
            convolution(channels, channels),
            nn.MaxPool2d(2),
            convolution(channels, 2 * channels),
            nn.MaxPool2d(2),
        )
        self.classify = nn.Sequential(
            nn.Flatten(), nn.Dropout(dropout), nn.Linear(2 * channels * 2 * 2, 10)
        )

    def forward(self, x):
        return self.classify(self.features(x))


def shifted_batch(images, labels, size):
    """A random batch, the whole of it shifted by up to one pixel each way."""
    chosen = torch.randint(len(images), (size,))
    down, right = torch.randint(3, (2,))
    padded = F.pad(images[chosen], (1, 1, 1, 1))
    rows = torch.arange(8) + down
    columns = torch.arange(8) + right
    return padded[:, :, rows[:, None], columns], labels[chosen]


@torch.no_grad()
def evaluate(model, images, labels):
    """Mean loss and share of right answers, with the running statistics of the batch norms."""
    model.eval()
    logits = model(images)
    loss, right = F.cross_entropy(logits, labels), (logits.argmax(dim=1) == labels).float().mean()
    model.train()
    return loss.item(), right.item()


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--channels", type=int, default=24)
    parser.add_argument("--dropout", type=float, default=0.25)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--weight-decay", type=float, default=5e-4)
    parser.add_argument("--log-every", type=int, default=10)
    parser.add_argument("--eval-every", type=int, default=100)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/cnn"))
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint = args.out / "checkpoint.pt"
    torch.manual_seed(args.seed)

    images, test_images, labels, test_labels = map(torch.from_numpy, digits.load())
    images, test_images = images.unsqueeze(1), test_images.unsqueeze(1)
    model = CNN(args.channels, args.dropout)
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=args.lr,
        momentum=args.momentum,
        weight_decay=args.weight_decay,
        nesterov=True,
    )
    # One cycle: up for a fifth of the run, then down to nothing.
    rise = max(1, args.steps // 5)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / rise, (args.steps - step) / max(1, args.steps - rise)),
    )

    first, history = 0, {"training": [], "test": []}
    if args.resume:
        if not checkpoint.exists():
            sys.exit(f"nothing to resume: there is no {checkpoint}")
        saved = torch.load(checkpoint, weights_only=True)
        for name, part in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler)):
            part.load_state_dict(saved[name])
        torch.set_rng_state(saved["random"])
        first, history = saved["step"], saved["history"]
        print(f"resuming after step {first}")

    bar = Progress(args.steps, first, args.batch, "images")
    for step in range(first + 1, args.steps + 1):
        inputs, targets = shifted_batch(images, labels, args.batch)
        loss = F.cross_entropy(model(inputs), targets, label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()

        if step % args.log_every == 0 or step in (first + 1, args.steps):
            history["training"].append((step, loss.item()))
            bar.update(step, loss=history["training"][-1][1])
        if step % args.eval_every == 0 or step == args.steps:
            test_loss, accuracy = evaluate(model, test_images, test_labels)
            history["test"].append((step, test_loss))
            bar.note(f"step {step}: test loss {test_loss:.4f}, accuracy {accuracy:.2%}")
            saved = {
                "step": step,
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "scheduler": scheduler.state_dict(),
                "random": torch.get_rng_state(),
                "history": history,
            }
            torch.save(saved, checkpoint)
    bar.close()

    test_loss, accuracy = evaluate(model, test_images, test_labels)
    print(f"test loss {test_loss:.4f}, accuracy {accuracy:.2%} of {len(test_labels)} images")
    if curve.draw(args.out / "loss.png", "cnn", history):
        print(f"wrote {args.out / 'loss.png'} and {checkpoint}")
    return accuracy


if __name__ == "__main__":
    main()
