import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Secret } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { reload } from './secrets'
import { ValueField } from './value-field'

interface ValueDialogProps {
  secret: Secret
  /** The person's own value, not the one for everybody. */
  own: boolean
  onClose: () => void
}

/** Enters a value of a secret. */
export function ValueDialog({ secret: { id, name, hosts, is_own }, own, onClose }: ValueDialogProps) {
  const [value, setValue] = useState('')
  const save = useMutation({
    mutationFn: () => (own ? client.secrets.setOwnValue(id, value) : client.secrets.change(id, { value })),
    onSuccess: () => (void reload(), onClose()),
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={own || is_own ? `Your value of ${name}` : `${name} for everybody`}
      description={`It is sent to ${hosts.join(', ')} and nowhere else. ${
        own || is_own
          ? 'It is used in the runs that you start.'
          : 'It is used where a person has no value of their own.'
      }`}
    >
      <form className="space-y-4" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
        <ValueField value={value} autoFocus onChange={setValue} />
        {save.error !== null && <Problem error={save.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={save.isPending} disabled={value.trim() === ''}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
