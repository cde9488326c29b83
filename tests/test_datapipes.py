"""Datasets that are made of each other."""

import copy
import pickle

import pytest

import jaxflow as torch
from jaxflow.utils.data import DataLoader, IterableDataset, IterDataPipe, MapDataPipe, functional_datapipe
from jaxflow.utils.data.datapipes.datapipe import _ITER, _MAP
from jaxflow.utils.data.datapipes.iter import Batcher, Concater, Filter, IterableWrapper, Mapper, Zipper
from jaxflow.utils.data.datapipes.map import SequenceWrapper


def double(x):
    return 2 * x


@pytest.fixture
def registered():
    """Names that a test registers are taken out again."""
    before = dict(_ITER), dict(_MAP)
    yield
    for table, held in zip((_ITER, _MAP), before, strict=True):
        table.clear()
        table.update(held)


def test_a_chain():
    source = IterableWrapper(range(10))
    pipe = source.filter(lambda x: x % 3 != 0).map(double).batch(4)
    assert list(pipe) == list(pipe) == [[2, 4, 8, 10], [14, 16]]
    assert list(Batcher(source, 4, drop_last=True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert (len(source), len(source.map(double)), len(source.batch(4)), len(source.batch(4, True))) == (10,
                                                                                                        10, 3,
                                                                                                        2)
    first, second = iter(pipe), iter(pipe)
    assert next(first) == next(second)
    assert list(source.batch(5, wrapper_class=tuple)) == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)]
    assert isinstance(pipe, IterableDataset) and repr(pipe) == "BatcherIterDataPipe" and "zip" in dir(pipe)
    assert list(pickle.loads(pickle.dumps(source.map(double)))) == list(copy.deepcopy(source.map(double)))
    with pytest.raises(TypeError, match="object of type 'FilterIterDataPipe' has no len"):
        len(source.filter(bool))


def test_several_sources():
    a, b = IterableWrapper([1, 2]), IterableWrapper("abc")
    assert list(a.concat(b)) == [1, 2, "a", "b", "c"] and len(Concater(a, b)) == 5
    assert list(a.zip(b)) == [(1, "a"), (2, "b")] and len(Zipper(a, b)) == 2
    with pytest.raises(ValueError, match="Expected at least one DataPipe"):
        Zipper()
    with pytest.raises(TypeError, match="Expected all inputs to be `IterDataPipe`"):
        Concater(a, [1])


def test_columns():
    rows = IterableWrapper([(1, 2, 3), (4, 5, 6)])
    assert list(rows.map(double, 1)) == [(1, 4, 3), (4, 10, 6)]
    assert list(rows.map(lambda a, b: a + b, [0, 2])) == [(4, 2), (10, 5)]
    assert list(rows.map(double, 0, -1)) == [(1, 2, 3, 2), (4, 5, 6, 8)]
    assert list(rows.map(lambda a, b: a + b, (0, 1), [2])) == [(1, 2, 3), (4, 5, 9)]
    assert list(IterableWrapper([{"a": 1, "b": 2}]).map(double, "a", "c")) == [{"a": 1, "b": 2, "c": 2}]
    assert list(rows.filter(lambda a: a > 3, input_col=1)) == [(4, 5, 6)]
    with pytest.raises(ValueError, match="`output_col` must be None when `input_col` is None"):
        Mapper(rows, double, output_col=1)
    with pytest.raises(ValueError, match="Boolean output is required"):
        list(Filter(rows, lambda row: 1))


def test_the_source_is_not_changed():
    source = [[1], [2]]
    for row in IterableWrapper(source):
        row.append(0)
    assert source == [[1], [2]]
    for row in IterableWrapper(source, deepcopy=False):
        row.append(0)
    assert source == [[1, 0], [2, 0]]
    with pytest.warns(UserWarning, match="can not be deepcopied"):
        assert list(IterableWrapper(x for x in [1, 2])) == [1, 2]


@pytest.mark.usefixtures("executor")
def test_in_a_loader():
    pipe = IterableWrapper(range(6)).map(lambda i: torch.full((2,), float(i)))
    assert [batch.shape for batch in DataLoader(pipe, batch_size=4)] == [(4, 2), (2, 2)]
    batches = list(pipe.batch(3).collate())
    assert [batch[:, 0].tolist() for batch in batches] == [[0, 1, 2], [3, 4, 5]]
    words = SequenceWrapper({0: 1.0, 1: 2.0}).map(double)
    assert [b.tolist() for b in DataLoader(words, batch_size=2)] == [[2.0, 4.0]] and len(words) == 2
    assert isinstance(words, MapDataPipe) and words[1] == 4.0


@pytest.mark.usefixtures("registered")
def test_pipes_of_users():
    @functional_datapipe("every")
    class Every(IterDataPipe):
        def __init__(self, source, step=2):
            self.source, self.step = source, step

        def __iter__(self):
            return (x for i, x in enumerate(self.source) if i % self.step == 0)

    assert list(IterableWrapper(range(7)).every(step=3)) == [0, 3, 6]
    with pytest.raises(Exception, match="Unable to add DataPipe function name every as it is already taken"):
        functional_datapipe("every")(Every)
    with pytest.raises(TypeError, match="`functional_datapipe` can only decorate"):
        functional_datapipe("other")(list)
    with pytest.raises(NotImplementedError, match="enable_df_api_tracing is not supported"):
        functional_datapipe("frames", enable_df_api_tracing=True)(Every)
    IterDataPipe.register_function("count", lambda pipe: sum(1 for _ in pipe))
    assert IterableWrapper(range(7)).count() == 7
    with pytest.raises(AttributeError,
                       match="'IterableWrapperIterDataPipe' object has no attribute 'shuffle"):
        IterableWrapper([]).shuffle()
    with pytest.raises(AssertionError, match="Batch size is required to be larger than 0"):
        IterableWrapper([]).batch(0)
