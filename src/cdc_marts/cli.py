"""The command line `cdc-marts`.  Commands import what they need when they run: help is quick."""

from __future__ import annotations

import datetime as dt
import difflib
import logging
import os
import re
import signal
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TimeRemainingColumn,
)

from cdc_marts.formats import SOURCE_FORMATS
from cdc_marts.package_files import DBT, PACKAGE_ROOT
from cdc_marts.printing import printable, printable_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.landing.outcome import Landing
    from cdc_marts.scaffold import Scaffolding

FAILED = 1
WRONG_USE = 2
INTERRUPTED = 130

SourceFormat = Enum("SourceFormat", {name: name for name in SOURCE_FORMATS})


def _source_format(name: str | SourceFormat) -> SourceFormat:
    """The format of this name; the error for another name suggests the closest format."""
    if isinstance(name, SourceFormat):
        return name
    if name in SOURCE_FORMATS:
        return SourceFormat[name]
    meant = difflib.get_close_matches(name.lower(), SOURCE_FORMATS, n=1, cutoff=0.4)
    hint = f" Did you mean {meant[0]}?" if meant else ""
    raise typer.BadParameter(
        f"There is no format {name!r}.{hint} The formats are {', '.join(SOURCE_FORMATS)}."
    )


Target = Annotated[
    str,
    typer.Option(
        metavar="TARGET",
        help="A target of profiles.yml: local, demo or cluster.",
    ),
]

LandedFormat = Annotated[
    SourceFormat,
    typer.Option(
        "--format",
        metavar="FORMAT",
        parser=_source_format,
        help=f"One of {', '.join(SOURCE_FORMATS)}.",
    ),
]
LandingTarget = Annotated[
    str,
    typer.Option(
        metavar="TARGET",
        help="Where to land, a target of profiles.yml: local, demo (which also builds the"
        " samples) or cluster.",
    ),
]

#: So many are shown one by one; the others are counted.
_MOST_REPORTS = 100
_MOST_PARTITIONS = 20
_SERVER = re.compile(r"\S+:\d+")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"cdc-marts {version('cdc-marts')}")
        raise typer.Exit


@app.callback()
def main(
    _: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """CDC messages of nine formats to change events and latest state."""


@app.command()
def init(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A new folder; its name is the project's."),
    ],
) -> None:
    """Start a dbt project of one's own, on the models that are installed with this command.

    Writes the project with the demo's tables and profiles. `dbt build` runs
    there at once.
    """
    from cdc_marts import project
    from cdc_marts.new_project import link_package, write_project

    try:
        write_project(folder)
        link_package(folder.resolve())
    except project.ProjectError as error:
        _stop(str(error), WRONG_USE)
    _tell(f"Wrote the dbt project {folder.resolve().name}. Next: cd {folder} && dbt build")


@app.command()
def link() -> None:
    """Have the project use the models that are installed with this command.

    To be run in a new clone of the project, or with a new Python.
    """
    from cdc_marts import project
    from cdc_marts.new_project import link_package

    try:
        link_package(project.project_root(Path.cwd()))
    except project.ProjectError as error:
        _stop(str(error), WRONG_USE)
    _tell(f"The project uses the models in {PACKAGE_ROOT}.")


land_app = typer.Typer(help="Bring messages into the landing tables.", no_args_is_help=True)
app.add_typer(land_app, name="land")


