"""What PyTorch gets plainly wrong, so that nothing is specified by what it gives.

NOTE [Faults of PyTorch]
    Each was looked into: its result contradicts PyTorch's own documentation, or itself in another layout or
    dtype. A program with such a line is compared, but not in what the fault reaches.
"""

import re

#: Gradients: of variances over all dimensions, given as an empty list, the count of elements is taken as one
#: (infinities come out); of a complex product that is scattered the factors are not conjugated; what
#: ``narrow_copy`` takes from a start counted from the end gets 0, or an error (``narrow`` does it right).
_GRADIENTS = (
    re.compile(r"\b(?:std|var)(?:_mean)?\([^()]*(?:\(\)|\[\])"),
    re.compile(r"\bscatter_reduce_?\(.*'complex.*'prod'"),
    re.compile(r"\bnarrow_copy\((?:t\d+, )?(?:dim=)?-?\d+, (?:start=)?-\d"),
)

#: Shapes under ``vmap``: both extremes of all elements keep one dimension there, whatever they had.
_BATCHED = re.compile(r"\baminmax\((?!.*\bdim=)(?!.*,\s*-?\d).*keepdim=True")


def specified(program, kinds):
    """The ``kinds`` of facts that a program's run on PyTorch specifies."""
    if any(pattern.search(i.code) for i in program for pattern in _GRADIENTS):
        return tuple(kind for kind in kinds if kind != "grad")
    return kinds


def batches(program):
    """Whether ``vmap`` of a program specifies anything."""
    return not any(_BATCHED.search(i.code) for i in program)
