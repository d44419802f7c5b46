"""The dbt project that a command works on, and the Spark session of one of its targets."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cdc_marts.formats import SOURCE_FORMATS
from cdc_marts.relations import OWN, PACKAGE, Relations, is_mart, layer_of
from cdc_marts.run_history import FAILED

if TYPE_CHECKING:
    from dbt.adapters.spark_session.api import SparkSessionCredentials
    from dbt.cli.main import dbtRunnerResult
    from dbt.contracts.graph.manifest import Manifest
    from dbt.contracts.graph.nodes import ManifestNode
    from pyspark.sql import SparkSession

PROJECT_FILE = "dbt_project.yml"
PROFILES_FILE = "profiles.yml"
ADAPTER = "spark_session"
#: The target of the commands where nothing names one.
DEFAULT_TARGET = "local"


#: dbt's events that a node has ended -> their field with the number of all nodes.
_NODE_ENDED = {
    "LogModelResult": "total",
    "LogTestResult": "num_models",
    "LogSeedResult": "total",
    "LogSnapshotResult": "total",
}


class ProjectError(Exception):
    """The project or the target can't be used; the message says why and what to do."""


@dataclass(frozen=True)
class Target:
    """A target of the profile of a dbt project."""

    name: str
    #: the folder of dbt_project.yml
    root: Path
    #: the folder of profiles.yml
    profiles_dir: Path

    @classmethod
    def find(
        cls,
        name: str | None = None,
        project_dir: Path | None = None,
        profiles_dir: Path | None = None,
    ) -> Target:
        """The target that these name, with dbt's meaning of each.

        What is None is in dbt's environment variables (DBT_TARGET, DBT_PROJECT_DIR,
        DBT_PROFILES_DIR), or where dbt looks: in the current folder and, for the project, above
        it.  Profiles are also looked for in the project.
        """
        root = find_root(project_dir)
        return cls(
            name or os.environ.get("DBT_TARGET") or DEFAULT_TARGET,
            root,
            _find_profiles(root, profiles_dir),
        )

    @property
    def profile(self) -> str | None:
        """The name of the profile that the project uses; None where its file can't be read."""
        return _member(self.root / PROJECT_FILE, "profile")


def find_root(project_dir: Path | None = None) -> Path:
    """The folder of the project: `project_dir`, else that of DBT_PROJECT_DIR.

    Else it is the nearest folder, from the current one upwards, that holds a project.
    """
    if folder := project_dir or _folder_of_environment("DBT_PROJECT_DIR"):
        if not (folder / PROJECT_FILE).is_file():
            raise ProjectError(f"The folder {folder} contains no {PROJECT_FILE}.")
        return folder.resolve()
    current = Path.cwd()
    for root in (current, *current.parents):
        # The adapter's macros are a dbt project too, but one without a profile.
        if _member(root / PROJECT_FILE, "profile") is not None:
            return root
    raise ProjectError(
        f"{current} is not inside a dbt project: run the command in the folder of {PROJECT_FILE}"
        " or below it, or name that folder with --project-dir."
    )


def _find_profiles(root: Path, profiles_dir: Path | None) -> Path:
    if folder := profiles_dir or _folder_of_environment("DBT_PROFILES_DIR"):
        if not (folder / PROFILES_FILE).is_file():
            raise ProjectError(f"The folder {folder} contains no {PROFILES_FILE}.")
        return folder.resolve()
    folders = (Path.cwd(), root, root / "profiles", Path.home() / ".dbt")
    for folder in folders:
        if (folder / PROFILES_FILE).is_file():
            return folder
    raise ProjectError(
        f"There is no {PROFILES_FILE} in {root} or in {folders[-1]}: name its folder with"
        " --profiles-dir."
    )


def _folder_of_environment(variable: str) -> Path | None:
    folder = os.environ.get(variable)
    return Path(folder) if folder else None


def _member(path: Path, *names: str) -> str | None:
    """A text in a YAML file, under these names; None where it can't be read."""
    import yaml

    try:
        value = yaml.safe_load(path.read_text("utf-8"))
        for name in names:
            value = value[name]
        return str(value)
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        return None


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
    with _inside(target.root):
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


def state_folder(target: Target) -> Path:
    """Where a command may keep what it needs next time.

    That of the target's embedded catalog; the user's own where the catalog is elsewhere.
    """
    home = _credentials(target, lambda _: None).home
    if home:
        return target.root / Path(home).expanduser()
    states = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(states) / "cdc-marts"


