"""`cdc-marts init`, `link` and `scaffold`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_marts.cli.console import FAILED, WRONG_USE, stop, tell
from cdc_marts.cli.options import ProjectDir, on_target
from cdc_marts.cli.session import open_session
from cdc_marts.package_files import DBT, PACKAGE_ROOT
from cdc_marts.printing import counted, printable
from cdc_marts.project.inventory import relations_of
from cdc_marts.project.target import ProjectError, Target, find_root

if TYPE_CHECKING:
    from cdc_marts.scaffold import Scaffolding


def init(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="A new folder. Its name becomes the name of the project."
        ),
    ],
) -> None:
    """Create a dbt project that uses the installed models.

    The project declares the tables of the demo and contains its profiles, so
    `dbt build` works in it at once.
    """
    from cdc_marts.new_project import link_package, write_project

    try:
        write_project(folder)
        link_package(folder.resolve())
    except ProjectError as error:
        stop(str(error), WRONG_USE)
    tell(f"Created the dbt project {folder.resolve().name}. Next: cd {folder} && dbt build")


def link(project_dir: ProjectDir = None) -> None:
    """Point the project at the installed models.

    Run this in a new clone of the project, or after a change of Python.
    """
    from cdc_marts.new_project import link_package

    try:
        link_package(find_root(project_dir))
    except ProjectError as error:
        stop(str(error), WRONG_USE)
    tell(f"The project uses the models in {PACKAGE_ROOT}.")


@on_target
def scaffold(
    *,
    target: Target,
) -> None:
    """Declare a typed mart for every source table, and write its model.

    The command reads marts.source_tables of the target. It adds declarations to
    `vars: tables` in dbt_project.yml, and models to models/marts/typed, or to
    marts/typed in the first of the project's `model-paths`. Existing declarations
    and models stay unchanged.
    """
    from cdc_marts.scaffold import ScaffoldError, seen_tables
    from cdc_marts.scaffold import scaffold as write_marts

    with open_session(target, is_reader=True) as session:
        try:
            tables = seen_tables(session, target.name, relations_of(target))
            done = write_marts(target.root, tables)
        except ScaffoldError as error:
            stop(f"{error} Nothing was written.", FAILED)
    _report_marts(done, target.name)


def _report_marts(done: Scaffolding, target: str) -> None:
    from cdc_marts.project.target import PROJECT_FILE

    width = max(map(len, (*done.models, *done.kept)))
    if done.models:
        tell(
            f"Declared {counted(len(done.declared), 'table')} in {PROJECT_FILE}, and wrote"
            f" {counted(len(done.models), 'model')} to {done.folder}:"
        )
    for name in done.models:
        table = done.declared.get(name)
        of_table = (
            f"{table.source_format} {printable(table.table_id)}" if table else "already declared"
        )
        tell(f"  {name:<{width}}  {of_table}")
    if done.kept:
        tell(f"Kept {counted(len(done.kept), 'existing mart')}:")
    for name, table in done.kept.items():
        tell(f"  {name:<{width}}  {table.source_format} {printable(table.table_id)}")
    if done.models:
        tell(f"Next: {DBT} build --target {target}")
