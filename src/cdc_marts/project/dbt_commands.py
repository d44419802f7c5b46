"""Commands of dbt on a target, and their outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cdc_marts.printing import one_line
from cdc_marts.project.target import ProjectError, Target, inside
from cdc_marts.relations import PACKAGE
from cdc_marts.run_history import FAILED_STATUSES

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from dbt.contracts.graph.manifest import Manifest

#: dbt's events of a node's end -> their field with the number of all nodes.
_NODE_ENDED = {
    "LogModelResult": "total",
    "LogTestResult": "num_models",
    "LogSeedResult": "total",
    "LogSnapshotResult": "total",
}
#: What becomes of a run that failed, unless a command says something else.
NEXT_RUN_CONTINUES = "Completed models keep their results, and the next run does the rest."


def run_dbt(command: Sequence[str], target: Target, if_failed: str = NEXT_RUN_CONTINUES) -> None:
    """Run a dbt command on `target`, in the open session.

    dbt prints its messages. Raise if dbt fails. `if_failed`: what the error then says besides.
    """
    from dbt_common.exceptions import DbtRuntimeError

    result = invoke_dbt(command, target)
    if not result.success:
        raise DbtRuntimeError(
            f"dbt failed; its messages are above. {if_failed}"
        ) from result.exception


@dataclass(frozen=True)
class DbtOutcome:
    """The outcome of a dbt command that runs nodes: models, tests, seeds."""

    #: status, such as `success`, `pass`, `warn`, `skipped` -> nodes
    nodes: Counter[str]
    #: failed node -> its message
    failed: dict[str, str]
    #: names of tests that warn
    warned: list[str]
    #: why dbt ran no node; None if it ran some
    refusal: str | None = None

    @property
    def has_succeeded(self) -> bool:
        return not self.failed and self.refusal is None


def outcome_of_dbt(
    command: Sequence[str], target: Target, on_progress: Callable[[int, int], None] | None = None
) -> DbtOutcome:
    """Run a dbt command as `run_dbt` does, and return its outcome.

    `on_progress` is called with the number of nodes that have ended, and the number of all nodes.
    """
    ended: set[int] = set()

    def on_event(event: Any) -> None:
        if on_progress is not None and event.info.name in _NODE_ENDED:
            ended.add(event.data.index)
            on_progress(len(ended), getattr(event.data, _NODE_ENDED[event.info.name]))

    result = invoke_dbt(command, target, on_event)
    results = results_of(result)
    failed = {node: one_line(message) for node, message in failures_of(result).items()}
    refusal = None
    if not result.success and not failed:
        refusal = one_line(result.exception or "dbt failed")
    return DbtOutcome(
        Counter(
            str(found.status)
            for found in results
            # Hooks and exposures have results too.
            if found.node.resource_type not in ("operation", "exposure")
        ),
        failed,
        [found.node.name for found in results if found.status == "warn"],
        refusal,
    )


def results_of(result: dbtRunnerResult) -> list[Any]:
    """Return the results of the nodes that a command ran; none if it ran no node."""
    return getattr(result.result, "results", [])


def failures_of(result: dbtRunnerResult) -> dict[str, str]:
    """Return failed node -> its message, as dbt writes it."""
    return {
        found.node.name: str(found.message)
        for found in results_of(result)
        if found.status in FAILED_STATUSES
    }


def manifest_of(target: Target) -> Manifest:
    """Return the manifest of the project, as dbt reads it now for `target`."""
    from dbt.contracts.graph.manifest import Manifest

    result = invoke_dbt(["parse", "--quiet", "--no-write-json"], target)
    manifest = result.result
    if not isinstance(manifest, Manifest):
        reason = one_line(result.exception)
        raise ProjectError(f"dbt can't read the project: {reason}") from result.exception
    if not any(node.package_name == PACKAGE for node in manifest.nodes.values()):
        raise ProjectError(
            f"The project in {target.root} does not use the package {PACKAGE}: add it to"
            " packages.yml, then run `cdc-marts link` or `dbt deps`."
        )
    return manifest


def invoke_dbt(
    command: Sequence[str], target: Target, on_event: Callable[[Any], None] = lambda _: None
) -> dbtRunnerResult:
    """Run a dbt command on `target`, and return dbt's result, also if it failed.

    `on_event` is called with each event of dbt. Raise KeyboardInterrupt if dbt was interrupted.
    """
    from dbt.cli.main import dbtRunner

    folders = ("--project-dir", str(target.root), "--profiles-dir", str(target.profiles_dir))
    # dbt resolves relative paths against the current folder.
    with inside(target.root):
        runner = dbtRunner(callbacks=[on_event])
        result = runner.invoke([*command, "--target", target.name, *folders])
    if isinstance(result.exception, KeyboardInterrupt):
        raise result.exception
    return result
