"""Pages of the issues tracker: search its documentation, call its API from code, build the page from the answers."""

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
    """Code to run: its purpose, and the documentation search to do before."""

    name: str
    purpose: str
    search: str
    write: Callable[[code.Tracker], str]


def plan_of(scene: PageScene, wish: Wish) -> list[Step]:
    """The calls of the tracker that the request needs, in order."""
    if scene.actions:
        return _plan_of_actions(scene)
    if wish.kind is Kind.SUMMARY:
        return [_counting(wish.query or {"state": "open"})]
    if wish.kind is Kind.LIST:
        return [_listing(wish.query)]
    return []


def proceed(scene: PageScene, wish: Wish) -> list[Line]:
    """The next turn: a search, code, or the final lines."""
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
        said = lines.prose(f"I'll use the saved module {module.module.path if module.module else ''}: {step.purpose}.")
        return [said, _run(step.write(module), step.purpose)]
    facts = code.facts_of(scene.of(SEARCH))
    if facts is None:
        return _look_up(scene, step.search)
    failed = len(ran) - len(worked)
    if failed > 1 or (failed and not scene.modules):
        return _give_up(scene, trouble(ran[-1]))
    return [
        lines.prose(f"Now I know how to call the API: {step.purpose}."),
        _run(step.write(code.Tracker(facts)), step.purpose),
    ]


def _look_up(scene: PageScene, what: str) -> list[Line]:
    searches = scene.of(SEARCH)
    if SEARCH not in scene.tools or len(searches) >= MAX_SEARCHES:
        return _give_up(scene, "the documentation that I can search does not cover an issues tracker")
    if not searches:
        first = scene.modules and scene.of(RUN)
        said = (
            "The saved module failed, so I'll search the documentation again."
            if first
            else "First I'll look up the API in its documentation."
        )
        return [
            Think("I do not know this API, so I need its documentation. "),
            lines.prose(said),
            Use(SEARCH, {"query": what, "package": PACKAGE}),
        ]
    found = code.knows_address(searches)
    if searches[-1].is_error:
        said = "The search failed. I'll try once more."
    elif found:
        said = "One thing is missing: the headers of a request."
    else:
        said = "That found nothing. I'll try other search words."
    return [lines.prose(said), Use(SEARCH, {"query": HEADERS_QUERY, **({"package": PACKAGE} if found else {})})]


def _save(scene: PageScene) -> list[Line]:
    facts = code.facts_of(scene.of(SEARCH))
    ran = scene.of(RUN)
    if not ran:
        if facts is None:
            return _look_up(scene, "list, count, read, change, create issues; authentication headers")
        purpose = "write lib/issues.ts and try it"
        return [
            lines.prose("I'll write the functions to a file and import it as a test."),
            _run(code.saving(facts), purpose),
        ]
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
    """All changes first, in one step; then the reads, so that they return the changed issues."""
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


def _show(scene: PageScene, wish: Wish, answers: Mapping[str, Any]) -> list[Line]:
    """The final lines, from the tracker's answers by step."""
    if not scene.actions:
        if wish.kind is Kind.SUMMARY:
            return _show_summary(scene, wish.query or {"state": "open"}, answers["counts"])
        return _show_list(scene, wish.query, answers["list"])
    found = list[dict[str, Any]]()
    for issue in answers.get("changed", ()):
        row = f"issue-{issue['key']}"
        if scene.has(row):
            found += html.changed(issue, scene.attribute(row, "data-state") == "open")
        else:
            found += _added(issue, scene)
        if scene.attribute(html.DETAILS, "data-issue") == issue["key"]:
            found.append({"op": "replace", "at": f"#{html.DETAILS}", "html": html.details(issue)})
    if "list" not in answers:
        found += _figures(scene, answers.get("changed", ()))
    query = _last_query(scene)
    if "list" in answers:
        if not scene.has(html.ROOT):
            return _show_list(scene, query, answers["list"])
        found += _relisted(query, answers["list"])
    if "counts" in answers:
        found += _summarised(scene, query, answers["counts"])
    if "details" in answers:
        op = (
            {"op": "replace", "at": f"#{html.DETAILS}"}
            if scene.has(html.DETAILS)
            else {"op": "before", "at": "#issues"}
        )
        found.append(op | {"html": html.details(answers["details"])})
    found += _hidden(scene)
    names = ", ".join(f"{acted.name} {acted.text('issue')}".strip() for acted in scene.actions)
    return [*lines.patches(found), lines.summary(names, _done(answers, query) or "changed the view")]


