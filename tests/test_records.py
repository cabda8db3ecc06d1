"""Records behave as frozen dataclasses do, but that the checker of types alone forbids assignments."""

import dataclasses
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uopc_core.records import record


@record
class Plain:
    name: str
    sizes: tuple[int, ...] = ()


@record(slots=True)
class Slotted:
    name: str
    sizes: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Frozen:
    name: str
    sizes: tuple[int, ...] = ()


@record
class Derived(Plain):
    more: int = 1


@record(slots=True, eq=False)
class Single:
    name: str


@record
class OwnMethods:
    name: str

    def __repr__(self) -> str:
        return "own"

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 7


FIELDS = st.tuples(st.sampled_from("ab"), st.lists(st.integers(0, 1), max_size=2).map(tuple))


@pytest.mark.parametrize("cls", [Plain, Slotted])
@given(one=FIELDS, other=FIELDS)
def test_instances_are_equal_by_their_fields(cls: Any, one: Any, other: Any) -> None:
    assert (cls(*one) == cls(*other)) == (Frozen(*one) == Frozen(*other))
    assert len({cls(*one), cls(*other)}) == len({Frozen(*one), Frozen(*other)})
    assert repr(cls(*one)).partition("(")[2] == repr(Frozen(*one)).partition("(")[2]


def test_another_class_is_never_equal() -> None:
    assert Plain("a") != Slotted("a")
    assert Plain("a") != Derived("a")
    assert Derived("a") == Derived("a", (), 1) != Derived("a", (), 2)


def test_one_without_equality_is_itself_alone() -> None:
    one = Single("a")
    assert one == one
    assert one != Single("a")
    assert len({one, Single("a")}) == 2


def test_own_methods_stay() -> None:
    assert repr(OwnMethods("a")) == "own"
    assert OwnMethods("a") != OwnMethods("a")
    assert hash(OwnMethods("a")) == 7


@pytest.mark.parametrize("cls", [Plain, Slotted])
def test_copies_keep_class_and_fields(cls: Any) -> None:
    one = cls("a", (1, 2))
    assert dataclasses.replace(one, name="b") == cls("b", (1, 2))
    assert pickle.loads(pickle.dumps(one)) == one
    assert hasattr(one, "__dict__") == (cls is Plain)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        cls()
