"""Every reader of what comes from outside: its work grows with the length of its input, whatever that holds, and its
documentation says how much it reads."""

from __future__ import annotations

import inspect
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.apps.documents.comments import quotes
from outlast.apps.documents.comments.shapes import Quote
from outlast.apps.documents.content import markdown_parse as cutting
from outlast.apps.documents.edits.merge import merge
from outlast.apps.knowledge import declarations, signatures
from outlast.apps.knowledge import markdown_splitter as splitting
from outlast.apps.knowledge import tokenizer as words
from outlast.apps.knowledge.readers import web
from outlast.apps.pages import line_parser as page_lines
from outlast.apps.pages import offered_actions as offers
from outlast.apps.pages import parser_bounds as bounds
from outlast.apps.pages import sanitizer as sanitise
from outlast.apps.pages.agent import finisher as finishing
from outlast.apps.pages.agent import html_budget
from outlast.apps.screens import css, file_search, image_hosts
from outlast.apps.screens import theme_classes as theme_mapping
from outlast.apps.screens.agent import captures, tags
from outlast.apps.screens.edits import design_system, literals, marks, syntax
from outlast.apps.screens.theme_tokens import shipped_themes
from outlast.kernel.files import kinds
from outlast.kernel.http import static_files as static
from outlast.kernel.library import code_uses
from outlast.kernel.mentions import rules as mentions
from outlast.kernel.models import failures, output_limits, turn_calls
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.providers import openai_stream
from outlast.kernel.previews import cookies
from outlast.kernel.runs import lined_turn as run_lines
from outlast.kernel.threads import search_index as search
from outlast.kernel.threads.rules import title_from
from outlast.kernel.web import html_to_markdown as web_pages
from outlast_sandbox import host_patterns, package_names
from outlast_sandbox.browser import plain_requests
from outlast_sandbox.checkpoints import tree_diff as checkpoints
from outlast_sandbox.egress import client_hello, http1
from outlast_sandbox.egress import rules as egress_rules
from outlast_sandbox.egress.redaction import Redactor
from outlast_sandbox.ports import keepalives
from outlast_sandbox.providers.local.inside import frames as inside_frames
from tests.steps import assert_nearly_linear, steps_of

MAX_CPU_S = 4.0  # for the largest input, on any machine: what grows with the square takes minutes
SMALL, LARGE = 500, 4_000  # characters of the inputs whose steps are counted

MARKDOWN = (
    "# ",
    "\n",
    "\n\n",
    " ",
    "    ",
    "a",
    "word ",
    "`",
    "```",
    "~~~",
    "*",
    "_",
    "[",
    "]",
    "](",
    "![",
    "<",
    "<!--",
    "-->",
    "<div>",
    "|",
    "|-|",
    "---",
    "- ",
    "1. ",
    "> ",
    "&amp;",
    "\\",
    "\t",
    "{#x}",
    "<a id=x>",
    "@a",
    "é",
    "\r\n",
)
HTML = (
    "<div>",
    "</div>",
    "<p>",
    "<b>",
    "<a href='x'>",
    "<table>",
    "<td>",
    "<svg>",
    "<script",
    "</script>",
    "<style>",
    "<!--",
    "-->",
    "<",
    "</",
    ">",
    "=",
    "'",
    '"',
    " ",
    "a",
    "x=1",
    "&amp;",
    "&",
    "<h1>",
    "</h1",
    "<pre>",
    "<li>",
    "<header>",
    "<form>",
    "<button data-action=x>",
    "\n",
    "<img src=",
    "type=module",
    "id=",
    "<title>",
)
CSS = (
    "{",
    "}",
    "@media ",
    "/*",
    "*/",
    ";",
    ":",
    "a",
    ",",
    '"',
    "'",
    "\\",
    "(",
    ")",
    "url(",
    "--x",
    " ",
    "\n",
    "@theme inline",
)
JSON = ("{", "}", "[", "]", '"', "\\", ":", ",", "1", "-", "true", " ", "\n", "```", "max_tokens", "is 32768", "<= ")
CODE = (
    "import ",
    "from ",
    "require(",
    "'",
    '"',
    "(",
    ")",
    " ",
    "\n",
    "\t",
    "a",
    ",",
    "{",
    "}",
    "<",
    "`",
    "${",
    "function ",
    "def ",
    ":",
    "class ",
    "namespace a ",
    "/*",
    "*/",
    "@x\n",
    "=>",
    "#",
    "\\",
)
ENDINGS = (
    "<title>",
    "</title>",
    "<task_summary>",
    "</task_summary>",
    "<files_summary>",
    "\n",
    " ",
    "- ",
    "a",
    "`",
    "**",
    ":",
    "(",
    "/",
    '"',
    "<",
    "\t",
    "- a.b: ",
)
CAPTURES = (captures.BEGIN, captures.END, "HTML:", "```html\n", "```", "CSS:", "```css\n", "\n", " ", "a", "\t")
ADDRESSES = (
    "a",
    "/",
    ":",
    "?",
    "#",
    "%2f",
    ".",
    "@",
    "[",
    "]",
    "http://",
    "-",
    " ",
    "é",
    "*",
    "<loc>",
    "</loc>",
    "\n",
    "- [",
    "](",
    "<![CDATA[",
)
EVENTS = (*JSON, "data: ", '{"choices":[{"delta":{"content":"a"}}]}\n')
HTTP = (
    "GET / HTTP/1.1\r\n",
    "HTTP/1.1 200 \r\n",
    "a",
    ":",
    " ",
    "\t",
    "\r\n",
    "transfer-encoding: chunked\r\n",
    ",",
    "content-length: 1\r\n",
)
HEADERS = ("outlast_preview=", "a", ";", "=", " ", "text/html", ",", "q=0", "*")
BYTES = ("\x16\x03\x01", "\x00", "\x01", "ÿ", "a")
SECRET = "aaaaaaaaaaaaaaaaaaaaaaab"


