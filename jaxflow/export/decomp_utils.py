"""Tables of decompositions of PyTorch's operators. Exported programs have none of these operators."""


class CustomDecompTable(dict):
    """A table from operators to functions; `ExportedProgram.run_decompositions` takes an empty one."""


def default_decompositions() -> CustomDecompTable:
    """An empty table."""
    return CustomDecompTable()
