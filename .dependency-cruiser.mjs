// The order of dependencies in src/, part of `npm run check`. docs/adr/0033-layout.md has the reasons.

/** A folder or file of src/ imports those further down, and never one further up. */
const ORDER = [
  ['index.ts'],
  ['organisation-object.ts', 'app.ts'],
  ['api', 'operator', 'console'],
  ['http'],
  ['privacy'],
  ['users'],
  ['billing'],
  ['webhooks'],
  ['jobs'],
  ['organisations'],
  ['credits'],
  ['mail'],
  ['engines'],
  ['platform'],
  ['domain'],
]

const HTTP = ['app.ts', 'api', 'operator', 'console', 'http']
const SQL = [
  'privacy',
  'users',
  'billing',
  'webhooks',
  'jobs',
  'organisations',
  'credits',
  'mail',
  'platform/db',
]

/** A pattern of the paths of some entries of src/. */
const paths = (entries) =>
  `^src/(${entries.map((entry) => entry.replace('.', '\\.')).join('|')})(/|$)`

const upwards = ORDER.slice(1).map((entries, index) => ({
  name: `${entries.join(', ')} imports from above`,
  comment: 'Move the code down, or pass it what it needs.',
  severity: 'error',
  from: { path: paths(entries) },
  to: { path: paths(ORDER.slice(0, index + 1).flat()) },
}))

const sideways = ORDER.filter((entries) => entries.length > 1).map((entries) => ({
  name: `${entries.join(', ')} import each other`,
  comment: 'Shared code belongs further down, in http/ or in a use case.',
  severity: 'error',
  from: { path: `^src/(${entries.join('|')})` },
  to: { path: paths(entries), pathNot: '^src/$1' },
}))

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...upwards,
    ...sideways,
    {
      name: 'unlisted folder',
      comment: 'Give a new folder its place in ORDER.',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: [paths(ORDER.flat()), '\\.(d\\.ts|png|json|css)$'] },
    },
    {
      name: 'circle of files',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'orphan',
      comment: 'No file imports it.',
      severity: 'error',
      from: {
        orphan: true,
        path: '^(src|packages/[^/]+/src)/',
        pathNot: '(\\.d\\.ts|src/index\\.ts|static/[^/]+\\.js)$',
      },
      to: {},
    },
    {
      name: 'hono below HTTP',
      comment: 'Use cases know callers and jobs, never a request. Emails are written in hono/jsx.',
      severity: 'error',
      from: { path: '^(src|packages/[^/]+/src)/', pathNot: paths(HTTP) },
      to: { path: 'node_modules/(hono|@hono)/', pathNot: 'hono/dist/(types/)?jsx/' },
    },
    {
      name: 'SQL outside of use cases',
      comment: 'Use cases own their SQL.',
      severity: 'error',
      from: { path: '^(src|packages/[^/]+/src)/', pathNot: paths(SQL) },
      to: { path: 'node_modules/drizzle-orm/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/[^/]+/(dist|test)/' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default'] },
  },
}
