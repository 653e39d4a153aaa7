/** Scrolls to a block or section and highlights it briefly. */

export function showBlock(body: HTMLElement | null, blockId: string): void {
  show(body?.querySelector<HTMLElement>(`[data-block-id="${CSS.escape(blockId)}"]`) ?? null, 'center')
}

export function showSection(body: HTMLElement | null, sectionId: string): void {
  show(body?.querySelector<HTMLElement>(`[data-section-id="${CSS.escape(sectionId)}"]`) ?? null, 'start')
}

function show(element: HTMLElement | null, block: ScrollLogicalPosition): void {
  if (element === null) return
  // Blocks outside of the window have an estimated height until they are near: scroll there, then scroll exactly.
  element.scrollIntoView({ block })
  requestAnimationFrame(() => element.scrollIntoView({ block }))
  element.dataset['shown'] = ''
  setTimeout(() => delete element.dataset['shown'], 1600)
}
