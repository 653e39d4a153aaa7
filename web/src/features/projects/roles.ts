import type { Role } from '@outlast/sdk'

/** What people read about each role, the mightiest first. */
export const ROLES: Record<Role, string> = {
  owner: 'Owner: everything',
  editor: 'Editor: may run agents',
  viewer: 'Viewer: reads and follows',
}
