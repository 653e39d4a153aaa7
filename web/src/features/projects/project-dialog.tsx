import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { Project } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input } from '@/components/field'
import { Problem } from '@/components/problem'
import { useFormDraft } from '@/lib/form-draft'
import { client, queryClient } from '@/lib/queries'
import { useActiveProject } from '../shell/active-project'

interface ProjectDialogProps {
  mode: 'new' | 'rename'
  project?: Project
  open: boolean
  onClose: () => void
}

export function ProjectDialog(props: ProjectDialogProps) {
  const { mode, open, onClose } = props
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={mode === 'new' ? 'New project' : 'Rename project'}
      {...(mode === 'new' && { description: 'A project has its own threads and members.' })}
    >
      <ProjectForm {...props} />
    </Dialog>
  )
}

function ProjectForm({ mode, project, onClose }: ProjectDialogProps) {
  const [typed, setTyped] = useFormDraft(mode === 'rename' ? `project ${project?.id ?? ''}` : 'project')
  const name = typed === null && mode === 'rename' ? (project?.name ?? '') : (typed ?? '')
  const { choose } = useActiveProject()
  const [, navigate] = useLocation()
  const save = useMutation({
    mutationFn: () =>
      mode === 'rename' && project !== undefined
        ? client.renameProject(project.id, name.trim())
        : client.createProject(name.trim()),
    onSuccess: (saved) => {
      void queryClient.invalidateQueries({ queryKey: ['projects'] })
      setTyped(null)
      onClose()
      if (mode === 'rename') return
      choose(saved.id)
      navigate(`/projects/${saved.id}`)
    },
  })
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <Field label="Name">
        <Input autoFocus value={name} maxLength={120} onChange={(event) => setTyped(event.target.value)} />
      </Field>
      {save.error !== null && <Problem error={save.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={save.isPending} disabled={name.trim() === ''}>
          {mode === 'new' ? 'Create project' : 'Rename'}
        </Button>
      </div>
    </form>
  )
}
