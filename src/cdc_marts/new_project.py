"""A user's dbt project on the package cdc_marts, and the link by which dbt finds the package.

`dbt deps` takes the package from a link in the project. So the project's files are the same on
every machine, and upgrading cdc-marts upgrades the models.
"""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from cdc_marts.package_files import IS_INSTALLED, PACKAGE_ROOT
from cdc_marts.printing import one_line
from cdc_marts.project.target import TYPED_MARTS, ProjectError

#: The link to the package, in the project's folder.
LINK = ".cdc_marts_package"

_TEMPLATE = Path(__file__).parent / "project_template"
#: Files of the template that have another name in the project.
_NAMES = {"gitignore": ".gitignore"}
#: Names of the packages of every project.
_TAKEN = ("cdc_marts", "dbt", "dbt_spark", "dbt_spark_session")


class NewProjectError(ProjectError):
    """The project can't be created or linked; the message says why and what to do."""


def write_project(folder: Path) -> None:
    """Write a project to a new or empty folder. The folder's name becomes the project's name."""
    _check_installed()
    name = folder.resolve().name
    _check_name(name)
    if folder.exists() and not folder.is_dir():
        raise NewProjectError(f"{folder} is a file: name a new folder.")
    if folder.is_dir() and any(folder.iterdir()):
        raise NewProjectError(f"The folder {folder} is not empty: name a new one.")
    try:
        _write_template(folder, name)
        _copy(PACKAGE_ROOT / "profiles" / "profiles.yml", folder / "profiles.yml")
        for path in sorted((PACKAGE_ROOT / TYPED_MARTS).glob("*.*")):
            if path.suffix in (".sql", ".yml"):
                _copy(path, folder / TYPED_MARTS / path.name)
    except OSError as error:
        raise NewProjectError(f"{folder} can't be written: {error.strerror}.") from error


def link_package(root: Path) -> None:
    """Make the project at `root` use the package that is installed with this command."""
    _check_installed()
    packages = root / "packages.yml"
    if not packages.is_file() or LINK not in packages.read_text("utf-8"):
        raise NewProjectError(
            f"{root} does not use cdc_marts as a package: its packages.yml needs `packages:` with"
            f" `- local: {LINK}`."
        )
    link = root / LINK
    try:
        if link.is_symlink():
            link.unlink()
        link.symlink_to(PACKAGE_ROOT, target_is_directory=True)
    except OSError as error:
        raise NewProjectError(f"{link} can't be written: {error.strerror}.") from error
    _install_packages(root)


def _check_installed() -> None:
    if not IS_INSTALLED:
        # Unlike the wheel, the clone does not hide its typed marts: dbt would find them twice.
        raise NewProjectError(
            f"This command runs in the clone {PACKAGE_ROOT}, which is a dbt project by itself: use"
            " that, or install the wheel that `uv build` makes."
        )


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        words = "_".join(re.findall(r"[a-z0-9]+", name.lower()))
        usable = words if words and not words[0].isdigit() else f"marts_{words}".rstrip("_")
        raise NewProjectError(
            f"A project can't be named {name!r}: use lower-case letters, digits and underscores,"
            f" and no digit first. {usable} would do."
        )
    if name in _TAKEN:
        raise NewProjectError(
            f"A project can't be named {name}: one of its packages has that name."
        )


def _write_template(folder: Path, name: str) -> None:
    project = (PACKAGE_ROOT / "dbt_project.yml").read_text("utf-8")
    values = {
        "name": name,
        "link": LINK,
        "tables": _section(project, "  tables:"),
    }
    for path in sorted(_TEMPLATE.rglob("*")):
        if path.is_file():
            relative = path.relative_to(_TEMPLATE)
            text = Template(path.read_text("utf-8")).substitute(values)
            _write(folder / relative.with_name(_NAMES.get(path.name, path.name)), text)


def _section(yaml: str, key: str) -> str:
    """Return the lines of a key that stands once in a YAML text, with the comment above it."""
    lines = yaml.splitlines()
    first = end = lines.index(key)
    indentation = len(key) - len(key.lstrip())
    while lines[first - 1].strip().startswith("#"):
        first -= 1
    end += 1
    while end < len(lines) and lines[end][: indentation + 1].isspace():
        end += 1
    return "\n".join(lines[first:end]).rstrip()


def _copy(source: Path, place: Path) -> None:
    _write(place, source.read_text("utf-8"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _install_packages(root: Path) -> None:
    """Run `dbt deps`, which needs no network for a package that is a folder."""
    from dbt.cli.main import dbtRunner

    folders = ("--project-dir", str(root), "--log-path", str(root / "logs"))
    result = dbtRunner().invoke(["deps", "--quiet", *folders])
    if not result.success:
        reason = one_line(result.exception)
        raise NewProjectError(f"`dbt deps` failed in {root}: {reason}") from result.exception
