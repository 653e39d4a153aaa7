"""The demo model in agents that people write: it calls the tool that a message names, and takes the arguments from the
message. `/call refund {"order_id": "B-17"}` calls a tool with exactly these arguments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from outlast.kernel.models.protocol import ToolSpec
from outlast.kernel.models.tool_choice import AUTO, REQUIRED
from outlast.kernel.runs.stage_plan import FINAL_ANSWER
from outlast_demo.answers import quoted
from outlast_demo.lines import Line, Say, Use
from outlast_demo.scripts import Scene

RECORDED: Final = frozenset(
    {"terminal", "create_or_update_files", "read_files", "run_code", "start_service", "ask_user", "search_docs"}
)
"""Tools that recorded answers call."""
_EXACT: Final = re.compile(r"\s*/call\s+(\S+)\s*(\{.*\})?\s*$", re.DOTALL)
_TOKEN: Final = re.compile(r'"([^"]*)"|“([^”]*)”|([\w.@-]*\w)')
_ALARMING: Final = frozenset({"urgent", "critical", "important"})
_ALARMS: Final = frozenset(["not", "never", "broken", "wrong", "danger", "dangerous", "immediately", "asap"])
_PLURAL: Final = re.compile(r"(?<=\w{2})s$")


def own_lines(scene: Scene, tools: Sequence[ToolSpec], choice: str = AUTO) -> Sequence[Line] | None:
    """The next turn in an agent with tools of its own, or None if a recorded answer fits better. `choice`: the tool
    that the agent requires."""
    own = {tool.name: tool for tool in tools if tool.name not in RECORDED}
    if not own:
        return None
    if scene.results:
        return _after_result(scene, own)
    use = _required_use(scene.asked, own, choice) or _exact_use(scene.asked, own) or _named_use(scene, own)
    use = use or _final_use(scene.asked, own)
    if use is None and choice == REQUIRED:
        use = _required_use(scene.asked, own, next(iter(own)))
    if use is not None:
        return [Say(f"I'll call `{use.tool}`.\n\n"), use]
    return [Say(_offer(own))] if RECORDED.isdisjoint(scene.tools) else None


def _after_result(scene: Scene, own: Mapping[str, ToolSpec]) -> Sequence[Line] | None:
    result = scene.results[-1]
    if result.name not in own:
        return None
    if result.name != FINAL_ANSWER and not result.is_error and (use := _final_use(scene.asked, own)) is not None:
        return [use]
    words = "The call did not succeed" if result.is_error else "Done"
    return [Say(f"{words}. `{result.name}` answered:\n\n{quoted(result.content)}\n")]


def _required_use(asked: str, own: Mapping[str, ToolSpec], choice: str) -> Use | None:
    tool = own.get(choice)
    return None if tool is None else Use(tool.name, arguments_from(asked, tool.parameters))


def _exact_use(asked: str, own: Mapping[str, ToolSpec]) -> Use | None:
    found = _EXACT.match(asked)
    if found is None or found[1] not in own:
        return None
    try:
        return Use(found[1], orjson.loads(found[2] or "{}"))
    except orjson.JSONDecodeError:
        return None


def _named_use(scene: Scene, own: Mapping[str, ToolSpec]) -> Use | None:
    """A call of the tool of whose name the message has most words; the first word of a name counts double. Beside the
    tools of recorded answers, it has to have all of them."""
    words = {_stem(word) for word in re.findall(r"[^\W_]+", scene.asked)}
    best, most = None, 0
    for name, tool in own.items():
        of_name = [_stem(word) for word in re.findall(r"[^\W_]+", name)]
        score = sum(word in words for word in of_name) + (of_name[0] in words)
        fits = words.issuperset(of_name) or RECORDED.isdisjoint(scene.tools)
        if name != FINAL_ANSWER and fits and score > most:
            best, most = tool, score
    return None if best is None else Use(best.name, arguments_from(scene.asked, best.parameters))


def _final_use(asked: str, own: Mapping[str, ToolSpec]) -> Use | None:
    """A call that gives the answer as an object."""
    return _required_use(asked, own, FINAL_ANSWER)


def arguments_from(asked: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Values for a tool's arguments: quoted texts, numbers and words of the message, those next to an argument's name
    first. An argument that has a default and finds nothing is left out."""
    tokens = [next(filter(None, groups), "") for groups in _TOKEN.findall(asked)]
    required = schema.get("required", ())
    taken: set[int] = set()
    found: dict[str, Any] = {}
    for name, field in schema.get("properties", {}).items():
        value = _value_of(name, _resolved(field, schema), tokens, taken)
        if value is None and name in required:
            value = asked.strip() if _resolved(field, schema).get("type") == "string" else None
        if value is not None:
            found[name] = value
    return found


def _resolved(field: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The field's own schema: a reference followed, of alternatives the first."""
    if "$ref" in field:
        return dict(schema["$defs"][field["$ref"].rpartition("/")[2]])
    return _resolved(field["anyOf"][0], schema) if "anyOf" in field else field


def _value_of(name: str, field: Mapping[str, Any], tokens: Sequence[str], taken: set[int]) -> Any:
    words = {_stem(token) for token in tokens}
    if "enum" in field:
        return next((one for one in field["enum"] if _stem(str(one)) in words), field["enum"][0])
    if field.get("type") == "boolean":
        parts = {_stem(part) for part in name.split("_")}
        return not words.isdisjoint(parts) or not (_ALARMING.isdisjoint(parts) or _ALARMS.isdisjoint(words))
    kinds = {"integer": r"-?\d+", "number": r"-?\d+(\.\d+)?", "string": r".*\d.*|.*[ .@].*"}
    wanted = kinds.get(str(field.get("type")))
    if wanted is None:
        return None
    for at in _by_closeness(name, tokens):
        if at not in taken and re.fullmatch(wanted, tokens[at], re.DOTALL):
            taken.add(at)
            return {"integer": int, "number": float, "string": str}[str(field["type"])](tokens[at])
    return None


def _by_closeness(name: str, tokens: Sequence[str]) -> Iterator[int]:
    """Places of the tokens: behind and before a word of the name, then all others in order."""
    of_name = {_stem(part) for part in name.split("_")}
    places = [at for at, token in enumerate(tokens) if _stem(token) in of_name]
    near = [at for place in places for at in (place + 1, place - 1) if 0 <= at < len(tokens)]
    yield from near
    yield from (at for at in range(len(tokens)) if at not in near)


def _stem(word: str) -> str:
    return _PLURAL.sub("", word.lower())


def _offer(own: Mapping[str, ToolSpec]) -> str:
    lines = [f"- `{name}`: {tool.description.partition('. ')[0]}" for name, tool in own.items()]
    return (
        "I am the **demo model**: I do not understand your message, but I can call this agent's tools. Name one and "
        'its arguments, for example with `/call TOOL {"argument": "value"}`.\n\n' + "\n".join(lines) + "\n"
    )
