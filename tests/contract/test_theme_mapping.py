"""Tailwind's own compiler on a style sheet that an agent has rewritten: the theme's classes mean something."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from outlast.apps.screens.theme_classes import dress
from outlast.apps.screens.theme_tokens import shipped_themes
from outlast.apps.screens.themes import apply_theme

WEB = Path(__file__).resolve().parents[2] / "web"
COMPILE = """
import { compile } from '@tailwindcss/node'
const css = await new Response(process.stdin).text()
const made = await compile(css, { base: process.cwd(), onDependency() {} })
console.log(made.build(['bg-background', 'text-primary', 'dark:bg-card', 'rounded-lg']))
"""
REWRITTEN = '@import "tailwindcss";\nbody { color: red; }\n'


def compiled(css: str) -> str:
    """The classes that Tailwind makes of the style sheet."""
    if not (WEB / "node_modules/@tailwindcss/node").is_dir():
        pytest.skip("the web app's packages are not installed")
    program = ["node", "--input-type=module", "-e", COMPILE]
    done = subprocess.run(program, cwd=WEB, input=css, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def test_semantic_classes_compute_after_a_rewrite() -> None:
    """The screen said `cyberpunk` and was white: the variables were there, and no class used them."""
    before = compiled(apply_theme(REWRITTEN, shipped_themes()["cyberpunk"]))
    assert ".bg-background" not in before
    after = " ".join(compiled(dress(REWRITTEN, shipped_themes()["cyberpunk"])).split())
    assert ".bg-background { background-color: var(--background);" in after
    assert ".text-primary { color: var(--primary);" in after
    assert r".dark\:bg-card:is(.dark *) { background-color: var(--card);" in after
    assert ".rounded-lg { border-radius: var(--radius);" in after
    assert "body { background-color: var(--background);" in after
