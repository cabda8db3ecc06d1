"""What a handle is, whichever face it has: `Tensor` and `Array` are one class below."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
import uopc_core
from uopc_core import Tensor
from uopc_core.frontend.handle import LazyHandle, change_all
from uopc_core.nn import Linear
from uopc_core.runtime.execute import MAX_DEPTH

FACES: dict[str, Callable[[Any], Any]] = {"Tensor": Tensor, "Array": xp.asarray}


@pytest.fixture(params=[*FACES.values()], ids=[*FACES])
def made(request: pytest.FixtureRequest) -> Any:
    """Makes a handle, of which operations are recorded."""
    with uopc_core.context(at_once=0):
        yield request.param


def _data(n: int = 50) -> np.ndarray[Any, Any]:
    return np.arange(n, dtype=np.float32)


def test_both_faces_are_handles(made: Any) -> None:
    x = made(_data())
    assert isinstance(x, LazyHandle)
    assert (x.shape, x.dtype, x.ndim, x.size) == ((50,), np.float32, 1, 50)


def test_a_handle_counts_itself_on_its_node(made: Any) -> None:
    x = made(_data())
    y = x + x
    node = y._uop
    assert node.held == 1
    other = type(y)._from_uop(node)
    assert node.held == 2
    del y, other
    assert node.held == 0


def test_what_a_handle_stands_for_is_computed_with_what_contains_it(made: Any) -> None:
    x = made(_data())
    held = (x * x).sum()
    (held + 1)._memory("test")
    assert held._uop.realized is not None


def test_a_handle_on_a_constant_has_memory_once_it_is_computed(made: Any) -> None:
    x = type(made(_data()))._from_uop(uopc_core.UOp.const(2.0, np.dtype(np.float32), (5,)))
    assert x._memory("test") is x._memory("test")


def test_a_graph_that_grows_too_deep_is_computed_on_the_way(made: Any) -> None:
    x = made(_data())
    for _ in range(2 * MAX_DEPTH):
        x = x + 1
    assert x._uop.depth <= MAX_DEPTH
    assert float((x - 2 * MAX_DEPTH).sum()) == _data().sum()


def test_eager_evaluation_computes_at_the_line(made: Any) -> None:
    x = made(_data())
    with uopc_core.context(eager=True):
        assert (x + x)._uop.realized is not None


def test_a_handle_changes_only_from_the_node_that_one_has_seen(made: Any) -> None:
    x = made(_data())
    seen = x._uop
    first, second = (x + 1)._uop, (x + 2)._uop
    assert x._replace(seen, first)
    assert not x._replace(seen, second)
    assert x._uop is first
    assert (seen.held, first.held, second.held) == (0, 1, 0)


def test_several_handles_change_together_or_not_at_all(made: Any) -> None:
    x, y = made(_data()), made(_data(20))
    before = x._uop, y._uop
    after = (x + 1)._uop, (y + 1)._uop
    assert not change_all([(x, before[0], after[0]), (y, after[1], after[1])])
    assert (x._uop, y._uop) == before
    assert change_all([(x, before[0], after[0]), (y, before[1], after[1])])
    assert (x._uop, y._uop) == after


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_is_a_handle_of_its_own(made: Any, copied: Callable[[Any], Any]) -> None:
    x = made(_data()) + 1
    y = copied(x)
    assert type(y) is type(x)
    assert y._uop.held == (2 if y._uop is x._uop else 1)
    assert np.array_equal(np.asarray(y), _data() + 1)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copied_parameter_is_a_parameter(copied: Callable[[Any], Any]) -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    y = copied(w)
    (y * y).sum().backward(y)
    assert y.grad.numpy().tolist() == [2.0, 4.0]
    assert w.grad is None


def test_a_model_is_copied_with_its_parameters() -> None:
    model = Linear(3, 2)
    other = copy.deepcopy(model)
    other.weight.uop = other.weight.uop * 0
    assert not np.array_equal(model.weight.numpy(), other.weight.numpy())
