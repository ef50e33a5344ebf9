// Models in the graph format of TensorFlow.js: loading and running.
import { loadGraphModel } from '@tensorflow/tfjs-converter'
import * as tf from '@tensorflow/tfjs-core'

/** A model's two files: the topology with the list of weights (JSON), and the weights. */
export interface ModelFiles {
  topology: ArrayBuffer
  weights: ArrayBuffer
}

interface Topology {
  modelTopology: object
  signature: object
  weightsManifest: { weights: tf.io.WeightsManifestEntry[] }[]
}

/** Runs a model on one square RGB picture. @returns all values of its output */
export type Model = (rgb: Float32Array) => Float32Array

/**
 * Loads a model whose only input is a square of `side` pixels. The files are not referenced afterwards.
 * @throws Error when the files are damaged or do not belong together
 */
export async function loadModel(
  { topology, weights }: ModelFiles,
  side: number,
  type: 'int32' | 'float32',
): Promise<Model> {
  const parsed: Topology = JSON.parse(new TextDecoder().decode(topology))
  const files: tf.io.ModelArtifacts = {
    modelTopology: parsed.modelTopology,
    signature: parsed.signature,
    weightSpecs: parsed.weightsManifest.flatMap((group) => group.weights),
    weightData: weights,
    format: 'graph-model',
  }
  const model = await loadGraphModel({ load: () => Promise.resolve(files) })
  // The model keeps this object in order to be saved, which never happens.
  for (const key of ['modelTopology', 'signature', 'weightSpecs', 'weightData'] as const) {
    delete files[key]
  }
  return (rgb) => {
    let found: Float32Array | undefined
    tf.tidy(() => {
      const values = type === 'int32' ? new Int32Array(rgb) : rgb
      const output = model.predict(tf.tensor4d(values, [1, side, side, 3], type))
      // `tidy` looks for tensors in what is returned, and would list every value.
      if (output instanceof tf.Tensor) found = output.dataSync<'float32'>()
    })
    if (!found) throw new Error('the model has several outputs')
    return found
  }
}