def run_dbt(command: Sequence[str], target: Target) -> None:
    """Run a dbt command on `target`, in the session that is open; dbt prints what it does."""
    from dbt_common.exceptions import DbtRuntimeError

    result = _invoke_dbt(command, target)
    if not result.success:
        raise DbtRuntimeError(
            "dbt failed; its messages are above. Completed models keep their results, and the next"
            " run does the rest."
        ) from result.exception


def relations_of(target: Target) -> Relations:
    """Where the models and sources of the package are on `target`.

    As dbt reads the project now.  In the package's own project they have the names that it gives.
    """
    if _member(target.root / PROJECT_FILE, "name") == PACKAGE:
        return OWN
    return Relations.of_manifest(_manifest(target))


@dataclass(frozen=True)
class DbtOutcome:
    """What came of a dbt command that runs nodes: models, tests, seeds."""

    #: status, such as `success`, `pass`, `warn`, `skipped` -> nodes
    nodes: Counter[str]
    #: node -> what it said, of those that failed
    failed: dict[str, str]
    #: names of tests that warn
    warned: list[str]
    #: why dbt ran no node; None where it did
    refusal: str | None = None

    @property
    def has_succeeded(self) -> bool:
        return not self.failed and self.refusal is None


def outcome_of_dbt(
    command: Sequence[str], target: Target, on_progress: Callable[[int, int], None] | None = None
) -> DbtOutcome:
    """Run a dbt command as `run_dbt` does, and return what came of it.

    `on_progress` is called with how many nodes have ended, and of how many.
    """
    ended: set[int] = set()

    def on_event(event: Any) -> None:
        if on_progress is not None and event.info.name in _NODE_ENDED:
            ended.add(event.data.index)
            on_progress(len(ended), getattr(event.data, _NODE_ENDED[event.info.name]))

    result = _invoke_dbt(command, target, on_event)
    results = getattr(result.result, "results", [])
    failed = {
        found.node.name: " ".join(str(found.message).split())
        for found in results
        if found.status in FAILED
    }
    refusal = None
    if not result.success and not failed:
        refusal = " ".join(str(result.exception or "dbt failed").split())
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


@dataclass(frozen=True)
class Retention:
    """How long the rows of a table are kept."""

    days: int
    #: the column with their times
    column: str


@dataclass(frozen=True)
class BuiltTable:
    """A table that the project builds."""

    #: as of `layer_of`
    layer: str
    #: None where its rows are kept for ever
    retention: Retention | None = None


@dataclass(frozen=True)
class Inventory:
    """The tables of a target, as dbt reads the project now."""

    #: as of `built_tables`
    tables: dict[str, BuiltTable]
    relations: Relations


def inventory_of(target: Target) -> Inventory:
    """What the project builds on `target`, and where the package's models are among it."""
    manifest = _manifest(target)
    return Inventory(_built_tables(manifest), Relations.of_manifest(manifest))


@dataclass(frozen=True)
class UpkeepPlan:
    """What `cdc-marts maintain` sees to, as dbt reads the project now."""

    #: as of `built_tables`
    tables: dict[str, BuiltTable]
    #: how many days messages stay in landing, None for ever
    landing_days: int | None
    #: format -> what is made from its messages: marts, and what other projects make from them
    marts: dict[str, list[str]]
    relations: Relations


def upkeep_plan(target: Target) -> UpkeepPlan:
    """What the settings say of upkeep; ProjectError where one of them is wrong."""
    from cdc_marts.retention import RetentionError, days_of

    manifest = _manifest(target)
    relations = Relations.of_manifest(manifest)
    settings = [
        source.meta["retention"]
        for source in manifest.sources.values()
        if source.package_name == PACKAGE and source.identifier == "removed_messages"
    ]
    try:
        (days,) = map(days_of, map(_setting, settings))
    except RetentionError as error:
        raise ProjectError(str(error)) from error
    marts = {source_format: _marts_of(manifest, source_format) for source_format in SOURCE_FORMATS}
    return UpkeepPlan(_built_tables(manifest), days, marts, relations)


def _marts_of(manifest: Manifest, source_format: str) -> list[str]:
    """Without typed marts of other formats, and what is made from these alone."""

    def has_the_format(node: ManifestNode) -> bool:
        of_typed_mart = node.config.meta.get(PACKAGE, {}).get("source_format")
        return of_typed_mart in (None, source_format)

    return [
        f"{node.schema}.{node.alias}"
        for node in _made_from(manifest, f"stg_{source_format}", has_the_format)
        if is_mart(node)
        if node.config.materialized != "ephemeral"
    ]


def _setting(rendered: Any) -> Any:
    """A var as `meta` has it: dbt renders JSON text, and reads some of it as a value."""
    if not isinstance(rendered, str):
        return rendered
    try:
        return json.loads(rendered)
    except ValueError:
        return rendered


