"""How tests run the product: one way for each kind of run.

`dbt` and `commands` run in this process, over the session that all tests share (fixture `spark`).
`processes` starts each command in its own process. `project` is the project of this repository,
`copied_project` a copy that a test changes, `written_project` a project that a test writes.
"""
