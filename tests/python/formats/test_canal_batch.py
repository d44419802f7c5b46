"""Canal messages of several rows lose some of them, byte for byte as they are otherwise."""

from __future__ import annotations

import json

import pytest

from cdc_marts.formats.canal_json import without_rows

BATCH = (
    '{ "type":"UPDATE", "data" : [{"id":"1","amount":1.10}, {"id":"2","name":"]},{\\"é"} ,'
    '{"id":"3"}],\n"sql":"update a","old":[{"id":"0"},{"name":null},{}], "es":12345678901234567890}'
)


def test_rows_become_null_and_everything_else_keeps_its_bytes() -> None:
    assert without_rows(BATCH.encode(), {1}).decode() == (
        '{"erasedByCdcMarts":true, "type":"UPDATE", "data" : [{"id":"1","amount":1.10}, null ,'
        '{"id":"3"}],\n"sql":"","old":[{"id":"0"},null,{}], "es":12345678901234567890}'
    )


def test_rows_are_erased_one_after_the_other_as_at_once() -> None:
    at_once = without_rows(BATCH.encode(), {0, 2})
    assert without_rows(without_rows(BATCH.encode(), {0}), {2}) == at_once
    assert without_rows(at_once, {2}) == at_once


def test_rows_without_a_row_before_have_none_to_lose() -> None:
    message = without_rows(b'{"data":[{"id":"1"},{"id":"2"}],"old":null}', {1})
    assert json.loads(message) == {
        "erasedByCdcMarts": True,
        "data": [{"id": "1"}, None],
        "old": None,
    }


@pytest.mark.parametrize("message", ["[]", '{"data":[1 2]}', '{"data"', '{"data":[', ""])
def test_what_is_no_json_object_is_refused(message: str) -> None:
    with pytest.raises(ValueError, match=r"message|Expecting|Unterminated"):
        without_rows(message.encode(), {0})
