"""Checks whether a declaration fits the columns of its table."""

from __future__ import annotations

from collections.abc import Mapping

from cdc_marts.typed.columns import MART_COLUMNS, Warn
from cdc_marts.typed.declaration import Declaration
from cdc_marts.typed.listed_columns import ListedColumn


def check_columns(declared: Declaration, listed: Mapping[str, ListedColumn], warn: Warn) -> None:
    """Warn of renames and casts of columns that the table lacks, and of names that are given twice.

    This is no error: a message may bring new columns.
    """
    if not listed:
        return
    for setting, columns in (("renames", declared.renames), ("casts", declared.casts)):
        for column in columns:
            if column not in listed:
                warn(
                    f"Typed mart `{declared.name}`: `{setting}` names a column `{column}`, but"
                    f" {declared.table_id} has {', '.join(listed)}. Correct it in `vars: tables` of"
                    " dbt_project.yml."
                )
    taken = {column.lower() for column in listed if column not in declared.renames}
    taken.update(name.lower() for name in MART_COLUMNS)
    for column, name in declared.renames.items():
        if name.lower() in taken:
            warn(
                f"Typed mart `{declared.name}`: `{column}` of {declared.table_id} is renamed to"
                f" `{name}`, which is another column's name; one of them gets a number. Correct it"
                " in `vars: tables` of dbt_project.yml."
            )
        taken.add(name.lower())


def check_types(declared: Declaration, listed: Mapping[str, ListedColumn], warn: Warn) -> None:
    """Warn of columns whose type the messages should name, and do not."""
    untyped = [
        column.name
        for column in listed.values()
        if column.is_current and not column.named_types and column.name not in declared.casts
    ]
    if untyped:
        warn(
            f"Typed mart `{declared.name}`: the messages of {declared.table_id} name no type of"
            f" {', '.join(untyped)}; their values are kept as text. Casts in `vars: tables` of"
            " dbt_project.yml give them types."
        )
