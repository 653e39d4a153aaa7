/** The address of a page's frame: a separate host next to the app. Pure. */
export function shellAddress(
  pageId: string,
  domain: string,
  { protocol, port }: { protocol: string; port: string },
): string {
  return `${protocol}//${pageId.replaceAll('_', '-')}.${domain}${port === '' ? '' : `:${port}`}/`
}
