"""Names with an underscore, and switches, that libraries use: what they say, beside PyTorch's."""

import pytest
import torch

import jaxflow

TABLES = ("_global_backward_pre_hooks _global_backward_hooks _global_forward_pre_hooks _global_forward_hooks "
          "_global_forward_hooks_always_called _global_forward_hooks_with_kwargs "
          "_global_buffer_registration_hooks _global_module_registration_hooks "
          "_global_parameter_registration_hooks").split()


def tables(T):
    module = T.nn.modules.module
    found = []
    for register in (module.register_module_forward_pre_hook, module.register_module_full_backward_hook,
                     module.register_module_buffer_registration_hook,
                     # Last: PyTorch leaves its note that such a hook takes keywords behind.
                     lambda hook: module.register_module_forward_hook(hook, with_kwargs=True)):
        handle = register(lambda *_: None)
        found.append([len(getattr(module, name)) for name in TABLES] + [bool(module._has_any_global_hook())])
        handle.remove()
    return found, module._global_is_full_backward_hook


def levels(T):
    ad = T.autograd.forward_ad
    found = [ad._current_level]
    with ad.dual_level():
        found.append(ad._current_level)
    return [*found, ad._current_level]


def switches(name, *shown):
    def run(T):
        library = getattr(T.backends, name)
        found = [[getattr(library, one) for one in shown]]
        with library.flags(enabled=True):
            found.append([getattr(library, one) for one in shown])
            with library.flags(deterministic=True):
                found.append([getattr(library, one) for one in shown])
        return [*found, [getattr(library, one) for one in shown]]

    return run


CALLS = {
    "tables of hooks": tables,
    "levels of forward mode": levels,
    "cudnn": switches("cudnn", "enabled", "deterministic", "benchmark"),
    "mkldnn": switches("mkldnn", "enabled", "deterministic"),
    "words of the schedulers": lambda T: T.optim.lr_scheduler.EPOCH_DEPRECATION_WARNING,
    "what to asks for": lambda T: [str(T._C._nn._parse_to(*args)) for args in (
        (T.float64,), ("cpu", T.half, True), (T.ones(2),))],
    "the pattern of names of checkpoints": lambda T: T.hub.HASH_REGEX.pattern,
    "a block for no GPU": lambda T: [T.cuda.device(none).idx for none in (None, -1)],
}


@pytest.mark.filterwarnings("ignore:TF32 acceleration")
@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    assert CALLS[name](jaxflow) == CALLS[name](torch)
