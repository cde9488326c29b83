"""The report of a machine has PyTorch's lines."""

import re

from torch.utils import collect_env as theirs

from jaxflow.utils import collect_env as ours


def test_lines_and_fields():
    assert ours.SystemEnv._fields == theirs.SystemEnv._fields
    given = {name: f"<{name}>" for name in theirs.SystemEnv._fields}
    given["pip_version"], given["pip_packages"] = "pip3", "numpy==1\ntorch==2"
    mine = ours.pretty_str(ours.SystemEnv(**given))
    expected = theirs.pretty_str(theirs.SystemEnv(**given))
    assert re.sub(r"\s+$", "", mine, flags=re.M) == re.sub(r"\s+$", "", expected, flags=re.M)
