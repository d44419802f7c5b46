"""Macros that are made of SQL alone, as plain Jinja, without dbt."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import jinja2


def plain_macros(path: Path) -> SimpleNamespace:
    """The macros of a file by name; they find one another in their package, as with dbt."""
    package = SimpleNamespace()
    template = jinja2.Environment().from_string(
        path.read_text("utf-8"), globals={"cdc_marts": package}
    )
    package.__dict__.update(
        (name, macro) for name, macro in vars(template.module).items() if not name.startswith("_")
    )
    return package
