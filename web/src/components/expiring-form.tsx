import type { UseMutationResult } from '@tanstack/react-query'
import { useState } from 'react'
import { useFormDraft } from '@/lib/form-draft'
import { Button } from './button'
import { Input, Select } from './field'
import { Problem } from './problem'

interface ExpiringFormProps<T> {
  /** The key of the draft of the name. */
  draftKey: string
  /** The label of the name, for screen readers. */
  label: string
  placeholder: string
  /** The label of the button. */
  action: string
  nameRequired?: boolean
  create: UseMutationResult<T, Error, Expiring>
}

/** The result of the form: a trimmed name, and a number of days unless it never expires. */
export interface Expiring {
  name: string
  expires_in_days?: number
}

/** A form for something with a name and an expiry: a token, a link. */
export function ExpiringForm<T>(props: ExpiringFormProps<T>) {
  const { draftKey, label, placeholder, action, nameRequired = false, create } = props
  const [typed, setName] = useFormDraft(draftKey)
  const [days, setDays] = useState('90')
  const name = (typed ?? '').trim()
  return (
    <>
      <form
        className="flex flex-wrap gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          const wanted = { name, ...(days !== '' && { expires_in_days: Number(days) }) }
          create.mutate(wanted, { onSuccess: () => setName(null) })
        }}
      >
        <Input
          aria-label={label}
          placeholder={placeholder}
          className="min-w-40 flex-1"
          value={typed ?? ''}
          maxLength={80}
          onChange={(event) => setName(event.target.value)}
        />
        <Select aria-label="Valid for" value={days} onChange={(event) => setDays(event.target.value)}>
          <option value="7">7 days</option>
          <option value="90">90 days</option>
          <option value="365">1 year</option>
          <option value="">No expiration</option>
        </Select>
        <Button
          type="submit"
          look="primary"
          className="h-9"
          busy={create.isPending}
          disabled={nameRequired && name === ''}
        >
          {action}
        </Button>
      </form>
      {create.error !== null && <Problem className="mt-3" error={create.error} />}
    </>
  )
}
