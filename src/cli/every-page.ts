const pageSize = 1_000;

/** All there is of what is read in pages, by id. */
export async function everyPage<T extends { readonly id: string }>(
  read: (page: { readonly after: string; readonly limit: number }) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (;;) {
    const page = await read({ after: all.at(-1)?.id ?? '', limit: pageSize });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}
