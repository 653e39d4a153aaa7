import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { UserSummary } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input } from '@/components/field'
import { Problem } from '@/components/problem'
import { say } from '@/components/toast'
import { client } from '@/lib/queries'

interface GrantDialogProps {
  user: UserSummary | null
  onClose: () => void
  onGranted: () => void
}

export function GrantDialog({ user, onClose, onGranted }: GrantDialogProps) {
  return (
    <Dialog open={user !== null} onClose={onClose} title={`Give ${user?.name ?? ''} credits`}>
      {user !== null && <GrantForm key={user.id} user={user} onDone={() => (onGranted(), onClose())} />}
    </Dialog>
  )
}

function GrantForm({ user, onDone }: { user: UserSummary; onDone: () => void }) {
  const [amount, setAmount] = useState('25')
  const grant = useMutation({
    mutationFn: () => client.grantCredits(user.id, Number(amount)),
    onSuccess: (changed) => {
      say(`${changed.name} has ${changed.balance} credits`)
      onDone()
    },
  })
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        grant.mutate()
      }}
    >
      <Field label="Credits" hint="Added to the credits of the plan. They expire at the end of the month.">
        <Input
          autoFocus
          type="number"
          min={1}
          max={1000000}
          required
          value={amount}
          onChange={(event) => setAmount(event.target.value)}
        />
      </Field>
      {grant.error !== null && <Problem error={grant.error} />}
      <div className="flex justify-end">
        <Button type="submit" look="primary" busy={grant.isPending}>
          Give credits
        </Button>
      </div>
    </form>
  )
}
