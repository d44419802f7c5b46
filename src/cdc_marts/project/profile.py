"""The settings of a target in its profile, and the folders that follow from them."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cdc_marts.printing import one_line
from cdc_marts.project.target import PROFILES_FILE, ProjectError, Target

if TYPE_CHECKING:
    from dbt.adapters.spark_session.api import SparkSessionCredentials

ADAPTER = "spark_session"


def credentials_of(target: Target) -> SparkSessionCredentials:
    """Return the settings of a target, as dbt reads them from the profile now.

    Raise ProjectError if the profile has no such target, or if it is of another adapter.
    """
    from dbt.config.profile import Profile, read_profile
    from dbt.config.renderer import ProfileRenderer
    from dbt.flags import set_from_args
    from dbt_common.context import set_invocation_context
    from dbt_common.exceptions import DbtBaseException

    # If the project's file is not YAML, this says so better than dbt does.
    profile_name = target.profile
    # dbt's own command line does this before it reads a profile.
    set_invocation_context(dict(os.environ))
    profiles_dir = str(target.profiles_dir)
    set_from_args(Namespace(project_dir=str(target.root), profiles_dir=profiles_dir), None)
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


def home_of(target: Target) -> Path | None:
    """Return the folder of the embedded catalog of a target; None if its catalog is elsewhere."""
    home = credentials_of(target).home
    return target.root / Path(home).expanduser() if home else None


def state_folder(target: Target) -> Path:
    """Return the folder of the embedded catalog, or if there is none, the user's state folder."""
    if home := home_of(target):
        return home
    states = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(states) / "cdc-marts"


def is_embedded(target: Target) -> bool:
    """Return whether the catalog of a target allows only one process at a time to write."""
    return home_of(target) is not None
