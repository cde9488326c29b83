"""A program as data: statements over a pool of named tensors."""

import dataclasses
import re

NAME = re.compile(r"\b[ts]\d+\b")


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One statement; ``T`` in it is the library.

    ``makes`` are the names it assigns, ``looks`` says that values are compared after it, and
    ``fatal`` that an error in it ends the program (a failed backward leaves ``.grad`` unspecified).
    """

    code: str
    makes: tuple[str, ...] = ()
    looks: bool = False
    fatal: bool = False

    @property
    def uses(self):
        """Names that must exist before."""
        return set(NAME.findall(self.code)) - set(self.makes)


def text(program, library="torch", sizes=()):
    """The program as Python that runs by itself and prints every tensor it still holds."""
    lines = [f"import {library} as T", ""]
    helpers = [name for name in ("functions", "make", "samples", "walks")
               if any(f"{name}." in i.code for i in program)]
    if helpers:
        lines[1:1] = [f"from compat_tests.fuzz import {', '.join(helpers)}"]
    lines += [f"{name} = {size}" for name, size in dict(sizes).items()]
    lines += [i.code for i in program]
    lines += [
        "",
        "for name, t in list(globals().items()):",
        "    if isinstance(t, T.Tensor):",
        "        print(name, t, t.stride(), t._version, t.grad_fn, t.grad if t.is_leaf else '')",
    ]
    return "\n".join(lines)
