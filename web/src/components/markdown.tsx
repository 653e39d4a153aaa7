import { memo, type ComponentProps, type ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { Code } from './code'
import { CopyIcon } from './copy'

/** A code block with its language and a copy button. */
function Pre({ children }: ComponentProps<'pre'>) {
  const { className = '', children: code } = propsOf(children)
  const language = /language-(\S+)/.exec(className)?.[1] ?? 'text'
  const text = typeof code === 'string' ? code.replace(/\n$/, '') : ''
  return (
    <div className="my-3 overflow-hidden rounded-xl border border-line bg-code">
      <div className="flex h-8 items-center justify-between border-b border-line pr-1 pl-3.5 text-xs text-faint">
        {/* Drawn, not written: the label is no part of the text that one selects and copies. */}
        <span data-language={language} className="before:content-[attr(data-language)]" />
        <CopyIcon label="Copy code" text={text} />
      </div>
      <pre className="m-0! overflow-x-auto px-3.5 py-3 font-mono text-[12.5px] leading-[1.6]">
        <code>
          <Code text={text} language={language} />
        </code>
      </pre>
    </div>
  )
}

/** What react-markdown put into the `code` element of a block. */
const propsOf = (child: unknown): { className?: string; children?: unknown } =>
  (child as { props?: { className?: string; children?: unknown } } | null)?.props ?? {}

/** A link to a page elsewhere. Whatever else an agent names as a place (scripts, paths of this server) is only text. */
function Away({ href, children }: { href: unknown; children: ReactNode }) {
  if (typeof href !== 'string' || !/^(https?:\/\/|mailto:)/i.test(href)) return <span>{children}</span>
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  )
}

const components: Components = {
  pre: ({ children }) => <Pre>{children}</Pre>,
  a: ({ href, children }) => <Away href={href}>{children}</Away>,
  table: ({ children }) => (
    <div className="overflow-x-auto">
      <table>{children}</table>
    </div>
  ),
  // Pictures from elsewhere would tell their server who reads this: show where they lead instead.
  img: ({ src, alt }) => <Away href={src}>{alt === undefined || alt === '' ? 'image' : alt}</Away>,
}

const plugins = [remarkGfm]
type Plugins = NonNullable<ComponentProps<typeof ReactMarkdown>['rehypePlugins']>
const NONE: Plugins = []

/** Markdown without HTML: tags in the text are shown as text. `rehype` are plugins that change its tree; give always the
 * same list, or it is drawn anew. */
export const Markdown = memo(function Markdown({ text, rehype = NONE }: { text: string; rehype?: Plugins }) {
  return (
    <div className="prose">
      <ReactMarkdown remarkPlugins={plugins} rehypePlugins={rehype} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  )
})
