// Makes a picture small enough, or of a kind, for an engine that is choosy about its inputs.

/** Gives a JPEG no side of which is longer than `maxSide`; a smaller picture keeps its size. */
export type Scale = (bytes: Uint8Array<ArrayBuffer>, maxSide: number) => Promise<Blob>

/** The part of Cloudflare's `[images]` binding that we use. */
export interface ScalingImages {
  input(stream: ReadableStream<Uint8Array>): {
    transform(to: { width: number; height: number; fit: 'scale-down' }): {
      output(as: { format: 'image/jpeg' }): Promise<{ response(): Response }>
    }
  }
}

/** Scales with the `[images]` binding, which also turns the picture as its EXIF data says. */
export function scaleWith(images: ScalingImages): Scale {
  return async (bytes, maxSide) => {
    const result = await images
      .input(new Blob([bytes]).stream())
      .transform({ width: maxSide, height: maxSide, fit: 'scale-down' })
      .output({ format: 'image/jpeg' })
    return result.response().blob()
  }
}
