import { memo, useState, type ComponentProps, type ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { fencedCode } from '@/lib/fenced-code'
import { BlockReader } from '@/lib/markdown-blocks'
import { Code } from './code'
import { CopyIcon } from './copy'

/** A code block as react-markdown passes it. */
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
        {/* Generated content: the label is not part of the text that a reader selects and copies. */}
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

/** The props of the `code` element of a block. */
const propsOf = (child: unknown): { className?: string; children?: unknown } =>
  (child as { props?: { className?: string; children?: unknown } } | null)?.props ?? {}

/** A link to another site. Any other target that an agent names (scripts, paths of this server) is plain text. */
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
  // An image from another site would reveal the reader to its server: show its link instead.
  img: ({ src, alt }) => <Away href={src}>{alt === undefined || alt === '' ? 'image' : alt}</Away>,
}

const plugins = [remarkGfm]
type Plugins = NonNullable<ComponentProps<typeof ReactMarkdown>['rehypePlugins']>
const NONE: Plugins = []

const SAMPLES = ['a *b* `c` [d](https://example.com)', '# a\n\n- b\n- c', '> a\n\n```js\nb\n```', '| a |\n|---|\n| b |']

/** Parses one sample whenever the page is idle. The first parse compiles the parser; on a slow machine this would delay
 * the first words of an answer by a fifth of a second. */
function warmUp([sample, ...others]: string[]): void {
  if (sample === undefined || typeof requestIdleCallback !== 'function') return
  requestIdleCallback(() => {
    ReactMarkdown({ children: sample, remarkPlugins: plugins, components })
    warmUp(others)
  })
}

warmUp(SAMPLES)

/** One block. It renders again only when its own text changes. A growing fence is not parsed again for each line. */
const Block = memo(function Block({ text, rehype }: { text: string; rehype: Plugins }) {
  const code = rehype === NONE ? fencedCode(text) : null
  if (code !== null) return <CodeBlock {...code} />
  return (
    <ReactMarkdown remarkPlugins={plugins} rehypePlugins={rehype} components={components}>
      {text}
    </ReactMarkdown>
  )
})

/** Markdown without HTML: tags in the text are shown as text. A growing text renders its last block only. `rehype` are
 * plugins that change the tree; always pass the same list, or everything renders again. */
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
