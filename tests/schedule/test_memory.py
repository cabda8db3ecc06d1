"""Temporaries that are alive together never share bytes, and those that are not do."""

from hypothesis import given
from hypothesis import strategies as st

from uopc_core.schedule.memory import Lifetime, place

lifetimes = st.builds(
    lambda size, born, length: Lifetime(size, born, born + length),
    st.integers(0, 1000),
    st.integers(0, 20),
    st.integers(0, 10),
)


@given(st.lists(lifetimes, max_size=30))
def test_no_two_temporaries_alive_in_one_step_overlap(lives: list[Lifetime]):
    temporaries = dict(enumerate(lives))
    offsets, end = place(temporaries)
    for i, a in temporaries.items():
        assert offsets[i] % 64 == 0
        assert offsets[i] + a.size_bytes <= end
        for j, b in temporaries.items():
            if i < j and a.born <= b.dies and b.born <= a.dies:
                assert (
                    offsets[i] + a.size_bytes <= offsets[j]
                    or offsets[j] + b.size_bytes <= offsets[i]
                    or not (a.size_bytes and b.size_bytes)
                )


def test_a_chain_of_temporaries_needs_two_places():
    offsets, end = place({i: Lifetime(640, i, i + 1) for i in range(100)})
    assert end == 1280
    assert set(offsets.values()) == {0, 640}
