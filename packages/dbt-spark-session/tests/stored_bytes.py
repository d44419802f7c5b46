"""What the files of a warehouse hold, whatever they are packed in."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

_SYNC_MARKER = 16


def files_with(folder: Path, texts: Collection[str]) -> list[str]:
    """The files below a folder that hold one of these texts, with the text that they hold.

    Searched are their bytes as they are (footers with bounds of columns among them), the values
    of all columns of data files, and the blocks of manifests without their compression.
    """
    return [
        f"{file.relative_to(folder)}: {text}"
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        for content in [_contents(file)]
        for text in texts
        if text.encode() in content
    ]


def _contents(file: Path) -> bytes:
    plain = file.read_bytes()
    return b"\n".join([plain, *_unpacked(file, plain)])


def _unpacked(file: Path, plain: bytes) -> Iterator[bytes]:
    if plain.startswith(b"PAR1"):
        for column in pq.ParquetFile(file).read().columns:
            for value in column.to_pylist():
                yield from _texts(value)
    elif plain.startswith(b"Obj\x01"):
        yield from _avro_blocks(io.BytesIO(plain))
    elif plain.startswith(b"\x1f\x8b"):
        yield gzip.decompress(plain)


def _texts(value: Any) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(name)
            yield from _texts(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _texts(member)
    elif value is not None:
        yield str(value).encode()


def _avro_blocks(stream: io.BytesIO) -> Iterator[bytes]:
    """The blocks of an Avro container file, of the codec that its header names."""
    stream.seek(4)
    header: dict[bytes, bytes] = {}
    while count := _long(stream):
        if count < 0:
            _long(stream)
        for _ in range(abs(count)):
            name = stream.read(_long(stream))
            header[name] = stream.read(_long(stream))
    stream.seek(_SYNC_MARKER, io.SEEK_CUR)
    codec = header.get(b"avro.codec", b"null")
    while stream.tell() < len(stream.getbuffer()):
        _long(stream)
        block = stream.read(_long(stream))
        stream.seek(_SYNC_MARKER, io.SEEK_CUR)
        yield {b"null": bytes, b"deflate": _inflated}[codec](block)


def _inflated(block: bytes) -> bytes:
    return zlib.decompress(block, wbits=-15)


def _long(stream: io.BytesIO) -> int:
    """Avro's variable-length, zig-zag number."""
    shift = number = 0
    while True:
        [byte] = stream.read(1)
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1)
