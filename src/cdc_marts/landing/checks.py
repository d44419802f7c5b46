"""Likely mistakes in files to land, found in their first lines before Spark starts."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.landing import LandingError
from cdc_marts.landing.lines import STDIN, lines_of

_GZIP = b"\x1f\x8b"
#: The first bytes of files that a landing does not decompress -> their compression.
_COMPRESSED = {
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}
_LONGEST_MAGIC = max(map(len, (_GZIP, *_COMPRESSED)))
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: At least so many bytes at the start of a file are searched for mistakes.
_HEAD = 1 << 16
#: Longer JSON is not checked.
_LONGEST_JSON = 1 << 20
_ARRAY_OF_OBJECTS = re.compile(rb"\s*\[\s*\{")
#: A line with so many of `COORDINATES` is an envelope: a message has at most one, by chance.
_FEWEST_COORDINATES = 2


def mistake_in(path: Path, is_bare: bool, is_binary: bool = False) -> str | None:
    """Return what is wrong with a file as a whole, and what to do; None if it may land.

    `is_bare`: its lines are messages, not envelopes. `is_binary`: these messages may have any
    bytes. Only the beginning of the file is read, and nothing of a pipe. A wrong line among others
    is no mistake of the file: landing reports a wrong envelope, and a run quarantines a wrong
    message.
    """
    if path == STDIN or not path.is_file():
        return None
    if mistake := _wrong_compression(path):
        return mistake
    numbers, lines = _beginning(path)
    if not lines:
        return None
    return (
        _wrong_encoding(path, numbers, lines, is_binary)
        or _wrong_json(f"{path}:{numbers[0]}", lines, "message" if is_bare else "envelope")
        or (_envelope_as_message if is_bare else _message_as_envelope)(path, lines[0])
    )


def _wrong_compression(path: Path) -> str | None:
    with path.open("rb") as file:
        magic = file.read(_LONGEST_MAGIC)
    if path.suffix != ".gz" and magic.startswith(_GZIP):
        return f"{path} is compressed with gzip. Give it a name that ends in .gz."
    for beginning, compression in _COMPRESSED.items():
        if magic.startswith(beginning):
            return f"{path} is compressed with {compression}. Decompress it first."
    return None


def _beginning(path: Path) -> tuple[list[int], list[bytes]]:
    """Return the numbers of the first lines, and these lines: at least two if the file has two."""
    numbers: list[int] = []
    lines: list[bytes] = []
    # The landing reports a file that can't be read.
    with suppress(LandingError):
        for number, line in lines_of(path):
            numbers.append(number)
            lines.append(line)
            if len(lines) > 1 and sum(map(len, lines)) >= _HEAD:
                break
    return numbers, lines


def _wrong_encoding(
    path: Path, numbers: Sequence[int], lines: Sequence[bytes], is_binary: bool
) -> str | None:
    if lines[0].startswith(_UTF_16):
        return (
            f"{path} is UTF-16, but messages must be UTF-8. Convert it, for example with"
            f" `iconv -f UTF-16 -t UTF-8`."
        )
    if not is_binary and _are_gbk(lines):
        number = next(n for n, line in zip(numbers, lines, strict=True) if not line.isascii())
        return (
            f"{path}:{number} is GBK, but messages must be UTF-8. Convert the file, for example"
            f" with `iconv -f GBK -t UTF-8`."
        )
    return None


def _are_gbk(lines: Sequence[bytes]) -> bool:
    """Return whether all lines beyond ASCII are GBK, and none is UTF-8.

    Damaged UTF-8 is often GBK by chance. So at least one line must have only the common characters
    of GBK (GB2312).
    """
    texts = [line for line in lines if not line.isascii()]
    return all(_is_text(line, "gbk") and not _is_text(line, "utf-8") for line in texts) and any(
        _is_text(line, "gb2312") for line in texts
    )


def _is_text(line: bytes, encoding: str) -> bool:
    with suppress(UnicodeDecodeError):
        line.decode(encoding)
        return True
    return False


def _wrong_json(place: str, lines: Sequence[bytes], expected: str) -> str | None:
    """Return what is wrong if JSON is not one object per line. `expected`: what a line must be."""
    goes_over_lines = _goes_over_lines(lines)
    is_array = goes_over_lines and lines[0].lstrip().startswith(b"[")
    if is_array or all(map(_ARRAY_OF_OBJECTS.match, lines)):
        return (
            f"{place}: a JSON array begins here, but each line must be one {expected}."
            " `jq -c '.[]'` writes such lines."
        )
    if goes_over_lines:
        return (
            f"{place}: a JSON object over several lines begins here, but each line must be one"
            f" {expected}. `jq -c .` writes such lines."
        )
    return None


def _goes_over_lines(lines: Sequence[bytes]) -> bool:
    """Return whether the JSON value that begins in the first line continues in the others.

    If the first message is cut off, the second message does not continue it.
    """
    text = b"\n".join(lines).decode("utf-8", "replace").strip()
    if len(lines) == 1 or len(text) > _LONGEST_JSON:
        return False
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        # The only error is that the value does not end in these lines.
        return error.pos == len(text)
    except (ValueError, RecursionError):
        return False
    return end > text.index("\n")


def _envelope_as_message(path: Path, line: bytes) -> str | None:
    if _coordinates_in(line) != len(COORDINATES):
        return None
    return (
        f"{path} contains envelopes, which name their topics, and is landed as bare messages of"
        " one topic. Leave out --topic, or remove the pattern for this file from `files` of the"
        " map."
    )


def _message_as_envelope(path: Path, line: bytes) -> str | None:
    found = _coordinates_in(line)
    if found is None or found >= _FEWEST_COORDINATES:
        return None
    return (
        f"{path} contains JSON objects that are not envelopes. If its lines are the messages"
        " themselves, name their topic in `files` of a map (--map), or with --topic of `cdc-marts"
        " land files`."
    )


def _coordinates_in(line: bytes) -> int | None:
    """Return how many of `COORDINATES` a JSON object has; None for other or very long lines."""
    if len(line) > _LONGEST_JSON:
        return None
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return sum(name in members for name in COORDINATES) if isinstance(members, dict) else None
