"""The shape of the source itself: layers, sizes, habits, declarations."""

import ast
import functools
import pathlib
import re

import pytest

import jaxflow
from jaxflow._core import versions
from jaxflow._plans import op as records

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "jaxflow"
FOLDERS = ("jaxflow", "tests", "compat_tests", "examples", "benchmarks", "tools")
MOST_LINES = 700

# A layer may import the layers before it, and itself; `public` is what gathers the layers below into names,
# and what is written in those names. Nothing imports the dialects of other frameworks, nor what runs programs
# that say ``import torch``.
DIALECTS = ("dialects", "_dialect", "oneflow", "paddle")
LAUNCHER = ("_as_torch", "as_torch", "__main__")
LAYERS = ("_random", "_core", "_interpreter", "_plans", "_ops", "_transforms", "_shapes", "_exec", "_views",
          "_dispatch", "_memory", "_writes", "_publish", "_api", "autograd", "public", "dialects", "launcher")
ABOVE = ("dialects", "launcher")


def python_files(*folders):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def tree_of(path):
    """Not kept: the trees of all files take some 400 MB."""
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path):
    return str(path.relative_to(ROOT))


def every(*folders):
    """A test of all Python files in folders, which names those that fail."""
    def decorate(check):
        def test():
            failed = []
            for path in python_files(*folders):
                try:
                    check(path)
                except AssertionError as error:
                    failed.append(f"{name_of(path)}: {error}")
            assert not failed, "\n".join(failed)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test
    return decorate


# ----- import arrows ------------------------------------------------------------------------------


