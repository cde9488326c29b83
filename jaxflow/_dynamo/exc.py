"""Errors that PyTorch's compiler and exporter raise."""

from __future__ import annotations

import enum


class UserErrorType(enum.Enum):
    """What is wrong with what a program gave."""

    DYNAMIC_CONTROL_FLOW = enum.auto()
    ANTI_PATTERN = enum.auto()
    STANDARD_LIBRARY = enum.auto()
    CONSTRAINT_VIOLATION = enum.auto()
    DYNAMIC_DIM = enum.auto()
    INVALID_INPUT = enum.auto()
    INVALID_OUTPUT = enum.auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = enum.auto()


class TorchDynamoException(RuntimeError):  # noqa: N818 - PyTorch's name
    """The base of these errors."""


class UserError(TorchDynamoException):
    """A program cannot be exported as it was asked for."""

    def __init__(self, error_type: UserErrorType, msg: str, case_name: str | None = None) -> None:
        super().__init__(msg)
        self.error_type, self.message, self.case_name = error_type, msg, case_name


class UncapturedHigherOrderOpError(TorchDynamoException):
    """A function given to a control flow operator does what such a function may not do."""
