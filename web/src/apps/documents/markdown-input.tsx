import { FileUp } from 'lucide-react'
import { useRef, useState, type DragEvent } from 'react'
import { complain } from '@/components/toast'
import { Button } from '@/components/button'
import { TextArea } from '@/components/field'
import { cn } from '@/lib/cn'
import { ACCEPTED, readMarkdown } from './markdown-files'

interface MarkdownInputProps {
  text: string
  onText: (text: string, name: string | null) => void
}

/** Input for Markdown: a dropped or chosen file, or pasted text. */
export function MarkdownInput({ text, onText }: MarkdownInputProps) {
  const picker = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const take = (file: File | undefined) => {
    if (file !== undefined) readMarkdown(file).then((read) => onText(read, file.name), complain)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    take(event.dataTransfer.files[0])
  }
  return (
    <div
      className={cn('space-y-2.5 rounded-xl', over && 'outline-2 outline-offset-4 outline-accent outline-dashed')}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <TextArea
        aria-label="Markdown"
        className="h-52 font-mono text-[12.5px]"
        placeholder={'# A title\n\nPaste Markdown here, or drop a file …'}
        value={text}
        onChange={(event) => onText(event.target.value, null)}
      />
      <input
        ref={picker}
        type="file"
        accept={ACCEPTED}
        aria-label="Markdown file"
        className="sr-only"
        tabIndex={-1}
        onChange={(event) => {
          take(event.target.files?.[0])
          event.target.value = ''
        }}
      />
      <Button size="sm" onClick={() => picker.current?.click()}>
        <FileUp />
        Choose a file
      </Button>
    </div>
  )
}
