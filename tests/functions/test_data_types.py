"""Conversion, promotion and limits of dtypes against NumPy and the standard's tables."""

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import ALL, COMPLEX, FLOATS, INTEGERS, SIGNED, UNSIGNED, check, values

KINDS = {
    "bool": ["bool"],
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGERS,
    "real floating": FLOATS,
    "complex floating": COMPLEX,
    "numeric": INTEGERS + FLOATS + COMPLEX,
}


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("target", ALL)
def test_astype_converts_as_numpy_does(source: str, target: str) -> None:
    x = values(source, (3, 4), low=0, high=100)
    if source in COMPLEX and target not in [*COMPLEX, "bool"]:
        with pytest.raises(TypeError, match="take the real part first"):
            xp.astype(xp.asarray(x), getattr(xp, target))
    else:
        check(xp.astype(xp.asarray(x), getattr(xp, target)), x.astype(target))


def test_astype_returns_the_array_itself_when_it_may() -> None:
    x = xp.asarray([1.0])
    assert xp.astype(x, xp.float64, copy=False) is x
    assert xp.astype(x, xp.float64) is not x


@pytest.mark.parametrize("left", ALL)
@pytest.mark.parametrize("right", ALL)
def test_result_type_and_can_cast_agree_with_numpy(left: str, right: str) -> None:
    x, y = getattr(xp, left), getattr(xp, right)
    assert xp.result_type(x, y) == np.result_type(left, right)
    assert xp.result_type(xp.ones(1, dtype=x), y) == np.result_type(left, right)
    assert xp.can_cast(x, y) is np.can_cast(left, right)
    assert xp.can_cast(xp.ones(1, dtype=x), y) is np.can_cast(left, right)


def test_python_scalars_only_decide_the_kind() -> None:
    assert xp.result_type(xp.int8, 3) == xp.int8
    assert xp.result_type(xp.float32, 3, 2.5) == xp.float32
    assert xp.result_type(xp.float32, 1j) == xp.complex64
    assert xp.result_type(xp.int32, 2.5) == xp.float64
    assert xp.result_type(xp.bool, True) == xp.bool
    with pytest.raises(TypeError, match="result_type: expected one operand or more"):
        xp.result_type()


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_finfo_agrees_with_numpy(dtype: str) -> None:
    ours, theirs = xp.finfo(getattr(xp, dtype)), np.finfo(dtype)
    assert (ours.bits, ours.eps, ours.max, ours.min) == (theirs.bits, theirs.eps, theirs.max, theirs.min)
    assert ours.smallest_normal == theirs.smallest_normal
    assert all(type(x) is float for x in (ours.eps, ours.max, ours.min, ours.smallest_normal))
    assert ours.dtype == theirs.dtype
    assert xp.finfo(xp.ones(1, dtype=dtype)) == ours


@pytest.mark.parametrize("dtype", INTEGERS)
def test_iinfo_agrees_with_numpy(dtype: str) -> None:
    ours, theirs = xp.iinfo(getattr(xp, dtype)), np.iinfo(dtype)
    assert (ours.bits, ours.max, ours.min, ours.dtype) == (theirs.bits, theirs.max, theirs.min, theirs.dtype)
    assert xp.iinfo(xp.ones(1, dtype=dtype)) == ours


def test_limits_of_another_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="finfo: expected a real or complex floating dtype, got int64"):
        xp.finfo(xp.int64)
    with pytest.raises(TypeError, match="iinfo: expected an integer dtype, got float64"):
        xp.iinfo(xp.float64)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ALL)
def test_isdtype_follows_the_table_of_kinds(dtype: str, kind: str) -> None:
    assert xp.isdtype(getattr(xp, dtype), kind) is (dtype in KINDS[kind])
    assert xp.isdtype(np.dtype(dtype), (kind, getattr(xp, dtype))) is True


def test_isdtype_takes_dtypes_and_refuses_other_names() -> None:
    assert xp.isdtype(xp.float32, xp.float32)
    assert not xp.isdtype(xp.float32, xp.float64)
    with pytest.raises(ValueError, match="isdtype: expected a dtype or one of"):
        xp.isdtype(xp.float32, "float")
