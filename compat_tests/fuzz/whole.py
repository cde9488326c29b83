"""Programs as one function: through ``compile`` and ``vmap``."""

import dataclasses
import functools
import re
import warnings

import torch

import jaxflow
from compat_tests.exact import Twins

from . import functions, make, samples
from .compare import KINDS, beyond_subnormals, first_difference
from .faults import batches, specified
from .interpret import Entry, Facts, described, execute, fresh_space, observe, run
from .machine import FLOATS_OF_BITS, Wrong, line_by_line, running
from .program import NAME, Instruction

MODES = ("compile", "vmap")
#: What is compared of what ``vmap`` gives.
OF_BATCHES = ("values", "dtype", "shape", "error")
#: Examples that ``vmap`` maps over.
BATCH = 3
#: A line that makes a tensor and computes nothing with it.
_ALONE = re.compile(r"t\d+ = make\.new\(T, \([^()]*\)[^()]*\)")


def split(program, sizes):
    """The program's inputs and its body: lines that make tensors first, then those that torch takes."""
    space = {**fresh_space(torch), **sizes}
    inputs, body = [], []
    for instruction in program:
        if not instruction.uses <= space.keys() or instruction.code == "pass":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if execute(instruction, space) is not None:
                continue
        leading = not body and _ALONE.fullmatch(instruction.code)
        (inputs if leading else body).append(instruction)
    return inputs, body


def source(inputs, body):
    """The text of the function, and the names that it takes and returns."""
    taken = [name for i in inputs for name in i.makes]
    made = list(dict.fromkeys(name for i in body for name in i.makes))
    gone = {name for i in body if i.code.startswith("del ") for name in NAME.findall(i.code)}
    kept = [name for name in made if name not in gone]
    lines = [f"def body({', '.join([*taken, 'n', 'm', 'k'])}):", *(f"    {i.code}" for i in body),
             f"    return {{{', '.join(f'{name!r}: {name}' for name in kept)}}}"]
    return "\n".join(lines), taken


def performed(T, program, rounds, way):
    """A log of one entry for each round."""
    inputs, body = split(program, rounds[0])
    code, taken = source(inputs, body)
    space = {"T": T, "functions": functions, "make": make, "samples": samples, "__name__": "program"}
    exec(compile(code, "<body>", "exec"), space)
    call = space["body"]
    if way == "compile" and T is jaxflow:
        call = T.compile(call)
    log = []
    for sizes in rounds:
        mine = {**fresh_space(T), **sizes}
        for instruction in inputs:
            execute(_batched(instruction) if way == "vmap" else instruction, mine)
        entry = _called(T, call, mine, taken, sizes, way)
        log.append(dataclasses.replace(entry, lines="\n".join(i.code for i in body)))
    return log


def _batched(instruction):
    code = instruction.code.replace("make.new(T, (", f"make.new(T, ({BATCH}, ").replace(", grad=True", "")
    return Instruction(code, instruction.makes)


def _called(T, call, mine, taken, sizes, way):
    error = None
    arguments = [mine[name] for name in taken]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if way == "vmap":
                mine |= T.vmap(lambda *given: _tensors(T, call(*given, *sizes.values())))(*arguments)
            else:
                mine |= call(*arguments, *sizes.values())
        except Exception as e:
            error = described(e)
    return Entry("the body", error, observe(mine, True))


def _tensors(T, found):
    return {name: x for name, x in found.items() if isinstance(x, T.Tensor)}


def first_wrong(program, rounds, way, kinds=KINDS):
    """The first thing that the function does otherwise on jaxflow, as `Wrong`."""
    kinds = specified(program, kinds)
    if way == "vmap":
        if not batches(program):
            return None
        return _first_wrong(program, rounds, way, tuple(kind for kind in kinds if kind in OF_BATCHES))
    return beyond_subnormals(lambda: _first_wrong(program, rounds, way, kinds))


def _first_wrong(program, rounds, way, kinds):
    inputs, body = split(program, rounds[0])
    if not inputs:
        return None
    expected = performed(torch, program, rounds, way)
    with running("compiled" if way == "compile" else "interpreter"):
        found = performed(jaxflow, program, rounds, way)
    for k, (theirs, ours, sizes) in enumerate(zip(expected, found, rounds, strict=True)):
        if way == "vmap" and theirs.error:
            continue  # which operations have no rule for a batch is told in words of each library
        exact = functools.cache(functools.partial(_exact, [*inputs, *body], sizes))
        difference = first_difference([theirs], [ours], exact if way == "compile" else None, kinds)
        if difference is None or _unstable(difference, program, k, rounds, way):
            continue
        if difference.kind == "values" and any(FLOATS_OF_BITS.search(line.code) for line in body):
            continue
        if way == "compile" and _as_its_lines(difference, [*inputs, *body], ours, k, rounds, kinds):
            continue
        if way == "vmap" and _as_its_examples(difference, inputs, body, ours, sizes):
            continue
        return Wrong(k, sizes, difference, way)
    return None


def _as_its_lines(difference, program, ours, k, rounds, kinds):
    """Whether a compiled function gave what its lines give without ``compile``, each of them rightly.

    What rounding makes of a discontinuity shows in that: NOTE [Line by line].
    """
    if difference.kind not in ("values", "grad", "access", "error"):
        return False
    with running("compiled"):
        plain = performed(jaxflow, program, rounds, "")[k]
    if first_difference([plain], [ours], kinds=kinds) is not None:
        return False
    wrong, _ = line_by_line(program, rounds[k], "compiled", kinds)
    return wrong is None


def _as_its_examples(difference, inputs, body, ours, sizes):
    """Whether a mapped function gave what it gives for each example alone, each of its lines rightly."""
    if difference.kind != "values":
        return False
    for i in range(BATCH):
        given = [Instruction(f"{_batched(line).code}[{i}].clone()", line.makes) for line in inputs]
        program = [*given, *body, Instruction("pass", looks=True)]
        with running("interpreter"):
            alone = run(program, jaxflow, sizes=sizes)[-1]
        facts = {name: dataclasses.replace(fact, values=fact.values[i]) for name, fact in ours.facts.items()
                 if isinstance(fact, Facts)}
        mapped = dataclasses.replace(ours, code=alone.code, facts=facts)
        if not facts.keys() <= alone.facts.keys():
            return False
        alone = dataclasses.replace(alone, facts={name: alone.facts[name] for name in facts})
        if first_difference([alone], [mapped], kinds=("values", "dtype")) is not None:
            return False
        if line_by_line(program, sizes, "interpreter", OF_BATCHES)[0] is not None:
            return False
    return True


def _exact(program, sizes):
    """torch's numbers in double precision: a compiled body rounds less, and is judged by them as well."""
    with Twins() as twins:
        return [run([*program, Instruction("pass", looks=True)], torch, twins.value, sizes)[-1]]


def _unstable(difference, program, k, rounds, way):
    """Whether torch's own result is another for inputs that are off in their last bits."""
    if difference.kind not in ("values", "grad", "access", "error"):
        return False
    plain = performed(torch, program, rounds, way)[k]
    for seed in range(3):
        with make.jittered(seed):
            moved = performed(torch, program, rounds, way)[k]
        found = first_difference([plain], [moved], kinds=(difference.kind,))
        if found is not None and found.where == difference.where:
            return True
    return False
