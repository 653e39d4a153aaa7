"""`outlast doctor`: checks this machine, and says how to fix problems."""

import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

import anyio
import sqlalchemy as sa

from outlast.base.clock import SystemClock, iso
from outlast.base.data_directory import existing_data_directory, held
from outlast.base.errors import DatabaseDamaged, DataDirectoryInUse, DataDirectoryMissing, OutlastError
from outlast.base.records import dataclass
from outlast.db.connect import open_database, sqlite_path
from outlast.db.database import Database
from outlast.db.sqlite import SqliteDatabase, find_damage
from outlast.kernel.apps.trials import NOT_TRIED, passed_at, trials_of
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.session import wants_json
from outlast.kernel.cli.terminal import out, print_json, styled
from outlast.kernel.cli.units import count
from outlast.kernel.http.static_files import FOLDER as WEB_FOLDER
from outlast.kernel.models.providers import is_installed
from outlast.kernel.postgres_checks import clock_of, options_of, room_of
from outlast.kernel.sandboxes.providers import open_provider
from outlast.kernel.set_aside import store
from outlast.kernel.set_aside.kinds import TITLES
from outlast.kernel.settings import Settings
from outlast.kernel.sidecars import wanted_sidecars
from outlast_sandbox.browser.chromium import find_browser
from outlast_sandbox.providers.registry import known_providers

MAX_SHOWN: Final = 20
Verdict = Literal["ok", "note", "bad"]
MARKS = {"ok": ("✓", "green"), "note": ("•", "yellow"), "bad": ("✗", "red")}


@dataclass(frozen=True, slots=True)
class Finding:
    verdict: Verdict
    what: str
    found: str
    fixes: tuple[str, ...] = ()


def print_findings(settings: Settings) -> Exit:
    """Print all findings; FAILED if a configured part cannot work."""
    return _print(_examine(settings))


def print_connections(settings: Settings) -> Exit:
    """Print what was found of services, MCP servers and the web search, as `print_findings`."""
    return _print(anyio.run(_connections, settings))


def _print(findings: Iterable[Finding]) -> Exit:
    found = []
    for finding in findings:
        found.append(finding)
        if not wants_json():
            out.print(styled(MARKS[finding.verdict], " ", (finding.what, "bold"), f": {finding.found}"))
            for fix in finding.fixes:
                out.print(f"    → {fix}", style="yellow")
    if wants_json():
        print_json({"items": [asdict(finding) for finding in found]})
    return Exit.FAILED if any(finding.verdict == "bad" for finding in found) else Exit.OK


def _examine(settings: Settings) -> Iterator[Finding]:
    yield Finding("ok", "Python", f"{platform.python_version()} on {platform.system()} {platform.release()}")
    yield _data_folder(settings)
    yield anyio.run(_database, settings)
    yield from anyio.run(_postgres, settings)
    yield from anyio.run(_set_aside, settings)
    yield _port(settings)
    yield _sandboxes(settings)
    yield _providers()
    yield _deno()
    yield _web_app()
    yield _chromium(settings)
    yield from anyio.run(_trials, settings)
    yield from _models(settings)
    for sidecar in wanted_sidecars(settings):
        yield Finding("ok", "Sidecar", sidecar.summary)


def _data_folder(settings: Settings) -> Finding:
    try:
        folder = existing_data_directory(settings.server.data_dir)
        free = f"{shutil.disk_usage(folder).free / 1e9:.1f} GB free"
        with held(folder):
            return Finding("ok", "Data directory", f"{folder}, {free}")
    except DataDirectoryInUse as error:
        return Finding("note", "Data directory", f"in use by the running server (pid {error.fields['pid']})")
    except DataDirectoryMissing as error:
        return Finding("note", "Data directory", f"none yet at {error.fields['data_dir']}: the first start creates it")
    except OutlastError as error:
        return Finding("bad", "Data directory", error.message, (error.hint,))


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Database | None]:
    """The database, or None if there is none yet. Raises `DataDirectoryMissing`."""
    url = settings.database.url.reveal()
    folder = existing_data_directory(settings.server.data_dir)
    if url.startswith("sqlite:///") and not sqlite_path(url, folder).is_file():
        yield None
        return
    async with aclosing(open_database(url, folder, SystemClock(), options_of(settings))) as database:
        yield database


