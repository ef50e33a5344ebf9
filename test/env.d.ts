declare namespace Cloudflare {
  interface Env {
    TEST_MIGRATIONS: import('cloudflare:test').D1Migration[]
    OUTPUT_SIGNING_SECRET: string
    OPERATOR_TOKEN: string
    ENCRYPTION_KEY: string
  }
}

/** The text of a file. */
declare module '*?raw' {
  const text: string
  export default text
}
