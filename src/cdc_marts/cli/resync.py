"""`cdc-marts resync`."""

from __future__ import annotations

from typing import Annotated

import typer

from cdc_marts.cli.console import FAILED, say, stop, tell
from cdc_marts.cli.options import Format, on_target, utc
from cdc_marts.cli.session import open_session
from cdc_marts.printing import counted, printable
from cdc_marts.project.dbt_commands import run_dbt
from cdc_marts.project.inventory import relations_of
from cdc_marts.project.locks import only_run
from cdc_marts.project.target import Target


@on_target
def resync(
    source_format: Format,
    table_id: Annotated[
        str,
        typer.Option(
            "--table", metavar="TABLE", help="The table_id of the table in marts.source_tables."
        ),
    ],
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When the load began, such as 2026-11-22T08:00 (UTC). Only rows that landed from"
            " this time on belong to the load.",
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC",
            help="The topic that contains the load. Required for formats in which the rows of a"
            " load are inserts.",
        ),
    ] = None,
    keep_changes: Annotated[
        bool,
        typer.Option(
            "--keep-changes",
            help="Keep changes that landed between --since and the first row of the load, and apply"
            " them on top of the load. Without this option, the command refuses such a load.",
        ),
    ] = False,
    *,
    target: Target,
) -> None:
    """Repair a table from a full load that has landed and was read by a run.

    The load replaces everything that the stream reported before the load began:
    rows that the load does not contain are deleted. Later changes stay. The
    command runs `dbt run`; other tables stay unchanged.
    """
    from cdc_marts.operations.resync import ResyncError
    from cdc_marts.operations.resync import resync as resync_table

    if since is None and topic is None:
        raise typer.BadParameter("Identify the load by --since, --topic, or both.")
    loaded_since = None if since is None else utc(since, "--since")
    with open_session(target) as session:
        try:
            done = resync_table(
                session,
                source_format.value,
                table_id,
                lambda command: run_dbt(command, target),
                only_run(session, target, say),
                loaded_since,
                topic,
                relations_of(target),
                keep_changes=keep_changes,
            )
        except ResyncError as error:
            stop(f"{error} Nothing was changed.", FAILED)
    before, now = done.rows
    tell(
        f"{printable(table_id)}: repaired from {counted(done.loaded_rows, 'row')} of the load"
        f" since {done.loaded_since:%Y-%m-%d %H:%M:%S} UTC. The table had {counted(before, 'row')}"
        f" and now has {now:,}."
    )
