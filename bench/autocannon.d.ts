/** The part of autocannon 9 that the benchmarks use. */
declare module 'autocannon' {
  export interface Request {
    method?: string
    path?: string
    headers?: Record<string, string>
    body?: string
    setupRequest?(request: Request): Request
    onResponse?(): unknown
  }
  export interface Result {
    requests: { total: number }
    latency: { p50: number; p99: number }
    non2xx: number
    errors: number
    duration: number
  }
  export default function autocannon(options: {
    url: string
    connections: number
    duration?: number
    amount?: number
    requests: Request[]
  }): Promise<Result>
}
