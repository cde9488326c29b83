"""What the inputs and outputs of an exported program are, by name."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


class InputKind(enum.Enum):
    """What an input of a program is."""

    USER_INPUT = enum.auto()
    PARAMETER = enum.auto()
    BUFFER = enum.auto()
    CONSTANT_TENSOR = enum.auto()
    CUSTOM_OBJ = enum.auto()
    TOKEN = enum.auto()


class OutputKind(enum.Enum):
    """What an output of a program is."""

    USER_OUTPUT = enum.auto()
    LOSS_OUTPUT = enum.auto()
    BUFFER_MUTATION = enum.auto()
    PARAMETER_MUTATION = enum.auto()
    GRADIENT_TO_PARAMETER = enum.auto()
    GRADIENT_TO_USER_INPUT = enum.auto()
    USER_INPUT_MUTATION = enum.auto()
    TOKEN = enum.auto()


@dataclass
class TensorArgument:
    """A tensor by its name."""

    name: str


@dataclass
class ConstantArgument:
    """A value that is the same at every call."""

    name: str
    value: Any


@dataclass
class InputSpec:
    """An input: its kind, its name, and for a parameter or buffer the dotted name in the module."""

    kind: InputKind
    arg: TensorArgument | ConstantArgument
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclass
class OutputSpec:
    """An output: its kind, its name, and for a tensor that was written to the dotted name or the input's."""

    kind: OutputKind
    arg: TensorArgument | ConstantArgument
    target: str | None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        return f"{self.arg.name}: {self.kind.name}{target}"


@dataclass
class ExportBackwardSignature:
    """Which outputs are gradients. Programs have none: their modules are differentiated as they run."""

    gradients_to_parameters: dict[str, str]
    gradients_to_user_inputs: dict[str, str]
    loss_output: str


@dataclass
class ExportGraphSignature:
    """Inputs and outputs of a program, in order.

    Inputs have the names of ``forward``'s parameters, and a parameter ``fc.weight`` that of ``p_fc_weight``,
    a buffer that of ``b_...``. Outputs are called ``output``, ``output_1`` and so on.
    """

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _targets(self, kind: InputKind) -> tuple[str, ...]:
        return tuple(s.target for s in self.input_specs if s.kind is kind)

    def _names(self, kind: InputKind) -> Mapping[str, str]:
        return {s.arg.name: s.target for s in self.input_specs if s.kind is kind}

    def _written(self, kind: OutputKind) -> Mapping[str, str]:
        return {s.arg.name: s.target for s in self.output_specs if s.kind is kind}

    @property
    def parameters(self) -> tuple[str, ...]:
        """Dotted names of the parameters."""
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self) -> tuple[str, ...]:
        """Dotted names of the buffers."""
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """Dotted names of the buffers that are not in the state dict."""
        buffers = (s for s in self.input_specs if s.kind is InputKind.BUFFER)
        return tuple(s.target for s in buffers if not s.persistent)

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """None: other tensors of the module are constants inside the program."""
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def user_inputs(self) -> tuple:
        """Names of the arguments' tensors, and the values of what is no tensor."""
        return _shown(s.arg for s in self.input_specs if s.kind is InputKind.USER_INPUT)

    @property
    def user_outputs(self) -> tuple:
        """Names of the result's tensors, and the values of what is no tensor."""
        return _shown(s.arg for s in self.output_specs if s.kind is OutputKind.USER_OUTPUT)

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        """Names of inputs to dotted names of parameters."""
        return self._names(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        """Names of inputs to dotted names of buffers."""
        return self._names(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        """Empty; see `lifted_tensor_constants`."""
        return self._names(InputKind.CONSTANT_TENSOR)

    @property
    def buffers_to_mutate(self) -> Mapping[str, str]:
        """Names of outputs to dotted names of the buffers that get them."""
        return self._written(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> Mapping[str, str]:
        """Names of outputs to dotted names of the parameters that get them."""
        return self._written(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> Mapping[str, str]:
        """Names of outputs to names of the inputs that get them."""
        return self._written(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self) -> None:
        """None: no program has gradients among its outputs."""
        return

    def __str__(self) -> str:
        inputs, outputs = map(str, self.input_specs), map(str, self.output_specs)
        return "\n".join(["", "# inputs", *inputs, "", "# outputs", *outputs, ""])


def _shown(arguments: Iterable) -> tuple:
    return tuple(a.value if isinstance(a, ConstantArgument) else a.name for a in arguments)
