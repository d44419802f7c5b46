"""`cdc-marts erase`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_marts.cli.console import FAILED, WRONG_USE, say, stop, tell
from cdc_marts.cli.options import Format, on_target
from cdc_marts.cli.session import open_session
from cdc_marts.printing import counted, printable
from cdc_marts.project.dbt_commands import run_dbt
from cdc_marts.project.inventory import built_tables, descendants, relations_of
from cdc_marts.project.locks import only_run, turn_of_others
from cdc_marts.project.profile import is_embedded
from cdc_marts.project.target import Target
from cdc_marts.relations import with_all_made_from

if TYPE_CHECKING:
    from cdc_marts.operations.erasure import Erasure, Found
    from cdc_marts.project.inventory import Descendants

_NOT_COMPLETE = (
    "The erasure is not complete: older snapshots still have the rows. Repeat this command."
)


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
    from cdc_marts.operations.erasure import Erasure

    if target.name == "demo":
        stop("The samples of the demo are seeds and stay there. Use another target.", WRONG_USE)
    with open_session(target) as session:
        erasure = Erasure(session, source_format.value, table_id, relations_of(target))
        made = descendants(target, source_format.value)
        found = _find(erasure, keys, made, target, is_dry_run)
        for line in _lines(erasure, found, with_mentions):
            tell(line)
        if is_dry_run:
            tell(f"Nothing was changed. {_price(erasure, len(made.tables))}")
            return
        if not is_confirmed:
            with turn_of_others(target, say):
                typer.confirm(f"{_price(erasure, len(made.tables))} Erase?", abort=True)
        _erase(erasure, found, with_mentions, made, target)
        leftovers = _forget(erasure, made, target)
        are_back = erasure.are_back(found, with_mentions)
    rebuilt = f"Erased. {counted(len(made.tables), 'table')} were rebuilt"
    tell(rebuilt + ("." if leftovers.references else ", and no older snapshot of them is left."))
    _tell_leftovers(leftovers, erasure)
    if are_back:
        stop("A message with the rows has landed in the meantime: repeat this command.", FAILED)


@dataclass(frozen=True)
class _Leftovers:
    """What may still have the rows."""

    #: tags and branches that keep older snapshots
    references: Sequence[str]
    #: tables that no run builds anew
    tables: Sequence[str]
    #: tables of other targets that read the landing table
    of_other_targets: Sequence[str]


def _find(
    erasure: Erasure, keys: Sequence[str], made: Descendants, target: Target, is_dry_run: bool
) -> Found:
    """Return the traces of the rows. Messages that wait for a run are read first."""
    from cdc_marts.operations.erasure import ErasureError

    try:
        _read_what_waits(erasure, made, target, is_dry_run)
        return erasure.find(keys)
    except ErasureError as error:
        stop(f"{error} Nothing was changed.", FAILED)


def _erase(
    erasure: Erasure, found: Found, with_mentions: bool, made: Descendants, target: Target
) -> None:
    from cdc_marts.operations.erasure import ErasureError

    rebuild = ["run", "--full-refresh", "--select", *made.selectors]
    try:
        erasure.erase(found, with_mentions, lambda: run_dbt(rebuild, target, _NOT_COMPLETE))
    except ErasureError as error:
        stop(f"{error} Nothing was changed.", FAILED)


def _forget(erasure: Erasure, made: Descendants, target: Target) -> _Leftovers:
    """Delete older snapshots, and return what may still have the rows."""
    from cdc_marts.operations.other_readers import other_readers
    from cdc_marts.operations.stored_tables import split_tables

    session, relations = erasure.session, erasure.relations
    is_alone = is_embedded(target)
    with only_run(session, target, say):
        tables = filter(session.catalog.tableExists, (erasure.landing, *made.tables))
        references = erasure.forget(list(tables), is_alone)
        built = built_tables(target)
        _, unknown = split_tables(session, built, relations.schemas)
        readers = other_readers(session, relations.landing, built)
    return _Leftovers(references, [*made.kept, *unknown], readers.get(erasure.landing, ()))


def _tell_leftovers(leftovers: _Leftovers, erasure: Erasure) -> None:
    """Tell what may still have the rows, and what to do. Tags and branches end the command."""
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


def _read_what_waits(erasure: Erasure, made: Descendants, target: Target, is_dry_run: bool) -> None:
    """Read messages that wait for a run first: they may contain the rows."""
    waiting = erasure.count_waiting()
    if not waiting or erasure.is_unfinished:
        return
    if is_dry_run:
        tell(f"{counted(waiting, 'message')} wait for a run, and may contain the rows.")
        return
    run_dbt(["run", "--select", *made.selectors], target)


def _lines(erasure: Erasure, found: Found, with_mentions: bool) -> Iterator[str]:
    if erasure.is_unfinished:
        yield "An earlier erasure was interrupted. This command completes it."
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
