// Computes the tables of docs/performance.md, "Latency": the time of the sequential trips of each request, from
// published round-trip times. `node bench/round-trips.ts [place of the D1 primary]`

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

/** The clients, the region of their organisation, and its hint (src/organisation/stub.ts). */
const CLIENTS = [
  { continent: 'North America', place: 'Virginia', region: 'US', hint: 'Virginia' },
  { continent: 'Europe', place: 'Amsterdam', region: 'EU', hint: 'Amsterdam' },
  { continent: 'South America', place: 'São Paulo', region: 'GLOBAL', hint: undefined },
  { continent: 'Asia', place: 'Pune', region: 'IN', hint: 'Singapore' },
  { continent: 'Oceania', place: 'Sydney', region: 'GLOBAL', hint: undefined },
]
/** D1's regions enam, weur, apac and oc. wnam and eeur are not the nearest of any client. */
const REPLICAS = ['Virginia', 'Amsterdam', 'Singapore', 'Sydney']
/** Where the staff is who creates the organisations. Without a hint, the objects are created there. */
const STAFF = 'Virginia'

const primary = process.argv[2] ?? 'Virginia'

function roundTrip(one: string, other: string): number {
  if (one === other) return LOCAL_MS
  const found = ROUND_TRIPS_MS[`${one}–${other}`] ?? ROUND_TRIPS_MS[`${other}–${one}`]
  if (found === undefined) throw new Error(`No round trip for ${one} and ${other}`)
  return found
}

interface Trips {
  object: number
  primary: number
  replica: number
}

/** The sequential trips of each request, without and with replicas. Parallel trips take the longest one. */
const REQUESTS: Record<string, [off: (trips: Trips) => number, on: (trips: Trips) => number]> = {
  'POST /v1/tryon': [(t) => t.object + t.primary, (t) => t.object + t.primary],
  'GET /v1/jobs/{id}, ended': [
    (t) => Math.max(t.object, t.primary),
    (t) => Math.max(t.object, t.replica),
  ],
  'GET /v1/jobs/{id}, younger than a minute': [
    (t) => Math.max(t.object, t.primary),
    (t) => Math.max(t.object, t.primary),
  ],
  'GET /v1/jobs/{id}, unfinished after a minute': [
    (t) => Math.max(t.object, t.primary),
    (t) => Math.max(t.object, t.replica + t.primary),
  ],
  'GET /v1/jobs': [(t) => t.object + t.primary, (t) => t.object + t.replica],
  'DELETE /v1/jobs/{id}': [(t) => 2 * t.object + t.primary, (t) => 2 * t.object + t.primary],
  'GET /v1/account': [(t) => t.object, (t) => t.object],
  'for comparison: an ended job, first the object, then a replica': [
    (t) => t.object + t.primary,
    (t) => t.object + t.replica,
  ],
}

for (const [request, [off, on]] of Object.entries(REQUESTS)) {
  console.log(`\n${request}`)
  console.log('| client | neither | hint | replicas | both |')
  for (const { continent, place, hint } of CLIENTS) {
    const trips = (object: string): Trips => ({
      object: roundTrip(place, object),
      primary: roundTrip(place, primary),
      replica: Math.min(...[...REPLICAS, primary].map((replica) => roundTrip(place, replica))),
    })
    const [without, withHint] = [trips(STAFF), trips(hint ?? STAFF)]
    const cells = [off(without), off(withHint), on(without), on(withHint)]
    console.log(`| ${[continent, ...cells].join(' | ')} |`)
  }
}
