"""Every command that opens a project takes dbt's options for it, and its environment variables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
import typer
from py4j.protocol import Py4JError
from typer.testing import Result

from cdc_marts import project
from cdc_marts.cli import app
from cdc_marts.project.inventory import built_tables
from cdc_marts.project.target import ProjectError, Target
from tests.python.harness.commands import run_command
from tests.python.harness.manifest import ROOT

OPTIONS = {"--project-dir", "--profiles-dir", "--target"}
VARIABLES = ("DBT_PROJECT_DIR", "DBT_PROFILES_DIR", "DBT_TARGET")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is not a project's; no variable of dbt is set."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project with profiles of its own."""
    return a_project(tmp_path / "shop", "shop")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Target]:
    """The targets whose sessions commands asked for; none is opened."""
    targets: list[Target] = []

    @contextmanager
    def session(target: Target, **_: Any) -> Iterator[None]:
        targets.append(target)
        raise ProjectError("no session here")
        yield

    monkeypatch.setattr(project, "spark_session", session)
    return targets


def a_project(folder: Path, profile: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "dbt_project.yml").write_text(f"name: shop\nprofile: {profile}\n", "utf-8")
    (folder / "profiles.yml").write_text(f"{profile}: {{target: demo}}\n", "utf-8")
    return folder


def profiles(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profiles.yml").write_text("shop: {target: demo}\n", "utf-8")
    return folder


def run(*arguments: object) -> Result:
    return run_command(*arguments)


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *path, name)
        else:
            yield " ".join((*path, name)), command


def test_every_command_but_those_without_a_target_has_the_options() -> None:
    for name, command in commands(typer.main.get_command(app)):
        options = {option for parameter in command.params for option in parameter.opts}
        expected = {"init": set(), "link": {"--project-dir"}}.get(name, OPTIONS)
        assert options & OPTIONS == expected, name


@pytest.mark.parametrize(
    "command",
    [
        ("run",),
        ("sql", "select 1"),
        ("status",),
        ("report",),
        ("scaffold",),
        ("requeue",),
        ("resync", "--format", "canal_json", "--table", "a", "--topic", "t"),
        ("erase", "--format", "canal_json", "--table", "a", "--key", "{}"),
        ("maintain",),
        ("land", "files", "--format", "canal_json", "--topic", "t", __file__),
        ("land", "kafka", "--format", "canal_json", "--bootstrap-servers", "h:1", "--topics", "t"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_command_opens_the_target_that_its_options_name(
    command: tuple[str, ...], shop: Path, tmp_path: Path, opened: list[Target]
) -> None:
    other = profiles(tmp_path / "other")
    options = ("--project-dir", shop, "--profiles-dir", other, "--target", "local")
    result = run(*command, *options)
    assert (result.exit_code, opened) == (2, [Target("local", shop, other)]), result.output


@pytest.mark.parametrize("command", [("status",), ("report",), ("sql", "select 1"), ("scaffold",)])
def test_a_command_that_only_reads_neither_waits_for_a_run_nor_delays_one(
    command: tuple[str, ...], shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def session(_: Target, **options: Any) -> None:
        asked.append(options)
        raise ProjectError("no session here")

    monkeypatch.setattr(project, "spark_session", session)
    run(*command, "--project-dir", shop)
    assert [options["is_reader"] for options in asked] == [True]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(), "Spark's Java process has ended (its log is {home}/spark.log)"),
        (Py4JError("No space left on device"), "The folder {home} is full"),
        (Py4JError("Read-only file system"), "The folder {home} can't be written"),
    ],
)
def test_an_error_of_spark_ends_a_command_with_a_sentence(
    error: Exception, said: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = "{type: spark_session, schema: marts, home: kept}"
    (shop / "profiles.yml").write_text(f"shop: {{outputs: {{demo: {output}}}}}\n", "utf-8")

    @contextmanager
    def session(*_: object, **__: object) -> Iterator[None]:
        raise error
        yield

    monkeypatch.setattr(project, "spark_session", session)
    result = run("status", "--project-dir", shop, "--target", "demo")
    assert result.exit_code == 1
    assert f"Spark failed: {said.format(home=shop / 'kept')}" in result.stderr.replace("\n", " ")


def test_variables_say_what_options_do_not(
    shop: Path, tmp_path: Path, opened: list[Target], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_variables = profiles(tmp_path / "of variables")
    for variable, value in zip(VARIABLES, (shop, of_variables, "cluster"), strict=True):
        monkeypatch.setenv(variable, str(value))
    run("status")
    other = a_project(tmp_path / "other", "other")
    run("status", "--project-dir", other, "--target", "demo")
    assert opened == [Target("cluster", shop, of_variables), Target("demo", other, of_variables)]


def test_a_folder_of_the_project_needs_no_option(
    shop: Path, opened: list[Target], monkeypatch: pytest.MonkeyPatch
) -> None:
    below = shop / "models" / "marts"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    run("status")
    assert opened == [Target("local", shop, shop)]


def test_relative_folders_start_at_the_current_one(
    shop: Path, tmp_path: Path, opened: list[Target]
) -> None:
    profiles(tmp_path / "other")
    run("status", "--project-dir", "../shop", "--profiles-dir", "../other")
    assert opened == [Target("local", shop, tmp_path / "other")]


def test_profiles_are_those_of_the_current_folder_the_project_or_the_user(
    shop: Path, elsewhere: Path, tmp_path: Path
) -> None:
    of_user = profiles(tmp_path / "home" / ".dbt")
    of_folder = profiles(shop / "profiles")
    of_current = profiles(elsewhere)
    for folder in (of_current, shop, of_folder, of_user):
        assert Target.find(project_dir=shop).profiles_dir == folder
        (folder / "profiles.yml").unlink()
    result = run("status", "--project-dir", shop)
    assert result.exit_code == 2
    assert "name its folder with --profiles-dir" in result.output


@pytest.mark.parametrize("option", ["--project-dir", "--profiles-dir"])
def test_a_folder_without_the_file_is_said(option: str, shop: Path, elsewhere: Path) -> None:
    options = {"--project-dir": shop, option: elsewhere / "nowhere"}
    result = run("status", *(part for pair in options.items() for part in pair))
    assert result.exit_code == 2
    assert f"{elsewhere / 'nowhere'} contains no" in result.output
    variable = f"DBT_{option.removeprefix('--').upper().replace('-', '_')}"
    assert f" with {option} or {variable}." in result.output


def test_no_project_is_said_with_the_option(elsewhere: Path) -> None:
    result = run("status")
    assert result.exit_code == 2
    assert f"{elsewhere} is not inside a dbt project" in result.output
    assert "--project-dir" in result.output


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"name: shop\nprofile: shop\nvars: {a: b\n", ":4: this is not YAML: "),
        ("name: shop  # 商店\nprofile: shop\n".encode("gbk"), " is not UTF-8 at byte 15."),
        (
            b"name: shop\nprofile: shop\nvars: {a: 2026-02-30}\n",
            " can't be read: day is out of range",
        ),
        (b"name: shop\n", " names no profile. "),
    ],
)
def test_a_project_file_that_cannot_be_used_is_named(
    content: bytes, said: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = shop / "dbt_project.yml"
    file.write_bytes(content)
    named = run("status", "--project-dir", shop)
    monkeypatch.chdir(shop)
    for result in (named, run("status")):
        assert result.exit_code == 2, result.output
        assert f"{file}{said}" in result.output


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nowhere", "has no target 'nowhere': it has local, demo."),
        ("demo", "cdc_marts needs the dbt adapter spark_session, but the target 'demo' is of type"),
    ],
)
def test_a_target_that_cannot_be_used_is_said(shop: Path, target: str, said: str) -> None:
    outputs = "{local: {type: spark_session}, demo: {type: duckdb}}"
    (shop / "profiles.yml").write_text(f"shop: {{target: demo, outputs: {outputs}}}\n", "utf-8")
    result = run("status", "--project-dir", shop, "--target", target)
    assert result.exit_code == 2
    assert said in result.output
    assert f"{shop / 'profiles.yml'}" in result.output


