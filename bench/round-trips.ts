// Computes the tables of docs/performance.md, "Latency": the time of the sequential trips of each request, from
// published round-trip times. `npm run bench -- --only=round-trips --primary=Amsterdam`

/**
 * Round trips between places, ms: the 95th percentile between Azure regions in the 30 days to 30 July 2026, the
 * larger of both directions (learn.microsoft.com/azure/networking/azure-network-latency).
 */
const ROUND_TRIPS_MS: Record<string, number> = {
  'Amsterdam–Virginia': 91,
  'São Paulo–Virginia': 121,
  'Pune–Virginia': 218,
  'Singapore–Virginia': 229,
  'Sydney–Virginia': 207,
  'Amsterdam–São Paulo': 191,
  'Amsterdam–Pune': 153,
  'Amsterdam–Singapore': 182,
  'Amsterdam–Sydney': 282,
  'Pune–São Paulo': 320,
  'Singapore–São Paulo': 337,
  'Sydney–São Paulo': 298,
  'Pune–Singapore': 59,
  'Pune–Sydney': 152,
  'Singapore–Sydney': 100,
}
/** Within one place: an assumption. */
const LOCAL_MS = 5

/** The clients, the region of their organisation, and its hint (src/credits/organisation-stub.ts). */
const CLIENTS = [
  { continent: 'North America', place: 'Virginia', region: 'US', hint: 'Virginia' },
  { continent: 'Europe', place: 'Amsterdam', region: 'EU', hint: 'Amsterdam' },
  { continent: 'South America', place: 'São Paulo', region: 'GLOBAL', hint: undefined },
  { continent: 'Asia', place: 'Pune', region: 'IN', hint: 'Singapore' },
  { continent: 'Oceania', place: 'Sydney', region: 'GLOBAL', hint: undefined },
]
/** Where the staff is who creates the organisations. Without a hint, the objects are created there. */
const STAFF = 'Virginia'

function roundTrip(one: string, other: string): number {
  if (one === other) return LOCAL_MS
  const found = ROUND_TRIPS_MS[`${one}–${other}`] ?? ROUND_TRIPS_MS[`${other}–${one}`]
  if (found === undefined) throw new Error(`No round trip for ${one} and ${other}`)
  return found
}

interface Trips {
  object: number
  primary: number
}

/** The sequential trips of a request. Parallel trips take the longest one. */
const REQUESTS: Record<string, (trips: Trips) => number> = {
  'POST /v1/tryon': (t) => t.object + t.primary,
  'GET /v1/jobs/{id}': (t) => Math.max(t.object, t.primary),
  'GET /v1/jobs': (t) => t.object + t.primary,
  'DELETE /v1/jobs/{id}': (t) => 2 * t.object + t.primary,
  'GET /v1/account': (t) => t.object,
}

/**
 * The time of each request in ms by continent of the client, without and with a hint for the object.
 * @param primary the place of the D1 primary
 */
export function computeRoundTrips(primary: string) {
  const rowOf = ({ place, hint }: (typeof CLIENTS)[number], timeOf: (trips: Trips) => number) => {
    const withObjectIn = (object: string) =>
      timeOf({ object: roundTrip(place, object), primary: roundTrip(place, primary) })
    return { noHint: withObjectIn(STAFF), hint: withObjectIn(hint ?? STAFF) }
  }
  const tables = Object.entries(REQUESTS).map(([request, timeOf]) => [
    request,
    Object.fromEntries(CLIENTS.map((client) => [client.continent, rowOf(client, timeOf)])),
  ])
  return Object.fromEntries(tables) as Record<string, Record<string, ReturnType<typeof rowOf>>>
}
