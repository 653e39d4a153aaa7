"""The demo model as a screen's agent: recorded screens and changes, with real files, reads and type checks.

`requests` selects the recording for a request, `sources` holds the recorded files (`sources/<screen>`), `edits` changes
the page's current code, and `scripts` plays the recording, one tool call a turn. The tool results since the request are
its progress, so after a restart it continues where the transcript ends.
"""
