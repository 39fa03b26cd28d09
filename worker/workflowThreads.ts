import threads, { Worker, type WorkerOptions } from 'node:worker_threads'
import type { Log } from '../log.js'

/** The SDK's file that a thread of workflows begins with. */
const THREAD = /workflow-worker-thread\.js$/

/**
 * What such a thread does without, loaded before that file. For a call with a timeout Node begins a thread which ends
 * it, and the SDK gives a timeout to each of its ten calls into a workflow. For the call stack that the Temporal UI
 * shows the SDK compiles a function and takes a trace for each promise.
 */
const lightened = `
  import v8 from 'node:v8'
  import { Script } from 'node:vm'
  const run = Script.prototype.runInContext
  Script.prototype.runInContext = function (context, { timeout, ...options } = {}) {
    return run.call(this, context, options)
  }
  v8.promiseHooks.createHook = () => () => undefined`
const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(lightened)}`]

const LOOK_MS = 1_000
/** A task of a workflow takes milliseconds, and the bundle is loaded within one or two seconds. */
const SILENT_LOOKS = 10

/**
 * Has the threads in which the SDK runs workflows do without what costs more there than it gives: a fifth of the CPU
 * that a worker takes for a workflow that does nothing. A thread that owes an answer and gives none, as where a workflow
 * does not let go, is ended instead: its Temporal worker fails and is made anew, from then on with the SDK's guard of
 * each call, so that the workflow at fault fails by itself. Looks are counted, not seconds: while the whole process was
 * stopped, nobody has looked.
 */
export function lightenWorkflowThreads(log: Log, lookMs = LOOK_MS): void {
  let isTrusted = true

  class Thread extends Worker {
    owed = 0
    silentLooks = 0

    constructor(file: string | URL, options?: WorkerOptions) {
      const isLight = isTrusted && THREAD.test(String(file))
      super(file, { ...options, ...(isLight && { execArgv }) })
      if (!isLight) return
      const looking = setInterval(() => {
        this.look()
      }, lookMs).unref()
      this.on('message', () => {
        this.owed -= 1
        this.silentLooks = 0
      })
      this.once('exit', () => {
        clearInterval(looking)
      })
    }

    override postMessage(...args: Parameters<Worker['postMessage']>): void {
      this.owed += 1
      super.postMessage(...args)
    }

    look(): void {
      this.silentLooks = this.owed > 0 ? this.silentLooks + 1 : 0
      if (this.silentLooks < SILENT_LOOKS) return
      isTrusted = false
      log.error('a workflow does not let go of its thread, which is ended and made anew')
      void this.terminate()
    }
  }
  Object.assign(threads, { Worker: Thread })
}
