"""`torch.utils.weak`: references and dictionaries by identity."""

import copy
import gc
import weakref

import pytest

import jaxflow as torch
from jaxflow.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakIdRef, WeakTensorKeyDictionary


def test_equal_tensors_are_different_keys():
    x, y = torch.ones(2), torch.ones(2)
    names = WeakTensorKeyDictionary({x: "x"})
    names[y] = "y"
    assert (names[x], names[y], len(names)) == ("x", "y", 2)
    assert x in names and torch.ones(2) not in names and 3 not in names
    assert {id(key) for key in names} == {id(x), id(y)}
    names[x] = "again"
    assert names.pop(x) == "again" and x not in names and names.get(x) is None
    with pytest.raises(KeyError):
        names[x]
    with pytest.raises(KeyError):
        del names[x]


def test_entries_go_with_their_keys():
    x, y = torch.ones(2), torch.ones(2)
    names = WeakIdKeyDictionary([(x, 1), (y, 2)])
    kept = names.copy()
    iterator = iter(names)
    next(iterator)
    del x
    gc.collect()
    assert len(list(iterator)) <= 1  # an entry may go while the dictionary is walked
    assert len(names) == len(kept) == 1 and names[y] == 2
    assert len(copy.copy(names)) == 1 and type(names | {}) is WeakIdKeyDictionary
    names |= WeakIdKeyDictionary([(names, 3)])
    assert names[names] == 3


def test_references_are_equal_while_their_object_is_alive():
    x = torch.ones(2)
    a, b = WeakIdRef(x), WeakIdRef(x)
    gone = []
    c = WeakIdRef(x, gone.append)
    assert a == b and hash(a) == hash(b) == id(x) and a() is x
    assert a != WeakIdRef(torch.ones(2)) and a == weakref.ref(x)
    del x
    gc.collect()
    assert a() is None and a != b and a == a and gone == [c]


def test_a_reference_to_a_tensor():
    x = torch.ones(2)
    reference = TensorWeakRef(x)
    assert reference() is x
    del x
    gc.collect()
    assert reference() is None
    with pytest.raises(AssertionError, match="expected a Tensor"):
        TensorWeakRef({1})
