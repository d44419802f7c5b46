"""`cdc-marts erase`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_marts.cli.console import FAILED, WRONG_USE, confirm_or_stop, say, stop, tell
from cdc_marts.cli.options import Format, on_target
from cdc_marts.cli.session import open_session
from cdc_marts.printing import counted, printable
from cdc_marts.project.inventory import descendants, relations_of
from cdc_marts.project.locks import turn_of_others
from cdc_marts.project.target import Target
from cdc_marts.relations import with_all_made_from

if TYPE_CHECKING:
    from cdc_marts.operations.erasure import Erasure, Found, Leftovers

#: What the command says if nobody confirms the erasure.
NOT_CONFIRMED = "Nothing was erased. If nobody can answer, as in a script, add --yes."


@on_target
def erase(
    source_format: Format,
    table_id: Annotated[
        str,
        typer.Option(
            "--table", metavar="TABLE", help="The table_id of the table in marts.source_tables."
        ),
    ],
    keys: Annotated[
        list[str],
        typer.Option(
            "--key",
            metavar="KEY",
            help="The row_key of the row in marts.latest_state or marts.change_events. Repeat the"
            " option to erase several rows with one rebuild.",
        ),
    ],
    with_mentions: Annotated[
        bool,
        typer.Option(
            "--mentions",
            help="Also erase quarantined messages and texts of statements that contain the values"
            " of the key.",
        ),
    ] = False,
    is_dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be erased, and change nothing.")
    ] = False,
    is_confirmed: Annotated[
        bool, typer.Option("--yes", help="Erase without asking for confirmation.")
    ] = False,
    *,
    target: Target,
) -> None:
    """Erase rows from all tables and files, for example at a person's request.

    The landed messages lose the row, all tables that are built from them are
    rebuilt, and older snapshots are deleted. Other rows stay as they are. A
    rebuild does not bring the row back, but a source that sends it again does.
    """
    from cdc_marts.operations.erasure import Erasure, ErasureError

    if target.name == "demo":
        stop("The samples of the demo are seeds and stay there. Use another target.", WRONG_USE)
    with open_session(target) as session:
        erasure = Erasure(session, source_format.value, table_id, relations_of(target))
        made = descendants(target, source_format.value)
        price = _price(erasure, len(made.tables))
        try:
            if is_dry_run:
                _tell_of_waiting(erasure, keys)
            else:
                erasure.read_waiting(keys, made, target)
            found = erasure.find(keys)
            for line in _lines(erasure, found, with_mentions):
                tell(line)
            if is_dry_run:
                tell(f"Nothing was changed. {price}")
                return
            if not is_confirmed:
                with turn_of_others(target, say):
                    confirm_or_stop(f"{price} Erase?", otherwise=NOT_CONFIRMED)
            leftovers = erasure.erase_everywhere(found, with_mentions, made, target, say)
        except ErasureError as error:
            stop(f"{error} Nothing was changed.", FAILED)
    rebuilt = f"Erased. {counted(len(made.tables), 'table')} were rebuilt"
    tell(rebuilt + ("." if leftovers.references else ", and no older snapshot of them is left."))
    _tell_leftovers(leftovers, erasure)


def _tell_leftovers(leftovers: Leftovers, erasure: Erasure) -> None:
    """Tell what may still have the rows, and what to do.

    Tags, branches, and messages with the rows end the command.
    """
    if leftovers.references:
        stop(
            "Tags and branches keep older snapshots that have the rows: drop them, and repeat this"
            f" command. {', '.join(map(printable, leftovers.references))}",
            FAILED,
        )
    if leftovers.tables:
        tell(
            "No run of dbt builds these tables anew, so they may still have the rows:"
            f" {', '.join(map(printable, leftovers.tables))}."
        )
    if leftovers.of_other_targets:
        tell(
            f"Tables of other targets also read {erasure.landing}:"
            f" {', '.join(map(printable, leftovers.of_other_targets))}. They still have the rows,"
            " and so has what is made from them. With each of these targets, run `dbt run"
            f" --full-refresh --select {with_all_made_from(erasure.source_format)}`, and then"
            " `cdc-marts maintain --keep-days 0`."
        )
    if leftovers.are_back:
        stop("A message with the rows has landed in the meantime: repeat this command.", FAILED)


def _tell_of_waiting(erasure: Erasure, keys: Sequence[str]) -> None:
    if waiting := erasure.count_waiting(keys):
        tell(f"{counted(waiting, 'message')} wait for a run, and may contain the rows.")


def _lines_of_interrupted(erasure: Erasure, found: Found) -> Iterator[str]:
    interrupted = erasure.interrupted(found.asked)
    are_known = {note.rows is not None for note in interrupted.completed}
    if True in are_known:
        yield "An earlier erasure was interrupted. This command completes it."
    if False in are_known:
        yield (
            "An earlier erasure by an older version was interrupted. It did not note its rows: this"
            " command completes it if they are the same. Otherwise repeat it too."
        )
    for note in interrupted.others:
        yield (
            f"{note.subject(erasure.landing, erasure.staging)} still works or was interrupted. It"
            " is of other rows or on another target, so this command does not complete it: repeat"
            " it too, with the same keys."
        )


def _lines(erasure: Erasure, found: Found, with_mentions: bool) -> Iterator[str]:
    yield from _lines_of_interrupted(erasure, found)
    keys = ", ".join(map(printable, found.row_keys))
    yield f"{erasure.source_format} {printable(erasure.table_id)}: {keys}"
    live = ", ".join(map(printable, found.live_keys)) or "none"
    yield f"Rows in latest_state: {live}"
    yield f"Landed messages that lose their value and key: {len(found.whole):,}"
    if found.shared:
        yield f"Landed messages that lose these rows and keep others: {len(found.shared):,}"
    if found.copied:
        yield (
            "Messages with other copies that no run reads, and that have the values of the key:"
            f" {len(found.copied):,}. These copies are erased too."
        )
    if found.mentions:
        what = "are erased too" if with_mentions else "stay, unless you add --mentions"
        yield (
            "Quarantined messages and texts of statements with the values of the key:"
            f" {len(found.mentions):,}. They {what}."
        )


def _price(erasure: Erasure, tables: int) -> str:
    return (
        f"An erasure builds {counted(tables, 'table')} anew from {erasure.landing}, and deletes"
        " their older snapshots."
    )
