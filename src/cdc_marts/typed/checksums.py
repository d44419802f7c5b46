"""Checksums: they show a run what has changed since it last built the mart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cdc_marts.typed.columns import Decoding, TypedColumn
    from cdc_marts.typed.listed_columns import ListedColumn


def checksum(value: Any) -> str:
    """Return a checksum of a value, as JSON with sorted names."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def checksum_of_losses(columns: Iterable[TypedColumn]) -> str:
    """Return a checksum of the last losses of the mart's columns.

    It changes if a table drops a column and later has it again.
    """
    return _checksum_of_rows(
        [column.source, column.lost_at] for column in columns if column.lost_at
    )


def checksum_of_absences(listed: Iterable[ListedColumn]) -> str:
    """Return a checksum of the columns that the table had and lacks now."""
    return _checksum_of_rows([column.name] for column in listed if not column.is_current)


def checksum_of_sources(columns: Iterable[TypedColumn]) -> str:
    """Return a checksum of the renamed columns and their source columns.

    It changes if a name of the mart comes to mean another column of the table: names are given anew
    in each run, so a new column may take the name that another one was renamed to. Columns that are
    named as in the table, as most new ones are, don't change it.
    """
    return _checksum_of_rows(
        [column.name, column.source] for column in columns if column.is_renamed
    )


def checksum_of_decodings(columns: Iterable[TypedColumn]) -> str:
    """Return a checksum of the places in the log at which columns came to be read otherwise.

    It changes if a row whose last event names no type may now be read by another type, such as
    after a late message of an earlier schema version. The mart's own types may stay the same.
    """
    return _checksum_of_rows(
        [column.source, *_texts_of(decoding)]
        for column in columns
        if sum(len(decoding.stretches) for decoding in column.decodings) > 1
        for decoding in column.decodings
        if decoding.stretches
    )


def _texts_of(decoding: Decoding) -> tuple[str, ...]:
    """Return the type and its parameters, and where the stretches of the decoding begin."""
    column_type = decoding.column_type.reading
    starts = [stretch.start for stretch in decoding.stretches]
    parameters = json.dumps(column_type.parameters, sort_keys=True)
    places = json.dumps(starts, default=str)
    return column_type.spark_type, column_type.name, parameters, places


def _checksum_of_rows(rows: Iterable[list[str]]) -> str:
    """Return a checksum of the rows, in any order.

    Empty for no rows, like the property of a table that lacks it.
    """
    in_order = sorted(rows)
    return checksum(in_order) if in_order else ""
