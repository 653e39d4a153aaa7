"""Data of the tracker: people, projects, issues, and the seed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any, Final

import orjson

from outlast.base.clock import iso

OPEN: Final = ("backlog", "todo", "in_progress", "in_review")
CLOSED: Final = ("done", "cancelled")
STATUSES: Final = (*OPEN, *CLOSED)
PRIORITIES: Final = ("urgent", "high", "medium", "low")
UNASSIGNED: Final = "none"
ME: Final = "ada"  # the owner of the only secret


@dataclass(frozen=True, slots=True)
class Person:
    handle: str
    name: str
    team: str


@dataclass(frozen=True, slots=True)
class Project:
    key: str
    name: str
    about: str
    lead: str


@dataclass(frozen=True, slots=True)
class Comment:
    by: str
    text: str
    at: str


@dataclass(frozen=True, slots=True)
class Issue:
    """`assignee` is a handle or None, `due_on` a date as text or None; times are ISO 8601 in UTC."""

    key: str
    project: str
    title: str
    description: str
    status: str
    priority: str
    assignee: str | None
    reporter: str
    labels: tuple[str, ...]
    due_on: str | None
    created_at: str
    updated_at: str
    closed_at: str | None = None
    comments: tuple[Comment, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    def plain(self, *, whole: bool = False) -> dict[str, Any]:
        """The issue as the API returns it: with its comments if `whole`, otherwise with their number."""
        values = asdict(self)
        values |= {"labels": list(self.labels), "state": "open" if self.is_open else "closed"}
        comments = values.pop("comments")
        return values | ({"comments": list(comments)} if whole else {"comment_count": len(comments)})


@dataclass(frozen=True, slots=True)
class Book:
    """All data as one value: people, projects and issues by key, issues in the order of creation."""

    people: Mapping[str, Person]
    projects: Mapping[str, Project]
    issues: Mapping[str, Issue]

    def with_issue(self, issue: Issue) -> "Book":
        return replace(self, issues={**self.issues, issue.key: issue})

    def next_key(self, project: str) -> str:
        taken = [int(key.rsplit("-", 1)[1]) for key, one in self.issues.items() if one.project == project]
        return f"{project}-{max(taken, default=0) + 1}"


def written(book: Book) -> dict[str, Any]:
    """Plain JSON values for the file."""
    return {"issues": [asdict(issue) for issue in book.issues.values()]}


def read(values: Mapping[str, Any]) -> Book:
    """Reads the values of `written`. Raises `KeyError`, `TypeError` or `ValueError` for anything else."""
    issues = {}
    for item in values["issues"]:
        comments = tuple(Comment(**comment) for comment in item["comments"])
        issue = Issue(**{**item, "labels": tuple(item["labels"]), "comments": comments})
        if issue.status not in STATUSES or issue.project not in PROJECTS:
            raise ValueError(issue.key)
        issues[issue.key] = issue
    return Book(PEOPLE, PROJECTS, issues)


_SEED: Final[Mapping[str, Any]] = orjson.loads(files("outlast_demo.tracker").joinpath("seed.json").read_bytes())
PEOPLE: Final[Mapping[str, Person]] = {item["handle"]: Person(**item) for item in _SEED["people"]}
PROJECTS: Final[Mapping[str, Project]] = {item["key"]: Project(**item) for item in _SEED["projects"]}


def seeded(now: datetime) -> Book:
    """The seed of the tracker, with dates relative to `now`."""
    issues = [_seeded_issue(item, now) for item in _SEED["issues"]]
    return Book(PEOPLE, PROJECTS, {issue.key: issue for issue in issues})


def _seeded_issue(item: Mapping[str, Any], now: datetime) -> Issue:
    age, due = item["days_old"], item["due_in_days"]
    made = now - timedelta(days=age, hours=age % 7)
    changed = now - timedelta(days=age // 3, hours=(age * 5) % 23)
    talk = [
        Comment(said["by"], said["text"], iso(made + timedelta(hours=2 + number)))
        for number, said in enumerate(item["comments"])
    ]
    return Issue(
        key=item["key"],
        project=item["key"].split("-")[0],
        title=item["title"],
        description=item["description"],
        status=item["status"],
        priority=item["priority"],
        assignee=item["assignee"],
        reporter=item["reporter"],
        labels=tuple(item["labels"]),
        due_on=None if due is None else (now.date() + timedelta(days=due)).isoformat(),
        created_at=iso(made),
        updated_at=iso(changed),
        closed_at=iso(changed) if item["status"] in CLOSED else None,
        comments=tuple(talk),
    )
