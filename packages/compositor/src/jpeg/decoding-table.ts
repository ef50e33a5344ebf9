// The Huffman codes of a file, prepared for decoding (ITU-T T.81, annex C and F.2.2.3).

/** Codes up to this length, almost all in practice, are found at once. */
export const QUICK_BITS = 9

export interface DecodingTable {
  /** For the next `QUICK_BITS` bits: the length of their code and in the lower 8 bits its symbol; 0 for longer codes. */
  quick: Uint16Array
  /** The end of the codes of each length, filled up with zeros to 16 bits. */
  ends: Int32Array
  /** What to add to a code of each length to get the place of its symbol. */
  offsets: Int32Array
  symbols: Uint8Array
}

/** @param counts of the codes of 1 to 16 bits. @returns null when there are more codes than bits allow */
export function decodingTable(counts: Uint8Array, symbols: Uint8Array): DecodingTable | null {
  const quick = new Uint16Array(1 << QUICK_BITS)
  const ends = new Int32Array(17)
  const offsets = new Int32Array(17)
  let [code, place] = [0, 0]
  for (let length = 1; length <= 16; length++) {
    offsets[length] = place - code
    for (let left = counts[length - 1]!; left > 0; left--, code++, place++) {
      if (code >> length > 0) return null
      if (length > QUICK_BITS) continue
      const shift = QUICK_BITS - length
      quick.fill((length << 8) | symbols[place]!, code << shift, (code + 1) << shift)
    }
    ends[length] = code << (16 - length)
    code *= 2
  }
  return { quick, ends, offsets, symbols }
}
