"""Long pages in the prompt."""

from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.pages.agent.html_budget import within


def rows(count: int) -> str:
    return "<table>" + "".join(f'<tr id="row-{n}"><td>{n}</td></tr>' for n in range(count)) + "</table>"


def test_a_page_that_fits_is_shown_as_it_is() -> None:
    assert within(rows(3), 10_000) == rows(3)


def test_an_empty_page_is_said_to_be_empty() -> None:
    assert within(" \n", 100) == "(the page is empty)"


def test_a_long_page_loses_its_middle_and_the_ids_in_it_are_named() -> None:
    told = within(rows(300), 2_000)
    assert told.startswith('<table><tr id="row-0">')
    assert told.endswith("</tr></table>")
    assert f"of {len(rows(300)):,} characters are left out here" in told
    assert "#row-100" in told
    assert "do not rewrite the whole page" in told
    assert len(told) < 3_200


def test_ids_that_could_end_the_comment_cannot() -> None:
    html = "<p>" + "".join(f'<i id="--&gt;{n}">x</i>' for n in range(200)) + "</p>"
    told = within(html, 400)
    assert told.count("-->") == 1


@given(st.integers(0, 400), st.integers(50, 5_000))
def test_what_is_kept_is_cut_at_tags_only(count: int, most: int) -> None:
    html = rows(count)
    told = within(html, most)
    if told != html:
        begin, _, rest = told.partition("\n<!-- ")
        end = rest.partition(" -->\n")[2]
        assert html.startswith(begin)
        assert html.endswith(end)
        assert end == "" or end.startswith("<")
        assert len(begin) + len(end) <= most