async def _database(settings: Settings) -> Finding:
    try:
        async with _opened(settings) as database:
            if database is None:
                return Finding("note", "Database", f"{settings.database.url}: none yet")
            await database.read(lambda tx: None)
            if isinstance(database, SqliteDatabase) and (damage := find_damage(database.path)):
                raise DatabaseDamaged("; ".join(damage))
    except DataDirectoryMissing:
        return Finding("note", "Database", f"{settings.database.url}: not opened, without a data directory")
    except DatabaseDamaged as error:
        return Finding("bad", "Database", f"{settings.database.url} is damaged: {error.message}", (error.hint,))
    except OutlastError as error:
        fix = "Start the database, or correct database.url."
        return Finding("bad", "Database", f"{settings.database.url}: {error.message}", (fix,))
    return Finding("ok", "Database", str(settings.database.url))


async def _postgres(settings: Settings) -> list[Finding]:
    """Its connections and its clock; nothing on SQLite, or if it cannot be read."""
    try:
        async with _opened(settings) as database:
            room = None if database is None else await database.read(room_of, settings)
            clock = None if database is None else clock_of(database)
    except (OutlastError, sa.exc.DatabaseError):
        return []
    found = []
    if room is not None:
        fix = "Lower database.pool_size, or raise PostgreSQL's max_connections."
        found.append(Finding("ok", "Connections to PostgreSQL", str(room)))
        if not room.is_enough:
            found[-1] = Finding("note", "Connections to PostgreSQL", str(room), (fix,))
    if clock is not None:
        fix = "Let a time service (NTP) set this machine's clock. Leases and timers use the database's meanwhile."
        right = clock.is_right
        found.append(Finding("ok" if right else "note", "Clock", str(clock), () if right else (fix,)))
    return found


async def _set_aside(settings: Settings) -> list[Finding]:
    """The items that are set aside; empty if there is no database yet, or it cannot be read."""
    try:
        async with _opened(settings) as database:
            if database is None:
                return []
            items = await database.read(store.listed)
    except (OutlastError, sa.exc.DatabaseError):
        return []
    if not items:
        return [Finding("ok", "Set aside", "nothing")]
    shown = [
        f"{TITLES.get(one.kind, one.kind)} {one.id}: {one.reason} ({one.code}, since {iso(one.since)})"
        for one in items[:MAX_SHOWN]
    ]
    many = f"{count(len(items), 'item')} failed repeatedly and will not be retried"
    return [Finding("bad", "Set aside", many, (*shown, "Fix the cause, then retry them."))]


async def _trials(settings: Settings) -> list[Finding]:
    """The services that apps use, and whether they were ever tried."""
    trials = trials_of(settings, os.environ, SystemClock())
    passed: list[str | None] = [None] * len(trials)
    with suppress(OutlastError, sa.exc.DatabaseError):  # such as no database yet
        if trials:
            async with _opened(settings) as database:
                if database is not None:
                    passed = [await database.read(passed_at, trial) for trial in trials]
    fix = "'outlast doctor --connections' tries it."
    return [
        Finding("note", trial.what, NOT_TRIED, (fix,)) if at is None else Finding("ok", trial.what, f"worked at {at}")
        for trial, at in zip(trials, passed, strict=True)
    ]


async def _connections(settings: Settings) -> list[Finding]:
    from outlast.surfaces.cli.connection_checks import check_connections

    try:
        async with _opened(settings) as database:
            if database is not None:
                found = await check_connections(database, settings)
                return [Finding(one.verdict, one.what, one.found, one.fixes) for one in found]
    except DataDirectoryMissing:
        pass
    except (OutlastError, sa.exc.DatabaseError) as error:
        return [Finding("bad", "Connections", str(error), ("Run 'outlast doctor' without --connections first.",))]
    return [Finding("note", "Connections", "none yet: the first start creates the database")]


def _port(settings: Settings) -> Finding:
    host, port = settings.server.host, settings.server.port
    try:
        with socket.create_connection((host, port), timeout=1):
            return Finding("note", "Port", f"something answers at {host}:{port} already (perhaps this server)")
    except OSError:
        return Finding("ok", "Port", f"{host}:{port} is free")


