/** Reads properties of the page's elements through the browser's own getters: a form's fields hide its properties under
 * their names (`<input name="id">`), so that `form.id` would be a field. */
const getter = <T>(prototype: object, name: string): ((of: object) => T) => {
  const get = Object.getOwnPropertyDescriptor(prototype, name)?.get
  if (get === undefined) throw new Error(`no property ${name}`)
  return (of) => get.call(of) as T
}

export const firstChild = getter<ChildNode | null>(Node.prototype, 'firstChild')
export const nextSibling = getter<ChildNode | null>(Node.prototype, 'nextSibling')
export const parentOf = getter<Element | null>(Node.prototype, 'parentElement')
export const attributesOf = getter<NamedNodeMap>(Element.prototype, 'attributes')
export const namespaceOf = getter<string | null>(Element.prototype, 'namespaceURI')
export const tagOf = getter<string>(Element.prototype, 'localName')

const { closest, querySelectorAll } = Element.prototype
export const closestTo = (of: Element, selector: string): Element | null => closest.call(of, selector)
export const allIn = (of: Element, selector: string): Element[] => [...querySelectorAll.call(of, selector)]

const { getAttribute, setAttribute, removeAttribute, hasAttribute } = Element.prototype
export const getValue = (of: Element, name: string): string | null => getAttribute.call(of, name)
export const setValue = (of: Element, name: string, value: string): void => setAttribute.call(of, name, value)
export const dropValue = (of: Element, name: string): void => removeAttribute.call(of, name)
export const hasValue = (of: Element, name: string): boolean => hasAttribute.call(of, name)
export const idOf = (of: Element): string => getValue(of, 'id') ?? ''

const { append, prepend, before, after, remove } = Element.prototype
type Place = 'append' | 'prepend' | 'before' | 'after'
const PLACES = { append, prepend, before, after }
export const put = (place: Place, at: Element, node: Node): void => PLACES[place].call(at, node)
export const removeElement = (of: Element): void => remove.call(of)

const { insertBefore, isEqualNode } = Node.prototype
export const insert = (into: Node, node: Node, at: Node | null): void => void insertBefore.call(into, node, at)
export const areEqual = (one: Node, other: Node): boolean => isEqualNode.call(one, other)

export function childrenOf(node: Node): ChildNode[] {
  const nodes: ChildNode[] = []
  for (let child = firstChild(node); child !== null; child = nextSibling(child)) nodes.push(child)
  return nodes
}

const inert = document.implementation.createHTMLDocument('')

/** Parses HTML inside an element like `context`: rows in a table, shapes in a drawing. */
export function parsed(context: Element, html: string): DocumentFragment {
  const holder = inert.importNode(context, false)
  holder.innerHTML = html
  const fragment = inert.createDocumentFragment()
  for (const node of childrenOf(holder)) fragment.append(node)
  return fragment
}

/** The HTML parser drops a line break at the beginning of these, and so does the server. */
export function settle(element: Element | null): void {
  if (element === null || (tagOf(element) !== 'pre' && tagOf(element) !== 'textarea')) return
  for (let one = firstChild(element); one instanceof Text; one = firstChild(element)) {
    const text = one.data.replace(/^\n+/, '')
    if (text !== one.data) one.data = text
    if (text !== '') return
    one.remove()
  }
}
