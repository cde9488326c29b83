"""Docstrings of what users call: their parts, and their examples, which are run."""

import doctest
import inspect
import math
import pathlib
import re
import warnings

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.nn import functional as F
from jaxflow.nn.attention import bias, flex_attention

HERE = pathlib.Path(__file__).resolve().parent
#: Functions and methods by how many public repositories call them, the most used first.
MOST_USED = (HERE / "most_used.txt").read_text(encoding="utf-8").split()
GLOBALS = {"torch": torch, "nn": nn, "F": F, "np": np, "math": math}


def find(name):
    found = torch
    for part in name.split("."):
        found = getattr(found, part)
    return found


def classes():
    for space in (nn, torch.optim, torch.optim.lr_scheduler, torch.distributions):
        for name, found in sorted(vars(space).items()):
            if isinstance(found, type) and not name.startswith("_"):
                yield f"{space.__name__}.{name}", found


def of_attention_and_masks():
    for module in (nn.attention, bias, flex_attention):
        for name in module.__all__:
            yield f"{module.__name__}.{name}", getattr(module, name)
    for name in ("MaskedTensor", "masked_tensor", "as_masked_tensor"):
        yield f"masked.{name}", getattr(torch.masked, name)


def functions_of_distributions():
    for module in (torch.distributions.kl, torch.distributions.utils, torch.distributions.constraints):
        for name in module.__all__:
            if inspect.isfunction(found := getattr(module, name)):
                yield f"{module.__name__}.{name}", found


def of_quantization():
    for module in (torch.ao.quantization, torch.ao.nn.quantized, torch.ao.nn.quantized.dynamic,
                   torch.ao.nn.qat, torch.ao.nn.intrinsic.quantized, torch.ao.nn.intrinsic.quantized.dynamic):
        for name, found in sorted(vars(module).items()):
            if (inspect.isfunction(found) or inspect.isclass(found)) and not name.startswith("_"):
                yield f"{module.__name__}.{name}", found
    for name in ("quantize_per_tensor quantize_per_channel quantize_per_tensor_dynamic dequantize "
                 "fake_quantize_per_tensor_affine fake_quantize_per_channel_affine "
                 "fused_moving_avg_obs_fake_quant").split():
        yield f"torch.{name}", getattr(torch, name)


def parameters(thing):
    """Whether it takes arguments; of a class, whether its constructor does."""
    taken = list(inspect.signature(thing).parameters.values())
    return [p for p in taken if p.name not in ("self", "cls")]


def lacking(thing):
    """The parts of a docstring that are not there: see CONTRIBUTING.md."""
    text = inspect.getdoc(thing) or ""
    of_class = isinstance(thing, type)
    if of_class and thing.__doc__ is None:
        return ["a docstring of its own"]
    wanted = {"arguments": not parameters(thing) or re.search(r"^Args:$", text, re.M),
              "result": of_class or re.search(r"^Returns:$", text, re.M),
              "example": ">>> " in text}
    return [part for part, found in wanted.items() if not found]


def run(name, text):
    """What the examples of a docstring print otherwise than it says."""
    test = doctest.DocTestParser().get_doctest(text, dict(GLOBALS), name, None, 0)
    printed = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of classes that PyTorch warns of
        warnings.filterwarnings("ignore", ".*MaskedTensor")
        warnings.filterwarnings("ignore", "reduce_range will be")
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False).run(
            test, out=printed.append)
    return "".join(printed)


def documented():
    """Each docstring with examples once, by the first name that has it."""
    seen = {}
    most_used = ((n, find(n)) for n in MOST_USED)
    for name, thing in [*most_used, *classes(), *functions_of_distributions(), *of_attention_and_masks(),
                        *of_quantization()]:
        text = inspect.getdoc(thing) or ""
        if ">>> " in text:
            seen.setdefault(text, name)
    return [(name, text) for text, name in seen.items()]


@pytest.mark.parametrize("part", range(8))
def test_examples_print_what_they_say(part):
    wrong = [found for name, text in documented()[part::8] if (found := run(name, text))]
    assert not wrong, "\n".join(wrong)


def test_the_most_used_functions_have_all_parts():
    """The list may only become longer."""
    assert len(MOST_USED) >= 400
    assert not {name: parts for name in MOST_USED if (parts := lacking(find(name)))}


def test_classes_of_layers_and_optimizers_have_all_parts():
    assert not {name: parts for name, thing in classes() if (parts := lacking(thing))}


def test_functions_of_distributions_have_all_parts():
    assert not {name: parts for name, thing in functions_of_distributions() if (parts := lacking(thing))}


def test_a_wrong_example_is_seen():
    assert run("wrong", ">>> torch.ones(2)\ntensor([1., 2.])\n")
    assert not run("right", ">>> torch.ones(2)\ntensor([1., 1.])\n")
    assert lacking(lambda x: x) == ["arguments", "result", "example"]