def built_tables(target: Target) -> dict[str, BuiltTable]:
    """The tables that the project builds on `target`, and those where messages and runs land.

    By their names, as dbt reads the project now: its models that are no views, its seeds, and the
    package's sources; other sources belong to somebody else.  Those that read come before those
    that are read, by schemas.
    """
    return _built_tables(_manifest(target))


def _built_tables(manifest: Manifest) -> dict[str, BuiltTable]:
    relations = Relations.of_manifest(manifest)
    nodes = [
        node
        for node in manifest.nodes.values()
        if node.resource_type in ("model", "seed", "snapshot")
        and node.config.materialized not in ("view", "ephemeral")
    ]
    landing = [source for source in manifest.sources.values() if source.package_name == PACKAGE]
    tables = {
        **{f"{node.schema}.{node.alias}": BuiltTable(layer_of(node)) for node in nodes},
        **{
            f"{source.schema}.{source.identifier}": BuiltTable(
                layer_of(source), _retention(source.meta)
            )
            for source in landing
        },
    }
    places = {schema: place for place, schema in enumerate(relations.schemas)}
    in_order = sorted(tables, key=lambda name: places.get(name.partition(".")[0], -1))
    return {name: tables[name] for name in in_order}


@dataclass(frozen=True)
class Descendants:
    """What the project makes from a model, and the model itself."""

    #: tables that `dbt run --full-refresh` builds anew
    tables: list[str]
    #: tables that it does not: snapshots, and models that are set so
    kept: list[str]


def descendants(target: Target, model: str) -> Descendants:
    """What is made from `model`, a model of the package, as dbt reads the project now."""
    from dbt.artifacts.resources.types import NodeType

    made = Descendants([], [])
    for node in _made_from(_manifest(target), model):
        if node.config.materialized in ("view", "ephemeral"):
            continue
        is_rebuilt = getattr(node.config, "full_refresh", None) is not False
        is_kept = node.resource_type == NodeType.Snapshot or not is_rebuilt
        (made.kept if is_kept else made.tables).append(f"{node.schema}.{node.alias}")
    return made


def _made_from(
    manifest: Manifest, model: str, is_wanted: Callable[[ManifestNode], bool] = lambda _: True
) -> list[ManifestNode]:
    """A model of the package, with the wanted models and snapshots that are made from it."""
    found, last = {f"model.{PACKAGE}.{model}"}, 0
    while len(found) > last:
        last = len(found)
        found |= {
            name
            for name, node in manifest.nodes.items()
            if node.resource_type in ("model", "snapshot")
            and found & set(node.depends_on_nodes)
            and is_wanted(node)
        }
    return [manifest.nodes[name] for name in sorted(found)]


def is_embedded(target: Target) -> bool:
    """Whether one process at a time writes to the catalog of a target."""
    return bool(_credentials(target, lambda _: None).home)


def _manifest(target: Target) -> Manifest:
    """The project as dbt reads it now, for `target`."""
    from dbt.contracts.graph.manifest import Manifest

    result = _invoke_dbt(["parse", "--quiet", "--no-write-json"], target)
    manifest = result.result
    if not isinstance(manifest, Manifest):
        reason = " ".join(str(result.exception).split())
        raise ProjectError(f"dbt can't read the project: {reason}") from result.exception
    if not any(node.package_name == PACKAGE for node in manifest.nodes.values()):
        raise ProjectError(
            f"The project in {target.root} does not use the package {PACKAGE}: add it to"
            " packages.yml, then run `cdc-marts link` or `dbt deps`."
        )
    return manifest


def _retention(meta: Mapping[str, Any]) -> Retention | None:
    """As the `meta` of a source has it: `keep_days`, `keep_by`."""
    days = meta.get("keep_days")
    if days is None:
        return None
    if not str(days).isdigit():
        raise ProjectError(
            f"The setting `run_history_days` needs a number of days, not {days!r}: correct it in"
            f" `vars` of {PROJECT_FILE}."
        )
    return Retention(int(days), meta["keep_by"])


def _invoke_dbt(
    command: Sequence[str], target: Target, on_event: Callable[[Any], None] = lambda _: None
) -> dbtRunnerResult:
    from dbt.cli.main import dbtRunner

    folders = ("--project-dir", str(target.root), "--profiles-dir", str(target.profiles_dir))
    # dbt's relative paths start where it runs.
    with _inside(target.root):
        runner = dbtRunner(callbacks=[on_event])
        result = runner.invoke([*command, "--target", target.name, *folders])
    if isinstance(result.exception, KeyboardInterrupt):
        raise result.exception
    return result


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    caller = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(caller)


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