@pytest.mark.parametrize(
    "command",
    [
        ("resync", "--format", "canal_json", "--table", "a", "--since"),
        (
            *("land", "kafka", "--format", "canal_json", "--bootstrap-servers", "h:1"),
            *("--topics", "t", "--start"),
        ),
    ],
    ids=["resync", "land kafka"],
)
def test_a_time_before_the_year_1_is_refused(
    command: tuple[str, ...], shop: Path, opened: list[Target]
) -> None:
    result = run(*command, "0001-01-01T00:00+08:00", "--project-dir", shop)
    assert (result.exit_code, opened) == (2, [])
    assert f"{command[-1]} needs" in result.output


def test_no_row_of_the_demo_is_erased(shop: Path, opened: list[Target]) -> None:
    """Its samples are in seeds too, from which each build lands them."""
    row = ("--format", "canal_json", "--table", "a", "--key", "{}")
    result = run("erase", *row, "--project-dir", shop, "--target", "demo")
    assert (result.exit_code, opened) == (2, [])
    assert "The samples of the demo are seeds and stay there." in result.output


def test_dbt_reads_the_project_from_elsewhere(
    tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """dbt itself is given both folders."""
    moved = tmp_path / "moved"
    moved.mkdir()
    text = (ROOT / "profiles" / "profiles.yml").read_text("utf-8")
    (moved / "profiles.yml").write_text(text.replace("    demo:", "    moved:"), "utf-8")
    monkeypatch.setenv("DBT_TARGET_PATH", str(tmp_path / "target"))
    monkeypatch.setenv("DBT_LOG_PATH", str(tmp_path))
    tables = built_tables(Target.find("moved", ROOT, moved))
    layers = {name: table.layer for name, table in tables.items()}
    assert layers["intermediate.int_message_counts"] == "intermediate"
    assert layers["intermediate.int_row_state"] == "intermediate"
    assert layers["staging.stg_canal_json"] == "staging"
    assert layers["seeds.source_ops"] == "seeds"
    assert layers["landing.canal_json"] == layers["landing.run_results"] == "landing"
    assert list(elsewhere.iterdir()) == []
