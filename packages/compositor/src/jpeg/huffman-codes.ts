// Optimal Huffman codes for a picture (ITU-T T.81, K.2).

/** Codes longer than this are not allowed. */
const MAX_LENGTH = 16

export interface HuffmanCodes {
  /** How many codes there are of each length from 1 to 16. */
  counts: Uint8Array
  /** The symbols, from the shortest code to the longest. */
  symbols: number[]
  /** The length of the code of each symbol in bits; 0 for symbols that do not occur. */
  lengths: Uint8Array
  codes: Uint16Array
}

/** The codes that make the total shortest. @param frequencies how often each of 256 symbols occurs */
export function huffmanCodes(frequencies: Uint32Array): HuffmanCodes {
  const symbols = [...frequencies.keys()].filter((symbol) => frequencies[symbol]! > 0)
  symbols.sort((one, other) => frequencies[other]! - frequencies[one]! || one - other)
  // A last symbol that never occurs takes the code of ones only, which is not allowed.
  const counts = limited(countLengths([...symbols.map((symbol) => frequencies[symbol]!), 0]))
  const longest = counts.findLastIndex((count) => count > 0)
  counts[longest] = counts[longest]! - 1

  const lengths = new Uint8Array(256)
  const codes = new Uint16Array(256)
  let [next, code] = [0, 0]
  for (let length = 1; length <= MAX_LENGTH; length++) {
    for (let left = counts[length]!; left > 0; left--) {
      const symbol = symbols[next++]!
      lengths[symbol] = length
      codes[symbol] = code++
    }
    code *= 2
  }
  return { counts: counts.slice(1, MAX_LENGTH + 1), symbols, lengths, codes }
}

/** How many leaves of a Huffman tree have each depth. @param weights in descending order, at least two */
function countLengths(weights: number[]): Uint8Array {
  interface Node {
    weight: number
    children: Node[]
  }
  const leaves: Node[] = weights.map((weight) => ({ weight, children: [] }))
  const inner: Node[] = []
  const lightest = () => {
    const [leaf, node] = [leaves.at(-1), inner[0]]
    return !node || (leaf && leaf.weight <= node.weight) ? leaves.pop()! : inner.shift()!
  }
  while (leaves.length + inner.length > 1) {
    const children = [lightest(), lightest()]
    inner.push({ weight: children[0]!.weight + children[1]!.weight, children })
  }
  const counts = new Uint8Array(weights.length + MAX_LENGTH)
  const visit = ({ children }: Node, depth: number): void => {
    if (children.length === 0) counts[depth] = counts[depth]! + 1
    for (const child of children) visit(child, depth + 1)
  }
  visit(inner[0]!, 0)
  return counts
}

/** Moves pairs of leaves that are too deep up, below leaves that go one down (figure K.3). */
function limited(counts: Uint8Array): Uint8Array {
  const add = (length: number, change: number) => (counts[length] = counts[length]! + change)
  for (let length = counts.length - 1; length > MAX_LENGTH; length--) {
    while (counts[length]! > 0) {
      let shorter = length - 2
      while (counts[shorter] === 0) shorter--
      add(length, -2)
      add(length - 1, 1)
      add(shorter + 1, 2)
      add(shorter, -1)
    }
  }
  return counts
}
