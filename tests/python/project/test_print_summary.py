"""After a build, dbt prints what was built, but only if nothing failed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import Environment

from cdc_marts.package_macros import package_macro
from cdc_marts.run_history import FAILED_STATUSES
from tests.python.harness.manifest import ROOT

MODELS = (
    "int_landed_messages",
    "change_events",
    "latest_state",
    "source_tables",
    "ddl_events",
    "heartbeats",
    "transaction_events",
    "quarantined_messages",
)


def summary(*statuses: str, target: str = "demo", is_quiet: bool = False) -> str:
    """Return what is printed after a build of the models, and of nodes with further statuses.

    Fail the test if rows are counted that only the demo counts.
    """
    printed: list[str] = []

    def run_query(_: str) -> Any:
        assert target == "demo" and not is_quiet, "rows are counted"
        return SimpleNamespace(rows=[dict.fromkeys(MODELS, 3)])

    macros = Environment(extensions=["jinja2.ext.do"]).from_string(
        (ROOT / "macros" / "print_summary.sql").read_text("utf-8"),
        {
            "execute": True,
            "failed_statuses": package_macro("sql/failed_statuses.sql", "failed_statuses"),
            "flags": SimpleNamespace(WHICH="build", QUIET=is_quiet),
            "print": printed.append,
            "project_name": "cdc_marts",
            "run_query": run_query,
            "target": SimpleNamespace(name=target),
        },
    )
    results = [_result(name, "success") for name in MODELS]
    results += [_result("another", status) for status in statuses]
    macros.module.print_summary(results)  # type: ignore[attr-defined]
    return "\n".join(printed)


def _result(name: str, status: str) -> Any:
    node = SimpleNamespace(package_name="cdc_marts", name=name, relation_name=f"marts.{name}")
    return SimpleNamespace(node=node, status=status)


def test_what_was_built_is_counted_for_the_demo() -> None:
    printed = summary("pass", "warn", "no-op")
    assert "Built for target demo:" in printed
    assert "       3  change events" in printed


def test_other_targets_name_the_command_that_counts() -> None:
    printed = summary(target="local")
    assert "Built for target local." in printed
    assert "  ./run cdc-marts status --target local" in printed
    assert "The marts are in schema `marts`." in printed


def test_nothing_is_printed_with_quiet() -> None:
    assert summary(is_quiet=True) == ""


@pytest.mark.parametrize("status", [*FAILED_STATUSES, "skipped"])
def test_nothing_is_printed_if_a_node_failed(status: str) -> None:
    assert summary("success", status) == ""
