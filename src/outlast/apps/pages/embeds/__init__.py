"""Where pages are looked at: each under a host name of its own, away from the API.

`http://pag-01k….pages.preview.localhost:8400/` answers with a *shell*: a document without data, whose only script is
the page runtime (`web/src/page-runtime`). The app shows the shell in a sandboxed frame and tells it the page's HTML and
patches by messages; what a person does comes back by messages. Nothing is fetched in there, and no cookie is set or
read. `/embed/<secret>` on the same host shows one page, read only, to anyone who has the link: the HTML is in the
answer, and changes follow as server-sent events until the link is revoked. One plain ASGI layer (`layer.py`) takes
every request whose host lies under the pages' domain; none of them ever reaches the API.
"""
