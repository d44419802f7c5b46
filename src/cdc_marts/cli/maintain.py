"""`cdc-marts maintain`."""

from __future__ import annotations

import datetime as dt
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import MofNCompleteColumn

from cdc_marts.cli.console import FAILED, WRONG_USE, confirm_or_stop, progress_bar, say, stop, tell
from cdc_marts.cli.options import on_target
from cdc_marts.cli.session import open_session
from cdc_marts.printing import counted, printable
from cdc_marts.project.locks import only_run, turn_of_others
from cdc_marts.project.target import ProjectError, Target

if TYPE_CHECKING:
    from cdc_marts.operations.old_messages import Decision, OldMessages
    from cdc_marts.operations.retention import Removal

#: What the command says if nobody confirms a removal.
NOT_CONFIRMED = (
    "Nothing was removed, and no table was maintained. To remove these messages, run"
    " `cdc-marts maintain --yes` once by hand: it asks again only before it removes"
    " messages of this age from another landing table. In a schedule, add --yes."
)


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
    is_confirmed: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Remove old messages from landing, as the setting `retention` says, without asking"
            " for confirmation.",
        ),
    ] = False,
    *,
    target: Target,
) -> None:
    """Compact the tables, expire old snapshots, and remove orphan files.

    Run this regularly, for example daily. Snapshots from which incremental runs
    continue are kept. Tables that this project does not build stay unchanged,
    including the tables of removed models. With the setting `retention`, old
    messages are removed from landing; staging keeps their content.
    """
    from cdc_marts.operations.maintenance import Maintained
    from cdc_marts.operations.maintenance import maintain as maintain_tables
    from cdc_marts.operations.maintenance_plan import maintenance_plan
    from cdc_marts.operations.maintenance_view import line_of
    from cdc_marts.operations.old_messages import OldMessages
    from cdc_marts.operations.retention import RetentionError
    from cdc_marts.operations.stored_tables import split_tables

    with open_session(target) as session:
        try:
            plan = maintenance_plan(target)
        except ProjectError as error:
            stop(str(error), WRONG_USE)
        old_messages = OldMessages(session, plan, dt.datetime.now(dt.timezone.utc))
        confirmed = None if is_confirmed else _ask(old_messages, target)
        with only_run(session, target, say) as check_turn:
            tables, others = split_tables(session, plan.tables, plan.relations.schemas)
            readers = old_messages.other_readers()
            try:
                removed = old_messages.remove(readers, confirmed, _tell, check_turn)
            except RetentionError as error:
                stop(str(error), FAILED)
            expiries = {name: table.expiry for name, table in plan.tables.items() if table.expiry}
            width = max(map(len, (*tables, "all tables")))
            maintained = maintain_tables(
                session,
                tables,
                keep_days,
                expiries,
                removed,
                chain.from_iterable(readers.values()),
                check_turn,
            )
            with progress_bar(MofNCompleteColumn()) as progress:
                all_done = []
                for done in progress.track(maintained, total=len(tables)):
                    tell(f"{done.table:<{width}}  {line_of(done)}")
                    all_done.append(done)
            if all_done:
                total = Maintained.of_all(all_done)
                tell(f"{total.table:<{width}}  {line_of(total)}")
    if others:
        names = ", ".join(map(printable, others))
        tell(f"Not maintained, because no model of this project builds them: {names}.")
    if not tables:
        tell(f"The target {target.name} has no tables yet.")


def _ask(old_messages: OldMessages, target: Target) -> set[str]:
    """Ask before messages of this age are removed for the first time; stop if not confirmed.

    Return the landing tables of these messages. Other processes may write meanwhile, so that no run
    waits for an answer.
    """
    first = old_messages.to_confirm()
    if not first:
        return set()
    for removal in first:
        tell(f"{_can_be_removed(removal)}.")
    staging = ", ".join(removal.staging for removal in first)
    of_formats = (old_messages.plan.marts[removal.source_format] for removal in first)
    marts = ", ".join(map(printable, sorted({mart for marts in of_formats for mart in marts})))
    with turn_of_others(target, say):
        confirm_or_stop(
            f"Then {staging} can't be built from landing alone any more, and neither can what"
            f" is made from it: {marts}. A full refresh keeps the rows of removed messages as"
            " they were read, and builds the marts from them. A changed parser, key or topic"
            " setting no longer applies to these messages. Remove them?",
            otherwise=NOT_CONFIRMED,
        )
    return {removal.landing for removal in first}


def _tell(decision: Decision) -> None:
    """Tell which messages are about to be removed, or why they stay."""
    removal = decision.removal
    if decision.readers:
        tell(
            f"{removal.landing} keeps its messages, because other tables than {removal.staging}"
            f" read it too: {', '.join(map(printable, decision.readers))}."
        )
    elif decision.is_unconfirmed:
        tell(f"{_can_be_removed(removal)}: the next `cdc-marts maintain` asks for it.")
    else:
        tell(
            f"Removing {counted(removal.messages, 'message')} that landed before"
            f" {removal.before:%Y-%m-%d %H:%M} UTC from {removal.landing}."
        )


def _can_be_removed(removal: Removal) -> str:
    return (
        f"{removal.landing}: {counted(removal.messages, 'message')} that landed before"
        f" {removal.before:%Y-%m-%d %H:%M} UTC can be removed"
    )
