"""What `cdc-marts maintain` sees to, by the settings of a project."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cdc_marts.formats import SOURCE_FORMATS
from cdc_marts.operations.retention import RetentionError, days_of
from cdc_marts.project.dbt_commands import manifest_of
from cdc_marts.project.inventory import BuiltTable, made_from, tables_in
from cdc_marts.project.target import ProjectError, Target
from cdc_marts.relations import PACKAGE, Relations, is_mart

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest
    from dbt.contracts.graph.nodes import ManifestNode


@dataclass(frozen=True)
class UpkeepPlan:
    """What `cdc-marts maintain` sees to, as dbt reads the project now."""

    #: as of `built_tables`
    tables: dict[str, BuiltTable]
    #: how many days messages stay in landing, None for ever
    landing_days: int | None
    #: format -> what is made from its messages: marts, and what other projects make from them
    marts: dict[str, list[str]]
    relations: Relations


def upkeep_plan(target: Target) -> UpkeepPlan:
    """What the settings say of upkeep; ProjectError where one of them is wrong."""
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
    return UpkeepPlan(tables_in(manifest), days, marts, relations)


def _marts_of(manifest: Manifest, source_format: str) -> list[str]:
    """Without typed marts of other formats, and what is made from these alone."""

    def has_the_format(node: ManifestNode) -> bool:
        of_typed_mart = node.config.meta.get(PACKAGE, {}).get("source_format")
        return of_typed_mart in (None, source_format)

    return [
        f"{node.schema}.{node.alias}"
        for node in made_from(manifest, f"stg_{source_format}", has_the_format)
        if is_mart(node)
        if node.config.materialized != "ephemeral"
    ]


def _setting(rendered: Any) -> Any:
    """A var as `meta` has it: dbt renders JSON text, and reads some of it as a value."""
    if not isinstance(rendered, str):
        return rendered
    try:
        return json.loads(rendered)
    except ValueError:
        return rendered
