"""The tables that a project builds on a target, as dbt reads the project now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdc_marts.project.dbt_commands import manifest_of
from cdc_marts.project.target import PROJECT_FILE, ProjectError, Target, member
from cdc_marts.relations import LANDING_SCHEMA, LANDING_SOURCE, OWN, PACKAGE, Relations, layer_of

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
    """What the project makes from the landed messages of a format."""

    #: tables that `dbt run --full-refresh` rebuilds
    tables: list[str]
    #: the other tables: snapshots, and models with `full_refresh: false`
    kept: list[str]
    #: arguments of `--select`, which select all of them
    selectors: list[str]


def descendants(target: Target, source_format: str) -> Descendants:
    """Return what is made from the messages of a format, as dbt reads the project now."""
    from dbt.artifacts.resources.types import NodeType

    manifest = manifest_of(target)
    landing = _landing_of(manifest, source_format)
    made = Descendants([], [], [f"source:{name.removeprefix('source.')}+" for name in landing])
    for node in made_from(manifest, landing):
        if _is_view(node):
            continue
        is_rebuilt = getattr(node.config, "full_refresh", None) is not False
        is_kept = node.resource_type == NodeType.Snapshot or not is_rebuilt
        (made.kept if is_kept else made.tables).append(f"{node.schema}.{node.alias}")
    return made


def direct_readers(manifest: Manifest, source_format: str) -> list[str]:
    """Return the tables that read the landing table of a format, or a view of it.

    Tables that know which messages were removed from landing are left out.
    """
    removed = f"source.{PACKAGE}.{LANDING_SOURCE}.removed_messages"

    def is_view(node: ManifestNode) -> bool:
        return _is_view(node) and removed not in node.depends_on_nodes

    landing = _landing_of(manifest, source_format)
    read = {*landing, *(view.unique_id for view in made_from(manifest, landing, is_view))}
    return [
        f"{node.schema}.{node.alias}"
        for node in _models_and_snapshots(manifest)
        if read & set(node.depends_on_nodes)
        if removed not in node.depends_on_nodes and not _is_view(node)
    ]


def made_from(
    manifest: Manifest,
    origins: Iterable[str],
    is_wanted: Callable[[ManifestNode], bool] = lambda _: True,
) -> list[ManifestNode]:
    """Return the wanted models and snapshots that are made from these nodes, named by their ids."""
    origins = set(origins)
    found, last = set(origins), 0
    while len(found) > last:
        last = len(found)
        found |= {
            node.unique_id
            for node in _models_and_snapshots(manifest)
            if found & set(node.depends_on_nodes) and is_wanted(node)
        }
    return [manifest.nodes[name] for name in sorted(found - origins)]


def _models_and_snapshots(manifest: Manifest) -> Iterator[ManifestNode]:
    for node in manifest.nodes.values():
        if node.resource_type in ("model", "snapshot"):
            yield node


def _is_view(node: ManifestNode) -> bool:
    return node.config.materialized in ("view", "ephemeral")


def _landing_of(manifest: Manifest, source_format: str) -> list[str]:
    """Return the ids of all sources that are the landing table of a format."""
    landing = Relations.of_manifest(manifest).landed(source_format)
    return [
        name
        for name, source in manifest.sources.items()
        if f"{source.schema}.{source.identifier}" == landing
    ]


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