def imports_in(node, late=False):
    """Import statements that run when the module is loaded, and those that only type checkers read.

    With ``late`` those that run when a function is called are among them, and those for types are not.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING" and late:
            continue
        elif late or not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from imports_in(child, late)


def modules_imported(path, nodes):
    """Dotted names of what `nodes` import, relative ones resolved."""
    package = path.relative_to(ROOT).parts[:-1]
    if package[1:2] == ("dialects",) and len(package) > 2:  # `jaxflow.oneflow` and `jaxflow.paddle`
        package = ("jaxflow", *package[2:])
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            continue
        base = package[: len(package) - node.level + 1] if node.level else ()
        module = ".".join([*base, *([node.module] if node.module else [])])
        yield from (f"{module}.{alias.name}" for alias in node.names)


def layer_of(parts):
    """The layer of ``jaxflow.<parts>``."""
    first = parts[0] if parts else ""
    if first in DIALECTS:
        return "dialects"
    if first in LAUNCHER:
        return "launcher"
    return first if first in LAYERS else "public"


@functools.cache
def arrows(late=False):
    """What each file of jaxflow imports of jaxflow: (path, its layer, module, the layer of that)."""
    return tuple(_arrows(late))


def _arrows(late):
    for path in python_files("jaxflow"):
        inside = path.relative_to(PACKAGE).with_suffix("").parts
        for module in modules_imported(path, imports_in(tree_of(path), late)):
            first, *rest = module.split(".")
            if first == "jaxflow":
                yield path, layer_of(inside), module, layer_of(rest)


def test_imports_point_down():
    upwards = [
        f"{name_of(path)} ({source}) imports {module} ({target})"
        for path, source, module, target in arrows()
        if LAYERS.index(target) > LAYERS.index(source)
    ]
    assert not upwards, "\n".join(upwards)


def test_no_library_file_imports_the_top_package():
    """It gathers names for users. Dialects and the launcher use it as programs of users do."""
    wrong = [
        f"{name_of(path)} imports {module}" for path, source, module, _ in arrows()
        if source not in ABOVE and path != PACKAGE / "__init__.py" and not file_of(module)
    ]
    assert not wrong, "\n".join(wrong)


@functools.cache
def file_of(module):
    """The file of what is imported by that dotted name; None for ``jaxflow`` itself."""
    names = module.split(".")
    while len(names) > 1:
        for folder in (PACKAGE, PACKAGE / "dialects"):
            path = folder.joinpath(*names[1:])
            for found in (path.with_suffix(".py"), path / "__init__.py"):
                if found.exists():
                    return found
        names.pop()
    return None


def circles(targets):
    """Files that import each other, as sets: ``targets`` gives those that each of them imports."""
    order, done = [], set()

    def walk(start, targets, reached):
        todo = [(start, iter(targets.get(start, ())))]
        done.add(start)
        while todo:
            path, rest = todo[-1]
            after = next((t for t in rest if t not in done), None)
            if after is None:
                todo.pop()
                reached.append(path)
            else:
                done.add(after)
                todo.append((after, iter(targets.get(after, ()))))

    for path in targets:
        if path not in done:
            walk(path, targets, order)
    sources = {}
    for path, found in targets.items():
        for target in found:
            sources.setdefault(target, []).append(path)
    done.clear()
    for path in reversed(order):
        if path not in done:
            together = []
            walk(path, sources, together)
            if len(together) > 1:
                yield set(together)


def test_circles_are_seen():
    assert [*circles({1: [2], 2: [3], 3: [2, 4]})] == [{2, 3}]
    assert not [*circles({1: [2, 3], 2: [3]})]


def test_no_files_import_each_other():
    """Neither when they are loaded nor later, when a function of theirs is called."""
    targets = {}
    for path, source, module, _ in arrows(late=True):
        if source not in ABOVE and (target := file_of(module)) not in (None, path):
            targets.setdefault(path, []).append(target)
    found = ["\n".join(sorted(map(name_of, circle))) for circle in circles(targets)]
    assert not found, "\n\n".join(found)


def test_the_walk_sees_arrows():
    seen = {(source, target) for _, source, _, target in arrows()}
    assert {("_ops", "_plans"), ("_dispatch", "_exec"), ("dialects", "public")} <= seen


def test_notes_that_are_cited_exist():
    """A note begins a line, with its name in brackets; elsewhere that refers to it."""
    texts = {path: path.read_text(encoding="utf-8") for path in python_files(*FOLDERS)}
    given = {name for text in texts.values() for name in re.findall(r"(?m)^ *#? *NOTE \[([^\]]+)\]", text)}
    pages = {page: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))}
    unknown = [
        f"{name_of(path)}: {name}" for path, text in {**texts, **pages}.items()
        for cited in re.findall(r"NOTE\s+\[([^\]{]+)\]", text)
        if (name := re.sub(r"\s*\n\s*#?:?\s*", " ", cited)) not in given
    ]
    assert not unknown, "\n".join(unknown)


@pytest.mark.parametrize("folder", sorted(p.parent for p in PACKAGE.rglob("__init__.py")), ids=name_of)
def test_each_folder_has_a_short_readme(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert 3 <= len(text.splitlines()) <= 40
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert [n for n in named if not (folder / n).exists() and not (PACKAGE / n).exists()] == []


def test_dialects_know_nothing_of_each_other():
    wrong = [
        f"{name_of(path)} imports {module}"
        for path, source, module, target in arrows()
        if source == target == "dialects"
        and path.relative_to(PACKAGE / "dialects").parts[0] != module.split(".")[1] != "_dialect"
    ]
    assert not wrong, "\n".join(wrong)


def test_ops_know_nothing_of_tensors():
    """An op is a function on arrays: of the core it may use dtypes and shape arithmetic only."""
    hidden = {f"jaxflow._core.{name}" for name in ("tensor", "value", "hooks", "printing", "flags")}
    wrong = [
        f"{name_of(path)} imports {module}"
        for path, source, module, _ in arrows()
        if source == "_ops" and any((module + ".").startswith(name + ".") for name in hidden)
    ]
    assert not wrong, "\n".join(wrong)


#: Modules of jax in which nothing is promised to stay as it is.
UNPROMISED = ("jax._src", "jax.extend", "jax.interpreters", "jax.experimental", "jax.custom_derivatives")


def unpromised(path):
    """What of jax a file uses that may be another thing, or gone, in the next version."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = list(modules_imported(path, [node]))
        else:
            names = [ast.unparse(node)] if isinstance(node, ast.Attribute) else []
        yield from (n for n in names if (n + ".").startswith(tuple(u + "." for u in UNPROMISED)))


