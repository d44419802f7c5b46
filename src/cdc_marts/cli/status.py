"""`cdc-marts status`."""

from __future__ import annotations

from typing import Annotated

import typer

from cdc_marts.cli.console import FAILED, tell
from cdc_marts.cli.options import on_target, time_span
from cdc_marts.cli.session import open_session
from cdc_marts.printing import printable
from cdc_marts.project.inventory import relations_of
from cdc_marts.project.target import Target


@on_target
def status(
    max_lag: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="Exit with 1 if a topic has a longer lag than this (30s, 10m, 2h or 1d), or if no"
            " message has landed.",
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
    has read. Without one, it is the age of the oldest message that waits.
    """
    import json

    from cdc_marts.operations.status import as_json, breaches
    from cdc_marts.operations.status_gathering import gather
    from cdc_marts.operations.status_view import lines_of

    longest = None if max_lag is None else time_span(max_lag, "--max-lag")
    with open_session(target, is_reader=True) as session:
        found = gather(session, target.name, relations=relations_of(target))
    passed = list(breaches(found, longest, max_rejects))
    if is_json:
        text = json.dumps({**as_json(found), "breaches": passed})
        # Somebody may put it into a page of HTML.
        typer.echo(text.replace("<", "\\u003c"))
    else:
        for line in (*lines_of(found), *map(printable, passed)):
            tell(line)
    if passed:
        raise typer.Exit(FAILED)
