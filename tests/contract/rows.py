"""What a row of the contract is, and the five documents whose clauses the rows answer.

A document is read in order; every sentence (and every parameter, default and return type) has a number,
some have several. ``Row`` says in our words what the clause asks and which tests hold it; ``Noise`` stands
for text of the page that asks nothing: navigation, licenses, references.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    """One clause: what it asks, and the tests (``file::name``, of this folder) that hold it."""

    says: str
    tests: tuple[str, ...]

    def __init__(self, says: str, *tests: str) -> None:
        object.__setattr__(self, "says", says)
        object.__setattr__(self, "tests", tests)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The tests as pytest's node ids."""
        return tuple(
            "tests/contract/test_{}.py::test_{}".format(*t.split("::")) for t in self.tests
        )


@dataclasses.dataclass(frozen=True)
class Noise:
    """Text that is not a clause, and what it is."""

    what: str


@dataclasses.dataclass(frozen=True)
class Document:
    """One page: its letter, name, title, how many numbers it has, and what each number is."""

    letter: str
    file: str
    title: str
    numbers: int
    entries: dict[int, Row | Noise]

    @property
    def rows(self) -> dict[str, Row]:
        """The clauses by their name, such as ``A7``."""
        return {f"{self.letter}{n}": e for n, e in self.entries.items() if isinstance(e, Row)}


def backward_clauses(start: int) -> dict[int, Row | Noise]:
    """What both OneFlow pages say of ``backward`` in the same 20 clauses, numbered from ``start``."""
    said = [
        Noise("where the text was taken from"),
        Row("the gradients of the given tensors are summed, with respect to leaves",
            "backward::sum_over_the_roots_for_leaves_only"),
        Row("gradients follow the chain rule", "backward::chain_rule"),
        Row("for more than one element a vector-Jacobian product is what is computed",
            "backward::several_elements_make_a_vector_jacobian_product"),
        Row("and then the vector has to be given", "backward::several_elements_need_a_vector"),
        Row("vectors come as a sequence as long as that of the tensors, each for its own tensor",
            "backward::lengths_must_match", "backward::one_vector_for_each_root_in_order",
            "backward::vector_must_fit_its_root"),
        Row("None stands for the vector of a tensor that needs none",
            "backward::none_for_scalars_among_others",
            "backward::none_is_accepted_for_a_root_that_needs_no_gradient"),
        Row("gradients are added to what leaves already have", "backward::gradients_accumulate"),
        Row("so .grad is zeroed or set to None before", "backward::zeroed_or_none_before_the_next_pass"),
        Row("create_graph makes a reference cycle of parameter and gradient, which may leak",
            "backward::the_cycle_exists_and_resetting_grad_breaks_it",
            "backward::create_graph_warns_of_the_cycle_and_of_what_to_do"),
        Row("autograd.grad is the way without that cycle", "backward::autograd_grad_makes_no_cycle"),
        Row("resetting .grad to None afterwards breaks the cycle and frees the memory",
            "backward::the_cycle_exists_and_resetting_grad_breaks_it"),
        Row("tensors: one tensor or a sequence, of which the derivative is taken",
            "backward::one_tensor_or_a_sequence", "backward::sum_over_the_roots_for_leaves_only"),
        Row("grad_tensors: one tensor or a sequence or nothing; the vectors, one for each tensor",
            "backward::one_vector_for_each_root_in_order", "backward::one_tensor_or_a_sequence",
            "backward::none_for_all_may_be_left_out"),
        Row("None among them, for scalars and for tensors that require no grad",
            "backward::none_for_scalars_among_others",
            "backward::none_is_accepted_for_a_root_that_needs_no_gradient"),
        Row("retain_graph: False resets the graph after the pass", "backward::false_frees_the_graph"),
        Row("retain_graph is False by default", "backward::false_frees_the_graph",
            "backward::signature_of_the_oneflow_pages"),
        Row("retain_graph=True is nearly never needed", "backward::retain_graph_is_seldom_needed",
            "backward::true_keeps_the_graph"),
        Row("retain_graph takes the value of create_graph by default",
            "backward::retain_graph_follows_create_graph"),
        Row("create_graph: True records the derivative, for products of higher order",
            "backward::create_graph_allows_derivatives_of_higher_order"),
        Row("create_graph is False by default", "backward::without_create_graph_gradients_are_constants",
            "backward::signature_of_the_oneflow_pages"),
    ]
    return dict(enumerate(said, start))
