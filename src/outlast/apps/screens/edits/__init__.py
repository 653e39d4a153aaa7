"""Edits that a person makes by hand to what the source says of one element: its classes, its text, its picture.

A *mark* (`app/page.tsx:12:4`) names the JSX element that begins there. A *slot* is the place in the source that holds
one of these values; where code computes the value there is no slot but a *refusal*, which says why. An edit is a
*splice*: it replaces the bytes of its slot and no others. Everything here is pure: files in, files out.

`marks` reads marks, `syntax` finds elements, `literals` reads and writes strings, `slots` finds slots, `apply` makes
many edits at once and checks the result, `elements` tells what of an element can be edited.
"""
