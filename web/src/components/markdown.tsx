import { memo, useState, type ComponentProps, type ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { fencedCode } from '@/lib/fenced-code'
import { BlockReader } from '@/lib/markdown-blocks'
import { Code } from './code'
import { CopyIcon } from './copy'

/** A code block as react-markdown gives it. */
function Pre({ children }: ComponentProps<'pre'>) {
  const { className = '', children: code } = propsOf(children)
  const language = /language-(\S+)/.exec(className)?.[1] ?? 'text'
  return <CodeBlock language={language} text={typeof code === 'string' ? code.replace(/\n$/, '') : ''} />
}

/** A code block with its language and a copy button. */
function CodeBlock({ language, text }: { language: string; text: string }) {
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

const SAMPLES = ['a *b* `c` [d](https://example.com)', '# a\n\n- b\n- c', '> a\n\n```js\nb\n```', '| a |\n|---|\n| b |']

/** Reads a sample in each quiet moment. The first reading compiles the reader; on a slow machine that would hold up the
 * first words of an answer for a fifth of a second. */
function warmUp([sample, ...others]: string[]): void {
  if (sample === undefined || typeof requestIdleCallback !== 'function') return
  requestIdleCallback(() => {
    ReactMarkdown({ children: sample, remarkPlugins: plugins, components })
    warmUp(others)
  })
}

warmUp(SAMPLES)

/** One block, drawn again only when its own text changes. A fence that grows is not parsed anew with each line. */
const Block = memo(function Block({ text, rehype }: { text: string; rehype: Plugins }) {
  const code = rehype === NONE ? fencedCode(text) : null
  if (code !== null) return <CodeBlock {...code} />
  return (
    <ReactMarkdown remarkPlugins={plugins} rehypePlugins={rehype} components={components}>
      {text}
    </ReactMarkdown>
  )
})

/** Markdown without HTML: tags in the text are shown as text. A text that grows costs its last block only. `rehype` are
 * plugins that change the tree of the whole; give always the same list, or it is drawn anew. */
export const Markdown = memo(function Markdown({ text, rehype = NONE }: { text: string; rehype?: Plugins }) {
  const [reader] = useState(() => new BlockReader())
  const [first] = useState(text)
  const blocks = rehype === NONE ? reader.read(text) : [text]
  return (
    <div className={text === first ? 'prose' : 'prose prose-grown'}>
      {blocks.map((block, at) => (
        <Block key={at} text={block} rehype={rehype} />
      ))}
    </div>
  )
})
