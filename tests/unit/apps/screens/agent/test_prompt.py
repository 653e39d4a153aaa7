"""The prompt holds every rule of the design, and the facts of its template."""

from __future__ import annotations

import pytest

from outlast.apps.screens.agent.prompt import kit_of, packages_of, system_prompt
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.template_files import load_templates

TEMPLATES = load_templates(ScreenSettings())
RULES = {
    "files are written by relative path": ["`create_or_update_files`", "always relative: `app/page.tsx`"],
    "files are read by actual path, without the alias": ["`read_files`", "never with the `@` alias"],
    "imports use the alias": ['from "@/components/ui/button"', "Imports use the `@/` alias"],
    "client components say so first": ['`"use client"` is the very first line', "hooks", "browser APIs"],
    "Tailwind only": ["Tailwind CSS classes only: no CSS or SCSS files"],
    "semantic theme colours": [
        "bg-background text-foreground",
        "bg-muted text-muted-foreground",
        "Semantic theme colours",
    ],
    "dark first": ["Dark first"],
    "colours follow the person's theme": ["the person chooses the theme", "your colours have to follow"],
    "components one by one": ["Each component comes from its own", "never import several from `@/components/ui`"],
    "cn": ['import { cn } from "@/lib/utils"'],
    "types are checked before the end": ["./node_modules/.bin/tsc --noEmit"],
    "forbidden commands": [
        "`npm run dev`",
        "`npm run build`",
        "`npm run start`",
        "`next dev`",
        "`next build`",
        "`next start`",
    ],
    "the last format": [
        "<title>",
        "(2-5 words)",
        "</title>",
        "<task_summary>",
        "</task_summary>",
        "<files_summary>",
        "</files_summary>",
    ],
    "what the summary is": ["what you built", "key features", "highlights of its design", "Markdown"],
    "captured elements": [
        "[UNITSET_ELEMENT_CAPTURE]",
        "Replicate it exactly",
        "exact colours",
        "dimensions and spacing",
        "external image URLs",
        "pixel-perfect replica",
    ],
    "the dev server runs": ["dev server is already running on port 3000"],
    "no network": ["It has no network."],
    "a component kit": ["`@/components/ui/button`: Button, buttonVariants", "`@/components/ui/dialog`: Dialog,"],
}


@pytest.mark.parametrize("template", ["next", "vite"])
@pytest.mark.parametrize("rule", RULES)
def test_the_prompt_holds_the_rule(rule: str, template: str) -> None:
    prompt = system_prompt(TEMPLATES[template], "It has no network.")
    for words in RULES[rule]:
        assert words in prompt, words


def test_each_template_is_told_what_it_is() -> None:
    following, lighter = (system_prompt(TEMPLATES[name], "") for name in ("next", "vite"))
    assert "Next.js with the App Router, TypeScript and Tailwind CSS" in following
    assert "React with Vite, TypeScript and Tailwind CSS" in lighter
    assert "nothing can be imported from `next`" in lighter


def test_the_whole_kit_and_every_package_of_a_template_are_listed() -> None:
    for template in TEMPLATES.values():
        kit = dict(kit_of(template))
        files = [path for path in template.files if path.startswith("components/ui/") and path.endswith(".tsx")]
        assert len(kit) == len(files) >= 25
        assert all(kit.values())
        assert any(package.startswith("lucide-react ") for package in packages_of(template))


def test_the_same_template_gives_the_same_words() -> None:
    assert system_prompt(TEMPLATES["next"], "x") == system_prompt(load_templates(ScreenSettings())["next"], "x")
