import { homedir } from 'node:os'
import path from 'node:path'

/** Where fetched and built programs are kept, for all checkouts of a user. Their names contain their versions. */
export const programCache = (env: NodeJS.ProcessEnv): string =>
  path.join(env.XDG_CACHE_HOME || path.join(env.HOME ?? homedir(), '.cache'), 'steward')
