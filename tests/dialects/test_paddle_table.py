"""Paddle's functions on tensors: NumPy is the oracle, and no line of the table names what is not there."""

import ast
import builtins

import numpy as np
import pytest
from paddle_rows import ROWS, A, B, I, U

import jaxflow
from jaxflow import paddle
from jaxflow.paddle import _rows


def test_functions_agree_with_numpy(deferred):
    given = {"paddle": paddle, "np": np, "x": paddle.to_tensor(A), "i": paddle.to_tensor(I),
             "b": paddle.to_tensor(B), "u": paddle.to_tensor(U), "a": A}
    # All are recorded before the first number is asked for, so that they are one program.
    results = {call: eval(call, given) for call in ROWS}
    wrong = [call for call, expected in ROWS.items() if not agrees(results[call], expected)]
    assert not wrong


def agrees(result, expected):
    if isinstance(result, (list, tuple)) and not isinstance(result[0], int):
        return len(result) == len(expected) and all(map(agrees, result, expected))
    if isinstance(result, jaxflow.Tensor) and type(result) is not paddle.Tensor:
        return False
    result, expected = np.asarray(result), np.asarray(expected)
    return result.shape == expected.shape and np.allclose(result, expected, 1e-5, 1e-6, equal_nan=True)


def test_lines_name_what_is_there():
    """Every name in an expression is an argument, a builtin, or one the table was given."""
    unknown = []
    for row in _rows.ROWS:
        expression, signature = ast.parse(row.expression), ast.parse(f"def {row.signature}: pass")
        bound = {n.arg for tree in (expression, signature) for n in ast.walk(tree) if isinstance(n, ast.arg)}
        names = [n for n in ast.walk(expression) if isinstance(n, ast.Name)]
        bound |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
        for node in ast.walk(expression):
            if isinstance(node, ast.Name) and node.id not in bound:
                if node.id not in row.names and not hasattr(builtins, node.id):
                    unknown.append((row.name, node.id))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                module = row.names.get(node.value.id) if node.value.id not in bound else None
                if module is not None and not hasattr(module, node.attr):
                    unknown.append((row.name, node.attr))
    assert len(_rows.ROWS) > 300 and not unknown


def test_a_bad_line_is_refused():
    with pytest.raises(ValueError, match="signature = expression"):
        _rows.rows("", "f(x)", {})


def test_random_functions_and_in_place_methods(deferred):
    paddle.seed(3)
    first = [
        paddle.rand([2]), paddle.randn([2]), paddle.randint(5), paddle.randint(2, 5, [3]), paddle.randperm(4),
        paddle.uniform([3]), paddle.normal(), paddle.normal(1.0, 2.0, [3]),
    ]
    paddle.seed(3)
    assert paddle.rand([2]).tolist() == first[0].tolist()
    assert [t.shape for t in first] == [[2], [2], [1], [3], [4], [3], [1], [3]]
    x = paddle.to_tensor(A)
    for change in (
        "add_(1.0)", "subtract_(x)", "multiply_(x)", "divide_(x + 9)", "scale_(2.0, 1.0)", "clip_(0.0, 1.0)",
        "exp_()", "tanh_()", "reshape_([3, 2])", "unsqueeze_(0)", "squeeze_()", "fill_(2.0)", "zero_()",
        "masked_fill_(x > 0, 1.0)", "uniform_()", "normal_()", "copy_(x)", "lerp_(x, 0.5)", "round_()",
    ):
        y = x.clone()
        assert eval(f"y.{change}") is y and type(y) is paddle.Tensor
    with pytest.raises(RuntimeError, match="reshape_ of a tensor with stop_gradient=False"):
        paddle.to_tensor(A, stop_gradient=False).reshape_([6])
