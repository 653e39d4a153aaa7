"""Reads settings from flags, environment, file and defaults, strongest first."""

import os
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path as File
from typing import Any, get_args, get_origin

from outlast.base.errors import InvalidSetting
from outlast.base.records import dataclass
from outlast.base.settings.checks import refusal
from outlast.base.settings.fields import SecretUrl
from outlast.base.settings.toml_lines import Path, key_lines, line_of
from outlast.base.settings.values import Unusable, convert, expected, from_text, is_table, plain
from outlast.kernel.credits.settings import SHIPPED_PLANS
from outlast.kernel.models.settings import DEMO_MODELS, ModelSettings, ProviderKind
from outlast.kernel.runs.settings import SHIPPED_PROFILES, PolicyRule, ProfileSettings
from outlast.kernel.runs.shipped_policy import SHIPPED_POLICY
from outlast.kernel.settings import Settings, settings_class
from outlast.kernel.settings.rules import check_settings

PREFIX = "OUTLAST_"


@dataclass(frozen=True, slots=True)
class _Raw:
    """All sources merged: values by key path, and the place where each was read."""

    values: dict[str, Any]
    origins: dict[Path, str]
    lines: dict[Path, int]
    file: str

    def where(self, path: Path) -> str:
        for end in range(len(path), 0, -1):
            if path[:end] in self.origins:
                return self.origins[path[:end]]
        if not _present(self.values, path):
            return "default"
        line = line_of(self.lines, path)
        return f"{self.file}:{line}" if line else self.file or "default"


def load_settings(
    file: File | str | None = None, *, environ: Mapping[str, str] | None = None, flags: Mapping[str, Any] | None = None
) -> Settings:
    """The settings of this process.

    `file` is a TOML file (None for the one in OUTLAST_CONFIG, if any); `environ` the environment (None for the
    process's own); `flags` values by dotted name (`{"server.port": 9000}`), None values meaning not given. Raises
    `InvalidSetting` with the setting's name, the expected value and the place where it was read. Reads once; safe to
    repeat.
    """
    environ = os.environ if environ is None else environ
    chosen = file or environ.get(f"{PREFIX}CONFIG") or None
    raw = _read_file(File(chosen)) if chosen else _Raw({}, {}, {}, "")
    _overlay_environment(raw, environ)
    for name, value in (flags or {}).items():
        if value is not None:
            path = tuple(name.split("."))
            _put(raw, path, value, f"flag --{path[-1].replace('_', '-')}")
    _name_kinds(raw.values.get("providers"))
    _resolve_folders(raw)
    settings = _without_absent(_build(settings_class(), raw.values, (), raw), raw)
    settings = replace(settings, agents=replace(settings.agents, folder=_agents_folder(settings, raw)))
    check_settings(settings, lambda name: raw.where(_path(name)))
    return settings


def environment_name(path: Path) -> str:
    """The variable that mirrors a setting: `runs.max_steps` is OUTLAST_RUNS_MAX_STEPS."""
    return PREFIX + "_".join(str(part) for part in path).upper()


def scalar_settings(table: Any = None, above: Path = ()) -> Iterator[tuple[Path, Any, Field[Any]]]:
    """Every setting that has one name: path, type, field. Tables repeated by name or number come as one entry."""
    table = table or settings_class()
    hints = typing.get_type_hints(table)
    for field in fields(table):
        path = (*above, field.name)
        if is_table(hints[field.name]):
            yield from scalar_settings(plain(hints[field.name]), path)
        else:
            yield path, hints[field.name], field


def _resolve_folders(raw: _Raw) -> None:
    """Make the paths of folders absolute. Raises `InvalidSetting` for one that is missing."""
    for path, _, field in scalar_settings():
        if not field.metadata["beside"] or not _present(raw.values, path):
            continue
        table: Any = raw.values
        for key in path[:-1]:
            table = table[key]
        named = table[path[-1]]
        if not isinstance(named, str) or not named:
            continue
        folder = (File() if path in raw.origins else File(raw.file).parent) / named
        if not folder.is_dir():
            raise refusal(_name(path), "an existing folder", _shown(named), raw.where(path))
        table[path[-1]] = str(folder.absolute())


