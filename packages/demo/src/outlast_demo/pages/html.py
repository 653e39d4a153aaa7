"""HTML of the issues page, built from the tracker's answers. Every element that a click changes has an id."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Final

from outlast_demo.pages.wishes import PROJECTS, from_text, title_of, to_text

Issue = Mapping[str, Any]
ROOT: Final = "tracker"
LIST: Final = "issue-list"
NOTE: Final = "tracker-note"
DETAILS: Final = "issue-details"
LABEL: Final = (
    "Made by the demo model. The words and the layout are recorded; the issues are real data, read and changed by code "
    "in your sandbox."
)
_PRIORITIES: Final = {"urgent": "danger", "high": "warn", "medium": "", "low": ""}
_STATUSES: Final = {
    "in_progress": "info",
    "in_review": "info",
    "done": "ok",
    "todo": "",
    "backlog": "",
    "cancelled": "",
}
_FIGURES: Final = "grid-template-columns:repeat(auto-fit,minmax(7rem,1fr))"
_WORKING: Final = ("in_progress", "in_review")
_VIEWS: Final = (
    ("Mine", {"state": "open", "assigned_to": "me", "sort": "priority"}),
    ("All", {"state": "open", "sort": "priority"}),
    ("Unassigned", {"state": "open", "assigned_to": "none", "sort": "priority"}),
    ("Closed", {"state": "closed", "sort": "updated"}),
)


FIGURES: Final[tuple[tuple[str, str, Callable[[str, str], bool]], ...]] = (
    ("count-open", "open", lambda _priority, status: status not in ("done", "cancelled")),
    ("count-urgent", "urgent", lambda priority, status: priority == "urgent" and status not in ("done", "cancelled")),
    ("count-working", "in progress", lambda _priority, status: status in _WORKING),
)


def page(query: Mapping[str, str], issues: Sequence[Issue], at: str) -> str:
    """The whole page except the rows of its list, which follow as patches. `at`: the time when the issues were read."""
    return (
        f'<div id="{ROOT}" data-query="{escape(to_text(query))}">'
        f'<header class="toolbar"><div><h1 id="tracker-title">{escape(title_of(query))}</h1>'
        f'<p class="muted" id="{NOTE}">{note(issues, at)}</p></div>'
        '<div class="row"><button id="show-summary" data-action="summary">Chart</button>'
        '<button id="refresh" data-action="refresh">Refresh</button></div></header>'
        f'<nav class="row" id="views" style="margin-bottom:1rem">{views(query)}</nav>'
        f'<section class="grid" id="figures" style="{_FIGURES}">{figures(issues)}</section>'
        f'<section class="card" id="issues"><ul class="list" id="{LIST}">{empty()}</ul></section>'
        f"{new_issue()}"
        f'<p class="muted small" id="demo-label">{LABEL}</p></div>'
    )


def note(issues: Sequence[Issue], at: str) -> str:
    many = "1 issue" if len(issues) == 1 else f"{len(issues)} issues"
    return f"{many}, read from the tracker at {at[11:19]} UTC"


def views(query: Mapping[str, str]) -> str:
    """The buttons above the list, and the project menu."""
    chosen = to_text({name: value for name, value in query.items() if name not in ("project", "sort")})
    project = query.get("project", "")
    buttons = []
    for name, view in _VIEWS:
        kept = dict(view) | ({"project": project} if project else {})
        is_chosen = to_text({key: value for key, value in view.items() if key != "sort"}) == chosen
        mark = ' class="primary" aria-pressed="true"' if is_chosen else ' aria-pressed="false"'
        buttons.append(f'<button data-action="show" data-query="{escape(to_text(kept))}"{mark}>{name}</button>')
    options = "".join(
        f'<option value="{key}"{" selected" if key == project else ""}>{name}</option>'
        for key, name in (("", "All projects"), *PROJECTS.items())
    )
    choice = '<select name="project" data-action="filter" aria-label="Project" style="flex:0 1 10rem">'
    return f"{''.join(buttons)}{choice}{options}</select>"


def figures(issues: Sequence[Issue]) -> str:
    """Three counts of the issues in the list."""
    counts = [
        (name, sum(belongs(str(issue["priority"]), str(issue["status"])) for issue in issues), words)
        for name, words, belongs in FIGURES
    ]
    return "".join(
        f'<div class="card"><div class="stat" id="{name}">{count}</div><div class="muted">{words}</div></div>'
        for name, count, words in counts
    )


def row(issue: Issue) -> str:
    """One line of the list: `issue-KEY`, with its buttons."""
    key = escape(str(issue["key"]))
    due = f" · due {escape(str(issue['due_on']))}" if issue.get("due_on") and issue["state"] == "open" else ""
    who = escape(str(issue.get("assignee") or "unassigned"))
    project = PROJECTS.get(str(issue.get("project")), str(issue.get("project")))
    done = ' class="done"' if issue["state"] == "closed" else ""
    return (
        f'<li id="issue-{key}" data-state="{escape(str(issue["state"]))}">'
        f'<span class="badge {_PRIORITIES.get(str(issue["priority"]), "")}">{escape(str(issue["priority"]))}</span>'
        f'<div style="flex:1 1 11rem;min-width:0"><strong id="title-{key}"{done}>{escape(str(issue["title"]))}</strong>'
        f'<div class="muted small"><span>{key}</span> · {escape(project)} · <span id="assignee-{key}">{who}</span>{due}'
        "</div></div>"
        f'<span class="badge {_STATUSES.get(str(issue["status"]), "")}" id="status-{key}">'
        f"{escape(str(issue['status']).replace('_', ' '))}</span>"
        f'<span class="row" id="buttons-{key}" style="flex-wrap:nowrap;gap:0.35rem">{buttons(issue)}</span></li>'
    )


def buttons(issue: Issue) -> str:
    key = escape(str(issue["key"]))
    shown = []
    if issue["state"] == "closed":
        return f'<button data-action="reopen" data-issue="{key}">Reopen</button>'
    if issue.get("assignee") is None:
        shown.append(f'<button data-action="assign" data-issue="{key}" data-to="me">Assign to me</button>')
    elif issue["status"] in ("todo", "backlog"):
        shown.append(f'<button data-action="start" data-issue="{key}">Start</button>')
    shown.append(f'<button data-action="close" data-issue="{key}" aria-label="Close {key}">Close</button>')
    shown.append(
        f'<button class="ghost" data-action="details" data-issue="{key}" aria-label="Details of {key}">Details</button>'
    )
    return "".join(shown)


def empty() -> str:
    return '<li class="empty" id="no-issues">No issues. Choose another view, or create an issue below.</li>'


def new_issue() -> str:
    options = "".join(f'<option value="{key}">{name}</option>' for key, name in PROJECTS.items())
    return (
        '<form class="card" id="new-issue" data-action="create"><h2>New issue</h2><div class="row">'
        '<input name="title" aria-label="Title" maxlength="200" required '
        'placeholder="Describe a bug or a missing feature">'
        f'<select name="project" aria-label="Project of the new issue">{options}</select>'
        '<button type="submit">Create</button></div></form>'
    )


def details(issue: Issue) -> str:
    """One issue with its comments and a form for a new one."""
    key = escape(str(issue["key"]))
    comments = "".join(
        f"<li><div><strong>{escape(str(comment['by']))}</strong> "
        f'<span class="muted small">{escape(str(comment["at"])[:10])}</span>'
        f"<div>{escape(str(comment['text']))}</div></div></li>"
        for comment in issue.get("comments", ())
    )
    labels = " ".join(f'<span class="badge">{escape(str(label))}</span>' for label in issue.get("labels", ()))
    return (
        f'<section class="card" id="{DETAILS}" data-issue="{key}"><div class="toolbar"><h2>{key}: '
        f'{escape(str(issue["title"]))}</h2><button class="ghost" data-action="hide">Hide</button></div>'
        f"<p>{escape(str(issue['description']))}</p><p>{labels}</p>"
        f'<ul class="list" id="comments">{comments or "<li class=muted>No comments yet.</li>"}</ul>'
        f'<form class="row" id="new-comment" data-action="comment" data-issue="{key}">'
        '<input name="text" aria-label="Comment" placeholder="Add a comment" maxlength="2000" required>'
        '<button type="submit">Comment</button></form></section>'
    )


def changed(issue: Issue, was_open: bool) -> list[dict[str, Any]]:
    """Patches that update an issue in the list."""
    key, is_open = str(issue["key"]), issue["state"] == "open"
    status = str(issue["status"])
    patches: list[dict[str, Any]] = [
        {"op": "text", "at": f"#status-{key}", "text": status.replace("_", " ")},
        {"op": "attributes", "at": f"#status-{key}", "set": {"class": f"badge {_STATUSES.get(status, '')}".strip()}},
        {"op": "html", "at": f"#buttons-{key}", "html": buttons(issue)},
        {"op": "text", "at": f"#assignee-{key}", "text": str(issue.get("assignee") or "unassigned")},
    ]
    if is_open != was_open:
        patches.append({"op": "classes", "at": f"#title-{key}", "remove" if is_open else "add": ["done"]})
        patches.append({"op": "attributes", "at": f"#issue-{key}", "set": {"data-state": str(issue["state"])}})
    return patches


def moved(counts: Mapping[str, int], before: tuple[str, str], after: tuple[str, str]) -> dict[str, int]:
    """The counts above the list after an issue's (priority, status) has changed; "" means that it had no status."""
    return {
        name: counts[name] + bool(after[1] and belongs(*after)) - bool(before[1] and belongs(*before))
        for name, _, belongs in FIGURES
        if name in counts
    }


def kept_query(text: str) -> dict[str, str]:
    """The filters that the page shows."""
    return from_text(text) or {"state": "open", "sort": "priority"}
