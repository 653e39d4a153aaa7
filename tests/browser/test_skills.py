"""Skills on their page: added as a folder, looked at, used by an agent, turned off, replaced and deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved
from tests.browser.studio import Studio, calling, open_studio

pytestmark = pytest.mark.browser

SKILL = """---
name: pdf-forms
description: Fill in PDF forms. Use it when a person sends a form.
license: MIT
compatibility: Needs python3
---

# Fill in a form

1. Run `scripts/fill.py` with the form.
2. Show the result.
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("skills")
    (folder / "ours" / "house-style").mkdir(parents=True)
    words = "---\nname: house-style\ndescription: How we write.\n---\nBe brief.\n"
    (folder / "ours" / "house-style" / "SKILL.md").write_text(words)
    with open_studio(folder, more='\n[skills]\nfolder = "ours"\n') as studio:
        yield studio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pdf-forms"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "scripts" / "fill.py").write_text("print('filled')\n")
    return folder


def test_a_skill_is_added_looked_at_used_turned_off_replaced_and_deleted(
    open_page: OpenPage, server: Studio, folder: Path
) -> None:
    project = server.get("/v1/me")["default_project_id"]
    page = open_page(f"/projects/{project}")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Skills").click()
    ours = page.locator("[data-skill=house-style]")
    expect(ours).to_contain_text("from the server")
    page.get_by_label("Folder of a skill").set_input_files(folder)
    row = page.locator("[data-skill=pdf-forms]")
    expect(row).to_contain_text("2 files")

    row.get_by_role("button", name="pdf-forms").first.press("Enter")
    dialog = page.get_by_role("dialog", name="pdf-forms")
    expect(dialog.get_by_role("heading", name="Fill in a form")).to_be_visible()
    expect(dialog).to_contain_text("Needs python3")
    dialog.get_by_role("button", name="scripts/fill.py").click()
    expect(dialog.get_by_label("scripts/fill.py")).to_contain_text("print('filled')")
    page.keyboard.press("Escape")

    page.goto("/")
    server.script(calling("use_skill", name="pdf-forms"), {"text": "I filled it in."})
    page.get_by_label("Message", exact=True).fill("Fill in this form.")
    page.get_by_role("button", name="Send").click()
    expect(saved(page)).to_contain_text("I filled it in.")
    expect(saved(page).locator("[data-tool=use_skill]")).to_contain_text("Used the skill pdf-forms")
    told = server.asked()[-1]["messages"][-1]["content"]
    assert "Run `scripts/fill.py`" in str(told)

    page.goto(f"/projects/{project}/skills")
    row.get_by_role("switch", name="Agents use pdf-forms").click()
    expect(row).to_contain_text("· off")
    ours.get_by_role("switch").click()
    expect(ours).to_contain_text("· off")
    (folder / "SKILL.md").write_text(SKILL.replace("Fill in PDF forms.", "Fill in all forms."))
    page.get_by_label("Folder of a skill").set_input_files(folder)
    page.get_by_role("alertdialog").get_by_role("button", name="Replace skill").click()
    expect(row).to_contain_text("Fill in all forms.")
    page.get_by_label("Zip or SKILL.md").set_input_files(folder / "scripts" / "fill.py")
    expect(page.get_by_role("alert")).to_contain_text("There is no SKILL.md in the folder.")

    row.get_by_role("button", name="Actions for pdf-forms").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete skill").click()
    expect(row).to_have_count(0)


def test_a_new_project_says_what_a_skill_is_and_takes_one_on_a_phone(
    open_page: OpenPage, server: Studio, folder: Path
) -> None:
    project = server.post("/v1/projects", {"name": "Forms"})["id"]
    page = open_page(
        f"/projects/{project}/skills", viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
    )
    page.get_by_role("button", name="Add skill").click()
    expect(page.get_by_role("menuitem", name="Choose a folder")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Zip or SKILL.md").set_input_files(folder / "SKILL.md")
    expect(page.locator("[data-skill=pdf-forms]")).to_contain_text("1 file")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
