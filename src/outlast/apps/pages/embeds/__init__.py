"""View pages: each under its own host name, separate from the API.

`http://pag-01k….pages.preview.localhost:8400/` answers with a *shell*: a document without data, whose only script is
the page runtime (`web/src/page-runtime`). The app shows the shell in a sandboxed frame and sends it the page's HTML and
patches in messages; actions of people come back in messages. Nothing is fetched in there, and no cookie is set or
read. `/embed/<secret>` on the same host shows one page, read only, to anyone who has the link: the HTML is in the
answer, and changes follow as server-sent events until the link is revoked. One plain ASGI layer (`pages_layer.py`)
handles every request whose host is under the pages' domain; none of them ever reaches the API.
"""
