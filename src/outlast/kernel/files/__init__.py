"""Files of projects: texts, PDFs and images that users upload, and that agents search.

    upload ──▶ reading ──▶ ready      its text is found by search, page by page
                  │  └───▶ no_text    an image, an empty file, a scan
                  └──────▶ failed     it could not be read; `trouble` says why

The file is one blob, its text another; the text is also a source of the project's documentation (kind `artifact`), so
every search finds it. Reading runs in the background and restarts if the server dies meanwhile.
"""
