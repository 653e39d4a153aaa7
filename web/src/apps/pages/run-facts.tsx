import type { RunView } from '@outlast/sdk'
import { Fact } from '@/features/runs/fact'
import { bytes, count, plural } from '@/lib/format'

/** A run's changes to its page; nothing for runs of other agents. */
export default function RunFacts({ run: { page } }: { run: RunView }) {
  if (page === null) return null
  const { version, stats } = page
  return (
    <>
      <Fact name="Page">version {count(version)}</Fact>
      <Fact name="Changes">
        {stats === null ? '–' : plural(stats.patches, 'patch', 'patches')}
        {stats !== null && stats.replaced > 0 && `, ${plural(stats.replaced, 'full rewrite')}`}
      </Fact>
      <Fact name="Lines refused">{stats === null ? '–' : count(stats.refused)}</Fact>
      <Fact name="Page size">
        {stats === null ? '–' : `${bytes(stats.html_bytes)}, ${plural(stats.elements, 'element')}`}
      </Fact>
    </>
  )
}
