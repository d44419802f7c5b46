"""dbt's commands in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner, dbtRunnerResult

from cdc_marts.project.dbt_commands import failures_of

OnEvent = Callable[[Any], None]


def run_dbt(*arguments: str, on_event: OnEvent | None = None) -> Any:
    """Return the result of a successful command. An error fails the test with dbt's own message."""
    ended = try_dbt(*arguments, on_event=on_event)
    assert ended.success, f"dbt {' '.join(arguments)} failed\n{_errors_of(ended)}"
    return ended.result


def try_dbt(*arguments: str, on_event: OnEvent | None = None) -> dbtRunnerResult:
    """Return the result of a command. `on_event` is called with each event of dbt."""
    return dbtRunner(callbacks=[on_event] if on_event else []).invoke([*arguments, "--quiet"])


def folders(
    project: Path, profiles: Path | None = None, written: Path | None = None
) -> tuple[str, ...]:
    """Return options: where dbt reads the project and its profiles, and where it writes.

    If `profiles` is None, the profiles are beside the project's settings. If `written` is None, dbt
    writes into the project.
    """
    read = ("--project-dir", str(project), "--profiles-dir", str(profiles or project))
    if written is None:
        return read
    return (*read, "--target-path", str(written / "target"), "--log-path", str(written / "logs"))


def _errors_of(ended: dbtRunnerResult) -> str:
    errors = [f"{node}: {message}" for node, message in failures_of(ended).items()]
    return "\n".join([*errors, str(ended.exception)])
