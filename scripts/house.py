"""Figures of the code base with their limits: `make house` prints them, `make check` fails above a limit.

`python scripts/house.py` measures and compares; `--write` lowers the limits in `scripts/house.json` to what was
measured; `--list NAME` prints every place that a figure counts.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grimp

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = ROOT / "src" / "outlast"
SDK: Final = ROOT / "sdk" / "typescript" / "src"
PROJECT: Final = ROOT / "pyproject.toml"
LIMITS: Final = ROOT / "scripts" / "house.json"
NOT_BY_HAND: Final = re.compile(r"/(migrations|_web)/|/rows\.py$|\.gen\.")
NOUNS: Final = frozenset({"billing", "embedding", "keyring", "logging", "pricing", "routing", "testing"})
"""Technical terms that end in -ing and name a thing."""
SAME_LINES: Final = 6
WEB: Final = ROOT / "web" / "src"
TRANSLATED: Final = (
    r"anew",
    r"as everywhere",
    r"hears?",
    r"(?:is|are|was|were) told",
    r"knocks?",
    r"lets? be",
    r"nobody(?!:)",
    r"one can",
    r"one may",
    r"one's own",
    r"shall",
    r"somebody",
    r"whoever",
)
"""Words that readers take for a translation: name who acts, and say what happens."""
TEXTS: Final = ("src/outlast", "packages", "web/src", "sdk/typescript/src", "templates", "docs", ".")
TEXTS_OF: Final = frozenset({".py", ".md", ".toml", ".ts", ".tsx", ".css", ".html"})
OTHER_TEXTS: Final = re.compile(
    r"/(_web|_docs|_docs\.new|node_modules|decisions|reference|dist)/|\.gen\.|CHANGELOG|/prompts?/"
)


@dataclass(frozen=True)
class Figure:
    """A count that must only shrink. `places` yields one text for each counted thing."""

    name: str
    goal: int
    says: str
    places: Callable[[], Iterable[str]]


def python_files() -> list[Path]:
    """The server's hand-written modules."""
    return [path for path in sorted(SOURCES.rglob("*.py")) if not NOT_BY_HAND.search(path.as_posix())]


