import { readCpu, readMemory } from '../usage.js'

/** Process ids by name, as they are at the moment. */
export type ReadPids = () => Record<string, number>

/** What a killed process has used since the last look is not counted. */
const LOOK_EVERY_MS = 500

export type Watch = ReturnType<typeof watchProcesses>

/** Adds up what processes use. One that is started again under its name goes on with the sum of those before. */
export function watchProcesses(readPids: ReadPids) {
  /** CPU seconds by name and process id. */
  const used = new Map<string, number>()
  const names = new Map<number, string>()
  look()
  const looking = setInterval(look, LOOK_EVERY_MS)

  function look(): void {
    const pids = readPids()
    for (const [name, seconds] of Object.entries(readCpu(pids))) {
      const key = `${name}/${pids[name]}`
      used.set(key, Math.max(used.get(key) ?? 0, seconds))
    }
    for (const [name, pid] of Object.entries(pids)) names.set(pid, name)
  }

  return {
    readPids,
    /** CPU seconds by name. */
    read(): Map<string, number> {
      look()
      const sums = new Map<string, number>()
      for (const [key, seconds] of used) {
        const name = key.slice(0, key.lastIndexOf('/'))
        sums.set(name, (sums.get(name) ?? 0) + seconds)
      }
      return sums
    },
    /** MB by name. */
    readMemory: () => readMemory(readPids()),
    /** The name that a process had, also when it has ended. */
    nameOf: (pid: number) => names.get(pid),
    stop: () => clearInterval(looking),
  }
}