def test_what_jax_does_not_promise_is_used_through_one_file():
    compat = PACKAGE / "_core" / "jax_compat.py"
    used = {name_of(path): found for path in python_files("jaxflow") if (found := [*unpromised(path)])}
    assert "jax._src.config.trace_context" in used.pop(name_of(compat)) and not used


def test_the_range_of_jax_is_that_of_the_package():
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for package in ("jax", "jaxlib"):
        assert f'"{package}>={versions.OLDEST},<{versions.BEYOND}"' in declared


@pytest.mark.parametrize("found", ["0.10.0", "0.9.2", "0.13.0", "1.0", "0.13.0.dev20260101"])
def test_other_versions_of_jax_are_refused(found):
    with pytest.raises(ImportError, match=f"found jax {found}: pip install 'jax>="):
        versions.check(found)


@pytest.mark.parametrize("found", ["0.10.1", "0.11.2", "0.12.0.1", "0.12.1.dev20260101+abc"])
def test_versions_of_jax_in_the_range_are_accepted(found):
    versions.check(found)


@every("jaxflow", "tests", "examples")
def test_nothing_imports_torch(path):
    statements = (ast.Import, ast.ImportFrom)
    nodes = [node for node in ast.walk(tree_of(path)) if isinstance(node, statements)]
    assert not [m for m in modules_imported(path, nodes) if m.split(".")[0] == "torch"]


# ----- habits -------------------------------------------------------------------------------------


@every(*FOLDERS)
def test_file_is_small(path):
    """Without its docstrings, whose examples are for users."""
    documents = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lines = path.read_text(encoding="utf-8").count("\n")
    for node in ast.walk(tree_of(path)):
        if isinstance(node, documents) and ast.get_docstring(node) is not None:
            lines -= node.body[0].end_lineno - node.body[0].lineno
    assert lines <= MOST_LINES, f"{lines} lines: split it by idea"


def called_name(node):
    """``print`` of ``print(x)``, ``PRNGKey`` of ``jax.random.PRNGKey(0)``."""
    if not isinstance(node, ast.Call):
        return None
    return getattr(node.func, "attr", None) or getattr(node.func, "id", None)


def bad_habits(path):
    for node in ast.walk(tree_of(path)):
        name = called_name(node)
        if name in ("set_trace", "breakpoint"):
            yield node, "a debugger"
        if name == "print" and isinstance(node.func, ast.Name) and path.is_relative_to(PACKAGE):
            if not any(keyword.arg == "file" for keyword in node.keywords):
                yield node, "print: a library returns text, or says where it prints with file="
        if name == "PRNGKey" and path.name != "generator.py":
            yield node, "a random key made outside generator.py"
        if isinstance(node, ast.ExceptHandler):
            if node.type is None:
                yield node, "a bare except"
            if all(isinstance(child, ast.Pass) for child in node.body):
                yield node, "an error swallowed by pass"
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
            for default in defaults:
                if isinstance(default, (ast.List, ast.Dict, ast.Set)):
                    yield default, "a default that is shared and can be changed"


@every(*FOLDERS)
def test_no_bad_habits(path):
    found = [f"{name_of(path)}:{node.lineno}: {what}" for node, what in bad_habits(path)]
    assert not found, "\n".join(found)


def test_bad_habits_are_seen(tmp_path):
    """The check above must be able to fail."""
    bad = tmp_path / "bad.py"
    bad.write_text(
        "def f(x=[]):\n    jax.random.PRNGKey(0)\n    pdb.set_trace()\n"
        "    try:\n        g()\n    except:\n        pass\n"
    )
    assert sorted(node.lineno for node, _ in bad_habits(bad)) == [1, 2, 3, 6, 6]


# ----- stores to a tensor -------------------------------------------------------------------------

# NOTE [Stores to a tensor]: only this module may store to these, and two constructors.
FIELDS = ("_storage", "_grad", "_requires_grad", "_grad_fn", "_view", "_hooks")
STORING = PACKAGE / "_core" / "fields.py"
CONSTRUCTORS = {PACKAGE / "_core" / "tensor.py": ("make", "make_result", "make_view")}
READING = ("attrgetter", "getattr", "hasattr", "index")  # calls that do not store what they are told to name


