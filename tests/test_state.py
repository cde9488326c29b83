"""The table of state in docs/state.md names all state of the process and its threads, and no other."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "jaxflow"

# What makes something that changes, when it is called at load; containers only if they begin empty.
_CONTAINERS = {"dict", "list", "set", "defaultdict", "Counter", "OrderedDict", "WeakKeyDictionary",
               "WeakValueDictionary", "WeakSet"}
_OTHERS = {"deque", "local", "Lock", "RLock", "Condition", "SimpleQueue", "Queue", "count", "Table",
           "ContextVar", "WatchedStorages", "CompileBudget"}


def _changes(value, classes):
    """Whether what a module-level name is bound to may change."""
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, (ast.List, ast.Set)):
        return not value.elts
    if isinstance(value, ast.Attribute) and value.attr == "__next__":
        return True
    if not isinstance(value, ast.Call):
        return False
    name = ast.unparse(value.func).rpartition(".")[2]
    alone = not value.args and not value.keywords
    return name in _OTHERS or (alone and (name in _CONTAINERS or name in classes))


def state_of(source):
    """The names of a module's state: see the page."""
    tree = ast.parse(source)
    rebound = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)} | {"HookTable"}
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and (
                    target.id in rebound or _changes(node.value, classes)
                ) and target.id != "__all__":
                    yield target.id
        elif isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if "cache" in re.findall(r"\w+", ast.unparse(decorator).replace("lru_cache", "cache")):
                    yield node.name


def listed():
    """``(file, name)`` for each in the table, and the number of filled cells of its row."""
    for line in (ROOT / "docs" / "state.md").read_text(encoding="utf-8").splitlines():
        match = re.match(r"\| `([\w/]+\.py)` ((?:`\w+` )+)\|(.*)", line)
        if match:
            for name in re.findall(r"`(\w+)`", match[2]):
                yield (match[1], name), match[3].split("|")


def found():
    """The same of the source."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in state_of(path.read_text(encoding="utf-8")):
            yield path.relative_to(PACKAGE).as_posix(), name


def test_all_state_is_in_the_table():
    assert set(found()) == {entry for entry, _ in listed()}


def test_each_row_names_owner_and_lock():
    rows = list(listed())
    assert len(rows) > 80 and len({entry for entry, _ in rows}) == len(rows)
    for entry, (owner, lock, *_) in rows:
        assert owner.strip() and lock.strip(), entry


def test_caches_have_a_bound_or_a_reason():
    """``functools.cache`` without a size is for what the source or the machine bounds, which is named."""
    bounds = {entry: cells[2].strip() for entry, cells in listed()}
    for (path, name), bound in bounds.items():
        if re.search(rf"@functools\.cache\ndef {name}\b", (PACKAGE / path).read_text(encoding="utf-8")):
            assert bound, (path, name)


@pytest.mark.parametrize("source, names", [
    ("seen = {}", ["seen"]), ("seen: list[int] = []", ["seen"]), ("SIZES = {1: 2}", []),
    ("import threading\n_lock = threading.Lock()", ["_lock"]),
    ("class A:\n    pass\none = A()", ["one"]),
    ("n = 0\ndef f():\n    global n\n    n += 1", ["n"]),
    ("@functools.lru_cache(maxsize=3)\ndef f(x):\n    return x", ["f"]),
    ("next_id = itertools.count().__next__", ["next_id"]),
])
def test_state_is_found(source, names):
    assert list(state_of(source)) == names
