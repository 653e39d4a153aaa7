import type { Role } from '@outlast/sdk'

/** Descriptions of the roles, the most powerful first. */
export const ROLES: Record<Role, string> = {
  owner: 'Owner: full access',
  editor: 'Editor: can run agents',
  viewer: 'Viewer: read only',
}
