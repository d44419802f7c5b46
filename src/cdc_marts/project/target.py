"""A target of a dbt project, and how the folders of the project and its profiles are found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cdc_marts.printing import one_line

PROJECT_FILE = "dbt_project.yml"
#: The folder of the typed marts of a project.
TYPED_MARTS = Path("models") / "marts" / "typed"
PROFILES_FILE = "profiles.yml"
#: The target of the commands if nothing names one.
DEFAULT_TARGET = "local"


class ProjectError(Exception):
    """The project or the target can't be used; the message says why and what to do."""


@dataclass(frozen=True)
class Target:
    """A target of the profile of a dbt project."""

    name: str
    #: the folder of dbt_project.yml
    root: Path
    #: the folder of profiles.yml
    profiles_dir: Path

    @classmethod
    def find(
        cls,
        name: str | None = None,
        project_dir: Path | None = None,
        profiles_dir: Path | None = None,
    ) -> Target:
        """Return the target that the arguments name, with dbt's meaning of each.

        If an argument is None, dbt's environment variable (DBT_TARGET, DBT_PROJECT_DIR,
        DBT_PROFILES_DIR) counts. If that is not set either, the project is looked for in the
        current folder and above it, and the profiles in the current folder, in the project and in
        ~/.dbt.
        """
        root = find_root(project_dir)
        return cls(
            name or os.environ.get("DBT_TARGET") or DEFAULT_TARGET,
            root,
            _find_profiles(root, profiles_dir),
        )

    @property
    def profile(self) -> str:
        """The name of the profile that the project uses."""
        file = self.root / PROJECT_FILE
        name = member(file, "profile")
        if name is None:
            raise _names_no_profile(file)
        return name


def find_root(project_dir: Path | None = None) -> Path:
    """Return the folder of the project: `project_dir`, or else the folder in DBT_PROJECT_DIR.

    If neither is set, return the nearest folder with a project, from the current one upwards.
    """
    if folder := project_dir or _folder_of_environment("DBT_PROJECT_DIR"):
        if not (folder / PROJECT_FILE).is_file():
            raise ProjectError(
                f"The folder {folder} contains no {PROJECT_FILE}. Name the folder of a dbt project"
                " with --project-dir or DBT_PROJECT_DIR."
            )
        return folder.resolve()
    current = Path.cwd()
    roots = [root for root in (current, *current.parents) if (root / PROJECT_FILE).is_file()]
    for root in roots:
        # The adapter's macros are a dbt project too, but one without a profile.
        if member(root / PROJECT_FILE, "profile") is not None:
            return root
    if roots:
        raise _names_no_profile(roots[0] / PROJECT_FILE)
    raise ProjectError(
        f"{current} is not inside a dbt project: run the command in the folder of {PROJECT_FILE}"
        " or below it, or name that folder with --project-dir."
    )


def _names_no_profile(file: Path) -> ProjectError:
    return ProjectError(f"{file} names no profile. Add a line such as `profile: cdc_marts`.")


def _find_profiles(root: Path, profiles_dir: Path | None) -> Path:
    if folder := profiles_dir or _folder_of_environment("DBT_PROFILES_DIR"):
        if not (folder / PROFILES_FILE).is_file():
            raise ProjectError(
                f"The folder {folder} contains no {PROFILES_FILE}. Name its folder with"
                " --profiles-dir or DBT_PROFILES_DIR."
            )
        return folder.resolve()
    folders = (Path.cwd(), root, root / "profiles", Path.home() / ".dbt")
    for folder in folders:
        if (folder / PROFILES_FILE).is_file():
            return folder
    raise ProjectError(
        f"There is no {PROFILES_FILE} in {root} or in {folders[-1]}: name its folder with"
        " --profiles-dir."
    )


def _folder_of_environment(variable: str) -> Path | None:
    folder = os.environ.get(variable)
    return Path(folder) if folder else None


def member(path: Path, *names: str) -> str | None:
    """Return a text in a YAML file, under these names; None if it is empty or missing.

    Raise `ProjectError` if the file is not YAML.
    """
    import yaml

    try:
        value = yaml.safe_load(path.read_text("utf-8"))
        for name in names:
            value = value[name]
        return None if value is None else str(value)
    except UnicodeDecodeError as error:
        raise ProjectError(f"{path} is not UTF-8 at byte {error.start + 1}.") from error
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ProjectError(f"{path}{line}: this is not YAML: {error.problem}.") from error
    except yaml.YAMLError as error:
        raise ProjectError(f"{path}: this is not YAML: {one_line(error)}.") from error
    except ValueError as error:  # a date that does not exist
        raise ProjectError(f"{path} can't be read: {error}.") from error
    except (OSError, KeyError, TypeError):
        return None


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in this folder while the block runs."""
    caller = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(caller)
