"""Regions of mixed precision and scaled gradients, in PyTorch and here."""

from __future__ import annotations

import warnings

import pytest
import torch

import jaxflow
from benchmarks import programs
from benchmarks.models import gpt
from compat_tests.both import check_both

SETTINGS = """
    torch.autocast("foo")
    torch.autocast("meta")
    torch.autocast("vulkan", torch.float16)
    torch.autocast(3)
    torch.autocast(None)
    torch.autocast()
    torch.autocast("cpu")(3)
    torch.amp.custom_fwd(device_type=3)
    torch.amp.custom_fwd(len)
    torch.amp.custom_bwd(device_type=3)
    torch.amp.is_autocast_available("foo")
    torch.amp.is_autocast_available(3)
    torch.is_autocast_enabled("foo")
    torch.is_autocast_enabled("meta")
    torch.is_autocast_enabled(3)
    torch.is_autocast_enabled("lazy")
    torch.get_autocast_dtype("meta")
    torch.get_autocast_dtype("foo")
    torch.get_autocast_dtype(3)
    torch.set_autocast_dtype("cpu", 3)
    torch.set_autocast_enabled()
    torch.set_autocast_enabled("cpu")
    torch.set_autocast_enabled("cpu", 3)
    torch.set_autocast_enabled("meta", True)
    torch.set_autocast_cache_enabled(3)
    torch.amp.GradScaler("cpu", growth_factor=1.0)
    torch.amp.GradScaler("cpu", backoff_factor=1.0)
    torch.amp.GradScaler("cpu").update()
    torch.amp.GradScaler("cpu").load_state_dict({})
    torch.amp.GradScaler("cpu").scale(3)
    torch._amp_foreach_non_finite_check_and_unscale_([torch.ones(2)], torch.zeros(2), torch.ones(1))
    torch._amp_foreach_non_finite_check_and_unscale_([torch.ones(2)], torch.zeros(1), torch.ones(2))
    torch._amp_foreach_non_finite_check_and_unscale_([torch.ones(2).int()], torch.zeros(1), torch.ones(1))
    torch._amp_update_scale_(torch.ones(1), torch.zeros(1), torch.zeros(1), 2.0, 0.5, 2)
"""


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


