"""Scaled losses: what a scaler does to gradients, steps and its scale, and the order of its calls."""

import pickle

import pytest

import jaxflow as torch


def made(init_scale=4.0, **options):
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    return w, torch.optim.SGD([w], lr=0.5), torch.amp.GradScaler("cpu", init_scale=init_scale, **options)


def test_a_step(executor):
    w, optimizer, scaler = made()
    loss = scaler.scale((w * w).sum())
    loss.backward()
    assert loss.item() == 20 and w.grad.tolist() == [8.0, 16.0]
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [2.0, 4.0]
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.0, 0.0] and scaler.get_scale() == 4.0 and scaler._get_growth_tracker() == 1


def test_it_trains_as_without_a_scale(executor):
    losses = []
    for scaled in (False, True):
        w, optimizer, scaler = made(init_scale=1024.0, enabled=scaled)
        run = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = (w - 3).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            run.append(loss.item())
        losses.append(run)
    assert losses[0] == losses[1]


@pytest.mark.parametrize("bad", [float("inf"), float("-inf"), float("nan")])
def test_a_step_is_skipped_and_the_scale_shrinks(executor, bad):
    w, optimizer, scaler = made(growth_interval=2)
    scaler.scale(torch.ones(1))
    w.grad = torch.tensor([1.0, bad])
    assert scaler.step(optimizer) is None
    scaler.update()
    assert w.tolist() == [1.0, 2.0] and scaler.get_scale() == 2.0
    for scale in (2.0, 4.0):
        w.grad = torch.zeros(2)
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == scale


def test_the_two_functions_it_is_made_of(executor):
    grads, found = [torch.tensor([2.0, 4.0]), torch.tensor([8.0], dtype=torch.bfloat16)], torch.zeros(())
    torch._amp_foreach_non_finite_check_and_unscale_(grads, found, torch.tensor(0.5))
    assert [g.tolist() for g in grads] == [[1.0, 2.0], [4.0]] and found.item() == 0
    assert grads[1].dtype is torch.bfloat16
    torch._amp_foreach_non_finite_check_and_unscale_([torch.tensor(float("nan")), *grads], found,
                                                     torch.tensor(1.0))
    assert found.item() == 1
    scale, tracker = torch.tensor([3e38]), torch.tensor([1], dtype=torch.int32)
    assert torch._amp_update_scale_(scale, tracker, torch.zeros(1), 2.0, 0.5, 2) is scale
    assert scale.isfinite().item() and tracker.item() == 0


def test_two_optimizers_share_a_scale():
    (a, first, scaler), (b, second, _) = made(), made()
    scaler.scale((a * b).sum()).backward()
    b.grad[0] = float("inf")
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert a.tolist() == [0.5, 1.0] and b.tolist() == [1.0, 2.0] and scaler.get_scale() == 2.0


def test_nested_outputs():
    _, _, scaler = made()
    one = torch.ones(1)
    scaled = scaler.scale([one, (one, one)])
    assert isinstance(scaled, list) and isinstance(scaled[1], tuple) and scaled[1][1].item() == 4
    assert [t.item() for t in scaler.scale(iter([one, one]))] == [4.0, 4.0]
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable"):
        scaler.scale(3)


def test_calls_in_the_wrong_order():
    w, optimizer, scaler = made()
    for call in (lambda: scaler.step(optimizer), scaler.update, lambda: scaler.unscale_(optimizer)):
        with pytest.raises(AssertionError, match="but _scale is None"):
            call()
    scaler.scale(torch.ones(1))
    with pytest.raises(AssertionError, match="prior to update"):
        scaler.update()
    with pytest.raises(AssertionError, match="for this optimizer"):
        scaler.step(optimizer)
    scaler.update(8.0)
    w.grad = torch.ones(2)
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="Closure use"):
        scaler.step(optimizer, closure=lambda: None)
    half = torch.nn.Parameter(torch.ones(1, dtype=torch.float16))
    half.grad = torch.ones(1, dtype=torch.float16)
    with pytest.raises(ValueError, match="FP16 gradients"):
        scaler.unscale_(torch.optim.SGD([half], lr=0.1))


def test_its_state():
    w, optimizer, scaler = made(growth_interval=3)
    scaler.scale((w * w).sum()).backward()
    with pytest.raises(AssertionError, match="may only be pickled at the beginning"):
        scaler.step(optimizer) or pickle.dumps(scaler)
    scaler.update()
    saved = scaler.state_dict()
    assert saved == {"scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3,
                     "_growth_tracker": 1}
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(saved)
    again = pickle.loads(pickle.dumps(scaler))
    assert other.state_dict() == again.state_dict() == saved
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        other.load_state_dict({})


def test_one_that_is_disabled():
    w, optimizer, scaler = made(enabled=False)
    w.grad = torch.ones(2)
    assert scaler.scale(w) is w and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 1.5] and not scaler.is_enabled()


def test_an_optimizer_that_takes_the_scale_itself():
    class Own(torch.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            seen.append((self.grad_scale.item(), self.found_inf.item()))
            return 7

    seen = []
    w, _, scaler = made()
    optimizer = Own([w], lr=0.1)
    scaler.scale(w.sum()).backward()
    assert scaler.step(optimizer) == 7 and seen == [(4.0, 0.0)] and w.grad.tolist() == [4.0, 4.0]
    assert not hasattr(optimizer, "grad_scale")