@land_app.command("files")
def land_files(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Files, landed in this order; - is stdin, a name in .gz is decompressed.",
        ),
    ],
    source_format: LandedFormat,
    topic: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC",
            help="The lines are bare messages of this topic: they land in its partition 0, at the"
            " offsets after those that it has.",
        ),
    ] = None,
    target: LandingTarget = "local",
) -> None:
    """Land the messages of files, one a line.

    A line is an envelope:

    {"topic": "shop", "partition": 0, "offset": 7, "timestamp": 1760000000000,
    "key": null, "value": "the message as a string"}

    "value_base64" in place of "value" holds binary. A wrong line is reported
    and left out, and the exit code is 1. Coordinates landed again count once.

    With --topic a line is the message itself; landing a file again lands its
    messages again. Blank lines are no messages.
    """
    for path in paths:
        _check(path)
    if topic is not None and not topic.strip():
        raise typer.BadParameter("--topic needs a name.")
    if topic is not None and source_format is SourceFormat.dts_avro:
        _say(
            "dts_avro messages are binary: one that holds a line break is cut there. Envelopes"
            " with value_base64 bring them in whole."
        )
    from cdc_marts.landing.checks import mistake_in

    for path in paths:
        mistake = mistake_in(path, is_bare=topic is not None)
        if mistake is not None:
            _stop(f"{mistake} Nothing was landed.", WRONG_USE)
    with _session(target, "Spark failed, and nothing was landed") as session:
        landing = _land(session, source_format.value, paths, topic)
    _summarize(landing, target)
    if landing.wrong_lines:
        raise typer.Exit(FAILED)


@land_app.command("kafka")
def land_kafka(
    source_format: LandedFormat,
    servers: Annotated[
        str,
        typer.Option(
            "--bootstrap-servers",
            metavar="HOST:PORT,...",
            help="Brokers that lead to the others.",
        ),
    ],
    topics: Annotated[
        str,
        typer.Option(metavar="TOPIC,...", help="What to land; all of one format."),
    ],
    properties: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A Java properties file of Kafka client settings: security.protocol,"
            " sasl.jaas.config and their like.",
        ),
    ] = None,
    max_messages: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            min=1,
            help="Land no more than so many; the next run goes on after them.",
        ),
    ] = None,
    skip_lost: Annotated[
        bool,
        typer.Option(
            "--skip-lost",
            help="Go on where Kafka has deleted messages before they were landed.",
        ),
    ] = False,
    moved: Annotated[
        bool,
        typer.Option(
            "--moved",
            help="Go on where a topic was moved to another cluster, with its offsets.",
        ),
    ] = False,
    target: LandingTarget = "local",
) -> None:
    """Land what is new in topics of Kafka, each message once.

    A partition goes on after its highest landed offset; one that is new begins
    at its first message. It is one commit: a run that is killed has landed all
    or nothing, and the next one goes on from there.

    The exit code is 1, and nothing is landed, where Kafka has deleted messages
    that were not landed yet, or a topic was deleted and created anew.
    """
    names = _names(topics, "--topics")
    if properties is not None:
        _check(properties)
    if not all(_SERVER.fullmatch(server) for server in _names(servers, "--bootstrap-servers")):
        raise typer.BadParameter(f"--bootstrap-servers must be host:port,…, not {servers}.")

    from cdc_marts.landing import LandingError, kafka

    failed = "Spark failed; the next run goes on after what is landed"
    with _session(target, failed, kafka.PACKAGES) as session, _errors.status("Landing from Kafka"):
        try:
            landing = kafka.land_kafka(
                session,
                source_format.value,
                servers,
                names,
                properties=properties,
                skip_lost=skip_lost,
                moved=moved,
                max_messages=max_messages,
                report=_say,
            )
        except LandingError as error:
            _stop(f"{error} Nothing was landed.", FAILED)
    if landing.messages:
        _summarize(landing, target)
    else:
        _tell(f"Nothing new in {', '.join(names)} for {landing.table} (target {target}).")
    if landing.waiting:
        _tell(f"More waits in Kafka, up to {_counted(landing.waiting, 'message')}: run it again.")


