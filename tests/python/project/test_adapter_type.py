"""A target of another adapter is refused by name, by the first command that reads the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.harness.dbt import folders, try_dbt
from tests.python.harness.manifest import ROOT

#: dbt-spark's own adapter, and no server.
PROFILES = """
cdc_marts:
  target: elsewhere
  outputs:
    elsewhere: {type: spark, method: session, host: nowhere, schema: marts, threads: 1}
"""


@pytest.mark.parametrize("command", ["parse", "compile"])
def test_another_adapter_is_named_with_the_place_to_change(command: str, tmp_path: Path) -> None:
    (tmp_path / "profiles.yml").write_text(PROFILES, "utf-8")

    result = try_dbt(command, *folders(ROOT, tmp_path, written=tmp_path))

    assert not result.success
    assert (
        "cdc_marts needs the dbt adapter spark_session, but the target 'elsewhere' is of type"
        f" spark: set `type: spark_session` for this target in {tmp_path}/profiles.yml."
    ) in str(result.exception)
    assert "undefined" not in str(result.exception)
