// Converts images for engines that limit the size or the format of their inputs.

/** Returns a JPEG with sides of at most `maxSide` pixels. Never enlarges. */
export type Scale = (bytes: Uint8Array<ArrayBuffer>, maxSide: number) => Promise<Blob>

/** The part of Cloudflare's `[images]` binding that is used. */
export interface ScalingImages {
  input(stream: ReadableStream<Uint8Array>): {
    transform(to: { width: number; height: number; fit: 'scale-down' }): {
      output(as: { format: 'image/jpeg' }): Promise<{ response(): Response }>
    }
  }
}

/** Scales with the `[images]` binding, which also applies the EXIF orientation. */
export function scaleWith(images: ScalingImages): Scale {
  return async (bytes, maxSide) => {
    const result = await images
      .input(new Blob([bytes]).stream())
      .transform({ width: maxSide, height: maxSide, fit: 'scale-down' })
      .output({ format: 'image/jpeg' })
    return result.response().blob()
  }
}
