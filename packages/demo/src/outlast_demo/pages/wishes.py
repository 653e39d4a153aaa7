"""Recognises a request about a page, and the filters in it. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qsl, urlencode

PROJECTS: Final = {"ATL": "Atlas", "HAR": "Harbor", "LUM": "Lumen"}
_QUERY_KEYS: Final = ("state", "status", "assigned_to", "project", "priority", "label", "text", "sort")


class Kind(StrEnum):
    LIST = "list"
    SUMMARY = "summary"
    MODULE = "module"
    COUNTER = "counter"
    TODO = "todo"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Wish:
    """`query`: the filters of a list of issues, by the parameter names of the tracker's API."""

    kind: Kind
    query: Mapping[str, str] = field(default_factory=dict)


_MODULE: Final = r"modules?|reusable|re-?use|save (?:that|this|it)|librar(?:y|ies)|helper"
_SUMMARY: Final = r"charts?|summar\w*|overview|statistics?|stats|reports?|dashboards?|graphs?|how many|figures"
_LIST: Final = (
    r"issues?|tickets?|bugs?|tracker|backlog|work|assigned|unassigned|urgent|due|atlas|harbor|lumen|atl|har|lum|"
    r"everybody|everyone|team"
)
_COUNTER: Final = r"counters?|count(?:s|ing)? (?:up|clicks)|clicks?|tally"
_TODO: Final = r"to-?dos?|check-?lists?|shopping|packing|lists? of things"
_AGAIN: Final = r"again|as before|like (?:before|last time)|same|the usual"
_REMEMBERED: Final = re.compile(r"[\"“]([^\"”]+)[\"”]\s*→|^\s*(?:\d+\.|-)\s*(.+?)\s*→", re.MULTILINE)


def wish_of(said: str, before: str = "") -> Wish:
    """The page that the request asks for. “The same as before” takes it from the earlier requests in `before`."""
    if _has(_MODULE, said):
        return Wish(Kind.MODULE)
    if _has(_SUMMARY, said):
        return Wish(Kind.SUMMARY, query_of(said))
    if _has(_LIST, said):
        return Wish(Kind.LIST, query_of(said))
    if _has(_COUNTER, said):
        return Wish(Kind.COUNTER)
    if _has(_TODO, said):
        return Wish(Kind.TODO)
    if _has(_AGAIN, said):
        for remembered in _REMEMBERED.finditer(before):
            wish = wish_of(remembered[1] or remembered[2] or "")
            if wish.kind not in (Kind.UNKNOWN, Kind.MODULE):
                return wish
    return Wish(Kind.UNKNOWN)


def query_of(said: str) -> dict[str, str]:
    """Filters in the words of a request: assignee, project, priority, status, state and order."""
    query = {"state": "open"}
    if _has(r"closed|done|finished|resolved", said):
        query["state"] = "closed"
    elif _has(r"all|every|any state", said) and _has(r"states?|closed", said):
        query["state"] = "all"
    if _has(r"my|mine|me|i", said):
        query["assigned_to"] = "me"
    elif _has(r"unassigned|no ?body|no one|without an? assignee", said):
        query["assigned_to"] = "none"
    for key, name in PROJECTS.items():
        if _has(rf"{name}|{key}", said):
            query["project"] = key
    urgent = [name for name in ("urgent", "high", "medium", "low") if _has(name, said)]
    if urgent:
        query["priority"] = ",".join(urgent)
    status = [one for one in ("in_review", "in_progress", "backlog", "todo") if _has(one.replace("_", "[ -_]"), said)]
    if status:
        query["status"] = ",".join(status)
    query["sort"] = "due" if _has(r"due|deadlines?", said) else "priority"
    return query


def from_text(text: str) -> dict[str, str]:
    """The query that a page keeps in an attribute, without filters that the tracker does not have."""
    return {name: value for name, value in parse_qsl(text) if name in _QUERY_KEYS}


def to_text(query: Mapping[str, str]) -> str:
    return urlencode({name: query[name] for name in _QUERY_KEYS if query.get(name)})


def title_of(query: Mapping[str, str]) -> str:
    """The title of a list with these filters."""
    words = ["My"] if query.get("assigned_to") == "me" else []
    words += query.get("priority", "").replace(",", " and ").split()
    words += [] if query.get("state", "all") == "all" else [query["state"]]
    text = f"{' '.join(words)} issues".strip()
    if query.get("assigned_to") == "none":
        text += " without an assignee"
    if project := PROJECTS.get(query.get("project", "")):
        text += f" in {project}"
    if status := query.get("status"):
        text += f", {status.replace('_', ' ').replace(',', ' or ')}"
    return text[0].upper() + text[1:]


def _has(words: str, text: str) -> bool:
    return re.search(rf"\b(?:{words})\b", text, re.IGNORECASE) is not None
