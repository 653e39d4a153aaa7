"""HTML that is made to take long is refused at once, and what people and models write is not."""

from __future__ import annotations

import pytest

from outlast.apps.pages.parser_bounds import demand_bounded
from outlast.apps.pages.refusals import Refused
from outlast.apps.pages.sanitizer import sanitised

ATTRIBUTES = [f"a{number}=x" for number in range(5000)]


@pytest.mark.parametrize(
    "html",
    [
        "<rt>x</rt><rp>" * 60_000,
        "<rp>" * 60_000 + "</rp>" * 60_000,
        "<p " + " ".join(ATTRIBUTES) + ">",
        "<p/" + "/".join(ATTRIBUTES) + ">",
        "<p ' " + " ".join(ATTRIBUTES) + "'>",
        "<p><b id=1><b id=2><b id=3><b id=4>" + "<p>x" * 150_000,
        "<p>" + "".join(f"<b id=b{number}>" for number in range(200)) + "<p>x" * 50_000,
        "<option>x" * 100_000,
        "&" * 200_000,
        "<div>" * 5000,
        "<td>'" + '<pre></div>"' * 6_000,
        "<p>" + "<b></i>" * 1_000 + "<p>x" * 50_000,
    ],
    ids=lambda html: html[:30],
)
def test_html_that_is_made_to_take_long_is_refused(html: str) -> None:
    with pytest.raises(Refused):
        sanitised(html)


@pytest.mark.parametrize(
    "html",
    [
        "<ul>" + "<li>x" * 20_000,
        "<table>" + "<tr><td>1<td>2" * 20_000,
        "<svg><path d='" + "M0 0 L1 1 " * 8000 + "'/></svg>",
        "<p title='" + "a b " * 3000 + "'>x</p>",
        "<p>x <b>y</b> <a href='#z'>w</a></p>" * 20_000,
        "<p><b>x" * 100,
        "x" * 1_000_000,
        "<img src='data:image/png;base64," + "A" * 500_000 + "'>",
    ],
    ids=lambda html: html[:30],
)
def test_large_html_as_people_and_models_write_it_is_taken(html: str) -> None:
    demand_bounded(html)
