/** For background work that must not fail in a test: the error fails it. */
export function unexpected(error: unknown): never {
  throw error;
}
