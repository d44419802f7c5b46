"""Removal of some rows from Canal messages, which otherwise stay as they are."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

#: The member of a message that some rows were removed from.
ERASED = "erasedByCdcMarts"

_DECODER = json.JSONDecoder(strict=False)
_SPACE = " \t\n\r\ufeff"


def without_rows(message: bytes, rows: Collection[int]) -> bytes:
    """Return a message with null instead of these rows, and without the text of its statement.

    `rows`: the indexes of the rows. All other rows keep their index and their bytes. Raise
    ValueError if the message is not a JSON object.
    """
    text = message.decode("utf-8")
    edits = []
    opening = _skip(text, 0)
    names = set()
    for name, start, end in _members(text, opening):
        names.add(name)
        if name in ("data", "old") and text[start] == "[":
            edits += [
                (first, last, "null")
                for index, (first, last) in enumerate(_elements(text, start))
                if index in rows
            ]
        elif name == "sql":
            edits.append((start, end, '""'))
    if ERASED not in names:
        edits.insert(0, (opening + 1, opening + 1, f'"{ERASED}":true,'))
    parts, place = [], 0
    for start, end, replacement in edits:
        parts += [text[place:start], replacement]
        place = end
    return "".join([*parts, text[place:]]).encode()


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield the name, and the place of the value, of each member of the object at `start`."""
    place = _after(text, start, "{")
    while text[place : place + 1] != "}":
        name, place = _DECODER.raw_decode(text, place)
        first = _after(text, _skip(text, place), ":")
        end = _end_of_value(text, first)
        yield name, first, end
        place = _skip(text, end)
        if text[place : place + 1] != "}":
            place = _after(text, place, ",")


def _elements(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the place of each element of the array at `start`."""
    place = _after(text, start, "[")
    while text[place : place + 1] != "]":
        end = _end_of_value(text, place)
        yield place, end
        place = _skip(text, end)
        if text[place : place + 1] != "]":
            place = _after(text, place, ",")


def _end_of_value(text: str, start: int) -> int:
    _, end = _DECODER.raw_decode(text, start)
    return end


def _after(text: str, place: int, mark: str) -> int:
    """Return the place after a mark and the space behind it."""
    if text[place : place + 1] != mark:
        raise ValueError(f"character {place} of the message is not {mark!r}")
    return _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place
