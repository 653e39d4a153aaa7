import { Link } from 'wouter'
import { Gone, PermissionNeeded } from '@outlast/sdk'
import { Problem } from './problem'
import { Empty } from './placeholders'

/** It was deleted, or it belongs to another project: the server does not say which. */
export const isHidden = (error: Error | null): boolean => error instanceof Gone || error instanceof PermissionNeeded

interface NotFoundProps {
  /** "Document". */
  noun: string
  /** The page to go to instead. */
  href: string
  /** The label of the link: "Go to the documents". */
  label: string
}

/** Shown in place of something that was deleted or that this user cannot see. */
export const NotFound = ({ noun, href, label }: NotFoundProps) => (
  <Empty
    className="pt-[20vh]"
    title={`${noun} not found`}
    action={
      <Link href={href} className="text-link underline underline-offset-2">
        {label}
      </Link>
    }
  >
    It was deleted, or you are not a member of its project.
  </Empty>
)

interface NotLoadedProps extends Pick<NotFoundProps, 'noun'> {
  error: Error
  retry: () => void
}

/** Shown in place of something that could not be loaded: it does not exist for this user, or loading can be retried. */
export const NotLoaded = ({ error, retry, noun }: NotLoadedProps) =>
  isHidden(error) ? (
    <NotFound noun={noun} href="/" label="Go to the home page" />
  ) : (
    <Problem className="m-4" error={error} retry={retry} />
  )
