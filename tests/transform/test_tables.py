"""Each op has one derivative, and a record that checks it."""

from collections import Counter

from tests.support.derivative_records import RECORDS
from uopc_core.ir.op import LEAVES, REDUCIBLE, SCANNABLE, SCATTER_MODES, TENSOR_OPS, Ops
from uopc_core.transform.linearizations import LINEARIZATIONS, MODE_LINEARIZATIONS
from uopc_core.transform.masks import BACKWARD, FORWARD
from uopc_core.transform.partials import PARTIALS
from uopc_core.transform.regions import OF_REGION
from uopc_core.transform.transposes import TRANSPOSES
from uopc_core.transform.zero_derivative import ZERO_DERIVATIVE


def test_every_op_has_exactly_one_derivative_entry() -> None:
    tables = (PARTIALS, TRANSPOSES, LINEARIZATIONS, OF_REGION, ZERO_DERIVATIVE)
    assert Counter(op for table in tables for op in table) == Counter(TENSOR_OPS)


def test_every_mode_has_exactly_one_derivative_entry() -> None:
    truths = {Ops.AND, Ops.OR}  # of integers and bool only
    linear = {(Ops.REDUCE, Ops.ADD), (Ops.SCAN, Ops.ADD), (Ops.SCATTER, "set"), (Ops.SCATTER, "add")}
    modes = {
        *[(Ops.REDUCE, how) for how in REDUCIBLE - truths],
        *[(Ops.SCAN, how) for how in SCANNABLE],
        *[(Ops.SCATTER, how) for how in SCATTER_MODES],
    }
    assert Counter([*linear, *MODE_LINEARIZATIONS]) == Counter(modes)


def test_every_linear_op_moves_the_mask_both_ways() -> None:
    assert BACKWARD.keys() == TRANSPOSES.keys()
    assert FORWARD.keys() == TRANSPOSES.keys()


def test_reasons_are_given_for_zero_derivatives() -> None:
    assert all(ZERO_DERIVATIVE.values())


def test_every_op_has_a_finite_difference_record() -> None:
    # bits of a float are no function that a difference could measure
    assert {record.op for record in RECORDS} == TENSOR_OPS - LEAVES - {Ops.BITCAST}


def test_names_of_records_are_distinct() -> None:
    assert len({str(record) for record in RECORDS}) == len(RECORDS)
