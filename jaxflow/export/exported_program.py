"""``ExportedProgram``: what `export` returns, and the module that runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from jaxflow._core.tensor import Tensor
from jaxflow._exported.modules import tree_from_data
from jaxflow._exported.program import Program, Size
from jaxflow._exported.structure import flatten, shown
from jaxflow.nn import Module

from .graph_signature import ConstantArgument, ExportGraphSignature


class Range(NamedTuple):
    """The least and the largest number that a name of a size stands for; None where there is no largest."""

    lower: int
    upper: int | None


def _no_graph(name: str) -> NoReturn:
    raise NotImplementedError(
        f"ExportedProgram.{name} is not supported: an exported program is StableHLO, and there is no graph "
        "of Python nodes. print(program.stablehlo()) shows it; program.module() runs it"
    )


class ExportedProgram:
    """A module's forward as a program of StableHLO, with the tensors that it uses.

    `export` and `load` make such objects.
    """

    def __init__(self, program: Program, tree: list[dict], signature: ExportGraphSignature,
                 ranges: Mapping[str, Sequence], example_inputs: tuple[tuple, dict] | None) -> None:
        self._program, self._tree = program, tree
        self._signature = signature
        self._ranges = {name: Range(*bounds) for name, bounds in ranges.items()}
        self._example_inputs = example_inputs

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("Unable to call ExportedProgram directly. You should use "
                           "`exported_program.module()` instead.")

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """What its inputs and outputs are."""
        return self._signature

    @property
    def example_inputs(self) -> tuple[tuple, dict] | None:
        """The arguments that it was exported with; None after it was loaded."""
        return self._example_inputs

    @property
    def range_constraints(self) -> dict[str, Range]:
        """For each name of a size that may change, its bounds."""
        return dict(self._ranges)

    @property
    def dialect(self) -> str:
        """``"STABLEHLO"``."""
        return "STABLEHLO"

    @property
    def state_dict(self) -> dict[str, Tensor]:
        """Parameters and persistent buffers by their dotted names: the tensors themselves."""
        return {**dict(self.named_parameters()),
                **{name: t for name, t in self.named_buffers() if name not in self.constants}}

    @property
    def constants(self) -> dict[str, Tensor]:
        """Buffers outside the state dict. Other tensors of the module are constants in the program."""
        kept = self._signature.non_persistent_buffers
        return {name: t for name, t in self.named_buffers() if name in kept}

    tensor_constants = constants

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Dotted names and parameters."""
        return self._tensors().named_parameters()

    def parameters(self) -> Iterator[Tensor]:
        """The parameters."""
        return (p for _, p in self.named_parameters())

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """Dotted names and buffers."""
        return self._tensors().named_buffers()

    def buffers(self) -> Iterator[Tensor]:
        """The buffers."""
        return (b for _, b in self.named_buffers())

    def _tensors(self) -> Module:
        return tree_from_data(self._tree, lambda name: Module())

    def module(self, check_guards: bool = True) -> Module:
        """A module that runs the program, with its parameters and buffers.

        Args:
            check_guards: accepted without effect: a program cannot run for arguments of another form.

        Returns:
            A module. It stays in the mode of the export: ``train()`` and ``eval()`` raise
            NotImplementedError.
        """
        made = tree_from_data(self._tree, lambda name: ExportedModule())
        made.__dict__["_exported"] = self
        for part in made.modules():
            part.training = True
        return made

    def stablehlo(self) -> str:
        """The text of the program."""
        return self._program.forward.mlir_module()

    def run_decompositions(self, decomp_table: Mapping | None = None, **kwargs: Any) -> ExportedProgram:
        """The program itself: its operations are StableHLO's.

        Raises:
            NotImplementedError: for a table with functions in it.
        """
        if decomp_table:
            _no_graph("run_decompositions(decomp_table)")
        return self

    @property
    def graph(self) -> NoReturn:
        """Raises NotImplementedError."""
        _no_graph("graph")

    @property
    def graph_module(self) -> NoReturn:
        """Raises NotImplementedError."""
        _no_graph("graph_module")

    @property
    def module_call_graph(self) -> NoReturn:
        """Raises NotImplementedError."""
        _no_graph("module_call_graph")

    @property
    def call_spec(self) -> NoReturn:
        """Raises NotImplementedError."""
        _no_graph("call_spec")

    def _check(self, args: tuple, kwargs: dict) -> None:
        """Raise where arguments do not fit, as PyTorch's programs do."""
        program = self._program
        given, structure = flatten((args, kwargs), "the arguments")
        if structure != program.inputs:
            self._check_structure(structure)
        users = (s.arg for s in self._signature.input_specs if s.target is None)
        names = [arg.name for arg in users if not isinstance(arg, ConstantArgument)]
        sizes: dict[str, int] = {}
        for name, t, shape, dtype in zip(names, given, program.shapes, program.dtypes, strict=True):
            _guard(t.ndim == len(shape), f"{name}.ndim == {len(shape)}")
            _guard(str(t.dtype) == dtype, f"{name}.dtype == {dtype}")
            for d, (n, want) in enumerate(zip(t.shape, shape, strict=True)):
                if not isinstance(want, Size):
                    _guard(n == want, f"{name}.size()[{d}] == {want}")
                    continue
                found = want.number(n)
                _guard(found is not None and sizes.setdefault(want.name, found) == found,
                       f"{name}.size()[{d}] == {want}")
                least, most = self._ranges[want.name]
                _guard(found >= least, f"{name}.size()[{d}] >= {want.of(least)}")
                _guard(most is None or found <= most, f"{name}.size()[{d}] <= {want.of(most or 0)}")

    def _check_structure(self, structure: Any) -> None:
        expected = self._program.inputs
        kwargs, their_kwargs = structure[1][1], expected[1][1]
        if kwargs[2] != their_kwargs[2]:
            raise ValueError(f"Ran into a kwarg keyword mismatch: Got the following keywords {kwargs[2]} but "
                             f"expected {their_kwargs[2]}")
        if _forms(structure) == _forms(expected):
            raise AssertionError(f"Guard failed: the arguments {shown(structure)} have other values than "
                                 f"{shown(expected)}, which the module was exported with")
        raise ValueError(
            f"Trying to flatten user inputs with exported input tree spec: {shown(expected)} but actually "
            f"got inputs with tree spec of: {shown(structure)}. Please check that the inputs have the same "
            "number and type of args and kwargs as the ones you used when tracing.")


def _guard(holds: bool, text: str) -> None:
    if not holds:
        raise AssertionError(f"Guard failed: {text}")


def _forms(structure: Any) -> Any:
    """A structure without the values in it."""
    if structure == "tensor" or structure[0] == "is":
        return structure[0]
    kind, items, *rest = structure
    return [kind, [_forms(item) for item in items], *rest]


class ExportedModule(Module):
    """A module that runs an exported program, or one inside it, which only holds tensors."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the exported module returned.

        Raises:
            AssertionError: where a size, dtype or value is not that of the export.
            ValueError: for arguments of another structure.
        """
        exported = self.__dict__.get("_exported")
        if exported is None:
            raise NotImplementedError("only the module that was exported has a program, not those inside it")
        exported._check(args, kwargs)
        tensors = {**dict(self.named_parameters(remove_duplicate=False)),
                   **dict(self.named_buffers(remove_duplicate=False))}
        return exported._program([tensors[name] for name in exported._program.state], args, kwargs)

    def train(self, mode: bool = True) -> NoReturn:
        """Raises NotImplementedError."""
        raise NotImplementedError(f"Calling {'train' if mode else 'eval'}() is not supported yet.")
