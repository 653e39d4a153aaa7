"""Sitemaps, lists and answers that strangers wrote: read in time that grows with their length, within bounds."""

from __future__ import annotations

import codecs
from urllib.robotparser import RobotFileParser

import pytest

from outlast.apps.knowledge.readers.web import TRIED, _below, _permitted, listed_links, sitemap_links
from outlast.kernel.web.http_fetch import Answer

URL = "https://docs.example/llms.txt"
MANY = 200_000


def test_the_addresses_of_a_sitemap_are_read_however_they_are_written() -> None:
    text = """<urlset><url><loc>https://docs.example/a?x=1&amp;y=2</loc></url><url><s:loc>
      https://docs.example/b
    </s:loc></url><url><loc><![CDATA[ https://docs.example/c ]]></loc></url><url><loc> </loc></url></urlset>"""
    assert sitemap_links(text) == ["https://docs.example/a?x=1&y=2", "https://docs.example/b", "https://docs.example/c"]


@pytest.mark.parametrize(
    "text",
    [
        "<loc>" * MANY,
        "<loc>" + " " * MANY,
        "<loc>" + "<![CDATA[" * MANY,
        "<loc> <![CDATA[ " * MANY,
        "<" + "a" * MANY,
        "<loc>" + " ]]>" * MANY,
    ],
)
def test_a_sitemap_that_never_closes_is_read_at_once(text: str) -> None:
    assert not sitemap_links(text)


@pytest.mark.parametrize("text", ["- [a](b\n" * MANY, "- [a](" + "b" * MANY, "- [a](\n" * MANY, "- [" * MANY])
def test_a_list_that_never_closes_is_read_at_once(text: str) -> None:
    assert listed_links(text, URL) == []


def test_a_list_gives_its_addresses() -> None:
    text = "# T\n\n- [A](a.md): about\n- [B](<b.md>)\n* [C]( https://other.example/c#d 'title')\n"
    assert listed_links(text, URL) == [
        "https://docs.example/a.md",
        "https://docs.example/b.md",
        "https://other.example/c",
    ]


class Counting(RobotFileParser):
    """Counts what it is asked."""

    asked = 0

    def can_fetch(self, useragent: str, url: str) -> bool:
        self.asked += 1
        return super().can_fetch(useragent, url)


def rules(text: str) -> Counting:
    found = Counting()
    found.parse(text.splitlines())
    return found


def test_no_more_addresses_are_judged_than_documents_are_wanted() -> None:
    found = rules("User-agent: *\nDisallow: /no\n")
    links = [f"https://docs.example/{'no' if n % 2 else 'yes'}/{n}" for n in range(1000)]
    assert _permitted(links, found, 3) == [links[0], links[2], links[4], links[6]]
    assert found.asked == 7


def test_where_nothing_is_allowed_the_search_for_it_ends() -> None:
    found = rules("User-agent: *\nDisallow: /\n")
    assert _permitted([f"https://docs.example/{n}" for n in range(1000)], found, 3) == []
    assert found.asked == 3 * TRIED


def test_what_is_no_address_in_a_sitemap_is_passed_over() -> None:
    links = ["http://[x", "https://docs.example/a/b#c", "https://docs.example/a/b", "https://other.example/a/"]
    assert _below(links, "docs.example", "/a/") == ["https://docs.example/a/b"]


@pytest.mark.parametrize(
    "charset", ["zlib_codec", "bz2", "hex", "rot13", "idna", "punycode", "unicode_escape", "utf_7", "x" * 99]
)
def test_an_answer_cannot_choose_how_it_is_unpacked(charset: str) -> None:
    assert Answer(URL, "a\\u0041ä-".encode(), charset=charset).text() == "a\\u0041ä-"


@pytest.mark.parametrize(
    "charset",
    [
        "utf-8",
        "UTF8",
        "utf-16",
        "utf-32le",
        "iso-8859-15",
        "ISO8859-1",
        "latin1",
        "windows-1252",
        "gb18030",
        "gbk",
        "gb2312",
        "big5",
        "euc-jp",
        "euc_kr",
        "shift_jis",
        "shift-jis",
        "koi8-r",
        "us-ascii",
    ],
)
def test_an_answer_is_decoded_by_the_encoding_that_it_names(charset: str) -> None:
    assert codecs.lookup(charset)
    assert Answer(URL, "text".encode(charset), charset=charset).text() == "text"


@pytest.mark.parametrize("charset", ["utf-16", "utf-32", "big5", "utf-8"])
def test_what_is_no_character_is_replaced(charset: str) -> None:
    assert "�" in Answer(URL, b"ab\xff\xff\xff", charset=charset).text()
