"""The check of `vars: published_marts` of dbt_project.yml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt_common.exceptions import CompilationError


def check_published_marts(named: Any, marts: Sequence[str]) -> None:
    """Raise if the var `published_marts` is not a list of names of `marts`."""
    if not isinstance(named, list):
        raise _error(f"it must be a list of marts, such as [latest_state], not {named!r}")
    unknown = [str(name) for name in named if name not in marts]
    if unknown:
        raise _error(f"there is no mart {', '.join(unknown)}; there are {', '.join(sorted(marts))}")


def _error(problem: str) -> CompilationError:
    return CompilationError(f"The var `published_marts`: {problem}.")
