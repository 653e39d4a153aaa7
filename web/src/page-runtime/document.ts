/** The page in the frame: updated with whole HTML or with patches, while the reader keeps focus, input and scroll
 * position. */
import type { PagePatch } from '@outlast/sdk'
import { applyPatches, showHtml } from './apply.ts'
import { type Field, isField } from './actions'
import { type HandedIn, changeField, giveBack, keep, typedOf, untype } from './form-state'
import { rememberOpened, type Care } from './morph.ts'

export class PageDocument {
  readonly handedIn: HandedIn = new WeakMap()
  readonly #moved = new Set<Element>()
  #html: string | null = null
  readonly #care: Care = {
    change: (element, change) => (isField(element) ? changeField(element, change, this.handedIn) : change()),
  }
  version = -1

  constructor(readonly root: HTMLElement) {
    const remember = ({ target }: Event) => {
      if (target instanceof Element && root.contains(target)) this.#moved.add(target)
    }
    root.addEventListener('scroll', remember, { capture: true, passive: true })
    rememberOpened(root)
  }

  /** Shows the whole page. Parts that are the same stay unchanged. */
  show(html: string, version: number): void {
    if (this.#html !== html) this.#change(() => showHtml(this.root, html, this.#care))
    this.#html = html
    this.version = version
  }

  /** Patches version `base` into `version`. Throws if the patches do not apply; then the whole page has to be shown. */
  patch(patches: readonly PagePatch[], base: number, version: number): void {
    if (base !== this.version) throw new Error(`the page is at version ${this.version}, not ${base}`)
    this.#html = null
    this.#change(() => applyPatches(this.root, patches, this.#care))
    this.version = version
  }

  /** An action is done: submitted fields that were not changed since show the page's value again. */
  done(fields: readonly Field[]): void {
    for (const field of fields) {
      if (!field.isConnected || this.handedIn.get(field) !== typedOf(field)) continue
      this.handedIn.delete(field)
      untype(field)
    }
  }

  #change(change: () => void): void {
    const state = keep(this.root, this.handedIn, this.#moved)
    try {
      change()
    } finally {
      giveBack(this.root, state)
      for (const element of this.#moved) if (!element.isConnected) this.#moved.delete(element)
    }
  }
}
