"""Trees of Python containers, flattened and mapped over as PyTorch's ``torch.utils._pytree`` does.

The containers are tuples, lists, dicts, named tuples, ordered and default dicts, deques, sizes, and what
`register_pytree_node` adds; everything else, None included, is a leaf. The table is that of ``jaxflow.func``.
"""

from __future__ import annotations

import functools
import json
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jaxflow._core import tree as _tree
from jaxflow._core.inner import module_of
from jaxflow._core.tree import NODES as SUPPORTED_NODES
from jaxflow._core.tree import GetAttrKey as GetAttrKey
from jaxflow._core.tree import MappingKey as MappingKey
from jaxflow._core.tree import Node as NodeDef
from jaxflow._core.tree import SequenceKey as SequenceKey
from jaxflow._core.tree import TreeSpec as TreeSpec

PyTree, Context = Any, Any
PyTreeSpec = TreeSpec
KeyPath = tuple

#: What `treespec_dumps` calls a type, and how it writes the type's context and reads it back.
_WRITTEN: dict[Any, tuple[str, Callable, Callable]] = {}


def LeafSpec() -> TreeSpec:
    """The structure of a single leaf."""
    return _tree.LEAF


def register_pytree_node(
    cls: type, flatten_fn: Callable, unflatten_fn: Callable, *, serialized_type_name: str | None = None,
    to_dumpable_context: Callable | None = None, from_dumpable_context: Callable | None = None,
    flatten_with_keys_fn: Callable | None = None,
) -> None:
    """Make a type a container.

    Args:
        cls: the type; its subclasses are not meant.
        flatten_fn: takes an object apart, into a list of children and a context that can be compared.
        unflatten_fn: puts children and context together again.
        serialized_type_name: the type's name in what `treespec_dumps` writes.
        to_dumpable_context: makes a context something that JSON holds.
        from_dumpable_context: makes a context of that again.
        flatten_with_keys_fn: like ``flatten_fn``, with pairs of a key and a child.

    Raises:
        ValueError: if the type is a container already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    keys = None if flatten_with_keys_fn is None else (
        lambda tree: [key for key, _ in flatten_with_keys_fn(tree)[0]])
    SUPPORTED_NODES[cls] = NodeDef(flatten_fn, unflatten_fn, keys)
    name = serialized_type_name or f"{cls.__module__}.{cls.__qualname__}"
    _WRITTEN[cls] = (name, to_dumpable_context or json.dumps, from_dumpable_context or json.loads)


_register_pytree_node = register_pytree_node


# --------------------------------------------------------------------------------- leaves, structure


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a tree is a leaf: no container, or one of which ``is_leaf`` says so."""
    return (is_leaf is not None and is_leaf(tree)) or _tree.node_type(tree) is None


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list, TreeSpec]:
    """The leaves of a tree in order, and its structure.

    Args:
        tree: containers in containers: tuples, lists, dicts and what `register_pytree_node` adds.
            Everything else is a leaf, None too.
        is_leaf: a function that says of a container whether it is a leaf nevertheless.

    Returns:
        A list of the leaves, and a `TreeSpec`, which `tree_unflatten` takes. A dict keeps the order of its
        keys.

    Example:
        >>> from jaxflow.utils import _pytree
        >>> leaves, spec = _pytree.tree_flatten({"b": [1, 2], "a": (3, None)})
        >>> leaves, spec.num_leaves
        ([1, 2, 3, None], 4)
        >>> _pytree.tree_flatten([(1, 2), 3], is_leaf=lambda x: isinstance(x, tuple))[0]
        [(1, 2), 3]
    """
    return _tree.flatten(tree, is_leaf)


def tree_unflatten(leaves: Iterable, treespec: TreeSpec) -> Any:
    """The tree of a structure with the given leaves.

    Args:
        leaves: the new leaves, in the order of `tree_flatten`.
        treespec: the structure that `tree_flatten` returned.

    Returns:
        New containers, of the types and with the keys of the structure.

    Raises:
        TypeError: if ``treespec`` is no structure.
        ValueError: unless there are as many leaves as it has.

    Example:
        >>> from jaxflow.utils import _pytree
        >>> leaves, spec = _pytree.tree_flatten({"b": [1, 2], "a": (3,)})
        >>> _pytree.tree_unflatten([10 * leaf for leaf in leaves], spec)
        {'b': [10, 20], 'a': (30,)}
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list:
    """The leaves of a tree in order."""
    return _tree.flatten(tree, is_leaf)[0]


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterator:
    """An iterator over the leaves of a tree."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The structure of a tree."""
    return _tree.flatten(tree, is_leaf)[1]


# ------------------------------------------------------------------------------------------ mapping


def tree_map(func: Callable, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with ``func`` applied to each leaf, and to what stands in its place in the ``rests``.

    Raises:
        ValueError: when one of the ``rests`` does not begin with the structure of ``tree``.
    """
    leaves, treespec = _tree.flatten(tree, is_leaf)
    return _tree.unflatten(list(map(func, leaves, *map(treespec.flatten_up_to, rests))), treespec)


def tree_map_(func: Callable, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call ``func`` for each leaf, for what it does to it; the tree itself."""
    leaves, treespec = _tree.flatten(tree, is_leaf)
    for group in zip(leaves, *map(treespec.flatten_up_to, rests)):
        func(*group)
    return tree


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable], Callable]:
    """A decorator: the function is applied to what is of a type, of several, or fulfils a predicate."""
    chosen = _chooser(type_or_types_or_pred)

    def decorate(func: Callable) -> Callable:
        @functools.wraps(func)
        def only(x: Any) -> Any:
            return func(x) if chosen(x) else x

        return only

    return decorate


