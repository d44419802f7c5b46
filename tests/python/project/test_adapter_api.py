"""The adapter and what is built on it meet at one module; the adapter knows nothing of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from dbt.adapters.spark_session import api

from tests.python.harness.manifest import ROOT

ADAPTER = "dbt.adapters.spark_session"


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_of_the_adapter_its_public_module_alone_is_imported() -> None:
    found = {
        (str(path.relative_to(ROOT)), name)
        for folder in ("src", "python_models", "benchmarks", "docs")
        for path in (ROOT / folder).rglob("*.py")
        for name in imports(path)
        if name.startswith(ADAPTER)
    }
    assert found
    assert {place for place in found if place[1] != f"{ADAPTER}.api"} == set()


def test_the_public_module_says_what_each_of_its_names_is_for() -> None:
    named = set(re.findall(r"`([\w.]+)`", api.__doc__ or ""))
    assert set(api.__all__) == {name.partition(".")[0] for name in named} - {"dataframe"}


def test_nothing_in_the_adapter_is_of_this_project() -> None:
    """Neither in its sources nor in its tests."""
    texts = {
        path: path.read_text("utf-8").lower()
        for path in (ROOT / "packages" / "dbt-spark-session").rglob("*")
        if path.suffix in (".py", ".sql", ".yml", ".properties")
    }
    assert len(texts) > 45
    assert [
        path for path, text in texts.items() if "cdc_marts" in text or "cdc-marts" in text
    ] == []
