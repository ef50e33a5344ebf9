// The sample images that the service itself serves, for users who have none at hand.
// They are rendered, not photographed: samples/README.md has their origin and licence.

export interface Sample {
  /** Its file in samples/. */
  file: string
  /** Completes "Use the sample …". */
  title: string
}

export const SAMPLE_PEOPLE = [
  { file: 'model.jpg', title: 'woman in a grey T-shirt' },
  { file: 'man-tee-hip.jpg', title: 'man in a white T-shirt' },
  { file: 'woman-dress.jpg', title: 'woman in a dress' },
  { file: 'woman-dark-tank-hip.jpg', title: 'woman in a white top' },
] as const satisfies Sample[]

export const SAMPLE_GARMENTS = [
  { file: 'garment.jpg', title: 'striped T-shirt' },
  { file: 'tank-mustard.jpg', title: 'yellow top' },
  { file: 'tee-printed.jpg', title: 'green T-shirt with a print' },
  { file: 'dress-blue.jpg', title: 'blue dress' },
] as const satisfies Sample[]

/** The pair that is shown first. */
export const SAMPLE_PAIR = { model: SAMPLE_PEOPLE[0].file, garment: SAMPLE_GARMENTS[0].file }

export const SAMPLES: readonly Sample[] = [...SAMPLE_PEOPLE, ...SAMPLE_GARMENTS]

const FOLDER = '/static/samples'

/** @param baseUrl the origin of the service; empty for a link on its own pages */
export const sampleUrl = (baseUrl: string, file: string): string => `${baseUrl}${FOLDER}/${file}`

/** An image of 144 × 192 pixels. */
export const sampleThumbnail = (file: string): string => `${FOLDER}/thumbnails/${file}`

/** Whether a URL is the address of a sample image of the service at `baseUrl`. */
export const isSampleUrl = (baseUrl: string, url: string): boolean =>
  SAMPLES.some(({ file }) => url === sampleUrl(baseUrl, file))
