/** Syntax colours for code. Loaded when the first code block is shown; each language when it is first used. */
import { createHighlighterCore, type HighlighterCore, type ThemedToken } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import { languageOf, LANGUAGES } from './code-languages'

export type Token = Pick<ThemedToken, 'content' | 'htmlStyle'>

let made: Promise<HighlighterCore> | null = null

const highlighter = (): Promise<HighlighterCore> =>
  (made ??= createHighlighterCore({
    engine: createJavaScriptRegexEngine({ forgiving: true }),
    themes: [import('shiki/themes/github-light-default.mjs'), import('shiki/themes/github-dark-default.mjs')],
    langs: [],
  }))

/** Lines of coloured pieces, or null for an unknown language. `language` may be a file extension. */
export async function colour(code: string, language: string): Promise<Token[][] | null> {
  const name = languageOf(language)
  const load = LANGUAGES[name]
  if (load === undefined) return null
  const core = await highlighter()
  await core.loadLanguage(load())
  const themes = { light: 'github-light-default', dark: 'github-dark-default' }
  return core.codeToTokens(code, { lang: name, themes }).tokens
}
