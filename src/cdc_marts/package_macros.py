"""Macros of the dbt package that Python renders too, so that their SQL is written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

from jinja2 import Environment, StrictUndefined

from cdc_marts.package_files import PACKAGE_ROOT

_FOLDER = PACKAGE_ROOT / "macros"


def package_macro(file: str, name: str) -> Callable[..., str]:
    """Return a macro as a function of its arguments. It must use nothing that only dbt has.

    `file`: its path in the folder of macros.
    """
    macro: Callable[..., str] = getattr(package_macros(file), name)
    return macro


def package_macros(*paths: str, **functions: Callable[..., object]) -> SimpleNamespace:
    """Return macros as functions of their arguments that return SQL. They may call one another.

    A macro that uses what only dbt has raises UndefinedError if it is called. `paths`: files and
    folders in the folder of macros. `functions` take the place of the macros of their names.
    """
    files = (file for path in paths for file in _files_of(_FOLDER / path))
    text = "".join(file.read_text("utf-8") for file in files if file.stem not in functions)
    environment = Environment(extensions=["jinja2.ext.do"], undefined=StrictUndefined)
    return SimpleNamespace(**vars(environment.from_string(text, functions).module))


def _files_of(path: Path) -> Iterator[Path]:
    yield from sorted(path.glob("*.sql")) if path.is_dir() else [path]
