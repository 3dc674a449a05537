/** For background work that must not fail in a test: the error fails it. */
export function unexpected(_work: string, error: unknown): never {
  throw error;
}
