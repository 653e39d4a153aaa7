"""The system prompt of the `screen` agent: the same for every run of a template, so that it stays in models' caches."""

import json
import re
from collections.abc import Mapping
from typing import Final

from outlast.base.data_files import read_text
from outlast.kernel.sandboxes.template_files import KIT
from outlast.kernel.sandboxes.templates import DEV_PORT, Template

_EXPORTED: Final = re.compile(rb"export \{([^}]*)\}|export (?:function|const|class) (\w+)")

SYSTEM: Final = read_text(__file__, "system.md")

_STACKS: Final[Mapping[str, tuple[str, str]]] = {
    "next": (
        "It is Next.js with the App Router, TypeScript and Tailwind CSS 4.",
        (
            "`app/layout.tsx` is the document around it, `app/globals.css` its style sheet."
            " Components are server components unless their first line says otherwise."
        ),
    ),
    "vite": (
        (
            "It is React with Vite, TypeScript and Tailwind CSS 4, laid out like a Next.js app; there are no routes and"
            " no server components, and nothing can be imported from `next`."
        ),
        "`main.tsx` renders it, `index.html` is the document around it, `app/globals.css` its style sheet.",
    ),
}


def system_prompt(template: Template, network: str) -> str:
    """The system text for runs of a template. `network`: the reachable network of its sandbox, in a sentence."""
    stack, entry = _STACKS.get(template.name, _STACKS["next"])
    return SYSTEM.format(
        stack=stack,
        entry=entry,
        port=DEV_PORT,
        network=network,
        packages=", ".join(packages_of(template)),
        kit="\n".join(f"  - `@/{path}`: {', '.join(names)}" for path, names in kit_of(template)),
    )


def kit_of(template: Template) -> list[tuple[str, list[str]]]:
    """(import path without its alias, exported names) of each component of the kit, by path."""
    found = []
    for path, content in sorted(template.files.items()):
        if path.startswith(KIT) and path.endswith(".tsx"):
            names = [
                name.strip().split(" as ")[-1].strip()
                for groups in _EXPORTED.findall(content)
                for name in (groups[0] or groups[1]).decode().replace("\n", " ").split(",")
            ]
            found.append((path.removesuffix(".tsx"), [n for n in names if n and not n.startswith("type ")]))
    return found


def packages_of(template: Template) -> list[str]:
    """The packages that the app may import, by name and version."""
    dependencies: dict[str, str] = json.loads(template.files.get("package.json", b"{}")).get("dependencies", {})
    return [f"{name} {version}" for name, version in sorted(dependencies.items())]
