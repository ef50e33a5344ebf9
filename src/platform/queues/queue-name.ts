// The names of queues in the environments of wrangler.toml.

/** An environment's queue has the name of the top level's queue with the environment as its suffix. */
const ENVIRONMENT = /-(staging|production)$/

/** The name of a queue at the top level of wrangler.toml, in every environment. */
export const queueName = (queue: string): string => queue.replace(ENVIRONMENT, '')
