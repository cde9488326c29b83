"""The type stubs: up to date, readable, and of what the package really has."""

import ast
import pathlib
import subprocess
import sys

import jaxflow

PACKAGE = pathlib.Path(jaxflow.__file__).parent


def test_stubs_are_up_to_date():
    """In a process of its own: what other tests import or override shows in the modules."""
    found = subprocess.run([sys.executable, "-m", "tools.stubs", "--check"], cwd=PACKAGE.parent,
                           capture_output=True, text=True, check=False)
    assert found.returncode == 0, f"run python -m tools.stubs: {found.stdout}{found.stderr}"


def names_in(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bodies = {"": tree.body, **{n.name: n.body for n in tree.body if isinstance(n, ast.ClassDef)}}
    return {owner: {n.name for n in body if isinstance(n, ast.FunctionDef)} for owner, body in bodies.items()}


def test_editors_see_what_is_published():
    functions = names_in(PACKAGE / "__init__.pyi")[""]
    methods = names_in(PACKAGE / "_core" / "tensor.pyi")["Tensor"]
    assert {"add", "max", "zeros", "reshape", "softmax", "svd"} <= functions
    assert {"add", "add_", "__add__", "__iadd__", "__getitem__", "backward", "shape", "T"} <= methods
    assert "relu" in names_in(PACKAGE / "nn" / "functional.pyi")[""]
    assert "det" in names_in(PACKAGE / "linalg.pyi")[""]
    assert (PACKAGE / "py.typed").exists()


def test_annotations_name_what_the_stubs_import():
    for path in PACKAGE.rglob("*.pyi"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = {alias.asname or alias.name for node in ast.walk(tree)
                 if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
        known |= {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
        known |= {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets}
        used = {n.id for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)
                for a in (*f.args.args, *f.args.kwonlyargs, f.returns)
                for n in ast.walk((a.annotation if isinstance(a, ast.arg) else a) or ast.Constant(0))
                if isinstance(n, ast.Name)}
        assert used <= known, (path, used - known)
