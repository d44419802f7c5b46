"""Values of columns: hypothesis finds odd ones, and a reading for each format takes them back.

A reading turns what a mart holds into the value that the database has.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

_ODD_TEXTS = (
    *("", " ", "null", "NULL", "0", "-1", "true", "{}", "[]", '{"a":1}', "NaN", "None"),
    *('say "hi"', "it's", "C:\\door", "\\u0041", "\\", "a,b;c|d", "50%", "$1", "`x`", "{{ x }}"),
    *("line\nline", "tab\t", "\r\n", "one\u2028two", "\u00a0", "\ufeffmark", "\x1f", "\x7f"),
    *("Zoë", "ß", "İ", "李雷", "שלום", "नमस्ते", "🎁", "👩‍👩‍👧", "e\u0301", "\U0010ffff", "ﷺ"),
)
_characters = st.characters(codec="utf-8", exclude_characters="\0")

#: Column type -> what may stand in such a column besides NULL.
STRATEGIES: dict[str, st.SearchStrategy[Any]] = {
    "long": st.one_of(
        st.integers(-3, 3),
        st.integers(-(2**63), 2**63 - 1),
        st.sampled_from([2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]),
    ),
    "text": st.one_of(st.sampled_from(_ODD_TEXTS), st.text(_characters, max_size=12)),
    "decimal": st.one_of(
        st.decimals("-1000", "1000", places=2),
        st.decimals(-(10**20), 10**20, places=10),
        st.sampled_from([Decimal("0.00"), Decimal("1.10"), Decimal("1e-10"), Decimal(10**37)]),
    ),
    "boolean": st.booleans(),
    "bytes": st.one_of(st.sampled_from([b"", b"\0", b"\xff\xfe", b"'"]), st.binary(max_size=9)),
    "timestamp": st.one_of(
        st.sampled_from([dt.datetime(1970, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999000)]),
        st.datetimes(dt.datetime(1001, 1, 1), dt.datetime(9998, 12, 31)).map(
            lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
        ),
    ),
}

Reading = Callable[[Any], Any]


def parsed_row(text: str) -> dict[str, Any]:
    """The JSON text of a row with exact numbers."""
    return json.loads(text, parse_float=Decimal)


def reader(source_format: str) -> Mapping[str, Reading]:
    """Column type -> its reading in a format."""
    return _READERS[source_format]


def of_spark(value: Any, type_: str, reading: Reading) -> Any:
    """The value that the database has, of one of a typed mart, or of the text that was not cast."""
    if value is None or (isinstance(value, str) and type_ == "text"):
        return value
    if isinstance(value, str):
        of_text = {"long": int, "decimal": Decimal, "boolean": _truth, "timestamp": _iso_or_millis}
        return of_text.get(type_, reading)(value)
    if isinstance(value, float):
        return Decimal(repr(value))
    of_type = {"long": int, "decimal": Decimal, "boolean": bool, "bytes": bytes}
    return of_type[type_](value) if type_ in of_type else value


def _truth(text: str) -> bool:
    return {"0": False, "1": True, "false": False, "true": True}[text]


def _iso_or_millis(text: str) -> dt.datetime:
    return _moment(int(text)) if text.lstrip("-").isdigit() else _iso(text)


def _base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _moment(millis: int) -> dt.datetime:
    return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=millis)


def _iso(text: str) -> dt.datetime:
    seconds, _, fraction = text.partition(".")
    return dt.datetime.fromisoformat(seconds).replace(microsecond=int(fraction.ljust(6, "0") or 0))


def _flag(text: str) -> bool:
    return {"0": False, "1": True}[text]


def _exactly(type_: type) -> Reading:
    def read(value: Any) -> Any:
        if type(value) is not type_:
            raise TypeError(f"{value!r} is no {type_.__name__}")
        return value

    return read


def _number(value: Any) -> Decimal:
    if type(value) not in (int, Decimal):
        raise TypeError(f"{value!r} is no number")
    return Decimal(value)


_TEXT, _LONG, _BOOLEAN = _exactly(str), _exactly(int), _exactly(bool)
_CONNECT = {
    "long": _LONG,
    "text": _TEXT,
    "decimal": Decimal,
    "boolean": _BOOLEAN,
    "bytes": _base64,
    "timestamp": _moment,
}
_TEXTS = {"long": int, "text": _TEXT, "decimal": Decimal, "boolean": _flag, "timestamp": _iso}

_READERS: dict[str, Mapping[str, Reading]] = {
    "lindorm_debezium": _CONNECT,
    "dataworks_json": _CONNECT,
    "dts_avro": {
        "long": _LONG,
        "text": _TEXT,
        "decimal": _number,
        "boolean": lambda value: {0: False, 1: True}[value],
        "bytes": _base64,
        "timestamp": _iso,
    },
    "shareplex_json": {**_TEXTS, "bytes": bytes.fromhex},
    "canal_json": {**_TEXTS, "bytes": lambda text: text.encode("iso-8859-1")},
    "cdl_json": _CONNECT,
    "cdl_debezium_json": {**_CONNECT, "timestamp": _iso},
    "datahub_tuple": {**_CONNECT, "timestamp": _iso},
    "datahub_blob": _CONNECT,
}