def raised(call, lib):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - of PyTorch's class, which is compared
        eval(call, {"torch": lib})
    return type(caught.value), str(caught.value).splitlines()[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", lines(SETTINGS))
def test_what_is_refused(call):
    (kind, words), (theirs, expected) = raised(call, jaxflow), raised(call, torch)
    assert kind is theirs
    if "callable" in expected:
        assert words.startswith(expected.partition(".")[0])
    else:
        assert words.replace("<class 'int'>", "") == expected.replace("<class 'int'>", "")


WARNING = """
    torch.autocast("cuda")
    torch.autocast("cpu", torch.float32)
    torch.autocast("mps", torch.float64)
    torch.cuda.amp.autocast()
    torch.cuda.amp.GradScaler()
    torch.cuda.amp.custom_fwd(len)
    torch.cuda.amp.custom_bwd(len)
    torch.cpu.amp.autocast()
    torch.cpu.amp.GradScaler()
    torch.amp.GradScaler()
    torch.get_autocast_gpu_dtype()
    torch.is_autocast_cpu_enabled()
    torch.get_autocast_xla_dtype()
    torch.set_autocast_cpu_dtype(torch.bfloat16)
    torch.set_autocast_ipu_enabled(False)
"""


def warned(call, lib):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        eval(call, {"torch": lib})
    # PyTorch warns of some but once in a process.
    return [(w.category, str(w.message).partition(" (Triggered")[0]) for w in caught]


@pytest.mark.skipif(torch.cuda.is_available(), reason="without a GPU")
@pytest.mark.parametrize("call", lines(WARNING))
def test_what_is_warned_of(call):
    theirs, ours = warned(call, torch), warned(call, jaxflow)
    assert ours == theirs or (not theirs and ours[0][0] is DeprecationWarning)
    assert ours


def settings(T):
    shown = lambda: (T.is_autocast_enabled("cpu"), T.is_autocast_enabled(), str(T.get_autocast_dtype("cpu")),  # noqa: E731
                     T.is_autocast_cache_enabled(), T._C._is_any_autocast_enabled())
    seen = [shown()]
    with T.autocast("cpu", dtype=T.float16, cache_enabled=False) as region:
        seen.append(region.__class__.__name__)
        seen.append(shown())
        with T.autocast("cpu:0", enabled=False):
            seen.append(shown())
        seen.append((shown(), T.autocast_increment_nesting(), T.autocast_decrement_nesting()))
    seen.append({d: (str(T.get_autocast_dtype(d)), T.is_autocast_enabled(d))
                 for d in T._C._autocast_supported_devices()})
    seen.append([T.amp.is_autocast_available(d) for d in ("cpu", "cuda", "xla", "meta", "lazy", "vulkan")])
    return seen


@pytest.mark.filterwarnings("ignore")
def test_settings():
    named = lambda seen: str(seen).replace("torch.", "").replace("jaxflow.", "")  # noqa: E731
    assert named(settings(jaxflow)) == named(settings(torch))


def network(T):
    """Four steps with gradients clipped, under a scaler, and what the scaler says."""
    x = T.linspace(-1, 1, 12).reshape(4, 3)
    model = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.LayerNorm(4), T.nn.Linear(4, 2))
    with T.no_grad():
        for p in model.parameters():
            p.copy_(T.linspace(-0.5, 0.5, p.numel()).reshape(p.shape))
    optimizer = T.optim.AdamW(model.parameters(), lr=0.05)
    scaler, losses = T.amp.GradScaler("cpu", init_scale=256.0, growth_interval=2), []
    for step in range(4):
        optimizer.zero_grad()
        with T.autocast("cpu", dtype=T.bfloat16):
            loss = T.nn.functional.cross_entropy(model(x), T.tensor([0, 1, 0, 1]))
        scaler.scale(loss).backward()
        if step == 2:  # it is to be skipped
            model[0].bias.grad[0] = float("inf")
        scaler.unscale_(optimizer)
        T.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses, scaler.state_dict()


def test_a_training_loop(executor):
    (ours, state), (theirs, expected) = network(jaxflow), network(torch)
    assert state == expected
    assert ours == pytest.approx(theirs, rel=2e-2)


def weight_gradients(T):
    """Gradients of weights that are used twice in a region, and of what a checkpoint runs again."""
    x = T.linspace(-1, 1, 12).reshape(4, 3)
    w = T.linspace(-0.4, 0.5, 9).reshape(3, 3).requires_grad_()
    with T.autocast("cpu"):
        y = T.nn.functional.linear(T.nn.functional.linear(x, w).tanh(), w)
        again = T.utils.checkpoint.checkpoint(lambda x: T.mm(x, w).relu(), y, use_reentrant=False)
    (y.float().square().sum() + again.float().sum()).backward()
    assert y.dtype is again.dtype is T.bfloat16
    return w.grad


def test_gradients_of_weights(executor):
    check_both(weight_gradients)


class Small(gpt.DemoWithoutDropout):
    layers, heads, width, block = 2, 2, 32, 16


class InRegion(Small):
    def loss(self, network, *batch):
        with self.torch.autocast("cpu", dtype=self.torch.bfloat16):
            return super().loss(network, *batch)


def test_the_demo_in_bfloat16():
    ours, theirs, whole = (programs.Training(T, task).numbers(4) for T, task in (
        (jaxflow, InRegion), (torch, InRegion), (torch, Small)))
    assert ours == pytest.approx(theirs, rel=2**-8)
    assert theirs != whole  # something was rounded
