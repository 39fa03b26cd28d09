import { readCpu, readMemory } from '../usage.js'

/** Current process ids by name. */
export type ReadPids = () => Record<string, number>

/** Interval of readings. Usage of a killed process after its last reading is lost. */
const LOOK_EVERY_MS = 500

export type ProcessWatch = ReturnType<typeof watchProcesses>

/** Sums the usage of processes. A restarted process continues the sum of its name. */
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
    /** The name of a process, also after it has ended. */
    nameOf: (pid: number) => names.get(pid),
    stop: () => clearInterval(looking),
  }
}
