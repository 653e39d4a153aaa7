import type { ComponentProps } from 'react'
import { Button } from './button'

interface MoreButtonProps extends Pick<ComponentProps<typeof Button>, 'look' | 'size' | 'className'> {
  /** As `useInfiniteQuery` returns it. */
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }
  label?: string
}

/** Loads the next page of a list; nothing after the last page. */
export const MoreButton = ({ list, label = 'Show more', className = 'mt-2 w-full', ...look }: MoreButtonProps) =>
  list.hasNextPage && (
    <Button {...look} className={className} busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      {label}
    </Button>
  )
