"""How packages may be written in a configuration."""

from __future__ import annotations

import pytest

from outlast_sandbox.package_names import NotAPackage, name_of, parse_package


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("@linear/sdk", "npm:@linear/sdk"),
        ("@linear/sdk@98", "npm:@linear/sdk@98"),
        ("npm:@linear/sdk@98", "npm:@linear/sdk@98"),
        ("zod", "npm:zod"),
        ("npm:zod@^3.22.0", "npm:zod@^3.22.0"),
        ("npm:zod@>=3 <4", "npm:zod@>=3 <4"),
        ("npm:typescript@next", "npm:typescript@next"),
        ("pypi:requests", "pypi:requests"),
        ("pypi:Requests==2.32.0", "pypi:requests==2.32.0"),
        ("pypi:ruamel.yaml", "pypi:ruamel-yaml"),
        ("pypi:httpx[http2, socks]>=0.27", "pypi:httpx[http2,socks]>=0.27"),
        ("pypi:numpy~=2.0", "pypi:numpy~=2.0"),
        ("  npm:zod ", "npm:zod"),
    ],
)
def test_a_package_may_be_written_in_several_ways(written: str, meant: str) -> None:
    assert parse_package(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "",
        "npm:",
        "pypi:",
        "npm:zod; rm -rf ~",
        "npm:zod$(id)",
        "npm:../zod",
        "npm:--registry=x",
        "pypi:--index-url=http://x",
        "pypi:requests @ http://x/y.whl",
        "pypi:-r file",
        "https://example.test/a.tgz",
        "npm:zod@`id`",
        "npm:zod@file:/etc",
        "a\nb",
    ],
)
def test_what_is_no_package_is_refused_with_how_to_write_one(written: str) -> None:
    with pytest.raises(NotAPackage, match="npm:NAME@VERSION"):
        parse_package(written)


@pytest.mark.parametrize(
    ("dependency", "name"),
    [
        ("npm:@linear/sdk@98", "npm:@linear/sdk"),
        ("npm:zod", "npm:zod"),
        ("pypi:httpx[http2]>=0.27", "pypi:httpx"),
        ("pypi:requests==2", "pypi:requests"),
    ],
)
def test_a_name_is_the_package_without_its_version(dependency: str, name: str) -> None:
    assert name_of(dependency) == name
