"""Trees in Python are those of optree: the same leaves, the same structure, the same refusals."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import optree as optree_module
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uopc_core import plain_trees as plain
from uopc_core.containers import NAMESPACE, same_structure

optree: Any = optree_module  # its types know no trees of anything


class Pair(NamedTuple):
    first: Any
    second: Any


Other = namedtuple("Other", "first second")


@dataclass
class Box:
    content: Any
    label: str


optree.register_pytree_node(
    Box, lambda box: ((box.content,), box.label), lambda label, parts: Box(parts[0], label), namespace=NAMESPACE
)
plain.know(optree.register_pytree_node.get(namespace=NAMESPACE), namedtuple)

LEAVES = st.one_of(st.integers(0, 99), st.text(max_size=2), st.just(None), st.booleans())
KEYS = st.one_of(st.text(max_size=2), st.integers(0, 9))


def containers(inner):
    items = st.lists(inner, max_size=3)
    entries = st.dictionaries(KEYS, inner, max_size=3)
    return st.one_of(
        items,
        items.map(tuple),
        items.map(deque),
        entries,
        entries.map(OrderedDict),
        entries.map(lambda x: defaultdict(list, x)),
        st.builds(Pair, inner, inner),
        st.builds(Other, inner, inner),
        st.builds(Box, inner, st.text(max_size=1)),
    )


TREES = st.recursive(LEAVES, containers, max_leaves=12)


@given(TREES, st.booleans())
def test_leaves_and_paths_are_the_same(tree, none_is_leaf):
    leaves, spec = plain.tree_flatten(tree, none_is_leaf=none_is_leaf, namespace=NAMESPACE)
    wanted, wanted_spec = optree.tree_flatten(tree, none_is_leaf=none_is_leaf, namespace=NAMESPACE)
    assert leaves == wanted
    assert spec.num_leaves == wanted_spec.num_leaves
    assert spec.is_leaf() == wanted_spec.is_leaf()
    paths, leaves, _ = plain.tree_flatten_with_path(tree, namespace=NAMESPACE)
    wanted_paths, wanted, _ = optree.tree_flatten_with_path(tree, namespace=NAMESPACE)
    assert (paths, leaves) == (wanted_paths, wanted)


@given(TREES)
def test_the_tree_is_made_again_of_other_leaves(tree):
    leaves, spec = plain.tree_flatten(tree, namespace=NAMESPACE)
    wanted = optree.tree_unflatten(optree.tree_structure(tree, namespace=NAMESPACE), range(len(leaves)))
    made = plain.tree_unflatten(spec, range(len(leaves)))
    assert (made, repr(made)) == (wanted, repr(wanted))  # the order of a dict is in its text


@given(TREES, TREES)
def test_a_structure_of_optree_is_understood(tree, other):
    wanted = optree.tree_structure(tree, namespace=NAMESPACE)
    spec = plain.structure_of(wanted)
    assert spec == plain.tree_flatten(tree)[1]
    made = plain.tree_unflatten(wanted, range(spec.num_leaves))
    assert repr(made) == repr(optree.tree_unflatten(wanted, range(spec.num_leaves)))
    there = plain.tree_flatten(other)[1]
    assert same_structure(wanted, there) == same_structure(there, wanted) == (spec == there)


@given(TREES, TREES)
def test_structures_are_equal_where_they_are(one, other):
    specs = [plain.tree_flatten(tree)[1] for tree in (one, other)]
    wanted = [optree.tree_structure(tree, namespace=NAMESPACE) for tree in (one, other)]
    assert (specs[0] == specs[1]) == (wanted[0] == wanted[1])
    assert specs[0] != specs[1] or hash(specs[0]) == hash(specs[1])


@given(TREES, TREES)
def test_two_trees_go_together_where_they_do(one, other):
    def outcome(library, name, *args):
        try:
            return getattr(library, name)(*args, namespace=NAMESPACE)
        except ValueError:
            return "refused"

    for tree in (one, other):
        name, args = "tree_broadcast_prefix", (one, tree)
        assert outcome(plain, name, *args) == outcome(optree, name, *args)


def test_what_is_a_leaf_can_be_said():
    tree = [1, {"a": (2, 3)}]
    found = plain.tree_flatten(tree, lambda x: isinstance(x, tuple), namespace=NAMESPACE)[0]
    assert found == optree.tree_flatten(tree, lambda x: isinstance(x, tuple), namespace=NAMESPACE)[0]


@pytest.mark.parametrize("leaves", [[1], [1, 2, 3]])
def test_a_wrong_number_of_leaves_is_refused(leaves):
    spec = plain.tree_flatten({"a": [1, 2]})[1]
    with pytest.raises(ValueError, match="leaves for PyTreeSpec; expected: 2"):
        spec.unflatten(leaves)


def test_the_structure_shows_a_star_for_each_leaf():
    tree = {"b": [1, (2,)], "a": 3}
    assert repr(plain.tree_flatten(tree)[1]) == "PyTreeSpec({'b': [*, (*,)], 'a': *})"
