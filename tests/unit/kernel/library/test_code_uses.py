"""What a piece of code uses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.library.code_uses import filed_under, files_used, imports_of, packages_used, relative_imports
from outlast.kernel.sandboxes.settings import DependencySettings

LINEAR = DependencySettings(package="@linear/sdk", docs=("x",), secret_env="LINEAR_API_KEY", hosts=("api.linear.app",))
LODASH = DependencySettings(package="npm:lodash@4", docs=("x",))
PANDAS = DependencySettings(package="pypi:pandas==2", docs=("x",))
TRACKER = DependencySettings(name="tracker", docs=("x",), allow_private=("127.0.0.1:8401",))
ALL = (LINEAR, LODASH, PANDAS, TRACKER)


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("import { LinearClient } from '@linear/sdk'", [LINEAR]),
        ('import { LinearClient } from "npm:@linear/sdk@98.1.0";', [LINEAR]),
        ("const { x } = await import('@linear/sdk/dist/x.js')", [LINEAR]),
        ("import _ from 'lodash'", [LODASH]),
        ("import fp from 'lodash/fp'", [LODASH]),
        ("const _ = require('lodash')", [LODASH]),
        ("import x from 'lodash-es'", []),
        ("await fetch('https://api.linear.app/graphql')", [LINEAR]),
        ("Deno.env.get('LINEAR_API_KEY')", [LINEAR]),
        ("await fetch('http://127.0.0.1:8401/issues')", [TRACKER]),
        ("import { a } from './lib/lodash.ts'", []),
        ("1 + 1", []),
    ],
)
def test_typescript_uses_what_it_imports_or_reaches(code: str, used: list[DependencySettings]) -> None:
    assert packages_used(code, "typescript", ALL) == used


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("import pandas as pd", [PANDAS]),
        ("import os, pandas", [PANDAS]),
        ("from pandas.io import json", [PANDAS]),
        ("# import pandas later", []),
        ("import os", []),
    ],
)
def test_python_uses_what_it_imports(code: str, used: list[DependencySettings]) -> None:
    assert packages_used(code, "python", ALL) == used


@pytest.mark.parametrize(
    ("imported", "path"),
    [
        ("./lib/a.ts", "lib/a.ts"),
        ("./library/lib/a.ts?v=2", "library/lib/a.ts"),
        ("/workspace/lib/a.ts", "lib/a.ts"),
        ("file:///workspace/lib/a.ts", "lib/a.ts"),
        ("./lib/../a.ts", "a.ts"),
        ("../outside.ts", None),
        ("lodash", None),
    ],
)
def test_files_are_named_as_they_lie_in_the_workspace(imported: str, path: str | None) -> None:
    used = files_used(f"import {{ a }} from '{imported}'", "typescript")
    assert used == (frozenset({path}) if path else frozenset())


def test_files_of_python_are_those_that_an_import_may_mean() -> None:
    assert "lib/tracker.py" in files_used("from lib.tracker import issues", "python")
    assert "lib/tracker.py" in files_used("from lib import tracker", "python")


def test_a_module_leans_on_the_files_that_it_imports_by_a_path() -> None:
    assert relative_imports("import a from './a.ts'\nimport b from 'npm:b'", "lib/x.ts") == ["./a.ts"]
    assert relative_imports("from .a import b\nimport os", "lib/x.py") == [".a"]


def test_documentation_is_filed_under_a_name_a_package_or_a_host() -> None:
    assert [filed_under(one) for one in ALL] == ["npm:@linear/sdk", "npm:lodash", "pypi:pandas", "tracker"]
    assert filed_under(DependencySettings(hosts=("api.example.org",))) == "api.example.org"


@given(st.text(), st.sampled_from(["typescript", "python"]))
def test_any_code_can_be_read(code: str, language: str) -> None:
    assert packages_used(code, language, ALL) is not None  # type: ignore[arg-type]
    for path in files_used(code, language):  # type: ignore[arg-type]
        assert ".." not in path.split("/")


@pytest.mark.parametrize("code", ["import" + " " * 200_000, "from " * 50_000, "require (" + " " * 200_000])
def test_spaces_without_end_are_read_once(code: str) -> None:
    assert imports_of(code, "typescript") == frozenset()
