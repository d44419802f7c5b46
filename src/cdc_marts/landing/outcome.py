"""The outcome of a landing, from any source of messages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

#: A topic, and the number of one of its partitions.
Partition = tuple[str, int]


@dataclass
class Landing:
    """The outcome of one landing in the table of a format."""

    source_format: str
    table: str
    #: the topics that were looked at
    topics: list[str] = field(default_factory=list)
    #: number of messages by topic and partition
    messages: Counter[Partition] = field(default_factory=Counter)
    #: first and last offset by topic and partition
    offsets: dict[Partition, tuple[int, int]] = field(default_factory=dict)
    #: number of messages that the table already had; they count once
    repeated: int = 0
    #: number of offsets that a limit leaves to the next landing
    waiting: int = 0

    def add(self, partition: Partition, first: int, last: int, count: int = 1) -> None:
        """Count messages of a partition, from the offset `first` to `last`."""
        self.messages[partition] += count
        known = self.offsets.get(partition, (first, last))
        self.offsets[partition] = (min(first, known[0]), max(last, known[1]))
