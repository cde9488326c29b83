"""``save`` and ``load``: exported programs in archives."""

from __future__ import annotations

from typing import Any

from jaxflow._exported import archive
from jaxflow._exported.program import Program

from .exported_program import ExportedProgram
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)


def save(ep: ExportedProgram, f: Any, *, extra_files: dict[str, Any] | None = None,
         opset_version: dict[str, int] | None = None, pickle_protocol: int = 2) -> None:
    """Write an exported program, with its tensors, into an archive. PyTorch does not read it.

    Args:
        ep: the program.
        f: a path, or an open binary file.
        extra_files: contents of further files in the archive, str or bytes, by their names.
        opset_version: accepted without effect: StableHLO's own version is in the program.
        pickle_protocol: accepted without effect.

    Returns:
        None.

    Raises:
        TypeError: for what is no exported program.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.export.save(torch.export.export(nn.Linear(3, 2), (torch.ones(4, 3),)), file)
        >>> start = file.seek(0)
        >>> torch.export.load(file).module()(torch.ones(4, 3)).shape
        torch.Size([4, 2])
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError("The 'ep' parameter must be an instance of 'ExportedProgram', got "
                        f"'{type(ep).__name__}' instead.")
    data, codes = ep._program.to_data()
    signature = ep.graph_signature
    archive.write(f, {
        "kind": "export",
        "tree": ep._tree,
        "program": data,
        "ranges": {name: list(bounds) for name, bounds in ep.range_constraints.items()},
        "inputs": [[*_written(s), s.persistent] for s in signature.input_specs],
        "outputs": [_written(s) for s in signature.output_specs],
    }, codes, extra_files)


def load(f: Any, *, extra_files: dict[str, Any] | None = None,
         expected_opset_version: dict[str, int] | None = None) -> ExportedProgram:
    """Read an exported program from an archive that `save` wrote. Nothing of the file is run while it is
    read.

    Args:
        f: a path, or an open binary file.
        extra_files: by the names of further files, what is replaced by their contents, as text.
        expected_opset_version: accepted without effect.

    Returns:
        The program.

    Raises:
        RuntimeError: for another kind of file, such as an archive of PyTorch's.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> program = torch.export.export(nn.Linear(3, 2), (torch.ones(4, 3),))
        >>> torch.export.save(program, file, extra_files={"note": "first"})
        >>> start, files = file.seek(0), {"note": ""}
        >>> list(torch.export.load(file, extra_files=files).state_dict), files
        (['weight', 'bias'], {'note': 'first'})
    """
    data, codes = archive.read(f, None, extra_files)
    if data["kind"] != "export":
        raise RuntimeError("the file is an archive of torch.jit: read it with torch.jit.load()")
    for name, content in (extra_files or {}).items():
        extra_files[name] = content.decode("utf-8", "replace")
    signature = ExportGraphSignature(
        [InputSpec(InputKind[kind], _argument(arg), target, persistent)
         for kind, arg, target, persistent in data["inputs"]],
        [OutputSpec(OutputKind[kind], _argument(arg), target) for kind, arg, target in data["outputs"]],
    )
    program = Program.from_data(data["program"], codes)
    return ExportedProgram(program, data["tree"], signature, data["ranges"], None)


def _written(spec: InputSpec | OutputSpec) -> list:
    arg = spec.arg
    plain = [arg.name, arg.value] if isinstance(arg, ConstantArgument) else [arg.name]
    return [spec.kind.name, plain, spec.target]


def _argument(written: list) -> TensorArgument | ConstantArgument:
    return ConstantArgument(*written) if len(written) > 1 else TensorArgument(*written)
