"""Envelopes: one JSON object per line, with a message and its coordinates.

    {"topic": …, "partition": …, "offset": …, "timestamp": …, "key": …, "value": …}

`value` is the message as a JSON string, or null for a queue tombstone. Bytes that are no text come
as `value_base64` instead, and bytes of a key as `key_base64`. `timestamp` (epoch milliseconds) and
the key may be null or missing. Other members are ignored.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

MAX_PARTITION = 2**31 - 1
MAX_OFFSET = 2**63 - 1
#: The range of a timestamp: the years 1 to 9999, in epoch milliseconds.
MIN_TIMESTAMP, MAX_TIMESTAMP = -62_135_596_800_000, 253_402_300_799_999
#: Kafka's timestamp of a record without a time.
NO_TIMESTAMP = -1

_SHOWN_CHARACTERS = 40


class Message(NamedTuple):
    """A message as it lands. `timestamp` is in epoch milliseconds."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None


class WrongEnvelope(Exception):
    """A line is no envelope; the message says why."""


def read_envelope(line: bytes) -> Message:
    """Return the message in a line. Raise `WrongEnvelope` if the line is no envelope."""
    members = _members(line)
    if "value" not in members and "value_base64" not in members:
        raise WrongEnvelope("`value` is missing (null stands for a tombstone)")
    topic = members.get("topic")
    if type(topic) is not str or not topic:
        _wrong(members, "topic", "a string that is not empty")
    _utf8("topic", topic)
    timestamp = None
    if members.get("timestamp") is not None:
        timestamp = _integer(members, "timestamp", MIN_TIMESTAMP, MAX_TIMESTAMP)
    return Message(
        topic=topic,
        partition=_integer(members, "partition", 0, MAX_PARTITION),
        offset=_integer(members, "offset", 0, MAX_OFFSET),
        timestamp=None if timestamp == NO_TIMESTAMP else timestamp,
        key=_bytes(members, "key"),
        value=_bytes(members, "value"),
    )


def _members(line: bytes) -> Mapping[str, Any]:
    try:
        # Objects become tuples of pairs, unlike arrays. So a repeated member is not lost.
        envelope = json.loads(
            line.decode("utf-8"), object_pairs_hook=tuple, parse_constant=_no_constant
        )
    except UnicodeDecodeError as error:
        raise WrongEnvelope(f"not UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise WrongEnvelope(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError) as error:
        raise WrongEnvelope(f"not JSON that can be read: {error}") from None
    if type(envelope) is not tuple:
        raise WrongEnvelope("not a JSON object")
    members = dict(envelope)
    if len(members) < len(envelope):
        names = [name for name, _ in envelope]
        repeated = next(name for name in names if names.count(name) > 1)
        raise WrongEnvelope(f"{_shown(repeated)} appears more than once")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _integer(members: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = members.get(name)
    # A boolean is an int in Python, but not in JSON.
    if type(value) is not int or not least <= value <= most:
        _wrong(members, name, f"an integer from {least} to {most}")
    return value


def _bytes(members: Mapping[str, Any], name: str) -> bytes | None:
    """Return the bytes of a member: its text in UTF-8, or decoded from `<name>_base64`."""
    text, encoded = members.get(name), members.get(f"{name}_base64")
    if text is not None and encoded is not None:
        raise WrongEnvelope(f"both `{name}` and `{name}_base64` are given")
    if encoded is not None:
        return _decoded(members, f"{name}_base64")
    if text is not None and type(text) is not str:
        _wrong(members, name, "a string or null")
    return None if text is None else _utf8(name, text)


def _decoded(members: Mapping[str, Any], name: str) -> bytes:
    encoded = members[name]
    if type(encoded) is not str:
        _wrong(members, name, "a string or null")
    try:
        return base64.b64decode(encoded, validate=True)
    except ValueError:
        raise WrongEnvelope(f"`{name}` is not base64: {_shown(encoded)}") from None


def _utf8(name: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise WrongEnvelope(
            f"`{name}` holds half of a surrogate pair, which UTF-8 can't encode:"
            f" give its bytes as `{name}_base64`"
            if name != "topic"
            else "`topic` holds half of a surrogate pair"
        ) from None


def _wrong(members: Mapping[str, Any], name: str, expected: str) -> NoReturn:
    if name not in members:
        raise WrongEnvelope(f"`{name}` is missing")
    raise WrongEnvelope(f"`{name}` must be {expected}, not {_shown(members[name])}")


def _shown(value: Any) -> str:
    if type(value) is tuple:
        return "an object"
    if type(value) is list:
        return "an array"
    try:
        text = json.dumps(value)
    except ValueError:
        return "a number of more digits than can be shown"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
