import { Field, Input } from '@/components/field'

interface ValueFieldProps {
  value: string
  autoFocus?: boolean
  onChange: (value: string) => void
}

/** The value of a secret, hidden, and not kept by the browser. */
export const ValueField = ({ value, autoFocus = false, onChange }: ValueFieldProps) => (
  <Field label="Value" hint="It is stored encrypted and cannot be read again.">
    <Input
      type="password"
      autoComplete="new-password"
      autoFocus={autoFocus}
      value={value}
      maxLength={8_000}
      className="font-mono"
      onChange={(event) => onChange(event.target.value)}
    />
  </Field>
)
