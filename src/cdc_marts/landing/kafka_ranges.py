"""What of a topic is new: from where it is landed to, up to where Kafka has it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from cdc_marts.landing import LandingError
from cdc_marts.landing.kafka_broker import Broker, Topic
from cdc_marts.landing.kafka_positions import Positions
from cdc_marts.landing.outcome import Place

#: First offset and the one after the last, by topic and partition.
Ranges = dict[Place, tuple[int, int]]

_MOST_SHOWN = 20


def check_topics(found: Mapping[str, Topic], positions: Positions, table: str) -> None:
    """`LandingError` where a topic is not the one whose messages are in `table`."""
    for name, topic in found.items():
        if positions.is_other_topic(name, topic.id):
            raise LandingError(
                f"The topic {name} is not the one in {table}: it was deleted and created again, or"
                " this is another cluster. Its messages would count as landed already, because"
                " they have the same topic, partition and offset. Publish them to a topic with"
                " another name. If the topic was moved with its offsets, use --moved."
            )


@dataclass(frozen=True)
class Start:
    """Where topics begin that were never landed: at their first message, unless this says so."""

    #: behind the messages that are there
    is_latest: bool = False
    #: at the first message from a time on
    time: dt.datetime | None = None

    def offsets(self, broker: Broker, places: Collection[Place]) -> dict[Place, int]:
        """Where these partitions begin; none of them where it is their first message."""
        if self.is_latest:
            return broker.end_offsets(places)
        return {} if self.time is None else broker.offsets_at(places, self.time)


EARLIEST = Start()


def new_ranges(
    broker: Broker,
    found: Mapping[str, Topic],
    positions: Positions,
    skip_lost: bool,
    report: Callable[[str], None],
    start: Start = EARLIEST,
) -> Ranges:
    """What is to be read of every partition: maybe nothing.

    `LandingError` where Kafka no longer has it, unless `skip_lost`.  A partition that is new in a
    topic that was landed before begins at its first message, whatever `start` is.
    """
    places = [(name, partition) for name, topic in found.items() for partition in topic.partitions]
    firsts, ends = broker.first_offsets(places), broker.end_offsets(places)
    starts = {place: positions.next_offset(place) for place in places}
    _check_ends(broker, starts, ends)

    begun = start.offsets(broker, [place for place in places if not positions.knows(place[0])])
    # What the topic has lost before it begins is not missed.
    begun = {place: offset for place, offset in begun.items() if offset > firsts[place]}
    if begun:
        shown = _list(f"{_name(place)}, at offset {offset}" for place, offset in begun.items())
        report(f"The landing begins behind earlier messages: {shown}.")
    starts.update(begun)
    cut = {p: firsts[p] for p in places if starts[p] is None and firsts[p] > 0}
    if cut:
        shown = _list(f"{_name(place)}, before offset {first}" for place, first in cut.items())
        report(f"Kafka has deleted the first messages of {shown}.")
    lost = {
        place: firsts[place] - offset
        for place, offset in starts.items()
        if offset is not None and offset < firsts[place]
    }
    if lost:
        shown = _list(
            f"{_name(place)}, {count:,} offset{'' if count == 1 else 's'} from {starts[place]}"
            for place, count in lost.items()
        )
        said = f"Kafka deleted messages before they landed: {shown}."
        if not skip_lost:
            raise LandingError(f"{said} Use --skip-lost to land the remaining messages.")
        report(said)
    begins = {place: max(firsts[place], starts[place] or 0) for place in places}
    return {place: (begins[place], max(begins[place], ends[place])) for place in places}


def _check_ends(
    broker: Broker, starts: Mapping[Place, int | None], ends: Mapping[Place, int]
) -> None:
    beyond = {
        place: start for place, start in starts.items() if start is not None and start > ends[place]
    }
    # Of a transaction that is open, messages may be landed: with another isolation level.
    ends = broker.next_offsets(beyond) if beyond else {}
    beyond = {place: start for place, start in beyond.items() if start > ends[place]}
    if beyond:
        shown = _list(
            f"{_name(place)} has landed up to offset {start - 1}, but Kafka has it only up to"
            f" {ends[place] - 1}"
            if ends[place]
            else f"{_name(place)} has landed up to offset {start - 1}, but Kafka has none of it"
            for place, start in beyond.items()
        )
        raise LandingError(
            f"{shown}. The topic was deleted and created again, a broker lost messages, or messages"
            " of another topic landed under its name. New messages would count as landed already,"
            " because they have the same topic, partition and offset. Publish them to a topic with"
            " another name."
        )


def bounded(ranges: Ranges, most: int) -> Ranges:
    """The ranges, cut to `most` offsets in all."""
    cut, left = {}, most
    by_size = sorted(ranges.items(), key=lambda item: item[1][1] - item[1][0])
    for number, (place, (start, end)) in enumerate(by_size):
        # Equal shares; what small ones leave goes to the others.
        size = min(end - start, left // (len(ranges) - number))
        cut[place] = (start, start + size)
        left -= size
    return cut


def size_of(ranges: Ranges) -> int:
    """How many offsets there are, each with or without a message."""
    return sum(end - start for start, end in ranges.values())


def _name(place: Place) -> str:
    return f"{place[0]}, partition {place[1]}"


def _list(items: Iterable[str]) -> str:
    items = list(items)
    more = len(items) - _MOST_SHOWN
    return "; ".join(items[:_MOST_SHOWN]) + (f"; and {more:,} partitions more" if more > 0 else "")
