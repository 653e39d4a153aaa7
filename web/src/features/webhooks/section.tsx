import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '@/components/button'
import { Empty } from '@/components/placeholders'

interface SectionHeadProps {
  id: string
  title: string
  children: ReactNode
  action: string
  /** undefined: no button. */
  onAction: (() => void) | undefined
}

/** The head of a section of the page, with the button that adds to it. */
export const SectionHead = ({ id, title, children, action, onAction }: SectionHeadProps) => (
  <div className="mb-3 flex items-end gap-3">
    <div className="min-w-0 flex-1">
      <h2 id={id} className="text-[15px] font-semibold">
        {title}
      </h2>
      <p className="text-muted">{children}</p>
    </div>
    {onAction !== undefined && (
      <Button size="sm" look="primary" onClick={onAction}>
        <Plus />
        {action}
      </Button>
    )}
  </div>
)

interface EmptySectionProps {
  title: string
  icon: ReactNode
  children: ReactNode
  action: string
  onAction: () => void
}

/** What a section shows while it has nothing. */
export const EmptySection = ({ title, icon, children, action, onAction }: EmptySectionProps) => (
  <Empty
    className="rounded-2xl border border-dashed border-line-strong py-9"
    icon={icon}
    title={title}
    action={
      <Button look="primary" onClick={onAction}>
        <Plus />
        {action}
      </Button>
    }
  >
    {children}
  </Empty>
)
