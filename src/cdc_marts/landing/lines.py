"""Files as lines of bytes, in constant memory."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from cdc_marts.landing import LandingError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = Path("-")

#: A function of the number of bytes that were just read from a file, before decompression.
Advance = Callable[[int], None]

_READ_SIZE = 1 << 20


def name_of(path: Path) -> str:
    return "stdin" if path == STDIN else str(path)


def lines_of(path: Path, advance: Advance = lambda _: None) -> Iterator[tuple[int, bytes]]:
    r"""Yield the lines of a file with their numbers from 1, without the `\n` at their ends.

    Only `\n` ends a line. Blank lines, and a byte order mark at the start of the file, are left
    out. `-` is stdin. A file whose name ends in `.gz` is decompressed. Raise `LandingError` if the
    file can't be read to its end.
    """
    number = 0
    try:
        with _opened(path, advance) as file:
            for number, line in enumerate(file, start=1):
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line.strip():
                    yield number, line.removesuffix(b"\n")
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise LandingError(
            f"{name_of(path)} can't be read after line {number}: {reason}."
        ) from error


def _opened(path: Path, advance: Advance) -> BinaryIO:
    if path == STDIN:
        # stdin must stay open.
        stdin = cast(io.BufferedReader, sys.stdin.buffer)
        return io.BufferedReader(_Counted(stdin, advance, closes=False), _READ_SIZE)
    raw = _Counted(path.open("rb", buffering=0), advance)
    file = io.BufferedReader(raw, _READ_SIZE)
    if path.suffix == ".gz":
        return io.BufferedReader(gzip.GzipFile(fileobj=file), _READ_SIZE)
    return file


class _Counted(io.RawIOBase):
    """A file that reports how many bytes were read from it."""

    def __init__(
        self, file: io.FileIO | io.BufferedReader, advance: Advance, closes: bool = True
    ) -> None:
        self._file, self._advance, self._closes = file, advance, closes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        # From a buffered file (stdin), `readinto1` does not wait for a full buffer.
        read = getattr(self._file, "readinto1", self._file.readinto)
        count = read(buffer)
        self._advance(count)
        return count

    def close(self) -> None:
        if self._closes:
            self._file.close()
        super().close()
