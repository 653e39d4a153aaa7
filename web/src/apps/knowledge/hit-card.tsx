import { BookOpen, Code2, ExternalLink } from 'lucide-react'
import { useMemo, useState, type ReactNode } from 'react'
import type { HitScores, KnowledgeHit } from '@outlast/sdk'
import { CopyIcon } from '@/components/copy'
import { Markdown } from '@/components/markdown'
import { Since } from '@/components/time'
import { Tip } from '@/components/tooltip'
import { cn } from '@/lib/cn'
import { Marked, markWords } from '@/components/marked'

const LONG = 700

/** One hit as an agent receives it, with the scores behind its rank. */
export function HitCard({ hit, rank }: { hit: KnowledgeHit; rank: number }) {
  const [whole, setWhole] = useState(false)
  const isLong = hit.text.length > LONG || hit.text.split('\n').length > 14
  return (
    <li data-hit={hit.id} className="rounded-2xl border border-line bg-raised">
      <header className="flex items-start gap-3 px-4 pt-3.5 sm:px-5">
        <span className="mt-0.5 grid size-6 shrink-0 place-items-center rounded-md bg-active text-xs font-medium text-muted tabular-nums">
          {rank}
        </span>
        <div className="min-w-0 flex-1">
          <h3 className="font-semibold [overflow-wrap:anywhere]">
            <Marked text={hit.heading === '' ? hit.package : hit.heading} words={hit.terms} />
          </h3>
          <Where hit={hit} />
        </div>
        <Score value={hit.score} />
      </header>
      <div className="px-4 pt-2.5 pb-3.5 sm:px-5">
        <div className={cn('relative overflow-hidden', isLong && !whole && 'max-h-44')}>
          <Text hit={hit} />
          {isLong && !whole && (
            <div aria-hidden className="absolute inset-x-0 bottom-0 h-16 bg-linear-to-t from-raised to-transparent" />
          )}
        </div>
        <footer className="mt-2.5 flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <Scores scores={hit.scores} />
          <span className="flex-1" />
          {isLong && (
            <button
              className="text-xs text-link hover:underline"
              aria-expanded={whole}
              onClick={() => setWhole(!whole)}
            >
              {whole ? 'Show less' : 'Show all'}
            </button>
          )}
        </footer>
      </div>
    </li>
  )
}

function Text({ hit }: { hit: KnowledgeHit }) {
  const rehype = useMemo(() => [markWords(hit.terms)], [hit.terms])
  return (
    <>
      <Markdown text={hit.text} rehype={rehype} />
      {hit.usage !== '' && (
        <div className="mt-2 flex items-center gap-2 rounded-lg bg-code py-1 pr-1 pl-3">
          <code className="min-w-0 flex-1 overflow-x-auto font-mono text-[12.5px] whitespace-pre">{hit.usage}</code>
          <CopyIcon text={hit.usage} label="Copy the import" />
        </div>
      )}
      {!hit.verified && <p className="mt-2 text-xs text-warn">Not verified since the installed packages changed.</p>}
    </>
  )
}

function Where({ hit }: { hit: KnowledgeHit }) {
  const facts: ReactNode[] = [
    <span key="type" className="inline-flex items-center gap-1">
      {hit.type === 'module' ? (
        <Code2 className="size-3.5" aria-hidden />
      ) : (
        <BookOpen className="size-3.5" aria-hidden />
      )}
      {hit.type === 'module' ? 'saved code' : hit.package}
    </span>,
  ]
  if (hit.version !== '') facts.push(<span key="version">{hit.version}</span>)
  if (hit.fetched_at !== null)
    facts.push(
      <span key="date">
        {hit.type === 'module' ? 'saved' : 'read'} <Since iso={hit.fetched_at} />
      </span>,
    )
  return (
    <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs text-faint">
      {facts}
      {/^https?:/.test(hit.url) ? (
        <a
          href={hit.url}
          target="_blank"
          rel="noreferrer noopener"
          className="inline-flex max-w-full min-w-0 items-center gap-1 text-link hover:underline"
        >
          <span className="truncate">{hit.url.replace(/^https?:\/\//, '')}</span>
          <ExternalLink className="size-3 shrink-0" aria-hidden />
        </a>
      ) : (
        hit.url !== '' && <span className="truncate">{hit.url}</span>
      )}
    </p>
  )
}

const Score = ({ value }: { value: number }) => (
  <Tip label="Relevance compared with the other results">
    <span className="flex shrink-0 items-center gap-2 text-xs text-muted tabular-nums">
      <span aria-hidden className="h-1.5 w-14 overflow-hidden rounded-full bg-active max-sm:hidden">
        <span
          className="block h-full rounded-full bg-accent"
          style={{ width: `${Math.round(Math.min(value, 1) * 100)}%` }}
        />
      </span>
      {value.toFixed(2)}
    </span>
  </Tip>
)

const METHODS: [keyof HitScores, string, string][] = [
  ['words', 'words', 'BM25: how rare the query’s words are, and how often they occur in it'],
  ['vectors', 'vectors', 'Cosine similarity to the query: 1 is the same direction'],
  ['reranked', 're-ranked', 'Score by the re-ranker'],
]

const Scores = ({ scores }: { scores: HitScores }) => (
  <ul aria-label="Scores by method" className="flex flex-wrap gap-1.5">
    {METHODS.map(([name, label, meaning]) => {
      const value = scores[name]
      if (value === undefined || value === null) return null
      return (
        <li key={name}>
          <Tip label={meaning}>
            <span
              className={cn(
                'inline-flex h-5 items-center gap-1.5 rounded-md border border-line px-1.5 text-[11.5px] text-faint',
                value <= 0 && 'opacity-60',
              )}
            >
              {label} <span className="text-muted tabular-nums">{value.toFixed(2)}</span>
            </span>
          </Tip>
        </li>
      )
    })}
  </ul>
)
