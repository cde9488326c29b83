"""Trees of containers: ``jaxflow.utils._pytree``, and the types that programs add to its table."""

import collections

import pytest

import jaxflow as torch
from jaxflow.utils import _pytree as pytree

Point = collections.namedtuple("Point", "x y")


def test_every_container_comes_back():
    tree = {
        "list": [1, (None, 3)], "point": Point(1, [2]), "queue": collections.deque([4], maxlen=3),
        "ordered": collections.OrderedDict(b=5, a=6), "default": collections.defaultdict(list, k=7),
        "shape": torch.Size((8, 9)),
    }
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, None, 3, 1, 2, 4, 5, 6, 7, 8, 9] and spec.num_leaves == len(leaves)
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree and again["queue"].maxlen == 3 and again["default"].default_factory is list
    assert pytree.tree_structure(again) == spec
    assert pytree.tree_leaves([[1], 2], is_leaf=lambda x: x == [1]) == [[1], 2]
    with pytest.raises(ValueError, match="has length 1 but the spec refers to a pytree that holds 11"):
        pytree.tree_unflatten([1], spec)
    plain = pytree.tree_structure({"a": [1, collections.deque([2])]})
    assert pytree.treespec_loads(pytree.treespec_dumps(plain)) == plain


def test_mapping_over_several_trees():
    assert pytree.tree_map(lambda a, b: (a, b), {"a": 1, "b": 2}, {"b": 3, "a": [4]}) == {
        "a": (1, [4]), "b": (2, 3)}
    for other, words in (([1], "arity mismatch; expected 2, but got 1"), ((1, 2), "type mismatch")):
        with pytest.raises(ValueError, match=words):
            pytree.tree_map(lambda a, b: a, [1, 2], other)
    assert pytree.tree_map_only(int, lambda x: x + 1, [1, 2.0]) == [2, 2.0]
    assert pytree.tree_any(bool, [0, 1]) and not pytree.tree_all(bool, [0, 1])
    paths = pytree.tree_leaves_with_path({"a": [Point(1, 2)]})
    assert [pytree.keystr(path) for path, _ in paths] == ["['a'][0].x", "['a'][0].y"]
    assert pytree.key_get({"a": [Point(1, 2)]}, paths[1][0]) == 2


class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second


def test_registered_types_are_containers_for_transformations_too(executor):
    pytree.register_pytree_node(Pair, lambda p: ([p.first, p.second], None), lambda kids, _: Pair(*kids))
    try:
        with pytest.raises(ValueError, match="already registered"):
            pytree.register_pytree_node(Pair, None, None)
        at = Pair(torch.ones(2), torch.full((2,), 3.0))
        found = torch.func.grad(lambda p: (p.first * p.second).sum())(at)
        assert found.first.tolist() == [3.0, 3.0] and found.second.tolist() == [1.0, 1.0]
    finally:
        del pytree.SUPPORTED_NODES[Pair]
