"""Options that several commands share, one by one and in groups.

A command takes a group as one parameter with a default. On the command line, each field of the
group is an option.
"""

from __future__ import annotations

import datetime as dt
import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from cdc_marts.cli.console import WRONG_USE, stop
from cdc_marts.project.target import ProjectError, Target
from cdc_marts.source_formats import SOURCE_FORMATS, no_such_format
from cdc_marts.times import utc_of

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


def field_by_field(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes each field of its dataclass parameters as a parameter."""
    annotations = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    options: dict[str, inspect.Parameter] = {}

    def add(name: str, default: Any, annotation: Any) -> None:
        options[name] = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )

    for name, parameter in inspect.signature(command).parameters.items():
        group = parameter.default
        if not is_dataclass(group):
            add(name, group, annotations[name])
            continue
        groups[name] = group
        of_fields = get_type_hints(type(group), include_extras=True)
        for one in fields(group):
            add(one.name, getattr(group, one.name), of_fields[one.name])

    @functools.wraps(command)
    def by_field(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = replace(group, **{one.name: given.pop(one.name) for one in fields(group)})
        command(**given)

    by_field.__signature__ = inspect.Signature(list(options.values()))  # type: ignore[attr-defined]
    by_field.__annotations__ = {name: option.annotation for name, option in options.items()}
    return by_field


@dataclass(frozen=True)
class TargetOptions:
    """The options that say on which target a command works."""

    project_dir: ProjectDir = None
    profiles_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder of profiles.yml. The default is DBT_PROFILES_DIR, or else the current"
            " folder, the project, its folder profiles, or ~/.dbt.",
        ),
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="A target in profiles.yml: local, demo or cluster. The default is DBT_TARGET, or"
            " else local.",
        ),
    ] = None

    def find(self) -> Target:
        """Return the target, or stop the command with the reason."""
        try:
            return Target.find(self.target, self.project_dir, self.profiles_dir)
        except ProjectError as error:
            stop(str(error), WRONG_USE)


def on_target(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameter `target: Target` comes from the options of targets.

    It takes groups of options too (`field_by_field`).
    """

    @functools.wraps(command)
    def with_options(*, target: TargetOptions, **others: Any) -> None:
        command(**others, target=target.find())

    signature = inspect.signature(command)
    parameters = signature.parameters | {
        "target": signature.parameters["target"].replace(default=TargetOptions())
    }
    with_options.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=list(parameters.values())
    )
    return field_by_field(with_options)


def shown_first(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for a command whose help shows these parameters before all others."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        in_order = dict.fromkeys((*names, *signature.parameters))
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[signature.parameters[name] for name in in_order]
        )
        return command

    return decorate


def time_span(text: str, option: str) -> dt.timedelta:
    """Return a span such as 30s, 10m, 2h or 1d."""
    found = re.fullmatch(r"(\d{1,6})([smhd])", text.strip())
    if found is None:
        raise typer.BadParameter(
            f"{option} needs a time span such as 30s, 10m, 2h or 1d, not {text!r}."
        )
    unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[found[2]]
    return dt.timedelta(**{unit: int(found[1])})


def utc(text: str, option: str) -> dt.datetime:
    """Return a time, in UTC if it names no zone."""
    try:
        return utc_of(text)
    except ValueError:
        raise typer.BadParameter(
            f"{option} needs a time such as 2026-11-22T08:00, not {text!r}."
        ) from None
