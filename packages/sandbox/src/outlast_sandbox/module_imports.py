"""Tests if a file of a workspace can be imported, and lists its exports, by importing it in its language's session."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from outlast_sandbox.interface import Evaluation, Sandbox

TIMEOUT_S: Final = 30.0
ERROR_CHARS: Final = 600
_TYPESCRIPT: Final = "await (async () => Object.keys(await import({url})))()"
_PYTHON: Final = 'sorted(n for n in __import__("runpy").run_path({path}) if not n.startswith("_"))'
_NAME: Final = re.compile(r"[\w$]+")
_TYPE: Final = re.compile(r"\bexport\s+(?:declare\s+)?(?:type|interface)\s+([\w$]+)")


@dataclass(frozen=True, slots=True)
class Import:
    """The outcome of an import: `error` is empty on success, `names` are the module's exports."""

    names: frozenset[str]
    error: str = ""


async def try_import(sandbox: Sandbox, path: str, version: str, effect_id: str, attempt: int) -> Import:
    """Import a file of the workspace in its language's session, as the agent's code does; `version` is any value that
    changes with its content, as sessions cache imported modules. Raises `SandboxLost`. Idempotent; a cancelled call may
    leave the import running, for `kill_command(effect_id)`."""
    language: Literal["python", "typescript"] = "python" if path.endswith(".py") else "typescript"
    url = json.dumps(f"./{path}?v={version[:12]}")
    code = _PYTHON.format(path=json.dumps(path)) if language == "python" else _TYPESCRIPT.format(url=url)
    result = await sandbox.evaluate(Evaluation(effect_id, attempt, language, code, TIMEOUT_S))
    await sandbox.acknowledge(effect_id)
    if not result.success:
        return Import(frozenset(), (result.error or "it failed")[:ERROR_CHARS])
    names = result.result if isinstance(result.result, list) else []
    return Import(frozenset(str(name) for name in names))


def missing(announced: Iterable[str], found: Import, source: str) -> list[str]:
    """The announced names (possibly with parameters) that the module does not export. TypeScript types count as
    exported, as they are not values."""
    types = frozenset(_TYPE.findall(source))
    plain = [match[0] for one in announced if (match := _NAME.match(one.strip())) is not None]
    return [name for name in plain if name not in found.names and name not in types]
