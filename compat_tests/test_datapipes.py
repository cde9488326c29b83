"""Pipes beside PyTorch's."""

import operator

import pytest
import torch.utils.data.datapipes as theirs

import jaxflow.utils.data.datapipes as ours

CALLS = """
list(W(range(7)).filter(bool).map(neg).batch(3))
list(W(range(7)).batch(3, drop_last=True, wrapper_class=tuple))
[len(p) for p in (W(range(7)), W(range(7)).batch(3), W(range(7)).batch(3, True), W('ab').concat(W('c')))]
list(W([(1, 2, 3)]).map(neg, 1)) + list(W([(1, 2, 3)]).map(neg, 1, -1))
list(W([(1, 2, 3)]).map(sub, [0, 2])) + list(W([[1, 2, 3]]).map(sub, [0, 1], 2))
list(W([{'a': 1}]).map(neg, 'a', 'b'))
list(W([(1, 2), (2, 1)]).filter(lt, input_col=[0, 1]))
list(W('ab').zip(W([1, 2, 3]))) + list(W('ab').concat(W([1])))
repr(W([1]).batch(2)) + str(W([1]).map(len))
len(W([1]).filter(bool))
len(W([1]).filter(bool).map(neg))
list(W([1]).filter(neg))
W([1]).batch(0)
W([1]).map(neg, output_col=1)
W([1]).map(neg, 0, [1, 2])
W([1]).no_such
W([1]).concat([1])
list(S([1, 2, 3]).map(neg)[i] for i in range(3)) + [len(S('ab'))]
""".strip().splitlines()


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    results = []
    for library in (ours, theirs):
        try:
            results.append(eval(call, {**vars(operator), "W": library.iter.IterableWrapper,
                                       "S": library.map.SequenceWrapper}))
        except Exception as error:
            results.append((type(error), str(error)[:40]))
    assert results[0] == results[1]
