"""Random programs, run on torch as they grow so that most of their statements make sense."""

import torch

from . import others, views, writes
from .draw import Draw
from .interpret import Facts, fresh_space, steps, tensors
from .program import Instruction

# How often each kind of statement is drawn.
KINDS = (
    (others.leaf, 2),
    (views.view_of, 9),
    (writes.write, 7),
    (others.unary, 3),
    (others.binary, 3),
    (others.custom, 1),
    (others.backward, 1),
    (others.gradient, 1),
    (others.flags, 1),
    (others.forget, 1),
    (others.look, 1),
)
CROWD = 14  # above so many tensors, only statements that make none


def generate(seed, length=None):
    """The program of ``seed``: a list of instructions that ends with a look at every value."""
    d = Draw(seed)
    length = length or d.rng.randint(6, 28)
    space = fresh_space(torch)
    program = []
    kinds, weights = zip(*KINDS, strict=True)
    while len(program) < length:
        writer = others.leaf if not program else d.rng.choices(kinds, weights)[0]
        if len(d.pool) > CROWD and writer not in (writes.write, others.forget, others.backward):
            continue
        instruction = writer(d)
        if instruction is None or not instruction.uses <= space.keys():
            continue
        program.append(instruction)
        ((entry, _),) = steps([instruction], space)
        d.pool = {n: t for n, t in tensors(space).items() if isinstance(entry.facts[n], Facts)}
        if entry.error and instruction.fatal:
            return program
    program.append(Instruction("pass", looks=True))
    return program
