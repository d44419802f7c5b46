"""Macros of the dbt package that Python renders too, so that their SQL is written once."""

from __future__ import annotations

from collections.abc import Callable

from jinja2 import Environment

from cdc_marts.package_files import PACKAGE_ROOT


def package_macro(file: str, name: str) -> Callable[..., str]:
    """Return a macro as a function of its arguments. It must use nothing that only dbt has.

    `file`: its path in the folder of macros.
    """
    text = (PACKAGE_ROOT / "macros" / file).read_text("utf-8")
    macros = Environment(extensions=["jinja2.ext.do"]).from_string(text).module
    macro: Callable[..., str] = vars(macros)[name]
    return macro
