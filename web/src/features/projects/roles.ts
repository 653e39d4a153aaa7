import type { Role } from '@outlast/sdk'

/** What people read about each role, the mightiest first. */
export const ROLES: Record<Role, string> = {
  owner: 'Owner: full access',
  editor: 'Editor: can run agents',
  viewer: 'Viewer: read only',
}
