"""Boxes and moves are what NumPy selects by a key, whatever other keys were asked for before."""

import itertools

import numpy as np

from uopc_core import Ops
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir import UOp
from uopc_core.numerics.boxes import box_of
from uopc_core.numerics.indexing import moves_of, parse, view_of
from uopc_core.runtime.buffer import Buffer

PARTS = (None, 0, 1, 2, -1, -2, 5, -5)
ITEMS = (0, 1, -1, 3, -4, *[slice(start, stop) for start in PARTS for stop in PARTS], slice(1, 3, 1))
OTHERS = (True, np.int64(1), slice(None, None, 2), slice(True, 2), slice(np.int64(0), 2), None, ..., [0], 1.0, 7, -8)


def test_a_box_reads_and_writes_what_numpy_selects():
    for shape in ((4,), (0,), (3, 4), (1, 4)):
        values = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
        x = UOp.buffer(Buffer.from_numpy(values))
        keys = [*ITEMS, *[(item,) for item in ITEMS], *itertools.product(ITEMS[::3], ITEMS[::5])]
        for key in (*keys, *keys[::-1]):  # found, and found again
            try:
                wanted = values[key]
            except IndexError:
                assert box_of(shape, key) is None
                continue
            box = box_of(shape, key)
            assert box is not None
            assert (box.kept, box.size, box.is_part) == (wanted.shape, wanted.size, wanted.size < values.size), key
            assert np.array_equal(evaluate([box.read(x)])[0], wanted), key
            after = values.copy()
            after[key] = -1.0
            written = box.write(x, UOp.const(-1.0, x.dtype, box.kept))
            assert np.array_equal(evaluate([written])[0], after), key
            assert written.op is Ops.WHERE or not box.is_part
            assert not box.is_part or box.write(x, box.read(x)) is x


BASIC = (
    *ITEMS[:5],
    None,
    ...,
    *[slice(a, b, c) for a in (None, 1, -5) for b in (None, 3, -1) for c in (None, 2, -3, 1)],
)


def test_moves_are_those_of_the_long_way():
    for shape in ((4,), (0,), (3, 4), (5, 1, 2)):
        values = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
        x = UOp.buffer(Buffer.from_numpy(values))
        keys = [
            *BASIC,
            (),
            *itertools.product(BASIC, BASIC[::2]),
            *itertools.product(BASIC[::7], BASIC[5:7], BASIC[::5]),
        ]
        for key in (*keys, *keys[::-1]):
            moves = moves_of(shape, key)
            items = key if isinstance(key, tuple) else (key,)
            try:
                parsed = parse(shape, items, lambda mask: ())
            except IndexError:
                assert moves is None, key
                continue
            assert moves is not None, key
            assert moves.read(x) is view_of(x, parsed), key
            wanted = values[key]
            assert (moves.kept, moves.size) == (np.shape(wanted), np.size(wanted)), key
            assert np.array_equal(evaluate([moves.read(x)])[0], wanted), key


def test_other_keys_are_no_moves():
    for key in (True, np.int64(1), slice(True, 2), slice(np.int64(0), 2), [0], 1.0, 7, -8, slice(0, 2, 0), (..., ...)):
        assert moves_of((4, 4), key) is None, key
        assert moves_of((4, 4), (1, key, 1)) is None, key


def test_other_keys_are_no_boxes():
    for key in OTHERS:
        assert box_of((4, 4), key) is None, key
        assert box_of((4, 4), (1, key)) is None, key
        assert box_of((4, 4), (slice(1, 2), key)) is None, key
