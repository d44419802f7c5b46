"""Declarations and models of typed marts, for the source tables of a target."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pyspark.errors import AnalysisException
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from cdc_marts.package_files import DBT, PACKAGE_ROOT
from cdc_marts.printing import one_line
from cdc_marts.project.target import PROJECT_FILE, TYPED_MARTS
from cdc_marts.relations import OWN, Relations

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DESCRIPTIONS = TYPED_MARTS / "_typed__models.yml"

_MODEL = "{{ cdc_marts.typed_mart() }}\n"
#: Where cdc_marts has its models and seeds.
_FOLDERS = ("models", "python_models", "seeds")


class ScaffoldError(Exception):
    """Nothing can be scaffolded; the message says why and what to do."""


@dataclass(frozen=True)
class TableName:
    """A row of `marts.source_tables`."""

    source_format: str
    table_id: str


@dataclass
class Scaffolding:
    """The marts that were written, and the marts that existed before."""

    #: where the models are, in the project
    folder: Path
    declared: dict[str, TableName] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    #: mart -> table that had a declaration and a model before
    kept: dict[str, TableName] = field(default_factory=dict)


def seen_tables(session: SparkSession, target: str, relations: Relations = OWN) -> list[TableName]:
    """Return the source tables of a target, by format and name."""
    source_tables = relations.model("source_tables")
    try:
        rows = session.sql(
            f"select source_format, table_id from {source_tables} where table_id is not null"
            " order by source_format, table_id"
        ).collect()
    except AnalysisException as error:
        if error.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        raise ScaffoldError(
            f"The target {target} has no {source_tables} yet. Land messages, then run"
            f" `{DBT} build --target {target}`."
        ) from error
    if not rows:
        raise ScaffoldError(
            f"The target {target} has no source tables yet. Land messages, then run"
            f" `{DBT} build --target {target}`."
        )
    return [TableName(row.source_format, row.table_id) for row in rows]


def scaffold(root: Path, tables: Iterable[TableName]) -> Scaffolding:
    """Declare these tables in the project at `root`, and write a model for each.

    Existing declarations, files and comments stay as they are.
    """
    project = _Project(root / PROJECT_FILE)
    folder = project.typed_marts
    descriptions = _Descriptions(root / folder / DESCRIPTIONS.name)
    declarations = project.tables
    names = {
        TableName(d["source_format"], d["table_id"]): name
        for name, d in declarations.items()
        if isinstance(d, dict) and {"source_format", "table_id"} <= d.keys()
    }
    models = set(_model_names(root, project.folders))
    taken = {*declarations, *models, *_model_names(PACKAGE_ROOT, _FOLDERS)}
    done = Scaffolding(folder)
    for table in tables:
        name = names.get(table)
        if name is None:
            name = _free_name(table, taken)
            declarations[_for_dbt(name)] = CommentedMap(
                source_format=table.source_format, table_id=_for_dbt(table.table_id)
            )
            done.declared[name] = table
        elif name in models:
            done.kept[name] = table
            continue
        taken.add(name)
        done.models.append(name)
    if done.models:
        # The declarations come first: a model without a declaration fails.
        project.save()
        descriptions.add(done.models)
        for name in done.models:
            _write(root / folder / f"{name}.sql", _MODEL)
    return done


class _Project:
    """The file `dbt_project.yml`, whose comments and layout are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._yaml = YAML()
        self._yaml.preserve_quotes = True
        self._yaml.width = 4096  # keeps long lines
        self._yaml.indent(mapping=2, sequence=4, offset=2)
        self._content = _read(self._yaml, path)

    @property
    def tables(self) -> Any:
        """The mapping `vars: tables`, which is added if it is missing."""
        content = self._content
        for name in ("vars", "tables"):
            if not content.get(name):
                content[name] = CommentedMap()
            content = content[name]
        return content

    @property
    def typed_marts(self) -> Path:
        """The folder of typed marts, in the first folder of the project's models."""
        return Path(self._paths("model")[0]) / TYPED_MARTS.relative_to("models")

    @property
    def folders(self) -> list[str]:
        """The folders with models and seeds, whose names must not be given again."""
        return [*self._paths("model"), *self._paths("seed")]

    def _paths(self, kind: str) -> list[str]:
        return list(self._content.get(f"{kind}-paths") or [f"{kind}s"])

    def save(self) -> None:
        text = StringIO()
        self._yaml.dump(self._content, text)
        _write(self._path, text.getvalue())


class _Descriptions:
    """The yml file of the typed marts. All have the same description, by its anchor."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists():
            content = _read(YAML(typ="safe"), path)
            self._text = path.read_text("utf-8")
        else:
            # A project that uses cdc_marts as a package begins with the anchor and no marts.
            described = (PACKAGE_ROOT / DESCRIPTIONS).read_text("utf-8")
            content = {"models": None}
            self._text = described.split("\nmodels:")[0] + "\nmodels:\n"
        self.names = {model["name"] for model in content.get("models") or ()}
        if "&typed_mart" not in self._text:
            raise ScaffoldError(
                f"{path} lacks the anchor `&typed_mart`, the description of all typed marts. Copy"
                f" `anchors:` into it from {PACKAGE_ROOT / DESCRIPTIONS}."
            )
        if list(content)[-1:] != ["models"]:
            raise ScaffoldError(
                f"{path} does not end with `models:`, to which new marts are added. Move `models:`"
                " to its end."
            )

    def add(self, names: Iterable[str]) -> None:
        """Write the file if there are new names. dbt refuses a file whose `models:` is empty."""
        new = [name for name in names if name not in self.names]
        texts = [name if _is_text_to_dbt(name) else f'"{name}"' for name in new]
        added = [f"\n  - name: {text}\n    <<: *typed_mart\n" for text in texts]
        if added:
            _write(self._path, "".join([self._text, *added]))


def _read(yaml: YAML, path: Path) -> Any:
    try:
        content = yaml.load(path.read_text("utf-8"))
    except (OSError, YAMLError) as error:
        reason = one_line(error)
        raise ScaffoldError(f"{path} can't be read: {reason}") from error
    if not isinstance(content, dict):
        raise ScaffoldError(f"{path} is not a YAML mapping.")
    return content


def _write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    # A link stays one.
    file = path.resolve()
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_text(text, "utf-8")
            if file.exists():
                shutil.copymode(file, partial)
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise ScaffoldError(f"{path} can't be written: {error.strerror}.") from error


def _for_dbt(text: str) -> str:
    """Return the text, in quotes if dbt would read it as something other than a text."""
    return text if _is_text_to_dbt(text) else DoubleQuotedScalarString(text)


def _is_text_to_dbt(text: str) -> bool:
    """Return whether dbt reads the text as it is, without quotes.

    dbt reads YAML 1.1 and ruamel writes YAML 1.2, in which `no` and `12:30` are texts.
    """
    try:
        return bool(yaml.safe_load(text) == text)
    except yaml.YAMLError:
        return False


def _model_names(root: Path, folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for path in (root / folder).rglob("*"):
            if path.suffix in (".sql", ".py", ".csv"):
                yield path.stem


def _free_name(table: TableName, taken: set[str]) -> str:
    """Return a model's name made of the table's name.

    If it is taken, add its format, then a number.
    """
    words = re.findall(r"[a-z0-9]+", table.table_id.lower())
    name = "_".join(words) or "table"
    if name[0].isdigit():
        name = f"table_{name}"
    candidates = [name, f"{name}_{table.source_format}"]
    candidates += [f"{candidates[1]}_{number}" for number in range(2, len(taken) + 3)]
    return next(candidate for candidate in candidates if candidate not in taken)
