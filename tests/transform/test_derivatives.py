"""Every derivative in both modes, first and second order, against central differences."""

import pytest

from tests.support.derivative_checks import check, function_of
from tests.support.derivative_records import RECORDS, Record


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_derivatives_match_central_differences(record: Record) -> None:
    values = record.values()
    check(function_of(record.build, values), values, record.order)
