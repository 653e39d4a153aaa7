from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.pages.embeds.hosts import embed_url, page_hosts
from outlast.base.ids import new_id
from outlast.kernel.previews.hosts import PreviewHosts, preview_hosts

HOSTS = page_hosts(PreviewHosts())
IDS = st.from_regex(r"pag_[0-9a-hjkmnp-tv-z]{1,26}", fullmatch=True)


@given(IDS, st.sampled_from(["", ":8400", ".", ".:80"]), st.booleans())
def test_a_name_leads_back_to_its_page(page_id: str, end: str, shouted: bool):
    name = HOSTS.format(page_id) + end
    assert HOSTS.parse(name.upper() if shouted else name) == page_id


@given(st.text(max_size=80))
def test_any_host_header_is_read_without_failing(host: str):
    found = HOSTS.parse(host) or HOSTS.parse(f"{host}.pages.preview.localhost")
    assert found is None or found.startswith("pag_")


@pytest.mark.parametrize(
    "host",
    [
        "pages.preview.localhost",
        "pag-1.preview.localhost",
        "pag-1.pages.preview.localhost.evil.example",
        "x.pag-1.pages.preview.localhost",
        "scr-1.pages.preview.localhost",
        "localhost",
        "",
    ],
)
def test_what_is_no_page_names_none(host: str):
    assert HOSTS.parse(host) is None


def test_pages_lie_under_the_domain_of_previews_and_no_preview_is_one():
    configured = page_hosts(preview_hosts("Preview.Example.com."))
    assert configured.domain == "pages.preview.example.com"
    assert configured.covers("anything.pages.preview.example.com:443")
    assert not configured.covers("3000-sbx-1.preview.example.com")
    assert PreviewHosts().parse(HOSTS.format(new_id("page"))) is None


def test_a_link_names_the_page_its_secret_and_the_port_under_which_the_server_is_found():
    url = embed_url(HOSTS, "pag_01", "olp_s", scheme="http", host="127.0.0.1:8400")
    assert url == "http://pag-01.pages.preview.localhost:8400/embed/olp_s"
