"""`cdc-marts init` and `cdc-marts link`: the files of a project, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import Result

from cdc_marts import new_project
from cdc_marts.new_project import LINK
from cdc_marts.package_files import PACKAGE_ROOT
from tests.python.harness.commands import run_command
from tests.python.harness.dbt import folders, run_dbt


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # The files of the clone are those of the wheel.
    monkeypatch.setattr(new_project, "IS_INSTALLED", True)
    return tmp_path


def run(*arguments: str) -> Result:
    return run_command(*arguments)


def yaml_of(path: Path) -> dict:
    return yaml.safe_load(path.read_text("utf-8"))


def test_the_project_declares_the_tables_of_the_samples_and_has_their_typed_marts(
    folder: Path,
) -> None:
    result = run("init", "my_project")
    assert result.exit_code == 0, result.output
    shipped = yaml_of(PACKAGE_ROOT / "dbt_project.yml")
    written = yaml_of(folder / "my_project" / "dbt_project.yml")
    assert written["name"] == "my_project"
    assert written["vars"] == {"landing_schema": "landing", "tables": shipped["vars"]["tables"]}
    models = folder / "my_project" / "models" / "marts" / "typed"
    names = {path.stem for path in models.glob("*.sql")}
    assert names == {
        path.stem
        for path in (PACKAGE_ROOT / models.relative_to(folder / "my_project")).glob("*.sql")
    }
    assert names <= set(written["vars"]["tables"])


@pytest.fixture
def shipped(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dbt package as the wheel holds it, with what dbt passes over."""
    package = tmp_path_factory.mktemp("package")
    for name in ("dbt_project.yml", "macros", "models", "profiles", "python_models", "seeds"):
        (package / name).symlink_to(PACKAGE_ROOT / name)
    (package / "tests").mkdir()
    (package / "tests" / "generic").symlink_to(PACKAGE_ROOT / "tests" / "generic")
    (package / ".dbtignore").symlink_to(PACKAGE_ROOT / "src" / "cdc_marts" / "package.dbtignore")
    monkeypatch.setattr(new_project, "PACKAGE_ROOT", package)


@pytest.mark.usefixtures("shipped")
def test_the_marts_of_a_project_are_its_own_and_built_beside_the_demo_too(folder: Path) -> None:
    run("init", "my_project")
    options = ("--target", "local", "--select", "package:my_project")
    listed = run_dbt("ls", *options, *folders(folder / "my_project"))
    shipped = (PACKAGE_ROOT / "models" / "marts" / "typed").glob("*.sql")
    marts = {f"my_project.marts.typed.{path.stem}" for path in shipped}
    assert marts <= set(listed)


@pytest.mark.usefixtures("shipped")
def test_a_project_has_the_data_tests_of_the_package_and_not_its_unit_tests(folder: Path) -> None:
    run("init", "my_project")
    parsed = run_dbt("parse", "--target", "local", *folders(folder / "my_project"))
    kinds = {node.resource_type for node in parsed.nodes.values()}
    assert kinds >= {"model", "seed", "test"}
    assert not parsed.unit_tests


def test_nothing_in_the_files_of_a_project_depends_on_the_machine(folder: Path) -> None:
    run("init", "my_project")
    # dbt links packages to absolute paths, in a folder that belongs to no repository.
    files = [
        path
        for path in (folder / "my_project").rglob("*")
        if path.is_file() and not {"logs", "dbt_packages", LINK} & set(path.parts)
    ]
    assert len(files) > 8
    for path in files:
        assert str(PACKAGE_ROOT) not in path.read_text("utf-8"), path
        assert str(folder) not in path.read_text("utf-8"), path


def test_dbt_finds_the_package_after_init(folder: Path) -> None:
    run("init", "my_project")
    package = folder / "my_project" / "dbt_packages" / "cdc_marts"
    assert package.resolve() == PACKAGE_ROOT


def test_link_brings_back_a_package_that_is_gone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init", "my_project")
    project = folder / "my_project"
    (project / LINK).unlink()
    (project / LINK).symlink_to(folder / "an environment of before")
    (project / "dbt_packages" / "cdc_marts").unlink()
    monkeypatch.chdir(project / "models")
    result = run("link")
    assert result.exit_code == 0, result.output
    assert (project / "dbt_packages" / "cdc_marts").resolve() == PACKAGE_ROOT


def test_a_project_without_the_package_is_not_linked(folder: Path) -> None:
    (folder / "dbt_project.yml").write_text("name: other\nprofile: other\n", "utf-8")
    (folder / "profiles.yml").write_text("{}\n", "utf-8")
    result = run("link")
    assert result.exit_code == 2
    assert "does not use cdc_marts as a package" in result.output
    assert not (folder / LINK).exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("my-project", "my_project would do"),
        ("2024", "marts_2024 would do"),
        ("Ünser", "can't be named"),
        ("cdc_marts", "one of its packages has that name"),
        ("dbt", "one of its packages has that name"),
    ],
)
def test_a_name_that_dbt_refuses_is_said(folder: Path, name: str, reason: str) -> None:
    result = run("init", name)
    assert result.exit_code == 2
    assert reason in result.output
    assert not (folder / name).exists()


def test_a_folder_with_files_stays_as_it_is(folder: Path) -> None:
    (folder / "taken").mkdir()
    (folder / "taken" / "notes.txt").write_text("mine", "utf-8")
    result = run("init", "taken")
    assert result.exit_code == 2
    assert "is not empty" in result.output
    assert [path.name for path in (folder / "taken").iterdir()] == ["notes.txt"]


def test_a_file_is_no_folder(folder: Path) -> None:
    (folder / "taken").write_text("mine", "utf-8")
    result = run("init", "taken")
    assert result.exit_code == 2
    assert "is a file" in result.output


def test_an_empty_folder_is_taken(folder: Path) -> None:
    (folder / "my_project").mkdir()
    assert run("init", "my_project").exit_code == 0


@pytest.mark.parametrize("arguments", [("init", "my_project"), ("link",)])
def test_a_clone_is_a_project_by_itself(
    arguments: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_project, "IS_INSTALLED", False)
    (folder / "dbt_project.yml").write_text("name: other\nprofile: other\n", "utf-8")
    (folder / "profiles.yml").write_text("{}\n", "utf-8")
    result = run(*arguments)
    assert result.exit_code == 2
    assert "which is a dbt project by itself" in result.output
    assert not (folder / "my_project").exists()
