"""Autocast regions: which operations are cast, what is kept, and what a region leaves behind."""

import threading

import pytest

import jaxflow as torch
from jaxflow._core import autocast as settings
from jaxflow._core.state import state
from jaxflow._dispatch import autocast_lists
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import COMPOSITES
from jaxflow.nn import functional as F
from jaxflow.utils.checkpoint import checkpoint


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert state.autocast is None and state.casts is None and not state.uncast
    assert threading.get_ident() not in settings.CASTING


@pytest.fixture
def as_cuda(monkeypatch):
    """Tensors on the CPU are cast by the list for CUDA."""
    monkeypatch.setitem(autocast_lists.LISTS, "cpu", autocast_lists.LISTS["cuda"])


def matrix(dtype=torch.float32, requires_grad=False):
    return torch.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=dtype, requires_grad=requires_grad)


def test_every_name_of_the_lists_is_an_operation_or_a_function():
    names = set(OPS) | {f"{space}.{name}" if space else name for space, name in COMPOSITES}
    assert names >= autocast_lists.WHOLE


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_region_casts_and_a_disabled_one_does_not(executor, dtype):
    x = matrix()
    with torch.autocast("cpu", dtype=dtype):
        assert torch.mm(x, x).dtype is dtype and (x + x).dtype is torch.float32
        assert F.mse_loss(x.to(dtype), x.to(dtype)).dtype is torch.float32
        with torch.autocast("cpu", enabled=False):
            assert (x @ x).dtype is torch.float32
        assert (x @ x).dtype is dtype
    assert (x @ x).dtype is torch.float32


def test_numbers_are_those_of_casts_by_hand(executor):
    x, w, b = torch.randn(5, 7), torch.randn(3, 7), torch.randn(3)
    with torch.autocast("cpu"):
        found = F.linear(x, w, b)
    low = F.linear(x.bfloat16(), w.bfloat16(), b.bfloat16())
    assert found.dtype is torch.bfloat16 and torch.equal(found, low)


def test_what_is_written_into_a_given_tensor_is_not_cast():
    x = matrix()
    with torch.autocast("cpu"):
        for out in (torch.mm(x, x, out=torch.empty(2, 2)), torch.matmul(x, x, out=torch.empty(2, 2)),
                    F.linear(x, x, out=torch.empty(2, 2)), x.clone().addmm_(x, x),
                    torch.cat([x, x], out=torch.empty(4, 2))):
            assert out.dtype is torch.float32
        assert torch.equal(torch.mm(x, x, out=torch.empty(2, 2)), torch.tensor([[7.0, 12], [18, 31]]))


def test_float64_integers_and_complex_are_left_alone():
    x = matrix()
    with torch.autocast("cpu"):
        assert (x.double() @ x.double()).dtype is torch.float64
        assert (x.long() @ x.long()).dtype is torch.int64
        assert (x.cfloat() @ x.cfloat()).dtype is torch.complex64
        with pytest.raises(RuntimeError, match="same dtype"):
            x @ x.double()


def test_the_widest_dtype():
    x = matrix()
    with torch.autocast("cpu"):
        assert torch.cat([x, x.bfloat16()]).dtype is torch.float32
        assert torch.stack([x.bfloat16(), x.bfloat16()]).dtype is torch.bfloat16
        with pytest.raises(RuntimeError, match="Unexpected floating ScalarType"):
            torch.cat([x.half(), x.bfloat16()])


def test_weights_get_their_gradients_in_float32(executor):
    w, x = matrix(requires_grad=True), matrix(requires_grad=True)
    with torch.autocast("cpu"):
        loss = F.linear(x, w).float().sum()
    loss.backward()
    assert w.grad.dtype is x.grad.dtype is torch.float32
    assert torch.equal(w.grad, torch.tensor([[4.0, 7.0], [4.0, 7.0]]))


# ------------------------------------------------------------------------------------ kept casts


def cast_of(w):
    """The node that casts ``w`` in a product with it."""
    return torch.mm(matrix(), w).grad_fn.next_functions[1][0]


def test_the_cast_of_a_weight_is_kept_until_the_outermost_region_ends():
    w = matrix(requires_grad=True)
    with torch.autocast("cpu"):
        first = cast_of(w)
        with torch.autocast("cpu"):
            assert cast_of(w) is first
        assert cast_of(w) is first and len(state.casts) == 1
        torch.clear_autocast_cache()
        assert cast_of(w) is not first
    with torch.autocast("cpu", cache_enabled=False):
        assert not torch.is_autocast_cache_enabled()
        assert cast_of(w) is not cast_of(w)
    assert torch.is_autocast_cache_enabled()


def test_a_kept_cast_counts_for_one_dtype_and_one_grad_mode():
    w = matrix(requires_grad=True)
    with torch.autocast("cpu"):
        with torch.no_grad():
            assert not torch.mm(w, w).requires_grad
        assert torch.mm(w, w).requires_grad
        with torch.autocast("cpu", dtype=torch.float16):
            assert torch.mm(w, w).dtype is torch.float16
        assert torch.mm(w, w).dtype is torch.bfloat16


