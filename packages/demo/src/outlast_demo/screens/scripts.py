"""The demo model's next turn as a screen's agent: one tool call a turn, then the tags that end the run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from outlast.kernel.models.protocol import CHECK_MARK, NOTE_MARK, ModelMessage, ModelRequest, TextPiece, ToolResultPiece
from outlast_demo.answers import quoted
from outlast_demo.lines import Line, Say, Think, Use
from outlast_demo.screens.edits import add_section, space, tint
from outlast_demo.screens.requests import COLOURS, Kind, Wish, wish_of
from outlast_demo.screens.sources import PAGE, SCREENS, files_of

CONTEXT: Final = "[The screen as this run found it]"
TYPE_CHECK: Final = "./node_modules/.bin/tsc --noEmit"
PLANS: Final = "components/pricing-plans.tsx"
WRITE, READ, RUN = "create_or_update_files", "read_files", "terminal"
PIECE_CHARS: Final = 48  # of a file's text in one delta: a 15 kB screen takes about six seconds
MAX_MENDED: Final = 2
_MARK: Final = "<task_summary>"
_RECORDED: Final = (
    "*Made by the demo model. These words and files are recorded; the files in your sandbox, the type check and the "
    "running app are real. To build anything you like, connect a model.*"
)
_SECTIONS: Final[Mapping[str, tuple[str, str, str]]] = {
    "faq": ("Faq", "a section of questions and answers", "An accordion of questions above the footer"),
    "testimonials": ("Testimonials", "three customer testimonials", "Three customer quotes, in cards"),
    "mode-switch": (
        "ModeSwitch",
        "a switch between light and dark mode",
        "A round button that switches between light and dark mode",
    ),
    "phone-bar": ("PhoneBar", "a bottom bar for phones", "On phones: a bottom bar with the main actions, and a drawer"),
}
_SPACING: Final = {"compact": ("0.21rem", "more compact"), "airy": ("0.29rem", "airier")}


@dataclass(frozen=True, slots=True)
class ScreenScene:
    """The user's request for a screen, its context, and the progress since: tool results and reports of the server's
    check. `mending` is the number of results since the last report."""

    asked: str
    context: str
    results: tuple[ToolResultPiece, ...]
    found: tuple[str, ...]
    mending: int
    tools: frozenset[str]

    @property
    def begun(self) -> bool:
        """True if a screen was built here before: the project has components that are not the template's."""
        return re.search(r"^\W*components/(?!ui/)[\w-]+\.tsx", self.context, re.MULTILINE) is not None

    @property
    def title(self) -> str:
        title = re.search(r"^Title:[ \t]*(.*)$", self.context, re.MULTILINE)
        return title[1].strip() if title is not None else ""


def is_screen(request: ModelRequest) -> bool:
    """True if the request is from a screen's agent: its prompt asks for a summary in a tag."""
    return _MARK in request.system


def screen_lines(request: ModelRequest) -> Sequence[Line]:
    """The next turn. Deterministic; never raises."""
    scene = scene_of(request)
    missing = {WRITE, READ, RUN} - scene.tools
    if missing:
        return [_end(scene, "I cannot build screens: this server has no sandbox. Run `outlast doctor` to see why.", {})]
    wish = wish_of(scene.asked, scene.begun)
    if wish.kind is Kind.UNKNOWN:
        return [_end(scene, _not_recorded(), {})]
    if scene.results and scene.results[-1].is_error and scene.results[-1].name == WRITE:
        return [
            _end(
                scene,
                f"The files could not be written. The sandbox reported:\n\n{quoted(scene.results[-1].content)}",
                {},
            )
        ]
    return _build(scene, wish) if wish.kind is Kind.BUILD else _change(scene, wish)


