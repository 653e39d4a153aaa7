"""Sources of a tool's result, which people see with the call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from outlast.kernel.threads.parts import SourcesPart

MAX_SOURCES: Final = 20  # of one result
MAX_URL_CHARS: Final = 2_000
MAX_TITLE_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Source:
    """A web page that a tool's result comes from: people see it as a link with the call.

        return ToolResult(text, sources=(Source("https://shop.example/terms", "Terms"),))

    At most 20 of one result are shown. One whose address does not begin with http:// or https://, or is longer than
    2,000 characters, is left out.
    """

    url: str
    title: str = ""


def sources_part(sources: Sequence[Source], call_id: str) -> "list[SourcesPart]":
    """The part that shows them with the call, each address once; none if there is nothing to show."""
    from outlast.base.ids import new_id
    from outlast.kernel.limits.rules import clean
    from outlast.kernel.threads.parts import SourceLink, SourcesPart

    links: dict[str, SourceLink] = {}
    for one in sources:
        url = clean(one.url).strip()
        if url.startswith(("http://", "https://")) and len(url) <= MAX_URL_CHARS and url not in links:
            title = " ".join(clean(one.title).split())[:MAX_TITLE_CHARS]
            links[url] = SourceLink(url=url, title=title)
    shown = list(links.values())[:MAX_SOURCES]
    return [SourcesPart(id=new_id("part"), call_id=call_id, sources=shown)] if shown else []
