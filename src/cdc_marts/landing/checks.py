"""Likely mistakes in files to land, found in their first lines before Spark is started."""

from __future__ import annotations

import codecs
import json
from contextlib import suppress
from pathlib import Path

from cdc_marts.landing import LandingError
from cdc_marts.landing.lines import STDIN, lines_of, name_of

_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
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
        head = file.read(2)
    name = name_of(path)
    if path.suffix != ".gz" and head == _GZIP:
        return f"{name} is compressed with gzip. Give it a name that ends in .gz."
    if head in _UTF_16:
        return (
            f"{name} is UTF-16, but messages must be UTF-8. Convert it, for example with"
            f" `iconv -f UTF-16 -t UTF-8`."
        )
    return None if is_bare else _mistake_in_envelopes(path)


def _mistake_in_envelopes(path: Path) -> str | None:
    line = b""
    # What can't be read is reported when it is landed.
    with suppress(LandingError):
        line = next((line for _, line in lines_of(path)), b"").strip()
    name = name_of(path)
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
