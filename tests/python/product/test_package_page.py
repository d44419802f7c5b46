"""The page on the package shows a project that dbt reads as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

from cdc_marts import new_project
from cdc_marts.parsing.session import REQUIRED_CONF
from tests.python.harness.dbt import folders, run_dbt
from tests.python.harness.manifest import ROOT
from tests.python.harness.processes import finished, program
from tests.python.product.test_foreign_project import ORDERS

PAGE = ROOT / "docs" / "use-as-a-package.md"
PROFILES = ROOT / "profiles" / "profiles.yml"

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, and the package that is here."""
    root = tmp_path_factory.mktemp("shop_analytics")
    for name, text in re.findall(
        r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$",
        PAGE.read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    ):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(new_project, "IS_INSTALLED", True)
        new_project.link_package(root)
    return root


def manifest(project: Path, target: str) -> Any:
    return run_dbt("parse", "--target", target, *folders(project))


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


def test_the_profile_of_the_page_has_settings_of_the_target_local(project: Path) -> None:
    """All that decide how values are read, and none with another value."""
    rendered = jinja2.Template(PROFILES.read_text("utf-8")).render(
        env_var=lambda _, default=None: default
    )
    local = yaml.safe_load(rendered)["cdc_marts"]["outputs"]["local"]
    shown = yaml.safe_load((project / "profiles.yml").read_text("utf-8"))["shop_analytics"]
    assert set(shown["outputs"]) == {"dev", "prod"}
    for name, target in shown["outputs"].items():
        assert target["schema"] == name
        assert target["packages"] == local["packages"]
        assert target["conf"].items() <= local["conf"].items()
        assert REQUIRED_CONF.keys() <= target["conf"].keys()


@pytest.mark.long
def test_the_project_of_the_page_runs(project: Path, tmp_path: Path) -> None:
    """With the profile as it stands there, and by commands from another folder."""
    options = ("--project-dir", str(project), "--profiles-dir", str(project), "--target", "dev")

    def run(name: str, *arguments: str) -> str:
        return finished(program(name), *arguments, *options, cwd=tmp_path).stdout

    messages = tmp_path / "messages.jsonl"
    messages.write_text("".join(json.dumps(message) + "\n" for message in ORDERS), "utf-8")
    landing = ("land", "files", "--format", "canal_json", "--topic", "shop", str(messages))
    run("cdc-marts", *landing)
    run("dbt", "run", "--no-use-colors")

    def rows(query: str) -> list[str]:
        return run("cdc-marts", "sql", "--format", "csv", query).splitlines()[1:]

    query = (
        "select op, status_before, status_after from dev_reports.order_changes order by event_at"
    )
    assert sorted(rows(query)) == ["delete,new,", "insert,,new", "insert,,new", "insert,,paid"]
    assert rows("select id, status from dev_reports.orders order by id") == ["2,new", "3,paid"]
    assert not list(tmp_path.glob(".cdc_marts"))
    assert (project / ".cdc_marts" / "catalog.db").is_file()
