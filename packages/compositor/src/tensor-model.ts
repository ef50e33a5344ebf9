// Models in the graph format of TensorFlow.js: loading and running.
import { loadGraphModelSync } from '@tensorflow/tfjs-converter'
import * as tf from '@tensorflow/tfjs-core'
import { pause } from './pause.ts'
import { inOwnMemory } from './tensor-backend.ts'

/** A model's two files: the topology with the list of weights (JSON), and the weights. */
export interface ModelFiles {
  topology: ArrayBuffer
  weights: ArrayBuffer
}

/** A model with the names of its one input and its output. */
interface Graph {
  model: ReturnType<typeof loadGraphModelSync>
  input: string
  output: string
}

interface Topology {
  modelTopology: object
  signature: object
  weightsManifest: { weights: tf.io.WeightsManifestEntry[] }[]
}

/** Runs a model on one square picture, with pauses. @returns all values of its output */
export type Model = (rgb: Float32Array) => Promise<Float32Array>

/** The one input of a model, a square picture, and where its run may pause. */
export interface ModelShape {
  /** Of the square, pixels. */
  side: number
  /** The values of each pixel: red, green and blue unless said otherwise. */
  channels?: number
  type: 'int32' | 'float32'
  /**
   * The run pauses after each of these sets of nodes. The rest of the graph must depend on no earlier node
   * than those of the last set.
   */
  pausesAfter: readonly (readonly string[])[]
}

/**
 * Loads a model. The files are not referenced afterwards.
 * @throws Error when the files are damaged or do not belong together
 */
export async function loadModel(modelFiles: ModelFiles, shape: ModelShape): Promise<Model> {
  const graph = graphOf(modelFiles)
  return (rgb) => run(graph, shape, rgb, pause)
}

/**
 * Runs a model that is rarely wanted, in a memory of its own: nothing of it stays.
 * @throws Error when the files are damaged or do not belong together
 */
export function runOnce(
  backend: WebAssembly.Module,
  files: ModelFiles,
  shape: ModelShape,
  rgb: Float32Array,
): Promise<Float32Array> {
  return inOwnMemory(backend, async (pause) => {
    const graph = graphOf(files)
    try {
      await pause()
      return await run(graph, shape, rgb, pause)
    } finally {
      graph.model.dispose()
    }
  })
}

function graphOf({ topology, weights }: ModelFiles): Graph {
  const parsed: Topology = JSON.parse(new TextDecoder().decode(topology))
  const files: tf.io.ModelArtifacts = {
    modelTopology: parsed.modelTopology,
    signature: parsed.signature,
    weightSpecs: parsed.weightsManifest.flatMap((group) => group.weights),
    weightData: weights,
    format: 'graph-model',
  }
  const model = loadGraphModelSync(files)
  // The model keeps this object in order to be saved, which never happens.
  for (const key of ['modelTopology', 'signature', 'weightSpecs', 'weightData'] as const) {
    delete files[key]
  }
  const [input, output] = [model.inputs[0]?.name, model.outputs[0]?.name]
  if (!input || !output) throw new Error('the model has no input or no output')
  return { model, input, output }
}

async function run(
  { model, input, output }: Graph,
  { side, channels = 3, type, pausesAfter }: ModelShape,
  rgb: Float32Array,
  pause: () => Promise<void>,
): Promise<Float32Array> {
  const values = type === 'int32' ? new Int32Array(rgb) : rgb
  let tensors: tf.NamedTensorMap = { [input]: tf.tensor4d(values, [1, side, side, channels], type) }
  for (const names of pausesAfter) {
    tensors = runTo(model, names, tensors)
    await pause()
  }
  const found = runTo(model, [output], tensors)[output]!
  const result = found.dataSync<'float32'>()
  found.dispose()
  return result
}

/** Runs the graph from some nodes to others, and disposes of the values that are no longer needed. */
function runTo(
  model: Graph['model'],
  names: readonly string[],
  from: tf.NamedTensorMap,
): tf.NamedTensorMap {
  const found = [model.execute(from, [...names])].flat()
  const to = Object.fromEntries(names.map((name, i) => [name, found[i]!]))
  for (const tensor of Object.values(from)) if (!found.includes(tensor)) tensor.dispose()
  return to
}
