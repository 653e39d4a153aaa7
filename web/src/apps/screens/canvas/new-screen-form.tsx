import { useQuery } from '@tanstack/react-query'
import { ChevronDown, CreditCard, KanbanSquare, LayoutDashboard, LineChart, LogIn, Rocket } from 'lucide-react'
import { useState, type ComponentProps, type ReactNode } from 'react'
import type { ScreenData, ScreenPlace, TemplateName } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Menu, MenuItem, MenuLabel } from '@/components/menu'
import { complain } from '@/components/toast'
import { client } from '@/lib/queries'
import { useStored } from '@/lib/local-storage'
import { firstSuggestions, type SuggestedScreen } from '../chat/suggestions'
import { Composer } from '@/features/threads/composer'
import { useModelChoice } from '@/features/threads/model-choice'
import { keyFor, type Outgoing } from '@/features/threads/outgoing-message'
import { SIZES, type SizeName } from './screen-sizes'
import { putScreen, themesQuery } from './screens'

const ICONS: Record<SuggestedScreen, ReactNode> = {
  pricing: <CreditCard />,
  landing: <Rocket />,
  dashboard: <LayoutDashboard />,
  signIn: <LogIn />,
  kanban: <KanbanSquare />,
  charts: <LineChart />,
}

export const TEMPLATES: Record<TemplateName, { label: string; note: string }> = {
  next: { label: 'Next.js', note: 'App Router, server components' },
  vite: { label: 'Vite + React', note: 'Lighter, starts faster' },
}

interface FormProps {
  projectId: string
  /** The place for a screen of this size. */
  placeFor: (size: { width: number; height: number }) => ScreenPlace
  onCreated: (screen: ScreenData) => void
}

/** Description, template and theme of a new screen: sending creates the screen and starts the run at once. */
export function NewScreenForm({ projectId, placeFor, onCreated }: FormProps) {
  const [template, setTemplate] = useStored('outlast.new-screen.template')
  const [theme, setTheme] = useStored('outlast.new-screen.theme')
  const [size, setSize] = useState<SizeName>('desktop')
  const [keys] = useState(() => new Map<string, string>())
  const [busy, setBusy] = useState(false)
  const { model } = useModelChoice()
  const chosen: TemplateName = template === 'vite' ? 'vite' : 'next'
  const create = async (key: string) => {
    const { width, height } = SIZES[size]
    const place = placeFor({ width, height })
    const body = { ...place, template: chosen, ...(theme !== '' && { theme }) }
    const screen = await client.screens.create(projectId, body, keyFor(keys, key))
    putScreen(screen)
    return screen
  }
  const send = async ({ content, images, model }: Outgoing) => {
    const start = { content, ...(model !== null && { model }), ...(images.length > 0 && { images }) }
    const screen = await create(JSON.stringify(start))
    try {
      await client.startRun(screen.thread_id, start, keyFor(keys, `${screen.id} ${JSON.stringify(start)}`))
    } catch (reason) {
      complain(reason as Error) // the screen exists; its chat keeps the message that was not sent
      localStorage.setItem(`outlast.draft.${screen.thread_id}`, content)
    }
    keys.clear()
    onCreated(screen)
  }
  const empty = () => {
    setBusy(true)
    create('empty')
      .then((screen) => (keys.clear(), onCreated(screen)), complain)
      .finally(() => setBusy(false))
  }
  return (
    <div>
      <Composer
        projectId={projectId}
        draftKey={`screen.${projectId}`}
        placeholder="Describe the app to build, or drop an image of it"
        onSend={send}
        autoFocus
      />
      <div className="mt-2.5 flex flex-wrap items-center gap-1.5">
        <TemplateMenu template={chosen} onTemplate={setTemplate} />
        <SizeMenu size={size} onSize={setSize} />
        <ThemeMenu theme={theme} onTheme={setTheme} />
        <span className="flex-1" />
        <Button size="sm" look="ghost" busy={busy} onClick={empty}>
          Start empty
        </Button>
      </div>
      <div className="mt-4 grid grid-cols-2 gap-2 sm:grid-cols-3">
        {firstSuggestions().map(({ screen, label, text }) => (
          <Suggestion
            key={screen}
            icon={ICONS[screen]}
            title={label}
            text={text}
            onChoose={() => send({ content: text, images: [], model: model?.id ?? null })}
          />
        ))}
      </div>
    </div>
  )
}

