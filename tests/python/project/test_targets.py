"""The targets of the profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdc_marts.project.profile import credentials_of
from cdc_marts.project.target import Target
from tests.python.harness.dbt import folders, run_dbt
from tests.python.harness.manifest import ROOT, Node, nodes_of

PROFILES = ROOT / "profiles"
MARTS_OF_THE_SAMPLES = {"shop_customers", "shop_orders", "shop_payments"}


@pytest.mark.parametrize("catalog_type", ["", "jdbc", "rest", "hive"])
def test_the_target_of_a_cluster_is_valid_whatever_its_catalog(
    catalog_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDC_MARTS_CATALOG_TYPE", catalog_type)
    credentials = credentials_of(Target("cluster", ROOT, PROFILES))
    assert credentials.conf["spark.sql.catalog.cdc.type"] == catalog_type


def test_only_the_demo_has_the_typed_marts_of_the_samples(manifest: Node, tmp_path: Path) -> None:
    """Without them, nothing warns: neither their settings nor their data tests."""
    in_demo = {model["name"] for model in nodes_of(manifest, "model")}
    options = ("--target", "local", *folders(ROOT, PROFILES, written=tmp_path))
    parsed = run_dbt("--warn-error", "parse", *options).nodes.values()
    on_local = {node.name for node in parsed if node.config.enabled}
    assert in_demo - on_local == MARTS_OF_THE_SAMPLES
    assert [name for name in on_local if "shop_" in name] == []
