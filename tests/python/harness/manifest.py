"""The manifest of the project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PROJECT = "cdc_marts"

Node = dict[str, Any]


def nodes_of(manifest: Node, kind: str) -> Iterator[Node]:
    """Yield the project's own nodes of a kind: `model`, `seed`, `source`, `exposure` or `macro`."""
    collection = {"source": "sources", "exposure": "exposures", "macro": "macros"}
    for node in manifest[collection.get(kind, "nodes")].values():
        if node["package_name"] == PROJECT and node["resource_type"] == kind:
            yield node


def columns_of(manifest: Node, kind: str, name: str) -> list[str]:
    """Return the columns that a node declares, in the order of its yml file."""
    return next(list(n["columns"]) for n in nodes_of(manifest, kind) if n["name"] == name)


def macro_text(manifest: Node, name: str) -> str:
    return manifest["macros"][f"macro.{PROJECT}.{name}"]["macro_sql"]
