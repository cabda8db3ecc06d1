"""Every derivative in both modes, first and second order, against central differences."""

import pytest

from tests.transform.checking import check, function_of
from tests.transform.records import RECORDS, Record


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_derivatives_match_central_differences(record: Record) -> None:
    values = record.values()
    check(function_of(record.build, values), values, record.order)
