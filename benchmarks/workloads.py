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
    only: tuple = ()


WITHOUT_DROPOUT = "gpt.DemoWithoutDropout"


def training(name, title, task, by_hand, steps, **more):
    return Workload(name, f"{title}, training step", task, by_hand, steps, **more)


ROWS = (
    training("mlp-tiny", "MLP 64-32-10, batch 64", "mlp.Digits", "mlp.Digits", 300),
    training("mlp", "MLP 6 x 512, batch 128", "mlp.Wide", "mlp.Wide", 40),
    training("cnn", "CNN of 6 convolutions, batch 32", "cnn.CNN", "cnn.CNN", 5),
    training("gpt-demo", "the demo's GPT, dropout 0.1", "gpt.Demo", "gpt.Demo", 10),
    training("gpt-demo-0", "the demo's GPT, dropout 0", WITHOUT_DROPOUT, WITHOUT_DROPOUT, 10),
)
WORKLOADS = {row.name: row for row in ROWS}