def test_a_weight_that_was_written_to_is_cast_anew(executor):
    w = matrix(requires_grad=True)
    with torch.autocast("cpu"):
        torch.mm(w, w).sum().backward()
        with torch.no_grad():
            w.sub_(w.grad)
        changed = w.detach().clone()
        assert torch.equal(torch.mm(w, w), torch.mm(changed, changed))
        w.data = torch.eye(2)
        assert torch.equal(torch.mm(w, w).float(), torch.eye(2))


def test_results_and_views_of_weights_are_not_kept():
    w = matrix(requires_grad=True)
    with torch.autocast("cpu"):
        torch.mm(w * 1, w.t())
        assert not state.casts


# ---------------------------------------------------------------------------- modes of execution


def test_compiled_functions_are_guarded():
    @torch.compile
    def product(x):
        return torch.mm(x, x)

    x = matrix()
    for _ in range(3):
        assert product(x).dtype is torch.float32
        with torch.autocast("cpu"):
            assert product(x).dtype is torch.bfloat16
        with torch.autocast("cpu", dtype=torch.float16):
            assert product(x).dtype is torch.float16


def training(wrap):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        with torch.autocast("cpu"):
            loss = model(x).float().square().mean()
        loss.backward()
        optimizer.step()
        return loss

    step = wrap(step)
    return [step(matrix()).item() for _ in range(6)]


def test_a_region_within_a_compiled_step():
    assert training(torch.compile) == pytest.approx(training(lambda step: step), rel=2e-2)


def test_checkpoints_run_again_in_the_same_region():
    seen = []

    def part(x):
        seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"),
                     torch.is_autocast_cache_enabled()))
        return torch.mm(x, w).tanh()

    w = matrix(requires_grad=True)
    for reentrant in (True, False):
        x = matrix(requires_grad=True)
        with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
            y = checkpoint(part, x, use_reentrant=reentrant)
        y.float().sum().backward()
        outside = checkpoint(part, x, use_reentrant=reentrant)
        with torch.autocast("cpu"):
            outside.sum().backward()
        assert seen == [(True, torch.float16, False)] * 2 + [(False, torch.bfloat16, True)] * 2
        assert x.grad.dtype is w.grad.dtype is torch.float32
        seen.clear()


def test_transforms():
    x = matrix()
    with torch.autocast("cpu"):
        batched = torch.vmap(torch.mm)(torch.stack([x, x]), torch.stack([x, x]))
        assert batched.dtype is torch.bfloat16 and torch.equal(batched[0], torch.mm(x, x))
        grad = torch.func.grad(lambda a: torch.mm(a, x).float().sum())(x)
        assert grad.dtype is torch.float32 and torch.equal(grad, torch.tensor([[3.0, 8.0], [3.0, 8.0]]))
        value, tangent = torch.func.jvp(lambda a: torch.mm(a, x), (x,), (torch.eye(2),))
        assert value.dtype is tangent.dtype is torch.bfloat16 and torch.equal(tangent.float(), x)


# --------------------------------------------------------------------------------- entering, leaving


def test_each_thread_has_its_own():
    seen = []
    with torch.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(torch.is_autocast_enabled("cpu")))
        thread.start()
        thread.join()
    assert seen == [False]


def test_decorated_functions_and_one_region_entered_twice():
    region = torch.autocast("cpu", dtype=torch.float16)

    @region
    def inside(depth):
        return torch.get_autocast_dtype("cpu") if depth == 0 else inside(depth - 1)

    assert inside(2) is torch.float16 and inside.__name__ == "inside"
    with region:
        with region:
            pass
        assert torch.is_autocast_enabled("cpu")
    assert not torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is torch.bfloat16
    with pytest.raises(ZeroDivisionError), region:
        raise ZeroDivisionError


def test_settings_one_by_one():
    assert torch.autocast_increment_nesting() == 1 and torch.autocast_decrement_nesting() == 0
    torch.set_autocast_enabled("cpu", True)
    assert torch.mm(matrix(), matrix()).dtype is torch.bfloat16
    assert torch._C._is_any_autocast_enabled() and not torch.is_autocast_enabled()
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_enabled(True)
    assert torch.is_autocast_enabled() and torch.mm(matrix(), matrix()).dtype is torch.float32
    torch.set_autocast_enabled(enabled=False)
    with pytest.raises(TypeError, match="invalid combination"):
        torch.set_autocast_enabled("cpu", True, device_type="cpu")


@pytest.mark.filterwarnings("ignore:In CPU autocast")
@pytest.mark.parametrize("arguments, words", [
    (("cpu", "x"), "'dtype' .* must be torch.dtype"), (("cpu", None, True, "x"), "enabled must be a bool"),
])
def test_a_region_that_cannot_be_entered_changes_nothing(arguments, words):
    region = torch.autocast(*arguments)
    with pytest.raises(TypeError, match=words), region:
        pass


