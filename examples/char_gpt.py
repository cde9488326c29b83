"""Train a small GPT on characters: by default, on the source code of Python's own standard library.

    python examples/char_gpt.py                          # about two minutes on two cores
    python examples/char_gpt.py --resume                 # go on from the checkpoint
    python examples/char_gpt.py --text shakespeare.txt   # any text file
    python examples/char_gpt.py --layers 12 --heads 12 --width 768 --block 1024   # GPT-2 small

Only the next import is jaxflow's. With `import torch` in its place, the same file runs on PyTorch.
"""

import jaxflow as torch  # isort: skip

import argparse
import collections
import math
import pathlib
import sys
import sysconfig

from common import curve
from common.progress import Progress

nn = torch.nn
F = torch.nn.functional


# ----- data ---------------------------------------------------------------------------------------


def standard_library():
    """The source of this Python's own modules, in the order of their names: some 4 MB."""
    root = pathlib.Path(sysconfig.get_path("stdlib"))
    paths = sorted(root.glob("*.py"))
    return "\n".join(path.read_text(encoding="utf-8", errors="ignore") for path in paths)


class Text:
    """A text as character codes, its last tenth kept back for validation.

    The vocabulary is given or else the 256 most frequent characters; rarer ones are dropped.
    """

    def __init__(self, text, vocabulary=None):
        if vocabulary is None:
            frequent = collections.Counter(text).most_common(256)
            vocabulary = "".join(sorted(character for character, _ in frequent))
        self.vocabulary = vocabulary
        self.code = {character: code for code, character in enumerate(vocabulary)}
        codes = self.encode(text)
        split = len(codes) * 9 // 10
        self.train, self.validation = codes[:split].clone(), codes[split:].clone()

    def encode(self, text):
        return torch.tensor([self.code[c] for c in text if c in self.code])

    def decode(self, codes):
        return "".join(self.vocabulary[code] for code in codes)


def windows(codes, starts, block):
    """Inputs: `block` characters from each of `starts` on; targets: the character after each."""
    chunk = codes[starts[:, None] + torch.arange(block + 1, device=codes.device)]
    return chunk[:, :-1], chunk[:, 1:]


def random_batch(codes, batch, block):
    starts = torch.randint(len(codes) - block, (batch,), device=codes.device)
    return windows(codes, starts, block)


# ----- model --------------------------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(width, dim=-1)
        )
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        y = y.transpose(1, 2).reshape(batch, length, width)
        return F.dropout(self.out(y), self.dropout, self.training)


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, width),
            nn.Dropout(dropout),
        )

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(x)


class GPT(nn.Module):
    """A decoder-only transformer over `vocabulary` codes; head and embedding share weights."""

    def __init__(self, vocabulary, block, layers, heads, width, dropout):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(block, width)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.apply(self._initialise)
        # Each block adds twice to the residual stream; smaller last layers keep its variance down.
        for block_ in self.blocks:
            for last in (block_.attention.out, block_.mlp[3]):
                nn.init.normal_(last.weight, std=0.02 / math.sqrt(2 * layers))
        self.head.weight = self.token.weight

    @staticmethod
    def _initialise(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, codes):
        position = torch.arange(codes.shape[1], device=codes.device)
        x = self.drop(self.token(codes) + self.position(position))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def loss_of(model, inputs, targets):
    logits = model(inputs)
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))


# ----- what to compare with -----------------------------------------------------------------------


@torch.no_grad()
def evaluate(model, codes, block, batch=64, batches=10):
    """Mean loss over windows spread evenly over `codes`: the same ones at every call."""
    model.eval()
    starts = torch.linspace(0, len(codes) - block - 1, batch * batches, device=codes.device).long()
    losses = [loss_of(model, *windows(codes, part, block)) for part in starts.split(batch)]
    model.train()
    return torch.stack(losses).mean().item()


@torch.no_grad()
def bigram_loss(text):
    """Validation loss of a model that only knows how often which character follows which."""
    size = len(text.vocabulary)
    counts = torch.ones(size, size)
    one = torch.tensor(1.0)
    counts.index_put_((text.train[:-1], text.train[1:]), one, accumulate=True)
    log_probability = (counts / counts.sum(dim=1, keepdim=True)).log()
    return -log_probability[text.validation[:-1], text.validation[1:]].mean().item()