@dataclass(frozen=True)
class Reader:
    """`read` is called with a text; `largest` is its greatest length in characters. `function` says its bound."""

    function: Callable[..., object]
    tokens: Sequence[str]
    largest: int
    read: Callable[[str], object] | None = None
    budget: int = 2_000  # steps that it may take beside those that its input's length allows

    def __str__(self) -> str:
        return f"{self.function.__module__.removeprefix('outlast.')}.{self.function.__qualname__}"

    def __call__(self, text: str) -> object:
        return (self.read or self.function)(text[: self.largest])


def _redacted(text: str) -> None:
    stream = Redactor([SECRET.encode()]).stream()
    for piece in _pieces(text.encode()):
        stream.feed(piece)
    stream.finish()


def _streamed(text: str) -> None:
    stream = openai_stream.ChatStream(failures.Peer("a", "m", ApiKey("")))
    for piece in _pieces(text.encode()):
        stream.feed(piece)


def _beats(text: str) -> None:
    beats = keepalives.Beats()
    for piece in _pieces(text.encode("latin-1")):
        beats.feed(piece)


def _frames(text: str) -> None:
    decoder = inside_frames.Decoder()
    for piece in _pieces(text.encode("latin-1")):
        list(decoder.feed(piece))


def _found_again(text: str) -> None:
    texts = [quotes.Text(f"blk_{n}", text) for n in range(3)]
    quotes.find_again(Quote(text=texts[0].text[:200], suffix=texts[0].text[200:232]), "blk_0", texts)


def _pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), 1_000):
        yield data[start : start + 1_000]


