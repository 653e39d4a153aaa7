"""Files by content hash: written once, never changed, shared by all references to the same bytes.

`port.Blobs` is the interface; `folder.FolderBlobs` keeps them in a folder, `s3.S3Blobs` in a bucket, with `index`
(their rows in the database) and `cache` (copies on this machine's disk). `stores.open_blobs` chooses by the setting.

Tables that refer to blobs are listed in `kernel/sandboxes/checkpoints/garbage.py`: a blob that no row refers to is
removed once it is old enough. So store a name in a table soon after `put` or `keep` returned it.
"""
