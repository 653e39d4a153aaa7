"""The example of a data analyst in the web app: a table is attached, read in a real sandbox, and its chart is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved
from tests.browser.studio import EXAMPLE_AGENTS, Studio, calling, open_studio

pytestmark = pytest.mark.browser

SALES = "month,cents\nApril,300\nMay,500\nJune,400\n"
PLOT = """
import csv

with open("uploads/sales.csv") as file:
    rows = [(row["month"], int(row["cents"])) for row in csv.DictReader(file)]
bars = "".join(
    f'<rect x="{20 + 60 * at}" y="{220 - cents // 3}" width="40" height="{cents // 3}" fill="teal"/>'
    f'<text x="{20 + 60 * at}" y="236" font-size="13">{month}</text>'
    for at, (month, cents) in enumerate(rows)
)
with open("chart.svg", "w") as file:
    file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="220" height="240">{bars}</svg>')
sum(cents for _, cents in rows)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("analyst"), provider="local", more=EXAMPLE_AGENTS) as studio:
        yield studio


def test_an_attached_table_is_read_computed_and_plotted(open_page: OpenPage, server: Studio, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(SALES)
    page = open_page("/")
    page.get_by_role("button", name="Agent: Chat").click()
    page.get_by_role("menuitem").filter(has_text="Data analyst").click()
    page.locator("input[type=file]").set_input_files([tmp_path / "sales.csv"])
    expect(page.get_by_role("list", name="Attached files").get_by_role("progressbar")).to_have_count(0)
    server.script(
        calling("run_code", code=PLOT, language="python", description="Draw the months"),
        calling("show_file", path="chart.svg"),
        {"text": "May was the best month; 1,200 cents in all, the sum of the column cents."},
    )
    page.get_by_label("Message", exact=True).fill("Which month was the best? Draw it.")
    page.get_by_role("button", name="Send").click()
    answer = saved(page)
    expect(answer).to_contain_text("May was the best month", timeout=90_000)
    expect(answer.locator("[data-answer-agent]")).to_have_text("📊Data analyst")
    told = [str(body["messages"]) for body in server.asked()]
    assert "month,cents" in told[0], "the model gets the table's beginning"
    assert "1200" in told[1], "and what the code computed"
    expect(answer.get_by_role("link", name="Download chart.svg")).to_be_visible()
    chart = answer.get_by_role("button", name="Enlarge: chart.svg").locator("img")
    expect(chart).to_be_visible()
    assert chart.evaluate("picture => picture.complete && picture.naturalWidth") == 220
