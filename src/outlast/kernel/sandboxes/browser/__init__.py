"""Pictures of what a sandbox serves, and what goes wrong in the page.

A *photographer* looks at a port of a sandbox as a person's browser would. The page was written by an agent and is not
trusted, so the browser runs without privileges in a sandbox of its own whose only way out leads to that one port.
Where there is no Chromium, it looks with plain requests and says that there is no picture and why.
"""