def names_a_class(node):
    """Whether an expression looks like a class: ``Tensor``, ``jaxflow.Tensor``, ``cls``, ``type(t)``."""
    name = getattr(node, "attr", None) or getattr(node, "id", None) or ""
    return name[:1].isupper() or name in ("cls", "__class__") or called_name(node) == "type"


def harmless(node, constructors):
    """The nodes below ``node`` that do not store, or may."""
    if isinstance(node, ast.FunctionDef) and node.name in constructors:
        return list(ast.walk(node))
    if isinstance(node, ast.Call) and called_name(node) in READING:
        return node.args
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__slots__" for t in node.targets):
        return list(ast.walk(node.value))
    return []


def stores_to_fields(tree, constructors=()):
    """What stores to the fields, or names them where that could end in a store."""
    nodes = list(ast.walk(tree))
    allowed = {id(child) for node in nodes for child in harmless(node, constructors)}
    for node in nodes:
        if id(node) in allowed:
            continue
        if isinstance(node, ast.Attribute) and node.attr in FIELDS:
            if not isinstance(node.ctx, ast.Load):
                yield node, f"a store to {node.attr}"
            elif names_a_class(node.value):
                yield node, f"the descriptor of {node.attr}, which can store"
        if isinstance(node, ast.Attribute) and node.attr == "__slots__" and names_a_class(node.value):
            yield node, "all names of fields"
        if isinstance(node, ast.Constant) and node.value in FIELDS:
            yield node, f"the name of {node.value}, for what may be a store"


def test_tensors_are_changed_in_one_module():
    found = [
        f"{name_of(path)}:{node.lineno}: {what}: see NOTE [Stores to a tensor]"
        for path in python_files("jaxflow") if path != STORING
        for node, what in stores_to_fields(tree_of(path), CONSTRUCTORS.get(path, ()))
    ]
    assert not found, "\n".join(found)


STORES = (
    "t.F = x", "a, t.u.F = x", "t.F += x", "t.F: int = x", "del t.F", "for t.F in x: pass",
    "setattr(t, 'F', x)", "object.__setattr__(t, 'F', x)", "rows = [(setattr, t, 'F', x)]",
    "stores(owners, 'F', x)", "NAMES = ('_aval', 'F')", "vars(Tensor)['F'].__set__(t, x)",
    "Tensor.F.__set__(t, x)", "store = type(t).F.__set__", "SLOTS = jaxflow.Tensor.__slots__",
    "def make(t):\n    t.F = x",
)
READS = (
    "x = t.F", "t.F.value = x", "of = attrgetter('_aval', 'F')", "getattr(t, 'F')", "name == 'F'",
    "NAMES.index('F')", "class C:\n    __slots__ = ('F',)",
)


@pytest.mark.parametrize("field", FIELDS)
def test_stores_to_a_tensor_are_seen(field):
    """The check above must be able to fail, and to let pass what only reads."""
    for line in STORES:
        assert len(list(stores_to_fields(ast.parse(line.replace("F", field))))) == 1, line
    for line in READS:
        assert not list(stores_to_fields(ast.parse(line.replace("F", field)))), line
    assert not list(stores_to_fields(ast.parse(STORES[-1].replace("F", field)), ("make",)))
    assert any(field in what for _, what in stores_to_fields(tree_of(STORING)))


# ----- declarations -------------------------------------------------------------------------------


def test_every_op_is_documented():
    undocumented = [name for name, op in records.OPS.items() if not (op.doc or "").strip()]
    assert not undocumented


def test_every_op_is_declared_once():
    """By name and aliases, over all the records; and a second declaration is an error."""
    owner = {}
    for record in records.OPS.values():
        for name in (record.name, *record.aliases):
            assert owner.setdefault((record.namespace, name), record) is record, name


def test_package_says_where_its_names_come_from():
    assert jaxflow.__doc__
