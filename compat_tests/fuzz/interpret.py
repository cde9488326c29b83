"""Running a program on one library and taking down what a user could see after each statement."""

import dataclasses
import functools
import re
import warnings
from typing import Any

import torch

from compat_tests.ops.arguments import to_torch

from . import functions, make, samples, walks
from .draw import overlaps_itself

#: The base of a view, where no name of the program holds it.
UNNAMED = "a tensor no longer named"

#: A method that writes, an operator that does, or a write at places.
_WRITE = re.compile(r"""
    (?:with\ [^:]+:\ )?
    (?: (?P<name>t\d+) (?: \.\w+_\( | \ [^ ]+=\  | \[.*\]\ [^ ]*=\  )  # t0.add_(, t0 += , t0[1] =
      | T\.[\w.]+_\( (?P<given>t\d+) [,)] )  # T.rsqrt_(t0)
""", re.VERBOSE)

compiled = functools.lru_cache(maxsize=100_000)(lambda code: compile(code, "<program>", "exec"))


@dataclasses.dataclass(frozen=True)
class Facts:
    """One tensor after one statement; ``values`` and ``grad`` are None where nobody looked."""

    dtype: str
    shape: tuple
    stride: tuple
    offset: int
    contiguous: bool
    marks: tuple
    version: int
    requires_grad: bool
    leaf: bool
    grad_fn: str | None
    base: str | None
    has_grad: bool
    values: Any = None
    grad: Any = None
    memory: tuple = ()


@dataclasses.dataclass(frozen=True)
class Entry:
    """What one statement did: its error, if any, and the facts of every tensor in the pool.

    ``undefined``: it wrote into a tensor of which several elements are one in memory. Whether PyTorch writes
    there once or as often as there are elements is not defined. ``lines`` are those of a whole function,
    where ``code`` only says that it ran.
    """

    code: str
    error: tuple[str, str] | None
    facts: dict[str, Facts | tuple[str, str]]
    undefined: bool = False
    lines: str = ""

    @property
    def words(self):
        """What the rules of single operations look at."""
        return self.lines or self.code


def fresh_space(T):
    """What names a program starts with."""
    return {"T": T, "functions": functions, "make": make, "samples": samples, "walks": walks}


def values(t):
    """The tensor's numbers, as a plain tensor of torch."""
    if isinstance(t, torch.Tensor):
        return t.detach().resolve_conj().resolve_neg().clone()
    return to_torch(t)


def run(program, T, values=values, sizes=()):
    """Execute ``program`` on the module ``T`` and return its log, a list of `Entry`.

    Statements about names that do not exist (a failed statement made none) are left out. ``values`` says
    what is taken down of a tensor's numbers, ``sizes`` what the names of sizes stand for.
    """
    space = {**fresh_space(T), **dict(sizes)}
    return [entry for entry, _ in steps(program, space, values)]


def steps(program, space, values=values):
    """Execute into ``space`` and yield (entry, instruction) one at a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for instruction in program:
            if not instruction.uses <= space.keys():
                continue
            undefined = _writes_over_itself(instruction.code, space)
            error = execute(instruction, space)
            facts = observe(space, instruction.looks, values)
            yield Entry(instruction.code, error, facts, undefined and error is None), instruction
            if error and instruction.fatal:
                return


def _writes_over_itself(code, space):
    """Whether a statement is a write into a tensor of torch's whose elements overlap."""
    found = _WRITE.match(code)
    target = space.get(found["name"] or found["given"]) if found else None
    return isinstance(target, torch.Tensor) and overlaps_itself(target)


def execute(instruction, space):
    """Run one statement; returns its error as (type, first line), or None."""
    try:
        exec(compiled(instruction.code), space)
    except Exception as error:
        return described(error)
    return None


def described(error):
    """An error as (type, first line)."""
    first = str(error).partition("\n")[0]
    return type(error).__name__, re.sub(r"\bjaxflow(\._\w+)*\b", "torch", first).rstrip()


def tensors(space):
    """The pool: name to tensor."""
    return {name: t for name, t in space.items() if isinstance(t, space["T"].Tensor)}


def numbers(space):
    """What a program has read from tensors: name to number or list."""
    return {name: x for name, x in space.items() if name[0] == "s" and name[1:].isdigit()}


def observe(space, looks, values=values):
    """Facts of every tensor in the pool, with values where ``looks``.

    Where even a look at ``grad_fn`` is refused (a view that lost its history), that is the fact.
    """
    pool = tensors(space)
    seen = {}
    homes = {}
    for name, t in pool.items():
        try:
            if t.numel():
                homes.setdefault(t.untyped_storage().data_ptr(), []).append(name)
            seen[name] = facts(t, pool, looks, values)
        except Exception as error:
            seen[name] = described(error)
    for names in homes.values():
        for name in names:
            if len(names) > 1 and isinstance(seen[name], Facts):
                seen[name] = dataclasses.replace(seen[name], memory=tuple(names))
    return seen | numbers(space)


def facts(t, pool, looks, values):
    """Everything compared of one tensor."""
    base = t._base
    names = [name for name, other in pool.items() if other is base]
    # Only these have a .grad that PyTorch lets one read without a warning.
    grad = t.grad if t.is_leaf or t.retains_grad else None
    return Facts(
        dtype=str(t.dtype),
        shape=tuple(t.shape),
        stride=tuple(t.stride()),
        offset=t.storage_offset(),
        contiguous=t.is_contiguous(),
        marks=(t.is_conj(), t.is_neg()),
        version=t._version,
        requires_grad=t.requires_grad,
        leaf=t.is_leaf,
        grad_fn=None if t.grad_fn is None else t.grad_fn.name(),
        base=None if base is None else (names or [UNNAMED])[0],
        has_grad=grad is not None,
        values=values(t) if looks else None,
        grad=values(grad) if looks and grad is not None else None,
    )
