"""The new offsets of a topic: from its last landed offset up to its end in Kafka."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from cdc_marts.landing import LandingError
from cdc_marts.landing.kafka_broker import Broker, KafkaTopic
from cdc_marts.landing.kafka_offsets import LandedOffsets
from cdc_marts.landing.outcome import Partition
from cdc_marts.printing import counted

#: Topic and partition -> first offset, and the offset after the last.
Ranges = dict[Partition, tuple[int, int]]

_MOST_SHOWN = 20


def check_topics(found: Iterable[str], landed: LandedOffsets, table: str) -> None:
    """Raise `LandingError` if a topic is not the one whose messages are in `table`."""
    for name in found:
        if landed.is_other_topic(name):
            raise LandingError(
                f"The topic {name} is not the one in {table}: it was deleted and created again, or"
                " this is another cluster. Its messages would count as landed already, because"
                " they have the same topic, partition and offset. Publish them to a topic with"
                " another name. If the topic was moved with its offsets, use --moved."
            )


@dataclass(frozen=True)
class Start:
    """Where topics begin that never landed. The default is their first message."""

    #: after the messages that exist now
    is_latest: bool = False
    #: at the first message from a time on
    time: dt.datetime | None = None

    def offsets(self, broker: Broker, partitions: Collection[Partition]) -> dict[Partition, int]:
        """Return partition -> offset, without partitions that begin at their first message."""
        if self.is_latest:
            return broker.end_offsets(partitions)
        return {} if self.time is None else broker.offsets_at(partitions, self.time)


EARLIEST = Start()


def new_ranges(
    broker: Broker,
    found: Mapping[str, KafkaTopic],
    landed: LandedOffsets,
    skip_lost: bool,
    report: Callable[[str], None],
    start: Start = EARLIEST,
) -> Ranges:
    """Return the offsets to read of every partition. The range of a partition may be empty.

    Raise `LandingError` if Kafka deleted messages before they landed, unless `skip_lost`. A new
    partition of a topic that was read before begins at its first message, whatever `start` is.
    """
    partitions = [(name, number) for name, topic in found.items() for number in topic.partitions]
    firsts = broker.first_offsets(partitions)
    # In this order: a message that comes in between is not taken for one of an open transaction.
    nexts, ends = broker.next_offsets(partitions), broker.end_offsets(partitions)
    starts = {partition: landed.next_offset(partition) for partition in partitions}
    _check_ends(starts, nexts)
    _report_open(ends, nexts, report)

    unread = [partition for partition in partitions if not landed.knows(partition[0])]
    starts.update(_begun_later(start.offsets(broker, unread), firsts, report))
    _report_cut(starts, firsts, report)
    _check_lost(starts, firsts, skip_lost, report)
    begins = {partition: max(firsts[partition], starts[partition] or 0) for partition in partitions}
    return {
        partition: (begins[partition], max(begins[partition], ends[partition]))
        for partition in partitions
    }


def _begun_later(
    offsets: Mapping[Partition, int],
    firsts: Mapping[Partition, int],
    report: Callable[[str], None],
) -> dict[Partition, int]:
    """Return the offsets of partitions that begin after their first message, and report them.

    The other partitions begin at their first message, even if Kafka deleted messages just now.
    """
    begun = {
        partition: offset for partition, offset in offsets.items() if offset > firsts[partition]
    }
    if begun:
        report(f"--start skips earlier messages. The landing begins at: {shown_offsets(begun)}.")
    return begun


def _report_cut(
    starts: Mapping[Partition, int | None],
    firsts: Mapping[Partition, int],
    report: Callable[[str], None],
) -> None:
    """Report partitions that never landed and whose first messages Kafka has deleted."""
    cut = {
        partition: firsts[partition]
        for partition, start in starts.items()
        if start is None and firsts[partition] > 0
    }
    if cut:
        shown = _list(
            f"{_name(partition)}, before offset {first}" for partition, first in cut.items()
        )
        report(f"Kafka has deleted the first messages of {shown}.")


def _check_lost(
    starts: Mapping[Partition, int | None],
    firsts: Mapping[Partition, int],
    skip_lost: bool,
    report: Callable[[str], None],
) -> None:
    """Raise `LandingError` if Kafka deleted messages before they landed, or report it."""
    lost = {
        partition: firsts[partition] - offset
        for partition, offset in starts.items()
        if offset is not None and offset < firsts[partition]
    }
    if not lost:
        return
    shown = _list(
        f"{_name(partition)}, {counted(count, 'offset')} from {starts[partition]}"
        for partition, count in lost.items()
    )
    said = f"Kafka deleted messages before they landed: {shown}."
    if not skip_lost:
        raise LandingError(f"{said} Use --skip-lost to land the remaining messages.")
    report(said)


def _report_open(
    ends: Mapping[Partition, int], nexts: Mapping[Partition, int], report: Callable[[str], None]
) -> None:
    """Report offsets that can't be read yet, because a transaction before them is open."""
    waiting = {
        partition: nexts[partition] - end
        for partition, end in ends.items()
        if end < nexts[partition]
    }
    if waiting:
        shown = _list(
            f"{_name(partition)}, {counted(count, 'offset')} from {ends[partition]}"
            for partition, count in waiting.items()
        )
        report(
            f"Messages wait behind open transactions: {shown}. They land when the transaction that"
            " begins at this offset ends. If it outlasts its timeout, find it by"
            " `kafka-transactions.sh find-hanging`, and abort it."
        )


def _check_ends(starts: Mapping[Partition, int | None], nexts: Mapping[Partition, int]) -> None:
    """Raise `LandingError` if more has landed than Kafka has.

    `nexts`: with another isolation level, messages of open transactions may have landed.
    """
    beyond = {
        partition: start
        for partition, start in starts.items()
        if start is not None and start > nexts[partition]
    }
    if beyond:
        shown = _list(
            f"{_name(partition)} has landed up to offset {start - 1}, but Kafka has it only up to"
            f" {nexts[partition] - 1}"
            if nexts[partition]
            else f"{_name(partition)} has landed up to offset {start - 1}, but Kafka has none of it"
            for partition, start in beyond.items()
        )
        raise LandingError(
            f"{shown}. The topic was deleted and created again, a broker lost messages, or messages"
            " of another topic landed under its name. New messages would count as landed already,"
            " because they have the same topic, partition and offset. Publish them to a topic with"
            " another name."
        )


def bounded(ranges: Ranges, most: int) -> Ranges:
    """Return the ranges, reduced to `most` offsets in all."""
    cut, left = {}, most
    by_size = sorted(ranges.items(), key=lambda item: item[1][1] - item[1][0])
    for number, (partition, (start, end)) in enumerate(by_size):
        # The shares are equal. Small ranges leave a part of theirs to the others.
        size = min(end - start, left // (len(ranges) - number))
        cut[partition] = (start, start + size)
        left -= size
    return cut


def size_of(ranges: Ranges) -> int:
    """Return the number of offsets, with or without a message."""
    return sum(end - start for start, end in ranges.values())


def shown_offsets(offsets: Mapping[Partition, int]) -> str:
    """Return a list of partitions with an offset of each, for a sentence."""
    return _list(f"{_name(partition)}, offset {offset}" for partition, offset in offsets.items())


def _name(partition: Partition) -> str:
    return f"{partition[0]}, partition {partition[1]}"


def _list(items: Iterable[str]) -> str:
    items = list(items)
    more = len(items) - _MOST_SHOWN
    return "; ".join(items[:_MOST_SHOWN]) + (f"; and {more:,} more partitions" if more > 0 else "")
