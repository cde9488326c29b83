"""What is timed: one row each. Nothing here imports a library."""

import dataclasses

from .contenders import COMPILE, EAGER, TORCH_COMPILE


@dataclasses.dataclass(frozen=True)
class Workload:
    """`task` is the network, `program` what is done with it, `by_hand` JAX's version.

    A round is `steps` steps in a row; `tolerance` is how far numbers may lie apart, relatively, that have
    to agree before a time counts.
    """

    name: str
    title: str
    task: str
    by_hand: str | None
    steps: int
    program: str = "programs.Training"
    by_hand_program: str | None = "programs.Training"
    tolerance: float = 1e-4
    unit: str = "ms"
    memory: bool = False  # also what a step holds
    fresh: bool = False  # new kernels all the time: jaxflow's eager mode compiles each
    start: str | None = None  # "cold" or "warm": seconds from the start of a process to its first step
    warm_up: int = 14  # steps before the first round: jaxflow has compiled what it compiles by then
    rounds: int = 100  # no more rounds than this
    cold: bool = False  # on-disk caches start empty

    def quick_for(self, contender):
        """Whether a contender takes part in --quick, whose time goes where much is compiled."""
        if contender == TORCH_COMPILE:
            return self.name in ("mlp-tiny", "mlp")
        if contender == COMPILE:
            return not self.cold
        return not (self.fresh and contender == EAGER)

    def quick_warm_up(self):
        """As `warm_up`; what takes long is compiled at its first run, and once more if it can donate."""
        return min(self.warm_up, 14 if self.steps >= 10 else 7)


# Left out of --quick unless named: there is a smaller one of each kind.
LONG = ("resnet18", "resnet18-forward", "gpt-demo-0", "gpt", "gpt-forward", "vit-forward", "lstm-forward",
        "generate-again", "lstm-lengths-again", "micro-optimizer-1000", "start-warm")  # fmt: skip

# name, title, network (the same path in models and by_hand), steps of training and of inference in a round
NETWORKS = (
    ("mlp-tiny", "MLP 64-32-10, batch 64", "mlp.Digits", 300, 1000),
    ("mlp", "MLP 6 x 512, batch 128", "mlp.Wide", 30, 100),
    ("cnn", "CNN of 6 convolutions, batch 32", "cnn.CNN", 5, 15),
    ("resnet18", "ResNet-18, batch 32", "resnet.ResNet18", 1, 4),
    ("gpt-demo", "the demo's GPT, dropout 0.1", "gpt.Demo", 10, 30),
    ("gpt-demo-0", "the demo's GPT, dropout 0", "gpt.DemoWithoutDropout", 10, None),
    ("gpt", "GPT 6 x 384, block 256, batch 4", "gpt.GPT", 2, 6),
    ("lstm", "LSTM language model", "lstm.LanguageModel", 5, 15),
    ("vit", "ViT 6 x 192, batch 32", "vit.ViT", 3, 10),
)


def training(name, title, task, steps):
    by_hand = BY_HAND.get(task, task)
    # The smallest network's memory is its batches'.
    memory = name != "mlp-tiny"
    return Workload(name, f"{title}, training step", f"models.{task}", by_hand, steps, memory=memory)


def inference(name, title, task, steps):
    program = "programs.Inference"
    by_hand = BY_HAND.get(task, task)
    task = f"models.{task}"
    return Workload(f"{name}-forward", f"{title}, forward", task, by_hand, steps, program, program)


BY_HAND = {"resnet.ResNet18": "cnn.ResNet18"}
CHANGING = (
    ("generate-new", "generation, every length new", "gpt.Generator", "Generator", "Generation", 6),
    ("generate-again", "the same lengths a second time", "gpt.Generator", "Generator", "GenerationAgain", 6),
    ("lstm-lengths", "LSTM, every batch another length", "lstm.LanguageModel", None, "ChangingLengths", 5),
    ("lstm-lengths-again", "the same lengths a second time", "lstm.LanguageModel", None, "LengthsAgain", 5),
    ("trees", "tree LSTM over random trees, 4 a batch", "trees.Trees", "Trees", "TreeTraining", 3),
    ("reinforce", "REINFORCE, a step of the cart", "policy.Policy", "Policy", "Reinforcement", 3),
)


def changing(name, title, task, by_hand, program, steps):
    by_hand = f"changing.{by_hand}" if by_hand else task
    program = f"changing.{program}"
    task = f"models.{task}"
    fresh = name not in ("trees", "reinforce")
    return Workload(name, title, task, by_hand, steps, program, program, rounds=5, cold=True, fresh=fresh)


# name, title, class in small.py, the same by hand or None, steps
SMALL = (
    ("micro-op", "an operation, recorded or dispatched", "Op", "Op", 5),
    ("micro-op-grad", "the same, requiring grad", "OpWithGrad", None, 5),
    ("micro-backward", "backward, by node", "BackwardNode", None, 5),
    ("micro-optimizer-10", "Adam on 10 parameters, by parameter", "Optimizer", "Optimizer", 50),
    ("micro-optimizer-100", "Adam on 100 parameters, by parameter", "Optimizer100", "Optimizer100", 10),
    ("micro-optimizer-1000", "Adam on 1,000 parameters, by parameter", "Optimizer1000", "Optimizer1000", 2),
    ("micro-item", "an addition and item()", "Item", "Item", 200),
    ("micro-index", "indexing and a sum", "Index", "Index", 50),
    ("micro-chain-10", "elementwise operations on 10 numbers, each of 100", "Chain", "Chain", 50),
    ("micro-chain-10M", "elementwise operations on 10 million, each of 100", "LargeChain", "LargeChain", 1),
)


# name, title, class in memory.py, steps
MEMORY = (
    ("memory-out", "a loss out of a small product by numpy()", "NumbersOut", 100),
    ("memory-out-64MB", "64 MB computed and taken out by numpy()", "LargeOut", 3),
    ("memory-batches", "a batch by from_numpy at each step", "Batches", 100),
    ("memory-rows", "64 random rows of 1 GB that NumPy holds", "RowsOfLarge", 50),
    ("memory-filled", "a row filled by NumPy and summed", "Filled", 100),
    ("memory-replay", "a row into a replay buffer, 32 rows out of it", "Replay", 50),
    ("memory-weight", "a step on a layer whose weight an array shows", "KeptWeight", 50),
)


def small(name, title, program, by_hand, steps):
    model, by_hand = ("small.NoModel", f"small.{by_hand}") if by_hand else (None, None)
    return Workload(name, title, "small.Nothing", model, steps, f"small.{program}", by_hand,
                    unit="us", warm_up=min(steps, 14))  # fmt: skip


def memory(name, title, program, steps):
    return Workload(name, title, "small.Nothing", None, steps, f"memory.{program}", None,
                    unit="us", warm_up=min(steps, 14))  # fmt: skip


def start(kind):
    title = f"process start to the end of the first step of the demo's GPT, {kind} cache"
    task = "gpt.Demo"
    return Workload(f"start-{kind}", title, f"models.{task}", task, 1, unit="s", start=kind, rounds=3)


ROWS = (
    *(training(*row[:4]) for row in NETWORKS),
    *(inference(*row[:3], row[4]) for row in NETWORKS if row[4]),
    *(changing(*row) for row in CHANGING),
    *(small(*row) for row in SMALL),
    *(memory(*row) for row in MEMORY),
    start("cold"),
    start("warm"),
)
WORKLOADS = {row.name: row for row in ROWS}
