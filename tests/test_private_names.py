"""Names with an underscore, and switches without effect, that libraries and their tests use."""

import threading
import warnings

import pytest

import jaxflow as torch

MODULE = torch.nn.modules.module


def test_tables_of_global_hooks():
    hooks = {
        "_global_forward_pre_hooks": MODULE.register_module_forward_pre_hook,
        "_global_forward_hooks": MODULE.register_module_forward_hook,
        "_global_backward_hooks": MODULE.register_module_full_backward_hook,
        "_global_backward_pre_hooks": MODULE.register_module_full_backward_pre_hook,
        "_global_buffer_registration_hooks": MODULE.register_module_buffer_registration_hook,
        "_global_module_registration_hooks": MODULE.register_module_module_registration_hook,
        "_global_parameter_registration_hooks": MODULE.register_module_parameter_registration_hook,
    }
    for name, register in hooks.items():
        table = getattr(MODULE, name)
        assert not table
        handle = register(lambda *_: None)
        try:
            assert list(table) == [handle.id]
            assert MODULE._has_any_global_hook() is ("registration" not in name)
        finally:
            handle.remove()
        assert not table
    assert not MODULE._has_any_global_hook()


def test_hooks_that_a_table_forgets_are_not_called():
    called = []
    MODULE.register_module_forward_hook(lambda *_: called.append(1))
    layer = torch.nn.Identity()
    layer(1)
    MODULE._global_forward_hooks.clear()
    layer(1)
    assert called == [1]


def test_the_kind_of_global_backward_hooks():
    handle = MODULE.register_module_full_backward_hook(lambda *_: None)
    handle.remove()
    assert MODULE._global_is_full_backward_hook is True
    with pytest.raises(AttributeError, match="no_such_name"):
        MODULE.no_such_name  # noqa: B018


def test_the_forward_level_of_a_thread():
    forward_ad = torch.autograd.forward_ad
    seen = []
    assert forward_ad._current_level == -1
    with forward_ad.dual_level():
        assert forward_ad._current_level == 0
        thread = threading.Thread(target=lambda: seen.append(forward_ad._current_level))
        thread.start()
        thread.join()
    assert forward_ad._current_level == -1 and seen == [-1]


@pytest.mark.parametrize("library", [torch.backends.cudnn, torch.backends.mkldnn])
def test_switches(library):
    before = library.enabled, library.deterministic, library.allow_tf32
    with library.flags(enabled=True, deterministic=True):
        assert library.enabled and library.deterministic and library.allow_tf32
        with library.flags(), pytest.raises(ValueError, match="within"):
            assert not library.enabled and not library.deterministic
            raise ValueError("within")
        assert library.enabled and library.deterministic
    assert (library.enabled, library.deterministic, library.allow_tf32) == before
    assert library.set_flags(False)[0] is True
    library.set_flags(True)
    assert not library.is_available()
    with pytest.raises(TypeError, match="speed"):
        library.set_flags(speed=1)


def test_words_of_the_schedulers():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        schedule.step(1)
    assert torch.optim.lr_scheduler.EPOCH_DEPRECATION_WARNING in [str(w.message) for w in given]


def test_what_to_asks_for():
    parse = torch._C._nn._parse_to
    assert parse(torch.float64) == (None, torch.float64, False, None)
    assert parse("cpu", torch.half, True) == (torch.device("cpu"), torch.half, True, None)
    assert parse(torch.ones(2), memory_format=torch.channels_last) == (
        torch.device("cpu"), torch.float32, False, torch.channels_last)


def test_older_names():
    from jaxflow.utils import model_zoo

    assert model_zoo.load_url is torch.hub.load_state_dict_from_url
    assert torch.hub.HASH_REGEX.search("resnet18-5c106cde.pth").group(1) == "5c106cde"
    assert issubclass(torch.jit.TracerWarning, Warning)
    keys = torch.nn.Linear(1, 1).load_state_dict({}, strict=False)
    assert isinstance(keys, MODULE._IncompatibleKeys)


def test_a_block_for_no_gpu():
    for none in (None, -1):
        with torch.cuda.device(none) as entered:
            assert entered is None
    if not torch.cuda.is_available():
        with pytest.raises(AssertionError, match="not compiled with CUDA"):
            torch.cuda.device(0)
