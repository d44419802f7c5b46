"""Reading quarantined messages again, once a parser can read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cdc_marts.checkpoints import checkpointed
from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.relations import OWN, WITH_WHAT_FOLLOWS, Relations, staging_model
from cdc_marts.source_formats import SOURCE_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: With this var, staging models read rejected messages again.
VARS = "requeue: true"


@dataclass(frozen=True)
class Requeued:
    """The outcome of a requeue for one format."""

    source_format: str
    #: messages that were quarantined, and are not any more
    read: int
    #: reject code -> messages in quarantine now
    remaining: Counter[str]


def requeue(
    session: SparkSession,
    source_formats: Sequence[str],
    run_dbt: Callable[[list[str]], None],
    relations: Relations = OWN,
) -> list[Requeued]:
    """Have dbt read the quarantined messages of these formats again, and run the models downstream.

    `run_dbt` runs a command of dbt in the same process. Return one result for each format that had
    quarantined messages. If none had any, dbt does not run.
    """
    quarantined = {
        source_format: rejected
        for source_format in source_formats
        if session.catalog.tableExists(relations.staging(source_format))
        and not (rejected := _rejected(session, relations.staging(source_format))).isEmpty()
    }
    if not quarantined:
        return []
    # Computed now: the run changes these tables.
    before = {name: checkpointed(rejected) for name, rejected in quarantined.items()}
    selected = [f"{staging_model(source_format)}+" for source_format in source_formats]
    if set(source_formats) == set(SOURCE_FORMATS):
        selected = [WITH_WHAT_FOLLOWS]
    run_dbt(["run", "--vars", VARS, "--select", *selected])
    return [
        _outcome(name, rejected, _rejected(session, relations.staging(name)))
        for name, rejected in before.items()
    ]


def _outcome(source_format: str, before: DataFrame, now: DataFrame) -> Requeued:
    by_code = now.groupBy("reject_code").count().collect()
    return Requeued(
        source_format,
        read=before.join(now, list(COORDINATES), "left_anti").count(),
        remaining=Counter({row["reject_code"]: row["count"] for row in by_code}),
    )


def _rejected(session: SparkSession, staging: str) -> DataFrame:
    staged = session.table(staging)
    return staged.where("record_type = 'rejected'").select(*COORDINATES, "reject_code")
