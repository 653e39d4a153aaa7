from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.ids import new_id
from outlast.kernel.previews.hosts import Address, PreviewHosts, app_origins, port_suffix, preview_hosts

HOSTS = PreviewHosts()
IDS = st.from_regex(r"[a-z]{3}_[0-9a-hjkmnp-tv-z]{1,26}", fullmatch=True)


@given(st.integers(1, 65_535), IDS, st.sampled_from(["", ":8400", ".", ".:80"]), st.booleans())
def test_a_name_leads_back_to_its_port_and_sandbox(port: int, sandbox_id: str, end: str, shouted: bool):
    address = Address(port, sandbox_id)
    name = HOSTS.format(address) + end
    assert HOSTS.parse(name.upper() if shouted else name) == address


@given(st.text(max_size=80))
def test_any_host_header_is_read_without_failing(host: str):
    found = HOSTS.parse(host) or HOSTS.parse(f"{host}.preview.localhost")
    assert found is None or 0 < found.port < 65_536


def test_a_name_is_one_that_dns_takes():
    label = HOSTS.format(Address(65_535, new_id("sandbox"))).split(".")[0]
    assert len(label) <= 63
    assert "_" not in label


@pytest.mark.parametrize(
    "host",
    [
        "preview.localhost",
        "3000-sbx-1.preview.localhost.evil.example",
        "3000-sbx-1.evil.example",
        "x.3000-sbx-1.preview.localhost",
        "03000-sbx-1.preview.localhost",
        "0-sbx-1.preview.localhost",
        "65536-sbx-1.preview.localhost",
        "3000-sbx_1.preview.localhost",
        "3000.preview.localhost",
        "",
    ],
)
def test_other_names_are_no_previews(host: str):
    assert HOSTS.parse(host) is None


def test_whatever_lies_under_the_domain_is_covered():
    assert HOSTS.covers("preview.localhost:8400")
    assert HOSTS.covers("Any.Thing.Preview.LocalHost.")
    assert not HOSTS.covers("localhost:8400")
    assert not HOSTS.covers("notpreview.localhost")


def test_a_configured_domain_takes_the_place_of_the_default():
    hosts = preview_hosts(".Previews.Example.com.")
    assert hosts.parse("80-sbx-1.previews.example.com") == Address(80, "sbx_1")
    assert not hosts.is_local
    assert preview_hosts("").is_local


def test_a_port_is_told_from_the_end_of_an_ipv6_address():
    assert port_suffix("localhost:8400") == ":8400"
    assert port_suffix("localhost") == ""
    assert port_suffix("[::1]") == ""


def test_our_pages_may_frame_previews_and_nothing_else():
    assert HOSTS.frame_source == "https://*.preview.localhost:* http://*.preview.localhost:*"


def test_the_app_alone_may_frame_a_page():
    assert app_origins("pag-1.pages.preview.localhost:8400", "", ()) == [
        "http://localhost:8400",
        "http://127.0.0.1:8400",
    ]
    own = ("https://outlast.example.com", "https://two.example.com")
    assert app_origins("pag-1.pages.preview.example.com", "https://outlast.example.com/", own) == list(own)
    assert app_origins("pag-1.pages.preview.localhost", "", ("http://x; script-src *",)) == [
        "http://localhost",
        "http://127.0.0.1",
    ]
