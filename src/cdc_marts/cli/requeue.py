"""`cdc-marts requeue`."""

from __future__ import annotations

from typing import Annotated

import typer

from cdc_marts.cli.console import tell
from cdc_marts.cli.options import SourceFormat, on_target, source_format_of
from cdc_marts.cli.session import open_session
from cdc_marts.printing import counted, printable
from cdc_marts.project.dbt_commands import NEXT_RUN_CONTINUES, run_dbt
from cdc_marts.project.inventory import relations_of
from cdc_marts.project.target import Target
from cdc_marts.source_formats import SOURCE_FORMATS

_IF_FAILED = f"{NEXT_RUN_CONTINUES} If a staging model failed, repeat `cdc-marts requeue`."


@on_target
def requeue(
    source_format: Annotated[
        SourceFormat | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            parser=source_format_of,
            help="Only messages of this format.",
        ),
    ] = None,
    *,
    target: Target,
) -> None:
    """Read quarantined messages again, for example after a parser was fixed.

    The command runs `dbt run` with the var `requeue`. Messages that are readable
    now move from the quarantine into the marts; the others stay.
    """
    from cdc_marts.operations.requeue import requeue as requeue_messages

    source_formats = SOURCE_FORMATS if source_format is None else (source_format.value,)
    with open_session(target) as session:
        outcomes = requeue_messages(
            session,
            source_formats,
            lambda command: run_dbt(command, target, _IF_FAILED),
            relations_of(target),
        )
    if not outcomes:
        tell("No messages are quarantined.")
    for outcome in outcomes:
        read = f"{outcome.source_format}: read {counted(outcome.read, 'message')}"
        if not outcome.remaining:
            tell(f"{read}, none remains")
            continue
        codes = ", ".join(
            f"{count:,} {printable(code)}" for code, count in outcome.remaining.most_common()
        )
        tell(f"{read}, {outcome.remaining.total():,} remain: {codes}")
