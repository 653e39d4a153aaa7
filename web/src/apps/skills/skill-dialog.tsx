import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { Skill, SkillFile } from '@outlast/sdk'
import { Code } from '@/components/code'
import { Dialog } from '@/components/dialog'
import { Markdown } from '@/components/markdown'
import { SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { cn } from '@/lib/cn'
import { bytes } from '@/lib/format'
import { client } from '@/lib/queries'
import { skillQuery } from './skills'

interface SkillDialogProps {
  projectId: string
  name: string
  onClose: () => void
}

/** A skill as agents read it: its instructions, and each of its files. */
export function SkillDialog({ projectId, name, onClose }: SkillDialogProps) {
  const { data, error, refetch } = useQuery(skillQuery(projectId, name))
  const others = data?.files.filter(({ path }) => path !== 'SKILL.md') ?? []
  return (
    <Dialog
      open
      onClose={onClose}
      title={name}
      description={data?.skill.description}
      className="sm:top-[6vh] sm:ml-[-22rem] sm:max-h-[86vh] sm:w-[44rem]"
    >
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={6} className="h-5" />}
      {data !== undefined && (
        <>
          <Facts skill={data.skill} />
          {data.instructions === '' ? (
            <p className="text-muted">It has no instructions.</p>
          ) : (
            <Markdown text={data.instructions} />
          )}
          {others.length > 0 && (
            <section aria-label="Files" className="mt-5">
              <h3 className="mb-2 font-medium">Files</h3>
              <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line">
                {others.map((file) => (
                  <FileRow key={`${data.skill.digest} ${file.path}`} projectId={projectId} name={name} file={file} />
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </Dialog>
  )
}

function Facts({ skill: { license, compatibility, allowed_tools } }: { skill: Skill }) {
  const facts = [
    ['License', license],
    ['Compatibility', compatibility],
    ['Recommended tools', allowed_tools],
  ].filter(([, text]) => text !== '')
  if (facts.length === 0) return null
  return (
    <dl className="mb-4 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-[13px]">
      {facts.map(([label, text]) => (
        <div key={label} className="contents">
          <dt className="text-muted">{label}</dt>
          <dd className="[overflow-wrap:anywhere]">{text}</dd>
        </div>
      ))}
    </dl>
  )
}

interface FileRowProps {
  projectId: string
  name: string
  file: SkillFile
}

/** A file that opens into its text. */
function FileRow({ projectId, name, file: { path, size_bytes } }: FileRowProps) {
  const [open, setOpen] = useState(false)
  return (
    <li data-file={path}>
      <button
        aria-expanded={open}
        className="flex w-full items-center gap-2 px-3 py-2 text-left text-[13px] hover:bg-hover"
        onClick={() => setOpen(!open)}
      >
        <ChevronRight
          className={cn('size-3.5 shrink-0 text-faint transition-transform', open && 'rotate-90')}
          aria-hidden
        />
        <span className="min-w-0 flex-1 truncate font-mono text-xs" title={path}>
          {path}
        </span>
        <span className="shrink-0 text-xs text-faint">{bytes(size_bytes)}</span>
      </button>
      {open && <FileText projectId={projectId} name={name} path={path} />}
    </li>
  )
}

function FileText({ projectId, name, path }: { projectId: string; name: string; path: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['skill', projectId, name, path],
    queryFn: ({ signal }) => client.skills.file(projectId, name, path, signal),
  })
  if (error !== null) return <Problem className="m-2" error={error} retry={() => void refetch()} />
  if (data === undefined) return <p className="px-3 pb-2 text-xs text-muted">Loading…</p>
  if (data.text === null) return <p className="px-3 pb-2.5 text-[13px] text-muted">This file is not text.</p>
  return (
    <>
      <pre
        tabIndex={0}
        aria-label={path}
        className="max-h-96 overflow-auto bg-code px-3 py-2.5 font-mono text-xs leading-relaxed"
      >
        <Code text={data.text} language={/\.(\w+)$/.exec(path)?.[1] ?? ''} />
      </pre>
      {data.is_cut && <p className="px-3 py-1.5 text-xs text-muted">Only the beginning is shown.</p>}
    </>
  )
}
