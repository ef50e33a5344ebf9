// Linters and client generators for an OpenAPI document. They are a package of their own because they
// use the compiler API of TypeScript 5, which TypeScript 7 does not have.
export { lint } from './lint.ts'
export { generateHeyApi, generateOrval, generateTypes } from './generate.ts'
export { runCollection } from './postman.ts'
export { undocumentedExports } from './undocumented.ts'
