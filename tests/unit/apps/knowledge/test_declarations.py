"""Type declarations and stubs become passages: one for each thing that is declared."""

from __future__ import annotations

import pytest

from outlast.apps.knowledge import declarations
from outlast.apps.knowledge.declarations import cut_declarations
from outlast.apps.knowledge.signatures import cut_signatures, module_of

TYPES = """\
import { Request } from "./request";
export * from "./other";

/**
 * Talks to the tracker.
 */
export declare class Tracker extends Request {
    /** Make one. */
    constructor(options: Options);
    /** All issues of a state. */
    issues(state: State): Promise<Issue[]>;
    private hidden;
}
export interface Issue { id: string; title: string }
export type State = "open" | "closed";
export declare function open(url: string): Tracker;
export declare function open(url: URL, state?: State): Tracker;
export declare const version: string;
declare namespace Internal {
    /** Of a namespace. */
    interface Options { url: string }
}
declare module "tracker/extra" {
    export function extra(): void;
}
export default Tracker;
export { Internal };
"""


def test_each_declaration_is_a_passage_with_its_comment() -> None:
    found = cut_declarations(TYPES, "npm:tracker@1.0.0/index.d.ts", 1600)
    assert [one.heading.removeprefix("Type declarations › ") for one in found] == [
        "Tracker",
        "Issue",
        "State",
        "open",
        "version",
        "Internal.Options",
        "extra",
    ]
    assert "Talks to the tracker." in found[0].body
    assert found[0].body.startswith("```ts\n/**")
    assert found[3].body.count("export declare function open") == 2
    assert found[0].url == "npm:tracker@1.0.0/index.d.ts"


def test_a_long_declaration_is_cut_between_its_members() -> None:
    members = "\n".join(f"    /** Does {n}. */\n    method{n}(value: string): Promise<void>;" for n in range(60))
    found = cut_declarations(f"/** Many. */\nexport declare class Big<T> {{\n{members}\n}}\n", "u", 800)
    assert len(found) > 4
    assert all("export declare class Big<T> {" in one.body and one.body.endswith("}\n```") for one in found)
    assert all(len(one.body) < 1000 for one in found)
    assert "/** Many. */" in found[0].body
    assert "/** Many. */" not in found[1].body
    whole = "".join(one.body for one in found)
    assert all(f"/** Does {n}. */\n    method{n}(value: string): Promise<void>;" in whole for n in range(60))


def test_what_is_no_typescript_gives_nothing() -> None:
    assert cut_declarations("%%% }}} ((", "u", 1600) == []


PYTHON = '''\
"""A client."""
from typing import overload

class Client(Base, metaclass=Meta):
    """Talks to the tracker."""
    timeout: float = 5
    _secret: str
    def __init__(self, url: str) -> None: ...
    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return True
    async def issues(self, *, state: str = "open") -> list[Issue]: ...
    def _inner(self): ...

@overload
def connect(url: str) -> Client: ...
@overload
def connect(url: bytes) -> Client: ...
def _hidden(): ...
'''


def test_each_public_class_and_function_is_a_passage() -> None:
    found = cut_signatures(PYTHON, "u", "tracker.client", 1600)
    assert [one.heading for one in found] == [
        "Signatures › tracker.client",
        "Signatures › tracker.client.Client",
        "Signatures › tracker.client.connect",
    ]
    client = found[1].body
    assert "class Client(Base, metaclass=Meta):" in client
    assert "async def issues(self, *, state: str='open') -> list[Issue]: ..." in client
    assert '@property\n    def closed(self) -> bool:\n        """Whether it was closed."""' in client
    assert "timeout: float = 5" in client
    assert "_inner" not in client
    assert "_secret" not in client
    assert found[2].body.count("@overload") == 2


def test_a_long_class_is_cut_between_its_methods() -> None:
    methods = "\n".join(f"    def method_{n}(self, value: int) -> int: ..." for n in range(80))
    found = cut_signatures(f"class Big:\n{methods}\n", "u", "m", 800)
    assert len(found) > 4
    assert all(one.body.startswith("```python\nclass Big:\n") for one in found)


def test_a_file_that_python_cannot_read_gives_nothing() -> None:
    assert cut_signatures("def (:", "u", "m", 800) == []


def test_modules_are_named_as_they_are_imported() -> None:
    assert module_of("tracker/__init__.py") == "tracker"
    assert module_of("tracker/client.pyi") == "tracker.client"
    assert module_of("tracker-stubs/client.pyi") == "tracker.client"
    assert module_of("single.py") == "single"


def test_declarations_that_take_too_long_to_read_are_cut_by_their_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "_MAX_CPU_S", 0.0)
    bodies = [one.body for one in cut_declarations(TYPES, "u", 200)]
    assert "".join(body.removeprefix("```ts\n").removesuffix("\n```") for body in bodies) == TYPES


def test_namespaces_of_any_depth_are_read() -> None:
    """Some hundreds of them, one in the other, ended the reading of the whole source."""
    deep = "namespace a {" * 3_000 + "}" * 3_000
    assert cut_declarations(f"{deep} export type Known = string;", "u", 500)
