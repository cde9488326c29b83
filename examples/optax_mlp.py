"""Train a module with optax: jaxflow's layers, JAX's training loop, scikit-learn's handwritten digits.

    python examples/optax_mlp.py    # some seconds; at least 97 % of the test images right

The model is written as in PyTorch. `to_jax` makes it a pure function of its parameters and buffers, which
`jax.grad` and optax take as they take any other; the trained arrays go back into the module at the end.
"""

import argparse
import pathlib
import sys

import jax
import numpy as np
from common import curve, digits
from common.progress import Progress

import jaxflow as torch

try:
    import optax
except ImportError:
    sys.exit("this example trains with optax: pip install optax")

nn = torch.nn


def build(hidden, dropout):
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, hidden),
        nn.BatchNorm1d(hidden),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Linear(hidden, 10),
    )


def training_step(apply, optimizer):
    """One step as a pure function: everything it changes goes in and comes out."""

    def loss_of(params, buffers, images, labels, key):
        logits, buffers = apply(params, buffers, images, rng=key)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), buffers

    @jax.jit
    def step(params, buffers, state, images, labels, key):
        (loss, buffers), grads = jax.value_and_grad(loss_of, has_aux=True)(
            params, buffers, images, labels, key
        )
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), buffers, state, loss

    return step


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/optax_mlp"))
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    order = np.random.default_rng(args.seed)
    key = jax.random.key(args.seed)

    images, test_images, labels, test_labels = digits.load()
    model = build(args.hidden, args.dropout)
    print(model)
    batches = len(images) // args.batch
    total = args.epochs * batches

    apply, params, buffers = torch.to_jax(model, buffers=True)
    optimizer = optax.adamw(optax.cosine_decay_schedule(args.lr, total), weight_decay=0.01)
    state = optimizer.init(params)
    step = training_step(apply, optimizer)

    history = []
    bar = Progress(total, 0, args.batch, "images")
    for epoch in range(args.epochs):
        rows = order.permutation(len(images))[: batches * args.batch].reshape(batches, -1)
        losses = []
        for k, chosen in enumerate(rows):
            step_key = jax.random.fold_in(key, epoch * batches + k)
            params, buffers, state, loss = step(
                params, buffers, state, images[chosen], labels[chosen], step_key
            )
            losses.append(loss)
        history.append(((epoch + 1) * batches, float(np.mean(losses))))
        bar.update((epoch + 1) * batches, loss=history[-1][1])
    bar.close()

    torch.load_jax_params(model, params, buffers)
    model.eval()
    with torch.no_grad():
        guesses = model(torch.from_numpy(test_images)).argmax(dim=1)
    accuracy = (guesses == torch.from_numpy(test_labels)).float().mean().item()
    torch.save(model.state_dict(), args.out / "model.pt")
    print(f"accuracy {accuracy:.2%} of {len(test_labels)} images; wrote {args.out / 'model.pt'}")
    curve.draw(args.out / "loss.png", "optax_mlp", {"training": history})
    return accuracy


if __name__ == "__main__":
    main()
