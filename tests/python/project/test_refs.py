"""What dbt must know of a model before it runs it."""

from __future__ import annotations

import re

from tests.python.harness.manifest import Node, nodes_of


def test_every_ref_of_a_model_is_seen_when_it_is_parsed(manifest: Node) -> None:
    """A ref that only a later run reaches (`is_incremental()`) would fail that run."""
    for model in nodes_of(manifest, "model"):
        seen = {name.rsplit(".", 1)[-1] for name in model["depends_on"]["nodes"]}
        written = set(re.findall(r"\bref\([\'\"](\w+)[\'\"]\)", model["raw_code"]))
        assert written <= seen, model["name"]