READERS = [
    Reader(cutting.cut, MARKDOWN, 1_000_000),
    Reader(merge, MARKDOWN, 50_000, lambda text: merge(text, text[9:] + "x", "y" + text), 2_000_000),
    Reader(splitting.cut_markdown, MARKDOWN, 1_000_000, lambda text: splitting.cut_markdown(text, "u", 1_500)),
    Reader(signatures.cut_signatures, CODE, 200_000, lambda text: signatures.cut_signatures(text, "u", "m", 1_500)),
    Reader(declarations.cut_declarations, CODE, 20_000, lambda text: declarations.cut_declarations(text, "u", 1_500)),
    Reader(web_pages.read_web_page, HTML, 50_000, lambda text: web_pages.read_web_page(text, "http://a/b")),
    Reader(web.listed_links, (*ADDRESSES, *MARKDOWN), 1_000_000, lambda text: web.listed_links(text, "http://a/b.txt")),
    Reader(web.sitemap_links, ADDRESSES, 1_000_000),
    Reader(words.terms_of, MARKDOWN, 1_000_000),
    Reader(kinds.kind_of, MARKDOWN, 1_000_000, lambda text: kinds.kind_of("a.md", text.encode())),
    Reader(tags.parse_outcome, ENDINGS, 200_000),
    Reader(captures.bounded, CAPTURES, 200_000),
    Reader(html_budget.within, HTML, 1_000_000, lambda text: html_budget.within(text, len(text) // 2)),
    Reader(finishing.heading_of, HTML, 1_000_000),
    Reader(code_uses.imports_of, CODE, 200_000, lambda text: code_uses.imports_of(text, "typescript")),
    Reader(page_lines.read_line, JSON, 1_000_000),
    Reader(bounds.demand_bounded, HTML, 1_000_000),
    Reader(sanitise.sanitised, HTML, 100_000),
    Reader(offers.offer_of, HTML, 1_000_000, lambda text: offers.offer_of(text, "x")),
    Reader(
        theme_mapping.dress,
        CSS,
        500_000,
        lambda text: theme_mapping.dress(text, shipped_themes()["default"]),
    ),
    Reader(file_search.hits_in, MARKDOWN, 1_000_000, lambda text: list(file_search.hits_in("a", text.encode(), "a"))),
    Reader(syntax.parse, CODE, 20_000, lambda text: syntax.parse(text.encode())),
    Reader(image_hosts.checked_host, ADDRESSES, 200_000),
    Reader(host_patterns.parse_pattern, ADDRESSES, 200_000),
    Reader(package_names.parse_package, ADDRESSES, 200_000),
    Reader(mentions.find_names, MARKDOWN, 200_000, lambda text: mentions.find_names(text, [("u", "a"), ("v", "a a")])),
    Reader(title_from, MARKDOWN, 200_000),
    Reader(search.snippet, MARKDOWN, 200_000, lambda text: search.snippet(text, ["word", "a"])),
    Reader(run_lines.lines_in, JSON, 200_000),
    Reader(turn_calls.parse_arguments, JSON, 1_000_000),
    Reader(failures.read_complaint, JSON, 200_000, lambda text: failures.read_complaint(text.encode())),
    Reader(output_limits.named_limit, JSON, 200_000, lambda text: output_limits.named_limit(text, 1_000)),
    Reader(plain_requests.error_text, (*HTML, "error = {", '"message":"'), 4_000_000),
    Reader(plain_requests.module_paths, HTML, 4_000_000, lambda text: plain_requests.module_paths(text, "/")),
    Reader(plain_requests.imports_of, CODE, 4_000_000),
    Reader(checkpoints.text_difference, ("a\n", "b\n", "\n", "c"), 200_000,
           lambda text: checkpoints.text_difference("a", text.encode(), (text[9:] + "x").encode())),
    Reader(client_hello.server_name, BYTES, 65_000, lambda text: client_hello.server_name(text.encode("latin-1"))),
    Reader(Redactor, (SECRET, "a", "b", "%61", "YWFh"), 1_000_000, _redacted),
    Reader(cookies.grants_in, HEADERS, 65_000, lambda text: cookies.grants_in([text.encode()])),
    Reader(static.accepted, HEADERS, 65_000),
    Reader(openai_stream.ChatStream.feed, EVENTS, 2_000_000, _streamed),
    Reader(http1.parse_request, HTTP, 65_000, lambda text: http1.parse_request(text.encode())),
    Reader(http1.parse_answer, HTTP, 65_000, lambda text: http1.parse_answer(text.encode(), b"GET")),
    Reader(egress_rules.read_authority, ADDRESSES, 65_000, lambda text: egress_rules.read_authority(text, True)),
    Reader(css.read_rules, CSS, 500_000),
    Reader(css.declarations, CSS, 500_000, lambda text: list(css.declarations(text))),
    Reader(design_system.read_table, JSON, 1_000_000),
    Reader(literals.decode_entities, (*HTML, "&#", "x", "1", ";"), 200_000),
    Reader(marks.parse_mark, ADDRESSES, 200_000),
    Reader(quotes.find_again, MARKDOWN, 50_000, _found_again),
    Reader(kinds.decoded, MARKDOWN, 1_000_000, lambda text: kinds.decoded(text.encode())),
    Reader(keepalives.Beats.feed, BYTES, 200_000, _beats),
    Reader(inside_frames.Decoder.feed, BYTES, 2_000_000, _frames),
]  # fmt: skip
BOUND = re.compile(r"\bBounds?\b|[Aa]t\s+most|more than|longer than|up to|grow|first \d")


def _text(parts: tuple[str, str, str], length: int) -> str:
    before, motif, after = parts
    return (before + motif * (length // len(motif)))[:length] + after


def _parts(reader: Reader) -> st.SearchStrategy[tuple[str, str, str]]:
    def some(least: int, most: int) -> st.SearchStrategy[str]:
        return st.lists(st.sampled_from(reader.tokens), min_size=least, max_size=most).map("".join)

    return st.tuples(some(0, 2), some(1, 4), some(0, 2))


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_the_steps_of_a_reader_grow_with_the_length_of_its_input(reader: Reader) -> None:
    @settings(max_examples=12)
    @given(_parts(reader))
    def grows(parts: tuple[str, str, str]) -> None:
        steps_of(lambda: reader(_text(parts, 50)))  # what is loaded and compiled once is no step
        assert_nearly_linear(lambda length: lambda: reader(_text(parts, length)), SMALL, LARGE, reader.budget)

    grows()


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_a_reader_reads_the_largest_input_in_bounded_time(reader: Reader) -> None:
    """Steps do not see regular expressions and native parsers: here a time is the bound that only growth beyond all
    measure exceeds."""
    seconds = {token: _cpu_s(reader, token, reader.largest // 10) for token in reader.tokens}
    worst = max(seconds, key=lambda token: seconds[token])
    assert seconds[worst] < MAX_CPU_S / 4, worst
    assert _cpu_s(reader, worst, reader.largest) < MAX_CPU_S, worst


def _cpu_s(reader: Reader, token: str, length: int) -> float:
    text = _text(("", token, ""), length)
    begun = time.thread_time()
    with suppress(Exception):  # an input refused is an input dealt with
        reader(text)
    return time.thread_time() - begun


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_a_reader_says_in_its_documentation_how_much_it_reads(reader: Reader) -> None:
    module = sys.modules[reader.function.__module__]
    told = f"{inspect.getdoc(reader.function)}\n{inspect.getdoc(module)}"
    assert BOUND.search(told), f"no bound in the docstrings of {reader} and its module"
