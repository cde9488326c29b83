"""What code mentions: names, attributes, and how it calls some functions of Python."""

from __future__ import annotations

import dis
import functools
import re
import types
from collections.abc import Iterable
from typing import Any

#: Stands among the names for what a pattern of a class looks at by position.
MATCHED = "__match_args__"
_MATCH_CLASS = dis.opmap["MATCH_CLASS"]
# The fields of a text that may be a format, and the attributes that they name: "{0.mode.name}".
_FIELD, _ATTRIBUTE = re.compile(r"\{([^{}!:]*)"), re.compile(r"\.([^\W\d]\w*)")

# Steps that do nothing, and those that only make a variable of an enclosing function known.
_UNSEEN = ("CACHE", "NOP", "EXTENDED_ARG", "PRECALL", "PUSH_NULL")
# Steps by which a variable gets another value, or none; such as follow no other, or end a function.
_ASSIGNING = ("STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR")
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_ENDING = ("RETURN", "RAISE", "RERAISE", "YIELD", "SEND")
_MADE_KNOWN = ("MAKE_CELL", "COPY_FREE_VARS", "LOAD_CLOSURE")


@functools.lru_cache(maxsize=4096)
def globals_of(code: types.CodeType) -> frozenset[str]:
    """The global names that code mentions, nested code too."""
    return frozenset(
        step.argval for part in codes_of(code) for step in dis.get_instructions(part)
        if step.opname.endswith(("_GLOBAL", "_NAME"))
    )


@functools.lru_cache(maxsize=4096)
def types_asked(code: types.CodeType) -> frozenset[str] | None:
    """The parameters of which a function reads the ``type``; None if it uses ``type`` otherwise as well.

    A parameter that is never assigned is what the caller gave, so a tracked number among them is noticed.
    """
    if "type" not in code.co_names:
        return frozenset()
    steps = [step for step in dis.get_instructions(code) if step.opname not in _UNSEEN]
    given = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]).difference(
        name for step in steps if step.opname.startswith(_ASSIGNING)
        for name in (step.argval if isinstance(step.argval, tuple) else (step.argval,))
    )
    asked = set()
    for step, what, then in zip(steps, [*steps[1:], None], [*steps[2:], None, None]):
        if step.argval == "type" and step.opname.endswith(("_GLOBAL", "_NAME")):
            if then is None or step.opname != "LOAD_GLOBAL" or what.opname != "LOAD_FAST" or (
                what.argval not in given or then.opname != "CALL" or then.arg != 1
            ):
                return None
            asked.add(what.argval)
    return frozenset(asked)


def asks_types(codes: Iterable[types.CodeType]) -> bool:
    """Whether code may read the ``type`` of a tracked number without being noticed."""
    return any(types_asked(part) is None for code in codes for part in codes_of(code))


def _is_constant(code: types.CodeType, function: str) -> bool:
    """Whether all that ``code`` does with a global function of two or three arguments is to call it, with a
    text that stands in the code as the second one."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    return all(_names_second(steps[at + 1:]) for at, step in enumerate(steps)
               if step.argval == function and step.opname != "LOAD_CONST")


def _names_second(steps: list[dis.Instruction]) -> bool:
    """Whether a call whose function has just been loaded has a constant text as its second argument.

    Python puts arguments on its stack one by one; ``depth`` is how many of them are there.
    """
    depth, named = 0, False
    for step in steps:
        if step.opname in ("PRECALL", "CALL") and step.arg == depth:
            return named and depth <= 3
        if step.opname == "PUSH_NULL" and not depth:
            continue
        if step.opcode in _JUMPS or step.opname.startswith(_ENDING):
            return False
        before, depth = depth, depth + dis.stack_effect(step.opcode, step.arg)
        if depth < 1:
            return False
        if depth == 2:
            named = before == 1 and step.opname == "LOAD_CONST" and isinstance(step.argval, str)
    return False


def names_of(code: types.CodeType) -> set[str]:
    """The names of globals and attributes that code mentions, nested code too.

    Constant strings that could be names are among them; variables of enclosing functions are not.
    """
    found = set(code.co_names)
    if "getattr" in found and _is_constant(code, "getattr"):
        found.discard("getattr")  # it reads what the text names, which is among the constants
    if _MATCH_CLASS in code.co_code[::2]:
        found.add(MATCHED)
    if "format" in code.co_names and not any(isinstance(x, str) and "{" in x for x in code.co_consts):
        found.add("getattr")  # what a text names that comes from elsewhere
    for x in code.co_consts:
        found |= _named_by(x)
    return found


def _named_by(x: Any) -> set[str]:
    """The names that a constant of some code mentions."""
    if isinstance(x, types.CodeType):
        return names_of(x)
    if isinstance(x, tuple):  # the attributes that a pattern of a class looks at, for one
        return set().union(*map(_named_by, x))
    if not isinstance(x, str):
        return set()
    return {x} if x.isidentifier() else {name for field in _FIELD.findall(x)
                                         for name in _ATTRIBUTE.findall(field)}


def codes_of(code: types.CodeType) -> set[types.CodeType]:
    """Code and what is defined inside it."""
    found = {code}
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            found |= codes_of(x)
    return found


def only_appends(name: str, codes: Iterable[types.CodeType], *, inside: bool = False) -> bool:
    """Whether ``codes`` do nothing with what has this name but call its ``append`` or ``extend``.

    ``inside``: nothing but call these of what is looked up in it by a key.
    """
    for code in codes:
        for part in codes_of(code):
            if any(name in _named_by(x) for x in part.co_consts if not isinstance(x, types.CodeType)):
                return False  # it may look there by that text
            steps = [step for step in dis.get_instructions(part) if step.opname not in _UNSEEN]
            for at, step in enumerate(steps):
                if step.argval == name and not step.opname.endswith(_MADE_KNOWN):
                    then = _looked_up(steps[at + 1:]) if inside else steps[at + 1:]
                    if not then or not then[0].opname.startswith(("LOAD_METHOD", "LOAD_ATTR")) or (
                        then[0].argval not in ("append", "extend")
                    ):
                        return False
    return True


def _looked_up(steps: list[dis.Instruction]) -> list[dis.Instruction]:
    """What follows where a key is looked up in what has just been loaded; nothing if that is not done."""
    depth = 1
    for at, step in enumerate(steps):
        if step.opcode in _JUMPS or step.opname.startswith((*_ENDING, "STORE")):
            return []
        depth += dis.stack_effect(step.opcode, step.arg)
        if depth == 1 and step.opname.startswith("BINARY_"):
            return steps[at + 1:] if step.opname == "BINARY_SUBSCR" else []
        if depth < 2:
            return []
    return []


def line_of(name: str, codes: Any) -> str | None:
    """``file:line`` of the first place in ``codes`` that stores to, else mentions, a name."""
    mentioned = None
    for code in codes:
        for part in codes_of(code):
            line = part.co_firstlineno
            for step in dis.get_instructions(part):
                line = (step.positions.lineno if step.positions else None) or line
                if step.argval == name:
                    if step.opname.startswith("STORE"):
                        return f"{part.co_filename}:{line}"
                    mentioned = mentioned or f"{part.co_filename}:{line}"
    return mentioned
