/** Deletes the entry that was added first. */
export function deleteOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
