"""What the `screen` agent is made of: the `prompt` it is given, what it says at the end (`tags`), what it is told of
the conversation (`conversation`, `captures`) and of the project (`project_files`), the work before its first turn and
after its last (`start_stages`, `checks`), and what is written when its run is settled (`finisher`). `agent` puts it
together.

A *capture* is an element that a person picked on some page, its HTML and CSS, to be replicated exactly. A *check* is
what has to hold before a run may end: the tags are there, types fit, the page answers without throwing.
"""
