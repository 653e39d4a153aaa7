/** The only script on a page's host: runs the frame inside the app, or the page embedded in another site. */
import './page.css'
import './shapes.css'
import { runEmbed } from './embed.ts'
import { runShell } from './shell.ts'

const { parents, version } = (document.currentScript as HTMLScriptElement).dataset
const root = document.querySelector<HTMLElement>('[data-outlast-page]')

if (root !== null && version !== undefined) runEmbed(root, version)
else if (root !== null && window.parent !== window) runShell(root, new Set((parents ?? '').split(' ')))
