"""How much memory a training step's program needs beside its arguments, by XLA's own plan."""

import re

import pytest
from running import executables_of

import jaxflow as torch
from jaxflow._exec import program_cache

pytestmark = pytest.mark.usefixtures("compiled")

F = torch.nn.functional
LAYERS, ROWS, WIDTH = 6, 512, 256

RECOMPUTING = "gelu silu mish softplus elu selu celu logsigmoid".split()


def memory_plan(run):
    """XLA's memory plan of the largest program that ``run`` needs."""
    new = [e.compiled.memory_analysis() for e in executables_of(run)]
    return max(new, key=lambda plan: plan.temp_size_in_bytes)


@pytest.mark.parametrize("name", RECOMPUTING)
def test_an_activation_keeps_no_more_than_its_input_and_its_result(name):
    """NOTE [What backward keeps]: in a chain of products each layer holds what PyTorch's would."""
    weights = [torch.randn(WIDTH, WIDTH, requires_grad=True) for _ in range(LAYERS)]
    x = torch.randn(ROWS, WIDTH)

    def step():
        y = x
        for weight in weights:
            y = getattr(F, name)(y @ weight)
        y.sum().backward()

    activation = ROWS * WIDTH * 4
    assert memory_plan(step).temp_size_in_bytes <= 2 * LAYERS * activation


def test_a_layer_norm_keeps_no_standardised_input():
    """Beside the residual stream, the products' operands and what `gelu` reads, nothing is held."""
    ones = torch.ones(WIDTH, requires_grad=True)
    weights = [torch.randn(WIDTH, WIDTH, requires_grad=True) for _ in range(LAYERS)]
    x = torch.randn(ROWS, WIDTH)

    def step():
        y = x
        for weight in weights:
            y = y + F.layer_norm(y, (WIDTH,), ones, ones) @ weight
        y.sum().backward()

    activation = ROWS * WIDTH * 4
    assert memory_plan(step).temp_size_in_bytes <= (2 * LAYERS + 4) * activation


@pytest.mark.parametrize("causal, length", [(False, 128), (True, 256)])
def test_attention_keeps_neither_scores_nor_weights(causal, length):
    """One layer's weights are there at a time; kept, they would be as many as there are layers."""
    weights = [torch.randn(32, 32, requires_grad=True) for _ in range(LAYERS)]
    x = torch.randn(4, 4, length, 32)

    def step():
        y = x
        for weight in weights:
            z = y @ weight
            y = y + F.scaled_dot_product_attention(z, z, z, is_causal=causal)
        y.sum().backward()

    scores, activation = 4 * 4 * length * length * 4, 4 * 4 * length * 32 * 4
    assert memory_plan(step).temp_size_in_bytes <= 3 * scores + 4 * LAYERS * activation


def test_new_parameters_take_the_place_of_the_old_without_a_copy():
    """NOTE [Who takes over whose memory]: gradients have the parameters' shapes and are outputs too."""
    params = [torch.randn(WIDTH, WIDTH, requires_grad=True) for _ in range(LAYERS)]
    optimizer = torch.optim.AdamW(params)
    x = torch.randn(4, WIDTH)

    def step():
        optimizer.zero_grad()
        y = x
        for p in params:
            y = y @ p
        y.sum().backward()
        optimizer.step()

    with torch.execution("deferred"):
        step()
        step()

    def where():
        tensors = [*params, *(s[k] for s in optimizer.state.values() for k in ("exp_avg", "exp_avg_sq"))]
        return [t._storage.value.get().unsafe_buffer_pointer() for t in tensors]

    plan = memory_plan(step)
    with torch.execution("deferred"):
        step()  # the first runs keep copies of what they give away: NOTE [One hand-over]
        step()
        before = where()
        step()
        assert where() == before
    assert plan.temp_size_in_bytes < LAYERS * WIDTH * WIDTH * 4


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.AdamW, torch.optim.RMSprop])
def test_an_update_needs_no_copy_of_the_old_weight(make):
    """NOTE [Updates come last]: each weight is read by its layer's backward and then overwritten."""
    params = [torch.randn(WIDTH, WIDTH, requires_grad=True) for _ in range(LAYERS)]
    optimizer = make(params, lr=0.1)
    x = torch.randn(4, WIDTH)

    def step():
        optimizer.zero_grad()
        y = x
        for p in params:
            y = torch.relu(y @ p)
        y.square().sum().backward()
        optimizer.step()

    with torch.execution("deferred"):
        step()
    memory_plan(step)
    texts = [e.compiled.as_text() for e in program_cache.executables()]
    assert any("dot_general" in text for text in texts)
    assert not any(re.search(rf"f32\[{WIDTH},{WIDTH}\]\S* copy\(", text) for text in texts)


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_was_checkpointed_is_not_kept(reentrant):
    """NOTE [Running again, later]: XLA must not find that both runs compute the same."""
    weights = [torch.randn(WIDTH, WIDTH, requires_grad=True) for _ in range(4 * LAYERS)]
    x = torch.randn(ROWS, WIDTH, requires_grad=True)

    def part(k):
        def run(y):
            for weight in weights[4 * k : 4 * k + 4]:
                y = (y @ weight).sin()
            return y

        return run

    def step(wrap):
        y = x
        for k in range(LAYERS):
            y = wrap(part(k), y)
        y.sum().backward()

    def again(f, y):
        return torch.utils.checkpoint.checkpoint(f, y, use_reentrant=reentrant)

    plain = memory_plan(lambda: step(lambda f, y: f(y))).temp_size_in_bytes
    assert memory_plan(lambda: step(again)).temp_size_in_bytes <= 0.6 * plain


def test_weights_of_convolutions_are_turned_for_backward_when_it_comes():
    """NOTE [What backward keeps]: they depend on nothing, so XLA would turn all of them when it begins."""
    weights = [torch.randn(128, 128, 3, 3) for _ in range(LAYERS)]
    x = torch.randn(2, 128, 6, 6, requires_grad=True)

    def step():
        y = x
        for weight in weights:
            y = torch.relu(F.conv2d(y, weight, padding=1))
        y.sum().backward()

    turned = 128 * 128 * 9 * 4
    assert memory_plan(step).temp_size_in_bytes < (LAYERS + 1) * turned  # once for each, for forward
