"""The demo model as a screen's agent: recorded screens and changes, with real files, reads and type checks.

`requests` says which recording a person's words call for, `sources` holds the recorded files (`sources/<screen>`),
`edits` changes a page that was read, and `scripts` plays it all, one tool call a turn. How far it has come follows from
the results since the person spoke, so a restart in the middle goes on where the transcript ends.
"""
