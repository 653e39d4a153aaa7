import type { FilePart } from '@outlast/sdk'
import { FileCard } from '@/components/file-card'
import { client } from '@/lib/queries'

/** A file of a message, to download. */
export const FilePartCard = ({ file }: { file: FilePart }) => (
  <FileCard
    name={file.name}
    mediaType={file.media_type}
    size={file.size_bytes}
    about={file.about}
    href={client.attachmentUrl(file.attachment_id)}
  />
)
