"""dbt's unit tests of the models, which `./run build` leaves out."""

from __future__ import annotations

from tests.python.harness.project import Project


def test_the_unit_tests_of_the_models_pass(project: Project) -> None:
    project.dbt("run")
    project.dbt("test", "--select", "test_type:unit")
