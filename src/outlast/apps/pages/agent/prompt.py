"""The `page` agent's system text: the same for every page of a server, so that it stays in the models' caches. Pure.

The lines and patches in it are those of `apps/pages/grammar.py`, the source of the reference in the docs too.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from outlast.apps.pages.design import CLASSES, COLOURS
from outlast.apps.pages.grammar import LINES, PATCHES
from outlast.base.data_files import read_text
from outlast.kernel.library.code_uses import filed_under
from outlast.kernel.sandboxes.settings import DependencySettings

SYSTEM: Final = read_text(__file__, "system.md")

SANDBOX: Final = "\n\n" + read_text(__file__, "system_sandbox.md")

WITHOUT_SANDBOX: Final = """

This server has no sandbox: you cannot run code or fetch anything. Say so when it would be needed, and build what you
can from what the person gives you and from the documentation that `search_docs` finds."""

MODULES_SECTION: Final = "- [SANDBOX MODULES]: code that you saved earlier, with an import to copy.\n"
NO_PACKAGES: Final = "- none are configured: search_docs shows what documentation there is"


def system_prompt(network: str | None, dependencies: Sequence[DependencySettings]) -> str:
    """The system text. `network`: the reachable network of the sandbox, in a sentence or two; None without a
    sandbox."""
    text = SYSTEM.format(
        sections=MODULES_SECTION if network is not None else "",
        lines="\n".join(
            f"- {one.does}:\n  {one.example}"
            for name, one in LINES.items()
            if network is not None or name != "code_modules"
        ),
        classes="; ".join(f"{name} ({does})" for name, does in CLASSES.items()),
        colours=", ".join(f"var({name}) {use}" for name, use in COLOURS.items()),
        patches="\n".join(f"- {name}: {one.does}. {one.example}" for name, one in PATCHES.items()),
    )
    if network is None:
        return text + WITHOUT_SANDBOX
    return text + SANDBOX.format(
        network=network,
        packages="\n".join(packages_told(dependencies)) or NO_PACKAGES,
        modules_line=LINES["code_modules"].example,
    )


def packages_told(dependencies: Iterable[DependencySettings]) -> list[str]:
    """A line for each configured dependency: its name in searches, its import, its hosts, its secret."""
    return [line for one in dependencies if (line := _package(one))]


def _package(one: DependencySettings) -> str:
    name = filed_under(one)
    facts = [
        f"installed as {one.package}" if one.package and one.package != name else "",
        f"reaches {', '.join((*one.hosts, *one.allow_private))}" if one.hosts or one.allow_private else "",
        f"secret in {one.secret_env}" if one.secret_env else "",
        "" if one.docs else "no documentation is indexed",
    ]
    told = "; ".join(fact for fact in facts if fact)
    return f"- {name}{f' ({told})' if told else ''}" if name else ""
