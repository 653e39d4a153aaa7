"""What is in the app templates that come with Outlast."""

import re
import runpy
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from outlast.kernel.sandboxes import template_files
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.template_files import KIT, SOURCES, load_templates
from outlast.kernel.sandboxes.templates import Template
from outlast_demo.screens.sources import FOLDER as RECORDED

TEMPLATES = load_templates(ScreenSettings(memory_mb=1536, cpus=1.5))
COMPONENTS = {
    "accordion",
    "alert",
    "avatar",
    "badge",
    "breadcrumb",
    "button",
    "card",
    "chart",
    "checkbox",
    "dialog",
    "dropdown-menu",
    "input",
    "label",
    "popover",
    "progress",
    "radio-group",
    "scroll-area",
    "select",
    "separator",
    "sheet",
    "skeleton",
    "slider",
    "switch",
    "table",
    "tabs",
    "textarea",
    "toggle",
    "tooltip",
}
THEME = re.compile(
    r"/\* outlast:theme begin \*/\n:root \{.*?\n\}\n\n\.dark \{.*?\n\}\n/\* outlast:theme end \*/", re.DOTALL
)
HOOKS = re.compile(r"\buse(?:State|Effect|Ref|Id|Memo|Callback|Context|Reducer)\(|\bon[A-Z]\w+=\{")
each = pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)


def texts(template: Template) -> dict[str, str]:
    return {path: data.decode() for path, data in template.files.items()}


@each
def test_the_kit_has_every_component_in_a_file_of_its_own(template: Template) -> None:
    assert {f"{KIT}{name}.tsx" for name in COMPONENTS} <= set(template.files)


def test_both_have_one_layout_so_that_a_page_of_one_is_a_page_of_the_other() -> None:
    layouts = [
        {path for path in template.files if path.startswith(("app/", "components/", "lib/"))}
        for template in TEMPLATES.values()
    ]
    assert layouts[0] ^ layouts[1] == {"app/layout.tsx", "app/icon.svg"}
    kits = [{path: data for path, data in t.files.items() if path.startswith(KIT)} for t in TEMPLATES.values()]
    assert kits[0] == kits[1]


@each
def test_the_theme_is_one_block_and_the_page_is_dark_first(template: Template) -> None:
    files = texts(template)
    assert len(THEME.findall(files["app/globals.css"])) == 1
    document = files["app/layout.tsx" if template.name == "next" else "index.html"]
    assert re.search(r'<html[^>]*class(?:Name)?="dark"', document)


@each
def test_packages_are_pinned_and_the_lock_names_no_address(template: Template) -> None:
    files = texts(template)
    manifest = orjson.loads(files["package.json"])
    assert set(manifest["scripts"]) >= {"dev", "build", "start", "typecheck"}
    for version in {**manifest["dependencies"], **manifest["devDependencies"]}.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert '"resolved"' not in files["package-lock.json"]
    lock = orjson.loads(files["package-lock.json"])["packages"][""]
    assert lock["dependencies"] == manifest["dependencies"]
    assert lock["devDependencies"] == manifest["devDependencies"]


@each
def test_nothing_is_fetched_from_elsewhere(template: Template) -> None:
    for path, text in texts(template).items():
        if path.startswith(("app/", "components/", "lib/", "outlast/")) or path == "index.html":
            addresses = set(re.findall(r"https?://[\w.-]+", text)) - {"http://www.w3.org"}
            assert not addresses, path


@each
def test_the_snapshot_depends_on_all_files_but_those_for_people(template: Template) -> None:
    assert set(template.files) - set(template.installed) == {"README.md", ".gitignore"}


@each
def test_settings_say_what_a_sandbox_may_use(template: Template) -> None:
    assert (template.memory_mb, template.cpus) == (1536, 1.5)


@each
def test_a_page_that_throws_does_not_count_against_the_dev_server(template: Template) -> None:
    assert template.service.health_path == ""


def test_what_uses_hooks_or_handlers_says_use_client_in_its_first_line() -> None:
    sources = {**texts(TEMPLATES["next"])}
    sources |= {str(path.relative_to(RECORDED)): path.read_text() for path in RECORDED.rglob("*.tsx")}
    assert len(sources) > 50
    for path, text in sources.items():
        if path.endswith(".tsx") and HOOKS.search(text):
            assert text.startswith('"use client";\n'), path


def test_a_wheel_carries_every_file_and_nothing_that_tools_left() -> None:
    hook: Any = runpy.run_path("hatch_build.py")["WebAppHook"]
    packed = hook._templates(SimpleNamespace(root="."))
    wanted = {
        f"outlast/_templates/{folder}/{path}"
        for folder in ("shared", "next", "vite")
        for path in template_files._read(SOURCES / folder)
    }
    assert set(packed.values()) == wanted


def test_without_its_files_the_start_says_that_they_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_files, "SOURCES", SOURCES / "nowhere")
    template_files.template_files.cache_clear()
    with pytest.raises(FileNotFoundError, match="incomplete"):
        template_files.template_files("next")
    template_files.template_files.cache_clear()
