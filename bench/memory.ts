// Memory of the running Workers: the heap through workerd's inspector (Chrome DevTools Protocol), and
// the resident memory of the processes. workerd runs the emulator of D1, Durable Objects, queues and R2
// as well, so its resident memory says little about the service.
import { z } from 'zod'
import { control, type Harness } from './harness.ts'
import { workerdBytes } from './workerd.ts'

/** The isolate of the instrumented Worker: its requests, its queue consumers and its Durable Objects. */
const TARGET = 'core:user:instrumented'
const BYTES_PER_MB = 1_000_000

/** Megabytes, rounded to a tenth. */
export interface Memory {
  /** Reachable objects, array buffers included, after a garbage collection. */
  workerHeapMb: number
  /** Resident memory of workerd, with the emulator. */
  workerdMb: number
  /** Resident memory of this Node process, with Miniflare. */
  nodeMb: number
}

export interface MemoryProbe {
  /** Collects garbage in the Worker, then measures. */
  measure(): Promise<Memory>
  close(): void
}

const HeapUsage = z.object({
  usedSize: z.number(),
  embedderHeapUsedSize: z.number(),
  backingStorageSize: z.number(),
})

/** Connects to the inspector. Close the probe before the harness. */
export async function openMemoryProbe(harness: Harness): Promise<MemoryProbe> {
  const inspector = await connect(new URL(`/${TARGET}`, harness.inspector))
  return {
    async measure() {
      const collected = inspector.send('HeapProfiler.collectGarbage')
      // V8 collects in a task, and workerd runs the tasks of an isolate only with its next event. This
      // request also drops the cursors that the instrumented Worker has collected.
      await control(harness, 'counts')
      await collected
      const heap = HeapUsage.parse(await inspector.send('Runtime.getHeapUsage'))
      const heapBytes = heap.usedSize + heap.embedderHeapUsedSize + heap.backingStorageSize
      return {
        workerHeapMb: megabytes(heapBytes),
        workerdMb: megabytes(workerdBytes()),
        nodeMb: megabytes(process.memoryUsage.rss()),
      }
    },
    close: () => inspector.close(),
  }
}

const megabytes = (bytes: number): number => Number((bytes / BYTES_PER_MB).toFixed(1))

const Reply = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
})

/** A connection to the inspector of one isolate. Events are ignored. */
async function connect(url: URL) {
  const socket = new WebSocket(url.href)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  const failAll = () => {
    for (const { reject } of waiting.values()) reject(new Error('The inspector closed'))
    waiting.clear()
  }
  socket.addEventListener('close', failAll)
  socket.addEventListener('message', ({ data }) => {
    const { success, data: reply } = Reply.safeParse(JSON.parse(String(data)))
    if (!success) return
    const call = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.error) call?.reject(new Error(reply.error.message))
    else call?.resolve(reply.result)
  })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error(`No inspector at ${url}`)))
  })
  return {
    send(method: string): Promise<unknown> {
      const call = Promise.withResolvers<unknown>()
      const id = ++lastId
      waiting.set(id, call)
      socket.send(JSON.stringify({ id, method }))
      return call.promise
    },
    close: () => socket.close(),
  }
}
