"""The page on the package shows a project that dbt reads as it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from dbt.cli.main import dbtRunner

from cdc_marts import new_project
from tests.python.project.manifest import ROOT

PAGE = ROOT / "docs" / "use-as-a-package.md"
PROFILES = ROOT / "profiles" / "profiles.yml"

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, with two targets like `local`, and the package that is here."""
    root = tmp_path_factory.mktemp("shop_analytics")
    for name, text in re.findall(
        r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$",
        PAGE.read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    ):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, "utf-8")
    rendered = jinja2.Template(PROFILES.read_text("utf-8")).render(
        env_var=lambda _, default=None: default
    )
    local = yaml.safe_load(rendered)["cdc_marts"]["outputs"]["local"]
    outputs = {name: {**local, "schema": name} for name in ("dev", "prod")}
    profiles = {"shop_analytics": {"target": "dev", "outputs": outputs}}
    (root / "profiles.yml").write_text(yaml.safe_dump(profiles), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(new_project, "IS_INSTALLED", True)
        new_project.link_package(root)
    return root


def manifest(project: Path, target: str) -> Any:
    folders = ("--project-dir", "--profiles-dir", "--log-path")
    options = [text for option in folders for text in (option, str(project))]
    target_path = ("--target-path", str(project / "target"))
    parsed = dbtRunner().invoke(["parse", "--quiet", "--target", target, *options, *target_path])
    assert parsed.success, parsed.exception
    return parsed.result


def test_the_schemas_are_those_that_dbt_gives(project: Path) -> None:
    table = PAGE.read_text("utf-8").split("<!-- schemas -->\n")[1].split("\n\n")[0]
    names = [row.split("|")[1].strip(" `") for row in table.splitlines()[2:]]
    lines = ["| node | `dev` | `prod` |", "|---|---|---|"]
    found = {target: manifest(project, target) for target in ("dev", "prod")}
    for name in names:
        schemas = [
            next(
                node.schema
                for node in (*read.nodes.values(), *read.sources.values())
                if node.name == ("canal_json" if name == "landing tables" else name)
            )
            for read in found.values()
        ]
        shown = name if name == "landing tables" else f"`{name}`"
        lines.append(f"| {shown} | {' | '.join(f'`{schema}`' for schema in schemas)} |")
    assert table == "\n".join(lines)
