import { Frame } from 'lucide-react'
import { Empty } from '@/components/placeholders'
import { NewScreenForm } from './new-screen-form'

interface EmptyProps {
  mayEdit: boolean
  form: React.ComponentProps<typeof NewScreenForm>
}

/** Shown over an empty canvas: an explanation and the form for the first screen. */
export function EmptyCanvas({ mayEdit, form }: EmptyProps) {
  return (
    <div className="pointer-events-none absolute inset-0 z-5 grid place-items-center overflow-y-auto p-4 pb-24">
      {mayEdit ? (
        <div data-for-writing className="pointer-events-auto w-full max-w-xl">
          <div className="mb-6 text-center">
            <div className="mx-auto mb-4 grid size-11 place-items-center rounded-2xl border border-line bg-raised text-muted">
              <Frame className="size-5" aria-hidden />
            </div>
            <h2 className="text-2xl font-semibold tracking-tight">What do you want to build?</h2>
            <p className="mx-auto mt-1.5 max-w-md text-muted">
              Describe it in a sentence. An agent builds the app while you watch, and you can change it in the chat or
              by hand.
            </p>
          </div>
          <NewScreenForm {...form} />
        </div>
      ) : (
        <Empty icon={<Frame />} title="No screens yet">
          Screens of this project appear here. To create one, ask an owner for the editor role.
        </Empty>
      )}
    </div>
  )
}
