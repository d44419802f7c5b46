"""The columns of a source table, as its schema versions list them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Row

from cdc_marts.typed.types import CodeTable, ColumnType


@dataclass(frozen=True)
class SchemaVersion:
    """The columns that messages listed: their names in order, and their types if these were named.

    `first_sequence`: the place in the log of the first event that has the version. `source_type`:
    the kind of database. `parameters`: column -> parameters of its Connect type, a JSON text.
    """

    schema_id: int
    first_sequence: Row
    source_type: str | None
    columns: Sequence[str]
    types: Mapping[str, str]
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class ListedColumn:
    """A column of a source table, with its type in each schema version that lists it."""

    name: str
    #: newest first
    types: Sequence[tuple[SchemaVersion, ColumnType]]
    is_current: bool
    #: the event that lost it last, a JSON text; None if it was never lost
    lost_at: str | None

    @property
    def named_types(self) -> list[tuple[SchemaVersion, ColumnType]]:
        """The types, without the versions that name no type of the column."""
        return [(version, type_) for version, type_ in self.types if type_.name]


def listed_columns(
    versions: Iterable[SchemaVersion],
    code_table: CodeTable,
    current: Iterable[str] | None,
    lost: Mapping[str, str],
) -> dict[str, ListedColumn]:
    """Return name -> column, of all schema versions. The versions come newest first.

    `current`: the columns that the table has now; None if it has all. `lost`: column -> the event
    that lost it last.
    """
    types: dict[str, list[tuple[SchemaVersion, ColumnType]]] = {}
    for version in versions:
        for name in version.columns:
            parameters = json.loads(version.parameters.get(name) or "{}")
            type_ = code_table.column_type(version.types.get(name) or "", parameters)
            types.setdefault(name, []).append((version, type_))
    current = types if current is None else set(current)
    return {
        name: ListedColumn(name, of_versions, name in current, lost.get(name))
        for name, of_versions in types.items()
    }


def unlisted_column(name: str) -> ListedColumn:
    """Return a column that rows have and no schema version lists."""
    return ListedColumn(name, types=(), is_current=True, lost_at=None)


def key_first(columns: Mapping[str, ListedColumn], key: Sequence[str]) -> dict[str, ListedColumn]:
    """Return the columns with the key columns first."""
    # The row key of a keyless table is its whole row.
    first = [name for name in key if name in columns] if len(key) < len(columns) else []
    return {name: columns[name] for name in (*first, *columns)}
