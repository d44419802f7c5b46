"""Envelope lines, without Spark."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from cdc_marts.landing.envelopes import Message, WrongEnvelope, read_envelope

_ABSENT = object()


def line(**members: Any) -> bytes:
    envelope = {"topic": "shop", "partition": 0, "offset": 7, "value": "{}"} | members
    present = {name: value for name, value in envelope.items() if value is not _ABSENT}
    return json.dumps(present, ensure_ascii=False).encode()


def reason(wrong_line: bytes) -> str:
    with pytest.raises(WrongEnvelope) as error:
        read_envelope(wrong_line)
    return str(error.value)


def test_an_envelope_is_read_as_it_is() -> None:
    read = read_envelope(
        b'{"topic":"shop","partition":3,"offset":41,"timestamp":1760000000123,'
        b'"key":"{\\"id\\":1}","value":"{\\"name\\":\\"\\u00e9\\"}"}'
    )

    assert read == Message(
        topic="shop",
        partition=3,
        offset=41,
        timestamp=1760000000123,
        key=b'{"id":1}',
        value='{"name":"é"}'.encode(),
    )


def test_the_key_and_the_timestamp_may_be_left_out() -> None:
    assert read_envelope(line()) == Message("shop", 0, 7, None, None, b"{}")
    assert read_envelope(line(key=None, timestamp=None)) == read_envelope(line())


def test_a_value_of_null_is_a_tombstone_and_an_empty_one_is_not() -> None:
    assert read_envelope(line(value=None)).value is None
    assert read_envelope(line(value=_ABSENT, value_base64=None)).value is None
    assert read_envelope(line(value="")).value == b""
    assert read_envelope(line(value=_ABSENT, value_base64="")).value == b""


def test_binary_comes_as_base64() -> None:
    binary = bytes(range(256))
    encoded = base64.b64encode(binary).decode()

    read = read_envelope(line(value=_ABSENT, value_base64=encoded, key_base64=encoded))

    assert (read.key, read.value) == (binary, binary)


def test_a_null_beside_the_other_spelling_says_nothing() -> None:
    assert read_envelope(line(value=None, value_base64="AA==")).value == b"\0"
    assert read_envelope(line(value="a", value_base64=None)).value == b"a"


def test_a_message_keeps_its_characters_whatever_they_are() -> None:
    text = '\u2028\u2029\x85\x00\r\n\t"\\ 表 😀 \ufeff'

    assert read_envelope(line(value=text)).value == text.encode()


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    read = read_envelope(b'{"topic":"t","partition":0,"offset":0,"value":"\\ud83d\\ude00"}')

    assert read.value == "😀".encode()


def test_what_the_message_holds_is_not_looked_at() -> None:
    assert read_envelope(line(value="not JSON at all")).value == b"not JSON at all"


def test_unknown_members_are_ignored() -> None:
    extra = line(headers=[{"a": 1}], offset_in_file={"a": 1.5}, timestampType="CreateTime")

    assert read_envelope(extra) == read_envelope(line())


def test_blanks_around_an_envelope_are_ignored() -> None:
    assert read_envelope(b" \t" + line() + b" \r") == read_envelope(line())


@pytest.mark.parametrize("offset", [0, 2**53 + 1, 2**63 - 1])
def test_offsets_are_exact(offset: int) -> None:
    assert read_envelope(line(offset=offset)).offset == offset


@pytest.mark.parametrize("timestamp", [0, -62_135_596_800_000, 253_402_300_799_999])
def test_timestamps_reach_from_the_year_1_to_9999(timestamp: int) -> None:
    assert read_envelope(line(timestamp=timestamp)).timestamp == timestamp


def test_a_timestamp_of_minus_one_is_kafkas_none() -> None:
    assert read_envelope(line(timestamp=-1)).timestamp is None


@pytest.mark.parametrize("name", ["topic", "partition", "offset", "value"])
def test_a_member_that_is_needed_is_missed_by_name(name: str) -> None:
    assert reason(line(**{name: _ABSENT})).startswith(f"`{name}` is missing")


@pytest.mark.parametrize("topic", ["", None, 1, ["shop"], {"name": "shop"}])
def test_a_topic_is_a_string_that_is_not_empty(topic: Any) -> None:
    assert "`topic` must be" in reason(line(topic=topic))


@pytest.mark.parametrize("value", [None, True, False, "7", 7.0, 1e3, -1, 2**63, [7], {}])
@pytest.mark.parametrize("name", ["partition", "offset"])
def test_coordinates_are_integers_that_fit(name: str, value: Any) -> None:
    assert f"`{name}` must be an integer from 0 to " in reason(line(**{name: value}))


def test_a_partition_fits_four_bytes() -> None:
    assert read_envelope(line(partition=2**31 - 1)).partition == 2**31 - 1
    assert "not 2147483648" in reason(line(partition=2**31))


@pytest.mark.parametrize("timestamp", [True, "1760000000000", 1.5, "2026-01-01", [], 2**63])
def test_a_timestamp_is_an_integer(timestamp: Any) -> None:
    assert "`timestamp` must be an integer" in reason(line(timestamp=timestamp))


def test_microseconds_are_no_milliseconds() -> None:
    assert "not 1760000000000000" in reason(line(timestamp=1_760_000_000_000_000))


@pytest.mark.parametrize("value", [1, True, ["a"], {"op": "c"}])
@pytest.mark.parametrize("name", ["key", "value", "key_base64", "value_base64"])
def test_a_key_and_a_value_are_strings(name: str, value: Any) -> None:
    members = {"value": _ABSENT} if name == "value_base64" else {}

    assert f"`{name}` must be a string or null" in reason(line(**members, **{name: value}))


@pytest.mark.parametrize("encoded", ["A", "AA", "AA=", "A A=", "AA==\n", "-_8=", "é", "===="])
def test_base64_is_taken_strictly(encoded: str) -> None:
    assert "`value_base64` is not base64" in reason(line(value=_ABSENT, value_base64=encoded))


def test_a_value_is_given_once() -> None:
    assert "both `value` and `value_base64`" in reason(line(value_base64="AA=="))
    assert "both `key` and `key_base64`" in reason(line(key="a", key_base64="AA=="))


def test_a_repeated_member_is_wrong() -> None:
    repeated = b'{"topic":"a","topic":"b","partition":0,"offset":0,"value":"x"}'

    assert reason(repeated) == '"topic" appears more than once'


@pytest.mark.parametrize("name", ["topic", "key", "value"])
def test_half_a_surrogate_pair_is_no_text(name: str) -> None:
    members = {"topic": "t", "partition": 0, "offset": 0, "value": "x", name: "\ud83d"}

    assert f"`{name}` holds half of a surrogate pair" in reason(json.dumps(members).encode())


def test_a_line_that_is_not_utf8_says_where() -> None:
    assert reason(b'{"topic":"\xff"}') == "not UTF-8 at byte 11"


@pytest.mark.parametrize(
    "text",
    [
        "nope",
        "{",
        line().decode()[:-1],
        line().decode() + "}",
        line().decode() + line().decode(),
        "{'topic': 'shop'}",
        '{"topic": "shop",}',
        '{"topic": "a\tb"}',
        '{"offset": NaN}',
        '{"offset": 07}',
        "\ufeff{}",
        "[" * 100_000,
        '{"offset": ' + "9" * 5_000 + "}",
    ],
)
def test_a_line_that_is_no_json_is_wrong(text: str) -> None:
    assert reason(text.encode()).startswith("not JSON")


@pytest.mark.parametrize("text", ["[]", "[{}]", '"text"', "1", "null", "true"])
def test_only_an_object_is_an_envelope(text: str) -> None:
    assert reason(text.encode()) == "not a JSON object"


def test_a_reason_is_short_and_safe_to_print() -> None:
    shown = reason(line(offset="\x1b[31m" + "x" * 1_000))

    assert shown.isprintable()
    assert len(shown) < 150
