"""The landing tables: one per format, append-only. Their DDL is in a macro that dbt runs too.

A property of a table notes the highest offset of each partition, and the snapshot that had it. So a
landing reads only the rows that were appended since:

    cdc-marts.highest-offsets = {"snapshot": …, "offsets": {"<topic>": {"<partition>": <offset>}}}
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from dbt.adapters.spark_session.api import iceberg_table, rows_after, rows_up_to, snapshots
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.landing.outcome import Partition
from cdc_marts.package_macros import package_macro

_PROPERTY = "cdc-marts.highest-offsets"
#: The number of rows that a landing reads again without noting their offsets.
_UNNOTED_ROWS = 100_000


def create_landing_table(session: SparkSession, name: str) -> None:
    """Create a landing table (`schema.name`) in the session's own catalog if it is not there."""
    landing_table_sql = package_macro("landing/create_landing_tables.sql", "landing_table_sql")
    session.sql(f"create namespace if not exists {name.rpartition('.')[0]}")
    session.sql(landing_table_sql(name))


def highest_offsets(
    session: SparkSession, table: str, topics: Sequence[str]
) -> dict[Partition, int]:
    """Return topic and partition -> highest offset, for the partitions that `table` has."""
    landing_table = iceberg_table(session, table)
    newest = next(snapshots(session, landing_table), None)
    if newest is None:
        return {}
    noted = json.loads(landing_table.properties().get(_PROPERTY) or "{}")
    added = rows_after(session, table, noted["snapshot"], newest.id) if noted else None
    if added is None:
        # There is no note, or it may name offsets that the table no longer has.
        rows, count = rows_up_to(session, table, newest.id)
        highest: dict[Partition, int] = {}
    else:
        rows, count = added
        highest = _partitions_in(noted["offsets"])
    if count:
        _raise_to(highest, session.sql(f"select topic, `partition`, offset from {rows}"))
    if count > _UNNOTED_ROWS:
        note = json.dumps({"snapshot": newest.id, "offsets": _by_topic(highest)})
        landing_table.updateProperties().set(_PROPERTY, note).commit()
    return {partition: offset for partition, offset in highest.items() if partition[0] in topics}


def _raise_to(highest: dict[Partition, int], messages: DataFrame) -> None:
    """Raise the highest offsets to those of messages, for the partitions that the messages have."""
    found = messages.groupBy("topic", "partition").agg(F.max("offset")).collect()
    for topic, partition, offset in found:
        highest[topic, partition] = max(offset, highest.get((topic, partition), offset))


def _by_topic(highest: Mapping[Partition, int]) -> dict[str, dict[str, int]]:
    offsets: dict[str, dict[str, int]] = defaultdict(dict)
    for (topic, partition), offset in highest.items():
        offsets[topic][str(partition)] = offset
    return offsets


def _partitions_in(offsets: Mapping[str, Mapping[str, int]]) -> dict[Partition, int]:
    return {
        (topic, int(partition)): offset
        for topic, partitions in offsets.items()
        for partition, offset in partitions.items()
    }
