import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, IconButton } from './button'

function useCopy(text: string | (() => string)): [boolean, () => void] {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1600)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    const value = typeof text === 'string' ? text : text()
    navigator.clipboard.writeText(value).then(
      () => setCopied(true),
      () => undefined,
    )
  }
  return [copied, copy]
}

export function CopyIcon({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [copied, copy] = useCopy(text)
  return (
    <IconButton label={copied ? 'Copied' : label} size="icon-sm" onClick={copy}>
      {copied ? <Check className="text-ok" /> : <Copy />}
    </IconButton>
  )
}

export function CopyButton({ text, children = 'Copy' }: { text: string; children?: string }) {
  const [copied, copy] = useCopy(text)
  return (
    <Button onClick={copy}>
      {copied ? <Check className="text-ok" /> : <Copy />}
      {copied ? 'Copied' : children}
    </Button>
  )
}