def scene_of(request: ModelRequest) -> ScreenScene:
    """The last request of the user, its context, and the results since."""
    asked, context, results, found, mending = "", "", list[ToolResultPiece](), list[str](), 0
    for message in request.messages:
        if message.role == "user":
            texts = _texts(message)
            if texts and texts[0].startswith(CHECK_MARK):
                found.append(texts[0])
                mending = 0
                continue
            if texts and texts[0].startswith(NOTE_MARK):
                continue
            if texts and texts[0].startswith(CONTEXT):
                context, texts = texts[0], texts[1:]
            asked, results, found, mending = " ".join(texts), [], [], 0
        news = [piece for piece in message.pieces if isinstance(piece, ToolResultPiece)]
        results += news
        mending += len(news)
    tools = frozenset(tool.name for tool in request.tools)
    return ScreenScene(asked, context, tuple(results), tuple(found), mending, tools)


def _build(scene: ScreenScene, wish: Wish) -> Sequence[Line]:
    screen, files = SCREENS[wish.name], files_of(wish.name)
    if scene.found:
        return _mend(scene, files, screen.title, screen.files)
    match len(scene.results):
        case 0:
            return [Think(screen.thought), Say(screen.opening), _write(files)]
        case 1:
            return [Say("Now I'll check the types.\n\n"), Use(RUN, {"command": TYPE_CHECK})]
    summary = f"{_guessed(wish)}{screen.summary}{_types(scene)}"
    return [_end(scene, summary, screen.files, screen.title)]


def _change(scene: ScreenScene, wish: Wish) -> Sequence[Line]:
    path = PLANS if wish.kind is Kind.YEARLY else PAGE
    if not scene.results:
        return [
            Think("First I need the current code: it may have been edited since. "),
            Say(f"First I'll read the current `{path}`.\n\n"),
            Use(READ, {"paths": [path]}),
        ]
    before = _content(scene.results[0])
    if before is None:
        return [_end(scene, _nothing_to_change(wish, path), {})]
    after = _changed(wish, before)
    if after is None:
        return [_end(scene, f"The layout of `{path}` does not match my recorded change, so I left it unchanged.", {})]
    if after == {path: before}:
        return [_end(scene, "The page already has this change, so I left it as it is.", {})]
    if scene.found:
        return _take_back(scene, {path: before})
    match len(scene.results):
        case 1:
            return [Say(f"{_what(wish)}\n\n"), _write(after)]
        case 2:
            return [Say("Now I'll check the types.\n\n"), Use(RUN, {"command": TYPE_CHECK})]
    return [_end(scene, f"### What I changed\n{_what(wish)}\n{_types(scene)}", _described(wish, after))]


def _changed(wish: Wish, before: str) -> dict[str, str] | None:
    """The files to write. Only the unchanged page if it has the change already, or None if the change is impossible."""
    match wish.kind:
        case Kind.YEARLY:
            return {PLANS: before} if "yearly" in before else dict(files_of("yearly"))
        case Kind.TINT:
            page = tint(before, wish.name)
            return None if page is None else {PAGE: page}
        case Kind.SPACE:
            page = space(before, _SPACING[wish.name][0])
            return None if page is None else {PAGE: page}
        case _:
            component = _SECTIONS[wish.name][0]
            if f"<{component} />" in before:
                return {PAGE: before}
            path = f"components/{wish.name}"
            page = add_section(before, component, path)
            return None if page is None else {f"{path}.tsx": files_of("more")[f"{path}.tsx"], PAGE: page}


def _mend(scene: ScreenScene, files: Mapping[str, str], title: str, described: Mapping[str, str]) -> Sequence[Line]:
    """Writes the recorded files again: something else has changed them."""
    if len(scene.found) > MAX_MENDED:
        text = f"The check still finds problems that none of my recordings can fix:\n\n{_quote_report(scene.found[-1])}"
        return [_end(scene, text, described, title)]
    match scene.mending:
        case 0:
            return [
                Think("The check found problems. I'll restore my files and check again. "),
                Say("The check found problems. I'll write my files again and repeat the type check.\n\n"),
                _write(files),
            ]
        case 1:
            return [Say("Now I'll check the types again.\n\n"), Use(RUN, {"command": TYPE_CHECK})]
    return [_end(scene, f"I wrote the files of this screen again after the check.\n{_types(scene)}", described, title)]


