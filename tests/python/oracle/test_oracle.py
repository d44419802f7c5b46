"""Whatever happens in a database, the marts end as the database does: proven by random histories.

`ORACLE_SEED=7` draws other histories; a failure prints the command that repeats just its history.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.project.target import TYPED_MARTS
from cdc_marts.source_formats import SOURCE_FORMATS
from cdc_marts.typed.columns import MART_COLUMNS
from tests.python.encoders.changes import one_by_one
from tests.python.harness.copied_project import (
    add_typed_marts,
    copy_without_tables,
)
from tests.python.harness.project import LANDED_AT, Project
from tests.python.oracle import comparison
from tests.python.oracle.carriers import Delivered, deliver
from tests.python.oracle.comparison import REBUILT, Difference
from tests.python.oracle.histories import draw_histories
from tests.python.oracle.traits import BY_SETTING
from tests.python.samples.declarations import declarations

pytestmark = pytest.mark.thorough

SEED = int(os.environ.get("ORACLE_SEED", "1"))
#: One history alone: `seed/runs/format/number`, or the first ones: `seed/runs/formats/1-number`.
HISTORY = os.environ.get("ORACLE_HISTORY")

#: Differences that a failure shows.
_SHOWN = 5

#: Marts that are published too, where there is time for it, and equal what is published.
PUBLISHED = ("change_events", "latest_state", "row_history", "quarantined_messages")

#: Data tests that name tables whose rows messages do not contain whole.
KNOWN_LIMITS = ("rows_have_one_key", "tables_are_keyed_or_keyless", "rows_have_all_columns")
#: The one that names statements.
NOT_APPLIED = "statements_are_applied"


@dataclass(frozen=True)
class Batch:
    """Histories that go through the same runs."""

    seed: int
    runs: int
    #: Of each format.
    size: int
    #: Of them so many with a typed mart for each table.
    typed: int
    source_formats: Sequence[str] = SOURCE_FORMATS
    #: All but this one are left out.
    number: int | None = None

    @property
    def published(self) -> Sequence[str]:
        """Marts that are published."""
        return PUBLISHED if self.runs > 2 else ()


def _batches() -> list[Any]:
    if HISTORY:
        seed, runs, source_formats, numbers = HISTORY.split("/")
        _, _, last = numbers.partition("-")
        size = int(last or numbers)
        typed, number = (1, None) if last else (size, size)
        return [Batch(int(seed), int(runs), size, typed, source_formats.split(","), number)]
    return [
        pytest.param(Batch(SEED, runs=2, size=4, typed=1), id="few"),
        *(
            pytest.param(
                Batch(SEED + more, runs=4, size=70, typed=1), marks=pytest.mark.long, id=f"{more}"
            )
            for more in range(1, 4)
        ),
    ]


@dataclass(frozen=True)
class Outcome:
    """The marts after all runs of a batch, and after a rebuild."""

    batch: Batch
    project: Project
    delivered: list[Delivered]
    latest_state: comparison.ByTable
    row_history: comparison.ByTable
    events: dict[tuple[str, str], int]
    ledger: list[dict[str, Any]]
    #: (format, table_id) -> rows of its typed mart, after all runs and after a rebuild.
    typed: comparison.ByTable
    typed_rebuilt: comparison.ByTable
    #: (data test, format, table_id) of the tables that data tests of known limits name.
    named: set[tuple[str, str, str]]
    #: (format, text) of the statements that a data test names.
    warned: set[tuple[str, str]]
    #: Mart -> its rows as JSON texts.
    after_runs: dict[str, set[str]]
    published: dict[str, set[str]]
    rebuilt: dict[str, set[str]]

    def of(self, source_format: str) -> list[Delivered]:
        return [d for d in self.delivered if d.history.source_format == source_format]


@pytest.fixture(scope="module", params=_batches())
def outcome(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Outcome:
    batch: Batch = request.param
    folder = copy_without_tables(tmp_path_factory.mktemp("oracle"))
    delivered = _delivered(batch)
    typed_tables = _typed_tables(batch, delivered)
    add_typed_marts(folder, typed_tables)
    Project(spark).empty()
    project = Project(spark, folder)
    settings = json.dumps(
        {**_settings(delivered, typed_tables), "published_marts": batch.published}
    )
    options = ("--vars", settings)
    print(f"oracle: {_summary(batch, delivered)}")
    random = Random(batch.seed)
    # One more is the first one, where there is time for it.
    cut_runs = (1,) if batch.runs == 2 else (0, 1, 3)
    for run in range(batch.runs):
        for source_format, messages in _landing(delivered, run).items():
            project.land(source_format, messages, LANDED_AT + dt.timedelta(hours=run))
        if run in cut_runs:
            _run_in_part(project, random, options, is_first=run == 0)
        project.dbt("run", *options)
    after_runs = {mart: _texts(project, mart) for mart in REBUILT}
    published = {mart: _texts(project, mart, "published") for mart in batch.published}
    states = project.rows(
        "select source_format, table_id, row_key, to_json(`row`) as `row`, row_count"
        " from marts.latest_state"
    )
    versions = project.rows(
        "select source_format, table_id, row_key, to_json(`row`) as `row`, row_count,"
        " valid_from, valid_to, is_current from marts.row_history order by version"
    )
    counted = project.rows(
        "select source_format, table_id, count(*) as events"
        " from marts.change_events group by source_format, table_id"
    )
    ledger = project.rows("select * from marts.message_ledger")
    typed = _typed_rows(project, typed_tables)
    found = project.found_by((*KNOWN_LIMITS, NOT_APPLIED), *options)
    project.dbt("run", "--full-refresh", *options)
    return Outcome(
        batch,
        project,
        delivered,
        comparison.by_table(states),
        comparison.by_table(versions),
        {(row["source_format"], row["table_id"]): row["events"] for row in counted},
        ledger,
        typed,
        _typed_rows(project, typed_tables),
        {
            (test, row["source_format"], row["table_id"])
            for test in KNOWN_LIMITS
            for row in found[test]
        },
        {(row["source_format"], row["ddl_text"]) for row in found[NOT_APPLIED]},
        after_runs,
        published,
        {mart: _texts(project, mart) for mart in REBUILT},
    )


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_the_state_is_what_the_database_holds(outcome: Outcome, source_format: str) -> None:
    _fail_on_differences(
        outcome,
        source_format,
        lambda delivered: comparison.state_differences(delivered.history, outcome.latest_state),
    )


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_the_history_is_what_the_database_went_through(
    outcome: Outcome, source_format: str
) -> None:
    _fail_on_differences(
        outcome,
        source_format,
        lambda delivered: comparison.history_differences(delivered.history, outcome.row_history),
    )


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
@pytest.mark.parametrize("marts", ["typed", "typed_rebuilt"])
def test_typed_marts_are_the_tables_of_the_database(
    outcome: Outcome, source_format: str, marts: str
) -> None:
    found: comparison.ByTable = getattr(outcome, marts)

    def compare(delivered: Delivered) -> Iterable[Difference]:
        if _has_typed_marts(outcome.batch, delivered):
            return comparison.typed_differences(delivered.history, found)
        return []

    _fail_on_differences(outcome, source_format, compare)


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_every_change_is_one_event(outcome: Outcome, source_format: str) -> None:
    _fail_on_differences(
        outcome,
        source_format,
        lambda delivered: comparison.event_differences(delivered.history, outcome.events),
    )


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_every_message_is_accounted_for(outcome: Outcome, source_format: str) -> None:
    _fail_on_differences(
        outcome,
        source_format,
        lambda delivered: comparison.ledger_differences(delivered, outcome.ledger),
    )


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_data_tests_name_the_tables_of_known_limits(outcome: Outcome, source_format: str) -> None:
    unnamed = [
        (delivered.history.name, test, table_id)
        for delivered in outcome.of(source_format)
        for test, table_id in comparison.known_limits(delivered.history)
        if (test, source_format, table_id) not in outcome.named
    ]
    assert not unnamed


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_a_data_test_names_the_statements_that_were_not_applied(
    outcome: Outcome, source_format: str
) -> None:
    histories = [delivered.history for delivered in outcome.of(source_format)]
    warned = {text for format_, text in outcome.warned if format_ == source_format}
    for history in histories:
        assert not comparison.warned_statements(history) - warned, history.name
        assert not comparison.quiet_statements(history) & warned, history.name


@pytest.mark.parametrize("mart", REBUILT)
def test_a_rebuild_gives_the_same_mart(outcome: Outcome, mart: str) -> None:
    after_runs, rebuilt = outcome.after_runs[mart], outcome.rebuilt[mart]
    # One history alone need not have something for every mart.
    assert after_runs or outcome.batch.number is not None
    lost, new = sorted(after_runs - rebuilt), sorted(rebuilt - after_runs)
    assert not lost and not new, "\n".join(
        [
            f"{len(lost)} rows of {mart} are not there after a rebuild, {len(new)} are new",
            *(f"- {text}" for text in lost[:_SHOWN]),
            *(f"+ {text}" for text in new[:_SHOWN]),
        ]
    )


@pytest.mark.parametrize("mart", PUBLISHED)
def test_a_published_mart_is_its_mart(outcome: Outcome, mart: str) -> None:
    if not outcome.batch.published:
        pytest.skip("published in batches of more runs")
    missing = sorted(outcome.after_runs[mart] - outcome.published[mart])
    stale = sorted(outcome.published[mart] - outcome.after_runs[mart])
    assert not missing and not stale, (missing[:_SHOWN], stale[:_SHOWN])


def _run_in_part(project: Project, random: Random, options: Sequence[str], is_first: bool) -> None:
    """A run that ends before it is through, as if it was killed; then typed marts alone.

    What it is cut at decides nothing of what the next whole run comes to.
    """
    models = _models_in_order(project, random, options)
    done = models[: random.randint(1, len(models) - 1)]
    project.dbt("run", "--select", " ".join(done), *options)
    # Before the first whole run they have nothing to read.
    if not is_first:
        project.dbt("run", "--select", f"path:{TYPED_MARTS}", *options)


def _models_in_order(project: Project, random: Random, options: Sequence[str]) -> list[str]:
    """The project's models in an order in which dbt may run them."""
    nodes = project.dbt("parse", *options).nodes
    inputs = {
        name: {parent for parent in node.depends_on_nodes if parent.startswith("model.")}
        for name, node in nodes.items()
        if name.startswith("model.")
    }
    ordered: list[str] = []
    while len(ordered) < len(inputs):
        ready = [n for n in inputs if n not in ordered and inputs[n] <= set(ordered)]
        ordered.append(random.choice(ready))
    return [name.split(".")[-1] for name in ordered]


