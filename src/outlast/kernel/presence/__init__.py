"""Who is here: who watches a thread, who is where in a document, and who types. Shown, never logged.

Presence lives in memory and is gone with the process: every browser that follows a thread says it again when it
connects anew. A person with several tabs is shown once. Typing ends by itself 6 seconds after the last word of it.
Who is in a document says where they move, is sent to the followers of its project, and is gone when they
leave it, or a few seconds after they followed that project last.
"""
