import { Component, type ReactNode } from 'react'
import { Button } from './button'
import { Empty } from './placeholders'

/** Shown instead of a page that crashed: the error message and a reload button. Reloading loses no saved data. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Empty
        className="pt-[24vh]"
        title="This page crashed"
        action={
          <Button look="primary" onClick={() => location.reload()}>
            Reload
          </Button>
        }
      >
        The server may have been updated. Reload to continue; your threads and runs are safe. ({error.message})
      </Empty>
    )
  }
}
