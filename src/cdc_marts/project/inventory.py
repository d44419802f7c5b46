"""The tables that a project builds on a target, as dbt reads the project now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdc_marts.project.dbt_commands import manifest_of
from cdc_marts.project.target import PROJECT_FILE, ProjectError, Target, member
from cdc_marts.relations import LANDING_SCHEMA, OWN, PACKAGE, Relations, layer_of

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest
    from dbt.contracts.graph.nodes import ManifestNode


def relations_of(target: Target) -> Relations:
    """Return the names that the package's models and sources have on `target`.

    In the package's own project, these are the default names, so dbt need not read it, unless a
    setting names another schema for landing.
    """
    settings = target.root / PROJECT_FILE
    if member(settings, "name") == PACKAGE and not _names_landing_schema(settings):
        return OWN
    return Relations.of_manifest(manifest_of(target))


def _names_landing_schema(settings: Path) -> bool:
    """Return whether the setting is there, for all packages or for this one."""
    members = (("vars", LANDING_SCHEMA), ("vars", PACKAGE, LANDING_SCHEMA))
    return any(member(settings, *names) for names in members)


@dataclass(frozen=True)
class Expiry:
    """How long the rows of a table are kept."""

    days: int
    #: the column with their times
    column: str


@dataclass(frozen=True)
class BuiltTable:
    """A table that the project builds."""

    #: as of `layer_of`
    layer: str
    #: None if its rows are kept for ever
    expiry: Expiry | None = None


@dataclass(frozen=True)
class Inventory:
    """The tables of a target, as dbt reads the project now."""

    #: as of `built_tables`
    tables: dict[str, BuiltTable]
    relations: Relations


def inventory_of(target: Target) -> Inventory:
    """Return the tables of the project on `target`, and the names of the package's models."""
    manifest = manifest_of(target)
    return Inventory(tables_in(manifest), Relations.of_manifest(manifest))


def built_tables(target: Target) -> dict[str, BuiltTable]:
    """Return the tables of the project on `target`, by name, as `tables_in` does."""
    return tables_in(manifest_of(target))


def tables_in(manifest: Manifest) -> dict[str, BuiltTable]:
    """Return table name -> table, of all tables that the project fills.

    They are seeds, snapshots, models that are not views, and the package's sources. Sources of
    other packages belong to somebody else. Readers come before what they read, by their schemas.
    """
    relations = Relations.of_manifest(manifest)
    nodes = [
        node
        for node in manifest.nodes.values()
        if node.resource_type in ("model", "seed", "snapshot")
        and node.config.materialized not in ("view", "ephemeral")
    ]
    landing = [source for source in manifest.sources.values() if source.package_name == PACKAGE]
    tables = {
        **{f"{node.schema}.{node.alias}": BuiltTable(layer_of(node)) for node in nodes},
        **{
            f"{source.schema}.{source.identifier}": BuiltTable(
                layer_of(source), _expiry(source.meta)
            )
            for source in landing
        },
    }
    rank = {schema: number for number, schema in enumerate(relations.schemas)}
    in_order = sorted(tables, key=lambda name: rank.get(name.partition(".")[0], -1))
    return {name: tables[name] for name in in_order}


@dataclass(frozen=True)
class Descendants:
    """A model, and the tables that the project makes from it."""

    #: tables that `dbt run --full-refresh` rebuilds
    tables: list[str]
    #: the other tables: snapshots, and models with `full_refresh: false`
    kept: list[str]


def descendants(target: Target, model: str) -> Descendants:
    """Return what is made from `model`, a model of the package, as dbt reads the project now."""
    from dbt.artifacts.resources.types import NodeType

    made = Descendants([], [])
    for node in made_from(manifest_of(target), model):
        if node.config.materialized in ("view", "ephemeral"):
            continue
        is_rebuilt = getattr(node.config, "full_refresh", None) is not False
        is_kept = node.resource_type == NodeType.Snapshot or not is_rebuilt
        (made.kept if is_kept else made.tables).append(f"{node.schema}.{node.alias}")
    return made


def made_from(
    manifest: Manifest, model: str, is_wanted: Callable[[ManifestNode], bool] = lambda _: True
) -> list[ManifestNode]:
    """Return a model of the package, and the wanted models and snapshots that are made from it."""
    found, last = {f"model.{PACKAGE}.{model}"}, 0
    while len(found) > last:
        last = len(found)
        found |= {
            name
            for name, node in manifest.nodes.items()
            if node.resource_type in ("model", "snapshot")
            and found & set(node.depends_on_nodes)
            and is_wanted(node)
        }
    return [manifest.nodes[name] for name in sorted(found)]


def _expiry(meta: Mapping[str, Any]) -> Expiry | None:
    """Return the expiry that the `meta` of a source declares as `keep_days` and `keep_by`."""
    days = meta.get("keep_days")
    if days is None:
        return None
    if not str(days).isdigit():
        raise ProjectError(
            f"The setting `run_history_days` needs a number of days, not {days!r}: correct it in"
            f" `vars` of {PROJECT_FILE}."
        )
    return Expiry(int(days), meta["keep_by"])
