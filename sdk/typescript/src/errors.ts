/** The server's error tree: the class says what to do next, `code` is the exact cause. */
import type { Problem } from './api.gen.ts'

/** The data of a refusal: the server's problem document (RFC 9457), or the response in place of one. */
export type Refusal = Pick<Problem, 'status' | 'code' | 'detail'> & Partial<Problem>

export class OutlastError extends Error {
  readonly code: string
  readonly status: number
  readonly hint: string
  readonly fields: Record<string, unknown>
  readonly requestId: string | null
  readonly retryAfterS: number | null

  constructor(problem: Refusal, options?: ErrorOptions) {
    super(problem.detail, options)
    this.name = new.target.name
    this.code = problem.code
    this.status = problem.status
    this.hint = problem.hint ?? ''
    this.fields = problem.fields ?? {}
    this.requestId = problem.request_id ?? null
    this.retryAfterS = problem.retry_after_s ?? null
  }
}

/** Fix the request. */
export class InvalidRequest extends OutlastError {}
/** Sign in, or ask for permission. */
export class PermissionNeeded extends OutlastError {}
/** Buy credits or choose a cheaper model. */
export class CreditsNeeded extends OutlastError {}
/** It does not exist, or you have no access to it. */
export class Gone extends OutlastError {}
/** It was changed meanwhile, or is in another state. */
export class Conflict extends OutlastError {}
/** Try again later; only these requests are worth repeating unchanged. */
export class TryLater extends OutlastError {}
/** A model provider refused the request permanently. */
export class ProviderRefused extends OutlastError {}
/** A bug in the server. */
export class InternalError extends OutlastError {}
/** No response: the server or the network is down. */
export class Unreachable extends TryLater {}

type ErrorClass = new (problem: Refusal, options?: ErrorOptions) => OutlastError

const BY_CODE: Record<string, ErrorClass> = {
  credits_needed: CreditsNeeded,
  model_rejected: ProviderRefused,
  model_policy_refused: ProviderRefused,
  model_key_refused: ProviderRefused,
  policy_denied: PermissionNeeded,
}

const BY_STATUS: Record<number, ErrorClass> = {
  401: PermissionNeeded,
  402: CreditsNeeded,
  403: PermissionNeeded,
  404: Gone,
  410: Gone,
  409: Conflict,
  408: TryLater,
  429: TryLater,
  502: TryLater,
  503: TryLater,
  504: TryLater,
  507: TryLater,
}

/** The error for a problem document, by its code if it decides, otherwise by its status. */
export function errorFrom(problem: Refusal): OutlastError {
  const known = BY_CODE[problem.code] ?? BY_STATUS[problem.status]
  return new (known ?? (problem.status >= 500 ? InternalError : InvalidRequest))(problem)
}

/** The error for a refused response, with any body. */
export async function errorOf(response: Response): Promise<OutlastError> {
  const body: unknown = await response.json().catch(() => null)
  if (isProblem(body)) return errorFrom({ ...body, status: response.status })
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return errorFrom({
    status: response.status,
    code: `http_${response.status}`,
    detail: response.statusText || `The server responded with status ${response.status}`,
    retry_after_s: Number.isNaN(retryAfter) ? null : retryAfter,
  })
}

export function unreachable(cause: unknown): Unreachable {
  return new Unreachable(
    {
      status: 0,
      code: 'unreachable',
      detail: 'The server does not respond.',
      hint: 'Check the connection. Nothing that was saved is lost.',
    },
    { cause },
  )
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body
}
