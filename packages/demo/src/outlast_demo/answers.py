"""Tool results as the demo model reads them: quoted unchanged, with answers extracted from JSON of any shape."""

from typing import Any, Final

import orjson

_MAX_QUOTED_CHARS: Final = 1_500


def quoted(content: str, *, last_lines: int = 0) -> str:
    """A tool's output as a fenced block, at most 1,500 characters of it. `last_lines` keeps only its last lines."""
    text = _readable(content).strip("\n")
    if last_lines:
        text = "\n".join(text.splitlines()[-last_lines:])
    if len(text) > _MAX_QUOTED_CHARS:
        text = f"{text[:_MAX_QUOTED_CHARS]}\n… ({len(text) - _MAX_QUOTED_CHARS} more characters)"
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text or '(no output)'}\n{fence}"


def answer_said(content: str, question_id: str) -> str:
    """The user's answer to one question, or "" if there is none. Reads `{id: answer}`, also under `answers`,
    and a list of `{id, answer}`."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return ""
    if isinstance(value, dict):
        value = value.get("answers", value)
    if isinstance(value, list):
        value = {str(item.get("id")): item for item in value if isinstance(item, dict)}
    return _plain(value.get(question_id)) if isinstance(value, dict) else ""


def _plain(answer: Any) -> str:
    if isinstance(answer, dict):
        answer = answer.get("answer", answer.get("value", answer.get("text")))
    if isinstance(answer, list):
        return ", ".join(str(item) for item in answer)
    return "" if answer is None else str(answer).strip()


def _readable(content: str) -> str:
    """A JSON object as lines of `key: value`; anything else unchanged."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return content
    if not isinstance(value, dict):
        return content
    lines = [f"{key}: {_one_line(item)}" for key, item in value.items() if item not in (None, "", [], {})]
    return "\n".join(lines)


def _one_line(item: Any) -> str:
    if isinstance(item, str):
        return f"\n{item.rstrip()}" if "\n" in item.strip() else item.strip()
    return orjson.dumps(item).decode()
