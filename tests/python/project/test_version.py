"""The version of the command, of the dbt package and of the changelog."""

from __future__ import annotations

import re
from importlib.metadata import version

from packaging.version import Version

from tests.python.harness.commands import run_command
from tests.python.harness.manifest import ROOT
from tests.python.harness.written_project import project_settings


def test_the_command_prints_its_version() -> None:
    result = run_command("--version")
    assert (result.exit_code, result.output) == (0, f"cdc-marts {version('cdc-marts')}\n")


def test_the_dbt_package_has_the_version_of_the_wheel() -> None:
    # dbt takes 0.2.0-dev0 alone, and pip writes it 0.2.0.dev0.
    assert Version(project_settings()["version"]) == Version(version("cdc-marts"))


def test_unreleased_changes_do_not_have_the_version_of_a_release() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest, *earlier = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    current = Version(version("cdc-marts"))
    if newest == "Unreleased":
        assert current.is_prerelease
        assert current > max(map(Version, earlier))
    else:
        assert current == Version(newest)
