"""The targets of the profile."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner

from tests.python.project.manifest import ROOT


@pytest.mark.parametrize("catalog_type", ["", "jdbc", "rest", "hive"])
def test_the_target_of_a_cluster_is_valid_whatever_its_catalog(
    catalog_type: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CDC_MARTS_CATALOG_TYPE", catalog_type)

    parsed = dbtRunner().invoke(
        [
            *("parse", "--target", "cluster", "--quiet", "--project-dir", str(ROOT)),
            *("--profiles-dir", str(ROOT / "profiles")),
            *("--target-path", str(tmp_path), "--log-path", str(tmp_path)),
        ]
    )

    assert parsed.success, parsed.exception
