import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { PageData } from '@outlast/sdk'
import { Skeleton } from '@/components/placeholders'
import { useDark } from '@/lib/theme'
import { pictureQuery } from './pages'

const WIDTH = 1100
const HEIGHT = 690

const styleQuery = {
  queryKey: ['page-style'],
  queryFn: async () => {
    const answer = await fetch('/page/page.css')
    return answer.ok ? answer.text() : ''
  },
  staleTime: Infinity,
}

/** A thumbnail of a page: its HTML in a frame without scripts, rendered once it is visible. */
export function PagePicture({ page }: { page: PageData }) {
  const box = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState(false)
  const [scale, setScale] = useState(0.25)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const sizes = new ResizeObserver(() => setScale(element.clientWidth / WIDTH))
    const sight = new IntersectionObserver((entries) => entries.some((one) => one.isIntersecting) && setSeen(true), {
      rootMargin: '200px',
    })
    sizes.observe(element)
    sight.observe(element)
    return () => (sizes.disconnect(), sight.disconnect())
  }, [])
  const { data: html } = useQuery({
    ...pictureQuery(page),
    enabled: seen && page.version > 0,
    placeholderData: (old) => old,
  })
  const { data: css } = useQuery({ ...styleQuery, enabled: seen })
  const dark = useDark()
  const ready = html !== undefined && css !== undefined
  return (
    <div ref={box} aria-hidden className="relative aspect-[1100/690] overflow-hidden bg-bg">
      {page.version === 0 ? (
        <Outline />
      ) : ready ? (
        <iframe
          title=""
          tabIndex={-1}
          sandbox=""
          srcDoc={documentOf(html, css, dark)}
          className="pointer-events-none absolute top-0 left-0 origin-top-left border-0"
          style={{ width: WIDTH, height: HEIGHT, transform: `scale(${scale})` }}
        />
      ) : (
        <Skeleton className="absolute inset-4 rounded-lg" />
      )}
    </div>
  )
}

const documentOf = (html: string, css: string, dark: boolean): string =>
  `<!doctype html><html data-theme="${dark ? 'dark' : 'light'}"><head>` +
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">` +
  `<style>${css.replaceAll('</', '<\\/')}html{overflow:hidden}</style></head>` +
  `<body><main data-outlast-page>${html}</main></body></html>`

/** The thumbnail of a page without content. */
const Outline = () => (
  <div className="absolute inset-0 space-y-2.5 p-[8%]">
    <div className="h-3.5 w-2/5 rounded bg-active" />
    <div className="h-2 w-3/5 rounded bg-hover" />
    <div className="grid grid-cols-3 gap-2 pt-2">
      {[0, 1, 2].map((one) => (
        <div key={one} className="h-12 rounded-lg border border-line" />
      ))}
    </div>
    <div className="h-16 rounded-lg border border-line" />
  </div>
)
