"""dbt's acceptance classes for adapters (`dbt-tests-adapter`), those that make sense for a session.

Classes are changed only where they hold another engine's SQL: names of types, literals,
quotes.  Those marked `long` test what the project does not use; `pytest -m long` runs them.

Left out, by folder of `dbt.tests.adapter`, and why:

- aliases, `BaseSameAliasDifferentDatabases`: dbt-spark's relations have no database.
- basic, `BaseDocsGenReferences`: dbt-spark counts the columns of a catalog from 0.
- basic, `BaseGetCatalogForSingleRelation`: an optional capability that dbt-spark lacks.
- basic, `BaseSnapshotCheckCols`: dbt-spark's macro, which `BaseSnapshotTimestamp` runs as well.
- caching: they compare names of databases; dbt-spark's relations have none.
- catalog_integrations, dbt_clone, functions, materialized_view: dbt-spark has none over Iceberg.
- column_types, concurrency, dbt_debug, simple_copy: in the SQL, types and words of Postgres.
- constraints: Spark enforces none; for contracts `test_materializations` has our own.
- empty, `BaseTestEmptySeedFlag`: needs dbt 1.12.
- empty, `MetadataWithEmptyFlag`: drops a column, which dbt-spark refuses.
- ephemeral: they compare compiled SQL with Postgres's quotes; basic runs ephemeral models.
- grants: a session has no users.
- hooks: they write variables of Postgres to a table; `test_materializations` has our own.
- incremental, `BaseIncrementalOnSchemaChange`: the two cases in which a column goes away.
- persist_docs: they read comments from the catalog; descriptions are in the manifest only.
- python_model, `BasePySparkTests`: needs Koalas; `test_python_models` has our own.
- query_comment, store_test_failures_tests: one class each; the others vary the settings.
- simple_seed, `BaseSimpleSeedEnabledViaConfig`: `drop schema … cascade`, which Iceberg refuses.
- simple_seed, `BaseSeedSpecificFormats`: dots in a name are namespaces here.
- simple_seed, `BaseSeedWithWrongDelimiter`: expects an error; we make one column of an odd name.
- simple_seed, the other classes: variations of `BaseBasicSeedTests`; `test_seeds` has our own.
- simple_snapshot: the project has no snapshots.
- utils, what is not in `TestUtils` and `TestMoreUtils`: plain Spark SQL (arrays, `except`, dates),
  or different in dbt-spark itself (`listagg`, timestamps with a zone).
"""

from __future__ import annotations

import importlib
import re

import pytest
from dbt.parser.models import dbt_function_key_words
from dbt.tests.adapter.aliases import test_aliases as aliases
from dbt.tests.adapter.basic import expected_catalog as catalogs
from dbt.tests.adapter.basic import test_incremental as basic_incremental
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.adapter.dbt_show import test_dbt_show as dbt_show
from dbt.tests.adapter.empty import test_empty as empty
from dbt.tests.adapter.incremental import test_incremental_microbatch as microbatch
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import (
    BaseMergeExcludeColumns,
)
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import (
    BaseIncrementalOnSchemaChange,
)
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey
from dbt.tests.adapter.python_model import test_python_model as python_model
from dbt.tests.adapter.query_comment.test_query_comment import BaseQueryComments
from dbt.tests.adapter.relations.test_changing_relation_type import BaseChangeRelationTypeValidator
from dbt.tests.adapter.relations.test_dropping_schema_named import BaseDropSchemaNamed
from dbt.tests.adapter.sample_mode.test_sample_mode import BaseSampleModeTest
from dbt.tests.adapter.simple_seed import fixtures as seed_fixtures
from dbt.tests.adapter.simple_seed import seeds as seed_texts
from dbt.tests.adapter.simple_seed import test_seed as simple_seed
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride
from dbt.tests.adapter.store_test_failures_tests import test_store_test_failures as store_failures
from dbt.tests.adapter.unit_testing import test_case_insensitivity as unit_case
from dbt.tests.adapter.unit_testing import test_invalid_input as unit_invalid
from dbt.tests.adapter.unit_testing import test_quoted_reserved_word_column_names as unit_quoted
from dbt.tests.adapter.unit_testing import test_types as unit_types
from dbt.tests.adapter.utils.base_utils import BaseUtils
from dbt.tests.adapter.utils.test_validate_sql import BaseValidateSqlMethod

