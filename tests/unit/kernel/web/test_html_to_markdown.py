"""Web pages become Markdown: what they are about, with fragments and code, without navigation."""

from __future__ import annotations

import pytest

from outlast.kernel.web.html_to_markdown import read_web_page
from outlast.kernel.web.errors import NoPage

URL = "https://docs.example/api/issues"

PAGE = """<!doctype html><html><head><title>Issues | Docs</title><script>track()</script></head><body>
<nav><a href="/">Home</a></nav>
<main><article>
<h1>Issues<a class="headerlink" href="#x">¶</a></h1>
<p>An <code>issue</code> has a <a href="../states">state</a>. <img src="x.png" alt="A diagram"></p>
<section id="create"><h2>Create one</h2>
<div class="highlight-ts"><pre><code class="language-ts">const issue = await create({
  title: "a_b*c",
});
</code></pre></div>
<table><thead><tr><th>field</th><th>type</th></tr></thead><tbody><tr><td>title</td><td>string</td></tr></tbody></table>
</section>
<h2 id="list">List them</h2><ul><li>all</li><li>mine</li></ul>
</article></main>
<footer>Imprint</footer></body></html>"""


def test_a_page_becomes_its_main_part_in_markdown() -> None:
    title, text = read_web_page(PAGE, URL)
    assert title == "Issues"
    assert text.startswith("# Issues\n\nAn `issue` has a [state](https://docs.example/states). A diagram")
    assert "## Create one {#create}" in text
    assert '```ts\nconst issue = await create({\n  title: "a_b*c",\n});\n```' in text
    assert "| title | string |" in text
    assert "- all\n- mine" in text
    for unwanted in ("Home", "Imprint", "track()", "¶"):
        assert unwanted not in text


def test_code_that_holds_fences_is_fenced_by_more() -> None:
    _, text = read_web_page("<body><pre>```\nx\n```</pre></body>", URL)
    assert text == "````\n```\nx\n```\n````"


def test_a_page_without_a_main_part_is_read_whole() -> None:
    assert read_web_page("<p>Only <b>this</b></p>", URL) == ("", "Only **this**")


def test_a_page_nested_without_end_is_refused() -> None:
    with pytest.raises(NoPage):
        read_web_page("<div>" * 5_000 + "x", URL)


def test_headers_in_headers_are_looked_through_once() -> None:
    """Each was searched for a heading down to its last element: 80 KB of them took minutes."""
    with pytest.raises(NoPage, match="too deeply"):
        read_web_page("<header>" * 10_000, URL)
    nested = "<header>" * 60 + "<h2>Inside</h2>" + "</header>" * 60 + "<header>gone</header><p>Words</p>"
    _, text = read_web_page(f"<html><body>{nested}</body></html>", URL)
    assert "Inside" in text
    assert "gone" not in text


def test_a_page_that_is_too_long_is_refused() -> None:
    with pytest.raises(NoPage, match="longer than"):
        read_web_page("<p>a</p>" * 700_000, URL)
