/**
 * Caches what is derived from an object that lives as long as the isolate: the environment or a binding.
 * @param make runs at the first call for an object, and again if it threw
 */
export function perObject<Key extends object, Value extends object>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return (key) => {
    let value = values.get(key)
    if (!value) values.set(key, (value = make(key)))
    return value
  }
}