def _names(text: str, option: str) -> list[str]:
    """The names in a list with commas, each once."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise typer.BadParameter(f"{option} needs names with commas between them, not {text!r}.")
    return list(dict.fromkeys(names))


@app.command()
def scaffold(
    target: Annotated[
        str,
        typer.Option(
            metavar="TARGET",
            help="Whose source tables: a target of profiles.yml that was built.",
        ),
    ] = "local",
) -> None:
    """Declare a typed mart for every source table seen, with its model.

    Reads marts.source_tables of the target. Writes `vars: tables` of
    dbt_project.yml and models/marts/typed; what is there already stays as it is.
    """
    from cdc_marts import project
    from cdc_marts.scaffold import ScaffoldError, seen_tables
    from cdc_marts.scaffold import scaffold as write_marts

    with _session(target) as session:
        try:
            done = write_marts(project.project_root(Path.cwd()), seen_tables(session, target))
        except ScaffoldError as error:
            _stop(f"{error} Nothing was written.", FAILED)
    _report_marts(done, target)


def _report_marts(done: Scaffolding, target: str) -> None:
    from cdc_marts.scaffold import PROJECT_FILE, TYPED_MARTS

    width = max(map(len, (*done.models, *done.kept)))
    if done.models:
        _tell(
            f"Declared {_counted(len(done.declared), 'table')} in {PROJECT_FILE}, and wrote"
            f" {_counted(len(done.models), 'model')} to {TYPED_MARTS}:"
        )
    for name in done.models:
        table = done.declared.get(name)
        of_table = (
            f"{table.source_format} {printable(table.table_id)}"
            if table
            else "was declared already"
        )
        _tell(f"  {name:<{width}}  {of_table}")
    if done.kept:
        _tell(f"Left {_counted(len(done.kept), 'mart')} as it was:")
    for name, table in done.kept.items():
        _tell(f"  {name:<{width}}  {table.source_format} {printable(table.table_id)}")
    if done.models:
        _tell(f"Next: {DBT} build --target {target}")


@app.command()
def requeue(
    source_format: Annotated[
        SourceFormat | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            parser=_source_format,
            help="Only this one of the formats.",
        ),
    ] = None,
    target: Target = "local",
) -> None:
    """Read quarantined messages again, after a parser was fixed.

    Runs `dbt run` with the var `requeue`: what can be read now leaves the
    quarantine and takes its place in the marts, the rest stays.
    """
    from cdc_marts import project
    from cdc_marts.requeue import requeue as requeue_messages

    source_formats = SOURCE_FORMATS if source_format is None else (source_format.value,)
    with _session(target) as session:
        outcomes = requeue_messages(
            session, source_formats, lambda command: project.run_dbt(command, target)
        )
    if not outcomes:
        _tell("No message is quarantined.")
    for outcome in outcomes:
        read = f"{outcome.source_format}: read {_counted(outcome.read, 'message')}"
        if not outcome.remaining:
            _tell(f"{read}, none remains")
            continue
        codes = ", ".join(
            f"{count:,} {printable(code)}" for code, count in outcome.remaining.most_common()
        )
        _tell(f"{read}, {outcome.remaining.total():,} remain: {codes}")


@app.command()
def resync(
    source_format: LandedFormat,
    table_id: Annotated[
        str,
        typer.Option(
            "--table", metavar="TABLE", help="The table_id, as marts.source_tables has it."
        ),
    ],
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The load began then (UTC, such as 2026-11-22T08:00): its rows landed later.",
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(metavar="TOPIC", help="The load is in this topic."),
    ] = None,
    target: Target = "local",
) -> None:
    """Repair a table from a full load that has landed and was read.

    The rows of the load take the place of all that the stream had told when the
    load began: rows that it lacks end. What the stream told since stays. Runs
    `dbt run`; other tables stay as they are.
    """
    from cdc_marts import project
    from cdc_marts.resync import ResyncError
    from cdc_marts.resync import resync as resync_table

    if since is None and topic is None:
        raise typer.BadParameter("Name the load by --since, --topic, or both.")
    loaded_since = None if since is None else _utc(since, "--since")
    with _session(target) as session:
        try:
            done = resync_table(
                session,
                source_format.value,
                table_id,
                lambda command: project.run_dbt(command, target),
                loaded_since,
                topic,
            )
        except ResyncError as error:
            _stop(f"{error} Nothing was changed.", FAILED)
    before, now = done.rows
    _tell(
        f"{printable(table_id)}: repaired from {_counted(done.loaded_rows, 'row')} of the load"
        f" since {done.loaded_since:%Y-%m-%d %H:%M:%S} UTC; it had {_counted(before, 'row')},"
        f" and has {now:,} now."
    )


def _utc(text: str, option: str) -> dt.datetime:
    """A time, of UTC where it names no zone."""
    try:
        time = dt.datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{option} must be a time such as 2026-11-22T08:00, not {text!r}."
        ) from None
    return time.astimezone(dt.timezone.utc) if time.tzinfo else time.replace(tzinfo=dt.timezone.utc)


@app.command()
def status(
    max_lag: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="Exit with 1 where the newest event of a topic is older: 30s, 10m, 2h or 1d.",
        ),
    ] = None,
    max_rejects: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            min=0,
            help="Exit with 1 where more messages of a topic are quarantined.",
        ),
    ] = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    target: Target = "local",
) -> None:
    """Show per topic what landed, what waits for a run, and what was rejected.

    It reads what runs have counted, no messages. The lag is the age of the
    newest event or heartbeat that was read.
    """
    import json

    from cdc_marts import project
    from cdc_marts.status import as_json, breaches, gather, last_run_of
    from cdc_marts.status_view import lines_of

    longest = None if max_lag is None else _span(max_lag, "--max-lag")
    with _session(target) as session:
        root = project.project_root(Path.cwd())
        last_run = last_run_of(project.results_folder(root), target, project.default_target(root))
        found = gather(session, target, last_run)
    passed = list(breaches(found, longest, max_rejects))
    if is_json:
        text = json.dumps({**as_json(found), "breaches": passed})
        # It may stand in a page of HTML.
        typer.echo(text.replace("<", "\\u003c"))
    else:
        for line in (*lines_of(found), *map(printable, passed)):
            _tell(line)
    if passed:
        raise typer.Exit(FAILED)


def _span(text: str, option: str) -> dt.timedelta:
    found = re.fullmatch(r"(\d{1,6})([smhd])", text.strip())
    if found is None:
        raise typer.BadParameter(
            f"{option} must be a span such as 30s, 10m, 2h or 1d, not {text!r}."
        )
    unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[found[2]]
    return dt.timedelta(**{unit: int(found[1])})


@app.command()
def maintain(
    keep_days: Annotated[
        int,
        typer.Option(
            metavar="DAYS",
            min=0,
            help="How long snapshots stay, to query tables as they were.",
        ),
    ] = 5,
    target: Target = "local",
) -> None:
    """Compact the tables, expire old snapshots, and remove files that belong to none.

    To be run now and then, daily where runs are many. What incremental runs
    read by stays, so they go on as before. Tables that this project does not
    build are left alone, also those of models that are gone.
    """
    from cdc_marts import project
    from cdc_marts.maintenance import maintain as maintain_tables
    from cdc_marts.maintenance import split_tables

    keep = dt.timedelta(days=keep_days)
    with (
        _session(target) as session,
        project.only_run(session, target, _say),
        _progress(MofNCompleteColumn()) as progress,
    ):
        tables, others = split_tables(session, project.built_tables(target))
        width = max(map(len, tables), default=0)
        for done in progress.track(maintain_tables(session, tables, keep), total=len(tables)):
            _tell(
                f"{done.table:<{width}}  files {_became(done.files)},"
                f" snapshots {_became(done.snapshots)}"
                + (f", {_counted(done.orphan_files, 'orphan file')}" if done.orphan_files else "")
            )
    if others:
        names = ", ".join(map(printable, others))
        _tell(f"Left alone: {names}. No model of this project builds them.")
    if not tables:
        _tell(f"The target {target} has no tables yet.")


def _became(counts: tuple[int, int]) -> str:
    before, after = counts
    return f"{before:,}" if before == after else f"{before:,} -> {after:,}"


def _check(path: Path) -> None:
    if str(path) == "-":
        return
    if not path.exists():
        raise typer.BadParameter(f"There is no file {path}.")
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder: name its files.")
    if not os.access(path, os.R_OK):
        raise typer.BadParameter(f"{path} may not be read by this user.")


def _land(
    session: SparkSession, source_format: str, paths: Sequence[Path], topic: str | None
) -> Landing:
    from cdc_marts.landing import LandingError, files

    reports = 0

    def report(place: str, reason: str) -> None:
        nonlocal reports
        reports += 1
        if reports <= _MOST_REPORTS:
            _say(f"{place}: {reason}")

    with _progress(DownloadColumn()) as progress:
        task = progress.add_task("", total=_total_size(paths))
        try:
            landing = files.land_files(
                session,
                source_format,
                paths,
                topic,
                report=report,
                advance=lambda count: progress.advance(task, count),
            )
        except LandingError as error:
            _stop(f"{error} Nothing was landed.", FAILED)
    if reports > _MOST_REPORTS:
        _say(f"and {reports - _MOST_REPORTS:,} more wrong lines")
    return landing


@contextmanager
def _session(
    target: str, failed: str = "Spark failed", packages: Sequence[str] = ()
) -> Iterator[SparkSession]:
    """The session of a target; what goes wrong in it ends the command with a sentence.

    `packages`: as `project.spark_session` takes them.
    """
    with _errors.status("Starting Spark") as starting:
        from dbt_common.exceptions import DbtRuntimeError
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        from cdc_marts import project
        from dbt.adapters.spark_session.errors import message_of

        try:
            with project.spark_session(target, on_notice=_say, packages=packages) as session:
                starting.stop()
                # Spark's own handler asks the JVM in the middle of another answer.
                signal.signal(signal.SIGINT, _interrupt)
                yield session
        except KeyboardInterrupt:
            _stop("Interrupted.", INTERRUPTED)
        except project.ProjectError as error:
            _stop(str(error), WRONG_USE)
        except DbtRuntimeError as error:
            _stop(error.msg, FAILED)
        except (PySparkException, Py4JError) as error:
            _stop(f"{failed}: {message_of(error)}", FAILED)


def _interrupt(*_: object) -> NoReturn:
    # Of a call that is broken off Spark has much to say.
    logging.disable()
    warnings.simplefilter("ignore")
    raise KeyboardInterrupt


def _summarize(landing: Landing, target: str) -> None:
    places = sorted(landing.messages)
    count = sum(landing.messages.values())
    _tell(f"Landed {_counted(count, 'message')} in {landing.table} (target {target}).")
    for topic, partition in islice(places, _MOST_PARTITIONS):
        first, last = landing.offsets[topic, partition]
        _tell(
            f"  {printable(topic)}, partition {partition}:"
            f" {_counted(landing.messages[topic, partition], 'message')}, offsets {first} to {last}"
        )
    if len(places) > _MOST_PARTITIONS:
        _tell(f"  and {_counted(len(places) - _MOST_PARTITIONS, 'partition')} more")
    if landing.wrong_lines:
        _tell(f"Left out {_counted(landing.wrong_lines, 'wrong line')}, reported above.")
    if count:
        _tell(f"Next: {DBT} build --target {target}")


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _total_size(paths: Sequence[Path]) -> int | None:
    """Bytes to read, None where a pipe is among the paths."""
    if all(path.is_file() for path in paths):
        return sum(path.stat().st_size for path in paths)
    return None


_output = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
_errors = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def _progress(count: ProgressColumn) -> Progress:
    """A bar that shows how much is done in `count`."""
    return Progress(
        SpinnerColumn(),
        BarColumn(),
        count,
        TimeRemainingColumn(),
        console=_errors,
        transient=True,
        disable=not _errors.is_terminal,
    )


def _tell(text: str) -> None:
    _output.print(printable_lines(text))


def _say(text: str) -> None:
    """On stderr, beside the progress bar."""
    _errors.print(printable_lines(text))


def _stop(text: str, code: int) -> NoReturn:
    _say(text)
    raise typer.Exit(code)
