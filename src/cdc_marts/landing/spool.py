"""Messages that wait for Spark: the last few in memory, the others in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Any

import pyarrow as pa

from cdc_marts.landing import LandingError
from cdc_marts.landing.envelopes import Message

#: Bytes of messages that are held in memory at a time.
CHUNK_SIZE = 64 << 20
_ROW_OVERHEAD = 100

_SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", pa.timestamp("ms", tz="UTC")),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
    ]
)


class Spool:
    """Messages in the order in which they came, as tables of about a chunk each."""

    def __init__(self) -> None:
        self._rows: list[Message] = []
        self._size = 0
        self._files = ExitStack()
        self._file: IO[bytes] | None = None
        self._writer: Any = None

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._files.close()

    def add(self, message: Message) -> None:
        self._rows.append(message)
        self._size += len(message.value or b"") + len(message.key or b"") + _ROW_OVERHEAD
        if self._size >= CHUNK_SIZE:
            self._write()

    def chunks(self) -> Iterator[pa.Table]:
        """The messages, once: columns of a landing table without `landed_at`."""
        if self._file is not None:
            self._writer.close()
            self._file.seek(0)
            with pa.ipc.open_stream(self._file) as reader:
                for batch in reader:
                    yield pa.Table.from_batches([batch])
        if self._rows:
            yield pa.Table.from_batches([_batch(self._rows)])

    def _write(self) -> None:
        try:
            if self._file is None:
                file = self._files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
                self._file = file
                self._writer = pa.ipc.new_stream(file, _SCHEMA)
            self._writer.write_batch(_batch(self._rows))
        except OSError as error:
            raise LandingError(
                f"The folder {tempfile.gettempdir()} can't hold the messages until Spark takes them"
                f" ({error.strerror}). Free space, or choose another folder with TMPDIR."
            ) from error
        self._rows, self._size = [], 0


def _batch(rows: Sequence[Message]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)
