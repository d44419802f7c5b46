"""The columns that source tables lost: what statements, complete lists and new spellings show.

A table has few schema versions and few statements, and each is compared with all others of its
table. So they are collected and compared in Python: Spark would need more time to plan such a query
than to run it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pyspark.sql import DataFrame, Row
from pyspark.sql.types import BooleanType, StringType, StructType

from cdc_marts.fold.rules import is_of_format_that
from cdc_marts.fold.schema_versions import SEQUENCES
from cdc_marts.fold.sequences import Order, order_of
from cdc_marts.identifying_columns import TABLE
from cdc_marts.local_rows import local_rows
from cdc_marts.source_formats import has_trait

#: Systems in which no two columns of a table have names that differ only in letter case.
_IGNORING_LETTER_CASE = frozenset({"mysql", "mariadb", "drds"})


def lost_columns(versions: DataFrame, drops: DataFrame) -> DataFrame:
    """Return the columns that tables lost, with the place in the log that shows it.

    `versions`: the model `int_table_schemas`; versions of formats with sparse rows are ignored,
    because they show no columns. `drops`: the model `int_column_drops`.

    The result has source_format, table_id, column_name, sequence, is_dropped_by_statement. Of each
    schema version, only the first and the last event are known, of all and of those with a complete
    list.
    """
    tables: defaultdict[tuple[str, str], _TableVersions] = defaultdict(_TableVersions)
    shown = versions.where(~is_of_format_that("has_sparse_rows")).select(
        *TABLE, "source_type", "column_names", *SEQUENCES
    )
    for row in shown.collect():
        tables[row.source_format, row.table_id].versions.append(_Version.of(row))
    for row in drops.select(*TABLE, "change", "column_name", "sequence").collect():
        tables[row.source_format, row.table_id].statements.append(
            _Drop(row.change, row.column_name, row.sequence)
        )
    schema = (
        StructType()
        .add("source_format", StringType())
        .add("table_id", StringType())
        .add("column_name", StringType())
        .add("sequence", drops.schema["sequence"].dataType)
        .add("is_dropped_by_statement", BooleanType())
    )
    lost = [
        (source_format, table_id, name, sequence.asDict(), is_dropped)
        for (source_format, table_id), table in tables.items()
        for name, sequence, is_dropped in table.lost_columns(
            has_trait(source_format, "inserts_leave_out_columns")
        )
    ]
    return local_rows(versions.sparkSession, lost, schema)


def _before_the_rows(sequence: Row) -> Row:
    """Return the place before all rows of a message."""
    return Row(**{**sequence.asDict(), "row_index": None})


@dataclass(frozen=True)
class _Version:
    """A schema version: the columns that it lists, and its first and last place in the log."""

    column_names: frozenset[str]
    #: whether the columns are known
    is_list: bool
    first: Order
    last: Order
    #: the sequences of the first and the last event
    first_and_last: tuple[Row, Row]
    #: the sequences of the first and the last event that list all columns of the table
    whole: Sequence[Row]
    #: whether the source is a system in which the letter case of names does not count
    ignores_letter_case: bool

    @classmethod
    def of(cls, row: Row) -> _Version:
        whole = {
            order_of(sequence): sequence
            for sequence in (row.first_whole_sequence, row.last_whole_sequence)
            if sequence is not None
        }
        return cls(
            frozenset(row.column_names or ()),
            row.column_names is not None,
            order_of(row.first_sequence),
            order_of(row.last_sequence),
            (row.first_sequence, row.last_sequence),
            tuple(whole.values()),
            row.source_type in _IGNORING_LETTER_CASE,
        )

    @cached_property
    def letters(self) -> frozenset[str]:
        """The names in lower case."""
        return frozenset(name.lower() for name in self.column_names)

    def lacks(self, column: str) -> bool:
        return self.is_list and column not in self.column_names

    @property
    def last_narrow(self) -> Order | None:
        """The last update or delete of this version that is known to precede its complete lists.

        None if a complete list came first. There may be unknown events between the first and the
        last event of a version.
        """
        if not self.whole:
            return self.last
        return self.first if self.first < order_of(self.whole[0]) else None


class _Drop(NamedTuple):
    """A statement that drops columns of a table."""

    #: `table_drop`: all columns. `unnamed_column_drop`: a column that the statement does not name.
    #: `column_respelling`: the column that had another spelling than `named`.
    change: str
    named: str | None
    sequence: Row

    @property
    def is_respelling(self) -> bool:
        return self.change == "column_respelling"

    @property
    def names_columns(self) -> bool:
        return self.change != "unnamed_column_drop"


@dataclass
class _TableVersions:
    """A table: its schema versions, and the statements that dropped its columns."""

    versions: list[_Version] = field(default_factory=list)
    statements: list[_Drop] = field(default_factory=list)

    def lost_columns(self, inserts_leave_out_columns: bool) -> Iterator[tuple[str, Row, bool]]:
        """Yield (column, sequence, whether a statement dropped it)."""
        for (column, _), sequence in self.drops.items():
            yield column, sequence, True
        lost = self._left_out(inserts_leave_out_columns) | self._spelt_anew()
        for (column, _), sequence in lost.items():
            yield column, sequence, False

    def _left_out(self, inserts_leave_out_columns: bool) -> dict[tuple[str, Order], Row]:
        """Return the sequences of complete lists without a column, by column and order."""
        left_out: dict[tuple[str, Order], Row] = {}
        # If images are partial, a list that is meant to be complete may not be.
        are_whole = not (inserts_leave_out_columns and self.has_partial_images())
        for version in self.versions:
            for sequence in version.whole:
                at = order_of(sequence)
                for column, first in self.first_seen.items():
                    if (
                        first < at
                        and version.lacks(column)
                        and (are_whole or self._may_be_dropped(column, at))
                    ):
                        left_out[column, at] = sequence
        return left_out

    def _spelt_anew(self) -> dict[tuple[str, Order], Row]:
        """Return the places before events that list a column in another letter case.

        They are by column and order. The event itself lacks nothing: the column has another name.
        No statement needs to say so: MySQL's MODIFY may name a column in another letter case, and
        the column has this name then.
        """
        spelt_anew: dict[tuple[str, Order], Row] = {}
        for version in self.versions:
            first, last = map(_before_the_rows, version.first_and_last)
            for column, seen in self.first_seen.items():
                if not self._respells(version, column):
                    continue
                if seen < version.first:
                    spelt_anew[column, version.first] = first
                # The column may have had its earlier name again in between.
                if self._is_listed_between(column, version.first, version.last):
                    spelt_anew[column, version.last] = last
        return spelt_anew

    def _respells(self, version: _Version, column: str) -> bool:
        """Return whether a version lists a column in another letter case."""
        return (
            self.ignores_letter_case and version.lacks(column) and column.lower() in version.letters
        )

    @cached_property
    def ignores_letter_case(self) -> bool:
        """Whether two spellings are one column; not if any event lists both."""
        return all(
            version.ignores_letter_case and len(version.letters) == len(version.column_names)
            for version in self.versions
        )

    @cached_property
    def first_seen(self) -> dict[str, Order]:
        """Column -> the first event that lists it."""
        first: dict[str, Order] = {}
        for version in self.versions:
            for column in version.column_names:
                first[column] = min(first.get(column, version.first), version.first)
        return first

    def _may_be_dropped(self, column: str, at: Order) -> bool:
        """Return whether a drop before `at` that names no column may mean this one.

        Then the column was there before the drop, and no event behind it lists the column.
        """
        return any(
            self.first_seen[column] < order_of(drop.sequence) < at
            and not any(
                column in version.column_names and order_of(drop.sequence) < version.last
                for version in self.versions
            )
            for drop in self.statements
            if not drop.names_columns
        )

    @cached_property
    def drops(self) -> dict[tuple[str, Order], Row]:
        """The sequences of statements, by column and order."""
        drops: dict[tuple[str, Order], Row] = {}
        named = [drop for drop in self.statements if drop.names_columns]
        for drop in sorted(named, key=lambda drop: order_of(drop.sequence)):
            at = order_of(drop.sequence)
            for column in self._columns_of(drop, at, dict(drops.keys())):
                drops[column, at] = drop.sequence
        return drops

    def _columns_of(self, drop: _Drop, at: Order, last_drops: Mapping[str, Order]) -> list[str]:
        """Return the columns that a statement drops.

        If only one column has the letters of the name, it is that one, in any letter case. If none
        or several have them, it is the name as the statement writes it; a respelling then drops
        none. A column that the table got later, or had lost before, does not count.
        """
        there = [column for column, first in self.first_seen.items() if first < at]
        if drop.named is None:
            return there
        alike = [
            column
            for column in there
            if column.lower() == drop.named.lower()
            and not (drop.is_respelling and column == drop.named)
            and (
                column not in last_drops or self._is_listed_between(column, last_drops[column], at)
            )
        ]
        if len(alike) == 1:
            return alike
        return [] if drop.is_respelling else [drop.named]

    def _is_listed_between(self, column: str, start: Order, end: Order) -> bool:
        return any(
            column in version.column_names and start < version.last and version.first < end
            for version in self.versions
        )

    def has_partial_images(self) -> bool:
        """Return whether an update or a delete listed too few columns before an insert did so.

        Then inserts may leave out columns too.
        """
        return any(
            version.last_narrow is not None
            and first < version.last_narrow
            and version.lacks(column)
            and not self._respells(version, column)
            and not self._is_dropped_throughout(column, version.first, version.last_narrow)
            for version in self.versions
            for column, first in self.first_seen.items()
        )

    def _is_dropped_throughout(self, column: str, first: Order, last: Order) -> bool:
        """Return whether a column was dropped before `first`, and may still be gone at `last`."""
        for dropped, at in self.drops:
            if dropped != column or at >= first:
                continue
            back = [
                version.first
                for version in self.versions
                if column in version.column_names and at < version.last
            ]
            if not back or last < min(back):
                return True
        return False
