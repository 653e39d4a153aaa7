import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { PageHeader } from '../shell/shell'
import { documentsQuery, useDocumentNews } from './documents'

/** `/projects/:id/documents`: what there is, newest first, and the ways to a new one. */
export default function DocumentsPage({ projectId }: { projectId: string }) {
  const { data } = useQuery(documentsQuery(projectId))
  useDocumentNews(projectId)
  return (
    <>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Documents</h1>
      </PageHeader>
      <ul>
        {(data ?? []).map(({ id, title }) => (
          <li key={id}>
            <Link href={`/documents/${id}`}>{title}</Link>
          </li>
        ))}
      </ul>
    </>
  )
}
