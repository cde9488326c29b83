"""Operators that programs register: torch.library and the namespaces of torch.ops."""

import numpy as np
import pytest

import jaxflow as torch
from jaxflow.library import _scoped_library


@pytest.fixture
def lib():
    with _scoped_library("testing", "FRAGMENT") as made:
        yield made


def test_an_operator_with_keywords_and_a_list(lib):
    lib.define("mix(Tensor[] xs, float by=2.0, *, Tensor? plus=None) -> Tensor")
    seen = []

    def mix(xs, by, *, plus):
        seen.append((by, plus))
        total = sum(x.numpy() for x in xs) * by
        return torch.from_numpy(total if plus is None else total + plus.numpy())

    def keep(ctx, inputs, keyword_only_inputs, output):
        ctx.by, ctx.count = inputs[1], len(inputs[0])

    lib.impl("mix", mix, "CPU")
    torch.library.register_autograd("testing::mix", lambda ctx, g: ([g * ctx.by] * ctx.count, None),
                                    setup_context=keep)
    a, b = torch.ones(2, device="cpu", requires_grad=True), torch.ones(2, device="cpu", requires_grad=True)
    y = torch.ops.testing.mix([a, b], 3.0, plus=torch.ones(2, device="cpu"))
    y.sum().backward()
    assert y.tolist() == [7.0, 7.0] and a.grad.tolist() == b.grad.tolist() == [3.0, 3.0]
    assert torch.ops.testing.mix.default([a.detach()]).tolist() == [2.0, 2.0] and seen[1] == (2.0, None)


def test_what_is_registered_before_its_operator(lib):
    torch.library.register_fake("testing::late", lambda x: x.new_empty(7))
    lib.define("late(Tensor x) -> Tensor")
    assert torch.ops.testing.late(torch.empty(2, device="meta")).shape == (7,)


def test_an_operator_that_writes():
    @torch.library.custom_op("testing::fill", mutates_args={"x"})
    def fill(x: torch.Tensor, value: float) -> None:
        x.copy_(torch.full_like(x, value))

    x = torch.zeros(2)
    assert torch.ops.testing.fill(x, 3.0) is None and x.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="non-functional"):
        fill.register_autograd(lambda ctx: None)


def test_a_composite_has_the_gradient_of_what_it_calls(lib):
    lib.define("square(Tensor x) -> Tensor")
    lib.impl("square", lambda x: x * x, "CompositeImplicitAutograd")
    x = torch.tensor(3.0, requires_grad=True)
    torch.ops.testing.square(x).backward()
    assert x.grad.item() == 6.0


def test_backward_without_a_formula(lib):
    @torch.library.custom_op("testing::strict", mutates_args=())
    def strict(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    y = strict(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        y.sum().backward()
    lib.define("loose(Tensor x) -> Tensor")
    lib.impl("loose", lambda x: x + 1)
    y = torch.ops.testing.loose(torch.ones(2, requires_grad=True))
    with pytest.warns(UserWarning, match="autograd kernel was not registered"):
        y.sum().backward()


def test_examples_and_compiled_functions(lib):
    @torch.library.custom_op("testing::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    twice.register_autograd(lambda ctx, g: 2 * g)
    x = torch.arange(3.0)
    assert torch.vmap(twice)(x).tolist() == [0, 2, 4]
    assert torch.vmap(torch.func.grad(lambda t: twice(t) * t))(x).tolist() == [0, 4, 8]
    compiled = torch.compile(lambda t: twice(t) + 1)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x).numpy(), [1, 3, 5])


def test_what_is_not_there(lib):
    assert not hasattr(torch.ops.testing, "absent")
    with pytest.raises(AttributeError, match="'_OpNamespace' 'testing' object has no attribute 'absent'"):
        torch.ops.testing.absent  # noqa: B018
    lib.define("empty(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="testing::empty"):
        torch.ops.testing.empty(torch.ones(1))
    with pytest.raises(RuntimeError, match="multiple times"):
        lib.define("empty(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="missing value for argument 'x'"):
        torch.ops.testing.empty()
    with pytest.raises(NotImplementedError, match="Autograd"):
        lib.impl("empty", lambda x: x, "Autograd")
    with pytest.raises(OSError, match="nowhere"):
        torch.ops.load_library("/nowhere/lib.so")
    with pytest.raises(NotImplementedError, match="triton_op"):
        torch.library.triton_op("testing::kernel", mutates_args=())


@pytest.mark.parametrize("name", ["get_ctx", "fallthrough_kernel"])
def test_what_only_a_dispatcher_calls(name):
    with pytest.raises((RuntimeError, NotImplementedError)):
        getattr(torch.library, name)()


def test_schemas():
    def fn(x: torch.Tensor, xs: list[torch.Tensor], n: int = 1, *, word: str = "a",
           y: torch.Tensor | None = None, size: list[int] = ()) -> tuple[torch.Tensor, torch.Tensor]:
        raise AssertionError

    assert torch.library.infer_schema(fn, mutates_args=["x"]) == (
        '(Tensor(a0!) x, Tensor[] xs, SymInt n=1, *, str word="a", Tensor? y=None, SymInt[] size=()) '
        "-> (Tensor, Tensor)")
    with pytest.raises(ValueError, match="type annotation"):
        torch.library.infer_schema(lambda x: x, mutates_args=())