pytestmark = pytest.mark.thorough
long = pytest.mark.long


# Python models


class TestPythonModel(python_model.BasePythonModelTests):
    pass


class TestPythonIncremental(python_model.BasePythonIncrementalTests):
    pass


@pytest.mark.skipif(
    "meta_get" not in dbt_function_key_words, reason="dbt-core before 1.11.6 parses no meta_get"
)
class TestPythonMetaGet(python_model.BasePythonMetaGetTests):
    pass


class TestPythonEmpty(python_model.BasePythonEmptyTests):
    pass


@long
class TestPythonSample(python_model.BasePythonSampleTests):
    pass


# Basic


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


class TestSingularTests(BaseSingularTests):
    pass


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    pass


class TestEmpty(BaseEmpty):
    pass


class TestEphemeral(BaseEphemeral):
    pass


class TestIncremental(basic_incremental.BaseIncremental):
    pass


class TestIncrementalBadStrategy(basic_incremental.BaseIncrementalBadStrategy):
    pass


class TestGenericTests(BaseGenericTests):
    pass


class TestAdapterMethods(BaseAdapterMethod):
    pass


class TestValidateConnection(BaseValidateConnection):
    pass


class TestValidateSql(BaseValidateSqlMethod):
    pass


class TestDocsGenerate(BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project):
        return catalogs.base_expected_catalog(
            project,
            role=None,
            id_type="bigint",
            text_type="string",
            time_type="timestamp",
            view_type="view",
            table_type="table",
            model_stats=catalogs.no_stats(),
        )


class TestChangeRelationType(BaseChangeRelationTypeValidator):
    pass


class TestDropSchemaNamed(BaseDropSchemaNamed):
    pass


@long
class TestTableMaterialization(BaseTableMaterialization):
    pass


@long
class TestIncrementalNotSchemaChange(basic_incremental.BaseIncrementalNotSchemaChange):
    pass


@long
class TestSnapshotTimestamp(BaseSnapshotTimestamp):
    pass


# Incremental


class TestIncrementalPredicates(BaseIncrementalPredicates):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "models": {
                "+incremental_predicates": ["dbt_internal_dest.id != 2"],
                "+incremental_strategy": "merge",
            }
        }


class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    pass


class TestOnSchemaChange(BaseIncrementalOnSchemaChange):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+incremental_strategy": "merge"}}

    test_run_incremental_sync_all_columns = None

    def run_incremental_append_new_columns_remove_one(self, project):
        pass


@long
class TestUniqueKey(BaseIncrementalUniqueKey):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        # Its statements insert dates as texts.
        return {
            "models": {"+incremental_strategy": "merge"},
            "seeds": {"+column_types": {"last_visit_date": "string"}},
        }


@long
class TestMicrobatch(microbatch.BaseMicrobatch):
    @pytest.fixture(scope="class")
    def microbatch_model_sql(self):
        return microbatch._microbatch_model_sql.replace(
            "unique_key='id'", "partition_by='days(event_time)'"
        )


# Seeds


def spark_types(text: str) -> str:
    for theirs, ours in {
        "timestamp without time zone": "timestamp",
        "integer": "bigint",
        "text": "string",
    }.items():
        text = re.sub(rf"\b{theirs}\b", ours, text, flags=re.IGNORECASE)
    return text


class TestSeed(simple_seed.BaseBasicSeedTests):
    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project):
        create, insert, *_ = spark_types(seed_texts.seeds__expected_sql).split(";")
        project.run_sql(create.format(schema=project.test_schema))
        insert = re.sub(r"('\d{4}-\d\d-\d\d [\d:]{8}')", r"timestamp \1", insert.replace('"', ""))
        project.run_sql(insert.format(schema=project.test_schema))

    def _check_relation_end_state(self, run_result, project, exists):
        # A seed is replaced, not dropped: what reads it stays.
        super()._check_relation_end_state(run_result, project, exists=True)


