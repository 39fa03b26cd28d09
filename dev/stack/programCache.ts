import { homedir } from 'node:os'
import path from 'node:path'

/** Folder of fetched and built programs, shared by all checkouts of a user. Their names contain their versions. */
export const programCache = (env: NodeJS.ProcessEnv): string =>
  path.join(env.XDG_CACHE_HOME || path.join(env.HOME ?? homedir(), '.cache'), 'steward')