def _read_file(file: File) -> _Raw:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise refusal("configuration file", "a readable TOML file", error.strerror or "nothing", str(file)) from None
    except UnicodeDecodeError:
        raise refusal("configuration file", "text in UTF-8", "other bytes", str(file)) from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(
            f"{file}: not valid TOML: {error}.",
            hint="Correct the line named above.",
            setting="configuration file",
            expected="valid TOML",
            read_from=str(file),
        ) from None
    return _Raw(values, {}, key_lines(text), str(file))


def _overlay_environment(raw: _Raw, environ: Mapping[str, str]) -> None:
    known: dict[str, tuple[Path, Any]] = {}
    for path, kind, field in scalar_settings():
        known[environment_name(path)] = (path, kind)
        if field.metadata["env"]:
            known[field.metadata["env"]] = (path, kind)
    sections = tuple(f"{PREFIX}{field.name.upper()}_" for field in fields(settings_class()) if field.name != "server")
    for name, text in environ.items():
        if name in known and not (name == "OUTLAST_PORT" and "://" in text):  # Kubernetes sets that one for a service
            path, kind = known[name]
            try:
                _put(raw, path, from_text(text, kind), f"environment {name}")
            except Unusable as error:
                raise refusal(".".join(map(str, path)), str(error), "other text", f"environment {name}") from None
        elif name.startswith(sections) and name not in known:
            raise _unknown(name, list(known), f"environment {name}")


def _put(raw: _Raw, path: Path, value: Any, origin: str) -> None:
    table: Any = raw.values
    for key in path[:-1]:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            return  # the file has a value where a table belongs: `_build` reports it
    table[path[-1]] = value
    raw.origins[path] = origin


def _name_kinds(providers: Any) -> None:
    """A table [providers.groq] is of the kind groq, unless it says otherwise."""
    for name, table in providers.items() if isinstance(providers, dict) else ():
        if isinstance(table, dict) and name in get_args(ProviderKind):
            table.setdefault("kind", name)


def _build(table: Any, values: Any, path: Path, raw: _Raw) -> Any:
    """One table's dataclass from its raw values."""
    if not isinstance(values, dict):
        raise refusal(_name(path), "a table", _shown(values), raw.where(path))
    known = {field.name: field for field in fields(table)}
    for key in values:
        if key not in known:
            raise _unknown(_name((*path, key)), [_name((*path, name)) for name in known], raw.where((*path, key)))
    hints = typing.get_type_hints(table)
    given: dict[str, Any] = {}
    for name, field in known.items():
        here = (*path, name)
        if name in values:
            given[name] = _value(values[name], hints[name], field, here, raw)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise refusal(_name(here), expected(hints[name], field), "nothing", raw.where(path))
    return table(**given)


def _value(value: Any, kind: Any, field: Field[Any], path: Path, raw: _Raw) -> Any:
    kind = plain(kind)
    if is_dataclass(kind):
        return _build(kind, value, path, raw)
    table = next((part for part in get_args(kind) if is_dataclass(part)), None)
    if table is not None:
        return _tables(table, value, path, raw, by_number=get_origin(kind) is tuple)
    try:
        return convert(value, kind, field)
    except Unusable as error:
        found = "something else" if kind is SecretUrl else _shown(value)
        raise refusal(_name(path), str(error), found, raw.where(path)) from None


def _tables(table: Any, value: Any, path: Path, raw: _Raw, *, by_number: bool) -> Any:
    """Tables that are repeated, by number or by name."""
    if by_number and isinstance(value, list):
        return tuple(_build(table, item, (*path, index), raw) for index, item in enumerate(value))
    if not by_number and isinstance(value, dict):
        return types.MappingProxyType({name: _build(table, item, (*path, name), raw) for name, item in value.items()})
    begin = f"[[{_name(path)}]]" if by_number else f"[{_name(path)}.NAME]"
    raise refusal(_name(path), f"tables, each begun by {begin}", _shown(value), raw.where(path))


def _without_absent(settings: Settings, raw: _Raw) -> Settings:
    """Apply defaults that depend on the given settings: shipped plans, profiles and policies stay; no sandboxes for
    "none", or if no source has that section; the demo without models."""
    defaults = Settings()
    settings = replace(settings, policy=_policy(settings.policy, raw), profiles=_profiles(settings.profiles))
    plans = types.MappingProxyType({**SHIPPED_PLANS, **settings.credits.plans})
    settings = replace(settings, credits=replace(settings.credits, plans=plans))
    unasked = raw.file and "sandbox" not in raw.values
    if settings.sandbox and (unasked or settings.sandbox.provider == "none"):
        settings = replace(settings, sandbox=None)
    if not raw.values.get("models") and (named := _default_model(settings, raw)):
        return replace(settings, models=(named,))
    if not raw.values.get("models"):
        providers = types.MappingProxyType({**defaults.providers, **settings.providers})
        settings = replace(settings, models=defaults.models, providers=providers)
    return settings


