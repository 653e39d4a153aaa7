"""Pages around the issues tracker: looked up, asked by code, built of what came back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from outlast_demo.lines import Line, Think, Use
from outlast_demo.pages import charts, code, html, lines
from outlast_demo.pages.scene import RUN, SEARCH, Acted, PageScene, outcome, trouble
from outlast_demo.pages.wishes import Kind, Wish, from_text, title_of, to_text

PACKAGE: Final = "issues-tracker"
MAX_SEARCHES: Final = 2
HEADERS_QUERY: Final = "Issues tracker API: authentication and headers, bearer token, Tracker-Version, address"
CHANGES: Final = {"close": "done", "reopen": "todo", "start": "in_progress"}
ACTIONS: Final = frozenset(
    {*CHANGES, "assign", "create", "comment", "show", "filter", "refresh", "summary", "hide-summary", "details", "hide"}
)


@dataclass(frozen=True, slots=True)
class Step:
    """Code to be run: what for, and what is searched before it is written."""

    name: str
    purpose: str
    search: str
    write: Callable[[code.Tracker], str]


def plan_of(scene: PageScene, wish: Wish) -> list[Step]:
    """What has to be asked of the tracker, in order."""
    if scene.actions:
        return _plan_of_actions(scene)
    if wish.kind is Kind.SUMMARY:
        return [_counting(wish.query or {"state": "open"})]
    if wish.kind is Kind.LIST:
        return [_listing(wish.query)]
    return []


def proceed(scene: PageScene, wish: Wish) -> list[Line]:
    """The next turn: a search, code, or the lines that end the work."""
    if wish.kind is Kind.MODULE and not scene.actions:
        return _save(scene)
    steps = plan_of(scene, wish)
    ran = scene.of(RUN)
    worked = [outcome(result) for result in ran if outcome(result) is not None]
    if len(worked) >= len(steps):
        return _show(scene, wish, dict(zip((step.name for step in steps), worked, strict=False)))
    step = steps[len(worked)]
    module = _module_for(scene, step) if len(worked) == len(ran) else None
    if module is not None:
        said = lines.prose(f"I use {module.module.path if module.module else ''} from before: {step.purpose}.")
        return [said, _run(step.write(module), step.purpose)]
    facts = code.facts_of(scene.of(SEARCH))
    if facts is None:
        return _look_up(scene, step.search)
    failed = len(ran) - len(worked)
    if failed > 1 or (failed and not scene.modules):
        return _give_up(scene, trouble(ran[-1]))
    return [lines.prose(f"Now I know how to ask: {step.purpose}."), _run(step.write(code.Tracker(facts)), step.purpose)]


def _look_up(scene: PageScene, what: str) -> list[Line]:
    searches = scene.of(SEARCH)
    if SEARCH not in scene.tools or len(searches) >= MAX_SEARCHES:
        return _give_up(scene, "the documentation that I can search says nothing of an issues tracker")
    if not searches:
        first = scene.modules and scene.of(RUN)
        said = (
            "The saved module did not work, so I look it up again." if first else "First I look up how this is asked."
        )
        return [
            Think("I do not know this API. Its documentation does. "),
            lines.prose(said),
            Use(SEARCH, {"query": what, "package": PACKAGE}),
        ]
    found = code.knows_address(searches)
    if searches[-1].is_error:
        said = "The search failed; I try once more."
    elif found:
        said = "One thing is still missing: which headers a request carries."
    else:
        said = "That found nothing of it; I search by other words."
    return [lines.prose(said), Use(SEARCH, {"query": HEADERS_QUERY, **({"package": PACKAGE} if found else {})})]


def _save(scene: PageScene) -> list[Line]:
    facts = code.facts_of(scene.of(SEARCH))
    ran = scene.of(RUN)
    if not ran:
        if facts is None:
            return _look_up(scene, "list, count, read, change, create issues; authentication headers")
        purpose = "write lib/issues.ts and try it"
        return [lines.prose("I write the functions to a file and import it once."), _run(code.saving(facts), purpose)]
    saved = outcome(ran[-1])
    if not isinstance(saved, dict):
        return _give_up(scene, trouble(ran[-1]))
    done = f"saved {saved['path']}, which found {saved['open']} open issues"
    found: list[Line] = [
        lines.prose(f"Saved as {saved['path']}: {', '.join(saved['exports'])}. Later requests import it.")
    ]
    if scene.has(html.NOTE):
        found += lines.patches([{"op": "text", "at": f"#{html.NOTE}", "text": f"The code is saved as {saved['path']}"}])
    return [
        *found,
        lines.modules([{**code.announced(), "exports": list(saved["exports"])}]),
        lines.summary(scene.said, done),
    ]


def _plan_of_actions(scene: PageScene) -> list[Step]:
    """Changes first, together; then what is shown, of what it is then."""
    changes, created, comments = (list[tuple[str, dict[str, Any]]](), list[dict[str, Any]](), list[tuple[str, str]]())
    shown = list[Step]()
    query = html.kept_query(scene.attribute(html.ROOT, "data-query") or scene.attribute("report", "data-query"))
    for acted in scene.actions:
        key = acted.text("issue")
        match acted.name:
            case "close" | "reopen" | "start" if key:
                changes.append((key, {"status": CHANGES[acted.name]}))
            case "assign" if key:
                changes.append((key, {"assigned_to": acted.text("to") or acted.text("value") or "me"}))
            case "create" if acted.text("title"):
                created.append(
                    {"project": acted.text("project") or "ATL", "title": acted.text("title"), "assigned_to": "me"}
                )
            case "comment" if key and acted.text("text"):
                comments.append((key, acted.text("text")))
            case "show" | "filter":
                query = _asked(acted, query)
                shown = [step for step in shown if step.name != "list"] + [_listing(query)]
            case "refresh":
                shown = [step for step in shown if step.name != "list"] + [_listing(query)]
                if scene.has(charts.SUMMARY):
                    shown.append(_counting(query))
            case "summary":
                shown.append(_counting(query))
            case "details" if key:
                shown.append(_reading(key))
    if changes or created or comments:
        return [_changing(changes, created, comments), *_each_once(shown)]
    return _each_once(shown)


def _asked(acted: Acted, query: Mapping[str, str]) -> dict[str, str]:
    if acted.name == "show":
        return from_text(acted.text("query")) or dict(query)
    project = acted.text("project") or acted.text("value")
    kept = {name: value for name, value in query.items() if name != "project"}
    return kept | ({"project": project} if project else {})


def _show(scene: PageScene, wish: Wish, told: Mapping[str, Any]) -> list[Line]:
    """Lines made of what the tracker answered."""
    if not scene.actions:
        if wish.kind is Kind.SUMMARY:
            return _show_summary(scene, wish.query or {"state": "open"}, told["counts"])
        return _show_list(scene, wish.query, told["list"])
    found = list[dict[str, Any]]()
    for issue in told.get("changed", ()):
        row = f"issue-{issue['key']}"
        if scene.has(row):
            found += html.changed(issue, scene.attribute(row, "data-state") == "open")
        else:
            found += _added(issue, scene)
        if scene.attribute(html.DETAILS, "data-issue") == issue["key"]:
            found.append({"op": "replace", "at": f"#{html.DETAILS}", "html": html.details(issue)})
    if "list" not in told:
        found += _figures(scene, told.get("changed", ()))
    query = _last_query(scene)
    if "list" in told:
        if not scene.has(html.ROOT):
            return _show_list(scene, query, told["list"])
        found += _relisted(query, told["list"])
    if "counts" in told:
        found += _summarised(scene, query, told["counts"])
    if "details" in told:
        op = (
            {"op": "replace", "at": f"#{html.DETAILS}"}
            if scene.has(html.DETAILS)
            else {"op": "before", "at": "#issues"}
        )
        found.append(op | {"html": html.details(told["details"])})
    found += _hidden(scene)
    names = ", ".join(f"{one.name} {one.text('issue')}".strip() for one in scene.actions)
    return [*lines.patches(found), lines.summary(names, _done(told, query) or "changed what is shown")]


def _done(told: Mapping[str, Any], query: Mapping[str, str]) -> str:
    """What became of it all, in words."""
    done = [f"{issue['key']} is {issue['status'].replace('_', ' ')} now" for issue in told.get("changed", ())]
    if "list" in told:
        done.append(f"{title_of(query)}: {len(told['list']['items'])}")
    if "counts" in told:
        done.append(f"counted {told['counts']['status']['total']} issues, drawn as bars")
    if "details" in told:
        done.append(f"read {told['details']['key']} with its comments")
    return "; ".join(done)


def _show_list(scene: PageScene, query: Mapping[str, str], read: Mapping[str, Any]) -> list[Line]:
    issues = read["items"]
    title = title_of(query)
    done = f"fetched {len(issues)} issues, shown as a list"
    ended: list[Line] = [lines.stats(issues=len(issues), source=PACKAGE), lines.summary(scene.said or title, done)]
    if scene.has(html.ROOT):  # what is typed elsewhere on the page stays
        return [lines.prose(f"{title}: {len(issues)}."), *lines.patches(_relisted(query, read)), *ended]
    found: list[Line] = [
        lines.prose(f"The tracker has {len(issues)} of them. I build the page of what it answered."),
        lines.full(html.page(query, issues, read["at"]), title),
    ]
    if issues:
        found += lines.patches([{"op": "remove", "at": "#no-issues"}])
    for start in range(0, len(issues), lines.ROWS_A_LINE):
        some = issues[start : start + lines.ROWS_A_LINE]
        found += lines.patches(
            [{"op": "append", "at": f"#{html.LIST}", "html": "".join(html.row(issue) for issue in some)}]
        )
    return [*found, *ended]


def _relisted(query: Mapping[str, str], read: Mapping[str, Any]) -> list[dict[str, Any]]:
    issues = read["items"]
    rows = "".join(html.row(issue) for issue in issues) or html.empty()
    return [
        {"op": "attributes", "at": f"#{html.ROOT}", "set": {"data-query": to_text(query)}},
        {"op": "text", "at": "#tracker-title", "text": title_of(query)},
        {"op": "text", "at": f"#{html.NOTE}", "text": html.note(issues, read["at"])},
        {"op": "html", "at": "#views", "html": html.views(query)},
        {"op": "html", "at": "#figures", "html": html.figures(issues)},
        {"op": "html", "at": f"#{html.LIST}", "html": rows},
    ]


def _show_summary(scene: PageScene, query: Mapping[str, str], counts: Mapping[str, Any]) -> list[Line]:
    done = f"counted {counts['status']['total']} issues, drawn as bars"
    ended: list[Line] = [
        lines.stats(issues=counts["status"]["total"], source=PACKAGE),
        lines.summary(scene.said or "a summary", done),
    ]
    if scene.has(html.ROOT):
        return [
            lines.prose("I put the chart above the list."),
            *lines.patches(_summarised(scene, query, counts)),
            *ended,
        ]
    return [
        lines.prose("I draw what the tracker counted."),
        lines.full(charts.page(query, counts), "The tracker at a glance"),
        *ended,
    ]


def _summarised(scene: PageScene, query: Mapping[str, str], counts: Mapping[str, Any]) -> list[dict[str, Any]]:
    made = charts.summary(query, counts, hideable=scene.has(html.ROOT))
    if scene.has(charts.SUMMARY):
        return [{"op": "replace", "at": f"#{charts.SUMMARY}", "html": made}]
    return [{"op": "before", "at": "#issues", "html": made}]


def _added(issue: html.Issue, scene: PageScene) -> list[dict[str, Any]]:
    """A new issue, first in the list."""
    if not scene.has(html.LIST):
        return []
    gone = [{"op": "remove", "at": "#no-issues"}] if scene.has("no-issues") else []
    return [{"op": "prepend", "at": f"#{html.LIST}", "html": html.row(issue)}, *gone]


def _figures(scene: PageScene, changed: Sequence[html.Issue]) -> list[dict[str, Any]]:
    """The numbers as the page shows them, moved by what was closed, opened, begun and created."""
    shown = {name: scene.text_of(name) for name, _, _ in html.FIGURES}
    before = {name: int(text) for name, text in shown.items() if text.isdigit()}
    counts = before
    for key, issue in {issue["key"]: issue for issue in changed}.items():
        priority = str(issue["priority"])
        was = scene.text_of(f"status-{key}").replace(" ", "_")
        counts = html.moved(counts, (priority, was), (priority, str(issue["status"])))
    return [
        {"op": "text", "at": f"#{name}", "text": str(count)} for name, count in counts.items() if count != before[name]
    ]


def _hidden(scene: PageScene) -> list[dict[str, Any]]:
    hides = {"hide": html.DETAILS, "hide-summary": charts.SUMMARY}
    wanted = {hides[acted.name] for acted in scene.actions if acted.name in hides}
    return [{"op": "remove", "at": f"#{name}"} for name in sorted(wanted) if scene.has(name)]


def _last_query(scene: PageScene) -> dict[str, str]:
    query = html.kept_query(scene.attribute(html.ROOT, "data-query") or scene.attribute("report", "data-query"))
    for acted in scene.actions:
        if acted.name in ("show", "filter"):
            query = _asked(acted, query)
    return query


def _give_up(scene: PageScene, why: str) -> list[Line]:
    """What went wrong, in the thread; nothing is made up for the page."""
    text = f"That did not work: {why}."
    found: list[Line] = [lines.prose(text)]
    if scene.has(html.NOTE):
        found += lines.patches([{"op": "text", "at": f"#{html.NOTE}", "text": text}])
    elif "<" not in scene.html:
        body = '<div id="failed"><h1>Nothing to show yet</h1><p class="notice warn" id="tracker-note"></p></div>'
        found += [
            lines.full(body, "Nothing to show yet"),
            *lines.patches([{"op": "text", "at": f"#{html.NOTE}", "text": text}]),
        ]
    asked = scene.said or ", ".join(acted.name for acted in scene.actions)
    return [*found, lines.summary(asked, f"failed: {why}"[:200])]


def _module_for(scene: PageScene, step: Step) -> code.Tracker | None:
    """The saved module that has the functions of this step."""
    wanted = {"list": "listIssues", "counts": "countIssues", "changed": "changeIssue", "details": "readIssue"}[
        step.name
    ]
    for saved in scene.modules:
        if wanted in saved.names or saved.path.endswith(code.MODULE):
            return code.Tracker(module=saved)
    return None


def _each_once(steps: Sequence[Step]) -> list[Step]:
    return list({step.name: step for step in steps}.values())


def _listing(query: Mapping[str, str]) -> Step:
    search = "list issues: filter by assignee, state, project; pages; authentication headers"
    return Step("list", f"{title_of(query)}, all pages", search, lambda tracker: code.listing(tracker, query))


def _counting(query: Mapping[str, str]) -> Step:
    search = "count issues by status, priority and project for a chart; authentication headers"
    return Step("counts", f"count {title_of(query).lower()}", search, lambda tracker: code.counting(tracker, query))


def _reading(key: str) -> Step:
    search = "read one issue with its comments; authentication headers"
    return Step("details", f"read {key}", search, lambda tracker: code.reading(tracker, key))


def _changing(
    changes: Sequence[tuple[str, Mapping[str, Any]]],
    created: Sequence[Mapping[str, Any]],
    comments: Sequence[tuple[str, str]],
) -> Step:
    told = [f"set {key} to {str(next(iter(change.values()))).replace('_', ' ')}" for key, change in changes]
    told += [f"new issue in {issue['project']}" for issue in created]
    told += [f"comment on {key}" for key, _ in comments]
    search = "change an issue: close, reopen, assign; create an issue; comment; authentication headers"
    return Step("changed", "; ".join(told), search, lambda tracker: code.changing(tracker, changes, created, comments))


def _run(source: str, purpose: str) -> Use:
    return Use(RUN, {"description": purpose[:200], "code": source}, 80)
