"""Random programs over all operators: drawn on torch in the first of their shapes, run in each of them."""

import warnings

import torch

from . import calls, others, rows, samples, views, writes
from .interpret import Facts, fresh_space, steps, tensors
from .program import Instruction
from .sizes import SizedDraw

#: How often each kind of statement is drawn.
KINDS = (
    (rows.leaf, 2), (rows.factory, 1), (views.view_of, 9), (writes.write, 5), (calls.operator, 16),
    (samples.sampled, 2), (rows.binary, 4), (rows.augmented, 3), (rows.scalar, 2), (rows.with_scalar, 2),
    (rows.convert, 2), (rows.read_at, 3), (rows.write_at, 3), (rows.specified, 1), (rows.at_places, 1),
    (others.custom, 0.5), (others.backward, 0.7), (others.flags, 0.7), (others.forget, 0.7),
    (others.look, 1),
)
#: What reads or writes no more than tensors: for ``compile`` and ``vmap``.
PURE = tuple((kind, weight) for kind, weight in KINDS
             if kind not in (samples.sampled, others.custom, others.backward, others.flags, others.forget,
                             others.look))
#: Above so many tensors, only statements that make none.
CROWD = 16
#: Larger results are not kept: programs are to be quick.
LARGE = 2000


class Drawing(SizedDraw):
    """A hand with the space of the first shape's run, in which calls can be tried."""

    def __init__(self, seed):
        super().__init__(seed)
        self.space = {**fresh_space(torch), **self.rounds[0]}
        self.scalars = []
        self.numbers = 0

    def fresh_scalar(self):
        """A name for a Python number."""
        self.numbers += 1
        return f"s{self.numbers - 1}"

    def tried(self, text):
        """Whether torch takes a call, and what it gives; a trial leaves nothing behind.

        None instead where nothing can be compared: it gives complex numbers of half precision, which XLA has
        not, or writes into an operand, though it is no call that says so (a fault of PyTorch: ``cov`` of one
        observation with weights does).
        """
        versions = {name: t._version for name, t in self.pool.items() if not t.is_inference()}
        with warnings.catch_warnings(), torch.random.fork_rng([]):
            warnings.simplefilter("ignore")
            try:
                result = eval(text, self.space)
            except Exception:
                return False, None
        found = result if isinstance(result, (tuple, list)) else [result]
        if any(isinstance(x, torch.Tensor) and x.dtype is torch.complex32 for x in found) or any(
                self.pool[name]._version != version for name, version in versions.items()):
            return None, None
        kept = all(not isinstance(x, torch.Tensor) or x.numel() <= LARGE and x.layout is torch.strided
                   for x in found)
        return kept, result if kept else None

    def update(self, entry):
        """Take note of what there is after a statement."""
        self.pool = {n: t for n, t in tensors(self.space).items()
                     if n[0] == "t" and isinstance(entry.facts.get(n), Facts) and t.numel() <= LARGE}
        self.scalars = [n for n, x in self.space.items()
                        if n[0] == "s" and n[1:].isdigit() and isinstance(x, (int, float))]


def drawn(seed, kinds=KINDS, length=None):
    """The program of a seed: instructions and the sizes of its rounds."""
    d = Drawing(seed)
    length = length or d.rng.randint(5, 20)
    program = []
    writers, weights = zip(*kinds, strict=True)
    for _ in range(length * 8):
        if len(program) >= length:
            break
        writer = rows.leaf if len(d.pool) < 2 else d.rng.choices(writers, weights)[0]
        if len(d.pool) > CROWD and writer not in (writes.write, others.forget, rows.augmented, rows.write_at):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                instruction = writer(d)
            except RuntimeError:  # a writer looked at what a tensor of another mode refuses
                continue
        if instruction is None or not instruction.uses <= d.space.keys():
            continue
        if not instruction.looks and d.chance(0.15):
            instruction = Instruction(instruction.code, instruction.makes, True, instruction.fatal)
        ((entry, _),) = steps([instruction], d.space)
        program.append(instruction)
        d.update(entry)
        if entry.error and instruction.fatal:
            break
    if kinds is KINDS:
        for _ in range(2):
            if (last := others.backward(d)) is not None and last.uses <= d.space.keys():
                program.append(last)
    program.append(Instruction("pass", looks=True))
    return program, d.rounds


def drawn_pure(seed):
    """The program of a seed for ``compile`` and ``vmap``."""
    return drawn(seed, PURE)
