// What each program of this folder does with its generated client. test/node/openapi-clients.test.ts
// generates the clients into generated/, compiles the programs, and runs them against the service.

export interface Connection {
  url: string
  apiKey: string
}

export interface Outcome {
  jobId: string
  /** The status of the job after waiting for its end. */
  status: string
  jobs: readonly { job_id: string }[]
  /** From the error of an unknown job, selected by its code. */
  unknownJob: string
}

export type Program = (connection: Connection) => Promise<Outcome>

export const IMAGES = {
  model_image_url: 'https://shop.example/model.jpg',
  garment_image_url: 'https://shop.example/shirt.png',
}

/** A well-formed id of no job. */
export const UNKNOWN_JOB = 'job_01m7w4n5twfh782ygbjfb2yp7a'
