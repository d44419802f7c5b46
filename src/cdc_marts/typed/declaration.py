"""The declarations of source tables and their typed marts in `vars: tables` of dbt_project.yml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from dbt_common.exceptions import CompilationError
from pyspark.sql import Column

from cdc_marts.identifying_columns import is_of_table
from cdc_marts.source_formats import SOURCE_FORMATS
from cdc_marts.typed.checksums import checksum
from cdc_marts.typed.types import CASTABLE_TYPES, castable_type


class DeclarationError(CompilationError):
    """A declaration is wrong; the message names the mart, the setting and what to do."""

    def __init__(self, mart: str, problem: str) -> None:
        super().__init__(f"Typed mart `{mart}`: {problem}.")


@dataclass(frozen=True)
class Declaration:
    """A typed mart: its source table, and the project's settings for its columns.

    `name`: of the mart. `key`: the key columns if messages name none. `renames`: source column ->
    name. `casts`: source column -> Spark type, or one of `DECODING_CASTS`. `partition_by`: columns
    or transforms, as Iceberg writes them.
    """

    name: str
    source_format: str
    table_id: str
    key: Sequence[str]
    renames: Mapping[str, str]
    casts: Mapping[str, str]
    partition_by: Sequence[str]

    @property
    def checksum(self) -> str:
        """A checksum that changes with every change of the declaration."""
        return checksum(asdict(self))

    @property
    def is_of_table(self) -> Column:
        """The condition that a row is of the table."""
        return is_of_table(self.source_format, self.table_id)


_SETTINGS = tuple(field.name for field in fields(Declaration) if field.name != "name")
#: Setting that maps columns -> the kind of its values.
_MAPPINGS = {"renames": "new name", "casts": "type"}
_LISTS = ("key", "partition_by")


def declaration(mart: str, tables: Mapping[str, Any] | None) -> Declaration:
    """Return the checked declaration of a mart. `tables`: the var of that name.

    Raise DeclarationError if the declaration is wrong.
    """
    settings = (tables or {}).get(mart)
    if mart not in (tables or {}):
        raise DeclarationError(
            mart,
            "it is not declared: add it to `vars: tables` of dbt_project.yml, or let"
            " `cdc-marts scaffold` do so",
        )
    if not isinstance(settings, Mapping):
        raise DeclarationError(
            mart,
            f"its declaration is {settings!r}: write `source_format` and `table_id` below its name",
        )
    _check_settings(mart, settings)
    _check_source_format(mart, settings["source_format"])
    return Declaration(
        name=mart,
        source_format=settings["source_format"],
        table_id=str(settings["table_id"]),
        key=list(map(str, settings.get("key") or ())),
        renames={
            str(column): str(name) for column, name in (settings.get("renames") or {}).items()
        },
        casts=_casts(mart, settings.get("casts") or {}),
        partition_by=list(map(str, settings.get("partition_by") or ())),
    )


def check_declarations(tables: Mapping[str, Any] | None) -> None:
    """Check all declarations, also of tables without a mart.

    A table must have one key in all of them.

    Raise DeclarationError if one is wrong.
    """
    by_table: dict[tuple[str, str], Declaration] = {}
    for mart in tables or {}:
        declared = declaration(mart, tables)
        table = (declared.source_format, declared.table_id)
        other = by_table.setdefault(table, declared)
        if other.key != declared.key:
            raise DeclarationError(
                mart,
                f"its `key` is {declared.key}, that of `{other.name}` is {other.key}, and both are"
                f" of {declared.table_id} in {declared.source_format}: give them the same",
            )


def _check_settings(mart: str, settings: Mapping[str, Any]) -> None:
    for setting in settings:
        if setting not in _SETTINGS:
            raise DeclarationError(
                mart, f"there is no option `{setting}`: there are {', '.join(_SETTINGS)}"
            )
    for setting in ("source_format", "table_id"):
        if not settings.get(setting):
            raise DeclarationError(
                mart, f"it lacks `{setting}`: `marts.source_tables` has that of each table"
            )
    for setting, value in _MAPPINGS.items():
        if settings.get(setting) and not isinstance(settings[setting], Mapping):
            raise DeclarationError(
                mart,
                f"`{setting}` must be a mapping, not {settings[setting]!r}:"
                f" write {{column: {value}}}",
            )
    for setting in _LISTS:
        if settings.get(setting) and not isinstance(settings[setting], list | tuple):
            raise DeclarationError(
                mart, f"`{setting}` must be a list, not {settings[setting]!r}: write [column, …]"
            )


def _check_source_format(mart: str, source_format: Any) -> None:
    if source_format not in SOURCE_FORMATS:
        raise DeclarationError(
            mart, f"there is no format `{source_format}`: there are {', '.join(SOURCE_FORMATS)}"
        )


def _casts(mart: str, casts: Mapping[str, Any]) -> dict[str, str]:
    spark_types = {}
    for column, type_ in casts.items():
        spark_type = castable_type(type_)
        if spark_type is None:
            raise DeclarationError(
                mart,
                f"`{column}` can't be cast to `{type_}`: a cast can have the types"
                f" {CASTABLE_TYPES}",
            )
        spark_types[str(column)] = spark_type
    return spark_types
