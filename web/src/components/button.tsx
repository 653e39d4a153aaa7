import { cva, type VariantProps } from 'class-variance-authority'
import { LoaderCircle } from 'lucide-react'
import type { ComponentProps } from 'react'
import { cn } from '@/lib/cn'
import { Tip } from './tooltip'

const button = cva(
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg font-medium whitespace-nowrap transition-colors select-none disabled:pointer-events-none disabled:opacity-45 [&_svg]:shrink-0',
  {
    variants: {
      look: {
        primary: 'bg-accent text-accent-fg hover:bg-accent-hover',
        plain: 'border border-line-strong bg-raised hover:bg-hover',
        ghost: 'text-muted hover:bg-hover hover:text-fg',
        danger: 'border border-danger-line bg-danger-soft text-danger hover:border-danger',
        dark: 'bg-fg text-bg hover:opacity-85',
      },
      size: {
        sm: 'h-7 px-2.5 text-[12.5px] [&_svg]:size-3.5',
        md: 'h-8.5 px-3.5 text-[13.5px] [&_svg]:size-4',
        icon: 'size-8 [&_svg]:size-4',
        'icon-sm': 'size-7 rounded-md [&_svg]:size-3.5',
      },
    },
    defaultVariants: { look: 'plain', size: 'md' },
  },
)

type ButtonProps = ComponentProps<'button'> & VariantProps<typeof button> & { busy?: boolean }

export function Button({ look, size, busy = false, className, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={cn(button({ look, size }), className)}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {busy && <LoaderCircle className="animate-spin" aria-hidden />}
      {children}
    </button>
  )
}

/** A button with an icon only: its label is read aloud and shown on hover. */
export function IconButton({
  label,
  keys,
  size = 'icon',
  look = 'ghost',
  ...rest
}: ButtonProps & { label: string; keys?: string }) {
  return (
    <Tip label={label} keys={keys}>
      <Button aria-label={label} size={size} look={look} {...rest} />
    </Tip>
  )
}