# -- a batch -------------------------------------------------------------------------------------


def _delivered(batch: Batch) -> list[Delivered]:
    return [
        deliver(history, batch.runs)
        for source_format in batch.source_formats
        for history in draw_histories(source_format, batch.seed, batch.size)
        if batch.number in (None, history.number)
    ]


def _landing(delivered: Iterable[Delivered], run: int) -> dict[str, list[Any]]:
    messages: dict[str, list[Any]] = defaultdict(list)
    for history in delivered:
        messages[history.history.source_format] += history.runs[run]
    return messages


def _has_typed_marts(batch: Batch, delivered: Delivered) -> bool:
    return delivered.history.number <= batch.typed


def _typed_tables(batch: Batch, delivered: Iterable[Delivered]) -> dict[str, dict[str, Any]]:
    """Typed mart -> the declaration of its table."""
    tables = {}
    for history in (d.history for d in delivered if _has_typed_marts(batch, d)):
        for index, table in enumerate(history.tables.values()):
            tables[f"typed_{history.source_format}_{history.number}_{index}"] = {
                "source_format": history.source_format,
                "table_id": history.table_id(table),
                **({"key": list(table.key)} if table.known_by == BY_SETTING else {}),
            }
    return tables


def _settings(
    delivered: Iterable[Delivered], typed_tables: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """What a project says of these tables and topics."""
    typed = {(table["source_format"], table["table_id"]) for table in typed_tables.values()}
    key_columns: dict[str, dict[str, list[str]]] = defaultdict(dict)
    swapped_topics: dict[str, str | None] = {}
    for member in delivered:
        history = member.history
        swapped_topics |= member.swapped_topics
        for table in history.tables.values():
            table_id = history.table_id(table)
            is_typed = (history.source_format, table_id) in typed
            if table.known_by == BY_SETTING and not is_typed:
                key_columns[history.source_format][table_id] = list(table.key)
    return {
        "tables": declarations(key_columns) | dict(typed_tables),
        "swapped_canal_topics": swapped_topics,
    }


def _summary(batch: Batch, delivered: list[Delivered]) -> str:
    changes = sum(len(one_by_one(member.history.log)) for member in delivered)
    return (
        f"seed {batch.seed}, {len(delivered)} histories of {changes} changes in {batch.runs} runs,"
        f" {sum(d.messages for d in delivered)} messages,"
        f" {sum(d.bad_messages for d in delivered)} of them bad"
    )


# -- marts ---------------------------------------------------------------------------------------


def _texts(project: Project, mart: str, schema: str = "marts") -> set[str]:
    columns = ", ".join(
        f"to_json(`{field.name}`) as `{field.name}`"
        if field.dataType.typeName() == "variant"
        else f"`{field.name}`"
        for field in project.spark.table(f"{schema}.{mart}").schema
    )
    texts = [
        row["text"]
        for row in project.rows(
            f"select to_json(struct(*)) as text from (select {columns} from {schema}.{mart})"
        )
    ]
    assert len(set(texts)) == len(texts), f"{mart} has equal rows"
    return set(texts)


def _typed_rows(
    project: Project, typed_tables: Mapping[str, dict[str, Any]]
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(format, table_id) -> the rows of its typed mart, as `comparison` takes them."""
    marts = {}
    for name, table in typed_tables.items():
        frame = project.spark.table(f"marts.{name}")
        # As UTC, whatever the zone of this machine.
        columns = [
            F.col(quoted).cast("timestamp_ntz").alias(column) if type_ == "timestamp" else quoted
            for column, type_ in frame.dtypes
            for quoted in ["`" + column.replace("`", "``") + "`"]
        ]
        marts[table["source_format"], table["table_id"]] = [
            {
                "row_key": row["_row_key"],
                "row": {c: v for c, v in row.asDict().items() if c not in MART_COLUMNS},
                "errors": {error.column: error.text for error in row["_cast_errors"] or ()},
                "row_count": 1,
            }
            for row in frame.select(*columns).collect()
        ]
    return marts


def _fail_on_differences(
    outcome: Outcome, source_format: str, compare: Callable[[Delivered], Iterable[Difference]]
) -> None:
    """Shows the first differences with the events of their keys, and how to see one alone."""
    differences = [
        difference for delivered in outcome.of(source_format) for difference in compare(delivered)
    ]
    if not differences:
        return
    lines = [f"{len(differences)} differences; the first of them:"]
    for difference in differences[:_SHOWN]:
        history = difference.history
        lines += [
            "",
            str(difference),
            f"    alone: ORACLE_HISTORY={history.seed}/{outcome.batch.runs}"
            f"/{history.source_format}/{history.number} ./run pytest tests/python/oracle",
            "    events:",
            *(f"      {event}" for event in _events(outcome.project, difference)),
        ]
    pytest.fail("\n".join(lines), pytrace=False)


def _events(project: Project, difference: Difference) -> list[str]:
    """What the marts know of a key, or of the whole table, in the order of the log."""
    events = project.rows(
        "select row_key, previous_row_key, op, to_json(before) as before, to_json(after) as after,"
        " unavailable_columns as unavailable, event_at, to_json(sequence) as at, landed_at"
        " from marts.change_events"
        f" where source_format = '{difference.history.source_format}'"
        f" and table_id = '{difference.table_id}'"
        " order by change_events.sequence"
    )
    of_key = [e for e in events if difference.key in (e["row_key"], e["previous_row_key"])]
    return [", ".join(f"{name} {value}" for name, value in e.items()) for e in of_key or events]
