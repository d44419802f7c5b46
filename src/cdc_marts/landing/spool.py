"""Messages that wait for Spark: the last chunk in memory, the others in a temporary file."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import pyarrow as pa

from cdc_marts.landing import LandingError
from cdc_marts.landing.envelopes import Message
from cdc_marts.landing.lines import name_of
from cdc_marts.landing.outcome import Partition

#: The partition of bare messages.
BARE_PARTITION = 0

#: About so many bytes of messages are held in memory.
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
    """Messages in the order in which they came, as tables of about `CHUNK_SIZE` bytes."""

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
        """Yield the messages, only once, with the columns of a landing table except `landed_at`."""
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


@dataclass(frozen=True)
class BareFile:
    """A file of bare messages in the spool of its topic."""

    #: the file as the user named it
    name: str
    #: of its name without folders, its topic and its messages
    digest: str
    #: its first place in the spool, and the place after its last one
    begin: int
    end: int


class SpooledMessages:
    """Messages by format, until Spark takes them.

    Here, bare messages have the offsets 0, 1, … of their topic. They land after the offsets that
    their topic has by then.
    """

    def __init__(self) -> None:
        self._spools = ExitStack()
        #: format -> messages in envelopes
        self.enveloped: dict[str, Spool] = {}
        #: format and topic -> bare messages
        self.bare: dict[tuple[str, str], Spool] = {}
        #: format -> topic and partition -> number of messages in envelopes; first and last offset
        self.counts: dict[str, Counter[Partition]] = defaultdict(Counter)
        self.offsets: dict[str, dict[Partition, tuple[int, int]]] = defaultdict(dict)
        self.bare_counts: Counter[tuple[str, str]] = Counter()
        self.bare_files: dict[tuple[str, str], list[BareFile]] = defaultdict(list)
        self.wrong_lines = 0
        #: number of messages of topics that the map skips
        self.skipped = 0

    def __enter__(self) -> SpooledMessages:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._spools.close()

    @property
    def formats(self) -> list[str]:
        """The formats that have messages."""
        return list(dict.fromkeys((*self.enveloped, *(f for f, _ in self.bare))))

    def add(self, source_format: str, message: Message) -> None:
        """Add a message that came in an envelope."""
        if source_format not in self.enveloped:
            self.enveloped[source_format] = self._spools.enter_context(Spool())
        self.enveloped[source_format].add(message)
        partition = message.topic, message.partition
        self.counts[source_format][partition] += 1
        offsets = self.offsets[source_format]
        first, last = offsets.get(partition, (message.offset, message.offset))
        offsets[partition] = min(first, message.offset), max(last, message.offset)

    def add_bare_file(
        self, source_format: str, topic: str, path: Path, lines: Iterable[bytes]
    ) -> None:
        """Add the lines of a file: messages without coordinates."""
        key = source_format, topic
        begin = self.bare_counts[key]
        digest = hashlib.sha256(f"{path.name}\n{topic}\n".encode(errors="surrogateescape"))
        for line in lines:
            if key not in self.bare:
                self.bare[key] = self._spools.enter_context(Spool())
            offset = self.bare_counts[key]
            self.bare[key].add(Message(topic, BARE_PARTITION, offset, None, None, line))
            self.bare_counts[key] += 1
            digest.update(line + b"\n")
        if (end := self.bare_counts[key]) > begin:
            file = BareFile(name_of(path), digest.hexdigest(), begin, end)
            self.bare_files[key].append(file)


def _batch(rows: Sequence[Message]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)
