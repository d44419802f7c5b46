"""Where the models and sources of the package stand on a target: their names in its catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest
    from dbt.contracts.graph.nodes import ManifestNode, SourceDefinition

#: The name of the dbt package, and of the project where it is one by itself.
PACKAGE = "cdc_marts"
#: Selects the models of the package, and those of a project that are made from them.
WITH_WHAT_FOLLOWS = f"package:{PACKAGE}+"
#: The dbt source whose tables hold the landed messages.
LANDING_SOURCE = "landing"
#: The setting that names the schema of these tables.
LANDING_SCHEMA = "landing_schema"

_STAGING = "staging"
_INTERMEDIATE = "intermediate"
_MARTS = "marts"
_SEEDS = "seeds"
#: What the tables of the package are, in the direction of the data.
LAYERS = (LANDING_SOURCE, _STAGING, _INTERMEDIATE, _MARTS, "published", _SEEDS)
#: Schemas of the package's own project, by how the names of their models begin.
_SCHEMAS = {"base_": _STAGING, "stg_": _STAGING, "int_": _INTERMEDIATE}


@dataclass(frozen=True)
class Relations:
    """Names of tables and views (`schema.name`), by the names that the package has for them.

    `models`: those that have another name than in the package's own project.
    `landing`: schema of the landing tables.  `seeds`: schema of the code tables.
    """

    models: Mapping[str, str] = field(default_factory=dict)
    landing: str = LANDING_SOURCE
    seeds: str = _SEEDS

    @classmethod
    def of_manifest(cls, manifest: Manifest) -> Relations:
        """As dbt names them on the target that the manifest was read for."""
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
        """The name of the table or view of a model of the package."""
        schema = next((s for start, s in _SCHEMAS.items() if name.startswith(start)), _MARTS)
        return self.models.get(name, f"{schema}.{name}")

    def staging(self, source_format: str) -> str:
        return self.model(f"stg_{source_format}")

    def landed(self, source_format: str) -> str:
        """The name of a landing table."""
        return f"{self.landing}.{source_format}"

    @property
    def resyncs(self) -> str:
        """The name of the table with requests to repair tables."""
        return f"{self.landing}.resyncs"

    @property
    def removed_messages(self) -> str:
        """The name of the table with the places of messages that were removed from landing."""
        return f"{self.landing}.removed_messages"

    @property
    def run_results(self) -> str:
        """The name of the table with what became of dbt's runs."""
        return f"{self.landing}.run_results"

    @property
    def schemas(self) -> Iterator[str]:
        """The schemas, those that read before those that are read."""
        layers = ("latest_state", "int_row_state", "stg_canal_json")
        yield from (self.model(name).partition(".")[0] for name in layers)
        yield from (self.seeds, self.landing)


#: In the package's own project, on every target, where no setting names the schema of landing.
OWN = Relations()


def layer_of(node: ManifestNode | SourceDefinition) -> str:
    """The layer of a node of dbt's manifest, whatever its schema is called.

    That of a model of the package is its folder.  Nodes of another project have its name.
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
    """Whether a model is read by analysts: a mart, a published one, or one of another project."""
    return layer_of(model) not in (_STAGING, _INTERMEDIATE)
