"""TorchScript's names leave programs as they are; its archives are refused."""

import pytest

import jaxflow as torch
from jaxflow import jit


def test_programs_stay_python():
    @jit.script
    def f(x):
        return x * 2 if not jit.is_scripting() else x

    class Scripted(jit.ScriptModule):
        __constants__ = ("n",)
        n: jit.Final[int] = 3

        @jit.script_method
        def forward(self, x):
            return self.helper(x) * self.n

        @jit.ignore
        def helper(self, x):
            return f(x)

        @jit.ignore(drop=True)
        def other(self, x):
            return x

        @jit.unused
        def unused(self, x):
            return jit.annotate(int, x)

    model = Scripted()
    x = torch.ones(2)
    assert model(x).tolist() == [6.0, 6.0] and model.other(1) == model.unused(1) == 1
    assert isinstance(model, jit.ScriptModule) and not isinstance(torch.nn.ReLU(), jit.ScriptModule)
    assert jit.trace(model, x) is model and jit.freeze(model) is model and not jit.is_tracing()


def test_archives_are_refused(tmp_path):
    for call in (lambda: jit.save(torch.nn.ReLU(), tmp_path / "m.pt"), lambda: jit.load(tmp_path / "m.pt")):
        with pytest.raises(NotImplementedError, match="state_dict"):
            call()
