"""Train a perceptron with two hidden layers on scikit-learn's handwritten digits.

    python examples/mlp_digits.py             # some seconds; at least 97 % of the test images right
    python examples/mlp_digits.py --resume    # go on from the checkpoint (with more --epochs)

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
DataLoader, TensorDataset = torch.utils.data.DataLoader, torch.utils.data.TensorDataset


def build(hidden, dropout):
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, hidden),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Linear(hidden, 10),
    )


@torch.no_grad()
def evaluate(model, images, labels):
    """Mean loss and share of right answers."""
    model.eval()
    logits = model(images)
    right = (logits.argmax(dim=1) == labels).float().mean()
    loss = F.cross_entropy(logits, labels)
    model.train()
    return loss.item(), right.item()


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/mlp_digits"))
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint = args.out / "checkpoint.pt"
    torch.manual_seed(args.seed)

    images, test_images, labels, test_labels = map(torch.from_numpy, digits.load())
    loader = DataLoader(
        TensorDataset(images, labels), batch_size=args.batch, shuffle=True, drop_last=True
    )
    model = build(args.hidden, args.dropout)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    print(model)

    done, history = 0, {"training": [], "test": []}
    if args.resume:
        if not checkpoint.exists():
            sys.exit(f"nothing to resume: there is no {checkpoint}")
        saved = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["random"])
        done, history = saved["epoch"], saved["history"]
        print(f"resuming after epoch {done}")

    bar = Progress(args.epochs * len(loader), done * len(loader), args.batch, "images")
    for epoch in range(done + 1, args.epochs + 1):
        total = 0.0
        for inputs, targets in loader:
            loss = F.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total = total + loss.detach()
        scheduler.step()

        step = epoch * len(loader)
        test_loss, accuracy = evaluate(model, test_images, test_labels)
        history["training"].append((step, total.item() / len(loader)))
        history["test"].append((step, test_loss))
        bar.update(step, loss=history["training"][-1][1], accuracy=accuracy)
        saved = {
            "epoch": epoch,
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
    if curve.draw(args.out / "loss.png", "mlp_digits", history):
        print(f"wrote {args.out / 'loss.png'} and {checkpoint}")
    return accuracy


if __name__ == "__main__":
    main()