def test_regions_without_a_with_statement():
    mode = torch.amp._enter_autocast("cpu", torch.float16, True, None)
    assert torch.get_autocast_dtype("cpu") is torch.float16
    torch.amp._exit_autocast(mode)


# ----------------------------------------------------------------------------------- CUDA's list


LOW = """
    torch.mm(x, x); F.linear(x, x); torch.einsum('ij,jk->ik', x, x); torch.mv(x, x[0]); F.prelu(x, x[0, :1])
    F.conv1d(x[None], x[None]); torch.addmv(x[0], x, x[0]); nn.GRU(2, 3)(x)[0]; nn.LSTMCell(2, 3)(x)[0]
    F.scaled_dot_product_attention(x, x, x)
"""
FLOAT = """
    low.exp(); low ** 2; 2 ** low; 1 / low.reciprocal(); low.sum(); low.softmax(0); low.prod(); low.tan()
    F.layer_norm(low, (2,)); F.group_norm(low, 2); low.norm(); torch.linalg.vector_norm(low); low.cumsum(0)
    F.cross_entropy(low, torch.tensor([0, 1])); F.l1_loss(low, low); low.log_softmax(0); F.softplus(low)
    F.interpolate(low[None], 3); torch.cdist(low, low); torch.addcmul(low, x, x); torch.tensordot(low, x)
    torch.atan2(low, x); F.bilinear(low, x, x[None])
"""
UNCHANGED = """
    low + low; low.relu(); low.sigmoid(); low.mean(); F.gelu(low); low.sum(dtype=low.dtype); low.exp_()
    low.softmax(0, dtype=low.dtype); torch.addcmul(low, low, low)
"""


def calls(text):
    return [call.strip() for call in text.replace("\n", ";").split(";") if call.strip()]


@pytest.mark.parametrize("call, dtype", [(c, torch.float16) for c in calls(LOW + UNCHANGED)]
                         + [(c, torch.float32) for c in calls(FLOAT)])
def test_the_list_for_cuda(as_cuda, call, dtype):
    with torch.autocast("cpu", dtype=torch.float16):
        x = matrix()
        found = eval(call, {"x": x, "low": x.half(), "torch": torch, "F": F, "nn": torch.nn})
        assert found.dtype is dtype


def test_what_the_list_for_cuda_refuses(as_cuda):
    x = matrix().sigmoid()
    with torch.autocast("cpu"), pytest.raises(RuntimeError, match="unsafe to autocast"):
        F.binary_cross_entropy(x, x)
    assert F.binary_cross_entropy(x, x).dtype is torch.float32


def test_a_region_of_another_device_changes_nothing():
    with pytest.warns(UserWarning, match="CUDA is not available") if not torch.cuda.is_available() else (
            torch.no_grad()):
        region = torch.autocast("cuda")
    with region, torch.autocast("mps"):
        assert torch.mm(matrix(), matrix()).dtype is torch.float32


# --------------------------------------------------------------- functions with their own backward


@pytest.mark.parametrize("cast, inside", [(None, True), (torch.float32, False)])
def test_custom_forward_and_backward(cast, inside):
    seen = []

    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=cast)
        def forward(ctx, a, b):
            seen.append((torch.is_autocast_enabled("cpu"), ctx._fwd_used_autocast, ctx._dtype))
            ctx.save_for_backward(a, b)
            return a.mm(b)

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))
            return grad.mm(b.t()), a.t().mm(grad)

    a, b = matrix(torch.float16, requires_grad=True), matrix(requires_grad=True)
    with torch.autocast("cpu", dtype=torch.float16):
        y = Product.apply(a, b)
    assert y.dtype is (torch.float16 if inside else torch.float32)
    y.sum().backward()
    assert seen == [(inside, inside, torch.float16), (inside, torch.float16)]
    assert a.grad.dtype is torch.float16 and b.grad.dtype is torch.float32


def test_registered_operators():
    @torch.library.custom_op("autocast_tests::product", mutates_args=())
    def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        seen.append((x.dtype, y.dtype, torch.is_autocast_enabled("cpu")))
        return torch.mm(x, x)

    seen = []
    product.register_autocast("cpu", torch.float16)
    x = matrix()
    with torch.autocast("cpu"):
        assert product(x, x.double()).dtype is torch.float16
    assert product(x, x.double()).dtype is torch.float32
    assert seen == [(torch.float16, torch.float64, False), (torch.float32, torch.float64, False)]

    library = torch.library.Library("autocast_tests2", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: 2 * x, "CompositeExplicitAutograd")

    def cast(x):
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)):
            return torch.ops.autocast_tests2.twice(x.half())

    library.impl("twice", cast, "AutocastCPU")
    with torch.autocast("cpu"):
        assert torch.ops.autocast_tests2.twice(x).dtype is torch.float16
    assert torch.ops.autocast_tests2.twice(x).dtype is torch.float32
