import type { ComponentProps } from 'react'
import { Markdown } from '@/components/markdown'
import { shownText } from './front-matter'

/** The text of a block. */
export function BlockText({ text, ...rest }: ComponentProps<typeof Markdown>) {
  return <Markdown text={shownText(text)} {...rest} />
}
