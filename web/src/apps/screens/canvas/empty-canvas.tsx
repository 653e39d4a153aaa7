import { Frame } from 'lucide-react'
import { Empty } from '@/components/states'
import { NewScreenForm } from './new-screen-form'

interface EmptyProps {
  mayEdit: boolean
  form: React.ComponentProps<typeof NewScreenForm>
}

/** Over a canvas without screens: what one is, and the way to the first. */
export function EmptyCanvas({ mayEdit, form }: EmptyProps) {
  return (
    <div className="pointer-events-none absolute inset-0 z-5 grid place-items-center overflow-y-auto p-4 pb-24">
      {mayEdit ? (
        <div data-for-writing className="pointer-events-auto w-full max-w-xl">
          <div className="mb-6 text-center">
            <div className="mx-auto mb-4 grid size-11 place-items-center rounded-2xl border border-line bg-raised text-muted">
              <Frame className="size-5" aria-hidden />
            </div>
            <h2 className="text-2xl font-semibold tracking-tight">What shall we build?</h2>
            <p className="mx-auto mt-1.5 max-w-md text-muted">
              Say it in a sentence. An agent writes the app while you watch it here, and you change it by talking or by
              hand.
            </p>
          </div>
          <NewScreenForm {...form} />
        </div>
      ) : (
        <Empty icon={<Frame />} title="No screens yet">
          Apps that the editors of this project build appear here. Making one needs the editor role.
        </Empty>
      )}
    </div>
  )
}
