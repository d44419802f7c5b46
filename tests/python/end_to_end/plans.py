"""The plans that Spark ran, by the tables that they filled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from tests.python.harness.project import Project

_CREATED = re.compile(r"Atomic(?:Create|Replace)TableAsSelect\nArguments: \S+ (\w+\.\w+),")
_FILLED = re.compile(r"^== Physical Plan ==\n(?:OverwriteByExpression|AppendData) ")
_APPENDED = re.compile(r"AppendData\n(?:.*\n)?Arguments: IcebergWrite\(table=\w+\.(\w+\.\w+),")
_MERGED = re.compile(r"^== Physical Plan ==\nWriteDelta ")
#: A merge reads where in its files the rows stand that it replaces.
_MERGED_INTO = re.compile(r"BatchScan \w+\.(\w+\.\w+)\nOutput \[\d+\]: \[[^\]]*\b_pos#")
#: A merge without rows does not read its table.
_MERGED_NOTHING = re.compile(r"MergeRows \(\d+\)\n +\+- LocalTableScan")


@dataclass(frozen=True)
class Plan:
    """A physical plan, as Spark made it before it ran."""

    text: str

    @property
    def shuffles(self) -> int:
        """Exchanges between partitions; one that is used again counts once."""
        final = self.text.split("== Initial Plan ==")[0]
        return len(re.findall(r"(?<!Broadcast)(?<!Reused)\bExchange\b(?= \(\d+\)| \w+)", final))

    @property
    def runs_python(self) -> bool:
        return re.search(r"EvalPython|InPandas|InArrow|PythonUDF", self.text) is not None


def executed(spark: SparkSession) -> dict[int, str]:
    """Number of a query -> its plan, of those that Spark still remembers, the last thousand."""
    store = spark._jsparkSession.sharedState().statusStore().executionsList()
    executions = map(store.apply, range(store.size()))
    return {one.executionId(): one.physicalPlanDescription() for one in executions}


def run_and_watch(project: Project, *options: str) -> dict[str, Plan]:
    """Run the models, one after the other: table -> the plan of what was written to it."""
    before = executed(project.spark)
    project.dbt("run", "--threads", "1", *options)
    plans = executed(project.spark)
    return dict(_writes([plans[number] for number in sorted(plans.keys() - before.keys())]))


def _writes(plans: Sequence[str]) -> Iterator[tuple[str, Plan]]:
    """Tables and what filled them, added to them, or was merged into them."""
    created = None
    for text in plans:
        target, appended = _CREATED.search(text), _APPENDED.search(text)
        if target:
            created = target[1]
        elif created is not None and _FILLED.search(text):
            yield created, Plan(text)
            created = None
        elif appended:
            yield appended[1], Plan(text)
        elif _MERGED.search(text):
            merged = _MERGED_INTO.search(text)
            if merged:
                yield merged[1], Plan(text)
            else:
                assert _MERGED_NOTHING.search(text), text