def _sandboxes(settings: Settings) -> Finding:
    if settings.sandbox is None:
        return Finding("note", "Sandboxes", "none configured: agents cannot run code")
    what = f"Sandboxes ({settings.sandbox.provider})"
    folder = Path(settings.server.data_dir).expanduser().absolute()
    try:
        with TemporaryDirectory(prefix="outlast-doctor-") as before_first_start:
            folder = folder if folder.is_dir() else Path(before_first_start)
            report = anyio.run(open_provider(settings.sandbox, folder).probe)
    except OutlastError as error:
        return Finding("bad", what, error.message, (error.hint,))
    said = "; ".join((f"isolation: {report.isolation}", *report.details))
    unproven = next((one.unproven for one in known_providers() if one.name == settings.sandbox.provider), "")
    if report.ok and unproven:
        return Finding("note", what, f"{unproven}; {said}", report.fixes)
    return Finding("ok" if report.ok else "bad", what, said, report.fixes)


def _providers() -> Finding:
    """The sandbox providers that can be chosen, and the missing packages of the others."""
    names = [
        known.name
        + (f" (in Outlast's folder: pip install -e '{known.missing}')" if known.missing else "")
        + (f" (from {known.origin})" if known.origin != "Outlast" else "")
        + (f" ({known.unproven})" if known.unproven else "")
        for known in known_providers()
    ]
    return Finding("ok", "Sandbox providers", ", ".join(names))


def _deno() -> Finding:
    from outlast_sandbox.providers.local.base_layer import find_deno

    fix = f"{sys.executable} -m pip install --force-reinstall deno"
    if (program := find_deno()) is None:
        return Finding("bad", "Deno", "not found: sandboxes run no TypeScript", (fix,))
    try:
        version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=True)
        return Finding("ok", "Deno", version.stdout.split("\n", 1)[0])
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("bad", "Deno", f"does not start: {error}", (fix,))


def _web_app() -> Finding:
    if (WEB_FOLDER / "index.html").is_file():
        return Finding("ok", "Web app", "built")
    return Finding("note", "Web app", "not built; the API works without it", ("make setup",))


def _chromium(settings: Settings) -> Finding:
    """The browser that takes screenshots and that agents use; it is started when it is needed."""
    tables = (getattr(settings, one.name) for one in fields(settings))
    by_agents = any(getattr(table, "uses_chromium", False) for table in tables)
    uses = ["screenshots of screens"] if settings.screens.pictures else []
    uses += ["browser tools of agents"] if by_agents else []
    if not uses:
        return Finding("note", "Chromium", "not used: screenshots are turned off (screens.pictures)")
    program = find_browser(settings.screens.browser)
    if program is not None:
        return Finding("ok", "Chromium", f"{program}, for {' and '.join(uses)}")
    missing = " and ".join(f"no {use}" for use in uses)
    if settings.screens.browser:
        said = f"screens.browser names {settings.screens.browser}, which is not a program; {missing}"
        return Finding("bad", "Chromium", said, ("Correct screens.browser, or leave it empty.",))
    fix = "apt-get install --no-install-recommends chromium"
    return Finding("bad" if by_agents else "note", "Chromium", f"not found: there will be {missing}", (fix,))


def _models(settings: Settings) -> Iterator[Finding]:
    for model in settings.models:
        provider = settings.providers[model.provider]
        key = provider.key_env
        if not is_installed(provider.kind):
            fixes = (
                "Connect a model: docs/guides/connect-a-model.md, or /docs/guides/connect-a-model/ of a running server",
                "In Outlast's folder: pip install -e ./packages/demo",
            )
            yield Finding("bad", f"Model {model.id}", f"the package outlast-{provider.kind} is not installed", fixes)
        elif provider.kind == "demo":
            yield Finding("ok", f"Model {model.id}", "the demo: recorded answers, real tools, no key")
        elif key and not os.environ.get(key):
            yield Finding("bad", f"Model {model.id}", f"{key} is not set", (f"export {key}=...",))
        else:
            yield Finding("ok", f"Model {model.id}", f"{key} is set" if key else f"no key needed ({provider.kind})")
