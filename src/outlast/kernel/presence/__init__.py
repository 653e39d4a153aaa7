"""Presence of members: watching a thread, being at a place in a document, and typing. Shown, never logged.

Presence lives in memory and is gone with the process: every browser that follows a thread reports it again when it
reconnects. A user with several tabs is shown once. Typing ends 6 seconds after the last report. A client reports its
place in a document; the place is sent to the followers of the document's project, and removed when the member leaves
the document, or a few seconds after they stopped following that project.
"""
