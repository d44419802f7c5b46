"""What one run of a model reads of its inputs, and commits with its rows.

A consumer may read A, and B, which was made from A and may be behind A: after a kill, or a run of
selected models. Then it reads A only up to what B had read. Otherwise, it would count rows of A as
read whose effects on B it never saw.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dbt.adapters.spark_session.catalog import Metadata
from dbt.adapters.spark_session.increments import (
    NO_SNAPSHOT,
    SAMPLE,
    SNAPSHOT_PROPERTY,
    WATERMARK,
    appended_rows,
    appends_after,
    brings_rows,
    check_for_moves,
    no_rows,
    rebuilt_error,
    watermark_of,
    watermarks_of,
)
from dbt.adapters.spark_session.replacements import new_branch
from dbt.adapters.spark_session.selections import Source, looked_up_by, replaced, sources_of
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

#: Columns that `*` does not include, but a view may name: the lineage of rows.
_HIDDEN_COLUMNS = ("_row_id", "_last_updated_sequence_number")


class NothingNew(Exception):
    """No input has rows that the consumer has not read."""


@dataclass(frozen=True)
class Changes:
    """The changes of a table that is merged into or rebuilt, since a consumer read it.

    Both are table expressions. `rows_before`: the rows that it had then; none if the consumer had
    never read it. `changed_rows`: rows of it now that were added or updated since.
    """

    rows_before: str
    changed_rows: str

    @staticmethod
    def unknown(rows: str) -> Changes:
        """Return the changes for --empty or --sample, whose rows are neither older nor newer."""
        return Changes(rows, rows)


@dataclass(frozen=True)
class Input:
    """An incremental model that a model reads, directly or through views.

    `name`: `schema.table`. `views`: for each view that it reads directly, the incremental models
    that the view may read. A view may leave them out of its query as long as they have no rows.
    """

    name: str
    views: Mapping[str, frozenset[str]] = field(default_factory=dict)


def _none() -> Collection[Input]:
    return ()


@dataclass
class IncrementalRead:
    """One run of a model: the ranges that it reads of its inputs, and what it commits.

    A range ends at the same snapshot however often the run asks for it, so rows that land during
    the run are left to the next one. Names are `schema.table`. The methods return table
    expressions, for the `from` of a query.

    `table`: the model's table. `is_incremental`: false if it is rebuilt and reads everything.
    `find_inputs`: returns the incremental models that it reads, directly or through views. It reads
    no further than these have read.
    """

    session: SparkSession
    table: str
    is_incremental: bool
    find_inputs: Callable[[], Collection[Input]] = _none

    #: input -> the snapshot up to which this run reads it; committed with its rows
    watermarks: dict[str, int] = field(default_factory=dict, init=False)
    has_new_rows: bool = field(default=False, init=False)
    #: of an input that the model reads by increments, dbt gives it other rows (--empty, --sample, a
    #: microbatch)
    has_given_rows: bool = field(default=False, init=False)
    #: the model asked for a rebuild, although its table exists
    is_rebuild: bool = field(default=False, init=False)
    #: condition of the table's own rows that the rows of this run replace
    replaced_rows: str | None = field(default=None, init=False)
    #: branch of the table on which it does so
    branch: str = field(default_factory=new_branch, init=False)
    #: properties that the table gets if this run creates it
    table_properties: dict[str, str] = field(default_factory=dict, init=False)
    #: partitions of the table if this run creates it; None: as in the config
    partitions: list[str] | None = field(default=None, init=False)
    _ends: dict[str, int] = field(default_factory=dict, init=False)
    #: of its inputs and of its table, until the commit
    _metadata: Metadata = field(init=False)

    def __post_init__(self) -> None:
        self._metadata = Metadata(self.session)

    # What the run reads

    def new_rows(self, source: str, columns: str = "*") -> str:
        """Return the rows of a table or view that the model has not read.

        A view is replaced by its text over the new rows of the tables that it selects from. The
        tables that it joins are read whole, without a watermark; Spark leaves out models without
        rows. `columns`: of the tables that are read.
        """
        return self._over_tables(source, self._new_rows_of_table, columns)

    def rows_so_far(self, source: str) -> str:
        """Return the rows of a table or view that the model has read when this run ends.

        These are the rows of earlier runs and the new ones. Further rows of `source` come as new
        rows in a later run.
        """
        return self._over_tables(source, self._rows_so_far_of_table, "*")

    def changes(self, source: str) -> Changes:
        """Return the changes of the table `source` since the model read it.

        For tables whose new rows `new_rows` can't distinguish from others. The table must have row
        lineage (format version 3). Rows that only moved to another file have not changed.
        """
        newest = self._metadata.newest_snapshot(source)
        self.watermarks[source] = NO_SNAPSHOT if newest is None else newest.id
        nothing = no_rows(source, "*")
        if newest is None:
            return Changes(nothing, nothing)
        watermark = self._watermark(source)
        if watermark == newest.id:
            return Changes(f"(select * from {source} version as of {watermark})", nothing)
        self.has_new_rows = True
        if watermark is None:
            return Changes(nothing, f"(select * from {source} version as of {newest.id})")
        read = next(self._metadata.snapshots(source, watermark), None)
        if read is None:
            raise rebuilt_error(source, self.table)
        return Changes(
            f"(select * from {source} version as of {watermark})",
            f"(select * from {source} version as of {newest.id}"
            f" where _last_updated_sequence_number > {read.sequence_number})",
        )

    def take_given_rows(self) -> None:
        """Let the model read the rows of an input that dbt gives it, without a watermark."""
        self.has_given_rows = True

    @property
    def has_nothing_new(self) -> bool:
        """Whether the run has nothing to write: it reads new rows or changes, and has none.

        A model that reads only `rows_so_far` always writes: it keeps no watermark.
        """
        reads_increments = bool(self.watermarks)
        return reads_increments and not self.has_new_rows and self.replaced_rows is None

    # What the run writes

    def replace(self, rows: str) -> None:
        """Replace the table's rows that fulfil `rows` by the rows of this run."""
        self.replaced_rows = rows

    def rebuild(self) -> None:
        """Rebuild the table: the query, as compiled, returns all of its rows."""
        self.is_rebuild = True

    def keep_property(self, name: str, value: str) -> None:
        """Make the table keep a property, if this run creates it."""
        self.table_properties[name] = value

    def partition_by(self, partitions: Iterable[str]) -> None:
        """Partition the table by these instead of `partition_by`, if this run creates it."""
        self.partitions = list(partitions)

    def begin_commit(self) -> None:
        """Make the next write of the session commit the watermarks with its rows.

        Raise DbtRuntimeError if an input is in another schema than before (`check_for_moves`).
        """
        if self.watermarks and self.is_incremental and not self.is_rebuild:
            check_for_moves(self._metadata, self.table, self.watermarks.keys() | self._ends.keys())
        self._metadata = Metadata(self.session)
        for name, value in self._snapshot_properties().items():
            self.session.conf.set(name, value)

    def end_commit(self) -> None:
        """Keep later writes free of the watermarks."""
        for name in self._snapshot_properties():
            self.session.conf.unset(name)

    def _snapshot_properties(self) -> dict[str, str]:
        properties = {
            f"{WATERMARK}{source}": str(snapshot) for source, snapshot in self.watermarks.items()
        }
        if self.has_given_rows:
            properties[SAMPLE] = "true"
        return {f"{SNAPSHOT_PROPERTY}{name}": value for name, value in properties.items()}

    # Ranges

    @cached_property
    def _inputs(self) -> Collection[Input]:
        return self.find_inputs()

    def _watermark(self, source: str) -> int | None:
        """Return the snapshot of `source` up to which earlier runs have read."""
        return watermark_of(self._metadata, self.table, source) if self.is_incremental else None

    def _over_tables(self, source: str, of_table: Callable[[str, str], str], columns: str) -> str:
        """Return `of_table` of a table, or the text of a view with `of_table` of its sources."""
        if not self._metadata.is_of_iceberg:
            raise DbtRuntimeError(
                f"The new rows of {source} are not known: its catalog is not Iceberg's, whose"
                " tables know which rows were appended. Read all of its rows, by `ref` alone."
            )
        query = self._metadata.view_query(source)
        if query is None:
            return of_table(source, columns)
        columns = ", ".join(("*", *(name for name in _HIDDEN_COLUMNS if name in query)))
        rows = {
            found: self._over_tables(found.name, of_table, columns)
            for found in _sources_of_view(source, query)
        }
        nothing = {
            found: no_rows(found.name, "*")
            for found in looked_up_by(query)
            if self._is_empty_input(found.name)
        }
        return f"({replaced(query, rows | nothing)})"

    def _is_empty_input(self, name: str) -> bool:
        """Return whether `name` is an input without rows, which gets none during the run."""
        is_input = any(name == other.name for other in self._inputs)
        return is_input and not self._metadata.has_rows(name)

    def _new_rows_of_table(self, name: str, columns: str) -> str:
        end = self.watermarks[name] = self._end(name)
        if end == NO_SNAPSHOT:
            return no_rows(name, columns)
        start = self._watermark(name)
        if start is not None and not appends_after(self._metadata, name, start, end, self.table):
            return no_rows(name, columns)
        self.has_new_rows = True
        return appended_rows(self._metadata, name, columns, start, end)

    def _rows_so_far_of_table(self, name: str, columns: str) -> str:
        return appended_rows(self._metadata, name, columns, None, self._end(name))

    def _end(self, name: str) -> int:
        """Return the snapshot up to which this run reads `name`.

        It is the newest snapshot that all other inputs made from `name` have read. What the model
        has read before stays read.
        """
        if name not in self._ends:
            read_by = {}
            for other in self._inputs:
                if other.name != name and self._is_made_from(other, name):
                    read = watermarks_of(self._metadata, other.name, self._end(other.name))
                    read_by[other.name] = read.get(name, NO_SNAPSHOT)
            self._ends[name] = self._newest_read_by_all(name, read_by)
        return self._ends[name]

    def _is_made_from(self, other: Input, name: str) -> bool:
        """Return whether an input reads the new rows of `name`.

        This is also true if the input has not run since `name` got its first rows, which a view did
        not show before.
        """
        watermarks = watermarks_of(self._metadata, other.name)
        return name in watermarks or any(
            name in tables
            and not tables.isdisjoint(watermarks)
            and name in self._tables_selected_by(view)
            for view, tables in other.views.items()
        )

    def _tables_selected_by(self, view: str) -> set[str]:
        """Return the tables whose new rows are a view's new rows; none if it joins or groups."""
        query = self._metadata.view_query(view)
        try:
            return set() if query is None else {found.name for found in sources_of(query)}
        except DbtRuntimeError:
            return set()

    def _newest_read_by_all(self, name: str, read_by: Mapping[str, int]) -> int:
        """Return the newest snapshot of the table that all these inputs have read.

        `read_by`: input made from the table -> snapshot of the table up to which it had read.
        Snapshots without new rows count as read: a model whose inputs have no new rows commits
        nothing.
        """
        newest = self._metadata.newest_snapshot(name)
        watermark = self._watermark(name)
        behind = set(read_by.values())
        if newest is None or NO_SNAPSHOT in behind:
            return watermark or NO_SNAPSHOT
        end = None
        for snapshot in self._metadata.snapshots(name):
            end = snapshot.id if end is None else end
            behind.discard(snapshot.id)
            if not behind or snapshot.id == watermark:
                return end
            if brings_rows(snapshot):
                end = None
        reader = next(other for other, read in read_by.items() if read in behind)
        raise rebuilt_error(name, reader)


def _sources_of_view(name: str, query: str) -> tuple[Source, ...]:
    try:
        return sources_of(query)
    except DbtRuntimeError as error:
        raise DbtRuntimeError(f"{name}: {error.msg}") from error
