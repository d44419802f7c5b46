"""The source table whose rows are erased, and its messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dbt.adapters.spark_session.api import view_query
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructType

from cdc_marts.identifying_columns import is_of_table
from cdc_marts.local_rows import local_rows
from cdc_marts.offset_blocks import in_blocks, removed_of
from cdc_marts.parsing.ops import ROW_RECORDS
from cdc_marts.relations import OWN, Relations, with_all_made_from

#: The columns that identify a message, as `COORDINATES` names them.
COORDINATES_SCHEMA = (
    StructType()
    .add("topic", StringType())
    .add("partition", IntegerType())
    .add("offset", LongType())
)

#: Topic, partition and offset of a message.
Coordinates = tuple[str, int, int]


class ErasureError(Exception):
    """The erasure is not possible; the message says why and what to do."""


class Content(NamedTuple):
    """The value and the key of a message."""

    value: bytes | None = None
    key: bytes | None = None


class MessageRows(NamedTuple):
    """Rows of a message."""

    topic: str
    partition: int
    offset: int
    #: the indexes of the rows; empty for all rows
    rows: tuple[int, ...] = ()

    @property
    def coordinates(self) -> Coordinates:
        return (self.topic, self.partition, self.offset)


@dataclass(frozen=True)
class ErasedTable:
    """A source table on a target, of which rows are erased."""

    session: SparkSession
    source_format: str
    table_id: str
    relations: Relations = OWN

    @property
    def landing(self) -> str:
        return self.relations.landed(self.source_format)

    @property
    def staging(self) -> str:
        return self.relations.staging(self.source_format)

    def check_is_built(self) -> None:
        """Raise ErasureError if no run has read messages, or if they are not in a table."""
        if not self.session.catalog.tableExists(self.staging):
            raise ErasureError(f"There is no {self.staging} yet: run dbt first.")
        if view_query(self.session, self.landing) is not None:
            raise ErasureError(
                f"{self.landing} is a view: erase the messages in the table behind it. Then rebuild"
                f" what was made from them (dbt run --full-refresh --select"
                f" {with_all_made_from(self.source_format)}), and expire older snapshots (cdc-marts"
                " maintain --keep-days 0)."
            )

    def messages(self) -> DataFrame:
        """Return the landed messages of the format, as its staging model reads them."""
        return self.session.table(self.relations.model(f"base_{self.source_format}"))

    def removed_among(self, messages: DataFrame) -> DataFrame:
        """Return those of the messages that were removed from landing."""
        if not self.session.catalog.tableExists(self.relations.removed_messages):
            return messages.where("false")
        removed = self.session.table(self.relations.removed_messages)
        return in_blocks(messages, removed_of(removed, self.source_format))

    def records(self) -> DataFrame:
        """Return the staging rows that name a row of the table."""
        staged = self.session.table(self.staging).where(F.col("record_type").isin(*ROW_RECORDS))
        return staged.where(is_of_table(self.source_format, self.table_id))

    def rows_of(self, model: str) -> DataFrame:
        """Return the rows of a model that belong to the table."""
        rows = self.session.table(self.relations.model(model))
        return rows.where(is_of_table(self.source_format, self.table_id))

    def events(self) -> DataFrame:
        """Return the change events of the table."""
        return self.rows_of("change_events")


def coordinates_frame(session: SparkSession, messages: Iterable[Coordinates]) -> DataFrame:
    """Return the coordinates of messages as a small DataFrame."""
    return F.broadcast(local_rows(session, messages, COORDINATES_SCHEMA))
