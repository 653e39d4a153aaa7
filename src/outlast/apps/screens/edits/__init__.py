"""Manual edits of one element in the source: its classes, its text, its picture.

A *mark* (`app/page.tsx:12:4`) names the JSX element that begins there. A *slot* is the place in the source that holds
one of these values; if code computes the value, there is no slot but a *refusal* with the reason. An edit is a
*splice*: it replaces the bytes of its slot and no others. Everything here is pure: files in, files out.

`marks` parses marks, `syntax` finds elements, `literals` reads and writes strings, `slots` finds slots, `apply` makes
many edits at once and checks the result, `elements` lists the editable values of an element.
"""
