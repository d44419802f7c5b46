"""What many source databases publish in some time, and the thread that sends it to Kafka."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

import yaml

from cdc_marts.scaffold import DESCRIPTIONS, PROJECT_FILE
from tests.python.encoders.changes import Ddl
from tests.python.harness.copied_project import copy_without_tables
from tests.python.landing.kafka_server import Kafka, Record
from tests.python.oracle.carriers import Delivered, deliver
from tests.python.oracle.histories import History, draw_histories
from tests.python.oracle.traits import BY_SETTING
from tests.python.samples.declarations import declarations

#: Seconds between two looks at what is due.
_STEP = 0.5
#: Histories have one to three tables.
_TABLES_OF_A_HISTORY = 2


@dataclass(frozen=True)
class Sending:
    """A message, and when it is sent: a share of the whole time, from 0 to 1."""

    at: float
    topic: str
    partition: int
    #: That Kafka gives it, because all messages before it have been sent.
    offset: int
    record: Record


@dataclass(frozen=True)
class Traffic:
    """Histories of source databases, and their messages in the order in which they are sent."""

    delivered: Sequence[Delivered]
    sendings: Sequence[Sending]

    @property
    def histories(self) -> list[History]:
        return [delivered.history for delivered in self.delivered]

    @property
    def table_count(self) -> int:
        return sum(len(history.tables) for history in self.histories)

    @property
    def truncation_count(self) -> int:
        """Statements that empty tables."""
        return sum(
            isinstance(change, Ddl) and change.kind == "truncate"
            for history in self.histories
            for change in history.log
        )

    @property
    def partitions(self) -> dict[str, int]:
        """Topic -> how many partitions it has."""
        partitions: dict[str, int] = {}
        for sending in self.sendings:
            count = max(partitions.get(sending.topic, 0), sending.partition + 1)
            partitions[sending.topic] = count
        return partitions

    @property
    def formats(self) -> dict[str, str]:
        """Topic -> format."""
        return {
            topic: delivered.history.source_format
            for delivered in self.delivered
            for topic, _, _ in delivered.published
        }

    @property
    def bad_places(self) -> set[tuple[str, int, int]]:
        """Topic, partition and offset of each message that can't be read."""
        return {
            place
            for delivered in self.delivered
            for place, published in delivered.published.items()
            if published.change is None
        }

    @property
    def repeated_count(self) -> int:
        """Messages that repeat an earlier one under another offset."""
        return sum(
            len(delivered.published)
            - len({id(published.message) for published in delivered.published.values()})
            for delivered in self.delivered
        )


def draw_traffic(
    source_formats: Sequence[str], seed: int, tables: int, scenes: tuple[int, int]
) -> Traffic:
    """Histories of at least `tables` tables; each is published from the first minute to the last.

    `scenes`: how many scenes a history has.
    """
    count = tables // _TABLES_OF_A_HISTORY // len(source_formats) + 10
    by_format = [draw_histories(name, seed, count, scenes) for name in source_formats]
    chosen: list[History] = []
    for history in (h for together in zip_longest(*by_format) for h in together if h is not None):
        if sum(len(drawn.tables) for drawn in chosen) < tables:
            chosen.append(history)
    delivered = [deliver(history, runs=1) for history in chosen]
    random = Random(seed)
    sendings = [sending for member in delivered for sending in _sendings(member, random)]
    return Traffic(delivered, sorted(sendings, key=lambda sending: sending.at))


def _sendings(delivered: Delivered, random: Random) -> Iterator[Sending]:
    times = sorted(random.random() for _ in delivered.published)
    for at, ((topic, partition, offset), published) in zip(
        times, delivered.published.items(), strict=True
    ):
        record = (published.message.key, published.message.value)
        yield Sending(at, topic, partition, offset, record)


def write_project(folder: Path, traffic: Traffic) -> Path:
    """A project whose settings say what messages of these sources leave unsaid."""
    copy_without_tables(folder)
    # It would describe models that are not there.
    (folder / DESCRIPTIONS).unlink()
    keys: dict[str, dict[str, list[str]]] = {}
    swapped_topics: dict[str, str | None] = {}
    for delivered in traffic.delivered:
        history = delivered.history
        swapped_topics |= delivered.swapped_topics
        for table in history.tables.values():
            if table.known_by == BY_SETTING:
                by_table = keys.setdefault(history.source_format, {})
                by_table[history.table_id(table)] = list(table.key)
    path = folder / PROJECT_FILE
    settings: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    settings["vars"] |= {"tables": declarations(keys), "swapped_canal_topics": swapped_topics}
    path.write_text(yaml.safe_dump(settings), "utf-8")
    (folder / "topics.yml").write_text(json.dumps({"topics": traffic.formats}), "utf-8")
    return folder


class Producer:
    """Sends traffic in a thread of its own, as long as the block runs."""

    def __init__(self, kafka: Kafka, traffic: Traffic, seconds: float) -> None:
        """`seconds`: what the whole traffic takes; a broker that is away makes it longer."""
        self._kafka, self.traffic, self._seconds = kafka, traffic, seconds
        self._error: BaseException | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._send_all, name="producer")
        self.sent = 0

    def __enter__(self) -> Producer:
        for topic, partitions in self.traffic.partitions.items():
            self._kafka.create_topic(topic, partitions)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def is_done(self) -> bool:
        """Whether all is sent; raises what went wrong."""
        if self._error is not None:
            raise self._error
        return self.sent == len(self.traffic.sendings)

    def _send_all(self) -> None:
        try:
            self._send_in_time()
        except BaseException as error:
            self._error = error

    def _send_in_time(self) -> None:
        began = time.monotonic()
        sendings = self.traffic.sendings
        with self._kafka.sender() as sender:
            while self.sent < len(sendings) and not self._is_over.wait(_STEP):
                now = (time.monotonic() - began) / self._seconds
                end = self.sent
                while end < len(sendings) and sendings[end].at <= now:
                    end += 1
                due = sendings[self.sent : end]
                offsets = sender.send([(s.topic, s.partition, s.record) for s in due])
                assert offsets == [sending.offset for sending in due]
                self.sent = end


def repeated_files(traffic: Traffic, landed: int, random: Random) -> Mapping[str, list[Sending]]:
    """Format -> some of the first `landed` messages, which land again from a file."""
    formats = traffic.formats
    again: dict[str, list[Sending]] = {}
    for sending in random.sample(traffic.sendings[:landed], landed // 10):
        again.setdefault(formats[sending.topic], []).append(sending)
    return again
