"""Messages that no producer should send, and some will."""

from __future__ import annotations

import importlib
import json
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame

from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import INSERT, Place, RowChange, Table
from tests.python.samples.broken import broken

#: Repeat a run with the seed that it printed.
SEED = int(os.environ.get("BAD_INPUT_SEED") or random.SystemRandom().randrange(2**32))

RANDOM_MESSAGES = 200
FLIPPED_MESSAGES = 600
DEPTH = 10_000
WIDTH = 5_000

#: Formats whose messages are not JSON.
BINARY = {"dts_avro"}
_PLACE = Place(1_709_283_600_000_000_001, 1_709_283_600_000, "57227594")
#: Stands in a good message where a test puts in other JSON.
_MARK = "@@mark@@"


@dataclass(frozen=True)
class Bad:
    """A message; `what` says what is odd about it, `is_valid` whether it must be read all the same.

    `is_valid` is null where either is right; `row` are the values to be read then.  `reject_code`
    is the code that it must have if it is not read, null where several are right.
    """

    what: str
    value: bytes
    is_valid: bool | None = None
    row: Mapping[str, Any] | None = None
    reject_code: str | None = None


def parser(source_format: str) -> Callable[..., DataFrame]:
    return importlib.import_module(f"cdc_marts.formats.{source_format}").parse


def good(source_format: str, **row: Any) -> bytes:
    """A message of a good insert; `row` has columns besides its key."""
    columns = {"id": "long", **dict.fromkeys(row, "text")}
    table = Table("orders", columns, ("id",))
    change = RowChange(INSERT, table, _PLACE, after={"id": 1, **row})
    [message] = ENCODE[source_format](change)
    return message.value


def bad_messages(source_format: str) -> list[Bad]:
    """All of them but the huge ones, the good message first."""
    whole = good(source_format, status="new")
    messages = [
        Bad("good", whole, is_valid=True),
        *_broken(source_format),
        *_cut(source_format, whole),
        *_random(whole),
        *_odd_names_and_values(source_format),
        _malformed(source_format, "nothing", b""),
        _malformed(source_format, "two of them", whole + whole),
        Bad("NUL characters", b"\0" * 16, is_valid=False),
        Bad("UTF-16", json.dumps({"a": 1}).encode("utf-16"), is_valid=False),
    ]
    if source_format not in BINARY:
        messages += [
            # In Avro, its bytes are part of a number.
            _malformed(source_format, "a byte order mark", b"\xef\xbb\xbf" + whole),
            *_behind(source_format, whole),
            *_odd_json(source_format),
            *_odd_documents(source_format),
        ]
    return messages


def huge_message(source_format: str, size: int) -> bytes:
    return good(source_format, status="x" * size)


def _malformed(source_format: str, what: str, value: bytes) -> Bad:
    code = "malformed_avro" if source_format in BINARY else "malformed_json"
    return Bad(what, value, is_valid=False, reject_code=code)


def _behind(source_format: str, whole: bytes) -> Iterator[Bad]:
    """A good message, and behind it what a reader of the first object would not see."""
    for behind in (
        *(b",{}", b"]", b"}", b'],"x":[{}', b'],"end":"."} rest', b"]} rest", b"]]", b'}],"x":[{'),
        *(b'],"messages":[' + whole, b"," + whole, b"],[" + whole, b',{"x":[{}', b',"'),
        *(b" x", b"{}", b',"x":{}'),
    ):
        yield _malformed(source_format, f"behind it {behind[:20]!r}", whole + behind)


def _broken(source_format: str) -> Iterator[Bad]:
    for case in broken(source_format):
        what = f"{case.reject_code}: {case.what}"
        yield Bad(what, case.value, is_valid=False, reject_code=case.reject_code)


def _cut(source_format: str, whole: bytes) -> Iterator[Bad]:
    for size in range(len(whole)):
        cut = _malformed(source_format, f"cut at {size}", whole[:size])
        # Older producers write Avro records without the last field.
        yield replace(cut, is_valid=None) if source_format in BINARY else cut


def _random(whole: bytes) -> Iterator[Bad]:
    chance = random.Random(SEED)
    for _ in range(RANDOM_MESSAGES):
        yield Bad("random", chance.randbytes(chance.randrange(1, 200)))
    for _ in range(FLIPPED_MESSAGES):
        place = chance.randrange(len(whole))
        flipped = bytes([whole[place] ^ chance.randrange(1, 256)])
        yield Bad(f"flipped at {place}", whole[:place] + flipped + whole[place + 1 :])