def _chooser(wanted: Any) -> Callable[[Any], bool]:
    if isinstance(wanted, (type, tuple, types.UnionType)):
        return lambda x: isinstance(x, wanted)
    if callable(wanted):
        return wanted
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def tree_map_only(type_or_types_or_pred: Any, /, func: Callable, tree: Any,
                  is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with ``func`` applied to the leaves of a type, of several, or that fulfil a predicate."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred: Any, /, func: Callable, tree: Any,
                   is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call ``func`` for such leaves, for what it does to them; the tree itself."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether all leaves fulfil a predicate."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a leaf fulfils a predicate."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: Any,
                  is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether all leaves of the given types fulfil a predicate."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: Any,
                  is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a leaf of the given types fulfils a predicate."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


# -------------------------------------------------------------------------------------------- paths


def tree_leaves_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list:
    """Pairs of the way to a leaf, as a tuple of keys, and the leaf.

    Raises:
        ValueError: for a container whose registration does not give its keys.
    """
    found: list = []
    _walk((), tree, is_leaf, found)
    return found


def _walk(path: tuple, tree: Any, is_leaf: Callable | None, found: list) -> None:
    if tree_is_leaf(tree, is_leaf):
        found.append((path, tree))
        return
    kind = _tree.node_type(tree)
    node = SUPPORTED_NODES[kind]
    if node.keys is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn "
            "argument to register_pytree_node."
        )
    for key, child in zip(node.keys(tree), node.flatten(tree)[0], strict=True):
        _walk((*path, key), child, is_leaf, found)


def tree_flatten_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list, TreeSpec]:
    """The leaves with the ways to them, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable, tree: Any, *rests: Any,
                       is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Like `tree_map`, with the way to each leaf as the first argument."""
    pairs, treespec = tree_flatten_with_path(tree, is_leaf)
    others = [treespec.flatten_up_to(rest) for rest in rests]
    return _tree.unflatten([func(*pair, *group) for pair, *group in zip(pairs, *others)], treespec)


def keystr(kp: tuple) -> str:
    """A way to a leaf as Python writes it: ``['a'][0].x``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: tuple) -> Any:
    """What stands at the end of a way."""
    for key in kp:
        obj = key.get(obj)
    return obj


# ---------------------------------------------------------------------------------- written to JSON

_PROTOCOL = 1
_BUILT_IN = (tuple, list, dict, OrderedDict, defaultdict, deque)


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A structure as JSON, from which `treespec_loads` makes an equal one.

    Raises:
        NotImplementedError: for a type whose context cannot be written.
        ValueError: for an unknown ``protocol``.
    """
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")
    return json.dumps([_PROTOCOL, _to_json(treespec)])


def _to_json(spec: TreeSpec) -> dict:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    if spec.type is namedtuple or spec.type is defaultdict:
        raise NotImplementedError(
            f"Cannot serialize a {spec.type.__name__}: its context holds a Python object. Register a type of "
            "your own with to_dumpable_context."
        )
    name, write, _ = _WRITTEN.get(spec.type) or (
        f"{spec.type.__module__}.{spec.type.__qualname__}", json.dumps, None)
    return {"type": name, "context": write(spec.context),
            "children_spec": [_to_json(child) for child in spec.children()]}


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that `treespec_dumps` wrote. ValueError for another protocol, or an unknown type."""
    protocol, written = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")
    readers = {f"{kind.__module__}.{kind.__qualname__}": (kind, json.loads) for kind in _BUILT_IN}
    readers |= {name: (kind, read) for kind, (name, _, read) in _WRITTEN.items()}
    return _from_json(written, readers)


def _from_json(written: dict, readers: dict) -> TreeSpec:
    name = written["type"]
    if name is None:
        return _tree.LEAF
    if name not in readers:
        raise ValueError(f"Unknown type in serialized treespec: {name}; register it as a pytree node first")
    kind, read = readers[name]
    return TreeSpec(kind, read(written["context"]),
                    [_from_json(child, readers) for child in written["children_spec"]])


def treespec_pprint(treespec: TreeSpec) -> str:
    """A structure as a tree with stars for leaves."""
    star = type("_Leaf", (), {"__repr__": lambda self: "*"})()
    return repr(treespec.unflatten([star] * treespec.num_leaves))


# ---------------------------------------------------------------------------------------- the parts


def _dict_flatten(d: dict) -> tuple[list, list]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict) -> tuple[list, list]:
    """Pairs of a key in a path and a value, and the keys."""
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _dict_unflatten(values: Iterable, context: Iterable) -> dict:
    return dict(zip(context, values, strict=True))


def _list_flatten(d: list) -> tuple[list, None]:
    return d, None


def _list_unflatten(values: Iterable, context: None) -> list:
    return list(values)


def _tuple_flatten(d: tuple) -> tuple[list, None]:
    return list(d), None


def _tuple_unflatten(values: Iterable, context: None) -> tuple:
    return tuple(values)


def _get_node_type(tree: Any) -> Any:
    kind = _tree.node_type(tree)
    return type(tree) if kind is None else kind


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec,
                              is_leaf: Callable[[Any], bool] | None = None) -> list | None:
    """For each leaf of the structure the leaf of ``tree`` that stands for it; None if they do not match."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    kind = _tree.node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten(tree)
    children = list(children)
    if treespec.is_leaf() or kind != treespec.type or context != treespec.context or (
        len(children) != treespec.num_children
    ):
        return None
    found: list = []
    for child, spec in zip(children, treespec.children()):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        found += part
    return found


def is_namedtuple_class(cls: type) -> bool:
    """Whether a type is a named tuple's."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(
        getattr(cls, "_fields", None), tuple) and module_of(cls) != "jaxflow.return_types"


def is_namedtuple_instance(obj: object) -> bool:
    """Whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Whether an object is a named tuple, or its type."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))
