"""The Spark session of a target, and whose turn it is to write."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
    """The session that dbt would open for `target`, as long as the block runs.

    `target`: its name alone means the project of the current folder.  `on_notice`
    is called with what makes the opening take long.  `packages`: Maven coordinates of
    jars beside the target's.  `is_reader`: the block only reads, and may do so
    beside a run.
    """
    from dbt.adapters.spark_session.api import close_session

    if isinstance(target, str):
        target = Target.find(target)
    # A profile's relative paths start where dbt runs.
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
    """No dbt run on `target` as long as the block runs; before it the one that is there ends.

    On an embedded catalog that is so as long as its session is open.
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
    """Write to an embedded catalog in a session that is open, as long as the block runs.

    Behind it other processes may, until the next such block.  On a shared catalog each dbt run
    takes its turn by itself.
    """
    from dbt.adapters.spark_session.api import release_home, take_home

    take_home(_credentials(target, on_notice).lock_timeout)
    try:
        yield
    finally:
        release_home()


def explain(error: BaseException, target: Target) -> str:
    """What a person needs of an error in the session of a target."""
    from dbt.adapters.spark_session.api import message_of

    return message_of(error, _home(target))


def state_folder(target: Target) -> Path:
    """Where a command may keep what it needs next time.

    That of the target's embedded catalog; the user's own where the catalog is elsewhere.
    """
    if home := _home(target):
        return home
    states = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(states) / "cdc-marts"


def is_embedded(target: Target) -> bool:
    """Whether one process at a time writes to the catalog of a target."""
    return _home(target) is not None


def _home(target: Target) -> Path | None:
    """The folder of the embedded catalog of a target; None where its catalog is elsewhere."""
    home = _credentials(target, lambda _: None).home
    return target.root / Path(home).expanduser() if home else None


def _credentials(target: Target, on_notice: Callable[[str], None]) -> SparkSessionCredentials:
    from dbt.config.profile import Profile, read_profile
    from dbt.config.renderer import ProfileRenderer
    from dbt.flags import set_from_args
    from dbt_common.context import set_invocation_context
    from dbt_common.events.event_manager_client import add_callback_to_manager, cleanup_event_logger
    from dbt_common.exceptions import DbtBaseException

    # What dbt's own command line sets up before it reads a profile.
    set_invocation_context(dict(os.environ))
    profiles_dir = str(target.profiles_dir)
    set_from_args(Namespace(project_dir=str(target.root), profiles_dir=profiles_dir), None)
    cleanup_event_logger()
    add_callback_to_manager(lambda event: _pass_on(event, on_notice))
    profile_name = target.profile or ""
    try:
        profiles = read_profile(profiles_dir)
        targets = profiles.get(profile_name, {}).get("outputs", {})
        file = target.profiles_dir / PROFILES_FILE
        if target.name not in targets:
            raise ProjectError(
                f"The profile {target.profile} in {file} has no target {target.name!r}: it has"
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
        reason = " ".join(str(error).split())
        raise ProjectError(f"The target {target.name!r} can't be read: {reason}") from error
    return cast("SparkSessionCredentials", profile.credentials)


def _pass_on(event: Any, on_notice: Callable[[str], None]) -> None:
    if event.info.level in ("info", "warn", "error"):
        on_notice(event.info.msg.removeprefix("Spark adapter: "))
