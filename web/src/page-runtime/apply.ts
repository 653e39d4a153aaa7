/** Applies a page's patches, as the server normalised them, to its document. */
import type { PagePatch } from '@outlast/sdk'

/** Changes the tree below `root` in order. Throws for an element that is not there; then the whole page is due. */
export function applyPatches(root: HTMLElement, patches: readonly PagePatch[]): void {
  for (const patch of patches) apply(root, patch)
}

function apply(root: HTMLElement, patch: PagePatch): void {
  const at = target(root, patch.at)
  switch (patch.op) {
    case 'text':
      at.textContent = patch.text ?? ''
      return
    case 'html':
      at.innerHTML = patch.html ?? ''
      return
    case 'replace':
      at.replaceWith(parsed(patch))
      return
    case 'append':
      at.append(parsed(patch))
      return
    case 'prepend':
      at.prepend(parsed(patch))
      return
    case 'before':
      at.before(parsed(patch))
      return
    case 'after':
      at.after(parsed(patch))
      return
    case 'remove':
      at.remove()
      return
    case 'attributes':
      for (const name of patch.remove ?? []) at.removeAttribute(name)
      for (const [name, value] of Object.entries(patch.set ?? {})) at.setAttribute(name, value)
      return
    case 'classes':
      at.classList.remove(...(patch.remove ?? []))
      at.classList.add(...(patch.add ?? []))
      return
    case 'move':
      target(root, patch.to ?? '')[patch.place ?? 'append'](at)
  }
}

function target(root: HTMLElement, at: string): HTMLElement {
  const found = at === 'page' ? root : root.querySelector<HTMLElement>(`[id="${CSS.escape(at.slice(1))}"]`)
  if (found === null) throw new Error(`there is no element ${at}`)
  return found
}

function parsed({ html }: PagePatch): DocumentFragment {
  const template = document.createElement('template')
  template.innerHTML = html ?? ''
  return template.content
}