interface SuggestionProps {
  icon: ReactNode
  title: string
  text: string
  onChoose: () => Promise<void>
}

function Suggestion({ icon, title, text, onChoose }: SuggestionProps) {
  const [busy, setBusy] = useState(false)
  return (
    <button
      disabled={busy}
      title={text}
      aria-busy={busy || undefined}
      onClick={() => {
        setBusy(true)
        onChoose()
          .catch(complain)
          .finally(() => setBusy(false))
      }}
      className="flex items-center gap-2.5 rounded-xl border border-line px-3 py-2.5 text-left text-muted transition-colors hover:border-line-strong hover:bg-hover hover:text-fg disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint"
    >
      {icon}
      <span className="truncate">{title}</span>
    </button>
  )
}

const Choice = ({ label, children, ...rest }: ComponentProps<'button'> & { label: string }) => (
  <button
    aria-label={label}
    className="inline-flex h-7 pointer-coarse:h-9 items-center gap-1.5 rounded-lg border border-line px-2.5 text-[12.5px] text-muted hover:border-line-strong hover:text-fg [&_svg]:size-3.5"
    {...rest}
  >
    {children}
    <ChevronDown className="text-faint" aria-hidden />
  </button>
)

interface TemplateMenuProps {
  template: TemplateName
  onTemplate: (template: string) => void
}

const TemplateMenu = ({ template, onTemplate }: TemplateMenuProps) => (
  <Menu className="w-64" trigger={<Choice label="Template">{TEMPLATES[template].label}</Choice>}>
    <MenuLabel>Built with</MenuLabel>
    {Object.entries(TEMPLATES).map(([name, { label, note }]) => (
      <MenuItem key={name} checked={name === template} onSelect={() => onTemplate(name)}>
        <span className="min-w-0">
          <span className="block">{label}</span>
          <span className="block text-xs text-faint">{note}</span>
        </span>
      </MenuItem>
    ))}
  </Menu>
)

function SizeMenu({ size, onSize }: { size: SizeName; onSize: (size: SizeName) => void }) {
  const { label, icon: Icon } = SIZES[size]
  return (
    <Menu
      trigger={
        <Choice label="Size">
          <Icon aria-hidden />
          {label}
        </Choice>
      }
    >
      <MenuLabel>Size of the frame</MenuLabel>
      {(Object.keys(SIZES) as SizeName[]).map((name) => {
        const { label, icon: One } = SIZES[name]
        return (
          <MenuItem key={name} checked={name === size} onSelect={() => onSize(name)}>
            <One />
            {label}
          </MenuItem>
        )
      })}
    </Menu>
  )
}

function ThemeMenu({ theme, onTheme }: { theme: string; onTheme: (theme: string) => void }) {
  const { data } = useQuery(themesQuery)
  const themes = data ?? []
  const chosen = themes.find(({ id }) => id === theme) ?? themes[0]
  return (
    <Menu
      trigger={
        <Choice label="Theme">
          <Dot tokens={chosen?.dark} />
          {chosen?.name ?? 'Theme'}
        </Choice>
      }
    >
      <MenuLabel>Theme</MenuLabel>
      {themes.map(({ id, name, dark }) => (
        <MenuItem key={id} checked={id === chosen?.id} onSelect={() => onTheme(id)}>
          <Dot tokens={dark} />
          {name}
        </MenuItem>
      ))}
    </Menu>
  )
}

const Dot = ({ tokens = {} }: { tokens?: Record<string, string> | undefined }) => (
  <span aria-hidden className="flex size-3.5 shrink-0 overflow-hidden rounded-full border border-line-strong">
    <span className="flex-1" style={{ background: tokens['background'] }} />
    <span className="flex-1" style={{ background: tokens['primary'] }} />
  </span>
)