def _take_back(scene: ScreenScene, before: Mapping[str, str]) -> Sequence[Line]:
    if scene.mending == 0 and len(scene.found) == 1:
        return [
            Think("The change breaks the page. I'll restore the version before it. "),
            Say("The check found problems, so I'll undo my change.\n\n"),
            _write(before),
        ]
    described = dict.fromkeys(before, "Restored to the version before this change")
    text = f"My change did not pass the check, so I undid it. The check found:\n\n{_quote_report(scene.found[0])}"
    return [_end(scene, text, described)]


def _end(scene: ScreenScene, summary: str, described: Mapping[str, str], title: str = "") -> Say:
    files = "\n".join(f"- {path}: {said}" for path, said in described.items())
    name = title or scene.title or "Demo screen"
    text = summary.strip("\n")
    return Say(
        f"<title>\n{name}\n</title>\n\n<task_summary>\n{text}\n\n{_RECORDED}\n</task_summary>\n\n"
        f"<files_summary>\n{files}\n</files_summary>\n"
    )


def _write(files: Mapping[str, str]) -> Use:
    listed = [{"path": path, "content": content} for path, content in files.items()]
    return Use(WRITE, {"files": listed}, PIECE_CHARS)


def _content(result: ToolResultPiece) -> str | None:
    """The text of the first file that was read, or None if the file does not exist or is too long to be read whole."""
    try:
        first = orjson.loads(result.content)[0]
        return None if first.get("truncated") else str(first["content"])
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None


def _types(scene: ScreenScene) -> str:
    """The real output of the type check, if it failed."""
    last = scene.results[-1]
    if last.name != RUN or not last.is_error:
        return ""
    return f"\nThe type check failed:\n\n{quoted(last.content, last_lines=12)}\n"


def _described(wish: Wish, files: Mapping[str, str]) -> dict[str, str]:
    if wish.kind is Kind.YEARLY:
        return {PLANS: "The three plans, with a switch between monthly and yearly prices"}
    if wish.kind is Kind.TINT:
        return {PAGE: f"The page, now in {COLOURS[wish.name]}"}
    if wish.kind is Kind.SPACE:
        return {PAGE: f"The page, {_SPACING[wish.name][1]}"}
    return {path: "The page, with the new part" if path == PAGE else _SECTIONS[wish.name][2] for path in files}


def _what(wish: Wish) -> str:
    match wish.kind:
        case Kind.YEARLY:
            return "A switch above the plans changes between monthly and yearly prices; yearly costs 20% less."
        case Kind.TINT:
            return (
                f"The page is now {COLOURS[wish.name]}. Its accents, surfaces and lines are mixed from your theme's "
                "colours, so they follow when you choose another theme."
            )
        case Kind.SPACE:
            return f"The page is now {_SPACING[wish.name][1]}: I changed the base unit of all spacing."
    return f"The page now has {_SECTIONS[wish.name][1]}; the rest is unchanged."


def _nothing_to_change(wish: Wish, path: str) -> str:
    if wish.kind is Kind.YEARLY:
        return (
            "The switch works only with the recorded pricing page. Ask for *a pricing page* first, then for the switch."
        )
    return f"I could not read `{path}`, so there was nothing to change."


def _guessed(wish: Wish) -> str:
    if not wish.guessed:
        return ""
    return (
        "> No recording matches this request, so here is a landing page. I can build a landing page, a dashboard, a "
        "sign-in form, a pricing page, a kanban board and a page of charts.\n\n"
    )


def _not_recorded() -> str:
    return (
        "No recording matches this request, so I left the page unchanged. Recorded changes are *make it warmer* (or "
        "green, blue, pink), *make it more compact*, *add an FAQ*, *add testimonials*, *add a light mode switch*, "
        "*make it work on phones*, and on the pricing page *add a monthly and yearly switch*. Recorded screens are *a "
        "landing page*, *a dashboard*, *a sign-in form*, *a pricing page*, *a kanban board* and *a page of charts*."
    )


def _quote_report(found: str) -> str:
    return quoted(found.removeprefix(CHECK_MARK).strip(), last_lines=12)


def _texts(message: ModelMessage) -> list[str]:
    return [piece.text for piece in message.pieces if isinstance(piece, TextPiece)]
