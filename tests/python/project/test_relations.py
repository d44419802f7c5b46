"""The names that commands have for the tables of a target are dbt's."""

from __future__ import annotations

from cdc_marts.relations import OWN
from tests.python.harness.manifest import Node, nodes_of


def test_in_its_own_project_the_package_has_the_names_of_its_models(manifest: Node) -> None:
    for model in nodes_of(manifest, "model"):
        assert OWN.model(model["name"]) == f"{model['schema']}.{model['alias']}"
    for source in nodes_of(manifest, "source"):
        assert OWN.landed(source["name"]) == f"{source['schema']}.{source['identifier']}"
    for seed in nodes_of(manifest, "seed"):
        assert seed["schema"] == OWN.seeds
    schemas = {
        node["schema"] for kind in ("model", "seed", "source") for node in nodes_of(manifest, kind)
    }
    assert set(OWN.schemas) == schemas
