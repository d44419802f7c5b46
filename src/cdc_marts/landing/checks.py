"""Likely mistakes in files to land, found in their first lines before Spark is started."""

from __future__ import annotations

import codecs
import json
from contextlib import suppress
from pathlib import Path

from cdc_marts.landing import LandingError
from cdc_marts.landing.lines import STDIN, lines_of, name_of

_GZIP = b"\x1f\x8b"
#: How compressed files begin that a landing does not decompress.
_COMPRESSED = {
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: The beginning of a file in which its encoding is looked for.
_HEAD = 1 << 16
#: An envelope has these members; a bare message has none of them, or one by chance.
_COORDINATES = ("topic", "partition", "offset")
_FEWEST_COORDINATES = 2
#: A longer first line is not looked into.
_LONGEST_LINE = 1 << 20


def mistake_in(path: Path, is_bare: bool) -> str | None:
    """What is wrong with a file as a whole, and what to do; None where it may be landed.

    `is_bare`: its lines are messages, not envelopes.  A wrong line among others is no
    mistake of the file: landing reports it.  Pipes are not looked into.
    """
    if path == STDIN or not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(_HEAD)
    name = name_of(path)
    if path.suffix != ".gz" and head.startswith(_GZIP):
        return f"{name} is compressed with gzip. Give it a name that ends in .gz."
    for magic, compression in _COMPRESSED.items():
        if head.startswith(magic):
            return f"{name} is compressed with {compression}. Decompress it first."
    if head.startswith(_UTF_16):
        return (
            f"{name} is UTF-16, but messages must be UTF-8. Convert it, for example with"
            f" `iconv -f UTF-16 -t UTF-8`."
        )
    line = b""
    # What can't be read is reported when it is landed.
    with suppress(LandingError):
        line = next((line for _, line in lines_of(path)), b"").strip()
    if is_bare:
        return _mistake_in_bare(name, line)
    if _is_gbk(head):
        return (
            f"{name} is GBK, but envelopes must be UTF-8. Convert it, for example with"
            f" `iconv -f GBK -t UTF-8`."
        )
    return _mistake_in_envelopes(name, line)


def _mistake_in_bare(name: str, line: bytes) -> str | None:
    try:
        members = json.loads(line[:_LONGEST_LINE])
    except (ValueError, RecursionError):
        return None
    if isinstance(members, dict) and all(member in members for member in _COORDINATES):
        return (
            f"{name} contains envelopes, which name their topics, and is landed as bare messages of"
            " one topic. Land it without --topic, or without its name in `files` of the map."
        )
    return None


def _is_gbk(head: bytes) -> bool:
    """Whether text that is not ASCII is GBK in each line, and UTF-8 in none."""
    lines = [line for line in head.split(b"\n") if not line.isascii()]
    # The last line may be cut in the middle of a character.
    whole = lines[:-1] if len(head) == _HEAD else lines
    return bool(whole) and all(
        not _is_text(line, "utf-8") and _is_text(line, "gbk") for line in whole
    )


def _is_text(line: bytes, encoding: str) -> bool:
    with suppress(UnicodeDecodeError):
        line.decode(encoding)
        return True
    return False


def _mistake_in_envelopes(name: str, line: bytes) -> str | None:
    if line.startswith(b"["):
        return (
            f"{name} contains a JSON array, but each line must be one envelope. `jq -c '.[]'`"
            " writes such lines."
        )
    if not line.startswith(b"{") or len(line) > _LONGEST_LINE:
        return None
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        if line == b"{":
            return (
                f"{name} contains JSON objects over several lines, but each line must be one"
                " envelope. `jq -c .` writes such lines."
            )
        return None
    if sum(member in members for member in _COORDINATES) < _FEWEST_COORDINATES:
        return (
            f"{name} contains JSON objects that are not envelopes. If its lines are the messages"
            " themselves, name their topic with --topic."
        )
    return None
