import { useCallback, useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import { useStored } from '@/lib/local-storage'
import type { DocumentRoom, PanelState, PanelTab } from './document-context'
import { isTab } from './right-panel'

/** The open tab. The address names it, so that a link can be shared. Without it, a wide window restores the last tab,
 * and on a phone the text comes first. */
export function usePanelState(narrow: boolean): [PanelState, Pick<DocumentRoom, 'openPanel' | 'closePanel'>] {
  const [stored, setStored] = useStored('outlast.document.panel')
  const search = useSearch()
  const [, navigate] = useLocation()
  const go = useCallback(
    (query: string) => {
      if (query !== location.search) navigate(`${location.pathname}${query}`, { replace: true })
    },
    [navigate],
  )
  const openPanel = useCallback(
    (tab: PanelTab, item: string | null = null) => {
      setStored(tab)
      go(`?${new URLSearchParams({ panel: tab, ...(item !== null && { item }) }).toString()}`)
    },
    [go, setStored],
  )
  const closePanel = useCallback(() => {
    if (!matchMedia('(width < 48rem)').matches) setStored('closed')
    go('')
  }, [go, setStored])
  const asked = new URLSearchParams(search)
  const named = asked.get('panel') ?? ''
  const wide = stored === 'closed' ? null : isTab(stored) ? stored : 'comments'
  const tab = isTab(named) ? named : narrow ? null : wide
  const item = isTab(named) ? asked.get('item') : null
  const state = useMemo(() => ({ tab, item }), [tab, item])
  return [state, useMemo(() => ({ openPanel, closePanel }), [openPanel, closePanel])]
}
