"""The parts of the `screen` agent: its `prompt`, the end of its answer (`tags`), its view of the conversation
(`conversation`, `captures`) and of the project (`project_files`), the work before its first turn and after its last
(`start_stages`, `checks`), and the writes when its run is settled (`finisher`). `agent` assembles it.

A *capture* is an element that a person picked on some page, its HTML and CSS, to be replicated exactly. A *check* is
a condition that must hold before a run may end: the tags exist, types fit, the page answers without throwing.
"""
