"""The dbt project that a command works on, and the Spark session of one of its targets."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from pyspark.sql import SparkSession

    from dbt.adapters.spark_session.connections import SparkSessionCredentials

PROFILE = "cdc_marts"
#: The dbt source whose tables hold the landed messages; other sources belong to somebody else.
LANDING_SOURCE = "landing"


class ProjectError(Exception):
    """The project or the target can't be used; the message says why and what to do."""


def project_root(folder: Path) -> Path:
    """The nearest folder, from `folder` upwards, that holds the project."""
    for root in (folder, *folder.parents):
        # The adapter's macros are a dbt project too, but one without profiles.
        if (root / "dbt_project.yml").is_file() and (
            (root / "profiles").is_dir() or (root / "profiles.yml").is_file()
        ):
            return root
    raise ProjectError(
        f"{folder} is not inside the project: run this in the folder of dbt_project.yml, or below."
    )


def results_folder(root: Path) -> Path:
    """Where dbt leaves the results of its commands."""
    return root / os.environ.get("DBT_TARGET_PATH", "target")


def default_target(root: Path) -> str | None:
    """The target of dbt's commands that name none; None where the profiles can't be read."""
    import yaml

    try:
        profiles = yaml.safe_load((_profiles_dir(root) / "profiles.yml").read_text("utf-8"))
        return str(profiles[PROFILE]["target"])
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        return None


@contextmanager
def spark_session(
    target: str,
    on_notice: Callable[[str], None] = lambda _: None,
    packages: Sequence[str] = (),
) -> Iterator[SparkSession]:
    """The session that dbt would open for `target`, as long as the block runs.

    `on_notice` is told of what makes the opening take long.  `packages`: Maven
    coordinates of jars beside the target's.
    """
    from dbt.adapters.spark_session.session import close_session

    root = project_root(Path.cwd())
    # A profile's relative paths start where dbt runs.
    with _inside(root):
        session = _credentials(root, target, on_notice).session(packages)
    try:
        yield session
    finally:
        close_session()


@contextmanager
def only_run(
    session: SparkSession, target: str, on_notice: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """No dbt run on `target` as long as the block runs; before it the one that is there ends.

    On an embedded catalog that is so as long as its session is open.
    """
    from dbt.adapters.spark_session.run_lock import RunLock

    credentials = _credentials(project_root(Path.cwd()), target, on_notice)
    if credentials.run_lock is None:
        yield
        return
    lock = RunLock(session, credentials.run_lock)
    lock.take(credentials.lock_timeout)
    try:
        yield
    finally:
        lock.release()


def run_dbt(command: Sequence[str], target: str) -> None:
    """Run a dbt command on `target`, in the session that is open; dbt prints what it does."""
    from dbt_common.exceptions import DbtRuntimeError

    result = _invoke_dbt(command, target)
    if not result.success:
        raise DbtRuntimeError(
            "dbt failed, see above: what it did not finish is as it was, and the next run does it."
        ) from result.exception


def built_tables(target: str) -> list[str]:
    """Names of the tables that the project builds on `target`, and of those where messages land.

    As dbt reads the project now: its models that are no views, its seeds, and its sources.
    """
    result = _invoke_dbt(["parse", "--quiet", "--no-write-json"], target)
    if not result.success:
        reason = " ".join(str(result.exception).split())
        raise ProjectError(f"dbt can't read the project: {reason}") from result.exception
    manifest = result.result
    nodes = [
        node
        for node in manifest.nodes.values()
        if node.resource_type in ("model", "seed", "snapshot")
        and node.config.materialized not in ("view", "ephemeral")
    ]
    landing = [
        source for source in manifest.sources.values() if source.source_name == LANDING_SOURCE
    ]
    return [
        *(f"{node.schema}.{node.alias}" for node in nodes),
        *(f"{source.schema}.{source.identifier}" for source in landing),
    ]


def _invoke_dbt(command: Sequence[str], target: str) -> dbtRunnerResult:
    from dbt.cli.main import dbtRunner

    root = project_root(Path.cwd())
    # dbt's relative paths start where it runs.
    with _inside(root):
        return dbtRunner().invoke([*command, "--target", target, "--project-dir", str(root)])


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    caller = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(caller)


def _credentials(
    root: Path, target: str, on_notice: Callable[[str], None]
) -> SparkSessionCredentials:
    from dbt.config.profile import Profile, read_profile
    from dbt.config.renderer import ProfileRenderer
    from dbt.flags import set_from_args
    from dbt_common.context import set_invocation_context
    from dbt_common.events.event_manager_client import add_callback_to_manager, cleanup_event_logger
    from dbt_common.exceptions import DbtBaseException

    # What dbt's own command line sets up before it reads a profile.
    set_invocation_context(dict(os.environ))
    profiles_dir = str(_profiles_dir(root))
    set_from_args(Namespace(project_dir=str(root), profiles_dir=profiles_dir), None)
    cleanup_event_logger()
    add_callback_to_manager(lambda event: _pass_on(event, on_notice))
    try:
        profiles = read_profile(profiles_dir)
        targets = profiles.get(PROFILE, {}).get("outputs", {})
        if target not in targets:
            raise ProjectError(
                f"There is no target {target!r} in {profiles_dir}/profiles.yml: it has"
                f" {', '.join(targets) or 'none'}."
            )
        if targets[target].get("type") != "spark_session":
            raise ProjectError(f"The target {target!r} is not one of type spark_session.")
        renderer = ProfileRenderer({})
        profile = Profile.from_raw_profiles(profiles, PROFILE, renderer, target_override=target)
    except DbtBaseException as error:
        reason = " ".join(str(error).split())
        raise ProjectError(f"The target {target!r} can't be read: {reason}") from error
    return profile.credentials


def _profiles_dir(root: Path) -> Path:
    if folder := os.environ.get("DBT_PROFILES_DIR"):
        return Path(folder)
    return root / "profiles" if (root / "profiles").is_dir() else root


def _pass_on(event: Any, on_notice: Callable[[str], None]) -> None:
    if event.info.level in ("info", "warn", "error"):
        on_notice(event.info.msg.removeprefix("Spark adapter: "))
