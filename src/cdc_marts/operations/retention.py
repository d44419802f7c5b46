"""Removal of old messages from landing, by the setting `retention`.

Staging keeps their content, and a table keeps their coordinates. So nothing changes in the marts,
and the ledger balances.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.spark_session.api import iceberg_table, view_query
from pyspark.sql import functions as F

from cdc_marts.checkpoints import checkpointed
from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.offset_blocks import (
    BLOCK_COLUMNS,
    blocks_of,
    is_in_block_sql,
    messages_in,
    outside_blocks,
    removed_of,
)
from cdc_marts.package_macros import package_macro
from cdc_marts.relations import OWN, Relations
from cdc_marts.source_formats import SOURCE_FORMATS
from cdc_marts.times import days_before, micros_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SETTING = "retention"
#: Property of a landing table: the least age, in days, of messages that were removed from it.
PROPERTY = package_macro("staging/check_removed_messages.sql", "retention_property")()
#: Its value while the first messages are removed.
_NONE_YET = "none yet"
_DELETE_MODE, _MERGE_ON_READ = "write.delete.mode", "merge-on-read"
#: Tables of older versions can't mark rows as deleted.
_FIRST_VERSION_WITH_DELETES = 2
_DAYS_OF = {"day": 1, "week": 7, "year": 365}


class RetentionError(ValueError):
    """The setting does not work; the message says why and what to write."""


@dataclass(frozen=True)
class Removal:
    """The messages of a format that may be removed from landing."""

    source_format: str
    landing: str
    staging: str
    #: the messages landed before this time
    before: dt.datetime
    days: int
    #: number of the messages
    messages: int
    #: whether messages of this age were never removed before
    is_first: bool
    #: the coordinates of the messages, as blocks
    blocks: DataFrame


def days_of(setting: Any) -> int | None:
    """Return how many days the setting `retention` keeps messages in landing; None for ever.

    Raise RetentionError if the setting is wrong.
    """
    if not setting:
        return None
    if not isinstance(setting, Mapping):
        raise _wrong(f"it is not a mapping ({setting!r})")
    if "staging" in setting:
        raise RetentionError(
            f"The setting `{SETTING}` can't name `staging`: change_events and row_history are views"
            " over the staging tables, and late messages, key changes and rebuilds need rows of any"
            " age. Only `landing` can be shortened."
        )
    if unknown := sorted(str(key) for key in setting if key != "landing"):
        raise _wrong(f"it has {', '.join(f'`{key}`' for key in unknown)}")
    span = setting["landing"]
    found = re.fullmatch(r"(\d{1,5}) (day|week|year)s?", str(span).strip())
    if found is None:
        raise _wrong(f"{span!r} is not a number of days, weeks or years")
    days = int(found[1]) * _DAYS_OF[found[2]]
    if days < 1:
        raise _wrong(f"{span!r} is less than a day")
    return days


def removals(
    session: SparkSession,
    days: int,
    now: dt.datetime,
    relations: Relations = OWN,
    *,
    only_first: bool = False,
) -> Iterator[Removal]:
    """Yield the messages to remove for each format that has any, and change nothing.

    To remove them, no run may begin until `remove` has ended. `only_first`: leave out formats from
    which messages of this age were removed before.
    """
    before = days_before(now, days)
    for source_format in SOURCE_FORMATS:
        landing, staging = relations.landed(source_format), relations.staging(source_format)
        if view_query(session, landing) is not None:
            continue
        if not all(map(session.catalog.tableExists, (landing, staging))):
            continue
        earlier = _least_age(session, landing)
        is_first = earlier is None or earlier > days
        if only_first and not is_first:
            continue
        removable = _removable(session, landing, staging, before)
        if removable.isEmpty():
            continue
        blocks = blocks_of(removable).transform(checkpointed)
        [(messages,)] = blocks.select(F.sum(F.bit_count("offset_bits"))).collect()
        yield Removal(source_format, landing, staging, before, days, messages, is_first, blocks)


def remove(session: SparkSession, removal: Removal, relations: Relations = OWN) -> None:
    """Note the coordinates of the messages, and delete the messages from landing.

    If the process is interrupted, another removal completes it. Until the messages are deleted, it
    is the first one of messages of this age.

    Raise RetentionError if the format version of the landing table can't mark rows as deleted.
    """
    landing = removal.landing
    _check_is_possible(session, removal, relations)
    removed = session.table(relations.removed_messages)
    known = removed_of(removed, removal.source_format)
    new = outside_blocks(messages_in(removal.blocks), known)
    noted = blocks_of(new).select(
        F.lit(removal.source_format).alias("source_format"),
        *BLOCK_COLUMNS,
        F.current_timestamp().alias("removed_at"),
    )
    noted.coalesce(1).writeTo(relations.removed_messages).append()
    earlier = _least_age(session, landing)
    # Incremental readers ignore deletes that mark rows. Staging has to keep rows from now on.
    now = _NONE_YET if earlier is None else str(earlier)
    _set_properties(session, landing, {_DELETE_MODE: _MERGE_ON_READ, PROPERTY: now})
    view = "cdc_marts_removed_blocks"
    removal.blocks.createOrReplaceTempView(view)
    try:
        session.sql(
            f"delete from {landing} as landed where landed_at < timestamp_micros("
            f"{micros_of(removal.before)}) and exists (select 1 from {view} as removed"
            f" where {is_in_block_sql('landed', 'removed')})"
        )
    finally:
        session.catalog.dropTempView(view)
    least = removal.days if earlier is None else min(removal.days, earlier)
    _set_properties(session, landing, {PROPERTY: str(least)})


def _removable(session: SparkSession, landing: str, staging: str, before: dt.datetime) -> DataFrame:
    """Return the coordinates of old messages that may be removed.

    Staging has read them, they are not quarantined, and they are not the newest of their partition.
    """
    landed = session.table(landing).select(*COORDINATES, "landed_at")
    is_old = F.col("landed_at") < F.timestamp_micros(F.lit(micros_of(before)))
    # All records of a message have its time. Files of rejected messages are not opened.
    read = session.table(staging).where((F.col("record_type") != "rejected") & is_old)
    newest = landed.groupBy("topic", "partition").agg(F.max("offset").alias("offset"))
    old = landed.where(is_old).select(*COORDINATES)
    staged = old.join(read.select(*COORDINATES), list(COORDINATES), "left_semi")
    return staged.join(F.broadcast(newest), list(COORDINATES), "left_anti")


def _check_is_possible(session: SparkSession, removal: Removal, relations: Relations) -> None:
    """Raise RetentionError if the tables can't note a removal, or mark rows as deleted."""
    if not session.catalog.tableExists(relations.removed_messages):
        raise RetentionError(f"There is no {relations.removed_messages} yet: run dbt first.")
    table = iceberg_table(session, removal.landing)
    if table.operations().current().formatVersion() < _FIRST_VERSION_WITH_DELETES:
        raise RetentionError(
            f"{removal.landing} is an Iceberg table of format version 1, from which no single rows"
            f" can be removed. Set its property `format-version` to 3, or remove `{SETTING}`."
        )


def _least_age(session: SparkSession, landing: str) -> int | None:
    """Return the least age, in days, at which messages were removed; None if none were."""
    noted = iceberg_table(session, landing).properties().get(PROPERTY)
    return None if noted in (None, _NONE_YET) else int(noted)


def _set_properties(session: SparkSession, landing: str, wanted: Mapping[str, str]) -> None:
    properties = iceberg_table(session, landing).properties()
    changed = {name: value for name, value in wanted.items() if properties.get(name) != value}
    if changed:
        written = ", ".join(f"'{name}' = '{value}'" for name, value in changed.items())
        session.sql(f"alter table {landing} set tblproperties ({written})")


def _wrong(problem: str) -> RetentionError:
    return RetentionError(
        f"The setting `{SETTING}` is wrong: {problem}. Write {{landing: 90 days}} in `vars` of"
        " dbt_project.yml (days, weeks or years, one day at least), or leave it empty."
    )
