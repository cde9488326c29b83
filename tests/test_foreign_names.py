"""Names that torchvision and timm import: what they do, or what is raised when they are called."""

import pytest

import jaxflow as torch
from jaxflow import nn


def test_quantizable_models_compute_in_floating_point():
    functional = nn.quantized.FloatFunctional()
    x = torch.tensor([-1.0, 2.0])
    assert functional.add_relu(x, x).tolist() == [0, 4] and functional.mul_scalar(x, 2.0).tolist() == [-2, 4]
    assert functional.cat([x, x]).shape == (4,) and torch.ao.nn.quantized.FloatFunctional is type(functional)
    assert torch.ao.quantization.QuantStub()(x) is x and torch.ao.quantization.DeQuantStub()(x) is x
    assert torch.backends.quantized.engine in torch.backends.quantized.supported_engines
    with pytest.raises(RuntimeError, match="another is not a valid value for quantized engine"):
        torch.backends.quantized.engine = "another"


@pytest.mark.parametrize("call", [
    lambda: torch.ao.quantization.quantize_fx.prepare_fx(nn.Linear(1, 1), None, None),
    lambda: torch.ao.quantization.quantize_pt2e.convert_pt2e(nn.Linear(1, 1)),
    lambda: torch.fx.experimental.optimization.optimize_for_inference(nn.Linear(1, 1)),
    lambda: torch.onnx.symbolic_opset11.squeeze(None, None),
    lambda: torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)),
])
def test_what_raises_when_it_is_called(call):
    import jaxflow.fx.experimental.optimization
    import jaxflow.onnx.symbolic_opset11  # noqa: F401

    with pytest.raises(NotImplementedError, match=r"torch\.(ao|fx|onnx|_C)\."):
        call()


def test_small_functions():
    assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]
    torch._assert_async(torch.tensor(1))
    with pytest.raises(RuntimeError, match="not so"):
        torch._assert_async(torch.tensor(False), "not so")
    assert torch._dynamo.utils.is_compile_supported("cpu")
    assert not torch._dynamo.utils.is_compile_supported("mps")
    assert torch.jit.annotations.BroadcastingList2[int] is None
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
    both = keys | torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)
    assert both.has(torch._C.DispatchKey.AutocastCUDA) and not both.has(torch._C.DispatchKey.CPU)
    assert isinstance(True, torch.types.Number) and torch.types._device is torch.device


def test_translations_to_onnx_are_kept():
    torch.onnx.register_custom_op_symbolic("mine::f", lambda g, x: x, 11)
    torch.onnx.unregister_custom_op_symbolic("mine::f", 11)
    with pytest.raises(RuntimeError, match="domain::name"):
        torch.onnx.register_custom_op_symbolic("f", lambda g, x: x, 11)


def test_only_deterministic_algorithms():
    before = torch.are_deterministic_algorithms_enabled()
    torch._prims_common.alert_not_deterministic("f")
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(RuntimeError, match="f does not have a deterministic"):
            torch._prims_common.alert_not_deterministic("f")
    finally:
        torch.use_deterministic_algorithms(before)


def test_a_bar_without_tqdm(capsys):
    from jaxflow.utils._bar import Bar

    assert list(Bar([1, 2], desc="two")) == [1, 2]
    assert capsys.readouterr().err.endswith("two: 2/2\n")
