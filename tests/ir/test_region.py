"""Regions: closed, interned up to renaming, and out of reach of what happens to nodes."""

import gc
import pickle
import weakref

import numpy as np
import pytest

from uopc_core.dtype import dtypes
from uopc_core.errors import ParseError, VerifyError
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.calls import Passed, close, in_place, instance
from uopc_core.ir.composite import iota
from uopc_core.ir.op import Ops
from uopc_core.ir.region import Region
from uopc_core.ir.text import from_uir, to_uir
from uopc_core.ir.uop import HIDDEN, TRACED, TRACKED, UOp, walk
from uopc_core.ir.verify import verify
from uopc_core.runtime.buffer import Buffer

F64 = dtypes.float64


def leaf(*shape: int, number: int = 0) -> UOp:
    return UOp.param(number, shape, F64)


def region_of(*roots: UOp, inputs: list[UOp]) -> Region:
    region = close(roots, inputs).region
    assert region is not None
    return region


def test_equal_graphs_over_other_inputs_are_one_region() -> None:
    x, y, a, b = (leaf(3, number=i) for i in (4, 9, 1, 0))
    first = region_of(x * y + x.unary(Ops.SIN), inputs=[x, y])
    assert region_of(a * b + a.unary(Ops.SIN), inputs=[b, a]) is first
    assert region_of(a * b + b.unary(Ops.SIN), inputs=[a, b]) is not first


@pytest.mark.parametrize(
    ("one", "other"), [(0.0, -0.0), (1.0, 1.5), (float("nan"), 0.0)], ids=["sign of zero", "value", "nan"]
)
def test_regions_with_other_constants_are_others(one: float, other: float) -> None:
    x = leaf(3)
    assert region_of(x + one, inputs=[x]) is region_of(x + one, inputs=[x])
    assert region_of(x + one, inputs=[x]) is not region_of(x + other, inputs=[x])


def test_arguments_are_what_is_used_below_the_movement() -> None:
    x, unused, w = leaf(2, 3), leaf(2, 3, number=1), leaf(3, number=2)
    outside = w.unary(Ops.EXP)
    grown = outside.reshape((1, 3)).expand((2, 3))
    closed = close([x * grown, x, unused, outside], [x, unused])
    assert closed.arguments == (0, outside)
    assert closed.results == (0, Passed(0), Passed(1), outside)
    (called, *_) = closed.over([x, unused].__getitem__)
    assert called.src == (x, outside)
    assert in_place(called.arg[0], called.src) == [x * grown]


def test_constants_and_counters_are_inside() -> None:
    x = leaf(3)
    counter = iota((3,), 0).cast(F64) * 2.0
    closed = close([x * counter], [x])
    assert closed.arguments == (0,)


def test_a_part_that_somebody_computes_is_whole_in_the_region() -> None:
    """What `settle` makes memory of leaves the graph, not the region."""
    x = leaf(5)
    counter = iota((5,), 0).cast(F64) * 2.0
    (y,) = close([x * counter], [x]).over([x].__getitem__)
    counter.settle(Buffer.from_numpy(np.full(5, -1.0)))
    assert counter.op is Ops.BUFFER
    verify([y])
    assert evaluate([y], {x: np.ones(5)})[0].tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert from_uir(to_uir(y)) is y


def test_memory_is_an_argument() -> None:
    x, memory = leaf(3), UOp.buffer(Buffer.from_numpy(np.arange(3.0)))
    closed = close([x * memory], [x])
    assert closed.arguments == (0, memory)


def test_a_call_is_traced_and_tracked_as_its_arguments_are() -> None:
    memory = UOp.buffer(Buffer.from_numpy(np.arange(3.0)))
    for x, flags, of_number in ((leaf(3), TRACED, TRACED), (memory.variable(3), TRACKED, HIDDEN), (memory, 0, 0)):
        whole, number = close([x * x, x.cast(dtypes.int64)], [x]).over([x].__getitem__)
        assert (whole.flags, number.flags) == (flags, of_number)
        verify([whole, number])


def test_a_region_lives_as_long_as_it_is_called() -> None:
    x = leaf(3)
    (y,) = close([x * 17.25], [x]).over([x].__getitem__)
    gone = weakref.ref(y.arg[0])
    del y
    gc.collect()
    assert gone() is None


