import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, GitCompareArrows, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { useSelected } from '@outlast/sdk/react'
import { Button } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { say } from '@/components/toast'
import { client } from '@/lib/queries'
import { BlockText } from './block-text'
import { DocumentDiffView } from './document-diff'
import { useDocumentRoom } from './document-context'
import { useLook, type Look } from './viewed-version'
import { refused } from './use-row-moves'

/** In place of the text: an earlier version, or the difference between two versions. */
export function PastView({ look }: { look: NonNullable<Look> }) {
  return (
    <div className="document-text pt-0!">
      <PastBar look={look} />
      {look.kind === 'version' ? <Version version={look.version} /> : <Difference from={look.from} to={look.to} />}
    </div>
  )
}

function PastBar({ look }: { look: NonNullable<Look> }) {
  const { store, mayEdit } = useDocumentRoom()
  const { setLook } = useLook()
  const now = useSelected(store, ({ content }) => content.version)
  const [asking, setAsking] = useState<number | null>(null) // the document's version at the time of the request
  const [busy, setBusy] = useState(false)
  const version = look.kind === 'version' ? look.version : look.to
  const restore = () => {
    setBusy(true)
    store.client.documents
      .restore(store.documentId, version, asking ?? now)
      .then(() => {
        say(`Version ${version} restored`)
        setLook(null)
      }, refused)
      .finally(() => setBusy(false))
  }
  return (
    <div className="sticky top-0 z-10 mb-6 flex flex-wrap items-center gap-2 border-b border-line bg-bg/95 px-4 py-2.5 md:px-14">
      <Button size="sm" onClick={() => setLook(null)}>
        <ArrowLeft />
        Back to the document
      </Button>
      <span role="status" className="min-w-32 flex-1 font-medium">
        {look.kind === 'version'
          ? `Viewing version ${look.version} of ${now}`
          : `Comparing version ${look.from} with ${look.to}`}
      </span>
      {look.kind === 'version' ? (
        <Button size="sm" onClick={() => setLook({ kind: 'diff', from: look.version, to: now })}>
          <GitCompareArrows />
          Compare with current
        </Button>
      ) : (
        <Button size="sm" onClick={() => setLook({ kind: 'version', version: look.to })}>
          Show version {look.to}
        </Button>
      )}
      {mayEdit && version < now && (
        <Button size="sm" look="primary" busy={busy} onClick={() => setAsking(now)}>
          {!busy && <RotateCcw />}
          Restore
        </Button>
      )}
      <Confirm
        open={asking !== null}
        onClose={() => setAsking(null)}
        title={`Restore version ${version}?`}
        action="Restore"
        onConfirm={restore}
      >
        The earlier text becomes a new version. Later versions stay in the history.
      </Confirm>
    </div>
  )
}

function Version({ version }: { version: number }) {
  const { documentId } = useDocumentRoom()
  const { data, error, refetch } = useQuery({
    queryKey: ['document-version', documentId, version],
    queryFn: ({ signal }) => client.documents.version(documentId, version, signal),
    staleTime: Infinity, // versions never change
  })
  if (error !== null) return <Problem className="mx-14" error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={6} className="mx-14 h-6" />
  return (
    <div data-past={version}>
      {data.content.map((section) => (
        <section key={section.id} className="section-view">
          {section.level > 0 && <PastHeading level={section.level} text={section.heading} />}
          {section.blocks.map((block) => (
            <div key={block.id} className="block-row">
              <div className="block-main">
                <BlockText text={block.markdown} />
              </div>
            </div>
          ))}
        </section>
      ))}
    </div>
  )
}

const PastHeading = ({ level, text }: { level: number; text: string }) => (
  <div className="block-row heading-row" data-level={level}>
    <h3 className="block-main font-semibold tracking-tight text-[1.25rem]">{text}</h3>
  </div>
)

function Difference({ from, to }: { from: number; to: number }) {
  const { documentId } = useDocumentRoom()
  const { data, error, refetch } = useQuery({
    queryKey: ['document-diff', documentId, from, to],
    queryFn: ({ signal }) => client.documents.diff(documentId, from, to, signal),
    staleTime: Infinity,
  })
  if (error !== null) return <Problem className="mx-14" error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={6} className="mx-14 h-6" />
  const changed = data.sections.filter(
    (one) => one.state !== 'same' || one.blocks.some(({ state }) => state !== 'same'),
  )
  if (changed.length === 0)
    return (
      <Empty title="No difference" icon={<GitCompareArrows />}>
        Both versions have the same text.
      </Empty>
    )
  return <DocumentDiffView sections={data.sections} />
}