#: Texts that mean something to a database, a shell, a parser or an eye.
TEXTS = (
    "it's",
    'say "hi"',
    "a.b.c",
    "two words",
    "`ticked`",
    "back\\slash",
    "'; drop table marts.latest_state; --",
    "${spark.home} {{ ref('x') }} %s",
    "列 Ñandú 🐘",
    "e\u0301",
    "\u2028line\u2029",
    "tab\tnew\nline",
    "$.x[0]",
    "null",
    " ",
)


def _odd_names_and_values(source_format: str) -> Iterator[Bad]:
    rows = [
        *({"status": text} for text in TEXTS),
        *({text: "x"} for text in TEXTS),
        {text: text for text in TEXTS},
        {"Status": "a", "STATUS": "b", "status": "c"},
        {f"column_{number}": str(number) for number in range(WIDTH)},
    ]
    for row in rows:
        value = good(source_format, **row)
        yield Bad(f"a row of {', '.join(row)[:80]!r}", value, is_valid=True, row=row)


def _odd_json(source_format: str) -> Iterator[Bad]:
    """Other JSON in the place of a column's value."""
    marked = good(source_format, status=_MARK)
    place = re.compile(rb'"' + _MARK.encode() + rb'"')

    def holding(text: str) -> bytes:
        return place.sub(lambda _: text.encode("utf-8", "surrogatepass"), marked)

    yield Bad("38 digits", holding("9" * 38), is_valid=True)
    for number in (
        *("9" * 39, "9" * 60, "-" + "9" * 60, "0." + "1" * 60, "9" * 30 + "." + "9" * 30),
        *("9" * 400, "1e400", "-1.5E+309", "17e308"),
    ):
        yield Bad(number, holding(number), is_valid=True, row={"status": number})
    for number in (
        *("1.7976931348623157E308", "1e-400", "1e23", "0.0001e310"),
        *("1." + "1" * 36 + "e12", "1." + "1" * 37 + "E-7"),
    ):
        yield Bad(number, holding(number), is_valid=True)
    for text in ("a:" + "9" * 60 + ',"', '\\":' + "9" * 60 + ",\\", "9" * 60):
        yield Bad(text, holding(json.dumps(text)), is_valid=True, row={"status": text})
    for surrogate in ("\\ud800", "\\udc00x"):
        yield Bad(f"a lone surrogate: {surrogate}", holding(f'"{surrogate}"'), is_valid=True)
    in_utf8 = holding('"\ud800"')
    yield Bad("a surrogate in UTF-8", in_utf8, is_valid=False, reject_code="not_utf8")
    yield Bad("an escaped NUL", holding('"a\\u0000b"'), is_valid=True)
    for number in (
        *("NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x1"),
        *("0" + "9" * 60, "9" * 60 + "e", "." + "9" * 60, "1." + "1" * 40 + ".1"),
        "9" * 60 + "\x01",
    ):
        yield _malformed(source_format, f"no number: {number}", holding(number))
    for what, text in {
        "deep arrays": "[" * DEPTH + "]" * DEPTH,
        "deep objects": '{"a":' * DEPTH + "1" + "}" * DEPTH,
        "a raw NUL": '"a\0b"',
        "a raw line feed": '"a\nb"',
        "an escape that is none": '"\\x"',
        "single quotes": "'x'",
        "a comment": '/* note */ "x"',
        "nothing there": "",
    }.items():
        yield _malformed(source_format, what, holding(text))
    for name in ("status", "st\\u0061tus"):
        twice = holding(f'"x","{name}":"y"')
        yield _malformed(source_format, f"the column twice: {name}", twice)
    time = re.compile(rb"\b(%d|2024-03-01T09:00:00)\b" % _PLACE.made_at)
    assert time.search(marked)
    for year_10000 in (b"253402300800000", b"9" * 60, b"10000-01-01T00:00:00"):
        yield Bad(f"a time of {year_10000!r}", time.sub(year_10000, marked), is_valid=False)


def _odd_documents(source_format: str) -> Iterator[Bad]:
    for text in (
        *("[]", "null", "true", "1", '"text"', "text", "[{}]", "{", "}", "[[", "{}]", "]", "{}{}"),
        *('{"a":1,}', "{'a':1}", "{a:1}", '{"a":1', "//x\n{}", "NaN", " ", "\n"),
        *("]}", '],"end":"."}', '{}],"end":"."}', '{},{"messages":[{}', '","'),
    ):
        yield _malformed(source_format, f"document {text!r}", text.encode())
    for text in ("{}", '{"":null}'):
        yield Bad(f"document {text!r}", text.encode(), is_valid=False)
    yield _malformed(source_format, "deep document", b"[" * DEPTH)
    yield _malformed(source_format, "deep document of objects", b'{"payload":' * DEPTH)
