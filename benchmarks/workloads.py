"""What is timed: one row each. Nothing here imports a library."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Workload:
    """`task` is the network in benchmarks/models, `program` what is done with it, `by_hand` JAX's version.

    A round is `steps` steps in a row; `tolerance` is how far numbers may lie apart, relatively, that have
    to agree before a time counts.
    """

    name: str
    title: str
    task: str
    by_hand: str | None
    steps: int
    program: str = "programs.Training"
    by_hand_program: str = "programs.Training"
    tolerance: float = 1e-4
    unit: str = "step"
    rounds: int = 100  # no more rounds than this
    cold: bool = False  # on-disk caches start empty


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
    return Workload(name, f"{title}, training step", task, BY_HAND.get(task, task), steps)


def inference(name, title, task, steps):
    program = "programs.Inference"
    by_hand = BY_HAND.get(task, task)
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
    return Workload(name, title, task, by_hand, steps, program, program, rounds=5, cold=True)


ROWS = (
    *(training(*row[:4]) for row in NETWORKS),
    *(inference(*row[:3], row[4]) for row in NETWORKS if row[4]),
    *(changing(*row) for row in CHANGING),
)
WORKLOADS = {row.name: row for row in ROWS}
