import { Download, X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from '@/lib/cn'

interface ZoomProps {
  src: string
  alt: string
  className?: string
  children?: ReactNode
}

/** A picture that fills the window when it is clicked; Escape or another click returns to the page. */
export function Zoom({ src, alt, className }: ZoomProps) {
  return (
    <Dialog.Root>
      <Dialog.Trigger
        aria-label={`Enlarge: ${alt}`}
        className={cn('block cursor-zoom-in overflow-hidden rounded-xl border border-line', className)}
      >
        <img src={src} alt={alt} loading="lazy" className="h-full w-full object-cover object-top" />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 bg-black/80" />
        <Dialog.Content aria-describedby={undefined} className="fixed inset-0 z-50 outline-none">
          <Dialog.Title className="sr-only">{alt}</Dialog.Title>
          <Dialog.Close
            aria-label="Close picture"
            className="grid h-full w-full cursor-zoom-out overflow-auto p-4 sm:p-10"
          >
            <img src={src} alt={alt} className="m-auto max-h-full max-w-full rounded-lg object-contain shadow-pop" />
          </Dialog.Close>
          <div className="absolute top-3 right-3 flex gap-2">
            <a
              href={src}
              download
              aria-label="Download picture"
              className="grid size-9 place-items-center rounded-full bg-black/60 text-white hover:bg-black/80"
            >
              <Download className="size-4" />
            </a>
            <Dialog.Close
              aria-label="Close"
              className="grid size-9 place-items-center rounded-full bg-black/60 text-white hover:bg-black/80"
            >
              <X className="size-4" />
            </Dialog.Close>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
