"""The demo model's next turn as a page's agent."""

from collections.abc import Sequence
from typing import Final

from outlast.kernel.models.protocol import ModelRequest
from outlast_demo.lines import Line
from outlast_demo.pages import lines, plain, tracker
from outlast_demo.pages.scene import RUN, PageScene, page_scene
from outlast_demo.pages.wishes import Kind, wish_of

NO_SANDBOX: Final = (
    "This server has no sandbox, so I cannot search documentation or run code. "
    "Run `outlast doctor` to see what is missing."
)


def page_lines(request: ModelRequest) -> Sequence[Line]:
    """The next turn. Deterministic; never raises."""
    scene = page_scene(request)
    if scene.found:
        return _mend(scene)
    wish = wish_of(scene.said, scene.before)
    plainly = [acted for acted in scene.actions if plain.is_plain(acted)]
    if plainly and len(plainly) == len(scene.actions):
        return plain.act(scene, plainly)
    if not scene.actions and wish.kind in (Kind.COUNTER, Kind.TODO):
        return plain.build(wish.kind, scene)
    known = any(acted.name in tracker.ACTIONS for acted in scene.actions)
    if not known and (scene.actions or wish.kind is Kind.UNKNOWN):
        return plain.introduce(scene, _unknown(scene))
    if RUN not in scene.tools:
        return [lines.prose(NO_SANDBOX), *plain.introduce(scene, NO_SANDBOX)[1:]]
    return tracker.proceed(scene, wish)


def _mend(scene: PageScene) -> list[Line]:
    """Reports that no recording fixes the problems that a check found."""
    return [
        lines.prose("A check found problems that none of my recordings can fix. The page is unchanged."),
        lines.summary(scene.said or "a check", "left the page unchanged"),
    ]


def _unknown(scene: PageScene) -> str:
    if not scene.actions or scene.said:
        return ""
    names = ", ".join(f"“{acted.name}”" for acted in scene.actions)
    return f"I am the demo model, and no recording matches {names}. The page is unchanged."