def test_work_is_that_of_all_regions_inside_each_call_once() -> None:
    x = leaf(4)
    inner = close([x.unary(Ops.SIN), x.unary(Ops.COS)], [x]).over([x].__getitem__)
    (outer,) = close([inner[0] * inner[1]], [x]).over([x].__getitem__)
    region: Region = outer.arg[0]
    assert region.height == 2
    assert region.operations == 3 + 2
    assert region.elements == 3 * 4 + 2 * 4


def test_a_region_is_not_pickled() -> None:
    x = leaf(3)
    with pytest.raises(TypeError, match="Region: not pickled; write it with to_uir"):
        pickle.dumps(region_of(x * x, inputs=[x]))


def test_a_region_that_is_none_of_the_table_is_found() -> None:
    x = leaf(3)
    region = region_of(x * x, inputs=[x])
    types = tuple([(line[1].shape if line[0] is Ops.CONST else (3,), F64) for line in region.lines])
    copy = Region(region.inputs, region.lines, region.results, types)
    with pytest.raises(VerifyError, match="a region of parameters alone, interned"):
        verify([UOp.new(Ops.CALL, (x,), (copy, 0))])


def test_regions_within_regions_are_printed_before_those_that_call_them() -> None:
    x, w = leaf(3), leaf(3, number=1)
    y = x
    for _ in range(4):
        (y,) = close([y * w + y.unary(Ops.TANH)], [x, w]).over([x, w].__getitem__)
    text = to_uir([y, x * w])
    assert [line for line in text.splitlines() if line.startswith("region")] == [f"region r{i}" for i in range(4)]
    assert from_uir(text) == [y, x * w]
    verify([y])


PARAM = '    %0: f64[3] = param(index=0, kind="buffer")\n'
CALLED = '%0: f64[3] = param(index=0, kind="buffer")\n%1: f64[3] = call(%0, region=r, output=0)'
NOT_REGIONS = {
    "memory inside": f"region r\n{PARAM}"
    + '    %1: f64[3] = buffer("b")\n    %2: f64[3] = mul(%0, %1)\n    return %2\n',
    "another order": 'region r\n    %0: f64[3] = param(index=1, kind="buffer")\n'
    '    %1: f64[3] = param(index=0, kind="buffer")\n    %2: f64[3] = sub(%0, %1)\n    return %2\n',
    "a parameter as a result": f"region r\n{PARAM}    %1: f64[3] = neg(%0)\n    return %1, %0\n",
    "a result twice": f"region r\n{PARAM}    %1: f64[3] = neg(%0)\n    return %1, %1\n",
    "a constant result": "region r\n    %0: f64[] = const(1.0)\n    return %0\n",
    "a name of an operation": f"region neg\n{PARAM}    %1: f64[3] = neg(%0)\n    return %1\n",
    "no name": f"region\n{PARAM}    %1: f64[3] = neg(%0)\n    return %1\n",
    "a node of the graph around it": "%0: f64[3] = iota()\nregion r\n    %1: f64[3] = neg(%0)\n    return %1\n",
    "a name that there is not": f"region other\n{PARAM}    %1: f64[3] = neg(%0)\n    return %1\n{CALLED}",
    "a call of the region itself": f"region r\n{PARAM}    %1: f64[3] = call(%0, region=r, output=0)\n    return %1\n",
    "an output that there is not": f"region r\n{PARAM}    %1: f64[3] = neg(%0)\n    return %1\n"
    + CALLED.replace("output=0", "output=1"),
    "an end that does not come": f"region r\n{PARAM}    %1: f64[3] = neg(%0)\n",
}


@pytest.mark.parametrize("text", NOT_REGIONS.values(), ids=NOT_REGIONS.keys())
def test_what_is_no_region_is_a_parse_error(text: str) -> None:
    with pytest.raises(ParseError, match=r"expected .+, got "):
        from_uir(text, {"b": Buffer.from_numpy(np.ones(3))})


def test_an_instance_has_numbered_parameters() -> None:
    x, w = leaf(3, number=7), leaf(3, number=3)
    params, outputs = instance(region_of(x * w, inputs=[x, w]))
    assert params == [leaf(3), leaf(3, number=1)]
    assert outputs == [params[0] * params[1]]
    assert [node.op for node in walk(outputs)] == [Ops.PARAM, Ops.PARAM, Ops.MUL]
