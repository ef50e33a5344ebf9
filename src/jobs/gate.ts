// The gate that live jobs pass, one of src/gate.ts.
export { Gate } from '../gate.ts'
