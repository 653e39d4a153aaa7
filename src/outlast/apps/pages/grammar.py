"""The lines that a page's agent writes, explained once: the agent's prompt and docs/reference/page-patches.md are both
made from this. Every example is a line that `lines.read_line` takes.
"""

from dataclasses import dataclass
from typing import Final

from outlast.apps.pages.shapes import PatchOp


@dataclass(frozen=True, slots=True)
class Explained:
    """A patch or a line: what it does, in one sentence, and an example."""

    does: str
    example: str


PATCHES: Final[dict[PatchOp, Explained]] = {
    "text": Explained("the element's content becomes this text", '{"op":"text","at":"#count","text":"3"}'),
    "html": Explained("the element's content becomes this HTML", '{"op":"html","at":"#list","html":"<li>One</li>"}'),
    "replace": Explained(
        "the element itself becomes this HTML", '{"op":"replace","at":"#row-2","html":"<tr id=\\"row-2\\">…</tr>"}'
    ),
    "append": Explained(
        "HTML after the element's last child", '{"op":"append","at":"#list","html":"<li id=\\"i9\\">Nine</li>"}'
    ),
    "prepend": Explained(
        "HTML before the element's first child", '{"op":"prepend","at":"#list","html":"<li id=\\"i0\\">Zero</li>"}'
    ),
    "before": Explained("HTML before the element", '{"op":"before","at":"#total","html":"<hr>"}'),
    "after": Explained("HTML after the element", '{"op":"after","at":"#total","html":"<p>All paid.</p>"}'),
    "remove": Explained("the element goes", '{"op":"remove","at":"#row-2"}'),
    "attributes": Explained(
        "set and remove attributes", '{"op":"attributes","at":"#save","set":{"title":"Saved"},"remove":["disabled"]}'
    ),
    "classes": Explained(
        "add and remove class names", '{"op":"classes","at":"#row-3","add":["done"],"remove":["new"]}'
    ),
    "move": Explained(
        "the element goes elsewhere: before, after, prepend or append to another",
        '{"op":"move","at":"#card-7","to":"#column-done","place":"append"}',
    ),
}

LINES: Final[dict[str, Explained]] = {
    "patches": Explained(
        "changes of single elements, in order",
        '{"type":"patches","patches":[{"op":"text","at":"#count","text":"3"},{"op":"remove","at":"#row-2"}]}',
    ),
    "full": Explained(
        "the whole page anew, with its title (2 to 5 words) where that changes",
        '{"type":"full","title":"Open issues","html":"<main id=\\"app\\"><h1>Open issues</h1></main>"}',
    ),
    "stats": Explained(
        "figures about your work, by name, that people see beside the run", '{"type":"stats","issues":12}'
    ),
    "code_modules": Explained(
        "files that you saved for later requests",
        '{"type":"code_modules","modules":[{"path":"lib/linear.ts","description":"Linear: all open issues, page by '
        'page","exports":["openIssues(page)"],"usage":"import { openIssues } from \'./lib/linear.ts\'"}]}',
    ),
    "summary": Explained(
        "one line for your own memory: what was asked → what was done",
        '{"type":"summary","text":"show my issues → fetched 12 open issues, listed them in a table (#issues)"}',
    ),
}
