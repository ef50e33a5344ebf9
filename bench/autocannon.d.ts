/** The part of autocannon 9 that the benchmarks and `npm run load` use. */
declare module 'autocannon' {
  export interface Request {
    method?: string
    path?: string
    headers?: Record<string, string>
    body?: string
    setupRequest?(request: Request): Request
    onResponse?(status: number, body: string): unknown
  }
  export interface Result {
    requests: { total: number }
    latency: { p50: number; p99: number; max: number }
    '2xx': number
    non2xx: number
    statusCodeStats: Record<string, { count: number }>
    errors: number
    duration: number
  }
  export default function autocannon(options: {
    url: string
    connections: number
    duration?: number
    amount?: number
    maxOverallRequests?: number
    /** Seconds. */
    timeout?: number
    requests: Request[]
  }): Promise<Result>
}
