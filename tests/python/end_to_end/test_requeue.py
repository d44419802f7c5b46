"""After a parser fix, quarantined messages are read again without landing them again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from dbt.adapters.spark_session import impl
from pyspark.sql import SparkSession

from cdc_marts.parsing import ops
from tests.python.harness.commands import run_command
from tests.python.harness.project import Landed, Project, content
from tests.python.samples.files import samples

REQUEUE = ("run", "--vars", "requeue: true")
#: One with several rows a message, one with split updates.
FORMATS = ("canal_json", "dataworks_json")
MARTS = ("change_events", "latest_state", "row_history", "message_ledger", "quarantined_messages")
#: What the older parser does not know: codes of changes, of halves of updates, of ends of tables.
NEWER_CODES = {"UPDATE", "UPDATE_BEFOR", "TRUNCATE", "DELETE"}

Marts = dict[str, list[str]]

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("command_line")]


@pytest.fixture
def older_parser(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Parsers that lack some operations, until the function that this gives is called."""
    known = ops.source_ops

    def older(source_format: str) -> dict[str, tuple[str, str | None, bool]]:
        codes = known(source_format)
        return {code: codes[code] for code in codes.keys() - NEWER_CODES}

    with monkeypatch.context() as patch:
        patch.setattr(ops, "source_ops", older)
        yield patch.undo


@pytest.fixture
def quarantined(project: Project, older_parser: Callable[[], None]) -> Project:
    """The samples of two formats, staged by the older parser, with the newer one back in place."""
    for source_format in FORMATS:
        project.land(source_format, _messages(source_format))
    project.dbt("run", "--full-refresh")
    older_parser()
    return project


def test_messages_that_are_gone_from_landing_stay_as_they_were_read(quarantined: Project) -> None:
    """Another target, or somebody by hand, may have removed them."""
    project = quarantined
    before = _marts(project)
    project.spark.sql("delete from landing.canal_json")

    result = run_command("requeue", "--format", "canal_json")

    assert result.exit_code == 1
    assert "are gone. Nothing was replaced" in " ".join(result.output.split())
    after = _marts(project)
    assert after["quarantined_messages"] == before["quarantined_messages"]
    assert after["change_events"] == before["change_events"]


def test_what_a_fixed_parser_can_read_is_read_and_the_rest_stays(quarantined: Project) -> None:
    project = quarantined
    assert _rejected(project, "unknown_op") > 20
    _assert_ledger_balances(project)
    _fail_to_finish(project)
    # What was rejected comes along with what is new.
    project.land("canal_json", [Landed("requeue.more", 1, b"[]"), Landed("requeue.more", 2, None)])

    result = run_command("requeue")

    assert result.exit_code == 0, result.output
    summary = r"^canal_json: read [\d,]+ messages, [\d,]+ remain: .*malformed_json"
    assert re.search(summary, result.output, re.MULTILINE)
    requeued = _marts(project)
    assert not any(_branches(project).values())
    _assert_ledger_balances(project)
    project.dbt(*REQUEUE)
    assert _marts(project) == requeued
    project.dbt("run", "--full-refresh")
    rebuilt = _marts(project)
    for mart in MARTS:
        assert requeued[mart] == rebuilt[mart], mart


def _fail_to_finish(project: Project) -> None:
    """A requeue that is killed before its last commit changes nothing, and leaves its branch."""
    before = _marts(project)

    def kill(session: SparkSession, table: str, branch: str) -> None:
        raise RuntimeError(f"killed before {table} moved")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(impl, "finish_replacement", kill)
        patch.setattr(impl, "drop_replacement", lambda *_: None)
        with pytest.raises(AssertionError, match="requeue"):
            project.dbt(*REQUEUE)
    assert any(_branches(project).values())
    assert _marts(project) == before


def _messages(source_format: str) -> list[Landed]:
    return [
        Landed(f"requeue.{m.topic}", m.offset, m.value, m.key, m.partition)
        for m in samples(source_format)
    ]


def _marts(project: Project) -> Marts:
    return {mart: content(project.spark, f"marts.{mart}") for mart in MARTS}


def _rejected(project: Project, code: str) -> int:
    sql = f"select * from marts.quarantined_messages where reject_code = '{code}'"
    return len(project.rows(sql))


def _assert_ledger_balances(project: Project) -> None:
    unbalanced = project.rows(
        "select * from marts.message_ledger where landed != `change` + update_before + ddl"
        " + `transaction` + heartbeat + tombstone + rejected"
    )
    assert unbalanced == []


def _branches(project: Project) -> dict[str, list[str]]:
    """Staging table -> its branches besides its head."""
    return {
        source_format: [
            row["name"]
            for row in project.rows(f"select name from staging.stg_{source_format}.refs")
            if row["name"] != "main"
        ]
        for source_format in FORMATS
    }
