"""Files of projects: texts, PDFs and images that people put beside their work, and that agents look things up in.

    upload ──▶ reading ──▶ ready      its text is found by search, page by page
                  │  └───▶ no_text    an image, an empty file, a scan
                  └──────▶ failed     it could not be read; `trouble` says why

The file is a blob, its text another one; the text is also a source of the project's documentation (kind `artifact`), so
every search finds it. Reading happens in the background and starts again if the server died in it.
"""
