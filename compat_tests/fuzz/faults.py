"""What PyTorch gets plainly wrong, so that nothing is specified by what it gives.

Each was looked into: its result contradicts PyTorch's own documentation, or itself in another layout or
dtype. A program with such a line is compared, but not in what the fault reaches.
"""

import re

#: Gradients: of ``ldexp`` by integers below zero an integer power of two is taken, which is 0; of variances
#: over all dimensions, given as an empty list, the count of elements is taken as one (infinities); of a
#: complex product that is scattered the factors are not conjugated; what ``narrow_copy`` takes from a start
#: counted from the end gets 0, or an error (``narrow`` does it right); where logits are broadcast to their
#: targets, which only ``torch``'s own function allows, there is an error; nothing may be repeated less than 0
#: times, but then has no gradient; what ``linear_cross_entropy`` computes in chunks has its gradients outside
#: the graph, so that they outlive it and have no gradients themselves; of extremes of segments, equal ones
#: share a gradient that is more than 0, and each has all of one that is less; ``block_diag`` takes a vector
#: of no elements for no row, and gives all behind it the gradient of another place; ``channel_shuffle`` of
#: no channels has an error there; ``renorm`` by the largest absolute value has nan for complex numbers.
_GRADIENTS = (
    re.compile(r"\b(?:std|var)(?:_mean)?\([^()]*(?:\(\)|\[\])"),
    re.compile(r"\bscatter_reduce_?\(.*'complex.*'prod'"),
    re.compile(r"\bT\.binary_cross_entropy_with_logits\("),
    re.compile(r"\bldexp_?[(']"),
    re.compile(r"\bnarrow_copy\((?:t\d+, )?(?:dim=)?-?\d+, (?:start=)?-\d"),
    re.compile(r"\b(?:repeat|tile)\(.*-\d"),
    re.compile(r"linear_cross_entropy/chunked"),
    re.compile(r"\b_segment_reduce/.*'equal'"),
    re.compile(r"'(?:block_diag|nn\.functional\.channel_shuffle)', .*'sizes', \d+, 0\b"),
    re.compile(r"'renorm', 'complex64', 2\b"),
)

#: Gradients: unsigned targets of ``soft_margin_loss`` and operands of ``atan2`` are negated in their dtype.
_NEGATED = re.compile(r"'(?:nn\.functional\.soft_margin_loss|atan2)', .*'uint8'")

#: Gradients: what ``as_strided_scatter`` hands on to the tensor it copies is what the replaced elements get.
_OF_THE_REPLACED = re.compile(r"\bas_strided_scatter\b")

#: Numbers: of ``airy_ai`` only six digits are right below -2.09; steps of ``matrix_exp`` of halves overflow
#: where its result does not; bytes other than 0 and 1 are no bools, and loops differ in them; the mean of
#: margin losses of no batch is what the memory held before; smoothed images of one column repeat their first
#: row, where those of more have in each column what is right.
_VALUES = (
    re.compile(r"\.view\(T\.bool\)"),
    re.compile(r"\bairy_ai\("),
    re.compile(r"'(?:linalg\.)?matrix_exp', .*'b?float16'"),
    re.compile(r"'nn\.functional\.multi(?:label)?_margin_loss', .*'sizes', \d+, 0\b"),
    re.compile(r"'_upsample_bi(?:linear|cubic)2d_aa', .*'sizes', \d+, 1\b"),
)

#: Numbers: medians along a dimension of what is expanded, whose copy it leaves as it finds the memory.
_EXPANDED = re.compile(r"\b(?:expand|broadcast)\w*")
_MEDIANS = re.compile(r"\b(?:nan)?median\((?:t\d+, )?(?:dim=)?-?\d")

#: The graph: where the base of a conjugate or a negative is written to, what ``t_()`` and its like made of
#: that view before is forgotten: its node has the shape from before them, and backward raises or the node has
#: another name.
_LAZY = re.compile(r"\b(?:_neg_view|conj|mH|adjoint|imag)\b")
_RESHAPED = re.compile(r"\.(?:unsqueeze|squeeze|t|transpose|swapaxes|swapdims)_\(")

#: Shapes: ``unique`` of rows sorts them by a comparison that takes nan to be like any number, so that equal
#: rows may lie apart and all stay; ``ihfftn`` over one dimension gives its ``out=`` no other shape;
#: ``cov`` of one observation writes into its weights.
_SHAPES = (re.compile(r"\bunique\((?:t\d+, )?.*\bdim="), re.compile(r"\bihfft[2n]\(.*\bout="),
           re.compile(r"\bcov\(.*weights="))

#: Shapes under ``vmap``: extremes of all elements keep one dimension there, whatever they had; windows of no
#: elements over no dimension get one more.
_BATCHED = (
    re.compile(r"\b(?:aminmax|argmax|argmin)\((?!.*\bdim=)(?!.*,\s*-?\d).*keepdim=True"),
    re.compile(r"\bunfold\((?:t\d+, )?(?:0|-1), 0,"),
)


def specified(program, kinds):
    """The ``kinds`` of facts that a program's run on PyTorch specifies."""
    if any(pattern.search(i.code) for i in program for pattern in _SHAPES):
        return ()
    wrong = set()
    if any(pattern.search(i.code) for i in program for pattern in _GRADIENTS):
        wrong = {"grad", "has_grad", "error", "phrase"}  # of a backward that raises
    if any(pattern.search(i.code) for i in program for pattern in (_NEGATED, _OF_THE_REPLACED)):
        wrong |= {"grad"}
    if any(pattern.search(i.code) for i in program for pattern in _VALUES):
        wrong |= {"values", "grad", "access"}
    if all(any(pattern.search(i.code) for i in program) for pattern in (_EXPANDED, _MEDIANS)):
        wrong |= {"values", "grad", "access"}
    if all(any(pattern.search(i.code) for i in program) for pattern in (_LAZY, _RESHAPED)):
        wrong |= {"grad_fn", "grad", "has_grad", "error", "phrase"}
    return tuple(kind for kind in kinds if kind not in wrong)


def batches(program):
    """Whether ``vmap`` of a program specifies anything."""
    return not any(pattern.search(i.code) for i in program for pattern in _BATCHED)
