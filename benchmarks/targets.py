"""What the project set itself: a contender's time over another's, at most, by workload."""

from .contenders import BY_HAND, COMPILE, DEFERRED, PYTORCH, TORCH_COMPILE

# workload, contender, against whom, at most
SINGLE = (
    ("mlp-tiny", DEFERRED, PYTORCH, 1.50),
    ("mlp-tiny", COMPILE, PYTORCH, 0.50),
    ("mlp", DEFERRED, PYTORCH, 0.60),
    ("gpt-demo", DEFERRED, PYTORCH, 0.90),
    ("gpt-demo-0", DEFERRED, PYTORCH, 0.90),
    ("gpt", DEFERRED, PYTORCH, 0.90),
    ("vit", DEFERRED, PYTORCH, 0.90),
    ("cnn", DEFERRED, PYTORCH, 1.00),
    ("resnet18", DEFERRED, PYTORCH, 1.00),
    ("lstm", DEFERRED, PYTORCH, 1.00),
    ("generate-new", DEFERRED, PYTORCH, 4.0),
    ("generate-again", DEFERRED, PYTORCH, 1.5),
    ("lstm-lengths", DEFERRED, PYTORCH, 3.0),
    ("trees", DEFERRED, PYTORCH, 3.0),
    ("reinforce", DEFERRED, PYTORCH, 1.5),
    ("lstm-lengths-again", DEFERRED, PYTORCH, 3.0),
    ("start-cold", DEFERRED, TORCH_COMPILE, 0.2),
    ("start-warm", DEFERRED, PYTORCH, 3.0),
)
TRAINED = ("mlp-tiny", "mlp", "cnn", "resnet18", "gpt-demo", "gpt-demo-0", "gpt", "lstm", "vit")
COMPILED = (
    *((name, COMPILE, BY_HAND, 1.03) for name in TRAINED),
    *((name, COMPILE, TORCH_COMPILE, 1.00) for name in TRAINED),
)
# Peak live bytes of a training step, against PyTorch's.
MEMORY = 1.00
ALL = (*SINGLE, *COMPILED)


def of(workload, contender):
    """Pairs (against whom, at most) that hold for a contender in a workload."""
    return [(other, most) for name, who, other, most in ALL if (name, who) == (workload, contender)]
