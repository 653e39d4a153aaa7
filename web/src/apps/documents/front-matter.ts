const FRONT_MATTER = /^---[ \t]*\n(?:(?=[ \t]*[^ \t\n])(?:[^\n]*\n)+)?(?:---|\.\.\.)[ \t]*$/

/** A block's text as Markdown for display: front matter, which would be read as a heading, is shown as code. */
export function shownText(text: string): string {
  if (!FRONT_MATTER.test(text)) return text
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}yaml\n${text}\n${fence}`
}
