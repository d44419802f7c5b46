"""dbt's commands in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner, dbtRunnerResult

OnEvent = Callable[[Any], None]


def run_dbt(*arguments: str, on_event: OnEvent | None = None) -> Any:
    """The result of a command that ends well; an error fails the test with dbt's own words."""
    ended = try_dbt(*arguments, on_event=on_event)
    assert ended.success, f"dbt {' '.join(arguments)} failed\n{_errors_of(ended)}"
    return ended.result


def try_dbt(*arguments: str, on_event: OnEvent | None = None) -> dbtRunnerResult:
    """How a command ends; `on_event` hears what dbt says."""
    return dbtRunner(callbacks=[on_event] if on_event else []).invoke([*arguments, "--quiet"])


def folders(
    project: Path, profiles: Path | None = None, written: Path | None = None
) -> tuple[str, ...]:
    """Options: where dbt reads the project and its profiles, and where it writes.

    Where these are None, the profiles stand beside the project's settings, and dbt writes into
    the project.
    """
    written = written or project
    return (
        *("--project-dir", str(project), "--profiles-dir", str(profiles or project)),
        *("--target-path", str(written / "target"), "--log-path", str(written / "logs")),
    )


def _errors_of(ended: dbtRunnerResult) -> str:
    errors = [
        f"{result.node.name}: {result.message}"
        for result in getattr(ended.result, "results", [])
        if result.status in ("error", "fail", "runtime error")
    ]
    return "\n".join([*errors, str(ended.exception)])