class TestSeedColumnOverride(BaseSimpleSeedColumnOverride):
    @pytest.fixture(scope="class")
    def models(self):
        return {"schema.yml": spark_types(seed_fixtures.properties__schema_yml)}

    @staticmethod
    def seed_enabled_types():
        return {"seed_id": "string", "birthday": "date"}

    @staticmethod
    def seed_tricky_types():
        return dict.fromkeys(("seed_id_str", "looks_like_a_bool", "looks_like_a_date"), "string")


class TestEmptySeed(simple_seed.BaseTestEmptySeed):
    pass


# Unit tests


class TestUnitTestTypes(unit_types.BaseUnitTestingTypes):
    @pytest.fixture
    def data_types(self):
        return [
            ["9007199254740993", "9007199254740993"],
            ["1.50bd", "1.50"],
            ["'12345'", "12345"],
            ["timestamp '2013-11-03 00:00:00-0'", "2013-11-03 00:00:00-0"],
        ]


class TestUnitTestCaseInsensitivity(unit_case.BaseUnitTestCaseInsensivity):
    pass


class TestUnitTestInvalidInput(unit_invalid.BaseUnitTestInvalidInput):
    pass


@long
class TestUnitTestVarchar(unit_types.BaseUnitTestingVarcharFixtureNoTruncation):
    pass


@long
class TestUnitTestQuotedNames(unit_quoted.BaseUnitTestQuotedReservedWordColumnNames):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model.sql": unit_quoted.my_model_sql,
            "my_upstream_model.sql": "select 1 as `GROUP`",
            "unit_tests.yml": unit_quoted.test_my_model_csv_fixtures_yml,
        }


# Utils


class TestUtils(BaseUtils):
    """One project holds the models and tests of several classes of `dbt.tests.adapter.utils`."""

    utils = ("cast", "concat", "escape_single_quotes", "hash", "safe_cast", "string_literal")

    def texts(self) -> dict[str, str]:
        texts = {}
        for util in self.utils:
            texts |= vars(importlib.import_module(f"dbt.tests.adapter.utils.fixture_{util}"))
        return texts

    @pytest.fixture(scope="class")
    def models(self):
        texts = self.texts()
        models = {}
        for util in self.utils:
            sql = (
                texts.get(f"models__test_{util}_backslash_sql") or texts[f"models__test_{util}_sql"]
            )
            models[f"test_{util}.sql"] = sql
            models[f"test_{util}.yml"] = texts[f"models__test_{util}_yml"]
        return models

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            f"{name.removeprefix('seeds__').removesuffix('_csv')}.csv": text
            for name, text in self.texts().items()
            if name.startswith("seeds__")
        }


@long
class TestMoreUtils(TestUtils):
    utils = (
        "any_value",
        "bool_or",
        "cast_bool_to_text",
        "date_trunc",
        "dateadd",
        "datediff",
        "last_day",
        "length",
        "position",
        "replace",
        "right",
        "split_part",
    )


# Commands and flags


class TestRunEmpty(empty.BaseTestEmpty):
    pass


@long
class TestRunEmptyInline(empty.BaseTestEmptyInlineSourceRef):
    pass


@long
class TestSampleMode(BaseSampleModeTest):
    pass


@long
class TestShowLimit(dbt_show.BaseShowLimit):
    pass


@long
class TestShowSqlHeader(dbt_show.BaseShowSqlHeader):
    pass


@long
class TestShowDoubleLimit(dbt_show.BaseShowDoesNotHandleDoubleLimit):
    DATABASE_ERROR_MESSAGE = "Syntax error at or near 'limit'"


@long
class TestQueryComments(BaseQueryComments):
    pass


@long
class TestStoreTestFailures(store_failures.BaseStoreTestFailures):
    pass


# Aliases


class SparkStrings:
    @pytest.fixture(scope="class")
    def macros(self):
        return {
            "cast.sql": aliases.fixtures.MACROS__CAST_SQL.replace("::text", "::string"),
            "expect_value.sql": aliases.fixtures.MACROS__EXPECT_VALUE_SQL,
        }


@long
class TestAliases(SparkStrings, aliases.BaseAliases):
    pass


@long
class TestAliasErrors(SparkStrings, aliases.BaseAliasErrors):
    pass


@long
class TestSameAliasDifferentSchemas(SparkStrings, aliases.BaseSameAliasDifferentSchemas):
    pass
