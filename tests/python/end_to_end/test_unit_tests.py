"""dbt's unit tests of the models, which `./run build` leaves out."""

from __future__ import annotations

from tests.python.harness.project import Project


def test_the_unit_tests_of_the_models_pass_in_a_first_build(project: Project) -> None:
    project.dbt("build", "--exclude-resource-type", "test")