def numbered_lines(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Each line with its place, `path:number`."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


def python_lines() -> Iterator[str]:
    return (place for place, _ in numbered_lines(python_files()))


def modules_in_circles() -> list[str]:
    """Modules in import circles; imports under `TYPE_CHECKING` and in functions count."""
    graph = grimp.build_graph("outlast", cache_dir=None)
    imports = {module: sorted(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    circles = (group for group in strongly_connected(imports) if len(group) > 1)
    return [f"{' '.join(sorted(circle))}: {module}" for circle in circles for module in sorted(circle)]


def import_breaches() -> list[str]:
    """Imports that break the ladder or the independence of apps, with an exception in pyproject.toml."""
    contracts = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    listed = {breach for contract in contracts for breach in contract.get("ignore_imports", ())}
    return sorted(breach for breach in listed if "*" not in breach)


def web_breaches() -> list[str]:
    """Imports of an app's view from a shared feature, with an exception for the linter."""
    let_pass = re.compile(r"oxlint-disable-next-line no-restricted-imports")
    return [place for place, line in numbered_lines(sorted(WEB.rglob("*.ts*"))) if let_pass.search(line)]


def strongly_connected(edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of nodes that reach each other, by Kosaraju's algorithm; nodes + edges steps."""
    backwards: dict[str, list[str]] = defaultdict(list)
    for source, targets in edges.items():
        for target in targets:
            backwards[target].append(source)
    seen: set[str] = set()
    order = [node for start in edges for node in depth_first(start, edges, seen)]
    seen = set()
    return [group for start in reversed(order) if (group := depth_first(start, backwards, seen))]


def depth_first(start: str, edges: Mapping[str, Iterable[str]], seen: set[str]) -> list[str]:
    """The nodes reached from `start` that are not in `seen`, in postorder."""
    if start in seen:
        return []
    seen.add(start)
    found, path = [], [(start, iter(edges.get(start, ())))]
    while path:
        node, targets = path[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                path.append((target, iter(edges.get(target, ()))))
                break
        else:
            found.append(node)
            path.pop()
    return found


def gerund_modules() -> list[str]:
    """Modules and packages whose last word ends in -ing."""
    names = {path.parent if path.stem == "__init__" else path.with_suffix("") for path in python_files()}
    last_words = ((name, name.name.rsplit("_", 1)[-1]) for name in sorted(names))
    return [str(name.relative_to(ROOT)) for name, word in last_words if word.endswith("ing") and word not in NOUNS]


def row_mappings() -> Iterator[str]:
    """`RowMapping` outside of `db/`: rows whose columns no type checker sees."""
    outside = [path for path in python_files() if SOURCES / "db" not in path.parents]
    return (place for place, line in numbered_lines(outside) for _ in re.findall(r"\bRowMapping\b", line))


def typescript_shapes() -> Iterator[str]:
    """Hand-written shapes of the API in the TypeScript SDK: a generated shape has all of their properties."""
    generated = [properties for _, properties in typescript_types(SDK / "api.gen.ts")]
    for path in sorted(SDK.rglob("*.ts*")):
        written = () if NOT_BY_HAND.search(path.as_posix()) else typescript_types(path)
        for line, properties in written:
            if len(properties) > 1 and any(properties <= known for known in generated):
                yield f"{path.relative_to(ROOT)}:{line}"


def typescript_types(path: Path) -> Iterator[tuple[int, frozenset[str]]]:
    """The line and the properties of each interface and object type of a file."""
    text = path.read_text(encoding="utf-8")
    declared = r"^(?:export )?(?:interface \w+[^{\n]*|type \w+ = )\{\n(.*?)^\}"
    for match in re.finditer(declared, text, re.DOTALL | re.MULTILINE):
        names = re.findall(r"^  (?:readonly )?(\w+)\??:", match[1], re.MULTILINE)
        yield text.count("\n", 0, match.start()) + 1, frozenset(names)


def translated_words() -> Iterator[str]:
    """Words in code, web app texts and documentation that read like a translation. Generated files get them from their
    sources; decision records are not rewritten."""
    words = re.compile(rf"\b({'|'.join(TRANSLATED)})\b", re.IGNORECASE)
    for folder in TEXTS:
        paths = sorted((ROOT / folder).glob("*" if folder == "." else "**/*"))
        texts = [path for path in paths if path.suffix in TEXTS_OF and not OTHER_TEXTS.search(path.as_posix())]
        for place, line in numbered_lines(texts):
            yield from (f"{place}: {word}" for word in words.findall(line))


def duplicates() -> list[str]:
    """Runs of six or more equal lines in two places, without empty lines and imports."""
    windows: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    files = [significant_lines(path) for path in python_files()]
    for file, lines in enumerate(files):
        for at in range(len(lines) - SAME_LINES + 1):
            windows[tuple(line for _, line in lines[at : at + SAME_LINES])].append((file, at))
    pairs = {
        (one, other)
        for places in windows.values()
        for number, one in enumerate(places)
        for other in places[number + 1 :]
    }
    starts = sorted((a, b) for a, b in pairs if ((a[0], a[1] - 1), (b[0], b[1] - 1)) not in pairs)
    return [f"{files[a[0]][a[1]][0]} = {files[b[0]][b[1]][0]}" for a, b in starts]


def significant_lines(path: Path) -> list[tuple[str, str]]:
    stripped = ((place, line.strip()) for place, line in numbered_lines([path]))
    return [(place, line) for place, line in stripped if line and not line.startswith(("import ", "from "))]


FIGURES: Final = (
    Figure("python_lines", 70_000, "lines of Python in src/outlast, without migrations", python_lines),
    Figure("modules_in_circles", 0, "modules in import circles", modules_in_circles),
    Figure("import_breaches", 0, "imports that break the ladder or join two apps", import_breaches),
    Figure("web_breaches", 0, "web imports of an app from below it", web_breaches),
    Figure("gerund_modules", 0, "modules that are named by a gerund", gerund_modules),
    Figure("row_mappings", 0, "RowMapping outside of db/", row_mappings),
    Figure("typescript_shapes", 0, "hand-written shapes of the API in the TypeScript SDK", typescript_shapes),
    Figure("translated_words", 0, "words that read translated, in code, web app and docs", translated_words),
    Figure("duplicates", 10, "runs of 6 and more equal lines in src/outlast", duplicates),
)


def main(options: argparse.Namespace) -> int:
    """Prints each figure. Returns 1 if one exceeds its limit, otherwise 0."""
    if options.list is not None:
        print(*next(figure for figure in FIGURES if figure.name == options.list).places(), sep="\n")
        return 0
    limits = json.loads(LIMITS.read_text())
    measured = {figure.name: sum(1 for _ in figure.places()) for figure in FIGURES}
    for figure in FIGURES:
        now, limit = measured[figure.name], limits[figure.name]
        verdict = "grew" if now > limit else "reached" if now <= figure.goal else ""
        print(f"{now:>7} {figure.says} (at most {limit}, goal {figure.goal}) {verdict}".rstrip())
    if options.write:
        lowered = {name: min(now, limits[name]) for name, now in measured.items()}
        LIMITS.write_text(json.dumps(lowered, indent=2) + "\n")
    grown = [figure.name for figure in FIGURES if measured[figure.name] > limits[figure.name]]
    for name in grown:
        print(f"{name} grew: `python scripts/house.py --list {name}` names the places", file=sys.stderr)
    return 1 if grown else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="lower the limits to the measured values")
    parser.add_argument("--list", choices=[figure.name for figure in FIGURES], help="print the counted places")
    sys.exit(main(parser.parse_args()))
