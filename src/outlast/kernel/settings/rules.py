"""Finds contradictions between settings. Pure: settings in, the first contradiction out."""

from collections.abc import Iterator
from dataclasses import fields
from typing import NamedTuple

from outlast.base.errors import InvalidSetting
from outlast.base.settings.checks import VARIABLE, Where, check_address, check_each, check_service, refuse
from outlast.kernel.connections.settings import check_connections
from outlast.kernel.settings import Settings
from outlast_sandbox.host_patterns import parse_host_port, parse_pattern
from outlast_sandbox.package_names import NotAPackage, name_of, parse_package

DAY_S = 86_400


def check_settings(settings: Settings, where: Where) -> None:
    """Raise `InvalidSetting` with both settings, both numbers and both places."""
    for smaller, larger, strictly in _clock_chain(settings):
        _in_order(smaller, larger, where, strictly=strictly)
    heartbeats = _Clock("runs.heartbeat_s", settings.runs.heartbeat_s * 2, "twice runs.heartbeat_s")
    _in_order(heartbeats, _Clock("runs.lease_s", settings.runs.lease_s), where, strictly=False)
    _check_models(settings, where)
    _check_names(settings, where)
    _check_hosts(settings, where)
    _check_packages(settings, where)
    check_each("screens.image_hosts", settings.screens.image_hosts, parse_pattern, where)
    check_service("embeddings", settings.embeddings.url, settings.embeddings.api_key_env, where)
    if settings.embeddings.url and not settings.embeddings.model:
        refuse("embeddings.url", "embeddings.model beside it", "none", where, quoted=False)
    check_connections(settings.connections, _secret_settings(settings), where)
    for field in fields(settings):
        if check := getattr(getattr(settings, field.name), "check", None):  # an app's
            check(where)


class _Clock(NamedTuple):
    """A setting that is a duration; `words` is its name in messages, if it differs."""

    setting: str
    seconds: float
    words: str = ""


def _clock_chain(settings: Settings) -> Iterator[tuple[_Clock, _Clock, bool]]:
    """Pairs (shorter, longer, strictly): approval pause ≤ idle pause ≤ stop ≤ volume eviction < kill < retention."""
    runs, sandbox = settings.runs, settings.sandbox
    approval = _Clock("runs.approval_pause_after_s", runs.approval_pause_after_s)
    kills = [_Clock("runs.paused_kill_after_s", runs.paused_kill_after_s)]
    if sandbox is None:
        yield approval, kills[0], True
    else:
        kills.append(_Clock("sandbox.kill_after_s", sandbox.kill_after_s))
        idle = _Clock("sandbox.idle_pause_s", sandbox.idle_pause_s)
        stop = _Clock("sandbox.stop_after_s", sandbox.stop_after_s)
        volume = _Clock("sandbox.volume_ttl_minutes", sandbox.volume_ttl_minutes * 60)
        yield approval, idle, False
        yield idle, stop, False
        yield stop, volume, False
        for kill in kills:
            yield volume, kill, True
    for kill in kills:
        for name in ("completed_days", "error_days"):
            yield kill, _Clock(f"retention.{name}", getattr(settings.retention, name) * DAY_S), True


def _in_order(smaller: _Clock, larger: _Clock, where: Where, *, strictly: bool) -> None:
    if smaller.seconds < larger.seconds or (smaller.seconds == larger.seconds and not strictly):
        return
    relation = "shorter than" if strictly else "no longer than"
    raise InvalidSetting(
        f"{smaller.words or smaller.setting} must be {relation} {larger.setting}, but is {smaller.seconds:g} s "
        f"({where(smaller.setting)}) against {larger.seconds:g} s ({where(larger.setting)}).",
        hint=f"Lower {smaller.setting} or raise {larger.setting}.",
        setting=smaller.setting,
        other=larger.setting,
        seconds=smaller.seconds,
        other_seconds=larger.seconds,
        read_from=where(smaller.setting),
    )


def _check_models(settings: Settings, where: Where) -> None:
    seen: dict[str, int] = {}
    for index, model in enumerate(settings.models):
        if model.provider not in settings.providers:
            refuse(
                f"models.{index}.provider",
                f"the name of a configured provider ({', '.join(settings.providers)})",
                model.provider,
                where,
            )
        if model.id in seen:
            refuse(f"models.{index}.id", "an id that no other model has", model.id, where)
        seen[model.id] = index
    if settings.default_model and settings.default_model not in seen:
        refuse("default_model", f"the id of a configured model ({', '.join(seen)})", settings.default_model, where)


def _check_names(settings: Settings, where: Where) -> None:
    if settings.credits.default_plan not in settings.credits.plans:
        plans = ", ".join(settings.credits.plans)
        refuse("credits.default_plan", f"the name of a plan ({plans})", settings.credits.default_plan, where)
    if not settings.database.url.startswith(("sqlite:///", "postgresql://", "postgres://")):
        expected = "sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME"
        refuse("database.url", expected, "another kind of address", where, quoted=False)
    check_address("server.public_url", settings.server.public_url, where)


def _check_hosts(settings: Settings, where: Where) -> None:
    """Check the hosts that sandboxes may reach, and the hosts of each secret."""
    if settings.sandbox is None:
        return
    check_each("sandbox.allow_hosts", settings.sandbox.allow_hosts, parse_pattern, where)
    for index, dependency in enumerate(settings.sandbox.dependencies):
        name = f"sandbox.dependencies.{index}"
        check_each(f"{name}.hosts", dependency.hosts, parse_pattern, where)
        check_each(f"{name}.allow_private", dependency.allow_private, parse_host_port, where)
        secret = dependency.secret_env
        if secret and not VARIABLE.match(secret):
            refuse(f"{name}.secret_env", "the name of an environment variable", secret, where)
        if secret and not (dependency.hosts or dependency.allow_private):
            refuse(f"{name}.hosts", f"the hosts that {secret} may be sent to", "none", where, quoted=False)
        if secret and any(parse_pattern(text).is_everything for text in dependency.hosts):
            refuse(f"{name}.hosts", "the hosts that a secret may be sent to, by name", "*", where)


def _secret_settings(settings: Settings) -> dict[str, str]:
    """The settings that declare secrets of sandboxes, by the variables of those."""
    dependencies = settings.sandbox.dependencies if settings.sandbox else ()
    named = {one.secret_env: f"sandbox.dependencies.{index}.secret_env" for index, one in enumerate(dependencies)}
    return {variable: setting for variable, setting in named.items() if variable}


def _check_packages(settings: Settings, where: Where) -> None:
    """Check the packages of sandboxes: one version of each."""
    seen: dict[str, str] = {}
    for index, dependency in enumerate(settings.sandbox.dependencies if settings.sandbox else ()):
        name = f"sandbox.dependencies.{index}.package"
        if "package" in dependency.docs and not dependency.package:
            docs = f"sandbox.dependencies.{index}.docs"
            refuse(docs, "a package beside docs that name it", "none", where, quoted=False)
        if not dependency.package:
            continue  # it names hosts and a secret only
        try:
            package = parse_package(dependency.package)
        except NotAPackage as error:
            refuse(name, str(error), dependency.package, where)
        if seen.setdefault(name_of(package), package) != package:
            expected = f"the version that another entry has ({seen[name_of(package)]})"
            refuse(name, expected, dependency.package, where)
