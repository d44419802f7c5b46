"""The names that the models and sources of the package have in the catalog of a target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cdc_marts.source_formats import SOURCE_FORMATS

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest
    from dbt.contracts.graph.nodes import ManifestNode, SourceDefinition

#: The name of the dbt package, and of its own project.
PACKAGE = "cdc_marts"
#: Selects the models of the package, and the models of a project that are made from them.
WITH_WHAT_FOLLOWS = f"package:{PACKAGE}+"
#: The dbt source whose tables hold the landed messages.
LANDING_SOURCE = "landing"
#: The setting that names the schema of these tables.
LANDING_SCHEMA = "landing_schema"

_STAGING = "staging"
_INTERMEDIATE = "intermediate"
_MARTS = "marts"
_SEEDS = "seeds"
#: The layers of the package's tables, in the direction of the data.
LAYERS = (LANDING_SOURCE, _STAGING, _INTERMEDIATE, _MARTS, "published", _SEEDS)
#: Prefix of a model's name -> its schema in the package's own project.
_SCHEMAS = {"base_": _STAGING, "stg_": _STAGING, "int_": _INTERMEDIATE}


def staging_model(source_format: str) -> str:
    """Return the name of a format's staging model."""
    return f"stg_{source_format}"


def with_all_made_from(source_format: str) -> str:
    """Return an argument of `--select`: all models that are made from a landing table."""
    return f"source:{PACKAGE}.{LANDING_SOURCE}.{source_format}+"


@dataclass(frozen=True)
class Relations:
    """Names of tables and views (`schema.name`), by the names of the models in the package.

    `models`: models that have another name than in the package's own project. `landing`: schema of
    the landing tables. `seeds`: schema of the code tables.
    """

    models: Mapping[str, str] = field(default_factory=dict)
    landing: str = LANDING_SOURCE
    seeds: str = _SEEDS

    @classmethod
    def of_manifest(cls, manifest: Manifest) -> Relations:
        """Return the names that dbt uses on the target that the manifest was read for."""
        models = {
            node.name: f"{node.schema}.{node.alias}"
            for node in manifest.nodes.values()
            if node.unique_id.startswith(f"model.{PACKAGE}.")
        }
        (landing,) = {
            source.schema
            for source in manifest.sources.values()
            if source.package_name == PACKAGE and source.source_name == LANDING_SOURCE
        }
        (seeds,) = {
            node.schema
            for node in manifest.nodes.values()
            if node.package_name == PACKAGE and node.name == "source_types"
        }
        return cls(models, landing, seeds)

    def model(self, name: str) -> str:
        """Return the name of the table or view of a model of the package."""
        schema = next((s for start, s in _SCHEMAS.items() if name.startswith(start)), _MARTS)
        return self.models.get(name, f"{schema}.{name}")

    def staging(self, source_format: str) -> str:
        return self.model(staging_model(source_format))

    def landed(self, source_format: str) -> str:
        """Return the name of a landing table."""
        return f"{self.landing}.{source_format}"

    @property
    def resyncs(self) -> str:
        """The name of the table with requests to repair tables."""
        return f"{self.landing}.resyncs"

    @property
    def removed_messages(self) -> str:
        """The name of the table with the coordinates of messages that were removed from landing."""
        return f"{self.landing}.removed_messages"

    @property
    def run_results(self) -> str:
        """The name of the table with the results of dbt's runs."""
        return f"{self.landing}.run_results"

    @property
    def schemas(self) -> Iterator[str]:
        """The schemas, from marts to landing."""
        layers = ("latest_state", "int_row_state", staging_model(SOURCE_FORMATS[0]))
        yield from (self.model(name).partition(".")[0] for name in layers)
        yield from (self.seeds, self.landing)


#: The names in the package's own project, on every target, unless a setting names a landing schema.
OWN = Relations()


def layer_of(node: ManifestNode | SourceDefinition) -> str:
    """Return the layer of a node of dbt's manifest, whatever the name of its schema.

    For a model of the package, it is the folder. For a node of another project, it is the project's
    name.
    """
    from dbt.artifacts.resources.types import NodeType

    if node.package_name != PACKAGE:
        return node.package_name
    if node.resource_type == NodeType.Source:
        return LANDING_SOURCE
    if node.resource_type == NodeType.Seed:
        return _SEEDS
    _, *folders, _ = node.fqn
    # The Python models of staging stand directly under the project.
    return folders[0] if folders else _STAGING


def is_mart(model: ManifestNode) -> bool:
    """Return whether analysts read a model.

    They read marts, published marts, and models of other projects.
    """
    return layer_of(model) not in (_STAGING, _INTERMEDIATE)