def _done(answers: Mapping[str, Any], query: Mapping[str, str]) -> str:
    """The result of the actions, in words."""
    done = [f"{issue['key']} is {issue['status'].replace('_', ' ')} now" for issue in answers.get("changed", ())]
    if "list" in answers:
        done.append(f"{title_of(query)}: {len(answers['list']['items'])}")
    if "counts" in answers:
        done.append(f"counted {answers['counts']['status']['total']} issues and drew a bar chart")
    if "details" in answers:
        done.append(f"read {answers['details']['key']} with its comments")
    return "; ".join(done)


def _show_list(scene: PageScene, query: Mapping[str, str], read: Mapping[str, Any]) -> list[Line]:
    issues = read["items"]
    title = title_of(query)
    done = f"fetched {len(issues)} issues and listed them"
    ended: list[Line] = [lines.stats(issues=len(issues), source=PACKAGE), lines.summary(scene.said or title, done)]
    if scene.has(html.ROOT):  # patches, so that unsent input on the page is not lost
        return [lines.prose(f"{title}: {len(issues)}."), *lines.patches(_relisted(query, read)), *ended]
    found: list[Line] = [
        lines.prose(f"The tracker has {len(issues)} matching issues. I'll build the page from them."),
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
    done = f"counted {counts['status']['total']} issues and drew a bar chart"
    ended: list[Line] = [
        lines.stats(issues=counts["status"]["total"], source=PACKAGE),
        lines.summary(scene.said or "a summary", done),
    ]
    if scene.has(html.ROOT):
        return [
            lines.prose("I'll add the chart above the list."),
            *lines.patches(_summarised(scene, query, counts)),
            *ended,
        ]
    return [
        lines.prose("I'll draw a chart of the tracker's counts."),
        lines.full(charts.page(query, counts), "The tracker at a glance"),
        *ended,
    ]


def _summarised(scene: PageScene, query: Mapping[str, str], counts: Mapping[str, Any]) -> list[dict[str, Any]]:
    made = charts.summary(query, counts, hideable=scene.has(html.ROOT))
    if scene.has(charts.SUMMARY):
        return [{"op": "replace", "at": f"#{charts.SUMMARY}", "html": made}]
    return [{"op": "before", "at": "#issues", "html": made}]


def _added(issue: html.Issue, scene: PageScene) -> list[dict[str, Any]]:
    """Patches that put a new issue first in the list."""
    if not scene.has(html.LIST):
        return []
    gone = [{"op": "remove", "at": "#no-issues"}] if scene.has("no-issues") else []
    return [{"op": "prepend", "at": f"#{html.LIST}", "html": html.row(issue)}, *gone]


def _figures(scene: PageScene, changed: Sequence[html.Issue]) -> list[dict[str, Any]]:
    """Patches of the counts above the list, after issues were closed, reopened, started and created."""
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
    """Reports the failure in the thread. The page shows no invented data."""
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
    """The saved module that exports the function of this step, or None if there is none."""
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
    purposes = [f"set {key} to {str(next(iter(change.values()))).replace('_', ' ')}" for key, change in changes]
    purposes += [f"new issue in {issue['project']}" for issue in created]
    purposes += [f"comment on {key}" for key, _ in comments]
    search = "change an issue: close, reopen, assign; create an issue; comment; authentication headers"
    return Step(
        "changed", "; ".join(purposes), search, lambda tracker: code.changing(tracker, changes, created, comments)
    )


def _run(source: str, purpose: str) -> Use:
    return Use(RUN, {"description": purpose[:200], "code": source}, 80)
