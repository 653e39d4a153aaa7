"""The loaded apps, joined. `packages.declare` names their packages at the start of a program; `load` imports them when
first called. Read-only from then on."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from outlast.base.events import EventType
from outlast.base.ids import KINDS, use_kinds
from outlast.base.records import dataclass
from outlast.db.columns import metadata
from outlast.kernel.apps.app import App
from outlast.kernel.apps.declared_names import KERNEL, DeclaredNames, taken
from outlast.kernel.apps.packages import declared_packages
from outlast.kernel.apps.ports import Port
from outlast.kernel.events import KERNEL_EVENTS
from outlast.kernel.mentions.inbox_items import InboxSource
from outlast.kernel.settings import Settings
from outlast.kernel.subjects.subject import Subject

T = TypeVar("T")
_DEFINED: Final = re.compile(r"Table '(\w+)' is already defined")


@dataclass(frozen=True, slots=True)
class JoinedApps:
    """The joined declarations of all apps, in the order of the apps."""

    apps: Sequence[App]
    subjects: Mapping[str, Subject]
    anchors: Sequence[str]
    events: tuple[EventType, ...]
    inbox: Sequence[InboxSource]
    blob_columns: Sequence[sa.Column[Any]]
    implementations: Mapping[Port[Any], Any]


_joined: JoinedApps | None = None
_joined_packages: tuple[str, ...] = ()


def load() -> JoinedApps:
    """Import the declared apps and join them. Repeatable. Raises `StartRefused` if two declare the same thing."""
    global _joined_packages
    packages = declared_packages()
    if _joined is not None and packages == _joined_packages:
        return _joined
    found: list[App] = []
    for package in packages:
        found.append(_imported(package, found))
    _joined_packages = packages
    return _use(found)


def implementation(port: Port[T]) -> T:
    """An app's implementation of a port, or the port's `empty` one."""
    found: T = load().implementations.get(port, port.empty)
    return found


def make_states(settings: Settings) -> Mapping[type, Any]:
    """New instances of the apps' in-memory state for the life of a server, by class."""
    made = (one for app in load().apps if app.state is not None for one in app.state(settings))
    return MappingProxyType({type(one): one for one in made})


@contextmanager
def only(*apps: App) -> Iterator[JoinedApps]:
    """For tests: these apps and no others. Raises `StartRefused` as `load` does."""
    global _joined
    before = load()
    try:
        yield _use(apps)
    finally:
        _joined = before
        _use_kinds(before)


def join_apps(apps: Sequence[App]) -> JoinedApps:
    """The joined declarations of these apps. Raises `StartRefused` with both names for a thing that is declared
    twice."""
    owners = DeclaredNames()
    kernel = _kernel_beside(apps)
    _declare(owners, kernel)
    for app in apps:
        owners.take("app", app.name, app.name)
        _declare(owners, app)
    subjects = {subject.noun: subject for app in apps for subject in app.subjects}
    return JoinedApps(
        apps=tuple(apps),
        subjects=MappingProxyType(subjects),
        anchors=(*subjects, *(anchor for app in apps for anchor in app.anchors)),
        events=tuple(event for app in (kernel, *apps) for event in app.events),
        inbox=tuple(source for app in apps for source in app.inbox),
        blob_columns=tuple(column for app in apps for column in app.blob_columns),
        implementations=MappingProxyType({one.port: one.by for app in apps for one in app.implements}),
    )


def _use(apps: Sequence[App]) -> JoinedApps:
    global _joined
    joined = join_apps(apps)
    _use_kinds(joined)
    _joined = joined
    return joined


def _imported(package: str, earlier: Iterable[App]) -> App:
    """The `APP` of a package. If its import finds a table already defined, an earlier app or the kernel defined it."""
    try:
        app: App = import_module(f"{package}.app").APP
    except sa.exc.InvalidRequestError as error:
        defined = _DEFINED.search(str(error))
        if defined is None:
            raise
        name = defined[1]
        owners = (app.name for app in earlier for table in app.tables if table.name == name)
        raise taken("table", name, next(owners, KERNEL), package) from error
    return app


def _kernel_beside(apps: Iterable[App]) -> App:
    """The kernel's declarations in the form of an app: every table that no app declares is the kernel's."""
    of_apps = {table for app in apps for table in app.tables}
    tables = [table for table in metadata.tables.values() if table not in of_apps]
    return App(name=KERNEL, tables=tables, prefixes=KINDS, events=KERNEL_EVENTS)


def _declare(owners: DeclaredNames, app: App) -> None:
    declared: Mapping[str, Iterable[str]] = {
        "table": (table.name for table in app.tables),
        "kind of id": app.prefixes,
        "id prefix": app.prefixes.values(),
        "anchor type": (*(subject.noun for subject in app.subjects), *app.anchors),
        "port": (port.name for port in (*dict(app.implements), *app.opens)),
        "tool": app.tools,
        "schema of an event": (event.schema for event in app.events),
        "event": (name for event in app.events for name in event.names),
    }
    for what, names in declared.items():
        for name in names:
            owners.take(what, name, app.name)


def _use_kinds(joined: JoinedApps) -> None:
    use_kinds({kind: prefix for app in joined.apps for kind, prefix in app.prefixes.items()})
