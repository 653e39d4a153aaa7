"""The TypeScript that the demo model runs: written from the documentation, or with a saved module."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from outlast.kernel.models.protocol import ToolResultPiece
from outlast_demo.pages.scene import Saved
from outlast_demo.pages.wishes import to_text

MODULE: Final = "lib/issues.ts"
EXPORTS: Final = ("listIssues", "countIssues", "readIssue", "changeIssue", "createIssue", "commentOn")
_ADDRESS: Final = re.compile(r"https?://(?:127\.\d+\.\d+\.\d+|localhost)(?::\d+)?/v\d+")
_VERSION: Final = re.compile(r"Tracker-Version\W{1,8}(\d{4}-\d{2})")
_SECRET: Final = re.compile(r"Deno\.env\.get\(\W{1,3}([A-Z][A-Z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts needed to call the tracker. Its documentation has all of them."""

    address: str
    version: str
    secret: str


def facts_of(searches: Sequence[ToolResultPiece]) -> Facts | None:
    """The facts, or None until the searches have found all of them."""
    text = "\n".join(result.content for result in searches if not result.is_error)
    address, version, secret = _ADDRESS.search(text), _VERSION.search(text), _SECRET.search(text)
    return Facts(address[0], version[1], secret[1]) if address and version and secret else None


def knows_address(searches: Sequence[ToolResultPiece]) -> bool:
    """True if any search found the tracker's documentation."""
    return any(_ADDRESS.search(result.content) for result in searches if not result.is_error)


@dataclass(frozen=True, slots=True)
class Tracker:
    """Access to the tracker: a saved module, or functions written from the documentation."""

    facts: Facts | None = None
    module: Saved | None = None

    def code(self, names: Sequence[str], body: str) -> str:
        """A script whose value is the return value of `body`. It has its own scope, because a session keeps variables
        and may run it twice."""
        inner = "\n".join(f"  {line}" if line else "" for line in body.strip().splitlines())
        if self.module is not None:
            begin = f"  const {{ {', '.join(names)} }} = await import({orjson.dumps(self.module.path).decode()});"
        else:
            assert self.facts is not None
            functions = "\n".join(_FUNCTIONS[name] for name in names)
            begin = _indented(f"{_head(self.facts)}\n{functions}")
        return f"await (async () => {{\n{begin}\n\n{inner}\n}})();\n"


def listing(tracker: Tracker, query: Mapping[str, str]) -> str:
    """All pages of a list."""
    asked = _text(to_text(query))
    return tracker.code(
        ["listIssues"], f"const items = await listIssues({asked});\nreturn {{ items, at: new Date().toISOString() }};"
    )


def counting(tracker: Tracker, query: Mapping[str, str]) -> str:
    """Counts by three properties."""
    asked = to_text({name: value for name, value in query.items() if name != "sort"})
    return tracker.code(
        ["countIssues"],
        f"""const asked = {_text(asked)};
const [status, priority, project] = await Promise.all(
  ["status", "priority", "project"].map((by) => countIssues(by, asked)),
);
return {{ status, priority, project }};""",
    )


def changing(
    tracker: Tracker,
    changes: Sequence[tuple[str, Mapping[str, Any]]],
    created: Sequence[Mapping[str, Any]] = (),
    comments: Sequence[tuple[str, str]] = (),
) -> str:
    """Changes, new issues and comments, one after the other."""
    names, lines = list[str](), ["const done: unknown[] = [];"]
    if changes:
        names.append("changeIssue")
        lines.append(
            f"for (const [key, change] of {_json(changes)} as [string, object][]) {{\n"
            "  done.push(await changeIssue(key, change));\n}"
        )
    if created:
        names.append("createIssue")
        lines.append(f"for (const issue of {_json(created)}) done.push(await createIssue(issue));")
    if comments:
        names.append("commentOn")
        lines.append(
            f"for (const [key, text] of {_json(comments)}) done.push(await commentOn(key as string, text as string));"
        )
    return tracker.code(names, "\n".join([*lines, "return done;"]))


def reading(tracker: Tracker, key: str) -> str:
    return tracker.code(["readIssue"], f"return await readIssue({_text(key)});")


def saving(facts: Facts) -> str:
    """Code that writes the module, then imports and calls it as a test."""
    functions = "\n".join(f"export {_FUNCTIONS[name]}" for name in EXPORTS)
    about = "// The issues tracker: lists, counts and changes issues. Errors include the tracker's message and hint."
    source = f"{about}\n{_head(facts)}\n\n{functions}\n"
    return (
        f"await (async () => {{\n  const source = {_text(source)};\n"
        '  await Deno.mkdir("lib", { recursive: true });\n'
        f"  await Deno.writeTextFile({_text(MODULE)}, source);\n"
        f"  const saved = await import({_text('./' + MODULE)});\n"
        '  const open = await saved.countIssues("status", "state=open");\n'
        f"  return {{ path: {_text(MODULE)}, exports: Object.keys(saved), open: open.total }};\n}})();\n"
    )


def announced() -> dict[str, Any]:
    """The description of the saved module."""
    return {
        "path": MODULE,
        "description": "Issues tracker API: listIssues(query) returns all issues that match a query string of "
        "filters (state, assigned_to, project, priority, sort), countIssues(by, query) counts them for charts, "
        "readIssue(key), changeIssue(key, {status | assigned_to | priority …}) closes, reopens or assigns one, "
        "createIssue({project, title}), commentOn(key, text).",
        "exports": list(EXPORTS),
        "usage": f"import {{ listIssues, changeIssue }} from './{MODULE}'; "
        "await listIssues('state=open&assigned_to=me')",
    }


def _head(facts: Facts) -> str:
    return f"""const base = {_text(facts.address)};
const headers = {{
  Authorization: `Bearer ${{Deno.env.get({_text(facts.secret)})}}`,
  "Tracker-Version": {_text(facts.version)},
  "content-type": "application/json",
}};
async function ask(path: string, init: RequestInit = {{}}) {{
  const answer = await fetch(base + path, {{ ...init, headers }});
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${{answer.status}} ${{body.code}}: ${{body.detail}} ${{body.hint}}`);
  return body;
}}"""


_FUNCTIONS: Final = {
    "listIssues": """async function listIssues(query: string) {
  const items = [];
  let token: string | null = null;
  do {
    const page = await ask(`/issues?${query}&page_size=50${token ? `&page_token=${token}` : ""}`);
    items.push(...page.items);
    token = page.next_page_token;
  } while (token);
  return items;
}""",
    "countIssues": """async function countIssues(by: string, query = "") {
  return await ask(`/issues/counts?by=${by}&${query}`);
}""",
    "readIssue": """async function readIssue(key: string) {
  return await ask(`/issues/${key}`);
}""",
    "changeIssue": """async function changeIssue(key: string, change: object) {
  return await ask(`/issues/${key}`, { method: "PATCH", body: JSON.stringify(change) });
}""",
    "createIssue": """async function createIssue(issue: object) {
  return await ask("/issues", { method: "POST", body: JSON.stringify(issue) });
}""",
    "commentOn": """async function commentOn(key: string, text: string) {
  return await ask(`/issues/${key}/comments`, { method: "POST", body: JSON.stringify({ text }) });
}""",
}


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.splitlines())


def _text(value: str) -> str:
    return orjson.dumps(value).decode()


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
