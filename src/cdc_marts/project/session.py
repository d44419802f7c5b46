"""The Spark session of a target, and the locks that let one process write at a time."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cdc_marts.printing import one_line
from cdc_marts.project.target import PROFILES_FILE, ProjectError, Target, inside

if TYPE_CHECKING:
    from dbt.adapters.spark_session.api import SparkSessionCredentials
    from pyspark.sql import SparkSession

ADAPTER = "spark_session"


@contextmanager
def spark_session(
    target: Target | str,
    on_notice: Callable[[str], None] = lambda _: None,
    packages: Sequence[str] = (),
    is_reader: bool = False,
) -> Iterator[SparkSession]:
    """Yield the session that dbt would open for `target`, and close it after the block.

    `target`: a name alone means a target of the project of the current folder. `on_notice` is
    called with reasons why the opening takes long. `packages`: Maven coordinates of further jars.
    `is_reader`: the block only reads, and may run beside a dbt run.
    """
    from dbt.adapters.spark_session.api import close_session

    if isinstance(target, str):
        target = Target.find(target)
    # dbt resolves the relative paths of a profile against the current folder.
    with inside(target.root):
        session = _credentials(target, on_notice).session(packages, is_reader)
    try:
        yield session
    finally:
        close_session()


@contextmanager
def only_run(
    session: SparkSession, target: Target, on_notice: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Keep other dbt runs off `target` while the block runs. Wait for a run that has begun.

    On an embedded catalog, the open session already keeps them off.
    """
    from dbt.adapters.spark_session.api import RunLock

    credentials = _credentials(target, on_notice)
    if credentials.run_lock is None:
        yield
        return
    lock = RunLock(session, credentials.run_lock)
    lock.take(credentials.lock_timeout)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def turn_to_write(target: Target, on_notice: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of an embedded catalog while the block runs.

    Between two such blocks, other processes may write. On a shared catalog, each dbt run takes its
    lock itself.
    """
    from dbt.adapters.spark_session.api import release_home, take_home

    take_home(_credentials(target, on_notice).lock_timeout)
    try:
        yield
    finally:
        release_home()


@contextmanager
def turn_of_others(target: Target, on_notice: Callable[[str], None]) -> Iterator[None]:
    """Let other processes write to an embedded catalog while a person answers a question.

    Wait for them afterwards, unless the block ends with an error.
    """
    from dbt.adapters.spark_session.api import release_home, take_home

    release_home()
    yield
    take_home(_credentials(target, on_notice).lock_timeout)


def known_errors() -> tuple[type[BaseException], ...]:
    """Return the errors of a command on a target that a person can act on (`explain`)."""
    from dbt.adapters.spark_session.api import SPARK_ERRORS
    from dbt_common.exceptions import DbtBaseException

    return (ProjectError, DbtBaseException, *SPARK_ERRORS)


def explain(error: BaseException, target: Target, of_spark: str = "") -> str:
    """Return what a person needs to know of an error of a command on a target.

    `of_spark`: how the text begins if the error is one of Spark.
    """
    from dbt.adapters.spark_session.api import SPARK_ERRORS, message_of
    from dbt_common.exceptions import DbtBaseException, DbtRuntimeError

    if isinstance(error, SPARK_ERRORS):
        return of_spark + message_of(error, _home(target))
    if isinstance(error, DbtRuntimeError):
        return error.msg
    return one_line(error) if isinstance(error, DbtBaseException) else str(error)


def state_folder(target: Target) -> Path:
    """Return the folder of the embedded catalog, or if there is none, the user's state folder."""
    if home := _home(target):
        return home
    states = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(states) / "cdc-marts"


def is_embedded(target: Target) -> bool:
    """Return whether the catalog of a target allows only one process at a time to write."""
    return _home(target) is not None


def _home(target: Target) -> Path | None:
    """Return the folder of the embedded catalog of a target; None if its catalog is elsewhere."""
    home = _credentials(target, lambda _: None).home
    return target.root / Path(home).expanduser() if home else None


def _credentials(target: Target, on_notice: Callable[[str], None]) -> SparkSessionCredentials:
    from dbt.config.profile import Profile, read_profile
    from dbt.config.renderer import ProfileRenderer
    from dbt.flags import set_from_args
    from dbt_common.context import set_invocation_context
    from dbt_common.events.event_manager_client import add_callback_to_manager, cleanup_event_logger
    from dbt_common.exceptions import DbtBaseException

    # If the project's file is not YAML, this says so better than dbt does.
    profile_name = target.profile
    # dbt's own command line does this before it reads a profile.
    set_invocation_context(dict(os.environ))
    profiles_dir = str(target.profiles_dir)
    set_from_args(Namespace(project_dir=str(target.root), profiles_dir=profiles_dir), None)
    cleanup_event_logger()
    add_callback_to_manager(lambda event: _pass_on(event, on_notice))
    try:
        profiles = read_profile(profiles_dir)
        targets = profiles.get(profile_name, {}).get("outputs", {})
        file = target.profiles_dir / PROFILES_FILE
        if target.name not in targets:
            raise ProjectError(
                f"The profile {profile_name} in {file} has no target {target.name!r}: it has"
                f" {', '.join(targets) or 'none'}."
            )
        adapter = targets[target.name].get("type")
        if adapter != ADAPTER:
            raise ProjectError(
                f"cdc_marts needs the dbt adapter {ADAPTER}, but the target {target.name!r} is of"
                f" type {adapter}: set `type: {ADAPTER}` for this target in {file}."
            )
        profile = Profile.from_raw_profiles(
            profiles, profile_name, ProfileRenderer({}), target_override=target.name
        )
    except DbtBaseException as error:
        reason = one_line(error)
        raise ProjectError(f"The target {target.name!r} can't be read: {reason}") from error
    return cast("SparkSessionCredentials", profile.credentials)


def _pass_on(event: Any, on_notice: Callable[[str], None]) -> None:
    if event.info.level in ("info", "warn", "error"):
        on_notice(event.info.msg.removeprefix("Spark adapter: "))