def _agents_folder(settings: Settings, raw: _Raw) -> str:
    """The whole path of the folder of agents, named or the usual one, which may be missing; "" without any file."""
    path: Path = ("agents", "folder")
    named, beside = settings.agents.folder, File(raw.file).parent
    if not named:
        return str((beside / "agents").absolute()) if raw.file else ""
    folder = (File() if path in raw.origins else beside) / named
    if not folder.is_dir():
        raise refusal(_name(path), "an existing folder", _shown(named), raw.where(path))
    return str(folder.absolute())


def _default_model(settings: Settings, raw: _Raw) -> ModelSettings | None:
    """Without [[models]], `default_model` is the name of a model of the one provider; None if it is the demo's."""
    name, providers = settings.default_model, list(raw.values.get("providers", ()))
    if not name or not providers or name in {model.id for model in DEMO_MODELS}:
        return None
    if len(providers) > 1:
        wanted = f"[[models]] that say which provider ({', '.join(providers)}) serves it"
        raise refusal("default_model", wanted, "none", raw.where(("default_model",)))
    return ModelSettings(id=name, provider=providers[0], name=name)


def _policy(given: tuple[PolicyRule, ...], raw: _Raw) -> tuple[PolicyRule, ...]:
    """The given rules, followed by the shipped ones, with the decisions given for their names."""
    own: list[PolicyRule] = []
    named: dict[str, PolicyRule] = {}
    names = list(dict.fromkeys(rule.name for rule in SHIPPED_POLICY))
    for index, rule in enumerate(given):
        here: Path = ("policy", index)
        if rule in SHIPPED_POLICY:
            continue
        if not rule.name:
            if not rule.tool:
                raise refusal(_name((*here, "tool")), "the name of a tool, or a glob", "nothing", raw.where(here))
            own.append(rule)
        elif rule.name not in names:
            wanted = f"the name of a shipped rule ({', '.join(names)})"
            raise refusal(_name((*here, "name")), wanted, _shown(rule.name), raw.where((*here, "name")))
        elif rule != PolicyRule(name=rule.name, decision=rule.decision, reason=rule.reason):
            wanted = "no tool, profile, arguments or commands beside a name"
            raise refusal(_name(here), wanted, "one of them", raw.where((*here, "name")))
        else:
            named[rule.name] = rule
    shipped = (
        replace(rule, decision=given.decision, reason=given.reason or rule.reason)
        for rule in SHIPPED_POLICY
        for given in (named.get(rule.name, rule),)
    )
    return (*own, *(rule for rule in shipped if rule.decision != "allow"))


def _profiles(given: Mapping[str, ProfileSettings]) -> Mapping[str, ProfileSettings]:
    """The shipped profiles, overridden by the given ones."""
    merged = dict(given)
    for name, shipped in SHIPPED_PROFILES.items():
        mine = given.get(name, shipped)
        chosen = {field.name: getattr(mine, field.name) for field in fields(mine)}
        merged[name] = replace(shipped, **{key: value for key, value in chosen.items() if value is not None})
    return types.MappingProxyType(merged)


def _present(values: Any, path: Path) -> bool:
    for key in path:
        try:
            values = values[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _path(name: str) -> Path:
    return tuple(int(part) if part.isdigit() else part for part in name.split("."))


def _name(path: Path) -> str:
    return ".".join(str(part) for part in path) or "the file"


def _shown(value: Any) -> str:
    if isinstance(value, (list, dict)):  # may hold a header with a key
        return "a list" if isinstance(value, list) else "a table"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unknown(name: str, known: list[str], where: str) -> InvalidSetting:
    near = get_close_matches(name, known, n=1, cutoff=0.7)
    return InvalidSetting(
        f"{name}: unknown setting ({where}).",
        hint=f"Did you mean {near[0]}?" if near else "docs/reference/configuration.md lists all settings.",
        setting=name,
        expected="the name of a setting",
        read_from=where,
    )
