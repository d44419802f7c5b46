"""The tables that `cdc-marts maintain` maintains, and how long their rows are kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cdc_marts.operations.retention import RetentionError, days_of
from cdc_marts.project.dbt_commands import manifest_of
from cdc_marts.project.inventory import BuiltTable, direct_readers, made_from, tables_in
from cdc_marts.project.target import ProjectError, Target
from cdc_marts.relations import PACKAGE, Relations, is_mart, staging_model
from cdc_marts.source_formats import SOURCE_FORMATS

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest
    from dbt.contracts.graph.nodes import ManifestNode


@dataclass(frozen=True)
class MaintenancePlan:
    """The tables of `cdc-marts maintain` and their settings, as dbt reads the project now."""

    #: as of `built_tables`
    tables: dict[str, BuiltTable]
    #: how many days messages stay in landing; None for ever
    landing_days: int | None
    #: format -> marts that are made from its messages, also in other projects
    marts: dict[str, list[str]]
    #: format -> tables that read its landing table, besides those of this package
    direct_readers: dict[str, list[str]]
    relations: Relations


def maintenance_plan(target: Target) -> MaintenancePlan:
    """Return the plan by the settings of the project. Raise ProjectError if a setting is wrong."""
    manifest = manifest_of(target)
    relations = Relations.of_manifest(manifest)
    settings = [
        source.meta["retention"]
        for source in manifest.sources.values()
        if source.package_name == PACKAGE and source.identifier == "removed_messages"
    ]
    try:
        (days,) = map(days_of, map(_setting, settings))
    except RetentionError as error:
        raise ProjectError(str(error)) from error
    marts = {source_format: _marts_of(manifest, source_format) for source_format in SOURCE_FORMATS}
    readers = {name: direct_readers(manifest, name) for name in SOURCE_FORMATS}
    return MaintenancePlan(tables_in(manifest), days, marts, readers, relations)


def _marts_of(manifest: Manifest, source_format: str) -> list[str]:
    """Return the marts of a format, without typed marts of other formats and their descendants."""

    def has_the_format(node: ManifestNode) -> bool:
        of_typed_mart = node.config.meta.get(PACKAGE, {}).get("source_format")
        return of_typed_mart in (None, source_format)

    staging = f"model.{PACKAGE}.{staging_model(source_format)}"
    return [
        f"{node.schema}.{node.alias}"
        for node in made_from(manifest, [staging], has_the_format)
        if is_mart(node)
        if node.config.materialized != "ephemeral"
    ]


def _setting(rendered: Any) -> Any:
    """Return a var as `meta` has it.

    dbt renders it as JSON text, and reads some of that as a value.
    """
    if not isinstance(rendered, str):
        return rendered
    try:
        return json.loads(rendered)
    except ValueError:
        return rendered
