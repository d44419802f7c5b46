"""The rows of a table that a merge can match, so that Spark shuffles no others.

A merge that also inserts is an outer join: Spark shuffles and sorts the keys of all rows of the
table. Before that, a set of the hashes of the new keys leaves out most of these rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.spark_session.catalog import iceberg_table
from dbt.adapters.spark_session.hash_set import HashSet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

#: The keys of a smaller table are shuffled faster than the new keys are hashed.
_FEWEST_ROWS = 300_000
#: Equal values of these types have equal hashes. Collated texts and doubles may not.
_HASHED_TYPES = (
    BooleanType,
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    DecimalType,
    DateType,
    TimestampType,
    TimestampNTZType,
)


def possible_matches(
    session: SparkSession, target: str, source: str, keys: Sequence[str], alias: str
) -> str | None:
    """Return a condition that all rows of `target` with a key of `source` fulfil, and few others.

    None if it would be of no use: the table is small, `source` has too many keys, or equal keys may
    have different hashes. `target`: the name of an Iceberg table; `alias`: its name in the
    condition.

    `source` is queried for its keys now, and again by the merge. If a key is new the second time,
    the merge would not find its row, and would insert another one.
    """
    if _count_rows(session, target) < _FEWEST_ROWS:
        return None
    new_keys = session.table(source).select(*keys)
    if not _are_hashed_alike(new_keys, session.table(target).select(*keys)):
        return None
    hashes = HashSet.of(new_keys, keys)
    return None if hashes is None else hashes.may_hold([f"{alias}.{key}" for key in keys])


def _are_hashed_alike(new_keys: DataFrame, held_keys: DataFrame) -> bool:
    types = [field.dataType for field in new_keys.schema]
    return types == [field.dataType for field in held_keys.schema] and all(map(_is_hashed, types))


def _is_hashed(type_: DataType) -> bool:
    return isinstance(type_, _HASHED_TYPES) or type_ == StringType()


def _count_rows(session: SparkSession, table: str) -> int:
    snapshot = iceberg_table(session, table).currentSnapshot()
    return 0 if snapshot is None else int(snapshot.summary().get("total-records") or 0)
