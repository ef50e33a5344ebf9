// What coding and decoding share (ITU-T T.81, figure A.6).

/** The place in a block, row by row, of each coefficient in the order of the file. */
export const ZIGZAG = Uint8Array.from([
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
  13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52,
  45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
])

/**
 * What the fast transform of Arai, Agui and Nakajima leaves out of each row and column: its
 * coefficients are larger by this factor. Quantisation contains it, so that it costs nothing.
 */
export const TRANSFORM_SCALE = Float64Array.from({ length: 8 }, (_, k) =>
  k === 0 ? Math.sqrt(8) : 4 * Math.cos((k * Math.PI) / 16),
)
