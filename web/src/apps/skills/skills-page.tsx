import { useQuery } from '@tanstack/react-query'
import { BookMarked, FileArchive, FolderUp, Plus } from 'lucide-react'
import { useEffect, useRef, useState, type DragEvent } from 'react'
import { Button } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem } from '@/components/menu'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { SkillDialog } from './skill-dialog'
import { SkillRow } from './skill-row'
import { filesOfFolder, skillsDropped, skillsQuery } from './skills'
import { useAdding } from './use-adding'

/** `/projects/:id/skills`: what the project's agents can take up for certain tasks. */
export default function SkillsPage({ projectId }: { projectId: string }) {
  const { projectId: active, project, choose } = useActiveProject()
  const { data, error, refetch } = useQuery(skillsQuery(projectId))
  const adding = useAdding(projectId)
  const [shown, setShown] = useState<string | null>(null)
  const folder = useRef<HTMLInputElement>(null)
  const file = useRef<HTMLInputElement>(null)
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'Skills · Outlast'
  }, [])
  const mayManage = active === projectId && project?.role === 'owner'
  const { over, ...drop } = useDrop(mayManage, (skills) => void skills.then(adding.add))
  const skills = data?.items
  const ways = (
    <>
      <MenuItem onSelect={() => folder.current?.click()}>
        <FolderUp />
        Choose a folder
      </MenuItem>
      <MenuItem onSelect={() => file.current?.click()}>
        <FileArchive />
        Choose a zip or a SKILL.md
      </MenuItem>
    </>
  )
  const add = mayManage && (
    <Menu
      align="end"
      trigger={
        <Button size="sm" look="primary" busy={adding.busy}>
          {!adding.busy && <Plus />}
          Add skill
        </Button>
      }
    >
      {ways}
    </Menu>
  )
  return (
    <div className="relative flex min-h-0 flex-1 flex-col" {...drop}>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Skills</h1>
        <span className="flex-1" />
        {skills !== undefined && skills.length > 0 && add}
      </PageHeader>
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Folder of a skill"
        // Browsers know it; the types of React do not.
        {...{ webkitdirectory: '' }}
        onChange={({ target }) => {
          const files = filesOfFolder(target.files ?? [])
          if (files.length > 0) void adding.add([files])
          target.value = ''
        }}
      />
      <input
        ref={file}
        type="file"
        hidden
        multiple
        accept=".zip,.md"
        aria-label="Zip or SKILL.md"
        onChange={({ target }) => {
          void adding.add([...(target.files ?? [])].map((one) => [{ path: one.name, file: one }]))
          target.value = ''
        }}
      />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl px-3 py-4 sm:px-6 sm:py-6">
          {error !== null && <Problem className="mb-4" error={error} retry={() => void refetch()} />}
          {adding.error !== null && <Problem className="mb-4" error={adding.error} />}
          {skills === undefined && error === null && <SkeletonRows rows={3} className="h-16 rounded-2xl" />}
          {skills?.length === 0 && (
            <Empty className="pt-[10vh]" icon={<BookMarked />} title="No skills yet" action={add || undefined}>
              A skill is a folder with a SKILL.md: instructions for a kind of task, with scripts and references. Agents
              see its description, and read it when a task fits.
              {mayManage ? ' Drop folders or zips anywhere on this page.' : ' An owner of the project can add one.'}
            </Empty>
          )}
          {skills !== undefined && skills.length > 0 && (
            <>
              <p className="mb-3 text-muted">
                Agents read these descriptions, and take up a skill when a task fits. Its files are put into their
                sandbox.
              </p>
              <ul aria-label="Skills" className="divide-y divide-line rounded-2xl border border-line bg-raised">
                {skills.map((skill) => (
                  <SkillRow
                    key={skill.name}
                    projectId={projectId}
                    skill={skill}
                    mayManage={mayManage}
                    onShow={() => setShown(skill.name)}
                  />
                ))}
              </ul>
            </>
          )}
        </div>
      </div>
      {over && (
        <div
          aria-hidden
          className="pointer-events-none absolute inset-2 z-20 grid place-items-center rounded-2xl border-2 border-dashed border-accent bg-bg/85 text-[15px] font-medium"
        >
          Drop folders or zips to add skills
        </div>
      )}
      {shown !== null && <SkillDialog projectId={projectId} name={shown} onClose={() => setShown(null)} />}
      <Confirm
        open={adding.taken !== undefined}
        onClose={adding.decided}
        title={`Replace ${adding.taken?.name ?? ''}?`}
        action="Replace skill"
        onConfirm={adding.replace}
      >
        The project has a skill of this name. All its files are replaced. Agents that use it now have to read it again.
      </Confirm>
    </div>
  )
}

/** Takes what is dropped on an element, and says when something is above it. */
function useDrop(may: boolean, add: (skills: ReturnType<typeof skillsDropped>) => void) {
  const [depth, setDepth] = useState(0)
  const carries = (event: DragEvent) => may && event.dataTransfer.types.includes('Files')
  return {
    over: depth > 0,
    onDragEnter: (event: DragEvent) => carries(event) && setDepth((now) => now + 1),
    onDragLeave: (event: DragEvent) => carries(event) && setDepth((now) => Math.max(0, now - 1)),
    onDragOver: (event: DragEvent) => carries(event) && event.preventDefault(),
    onDrop: (event: DragEvent) => {
      if (!carries(event)) return
      event.preventDefault()
      setDepth(0)
      add(skillsDropped(event.dataTransfer.items))
    },
  }
}
