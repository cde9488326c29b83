"""The programs in examples/, run as they are on either library."""

import pathlib
import re
import sys
import types

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def example(name, library):
    """``examples/<name>.py`` as a module, its one import line changed to `library`."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    path = EXAMPLES / f"{name}.py"
    source, changed = re.subn(
        r"^import jaxflow as torch.*$", f"import {library} as torch", path.read_text(), flags=re.M
    )
    if changed != 1:
        raise ValueError(f"{path} should have exactly one line to change, not {changed}")
    module = types.ModuleType(f"{name}_on_{library}")
    sys.modules[module.__name__] = module  # torch.compile imports the modules of functions it inlines
    exec(compile(source, path, "exec"), module.__dict__)
    return module
