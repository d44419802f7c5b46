"""`cdc-marts status` and `maintain`."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn

from cdc_marts.cli.console import FAILED, counted, progress_bar, say, tell
from cdc_marts.cli.options import on_target, time_span
from cdc_marts.cli.session import open_session
from cdc_marts.printing import printable
from cdc_marts.project import Target, built_tables, only_run, relations_of


@on_target
def status(
    max_lag: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="Exit with 1 if the newest event of a topic is older: 30s, 10m, 2h or 1d.",
        ),
    ] = None,
    max_rejects: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            min=0,
            help="Exit with 1 if a topic has more quarantined messages than this.",
        ),
    ] = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    *,
    target: Target,
) -> None:
    """Show per topic how many messages landed, wait for a run, or were rejected.

    The numbers come from the counts that each run leaves, so the command reads
    no messages. The lag is the age of the newest event or heartbeat that a run
    has read.
    """
    import json

    from cdc_marts.status import as_json, breaches, gather, last_run_of
    from cdc_marts.status_view import lines_of

    longest = None if max_lag is None else time_span(max_lag, "--max-lag")
    with open_session(target) as session:
        last_run = last_run_of(target.results_folder, target.name, target.default_name)
        found = gather(session, target.name, last_run, relations=relations_of(target))
    passed = list(breaches(found, longest, max_rejects))
    if is_json:
        text = json.dumps({**as_json(found), "breaches": passed})
        # It may stand in a page of HTML.
        typer.echo(text.replace("<", "\\u003c"))
    else:
        for line in (*lines_of(found), *map(printable, passed)):
            tell(line)
    if passed:
        raise typer.Exit(FAILED)


@on_target
def maintain(
    keep_days: Annotated[
        int,
        typer.Option(
            metavar="DAYS",
            min=0,
            help="How many days snapshots are kept for queries of past states.",
        ),
    ] = 5,
    *,
    target: Target,
) -> None:
    """Compact the tables, expire old snapshots, and remove orphan files.

    Run this regularly, for example daily. Snapshots from which incremental runs
    continue are kept. Tables that this project does not build stay untouched,
    also those of models that were removed.
    """
    from cdc_marts.maintenance import maintain as maintain_tables
    from cdc_marts.maintenance import split_tables

    keep = dt.timedelta(days=keep_days)
    with (
        open_session(target) as session,
        only_run(session, target, say),
        progress_bar(MofNCompleteColumn()) as progress,
    ):
        tables, others = split_tables(session, built_tables(target))
        width = max(map(len, tables), default=0)
        for done in progress.track(maintain_tables(session, tables, keep), total=len(tables)):
            tell(
                f"{done.table:<{width}}  files {_became(done.files)},"
                f" snapshots {_became(done.snapshots)}"
                + (f", {counted(done.orphan_files, 'orphan file')}" if done.orphan_files else "")
            )
    if others:
        names = ", ".join(map(printable, others))
        tell(f"Not maintained, because no model of this project builds them: {names}.")
    if not tables:
        tell(f"The target {target} has no tables yet.")


def _became(counts: tuple[int, int]) -> str:
    before, after = counts
    return f"{before:,}" if before == after else f"{before:,} -> {after:,}"
