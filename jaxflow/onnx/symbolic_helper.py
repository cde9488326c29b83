"""What translations of operators to ONNX are written with."""

from __future__ import annotations

from collections.abc import Callable


def parse_args(*arg_descriptors: str) -> Callable[[Callable], Callable]:
    """A decorator of a translation that says how its arguments are read; calling the translation raises.

    There is no exporter, so nothing calls it.
    """
    from . import export

    def decorate(fn: Callable) -> Callable:
        def translation(*args: object, **kwargs: object) -> object:
            return export()

        translation.__name__, translation.__doc__, translation.__wrapped__ = fn.__name__, fn.__doc__, fn
        return translation

    return decorate
