// The running models in Node.
import { nodeTools } from './node-tools.ts'

export const nodePerceiver = await nodeTools.perceiver()
