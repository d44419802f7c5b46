"""The offsets up to which topics have landed.

The highest landed offset of a partition says where to resume. After each landing, a table property
adds the topic id, and offsets without messages (of transactions, or deleted). Before a landing, it
notes where partitions begin that never landed. It counts only while the highest offset is the noted
one; without it, Kafka is asked for these offsets again. It does not count either if the topic was
deleted and created again before a message of it landed.

    cdc-marts.kafka.<topic> = {"id": "…", "read_to": {"<partition>": [<highest>, <next>]}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dbt.adapters.spark_session.api import iceberg_table
from pyspark.sql import SparkSession

from cdc_marts.landing.outcome import Partition
from cdc_marts.landing.tables import highest_offsets

_PROPERTY = "cdc-marts.kafka.{}"


class LandedOffsets:
    """The landed offsets of some topics, at the time when the object was made."""

    def __init__(
        self,
        session: SparkSession,
        table: str,
        topic_ids: Mapping[str, str | None],
        moved: bool = False,
    ) -> None:
        """`moved`: topics may have new ids, because they were moved with their offsets."""
        self._session, self._table, self._topic_ids = session, table, topic_ids
        self._highest = highest_offsets(session, table, list(topic_ids))
        properties = iceberg_table(session, table).properties()
        self._notes: dict[str, str | None] = {
            topic: properties.get(_PROPERTY.format(topic)) for topic in topic_ids
        }
        for topic in topic_ids:
            if self._has_other_id(topic) and not moved and not self._has_messages(topic):
                self._notes[topic] = None

    def next_offset(self, partition: Partition) -> int | None:
        """Return the offset to resume from; None if the partition was never read.

        A partition that its topic did not have yet, when it was last read, begins at 0.
        """
        topic, number = partition
        highest = self._highest.get(partition)
        noted = self._note(topic).get("read_to", {}).get(str(number))
        if noted is not None and noted[0] == highest:
            return noted[1]
        if highest is None and self._notes[topic] is not None:
            return 0
        return _after(highest)

    def knows(self, topic: str) -> bool:
        """Return whether the topic was read before, with or without messages."""
        return self._notes[topic] is not None or self._has_messages(topic)

    def is_other_topic(self, topic: str) -> bool:
        """Return whether messages of a topic with this name, but another id, have landed."""
        return self._has_messages(topic) and self._has_other_id(topic)

    def keep(
        self, read_to: Mapping[Partition, int], offsets: Mapping[Partition, tuple[int, int]]
    ) -> None:
        """Note what the rows of the table do not show.

        `read_to`: the offset to resume from, of every partition. `offsets`: the first and the last
        offset that landed since.
        """
        landed = {partition: last for partition, (_, last) in offsets.items()}
        highest = {**self._highest, **landed}
        update, is_changed = iceberg_table(self._session, self._table).updateProperties(), False
        for topic, topic_id in self._topic_ids.items():
            note = {
                "id": topic_id,
                "read_to": {
                    str(partition): [highest.get((name, partition)), offset]
                    for (name, partition), offset in sorted(read_to.items())
                    if name == topic and offset != _after(highest.get((name, partition)))
                },
            }
            text = json.dumps(note)
            if text != self._notes[topic]:
                update, is_changed = update.set(_PROPERTY.format(topic), text), True
                self._notes[topic] = text
        if is_changed:
            update.commit()

    def _has_messages(self, topic: str) -> bool:
        return any(partition[0] == topic for partition in self._highest)

    def _has_other_id(self, topic: str) -> bool:
        noted, found = self._note(topic).get("id"), self._topic_ids[topic]
        return None not in (noted, found) and noted != found

    def _note(self, topic: str) -> dict[str, Any]:
        return json.loads(self._notes[topic] or "{}")


def _after(highest: int | None) -> int | None:
    return None if highest is None else highest + 1
