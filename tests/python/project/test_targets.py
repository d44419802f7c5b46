"""The targets of the profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.python.harness.dbt import folders, run_dbt
from tests.python.harness.manifest import ROOT, Node, nodes_of

MARTS_OF_THE_SAMPLES = {"shop_customers", "shop_orders", "shop_payments"}


def parse(target: str, folder: Path, *options: str) -> Any:
    """The manifest that dbt reads for a target; `folder`: where dbt writes."""
    read_and_written = folders(ROOT, ROOT / "profiles", written=folder)
    return run_dbt(*options, "parse", "--target", target, *read_and_written)


@pytest.mark.parametrize("catalog_type", ["", "jdbc", "rest", "hive"])
def test_the_target_of_a_cluster_is_valid_whatever_its_catalog(
    catalog_type: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CDC_MARTS_CATALOG_TYPE", catalog_type)
    parse("cluster", tmp_path)


def test_only_the_demo_has_the_typed_marts_of_the_samples(manifest: Node, tmp_path: Path) -> None:
    """Without them, nothing warns: neither their settings nor their data tests."""
    in_demo = {model["name"] for model in nodes_of(manifest, "model")}
    parsed = parse("local", tmp_path, "--warn-error").nodes.values()
    on_local = {node.name for node in parsed if node.config.enabled}
    assert in_demo - on_local == MARTS_OF_THE_SAMPLES
    assert [name for name in on_local if "shop_" in name] == []
