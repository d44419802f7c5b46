"""Options that several commands share."""

from __future__ import annotations

import datetime as dt
import functools
import inspect
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from cdc_marts.cli.console import WRONG_USE, stop
from cdc_marts.project.target import ProjectError, Target
from cdc_marts.source_formats import SOURCE_FORMATS, no_such_format

# Type checkers don't know the members, which are read from dbt_project.yml.
SourceFormat = Enum("SourceFormat", {name: name for name in SOURCE_FORMATS})  # type: ignore[misc]


def source_format_of(name: str | SourceFormat) -> SourceFormat:
    """Return the format of a name. For an unknown name, the error suggests the closest format."""
    if isinstance(name, SourceFormat):
        return name
    if name in SOURCE_FORMATS:
        return SourceFormat[name]
    raise typer.BadParameter(no_such_format(name))


Format = Annotated[
    SourceFormat,
    typer.Option(
        "--format",
        metavar="FORMAT",
        parser=source_format_of,
        help=f"One of {', '.join(SOURCE_FORMATS)}.",
    ),
]

ProjectDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The folder of dbt_project.yml. The default is DBT_PROJECT_DIR, or else the current"
        " folder or the nearest one above it.",
    ),
]
ProfilesDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The folder of profiles.yml. The default is DBT_PROFILES_DIR, or else the current"
        " folder, the project, its folder profiles, or ~/.dbt.",
    ),
]
TargetName = Annotated[
    str | None,
    typer.Option(
        metavar="TARGET",
        help="A target in profiles.yml: local, demo or cluster. The default is DBT_TARGET, or else"
        " local.",
    ),
]

_OPTIONS = {"project_dir": ProjectDir, "profiles_dir": ProfilesDir, "target": TargetName}


def on_target(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameter `target: Target` comes from the options of targets."""

    @functools.wraps(command)
    def with_options(
        *,
        project_dir: Path | None = None,
        profiles_dir: Path | None = None,
        target: str | None = None,
        **others: Any,
    ) -> None:
        try:
            found = Target.find(target, project_dir, profiles_dir)
        except ProjectError as error:
            stop(str(error), WRONG_USE)
        command(**others, target=found)

    signature = inspect.signature(command, eval_str=True)
    others = [parameter for name, parameter in signature.parameters.items() if name != "target"]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for name, option in _OPTIONS.items()
    ]
    with_options.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*others, *options]
    )
    # Typer reads the annotations too.
    with_options.__annotations__ = {
        option.name: option.annotation for option in [*others, *options]
    }
    return with_options


def time_span(text: str, option: str) -> dt.timedelta:
    """Return a span such as 30s, 10m, 2h or 1d."""
    found = re.fullmatch(r"(\d{1,6})([smhd])", text.strip())
    if found is None:
        raise typer.BadParameter(
            f"{option} needs a time span such as 30s, 10m, 2h or 1d, not {text!r}."
        )
    unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[found[2]]
    return dt.timedelta(**{unit: int(found[1])})