@torch.no_grad()
def sample(model, text, prompt, length, block, device, temperature=0.8):
    """Continue `prompt` by `length` characters, each printed as soon as it is drawn.

    The model always sees `block` characters (newlines precede a short prompt): one shape for all.
    """
    model.eval()
    window = text.encode(prompt.rjust(block, "\n")[-block:])[None].to(device)
    sys.stdout.write(prompt)
    for _ in range(length):
        logits = model(window)[:, -1] / temperature
        code = torch.multinomial(F.softmax(logits, dim=-1), num_samples=1)
        window = torch.cat((window[:, 1:], code), dim=1)
        sys.stdout.write(text.decode([code.item()]))
        sys.stdout.flush()
    sys.stdout.write("\n")
    model.train()


# ----- training -----------------------------------------------------------------------------------


def optimizer_for(model, args):
    """AdamW that decays matrices only; linear warm-up, then a cosine down to a tenth."""
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [
        {"params": matrices, "weight_decay": args.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.99))

    def schedule(step):
        if step < args.warmup:
            return (step + 1) / args.warmup
        done = (step - args.warmup) / max(1, args.steps - args.warmup)
        return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, done)))

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)


def train(model, text, args, device, saved=None):
    """Train up to step `args.steps`, from the checkpoint `saved` if given; returns the losses."""
    optimizer, scheduler = optimizer_for(model, args)
    first, history = 0, {"training": [], "validation": []}
    if saved is not None:
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        first, history = saved["step"], saved["history"]
        torch.set_rng_state(saved["random"])

    codes, held_back = text.train.to(device), text.validation.to(device)
    last = min(args.steps, args.stop_at or args.steps)
    bar = Progress(args.steps, first, items=args.batch * args.block, unit="tokens")
    for step in range(first + 1, last + 1):
        loss = loss_of(model, *random_batch(codes, args.batch, args.block))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        scheduler.step()

        # Reading the loss waits for the step to finish, so it is read now and then only.
        if step % args.log_every == 0 or step in (first + 1, last):
            history["training"].append((step, loss.item()))
            bar.update(step, loss=history["training"][-1][1])
        if step % args.eval_every == 0 or step == last:
            value = evaluate(model, held_back, args.block)
            history["validation"].append((step, value))
            bar.note(f"step {step}: validation loss {value:.4f}")
            save(args, step, model, optimizer, scheduler, text, history)
    bar.close()
    return history


def save(args, step, model, optimizer, scheduler, text, history):
    """Write everything that a resumed run needs to be the run it would have been."""
    checkpoint = {
        "step": step,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "random": torch.get_rng_state(),
        "vocabulary": text.vocabulary,
        "shape": shape_of(args),
        "history": history,
    }
    torch.save(checkpoint, args.checkpoint)


def shape_of(args):
    return {name: getattr(args, name) for name in ("block", "layers", "heads", "width", "dropout")}


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", type=pathlib.Path, help="train on this file")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--block", type=int, default=64, help="characters the model looks back")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--stop-at", type=int, help="stop after this step, to be resumed later")
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--weight-decay", type=float, default=0.1)
    parser.add_argument("--clip", type=float, default=1.0, help="bound on the gradient's norm")
    parser.add_argument("--log-every", type=int, default=10)
    parser.add_argument("--eval-every", type=int, default=500)
    parser.add_argument("--prompt", default="def ")
    parser.add_argument("--sample", type=int, default=400, help="characters to generate at the end")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/char_gpt"))
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    parser.add_argument("--seed", type=int, default=1337)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    args.checkpoint = args.out / "checkpoint.pt"
    torch.manual_seed(args.seed)

    saved = None
    if args.resume:
        if not args.checkpoint.exists():
            sys.exit(f"nothing to resume: there is no {args.checkpoint}")
        saved = torch.load(args.checkpoint, map_location="cpu", weights_only=True)
        vars(args).update(saved["shape"])

    source = args.text.read_text(encoding="utf-8") if args.text else standard_library()
    text = Text(source, saved and saved["vocabulary"])
    model = GPT(len(text.vocabulary), **shape_of(args)).to(args.device)
    if saved is not None:
        model.load_state_dict(saved["model"])
        print(f"resuming after step {saved['step']}")

    parameters = sum(p.numel() for p in model.parameters())
    print(
        f"{len(text.train):,} characters to train on, {len(text.validation):,} to validate, "
        f"{len(text.vocabulary)} different; {parameters:,} parameters; device {args.device}"
    )
    bigram = bigram_loss(text)
    history = train(model, text, args, args.device, saved)
    print(f"validation loss {history['validation'][-1][1]:.4f}, a bigram model's {bigram:.4f}")

    picture = args.out / "loss.png"
    if curve.draw(picture, "char_gpt", history, {"bigram": bigram}):
        print(f"wrote {picture} and {args.checkpoint}")
    print("-" * 30, "sample", "-" * 30)
    sample(model, text, args.prompt, args.sample, args.block, args.device)
    return history


if __name__ == "__main__":
    main()
