"""The constructors from before `tensor`, and the types they are."""

import pytest

import jaxflow


def test_lengths_or_data():
    assert jaxflow.Tensor(2, 3).shape == (2, 3)
    assert jaxflow.Tensor([2, 3]).tolist() == [2.0, 3.0]
    assert jaxflow.LongTensor([1, 2.7]).tolist() == [1, 2]
    assert jaxflow.HalfTensor(2).dtype is jaxflow.float16
    with pytest.raises(TypeError, match="data must be a sequence"):
        jaxflow.Tensor(2.5)


def test_a_tensor_given_is_shared():
    x = jaxflow.arange(3)
    jaxflow.Tensor(x).add_(1)
    assert x.tolist() == [1, 2, 3]


def test_types_answer_isinstance():
    x = jaxflow.ones(2)
    assert isinstance(x, jaxflow.FloatTensor) and not isinstance(x, jaxflow.DoubleTensor)
    assert not isinstance(x, jaxflow.cuda.FloatTensor)
    assert x.type(jaxflow.LongTensor).dtype is jaxflow.int64


def test_subclasses_keep_storage_and_history():
    class Mine(jaxflow.Tensor):
        def doubled(self):
            return self * 2

    x = jaxflow.ones(2, requires_grad=True)
    mine = x.as_subclass(Mine)
    mine.doubled().sum().backward()
    assert type(mine) is Mine and x.grad.tolist() == [2.0, 2.0]
    assert type(Mine([1.0])) is Mine


@pytest.mark.parametrize("value", [256, -256, 300.0, float("nan")])
def test_numbers_that_do_not_fit_are_refused(value):
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8 without overflow"):
        jaxflow.tensor([value], dtype=jaxflow.uint8)
