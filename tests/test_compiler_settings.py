"""Settings of PyTorch's compiler that programs change: `_dynamo.config` and `_inductor.config`."""

import pytest

import jaxflow as torch
from jaxflow._dynamo import config as dynamo
from jaxflow._inductor import config as inductor


@pytest.fixture(autouse=True)
def _as_before():
    before = dynamo.get_config_copy(), inductor.get_config_copy()
    yield
    dynamo.load_config(before[0])
    inductor.load_config(before[1])


def test_settings_are_kept():
    dynamo.cache_size_limit = 64
    assert dynamo.recompile_limit == dynamo.cache_size_limit == 64
    inductor.coordinate_descent_tuning = True
    inductor.triton.unique_kernel_names = False
    found = inductor.get_config_copy()
    assert found["coordinate_descent_tuning"] is True and found["triton.unique_kernel_names"] is False
    assert torch.compile(lambda x: x + 1)(torch.ones(2)).tolist() == [2.0, 2.0]


def test_other_names_do_not_exist():
    for call in (lambda: dynamo.no_such, lambda: setattr(dynamo, "no_such", 1), lambda: dynamo._sys_,
                 lambda: dynamo.patch("no_such", 1), lambda: dynamo.patch({"triton.cudagraphs": True})):
        with pytest.raises(AttributeError, match="torch._dynamo.config.*does not exist"):
            call()
    for call in (lambda: inductor.triton.no_such, lambda: setattr(inductor.triton, "no_such", 1),
                 lambda: inductor.patch({"triton.no_such": 1})):
        with pytest.raises(AttributeError, match="torch._inductor.config.triton.no_such does not exist"):
            call()


def test_settings_for_a_block_and_for_a_function():
    with dynamo.patch(cache_size_limit=3, verbose=True):
        assert (dynamo.recompile_limit, dynamo.verbose) == (3, True)
    assert (dynamo.recompile_limit, dynamo.verbose) == (8, False)
    with pytest.raises(KeyError), inductor.patch({"triton.cudagraphs": True}):
        assert inductor.triton.cudagraphs
        raise KeyError
    assert not inductor.triton.cudagraphs

    @dynamo.patch("automatic_dynamic_shapes", False)
    def called():
        return dynamo.automatic_dynamic_shapes

    assert [called(), called()] == [False, False] and dynamo.automatic_dynamic_shapes


def test_what_would_change_how_a_program_ends_is_refused():
    dynamo.error_on_recompile = False
    with pytest.raises(NotImplementedError, match="set_stance"):
        dynamo.error_on_recompile = True
    with pytest.raises(NotImplementedError, match="force_eager"), dynamo.patch(verbose=True, disable=True):
        pass
    assert not dynamo.verbose
    with pytest.raises(AttributeError, match="no_such does not exist"):
        dynamo.load_config({"verbose": True, "no_such": 1})
    assert not dynamo.verbose
